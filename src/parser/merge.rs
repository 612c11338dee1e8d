//! Merging: how the value of a region finds its place in the message.

use std::borrow::Cow;

use crate::response_template::{Field, ResponseTemplate};
use crate::value::{Map, Value};

/// Adds a region's value to a message as the parser does when the region closes: it takes the field's place, joins what is
/// there, or is one more item.
///
/// # Errors
///
/// When the value cannot be joined, or what is there is no list.
pub fn add_to_message(message: &mut Map, field: &Field, value: Value) -> Result<(), String> {
    merge(message, field, value).map(|_| ())
}

/// Returns the message, to be added to; before anything was, it is the template's defaults.
pub(super) fn begun<'m>(message: &'m mut Option<Map>, template: &ResponseTemplate) -> &'m mut Map {
    message.get_or_insert_with(|| {
        let defaults = template.defaults();
        let mut members = Map::with_capacity(defaults.len() + template.fields().len());
        members.extend(
            defaults
                .iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        members
    })
}

/// Adds a region's value to what the message has of the field, and gives it back for the event.
pub(super) fn merge<'m>(
    message: &'m mut Map,
    field: &Field,
    value: Value,
) -> Result<Cow<'m, Value>, String> {
    let index = message.get_index_of(&field.name);
    if let Some(separator) = &field.join {
        let Value::String(text) = &value else {
            return Err(not_text(&value));
        };
        match index.map(|index| &mut message[index]) {
            None | Some(Value::Null) => {}
            Some(Value::String(before)) => {
                before.push_str(separator);
                before.push_str(text);
                return Ok(Cow::Owned(value));
            }
            Some(other) => {
                return Err(not_joined(other));
            }
        }
    } else if field.repeats {
        let index = index.unwrap_or_else(|| {
            let empty = Value::Array(Vec::new());
            message.insert_full(field.name.clone(), empty).0
        });
        return match &mut message[index] {
            Value::Array(items) => {
                items.push(value);
                Ok(items.last().map_or(Cow::Owned(Value::Null), Cow::Borrowed))
            }
            other => Err(no_list(other)),
        };
    }
    let index = match index {
        Some(index) => {
            message[index] = value;
            index
        }
        None => message.insert_full(field.name.clone(), value).0,
    };
    Ok(Cow::Borrowed(&message[index]))
}

/// Notes in a message that a field has a value, without keeping it.
///
/// # Errors
///
/// As [`merge`] has them.
pub(super) fn mark(message: &mut Map, field: &Field, value: &Value) -> Result<(), String> {
    let there = message.get(&field.name);
    if field.join.is_some() {
        return match (value, there) {
            (Value::String(_), Some(Value::Null | Value::String(_))) => Ok(()),
            (Value::String(_), Some(other)) => Err(not_joined(other)),
            (Value::String(_), None) => {
                message.insert(field.name.clone(), Value::Null);
                Ok(())
            }
            (other, _) => Err(not_text(other)),
        };
    }
    match there {
        Some(Value::Array(_)) if field.repeats => {}
        Some(other) if field.repeats => return Err(no_list(other)),
        None if field.repeats => {
            message.insert(field.name.clone(), Value::Array(Vec::new()));
        }
        _ => {
            message.insert(field.name.clone(), Value::Null);
        }
    }
    Ok(())
}

fn not_text(value: &Value) -> String {
    format!(
        "'join' needs each region to parse to a string, not to a {}; use a text content parser or drop 'join'",
        value.type_name()
    )
}

fn not_joined(default: &Value) -> String {
    format!(
        "'join' cannot append to the default, a {}",
        default.type_name()
    )
}

fn no_list(default: &Value) -> String {
    format!(
        "'repeats' cannot append to the default, a {}; make it a list",
        default.type_name()
    )
}

/// Returns true for the values that the reference drops from a message: none, and empty strings, lists and objects.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_replace_join_or_gather() {
        let template = ResponseTemplate::from_json(
            r#"{"start_anchor": "A:", "fields": {
                "content": {},
                "joined": {"open": "<j>", "close": "</j>", "repeats": true, "join": "+"},
                "list": {"open": "<l>", "close": "</l>", "repeats": true}
            }}"#,
        )
        .expect("a template");
        let mut message = Map::new();
        for field in template.fields() {
            for value in ["a", "b"] {
                add_to_message(&mut message, field, Value::from(value)).expect("no error");
            }
        }
        let joined = &template.fields()[1];
        assert!(add_to_message(&mut message, joined, Value::Null).is_err());
        assert_eq!(
            crate::value::json::to_string(&Value::Object(message)),
            r#"{"content": "b", "joined": "a+b", "list": ["a", "b"]}"#
        );
    }
}
