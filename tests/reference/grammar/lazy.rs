//! Grammars that are held from the first sign of a call on, in llama.cpp's own reader.

use std::path::Path;

use super::{FEW, MUTATIONS, Subject, accepted, ask, called, line, own_subjects, tools};
use crate::support::reference::grammar_python;
use obverse::derive::Case;
use obverse::grammar::emit::Language;
use obverse::grammar::{Grammar, Sampler, ToolChoice};
use obverse::value::{Value, json};

/// How many texts with a wrong call are sampled of each mutation.
const SAMPLES: u64 = 12;

/// Under how many prompts responses are given, those with the most calls, and how many under each.
const PROMPTS: usize = 6;
const RESPONSES: usize = 60;

/// llama.cpp's number of a trigger that is a text.
const WORD: &str = "1";

/// The regular expressions at which llama.cpp begins to hold a model, made of a request's triggers as its `common/sampling.cpp` does.
fn triggers(request: &Value) -> Vec<Value> {
    let triggers = request.get("grammar_triggers").and_then(Value::as_array);
    let pattern = |trigger: &Value| {
        let value = trigger
            .get("value")
            .and_then(Value::as_str)
            .expect("a text");
        match trigger.get("type").map(json::to_string).as_deref() {
            Some(WORD) => Value::from(escaped(value)),
            _ => Value::from(value),
        }
    };
    triggers.expect("triggers").iter().map(pattern).collect()
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if ".^$|()*+?[]{}\\".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A line for the engines, if calls may be seen to begin.
fn lazy_line(grammar: &Grammar, texts: &[String]) -> Option<Value> {
    let request = json::parse(&grammar.write(Language::LazyGbnf).text).expect("JSON");
    let text = request.get("grammar")?.clone();
    let Value::Object(mut line) = line(("gbnf", Language::Gbnf), grammar, texts) else {
        unreachable!("a line is an object");
    };
    line.insert("grammar", text);
    line.insert("triggers", Value::Array(triggers(&request)));
    Some(Value::Object(line))
}

/// Holds llama.cpp to it for one chat template; returns how many responses with calls it was given.
fn hold(subject: &Subject, python: &Path) -> usize {
    let mut calling = 0;
    let calls = |case: &&&Case| case.message.get("tool_calls").is_some();
    let mut groups = subject.groups();
    groups.retain(|cases| !cases[0].tools.is_empty());
    groups.sort_by_key(|cases| std::cmp::Reverse(cases.iter().filter(calls).count()));
    for mut cases in groups.into_iter().take(PROMPTS) {
        let first = cases[0];
        cases.truncate(RESPONSES);
        let grammar = subject.grammar(&first.prefix, &first.tools, ToolChoice::Auto);
        let texts: Vec<String> = cases.iter().map(|case| case.response.clone()).collect();
        let Some(lazily) = lazy_line(&grammar, &texts) else {
            continue;
        };
        calling += cases.iter().filter(calls).count();
        // What a grammar that is held from the beginning refuses is in the table of `docs/constrained.md`.
        let whole = line(("gbnf", Language::Gbnf), &grammar, &texts);
        let answers = ask(python, &[lazily, whole]);
        let [lazily, whole] = [0, 1].map(|at| accepted(&subject.name, &answers[at]));
        for (at, text) in texts.iter().enumerate() {
            assert!(
                lazily[at] || !whole[at],
                "{}: a response is refused: {text:?}",
                subject.name
            );
        }
    }
    let mut mutants = Vec::new();
    for (_, from, to) in MUTATIONS {
        let wrong = subject.grammar(
            subject.prefix(),
            &tools(Some((from, to))),
            ToolChoice::Tool(called(to)),
        );
        let mut sampler = Sampler::new(&wrong);
        mutants.extend((0..SAMPLES).map(|seed| sampler.sample(seed)));
    }
    let right = subject.grammar(subject.prefix(), &tools(None), ToolChoice::Auto);
    let findings = right.write(Language::LazyGbnf).findings;
    let is_unseen = findings.iter().any(|finding| finding.code == "no-trigger");
    if let (Some(line), false) = (lazy_line(&right, &mutants), is_unseen) {
        let taken = accepted(&subject.name, &ask(python, &[line])[0]);
        for (text, is_taken) in mutants.iter().zip(taken) {
            assert!(
                !is_taken,
                "{}: a wrong call is taken: {text:?}",
                subject.name
            );
        }
    }
    calling
}

#[test]
fn llama_cpp_holds_calls_from_their_first_sign_on() {
    let Some(python) = grammar_python() else {
        return;
    };
    for name in FEW {
        assert!(hold(&Subject::new(name), &python) > 20, "{name}");
    }
}

#[test]
#[ignore = "takes minutes; `.ci/run` runs it"]
fn llama_cpp_holds_calls_of_all_chat_templates() {
    let Some(python) = grammar_python() else {
        return;
    };
    let subjects = own_subjects();
    let calling = subjects
        .iter()
        .filter(|subject| subject.has_calls() && hold(subject, &python) > 0);
    assert!(
        calling.count() * 2 > subjects.len(),
        "most chat templates write calls"
    );
}
