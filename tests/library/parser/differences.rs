//! What Obverse does differently from the reference on purpose: each entry of `docs/differences.md` with both answers.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::parsing::short;
use crate::support::reference;
use obverse::parser::{ResponseParser, parse_response};
use obverse::response_template::ResponseTemplate;
use obverse::value::json::{self, Format};
use obverse::value::{Map, Value};

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parsed(text: &str) -> Value {
    json::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.map(|(key, value)| (key.to_owned(), value));
    Value::Object(members.into_iter().collect())
}

fn strings(text: &[&str]) -> Value {
    Value::Array(text.iter().map(|text| Value::from(*text)).collect())
}

/// Where documents are refused and regions fail, what ours says is its own business; where is not.
fn refused() -> Value {
    object([("refused", true.into())])
}

/// Ours for one case, in the form of the cases.
fn ours(case: &Value) -> Value {
    let template = match ResponseTemplate::from_value(&case.get("template").cloned().unwrap()) {
        Ok(template) => template,
        Err(_) => return refused(),
    };
    let prefix = case.get("prefix").and_then(Value::as_str).unwrap_or("");
    let tools = case
        .get("tools")
        .and_then(Value::as_array)
        .unwrap_or_default();
    let go_on = case.get("go_on").is_some();
    let mut parser = ResponseParser::new(template, prefix, tools).expect("a prefix that parses");
    let mut answer = Map::new();
    answer.insert("initial", parsed(&short(parser.initial_events())));
    let mut events = Vec::new();
    let mut failed = None;
    for chunk in case
        .get("chunks")
        .and_then(Value::as_array)
        .expect("chunks")
    {
        match parser.feed(chunk.as_str().expect("a text")) {
            Ok(now) => events.push(parsed(&short(&now))),
            Err(error) if go_on => events.push(object([("failed", error.kind.name().into())])),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    if failed.is_none() {
        match parser.finalize() {
            Ok((message, last)) => {
                events.push(parsed(&short(&last)));
                answer.insert("message", message.into());
            }
            Err(error) => failed = Some(error),
        }
    }
    match failed {
        None => answer.insert("events", events.into()),
        Some(error) => answer.insert("error", error.kind.name().into()),
    };
    shortened(answer)
}

/// The reference's answer in the same form.
fn theirs(answer: &Value) -> Value {
    let Some(run) = answer.get("runs").and_then(Value::as_array) else {
        return refused();
    };
    let mut found = Map::new();
    for key in ["initial", "message", "events"] {
        if let Some(value) = run[0].get(key) {
            found.insert(key, value.clone());
        }
    }
    if let Some(error) = run[0].get("error") {
        found.shift_remove("events");
        let kind = error.get("type").expect("a type");
        found.insert("error", kind.clone());
    }
    shortened(found)
}

fn shortened(mut answer: Map) -> Value {
    if answer.get("initial") == Some(&Value::Array(Vec::new())) {
        answer.shift_remove("initial");
    }
    answer.into()
}

fn cases() -> Vec<Value> {
    parsed(&read("tests/cases/differences.json"))
        .as_array()
        .expect("a list")
        .to_vec()
}

fn ask(questions: &[Value]) -> Option<Vec<String>> {
    let ascii = Format {
        ensure_ascii: true,
        ..Format::compact()
    };
    let lines: Vec<String> = questions.iter().map(|value| ascii.write(value)).collect();
    reference::ask("parse_runs.py", &lines)
}

#[test]
fn ours_is_as_the_list_says() {
    let wrong: Vec<String> = cases()
        .iter()
        .filter_map(|case| {
            let (found, name) = (ours(case), &json::to_string(&case.get("name").cloned()?));
            (Some(&found) != case.get("ours"))
                .then(|| format!("{name}: ours is {}", json::to_string(&found)))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reference_is_as_the_list_says() {
    let cases = cases();
    let questions: Vec<Value> = cases
        .iter()
        .map(|case| {
            let mut question = case.as_object().expect("a case").clone();
            let chunks = question.shift_remove("chunks").expect("chunks");
            question.insert("runs", vec![chunks].into());
            question.into()
        })
        .collect();
    let Some(answers) = ask(&questions) else {
        return;
    };
    let mut wrong = Vec::new();
    for (case, answer) in cases.iter().zip(answers) {
        let found = theirs(&parsed(&answer));
        let name = case.get("name").map_or(String::new(), json::to_string);
        if Some(&found) != case.get("reference") {
            wrong.push(format!(
                "{name}: the reference is {}",
                json::to_string(&found)
            ));
        }
        if case.get("ours") == case.get("reference") {
            wrong.push(format!("{name}: there is no difference"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_list_and_the_cases_are_the_same() {
    let text = read("docs/differences.md");
    let named: BTreeSet<String> = text
        .split("- case: \"")
        .skip(1)
        .filter_map(|rest| rest.split_once('"'))
        .map(|(name, _)| name.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let cases: BTreeSet<String> = cases()
        .iter()
        .filter_map(|case| case.get("name")?.as_str().map(str::to_owned))
        .collect();
    assert_eq!(named, cases);
    for name in text.split("- test: `").skip(1) {
        let (name, _) = name.split_once('`').expect("a name in backticks");
        let (file, function) = name.rsplit_once("::").expect("file::test");
        let source = read(&format!("tests/{}.rs", file.replace("::", "/")));
        assert!(
            source.contains(&format!("fn {function}()"))
                || source.contains(&format!("fn {function}(\n")),
            "there is no test {name}"
        );
    }
}

/// A template with one region of JSON, and one for an integer.
const VALUES: &str = r#"{
    "start_anchor": "A:",
    "fields": {
        "v": {"open": "<v>", "close": "</v>", "content": "json"},
        "n": {"open": "<n>", "close": "</n>", "content": "int"}
    }
}"#;

/// What ours makes of a response, and the line that the reference answers.
fn both(response: &str) -> (Result<Map, String>, Option<String>) {
    let template = ResponseTemplate::from_json(VALUES).expect("a template");
    let ours = parse_response(response, template, "", &[]).map_err(|error| error.message);
    let question = object([
        ("template", parsed(VALUES)),
        ("runs", vec![strings(&[response])].into()),
    ]);
    let theirs = ask(&[question]).map(|answers| answers[0].clone());
    (ours, theirs)
}

#[test]
fn integers_have_any_number_of_digits() {
    let digits = "9".repeat(4301);
    let (ours, theirs) = both(&format!("<n>{digits}</n>"));
    assert_eq!(ours.expect("a message")["n"], parsed(&digits));
    if let Some(theirs) = theirs {
        assert!(theirs.contains("4300"), "{theirs}");
    }
}

#[test]
fn half_a_surrogate_pair_is_replaced() {
    let (ours, theirs) = both(r#"<v>"a\ud800"</v>"#);
    assert_eq!(ours.expect("a message")["v"], "a\u{fffd}".into());
    if let Some(theirs) = theirs {
        assert!(
            theirs.contains(r#""message": {"v": "a\ud800"}"#),
            "{theirs}"
        );
    }
}

#[test]
fn json_nests_less_deep() {
    let depth = json::MAX_DEPTH + 1;
    let (ours, theirs) = both(&format!(
        "<v>{}{}</v>",
        "[".repeat(depth),
        "]".repeat(depth)
    ));
    let error = ours.expect_err("a limit");
    assert!(error.contains("deep"), "{error}");
    if let Some(theirs) = theirs {
        assert!(theirs.contains(r#""message": {"v": [[["#), "{theirs}");
    }
}

/// Programs look for words in messages, as transformers' own tests do. What goes wrong there with these words goes wrong here
/// with them too.
#[test]
fn errors_have_the_words_of_the_reference() {
    let field = |field: &str| format!(r#"{{"start_anchor": "A:", "fields": {{"x": {field}}}}}"#);
    let transform = |transform: &str| {
        field(&format!(
            r#"{{"open": "<x>", "close": "</x>", "content": "json", "transform": {{"a": "{transform}"}}}}"#
        ))
    };
    let cases: Vec<(String, &str, &[&str])> = vec![
        (
            transform("{content.args}"),
            r#"<x>{"name": "n"}</x>"#,
            &["missing key 'args'"],
        ),
        (
            transform("{content.name.x}"),
            r#"<x>{"name": "n"}</x>"#,
            &["cannot index into str"],
        ),
        (transform("{missing}"), "<x>{}</x>", &["missing"]),
        (
            transform("pre {content.args}"),
            "",
            &["mixes", "interpolation", "{content.args}"],
        ),
        (
            field(r#"{"open": "<", "close": ">", "join": ""}"#),
            "",
            &["requires 'repeats'"],
        ),
        (
            field(r#"{"open": "<", "close": ">", "repeats": true, "join": 7}"#),
            "",
            &["must be a string"],
        ),
        (
            field(
                r#"{"open": "<x>", "close": "</x>", "repeats": true, "join": "", "content": "json"}"#,
            ),
            "<x>{}</x>",
            &["parse to a string"],
        ),
        (
            field(r#"{"open": "<", "close": ">", "optional": false}"#),
            "no",
            &["x"],
        ),
        (
            field(r#"{"open": "[", "close": "]", "content": "no-parser"}"#),
            "",
            &["unknown content parser"],
        ),
        (
            field(r#"{"open_pattern": "<(?P<name>a)>", "close": ">"}"#),
            "",
            &["transform", "name"],
        ),
        (
            r#"{"version": 2, "start_anchor": "A:", "fields": {"x": {}}}"#.to_owned(),
            "",
            &["version"],
        ),
        (r#"{"fields": {"x": {}}}"#.to_owned(), "", &["start_anchor"]),
        (field(r#"{"open": [], "close": ">"}"#), "", &["open"]),
        (
            field(r#"{"open": [""], "close": ">"}"#),
            "",
            &["open", "empty"],
        ),
        (
            field(r#"{"open": [1], "close": ">"}"#),
            "",
            &["open", "string"],
        ),
        (
            field(r#"{"open": "<", "open_pattern": "<", "close": ">"}"#),
            "",
            &["open", "open_pattern"],
        ),
        (field(r#"{"opne": "<"}"#), "", &["opne"]),
        (
            r#"{"start_anchor": "A:", "fields": {}}"#.to_owned(),
            "",
            &["fields"],
        ),
    ];
    let questions: Vec<Value> = cases
        .iter()
        .map(|(template, response, _)| {
            object([
                ("template", parsed(template)),
                ("runs", vec![strings(&[response])].into()),
            ])
        })
        .collect();
    let mut wrong = Vec::new();
    let mut look = |whose: &str, (template, _, words): &(String, &str, &[&str]), told: &str| {
        for word in words
            .iter()
            .filter(|word| !told.to_lowercase().contains(&word.to_lowercase()))
        {
            wrong.push(format!("{whose} for {template}: no {word:?} in {told:?}"));
        }
    };
    for case in &cases {
        let told = match ResponseTemplate::from_json(&case.0) {
            Err(invalid) => invalid.to_string(),
            Ok(template) => parse_response(case.1, template, "", &[])
                .expect_err(&case.0)
                .to_string(),
        };
        look("ours", case, &told);
    }
    for (case, answer) in cases.iter().zip(ask(&questions).unwrap_or_default()) {
        look("theirs", case, &answer.replace("\\\"", "\""));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
