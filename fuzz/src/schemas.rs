//! A response schema and a text: no panic, no hang; an error names a node of the schema; what is parsed is the same from text and from
//! value, and the trace says the same; a schema that is written from a response template is one.

use obverse::response_schema::{ResponseSchema, load_any};
use obverse::value::{Path, Step, Value, json};

use crate::parts;

/// Checks one document with one text.
pub fn check(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else {
        return;
    };
    let [document, text] = parts::<2>(input);
    let loaded = ResponseSchema::from_json(document);
    if let Err(invalid) = &loaded {
        for found in invalid.diagnostics() {
            if let Some(span) = &found.place.span {
                assert!(document.get(span.clone()).is_some(), "{span:?} of {document:?}");
            }
        }
    }
    let _ = load_any(document);
    let (Ok(schema), Ok(value)) = (loaded, json::parse(document)) else {
        return;
    };
    let again = ResponseSchema::from_value(&value).expect("it was accepted as text");
    let parsed = schema.parse(text);
    assert_eq!(spelled(&parsed), spelled(&again.parse(text)));
    assert_eq!(spelled(&parsed), spelled(&schema.trace(text).root.result));
    let all = schema.parse_all(text);
    match &parsed {
        Ok(value) => assert!(all.errors.is_empty() && json::to_string(value) == json::to_string(&all.value)),
        Err(error) => {
            assert!(has(&value, &error.path), "{} of {document}", error.path);
            assert!(!all.errors.is_empty());
        }
    }
}

fn spelled<E: std::fmt::Display>(parsed: &Result<Value, E>) -> String {
    parsed.as_ref().map_or_else(ToString::to_string, json::to_string)
}

/// Whether there is a value at the path.
fn has(value: &Value, path: &Path) -> bool {
    let mut value = value;
    for step in path.steps() {
        let next = match (step, value) {
            (Step::Key(key), Value::Object(members)) => members.get(key),
            (Step::Index(index), Value::Array(items)) => items.get(*index),
            _ => None,
        };
        let Some(next) = next else { return false };
        value = next;
    }
    true
}
