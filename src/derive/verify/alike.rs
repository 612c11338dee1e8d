//! In what two messages differ.

use super::super::probe::CALLS_KEY;
use crate::value::{Map, Value};

/// Whether two messages are the same but for values of arguments: the same keys, calls and argument names.
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

/// The message without the arguments of its calls that are null.
pub(super) fn without_nulls(message: &Value) -> Value {
    let mut message = message.clone();
    let calls = match &mut message {
        Value::Object(members) => members.get_mut(CALLS_KEY),
        _ => None,
    };
    if let Some(Value::Array(calls)) = calls {
        for call in calls {
            if let Value::Object(call) = call
                && let Some(Value::Object(function)) = call.get_mut("function")
                && let Some(Value::Object(arguments)) = function.get_mut("arguments")
            {
                arguments.retain(|_, value| !matches!(value, Value::Null));
            }
        }
    }
    message
}

/// Whether two messages have the same calls and the same texts, in whichever fields.
pub(super) fn same_but_fields(a: &Value, b: &Value) -> bool {
    let texts = |message: &Value| -> Vec<String> {
        let members = message.as_object().map(Map::values);
        let mut texts: Vec<String> = members
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
            .collect();
        texts.sort();
        texts
    };
    a.get(CALLS_KEY) == b.get(CALLS_KEY) && texts(a) == texts(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    fn message(text: &str) -> Value {
        json::parse(text).unwrap()
    }

    #[test]
    fn arguments_may_differ_in_value_only() {
        let seven =
            message(r#"{"tool_calls": [{"function": {"name": "f", "arguments": {"a": 7}}}]}"#);
        let text =
            message(r#"{"tool_calls": [{"function": {"name": "f", "arguments": {"a": "7"}}}]}"#);
        let other =
            message(r#"{"tool_calls": [{"function": {"name": "f", "arguments": {"b": 7}}}]}"#);
        let content = message(r#"{"content": "f(7)"}"#);
        assert!(same_but_arguments(&seven, &text));
        assert!(!same_but_arguments(&seven, &other));
        assert!(!same_but_arguments(&seven, &content));
    }

    #[test]
    fn texts_may_change_places_only() {
        let content = message(r#"{"role": "assistant", "content": "a"}"#);
        let thinking = message(r#"{"role": "assistant", "content": "", "thinking": "a"}"#);
        let both = message(r#"{"role": "assistant", "content": "<think>a"}"#);
        assert!(same_but_fields(&content, &thinking));
        assert!(!same_but_fields(&content, &both));
    }
}
