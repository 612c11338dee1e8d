//! In what two messages differ that render to the same text.

use super::trial::dense;
use crate::value::{Map, Value, json};

/// Whether two lists of calls are the same but for values of arguments: the same calls, keys and argument names.
pub(super) fn same_but_arguments(a: &Value, b: &Value) -> bool {
    without_values(a, false) == without_values(b, false)
}

fn without_values(value: &Value, inside: bool) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| {
                let blank = if inside {
                    Value::Null
                } else {
                    without_values(member, key == "arguments")
                };
                (key.clone(), blank)
            })
            .collect::<Map>()
            .into(),
        Value::Array(items) => items
            .iter()
            .map(|item| without_values(item, false))
            .collect::<Vec<_>>()
            .into(),
        other => other.clone(),
    }
}

/// Whether `other` is a message that somebody could have meant in the place of `message`: its texts are made of the message's own.
///
/// A content that holds the chat template's markers renders like nearly everything that these mark. It is no other message, but the
/// text that was not read.
pub(super) fn could_be_meant(message: &Value, other: &Value) -> bool {
    let own: String = texts(message).concat();
    let others = texts(other);
    others.iter().all(|text| own.contains(text.as_str()))
}

/// The texts of a message, without white space: its fields first, then what its calls say, as it is written in JSON.
fn texts(message: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(message, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(dense(text)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => {
            for (key, member) in members {
                if key.as_str() != "type" && key.as_str() != "role" {
                    collect(member, found);
                }
            }
        }
        other => found.push(json::to_string(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(text: &str) -> Value {
        json::parse(text).unwrap()
    }

    #[test]
    fn arguments_may_differ_in_value_only() {
        let seven = calls(r#"[{"function": {"name": "f", "arguments": {"a": 7}}}]"#);
        let text = calls(r#"[{"function": {"name": "f", "arguments": {"a": "7"}}}]"#);
        let other = calls(r#"[{"function": {"name": "f", "arguments": {"b": 7}}}]"#);
        let content = calls("null");
        assert!(same_but_arguments(&seven, &text));
        assert!(!same_but_arguments(&seven, &other));
        assert!(!same_but_arguments(&seven, &content));
    }

    #[test]
    fn a_text_with_markers_in_it_is_no_other_message() {
        let message = |text: &str| json::parse(text).unwrap();
        let meant = message(r#"{"thinking": "a b", "content": "c"}"#);
        for (other, could_be) in [
            (r#"{"role": "assistant", "content": "a b\n\nc"}"#, true),
            (r#"{"content": "a b", "thinking": "c"}"#, true),
            (r#"{"content": "<t>a b</t>c"}"#, false),
        ] {
            assert_eq!(could_be_meant(&meant, &message(other)), could_be, "{other}");
        }
    }
}
