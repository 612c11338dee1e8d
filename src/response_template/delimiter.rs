//! Delimiters of a document: literals under one key, or a pattern under another.

use indexmap::IndexSet;

use crate::diagnostic::Diagnostic;
use crate::pattern::{Pattern, PatternError};
use crate::value::{Map, Path, Value};

use super::findings::Findings;

/// The pattern under one of two keys; `None` when there is neither, or after a finding.
pub(super) fn pattern(
    members: &Map,
    path: &Path,
    literal_key: &str,
    pattern_key: &str,
    findings: &mut Findings<'_>,
) -> Option<Pattern> {
    match (members.get(literal_key), members.get(pattern_key)) {
        (Some(_), Some(_)) => {
            let message = format!("{literal_key} and {pattern_key} exclude each other");
            let hint = "keep the one that you mean; a list of literals may stand under the first";
            findings.key(
                &path.key(pattern_key),
                Diagnostic::error("conflicting-keys", message).with_hint(hint),
            );
            None
        }
        (Some(literals), None) => {
            literal_pattern(literals, &path.key(literal_key), literal_key, findings)
        }
        (None, Some(Value::String(source))) => findings
            .regex(source)
            .map_err(|error| findings.pattern(&path.key(pattern_key), error))
            .ok(),
        (None, Some(other)) => {
            findings.wrong_type(&path.key(pattern_key), pattern_key, "a string", other);
            None
        }
        (None, None) => None,
    }
}

fn literal_pattern(
    literals: &Value,
    path: &Path,
    key: &str,
    findings: &mut Findings<'_>,
) -> Option<Pattern> {
    let items = match literals {
        Value::String(_) => std::slice::from_ref(literals),
        Value::Array(items) => items,
        other => {
            findings.wrong_type(path, key, "a string or a list of strings", other);
            return None;
        }
    };
    if items.is_empty() {
        findings.value(
            path,
            Diagnostic::error(
                "no-literals",
                format!("the list of {key} must not be empty"),
            ),
        );
        return None;
    }
    let before = findings.diagnostics.len();
    let mut texts: IndexSet<String> = IndexSet::new();
    for (index, item) in items.iter().enumerate() {
        let path = if literals.as_array().is_some() {
            path.index(index)
        } else {
            path.clone()
        };
        match item {
            Value::String(text) if text.is_empty() => {
                let diagnostic =
                    Diagnostic::error("empty-literal", format!("{key} must not be empty text"));
                findings.value(
                    &path,
                    diagnostic.with_hint("leave the key out where nothing stands"),
                );
            }
            Value::String(text) => {
                texts.insert(text.clone());
            }
            other => findings.wrong_type(&path, key, "a string", other),
        }
    }
    if findings.diagnostics.len() > before {
        return None;
    }
    // A mistake in a list of literals has no place inside one of them.
    let compiled = Pattern::literals(&texts.into_iter().collect::<Vec<_>>());
    let report = |error: PatternError| {
        let diagnostic = Diagnostic::error(
            "bad-pattern",
            format!("{key} does not compile: {}", error.message),
        );
        findings.value(
            path,
            Diagnostic {
                hint: error.hint,
                ..diagnostic
            },
        );
    };
    compiled.map_err(report).ok()
}
