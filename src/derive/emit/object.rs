//! The fields of an answer that is one JSON object.
//!
//! A field begins at its key, unless its value is an empty text, an empty list or `null`, and ends where the value does. A text ends at its
//! closing quote, which is found by reading all of the text from its key on. Calls end at the bracket before the next key, or before the
//! end of the object and of the turn. The text between the fields, such as commas, goes to no field.

use indexmap::IndexMap;

use super::marker::Ids;
use super::{JSON_STRING, calls, either_of};
use crate::derive::compare::text;
use crate::derive::read::calls::ToolCalls;
use crate::derive::read::cut::Body;
use crate::derive::read::object::AnswerObject;
use crate::response_template::{Delimiter, FieldDocument};
use crate::value::json;

/// The fields of the answer. The reasoning goes to the field `reasoning_field`; `text_end` is how a pattern says that the text ends.
pub(super) fn fields(
    object: &AnswerObject,
    tool_calls: Option<&ToolCalls>,
    reasoning_field: &str,
    text_end: &str,
) -> IndexMap<String, FieldDocument> {
    let mut fields = IndexMap::new();
    if let Some(key) = &object.reasoning {
        fields.insert(reasoning_field.to_owned(), text_at(key));
    }
    if let (Some(key), Some(tool_calls)) = (&object.calls, tool_calls) {
        let region = calls_at(object, key, tool_calls, text_end);
        fields.insert("tool_calls".to_owned(), region);
    }
    fields.insert("content".to_owned(), text_at(&object.content));
    fields
}

/// A pattern for a key and what stands before its value.
fn key_pattern(key: &str) -> String {
    format!("{}\\s*:\\s*", text::escape(&json::quote(key)))
}

fn text_at(key: &str) -> FieldDocument {
    let key = key_pattern(key);
    FieldDocument {
        open: Some(Delimiter::pattern(format!("{key}(?=\"[^\"])"))),
        close: Some(Delimiter::pattern(format!("(?<={key}{JSON_STRING})"))),
        content: Some("json".to_owned()),
        ..FieldDocument::default()
    }
}

fn calls_at(
    object: &AnswerObject,
    key: &str,
    tool_calls: &ToolCalls,
    text_end: &str,
) -> FieldDocument {
    let (first, last) = match tool_calls.body {
        Body::Array(_) => ("\\[\\s*\\{", "\\]"),
        _ => ("\\{", "\\}"),
    };
    let end = match object.marker_behind() {
        None => format!("(?:\\n|{text_end})"),
        // An engine that stops at the end token keeps it to itself.
        Some(end) => format!("(?:{}|{text_end})", text::escape_loosely(end)),
    };
    let follows = object.after_calls.iter().map(|next| match next {
        Some(next) => format!("(?=,\\s*{})", key_pattern(next)),
        None => format!("\\}}\\s*{end}"),
    });
    let follows = either_of(follows.collect()).unwrap_or_default();
    FieldDocument {
        open: Some(Delimiter::pattern(format!(
            "{}(?={first})",
            key_pattern(key)
        ))),
        close: Some(Delimiter::pattern(format!("(?<={last})\\s*{follows}"))),
        content: Some("json".to_owned()),
        ..calls::transformed(tool_calls, &Ids::There)
    }
}
