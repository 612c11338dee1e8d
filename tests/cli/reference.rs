//! What `obverse parse` writes, beside what the reference gives for the same responses: those of `tests/cases/parser`.

use std::path::Path;
use std::sync::OnceLock;

use obverse::value::{Map, Value, json};

use crate::bench::Bench;

/// A case of `tests/cases/parser`, as a line of `obverse parse --jsonl`, which is one of the reference's script too.
fn questions() -> Vec<(String, Map)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/parser");
    let mut questions = Vec::new();
    for entry in std::fs::read_dir(folder).expect("tests/cases/parser") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a file");
        let file = json::parse(&text).expect("JSON");
        for case in file.get("cases").and_then(Value::as_array).expect("cases") {
            let mut question = Map::new();
            let template = case.get("template").expect("a template");
            let named = template
                .as_str()
                .and_then(|name| file.get("templates")?.get(name));
            question.insert("template".to_owned(), named.unwrap_or(template).clone());
            for key in ["response", "prefix", "tools"] {
                if let Some(value) = case.get(key) {
                    question.insert(key.to_owned(), value.clone());
                }
            }
            // Without any prefix the reference raises; the binary takes none for an empty one.
            if question.get("prefix") == Some(&Value::Null) {
                continue;
            }
            question.insert("events".to_owned(), Value::Bool(true));
            let name = case.get("name").and_then(Value::as_str).expect("a name");
            questions.push((name.to_owned(), question));
        }
    }
    assert!(questions.len() > 100);
    questions
}

/// The questions with what the reference answers, which is asked once in a process; `None` where it is not installed.
fn answered() -> Option<&'static [(String, Map, String)]> {
    static ANSWERED: OnceLock<Option<Vec<(String, Map, String)>>> = OnceLock::new();
    let answered = ANSWERED.get_or_init(|| {
        let questions = questions();
        let asked = questions.iter().map(|(_, question)| line(question));
        let asked: Vec<String> = asked.collect();
        let answers = crate::support::reference::ask("parse.py", &asked)?;
        let answered = questions.into_iter().zip(answers);
        let answered = answered.map(|((name, question), answer)| (name, question, answer));
        Some(answered.collect())
    });
    answered.as_deref()
}

fn line(question: &Map) -> String {
    json::to_string(&Value::Object(question.clone()))
}

/// What an answer says of its events, adjacent chunks joined, and of its message; `None` where there is an error.
fn events_and_message(answer: &Value) -> Option<String> {
    if answer.get("error").is_some() {
        return None;
    }
    let list = |key: &str| answer.get(key).and_then(Value::as_array).expect(key);
    let mut events = list("initial_events").to_vec();
    for chunk in list("events") {
        events.extend(chunk.as_array().expect("a list").iter().cloned());
    }
    events.extend(list("final_events").iter().cloned());
    Some(lines(&events, answer.get("message").expect("a message")))
}

/// Events, adjacent chunks joined, and the message, each as a line of JSON.
fn lines(events: &[Value], message: &Value) -> String {
    let mut joined: Vec<Value> = Vec::new();
    for event in events {
        if let (Some(Value::String(text)), Some(Value::Object(last))) =
            (event.get("text"), joined.last_mut())
            && let Some(Value::String(before)) = last.get_mut("text")
        {
            before.push_str(text);
        } else {
            joined.push(event.clone());
        }
    }
    joined.push(message.clone());
    let written: Vec<String> = joined.iter().map(json::to_string).collect();
    written.join("\n")
}

#[test]
fn the_lines_of_bulk_work_are_the_references() {
    let Some(answered) = answered() else {
        return;
    };
    let asked: Vec<String> = answered
        .iter()
        .map(|(_, question, _)| line(question))
        .collect();
    let run = Bench::new().run_with("parse --jsonl", asked.join("\n"));
    assert_eq!(run.status, 1);
    // Some prefixes have no start anchor, which is all that there is to tell.
    let told = run
        .stderr
        .lines()
        .filter(|line| line.contains("[no-anchor]"));
    assert_eq!((told.count(), run.stderr.lines().count()), (1, 3), "{run}");
    assert_eq!(run.stdout.lines().count(), asked.len());
    let parse = |line: &str| events_and_message(&json::parse(line).expect("JSON"));
    for ((name, _, expected), line) in answered.iter().zip(run.stdout.lines()) {
        assert_eq!(parse(line), parse(expected), "{name}\n{line}\n{expected}");
    }
}

/// A sixth of the cases: each is a process of its own, and the test above has all of them.
#[test]
fn the_events_of_one_response_are_the_references() {
    let Some(answered) = answered() else {
        return;
    };
    for (name, question, expected) in answered.iter().step_by(6) {
        let text = |key: &str| question.get(key).map(json::to_string).unwrap_or_default();
        let bench = Bench::new().file("template.json", text("template"));
        let mut arguments = vec!["parse", "template.json", "--events"];
        if let Some(prefix) = question.get("prefix").and_then(Value::as_str) {
            arguments.extend(["--prefix", prefix]);
        }
        let bench = match question.get("tools") {
            Some(tools) => {
                arguments.extend(["--tools", "tools.json"]);
                bench.file("tools.json", json::to_string(tools))
            }
            None => bench,
        };
        let response = question
            .get("response")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let run = bench.run_all(&arguments, response);
        let Some(expected) = events_and_message(&json::parse(expected).expect("JSON")) else {
            assert_ne!(run.status, 0, "{name}\n{run}");
            assert!(
                !run.stdout.contains(r#"{"type": "message""#),
                "{name}\n{run}"
            );
            continue;
        };
        let mut events: Vec<Value> = run
            .stdout
            .lines()
            .map(|line| json::parse(line).expect("JSON"))
            .collect();
        let last = events.pop().expect("a line");
        let message = last.get("message").expect("a message");
        assert_eq!(lines(&events, message), expected, "{name}\n{run}");
        assert_eq!(last.get("type").and_then(Value::as_str), Some("message"));
        assert_eq!(run.status, 0, "{name}\n{run}");
    }
}
