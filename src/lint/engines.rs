//! The rules about engines: mistakes that keep a response template from running elsewhere. The findings themselves come from the engines.

use crate::diagnostic::Diagnostic;
use crate::response_template::{Document, Engine};
use crate::value::{Path, Value};

use super::DocumentCode;
use super::subject::Subject;

pub(super) const CODES: &[DocumentCode] = &[
    DocumentCode {
        code: "unserved-field",
        text: "The engine, or one of its readers, takes `thinking`, `content` and `tool_calls` and no other field.",
        bad: r##"{"start_anchor": "<bot>", "fields": {"reasoning_content": {"open": "<think>", "close": "</think>"}, "content": {}}}"##,
        engine: Some(Engine::Sglang),
    },
    DocumentCode {
        code: "unserved-default",
        text: "The engine, or one of its readers, takes no default but `role`.",
        bad: r##"{"defaults": {"role": "assistant", "content": ""}, "start_anchor": "<bot>", "fields": {"content": {}}}"##,
        engine: Some(Engine::Sglang),
    },
    DocumentCode {
        code: "unserved-text",
        text: "The engine, or one of its readers, streams text as it comes: no other content parser, no transform and no `join` there.",
        bad: r##"{"start_anchor": "<bot>", "fields": {"content": {"close": "</bot>", "repeats": true, "join": ""}}}"##,
        engine: Some(Engine::Sglang),
    },
    DocumentCode {
        code: "unserved-call",
        text: "The engine drops calls that have no `function` with `name` and `arguments`, and takes no `join` of calls.",
        bad: r##"{"start_anchor": "<bot>", "fields": {"tool_calls": {"open": "<call>", "close": "</call>", "repeats": true, "content": "json", "transform": {"name": "{content.name}"}}}}"##,
        engine: Some(Engine::Vllm),
    },
    DocumentCode {
        code: "unserved-pattern",
        text: "The engine compiles patterns as Rust's regular expressions. One that opens or closes a region needs a literal with which every match begins, and an automaton of at most 16 MiB.",
        bad: r##"{"start_anchor": "<bot>", "fields": {"content": {"close_pattern": "\\s*</bot>"}}}"##,
        engine: Some(Engine::Vllm),
    },
];

/// Adds what the engine has against the response template.
pub(super) fn check(subject: &Subject<'_>, engine: Engine, found: &mut Vec<Diagnostic>) {
    let Some(document) = Document::of(subject.document()) else {
        return;
    };
    for mut diagnostic in engine.check(&document) {
        let written = diagnostic.place.path.take();
        let path = written.and_then(|path| find(subject.document(), &Path::default(), &path));
        let path = subject.root().join(&path.unwrap_or_default());
        diagnostic.place = subject.place(&path);
        found.push(diagnostic);
    }
}

/// Returns the path to the value whose path, written out, is `wanted`.
fn find(value: &Value, path: &Path, wanted: &str) -> Option<Path> {
    let written = path.to_string();
    if written == wanted {
        return Some(path.clone());
    }
    if !wanted.starts_with(&written) {
        return None;
    }
    match value {
        Value::Object(members) => members
            .iter()
            .find_map(|(key, member)| find(member, &path.key(key), wanted)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| find(item, &path.index(index), wanted)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::{Options, lint};

    #[test]
    fn what_an_engine_refuses_has_its_place() {
        let text = r#"{"response_template": {"start_anchor": "<b>", "fields": {
            "a \"b": {"open_pattern": "(?=<x>)", "close": "</x>"}, "content": {"repeats": true, "join": "-"}}}}"#;
        let options = Options {
            engines: &[Engine::Vllm],
            ..Options::default()
        };
        let found: Vec<(&str, &str)> = lint(text, &options)
            .iter()
            .filter(|found| found.code.starts_with("unserved"))
            .map(|found| {
                (
                    found.code,
                    &text[found.place.span.clone().expect("a place")],
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("unserved-field", r#""a \"b""#),
                ("unserved-pattern", r#""(?=<x>)""#),
                ("unserved-text", r#""-""#),
            ]
        );
        assert!(Engine::ALL.iter().all(|engine| {
            let found = lint(
                text,
                &Options {
                    engines: &[*engine],
                    ..Options::default()
                },
            );
            found.iter().all(|found| crate::lint::is_code(found.code))
        }));
    }
}
