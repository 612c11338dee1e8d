//! Ids of calls that a response does not have.
//!
//! Some chat templates write the ids of calls in all turns but the last, and so no response template reads them. A call without an id is
//! given a made-up one, and where the render has that one the text has the one that was meant: it ends where the text goes on as the render does
//! behind the made-up one. For a text with `"id": "c7x1"}]` and a render with `"id": "call00001"}]` it is `c7x1`. What is found is
//! checked by rendering it.

use crate::value::{Map, Value};

/// How many ids of a conversation are found so.
pub(super) const MOST: usize = 32;

/// How long an id may be, in bytes.
const LONGEST: usize = 80;

/// How many bytes behind an id tell where it ends.
const BEHIND: usize = 8;

/// A made-up id.
pub(super) fn made(number: usize) -> String {
    format!("call{number:05}")
}

fn is_made(id: &str) -> bool {
    let digits = id.strip_prefix("call").unwrap_or_default();
    digits.len() == 5 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the messages with the ids that the text has in the place of made-up ones. Text and render are the same up to the given places,
/// at which the render has a made-up id.
pub(super) fn found(
    messages: &[Value],
    (rendered, rendered_to): (&str, usize),
    (text, text_to): (&str, usize),
) -> Option<Vec<Value>> {
    let length = made(0).len();
    // The two ids may begin alike.
    let back = (0..=length).find(|back| {
        let start = rendered_to.checked_sub(*back);
        let made = start.and_then(|start| rendered.get(start..start + length));
        made.is_some_and(is_made)
    })?;
    let start = rendered_to - back;
    let made = &rendered[start..start + length];
    let mut end = (start + length + BEHIND).min(rendered.len());
    while !rendered.is_char_boundary(end) {
        end += 1;
    }
    let behind = &rendered[start + length..end];
    let rest = text.get(text_to.checked_sub(back)?..)?;
    let id = match behind.is_empty() {
        true => rest,
        false => &rest[..rest.find(behind)?],
    };
    let is_one = !id.is_empty() && id.len() <= LONGEST && !id.contains(char::is_whitespace);
    let with = |message: &Value| with_id(message, made, id);
    (is_one && id != made).then(|| messages.iter().map(with).collect())
}

/// The value with one text in the place of another.
fn with_id(value: &Value, made: &str, id: &str) -> Value {
    match value {
        Value::String(text) if text == made => Value::from(id),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| with_id(item, made, id)).collect())
        }
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, value)| (key.to_string(), with_id(value, made, id)));
            Value::Object(Map::from_iter(members))
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    #[test]
    fn an_id_ends_where_the_text_goes_on_as_the_render() {
        let messages = json::parse(r#"[{"tool_calls": [{"id": "call00001"}]}]"#).unwrap();
        let messages = messages.as_array().unwrap();
        let rendered = r#"<c>{"id": "call00001"}]</c> and on"#;
        for id in ["c7x1", "call7", "x"] {
            let text = rendered.replace("call00001", id);
            let shared = crate::text::common_prefix(rendered, &text);
            let found = found(messages, (rendered, shared), (&text, shared)).unwrap();
            let shown = json::to_string(&Value::Array(found));
            assert_eq!(shown, format!(r#"[{{"tool_calls": [{{"id": "{id}"}}]}}]"#));
        }
        let other = rendered.replace("and on", "or not");
        let shared = crate::text::common_prefix(rendered, &other);
        assert_eq!(found(messages, (rendered, shared), (&other, shared)), None);
    }
}
