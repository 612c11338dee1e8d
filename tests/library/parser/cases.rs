//! The cases of `tests/cases/parser`, whole and in every way to cut them.

#![allow(clippy::print_stdout, reason = "a test says how much it has seen")]

use std::path::{Path, PathBuf};

use crate::support::parsing::{Failure, Outcome, characters, cut, parse, short};
use crate::support::random::Random;
use obverse::parser::join_chunks;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value, json};

const RANDOM_CUTS: usize = 8;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/parser");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("tests/cases/parser")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|is| is == "json"))
        .collect();
    files.sort();
    files
}

/// One case, read.
struct Case<'c> {
    members: &'c Map,
    response: &'c str,
    prefix: &'c str,
    tools: &'c [Value],
}

impl<'c> Case<'c> {
    /// `None` where the case gives no prefix at all: there the reference has nothing to parse with, and
    /// [`obverse::parser::ResponseParser`] cannot be made without one.
    fn read(members: &'c Map) -> Option<Self> {
        let prefix = match members.get("prefix") {
            None => "",
            Some(Value::Null) => return None,
            Some(prefix) => prefix.as_str().expect("a prefix"),
        };
        Some(Self {
            members,
            response: members["response"].as_str().expect("a response"),
            prefix,
            tools: members
                .get("tools")
                .and_then(Value::as_array)
                .unwrap_or_default(),
        })
    }

    /// What is wrong with the answer for one way to cut the response.
    fn check(&self, outcome: &Outcome, whole: bool) -> Result<(), String> {
        let expected = |key: &str| self.members.get(key).map_or("[]".into(), json::to_string);
        let equal = |what: &str, expected: String, found: String| {
            if expected == found {
                return Ok(());
            }
            Err(format!("{what}: expected {expected}, ours gives {found}"))
        };
        match &outcome.result {
            Err(failure) => self.check_failure(failure, whole),
            Ok(message) => {
                if let Some(error) = self.members.get("error") {
                    return Err(format!(
                        "expected the error {}, ours gives the message {}",
                        json::to_string(error),
                        json::to_string(&Value::Object(message.clone()))
                    ));
                }
                let message = json::to_string(&Value::Object(message.clone()));
                equal("message", expected("message"), message)?;
                equal(
                    "initial events",
                    expected("initial_events"),
                    short(&outcome.initial),
                )?;
                // The reference tells of no text that a field took and dropped.
                let untaken = outcome.unclaimed.iter().filter(|lost| lost.field.is_none());
                let texts: Vec<Value> = untaken.map(|lost| lost.text.as_str().into()).collect();
                let unclaimed = json::to_string(&Value::Array(texts));
                equal("unclaimed", expected("unclaimed"), unclaimed)?;
                let joined = join_chunks(outcome.events.iter().flatten().cloned());
                equal("events", expected("events"), short(&joined))
            }
        }
    }

    fn check_failure(&self, failure: &Failure, whole: bool) -> Result<(), String> {
        let found = format!("{} in {}", failure.error, failure.stage);
        let Some(expected) = self.members.get("error") else {
            return Err(format!("unexpected error: {found}"));
        };
        let stage = expected.get("stage").and_then(Value::as_str);
        let later = matches!(failure.stage, "feed" | "finalize");
        let same_stage = stage == Some(failure.stage)
            || (!whole && later && matches!(stage, Some("feed" | "finalize")));
        if !same_stage {
            return Err(format!("expected an error in {stage:?}: {found}"));
        }
        // The reference's exception for a missing required field names it in a text alone.
        let field = expected.get("field").and_then(Value::as_str);
        let never_ends = expected.get("type").and_then(Value::as_str) == Some("Timeout");
        if field != failure.error.field.as_deref() && !never_ends {
            return Err(format!(
                "expected an error of the field {field:?}, not {:?}: {found}",
                failure.error.field
            ));
        }
        if never_ends && failure.error.kind.name() != "limit" {
            return Err(format!("expected a limit: {found}"));
        }
        let Some(output) = expected.get("output") else {
            return Ok(());
        };
        let output = json::to_string(output);
        let ours = failure.output.clone().map(Value::Object);
        let ours = ours.as_ref().map_or("none".to_owned(), json::to_string);
        if output != ours {
            return Err(format!("output: expected {output}, ours is {ours}"));
        }
        Ok(())
    }
}

/// What is wrong with a case.
fn check(members: &Map, templates: &Map, random: &mut Random) -> Result<(), String> {
    let template = match &members["template"] {
        Value::String(name) => &templates[name.as_str()],
        document => document,
    };
    let refused = members
        .get("error")
        .is_some_and(|error| error.get("stage") == Some(&Value::from("load")));
    let template = match ResponseTemplate::from_value(template) {
        Ok(_) if refused => return Err("the document is accepted".to_owned()),
        Ok(template) => template,
        Err(_) if refused => return Ok(()),
        Err(invalid) => return Err(format!("the document is refused: {invalid}")),
    };
    let Some(case) = Case::read(members) else {
        return Ok(());
    };
    let try_cut = |chunks: &[&str]| {
        let outcome = parse(&template, case.prefix, case.tools, chunks);
        case.check(&outcome, chunks.len() == 1)
            .map_err(|wrong| format!("{wrong}\n    cut as {chunks:?}"))
    };
    try_cut(&[case.response])?;
    try_cut(&characters(case.response))?;
    for (at, _) in case.response.char_indices().skip(1) {
        let (head, tail) = case.response.split_at(at);
        try_cut(&[head, tail])?;
    }
    for _ in 0..RANDOM_CUTS {
        try_cut(&cut(random, case.response))?;
    }
    Ok(())
}

#[test]
fn every_case_holds_however_it_is_cut() {
    let mut random = Random::new(1);
    let mut wrong = Vec::new();
    for path in files() {
        let file = path.file_name().expect("a name").to_string_lossy();
        let text = std::fs::read_to_string(&path).expect("a file");
        let document = json::parse(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let no_templates = Map::new();
        let templates = document
            .get("templates")
            .and_then(Value::as_object)
            .unwrap_or(&no_templates);
        let cases = document
            .get("cases")
            .and_then(Value::as_array)
            .expect("cases");
        println!("{file}: {} cases", cases.len());
        for case in cases {
            let members = case.as_object().expect("a case");
            if let Err(text) = check(members, templates, &mut random) {
                let name = members["name"].as_str().expect("a name");
                wrong.push(format!("{file}: {name}\n    {text}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases fail\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
