//! What [`Acceptor`] says of a text, beside xgrammar on the same grammar, written as GBNF: how many bytes it takes, and whether the text may end there.
//! The two share the writing of the grammar and nothing of the reading.
//!
//! Texts are renders, and renders with a character missing or a text too much, at places all over them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use obverse::derive::Case;
use obverse::grammar::emit::Language;
use obverse::grammar::{Acceptor, Request, WrittenFormat};
use obverse::response_template::ResponseTemplate;
use obverse::value::{Value, json};

use super::{FEW, ask, line};
use crate::support::derived::{self, Derived};
use crate::support::reference::grammar_python;

/// How many renders are taken as they are, and how many of these with something changed at how many places.
const RENDERS: usize = 12;
const CHANGED: usize = 3;
const PLACES: usize = 12;

/// Renders of one prompt with its tools, those with calls first, and what is made of them.
fn texts(cases: &[&Case]) -> Vec<String> {
    let mut texts: Vec<String> = cases.iter().map(|case| case.response.clone()).collect();
    texts.truncate(RENDERS);
    let mut all = texts.clone();
    for text in texts.iter().take(CHANGED) {
        let places: Vec<(usize, char)> = text.char_indices().collect();
        let step = places.len().div_ceil(PLACES).max(1);
        for (at, c) in places.into_iter().step_by(step) {
            let (before, rest) = text.split_at(at);
            all.push(format!("{before}{}", &rest[c.len_utf8()..]));
            all.push(format!("{before}zz{rest}"));
        }
    }
    all
}

/// The texts of which the two say otherwise.
fn disagreements(python: &Path, derived: &Derived) -> Vec<String> {
    let Ok(derivation) = &derived.outcome else {
        return Vec::new();
    };
    let template = ResponseTemplate::from_value(&derivation.document.to_value());
    let template = Arc::new(template.expect("a response template"));
    let ends = &derived.source.tokens.end;
    let written = WrittenFormat::new(&template, &derivation.cases, ends);
    let calls = |case: &Case| case.message.get("tool_calls").is_some();
    let mut groups: BTreeMap<(&str, String), Vec<&Case>> = BTreeMap::new();
    for case in derivation.cases.iter().filter(|case| calls(case)) {
        let before = template.after_last_anchor(&case.prefix).expect("an anchor");
        let tools = json::to_string(&Value::Array(case.tools.clone()));
        groups.entry((before, tools)).or_default().push(case);
    }
    let Some(cases) = groups.into_values().max_by_key(Vec::len) else {
        return Vec::new();
    };
    let request = Request::default()
        .tools(cases[0].tools.clone())
        .prefix(cases[0].prefix.as_str());
    let grammar = written.grammar(&request).expect("a grammar");
    let texts = texts(&cases);
    let answers = ask(python, &[line(("ebnf", Language::Ebnf), &grammar, &texts)]);
    let answers = answers[0].get("texts").and_then(Value::as_array);
    let answers = answers.unwrap_or_else(|| panic!("{}: no answer", derived.name));
    let acceptor = Acceptor::new(&grammar);
    let mut found = Vec::new();
    for (text, answer) in texts.iter().zip(answers) {
        let mut acceptor = acceptor.clone();
        let taken = match acceptor.feed(text) {
            Ok(()) => text.len(),
            Err(refused) => refused.at(),
        };
        let answer = answer.as_array().expect("a pair");
        let theirs: usize = json::to_string(&answer[0]).parse().expect("a number");
        let whole = answer[1] == Value::Bool(true);
        // They take bytes, and so a part of a character, too.
        if (taken, acceptor.is_complete()) != (text.floor_char_boundary(theirs), whole) {
            found.push(format!(
                "{}: {taken} bytes and not {theirs} of {}",
                derived.name,
                json::quote(text)
            ));
        }
    }
    found
}

fn hold(all: &[&Derived]) {
    let Some(python) = grammar_python() else {
        return;
    };
    let found: Vec<String> = all
        .iter()
        .flat_map(|derived| disagreements(&python, derived))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn an_engine_and_the_acceptor_take_the_same_bytes() {
    let few = derived::own_named(&FEW);
    hold(&few.iter().collect::<Vec<_>>());
}

/// Every chat template at hand.
#[test]
#[ignore = "takes minutes; `.ci/run` runs it"]
fn an_engine_and_the_acceptor_take_the_same_bytes_at_length() {
    hold(&derived::all().iter().collect::<Vec<_>>());
}
