//! Markers that are tokens of their own: what each engine takes of them, whole and spelled.

use std::collections::BTreeSet;
use std::path::Path;

use super::{FEW, LANGUAGES, Subject, ask, own_subjects};
use crate::support::reference::grammar_python;
use obverse::derive::Case;
use obverse::grammar::emit::Language;
use obverse::grammar::{Grammar, Request, SpecialToken, ToolChoice};
use obverse::value::{Map, Value};

/// The number of the first token of more than a byte, as `engines.py` has it.
const FIRST: u32 = 257;

/// How many responses are given to each engine.
const RESPONSES: usize = 60;

/// How a text is given to an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Tokens,
    Bytes,
}

/// What of a grammar's fixed texts looks like a token, which a tokenizer may have as one.
fn markers(grammar: &Grammar) -> Vec<String> {
    let text = grammar.write(Language::Gbnf).text;
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices('<') {
        let rest = &text[at + 1..];
        if let Some(end) = rest.find(['<', '>', '"', '\\', ' ', '[', ']'])
            && rest[end..].starts_with('>')
            && end > 1
        {
            found.insert(text[at..=at + 1 + end].to_owned());
        }
    }
    found.into_iter().collect()
}

fn line(
    language: (&str, Language),
    grammar: &Grammar,
    texts: &[String],
    tokens: (&str, &[String]),
    spelling: Spelling,
) -> Value {
    let list = |texts: &[String]| {
        Value::Array(
            texts
                .iter()
                .map(|text| Value::from(text.as_str()))
                .collect(),
        )
    };
    Value::Object(Map::from_iter([
        ("format".to_owned(), Value::from(language.0)),
        (
            "grammar".to_owned(),
            Value::from(grammar.write(language.1).text),
        ),
        ("texts".to_owned(), list(texts)),
        (tokens.0.to_owned(), list(tokens.1)),
        (
            "spelled".to_owned(),
            Value::Bool(spelling == Spelling::Bytes),
        ),
    ]))
}

/// For each text how many bytes were taken, and whether it was accepted whole.
fn taken(name: &str, answer: &Value) -> Vec<(usize, bool)> {
    let texts = answer.get("texts").and_then(Value::as_array);
    let texts = texts.unwrap_or_else(|| panic!("{name}: {answer:?}"));
    let one = |text: &Value| {
        let pair = text.as_array().expect("a pair");
        let Value::Int(bytes) = &pair[0] else {
            panic!("a number: {pair:?}")
        };
        (
            bytes.to_string().parse().expect("a count"),
            pair[1] == Value::Bool(true),
        )
    };
    texts.iter().map(one).collect()
}

/// Holds the engines to it for one chat template; returns how many texts have a marker.
fn hold(subject: &Subject, python: &Path) -> usize {
    let calls = |cases: &&Vec<&Case>| {
        cases
            .iter()
            .any(|case| case.message.get("tool_calls").is_some())
    };
    let groups = subject.groups().into_iter();
    let cases = groups.filter(|cases| calls(&cases)).max_by_key(Vec::len);
    let mut cases = cases.unwrap_or_default();
    cases.truncate(RESPONSES);
    let Some(first) = cases.first() else { return 0 };
    let request = || {
        Request::default()
            .tools(first.tools.clone())
            .tool_choice(ToolChoice::Auto)
            .prefix(first.prefix.as_str())
    };
    let grammar = |request: &Request| subject.written.grammar(request).expect("a grammar");
    let plain = grammar(&request());
    let tokens = markers(&plain);
    let special = tokens.iter().zip(FIRST..).map(|(text, id)| SpecialToken {
        text: text.clone(),
        id,
    });
    let told = grammar(&request().special_tokens(special.collect()));
    let texts: Vec<String> = cases.iter().map(|case| case.response.clone()).collect();
    let mut lines = Vec::new();
    for language in LANGUAGES {
        for (grammar, kind, spelling) in [
            (&told, "special", Spelling::Tokens),
            (&told, "special", Spelling::Bytes),
            (&plain, "added", Spelling::Tokens),
            (&plain, "added", Spelling::Bytes),
            (&plain, "special", Spelling::Tokens),
        ] {
            lines.push(line(language, grammar, &texts, (kind, &tokens), spelling));
        }
    }
    let answers = ask(python, &lines);
    let mut marked = 0;
    for (language, answers) in LANGUAGES.iter().zip(answers.chunks(5)) {
        let name = format!("{} in {}", subject.name, language.0);
        let [as_tokens, spelled, added, added_spelled, unknown] =
            [0, 1, 2, 3, 4].map(|at| taken(&name, &answers[at]));
        for (at, text) in texts.iter().enumerate() {
            // What is refused all the same is in the table of `docs/constrained.md`.
            let all = [as_tokens[at].1, added[at].1, added_spelled[at].1];
            assert!(
                all.iter().all(|one| *one == all[0]),
                "{name}: tokens {:?}, without special tokens {:?}, and spelled {:?}: {text:?}",
                as_tokens[at],
                added[at],
                added_spelled[at]
            );
            let is_marked = tokens.iter().any(|token| text.contains(token.as_str()));
            assert_eq!(
                unknown[at].1,
                all[0] && !(is_marked && language.1 == Language::Lark),
                "{name}: llguidance alone takes no text for a special token: {text:?}"
            );
            if is_marked {
                marked += 1;
                assert!(
                    !spelled[at].1,
                    "{name}: takes a special token in bytes: {text:?}"
                );
            }
        }
    }
    marked
}

#[test]
fn a_marker_is_a_token_where_the_tokenizer_has_it() {
    let Some(python) = grammar_python() else {
        return;
    };
    for name in FEW {
        let marked = hold(&Subject::new(name), &python);
        assert!(marked > 20, "{name}: {marked} texts have markers");
    }
}

/// Every chat template of the project's own. Takes minutes.
#[test]
#[ignore = "takes minutes; `.ci/run` runs it"]
fn markers_of_all_chat_templates_are_tokens() {
    let Some(python) = grammar_python() else {
        return;
    };
    let marked: Vec<usize> = own_subjects()
        .iter()
        .map(|subject| hold(subject, &python))
        .collect();
    assert!(
        marked.iter().filter(|marked| **marked > 0).count() * 2 > marked.len(),
        "most have markers: {marked:?}"
    );
}
