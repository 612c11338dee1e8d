//! The input of a node: text, mostly a part of the response, or a value.

use std::borrow::Cow;

use crate::value::{Value, json};

/// The input that a node is given by its parent.
#[derive(Debug, Clone)]
pub(super) enum Given<'t> {
    /// Text. A value that is a string is always this.
    Text(Cow<'t, str>),
    /// A value that is not a string.
    Value(Value),
}

impl Given<'_> {
    pub(super) fn of(value: Value) -> Self {
        match value {
            Value::String(text) => Self::Text(Cow::Owned(text)),
            other => Self::Value(other),
        }
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.into_owned()),
            Self::Value(value) => value,
        }
    }

    /// Returns the kind of the input in words, such as "text" or "a list".
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Value(value) => value.json_kind(),
        }
    }

    /// The text, or the value as JSON.
    pub(super) fn raw(&self) -> String {
        match self {
            Self::Text(text) => text.clone().into_owned(),
            Self::Value(value) => json::to_string(value),
        }
    }
}
