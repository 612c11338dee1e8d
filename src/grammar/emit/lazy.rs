//! GBNF that is held from the first trigger of a call on, as a request to llama.cpp's server has it: `grammar`, `grammar_lazy`,
//! `grammar_triggers` and `preserved_tokens`.
//!
//! The server looks for the triggers in all that was written and gives the grammar the text from the trigger on, so the grammar begins
//! with it.

use super::{Finding, Text, extend, gbnf};
use crate::grammar::Grammar;
use crate::grammar::expr::Expr;
use crate::grammar::lazy::Trigger;
use crate::value::{Map, Value, json};

/// llama.cpp's number of a trigger that is a text.
const WORD: i64 = 1;

/// llama.cpp's number of a trigger that is a regular expression, sought anywhere.
const PATTERN: i64 = 2;

/// Writes a grammar; `null` where no call may be written, or nothing shows that one begins.
pub(super) fn write(grammar: &Grammar) -> Text {
    let lazy = &grammar.lazy;
    if grammar.arena.is_never(lazy.root) || lazy.triggers.is_empty() {
        let mut findings = grammar.findings().to_vec();
        let finding = Finding {
            code: "no-trigger",
            text: "a lazy grammar begins with a call, and here none may be written or none is known by how it begins".to_owned(),
        };
        extend(&mut findings, &[finding]);
        let text = "null".to_owned();
        return Text { text, findings };
    }
    let mut from_a_call = grammar.clone();
    from_a_call.root = lazy.root;
    let written = gbnf::write(&from_a_call, gbnf::Reader::LlamaCpp);
    let mut preserved: Vec<&str> = Vec::new();
    let mut triggers = Vec::new();
    for trigger in &lazy.triggers {
        let (kind, text) = match trigger {
            Trigger::Word(word) => {
                preserved.push(word);
                (WORD, word)
            }
            Trigger::Pattern(pattern) => (PATTERN, pattern),
        };
        triggers.push(object([
            ("type", Value::from(kind)),
            ("value", Value::from(text.as_str())),
        ]));
    }
    let texts: Vec<&str> = from_a_call
        .arena
        .nodes()
        .filter_map(|node| match node {
            Expr::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let tokens = grammar.special.iter().map(|token| token.text.as_str());
    let used = tokens.filter(|token| texts.iter().any(|text| text.contains(token)));
    for token in used {
        if !preserved.contains(&token) {
            preserved.push(token);
        }
    }
    let preserved = preserved.into_iter().map(Value::from).collect();
    let request = object([
        ("grammar", Value::from(written.text.as_str())),
        ("grammar_lazy", Value::Bool(true)),
        ("grammar_triggers", Value::Array(triggers)),
        ("preserved_tokens", Value::Array(preserved)),
    ]);
    let mut findings = written.findings;
    if lazy.is_unseen {
        let finding = Finding {
            code: "no-trigger",
            text: "a call that begins with the name of its tool alone is not held: nothing shows that it begins"
                .to_owned(),
        };
        extend(&mut findings, &[finding]);
    }
    Text {
        text: json::Format::indented(2).write(&request),
        findings,
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let mut object = Map::new();
    for (key, value) in members {
        object.insert(key, value);
    }
    Value::Object(object)
}
