//! Slots: the places of texts in an assistant's message beside its content.

use std::fmt;

use super::message::{object, text_part};
use crate::value::{Map, Value};

/// A place in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Slot {
    /// The text stands under a key, or a key within keys.
    Key(Vec<String>),
    /// The text stands in a part of the content of this type, under the key of that name.
    Part { kind: String, key: String },
}

impl Slot {
    /// The place under this key.
    pub(crate) fn key(key: impl Into<String>) -> Self {
        Self::Key(vec![key.into()])
    }

    /// The key, or the keys joined by dots; of a part the key within it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Key(keys) => keys.join("."),
            Self::Part { key, .. } => key.clone(),
        }
    }

    /// Puts a text under the key, which is at that index if it is new. A part is put by [`add_part`], once the content is there.
    pub(crate) fn put_key(&self, members: &mut Map, at: usize, text: &str) {
        let Self::Key(keys) = self else { return };
        if let [first, ..] = keys.as_slice()
            && !members.contains_key(first.as_str())
        {
            members.shift_insert(at, first.as_str(), Value::Null);
        }
        insert_at(members, keys, text);
    }

    /// Puts a text there, in a message that has its content already.
    pub(crate) fn put(&self, message: &mut Value, at: usize, text: &str) {
        match (self, message) {
            (Self::Part { kind, key }, message) => add_part(message, kind, key, text),
            (slot, Value::Object(members)) => slot.put_key(members, at, text),
            _ => {}
        }
    }
}

fn insert_at(members: &mut Map, keys: &[String], text: &str) {
    let [first, rest @ ..] = keys else { return };
    if rest.is_empty() {
        members.insert(first.as_str(), Value::from(text));
        return;
    }
    let inner = members.get_or_insert_null(first.as_str());
    if !matches!(inner, Value::Object(_)) {
        *inner = Value::Object(Map::new());
    }
    if let Value::Object(inner) = inner {
        insert_at(inner, rest, text);
    }
}

/// Puts a part before the content's others.
pub(crate) fn add_part(message: &mut Value, kind: &str, key: &str, text: &str) {
    let Value::Object(members) = message else {
        return;
    };
    let content = members.get_or_insert_null("content");
    let mut parts = match std::mem::take(content) {
        Value::Array(parts) => parts,
        Value::String(text) if !text.is_empty() => vec![text_part(Value::from(text))],
        _ => Vec::new(),
    };
    parts.insert(
        0,
        object([("type", Value::from(kind)), (key, Value::from(text))]),
    );
    *content = Value::Array(parts);
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(keys) => write!(f, "`{}`", keys.join(".")),
            Self::Part { kind, key } => write!(f, "`{key}` of a part of type `{kind}`"),
        }
    }
}
