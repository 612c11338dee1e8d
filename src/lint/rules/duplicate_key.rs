//! Keys that stand twice in one object.

use std::collections::HashMap;
use std::ops::Range;

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::Subject;
use crate::lint::{Example, Rule, Shows};
use crate::value::json::{self, quote};
use crate::value::{Path, Value};

pub(super) static RULE: Rule = Rule {
    code: "duplicate-key",
    severity: Severity::Warning,
    summary: "a key stands twice in one object, of which JSON keeps the last",
    why: "JSON has no two members of one name. transformers, as every reader in Python, takes the last of them and says nothing: \
          the field or the delimiter that was written first is as good as not there.",
    remedy: "Keep one of them. A delimiter that has several texts takes a list.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {
  "thinking": {"open": "<think>", "close": "</think>"},
  "thinking": {"open": "<reason>", "close": "</reason>"},
  "content": {}
}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {
  "thinking": {"open": ["<think>", "<reason>"], "close": ["</think>", "</reason>"]},
  "content": {}
}}"#,
        chat: None,
        shows: Shows::Message {
            response: "<think>hm</think>Hello",
            bad: r#"{"content": "<think>hm</think>Hello"}"#,
            good: r#"{"thinking": "hm", "content": "Hello"}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let root = subject.root().steps();
    for (path, span) in overwritten(subject.text()) {
        let steps = path.steps();
        if !steps.starts_with(root) && !root.starts_with(steps) {
            continue;
        }
        let Some(crate::value::Step::Key(key)) = steps.last() else {
            continue;
        };
        let message = format!(
            "{} stands again further on: this one does not count",
            quote(key)
        );
        let mut diagnostic = subject
            .at_key(&RULE, &path, message)
            .with_hint("keep one of them; a delimiter that has several texts takes a list");
        let counts = diagnostic.place.span.replace(span);
        diagnostic
            .labels
            .extend(counts.map(|span| crate::diagnostic::Label {
                span,
                text: "the one that counts".to_owned(),
            }));
        found.push(diagnostic);
    }
}

/// An object or a list that has begun.
enum Open {
    Object {
        /// The keys so far, with their places.
        keys: HashMap<String, Range<usize>>,
        /// The key of the member that is being read; none where one is to come.
        key: Option<String>,
    },
    List {
        index: usize,
    },
}

/// The keys of a JSON text that stand again further on in their object: the path of each, and its own place.
fn overwritten(text: &str) -> Vec<(Path, Range<usize>)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'{' => open.push(Open::Object {
                keys: HashMap::new(),
                key: None,
            }),
            b'[' => open.push(Open::List { index: 0 }),
            b'}' | b']' => {
                open.pop();
            }
            b',' => match open.last_mut() {
                Some(Open::Object { key, .. }) => *key = None,
                Some(Open::List { index }) => *index += 1,
                None => {}
            },
            b'"' => {
                at = end_of_string(bytes, at);
                let Some(Open::Object { keys, key }) = open.last_mut() else {
                    continue;
                };
                if key.is_some() {
                    continue;
                }
                let Some(Ok(Value::String(name))) = text.get(start..at).map(json::parse) else {
                    continue;
                };
                let name = name.to_string();
                let before = keys.insert(name.clone(), start..at);
                *key = Some(name);
                if let Some(before) = before {
                    found.push((path(&open), before));
                }
            }
            _ => {}
        }
    }
    found
}

/// The end of a string whose first quote is behind us.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'"' => return at + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    bytes.len()
}

/// The path to what is being read.
fn path(open: &[Open]) -> Path {
    open.iter().fold(Path::default(), |path, open| match open {
        Open::Object { key: Some(key), .. } => path.key(key),
        Open::Object { key: None, .. } => path,
        Open::List { index } => path.index(*index),
    })
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_key_is_known_however_it_is_written() {
        let text = r#"{"a": {"b": "\"b\": {", "\u0062": [1, {"c": 1, "c": 2}]}, "b": 1}"#;
        let found: Vec<String> = overwritten(text)
            .into_iter()
            .map(|(path, span)| format!("{path} {}", &text[span]))
            .collect();
        assert_eq!(found, [r#"$.a.b "b""#, r#"$.a.b[1].c "c""#]);
    }

    #[test]
    fn what_else_a_configuration_has_does_not_matter() {
        let template =
            r#"{"start_anchor": "<b>", "start_anchor": "<c>", "fields": {"content": {}}}"#;
        let config = format!(r#"{{"x": 1, "x": 2, "response_template": {template}}}"#);
        let found = found("duplicate-key", &config);
        assert_eq!(found.len(), 1, "{found:?}");
        let span = found[0].place.span.clone().expect("a place");
        assert_eq!(
            span.start,
            config.find("\"start_anchor\"").expect("it is there")
        );
        assert_eq!(found[0].labels.len(), 1);
    }
}
