//! Derived response templates load in transformers and parse there what they parse here.

use obverse::derive::{Case, Verdict};
use obverse::value::{Map, Value, json};

use crate::support::corpus;
use crate::support::derived::{self, Derived};

/// Every chat template on the list comes to this verdict.
fn come_to(verdict: Verdict, list: &str) {
    if corpus::dir().is_none() {
        return;
    }
    let list = std::fs::read_to_string(list).expect("the list");
    for name in list.lines().filter(|line| !line.starts_with('#')) {
        let derived = derived::all().iter().find(|derived| derived.name == name);
        let derivation = derived
            .unwrap_or_else(|| panic!("the corpus has no {name}"))
            .expect();
        let report = &derivation.report;
        assert_eq!(report.verdict, verdict, "{name}: {:#?}", report.findings);
        assert!(report.rounds.passed >= 10, "{name}: {:?}", report.rounds);
    }
}

#[test]
#[ignore = "derives the whole corpus; `.ci/run` runs it"]
fn real_chat_templates_are_proved() {
    come_to(Verdict::Proved, "tests/corpus/proved.txt");
}

#[test]
#[ignore = "derives the whole corpus; `.ci/run` runs it"]
fn real_chat_templates_are_proved_as_far_as_renders_show() {
    come_to(Verdict::ProvedInPart, "tests/corpus/in_part.txt");
}

#[test]
#[ignore = "derives the whole corpus; `.ci/run` runs it"]
fn real_chat_templates_are_derived_as_far_as_the_format_goes() {
    come_to(Verdict::Inexpressible, "tests/corpus/inexpressible.txt");
}

/// What comes back here of some chat templates: a question to the reference for each case, and the answer that is right.
struct Asked {
    proved: usize,
    questions: Vec<String>,
    expected: Vec<(String, Value)>,
}

/// Asks about the cases of each derivation that `pick` takes, with the response as `write` writes it.
fn ask_about(
    all: &[Derived],
    pick: impl Fn(Vec<Case>) -> Vec<Case>,
    write: impl Fn(&str) -> (&'static str, Value),
) -> Asked {
    let mut asked = Asked {
        proved: 0,
        questions: Vec::new(),
        expected: Vec::new(),
    };
    for derived in all {
        let outcome = derived.outcome.as_ref().ok();
        let Some(derivation) =
            outcome.filter(|derivation| derivation.report.verdict != Verdict::NotProved)
        else {
            continue;
        };
        asked.proved += 1;
        let template = derivation.document.to_value();
        for case in pick(derivation.cases.clone()) {
            let (key, response) = write(&case.response);
            let question = Map::from_iter([
                ("template".to_owned(), template.clone()),
                ("prefix".to_owned(), Value::from(case.prefix)),
                (key.to_owned(), response),
                ("tools".to_owned(), Value::from(case.tools)),
            ]);
            asked
                .questions
                .push(json::to_string(&Value::Object(question)));
            asked.expected.push((derived.name.clone(), case.message));
        }
    }
    asked
}

impl Asked {
    /// How many messages came back from how many response templates, all of them right; `None` where there is no reference.
    fn are_right(self) -> Option<(usize, usize)> {
        let answers = crate::support::reference::ask("parse.py", &self.questions)?;
        for ((answer, (name, message)), question) in
            answers.iter().zip(self.expected).zip(&self.questions)
        {
            let answer = json::parse(answer).expect("JSON");
            assert_eq!(
                answer.get("message"),
                Some(&message),
                "{name}: the reference parses differently: {question}\n{answer:?}"
            );
        }
        Some((answers.len(), self.proved))
    }
}

/// Whatever comes back here is parsed by the reference to the same messages.
fn parsed_whole(all: &[Derived]) -> Option<(usize, usize)> {
    let asked = ask_about(
        all,
        |cases| cases,
        |response| ("response", Value::from(response)),
    );
    asked.are_right()
}

/// And also when it arrives character by character: the longest response of each number of calls, and a short one.
fn parsed_by_character(all: &[Derived]) -> Option<(usize, usize)> {
    let longest = |mut cases: Vec<Case>| {
        let calls = |case: &Case| {
            let calls = case.message.get("tool_calls").and_then(Value::as_array);
            calls.map_or(0, <[Value]>::len)
        };
        let first = cases.first().cloned();
        cases.sort_by_key(|case| (calls(case), std::cmp::Reverse(case.response.len())));
        cases.dedup_by(|a, b| calls(a) == calls(b));
        first.into_iter().chain(cases).collect()
    };
    let characters = |response: &str| {
        let characters = response.chars().map(|c| Value::from(c.to_string()));
        ("chunks", characters.collect::<Vec<_>>().into())
    };
    ask_about(all, longest, characters).are_right()
}

#[test]
fn the_reference_parses_the_same() {
    if let Some((messages, proved)) = parsed_whole(derived::few()) {
        assert!(proved > 2 && messages > 100);
    }
}

#[test]
#[ignore = "derives the whole corpus; `.ci/run` runs it"]
fn the_reference_parses_the_same_at_length() {
    if let Some((messages, proved)) = parsed_whole(derived::all()) {
        assert!(proved > 10 && messages > 500);
    }
}

#[test]
fn the_reference_streams_to_the_same() {
    if let Some((messages, proved)) = parsed_by_character(derived::few()) {
        assert!(proved > 2 && messages > 10);
    }
}

#[test]
#[ignore = "derives the whole corpus; `.ci/run` runs it"]
fn the_reference_streams_to_the_same_at_length() {
    if let Some((messages, proved)) = parsed_by_character(derived::all()) {
        assert!(proved > 10 && messages > 100);
    }
}
