//! The steps by which a message grows.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::value::{Map, Path, Step, Value};

/// A step of a message's growth. [`Assembly`](super::Assembly) puts them together again.
///
/// Calls are numbered in the order in which they open, over the whole message and over all fields; `index` is that number, and none
/// is given twice. A path leads to a place in the message: `["thinking"]`, `["tool_calls", 0]`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Growth<'a> {
    /// More of the text at a path.
    Text {
        /// The place of the text in the message.
        path: Cow<'a, Path>,
        /// The text that is appended; never empty.
        text: Cow<'a, str>,
    },
    /// A value that is neither text nor a call, or that came in one piece.
    Value {
        /// The place of the value in the message.
        path: Cow<'a, Path>,
        /// The value.
        value: Cow<'a, Value>,
    },
    /// The text or value that was passed on for this path is not in the message: a field that keeps only its last value has begun another.
    /// This step never comes with [`Options::certain`](super::Options::certain).
    Restart {
        /// The place in the message at which the text or value stood.
        path: Cow<'a, Path>,
    },
    /// A call of a tool has begun.
    Call {
        /// The call's number.
        index: usize,
        /// The place of the call in the message.
        path: Cow<'a, Path>,
        /// The call's `id`, where the message has one.
        id: Option<Cow<'a, str>>,
        /// The name of the function.
        name: Cow<'a, str>,
        /// The number of the dropped call in whose place it stands, where what was written later made another call of that one.
        replaces: Option<usize>,
    },
    /// More of the text of a call's arguments: JSON, or the text itself where the message has the arguments as a string.
    Arguments {
        /// The call's number.
        index: usize,
        /// The text that is appended; never empty.
        text: Cow<'a, str>,
    },
    /// A call is whole, and in the message.
    CallDone {
        /// The call's number.
        index: usize,
    },
    /// A call is not in the message after all: its region does not parse, or a field that keeps only its last value has another, or what
    /// was written later made another call of it (a key that comes twice, a tag without an end), which then follows as a new one that names it. This step
    /// never comes with [`Options::certain`](super::Options::certain). A call that is dropped for the last of these reasons was not
    /// reported as done before.
    CallDropped {
        /// The call's number.
        index: usize,
    },
}

impl Growth<'_> {
    /// The step's kind, as it stands under `type`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Text { .. } => "text",
            Self::Value { .. } => "value",
            Self::Restart { .. } => "restart",
            Self::Call { .. } => "call",
            Self::Arguments { .. } => "arguments",
            Self::CallDone { .. } => "call_done",
            Self::CallDropped { .. } => "call_dropped",
        }
    }

    /// Returns true if it says that something which was passed on does not count.
    pub fn is_retraction(&self) -> bool {
        matches!(self, Self::Restart { .. } | Self::CallDropped { .. })
    }

    /// The step as an object: `type` first, then its members in the order in which they are listed here.
    ///
    /// ```
    /// use obverse::deltas::Growth;
    /// use obverse::value::json;
    /// let growth = Growth::Arguments { index: 0, text: "{\"city".into() };
    /// let map = growth.to_map();
    /// assert_eq!(json::to_string(&map.into()), r#"{"type": "arguments", "index": 0, "text": "{\"city"}"#);
    /// ```
    pub fn to_map(&self) -> Map {
        let mut members = Map::new();
        let mut add = |key: &str, value: Value| {
            members.insert(key, value);
        };
        add("type", Value::from(self.type_name()));
        match self {
            Self::Text { path, text } => {
                add("path", steps(path));
                add("text", Value::from(text.as_ref()));
            }
            Self::Value { path, value } => {
                add("path", steps(path));
                add("value", value.as_ref().clone());
            }
            Self::Restart { path } => add("path", steps(path)),
            Self::Call {
                index,
                path,
                id,
                name,
                replaces,
            } => {
                add("index", Value::count(*index));
                add("path", steps(path));
                if let Some(id) = id {
                    add("id", Value::from(id.as_ref()));
                }
                add("name", Value::from(name.as_ref()));
                if let Some(replaced) = replaces {
                    add("replaces", Value::count(*replaced));
                }
            }
            Self::Arguments { index, text } => {
                add("index", Value::count(*index));
                add("text", Value::from(text.as_ref()));
            }
            Self::CallDone { index } | Self::CallDropped { index } => {
                add("index", Value::count(*index));
            }
        }
        members
    }

    /// Copies the step so that it borrows nothing.
    pub fn into_owned(self) -> Growth<'static> {
        fn path(path: Cow<'_, Path>) -> Cow<'static, Path> {
            Cow::Owned(path.into_owned())
        }
        fn text(text: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(text.into_owned())
        }
        match self {
            Self::Text { path: at, text: it } => Growth::Text {
                path: path(at),
                text: text(it),
            },
            Self::Value { path: at, value } => Growth::Value {
                path: path(at),
                value: Cow::Owned(value.into_owned()),
            },
            Self::Restart { path: at } => Growth::Restart { path: path(at) },
            Self::Call {
                index,
                path: at,
                id,
                name,
                replaces,
            } => Growth::Call {
                index,
                path: path(at),
                id: id.map(text),
                name: text(name),
                replaces,
            },
            Self::Arguments { index, text: it } => Growth::Arguments {
                index,
                text: text(it),
            },
            Self::CallDone { index } => Growth::CallDone { index },
            Self::CallDropped { index } => Growth::CallDropped { index },
        }
    }
}

impl Serialize for Growth<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::Object(self.to_map()).serialize(serializer)
    }
}

/// Adds a step to those before it, joining texts of one path and arguments of one call. The result does not depend on how a response was
/// cut.
pub fn push_joined(joined: &mut Vec<Growth<'static>>, growth: Growth<'_>) {
    match (joined.last_mut(), &growth) {
        (
            Some(Growth::Text { path, text }),
            Growth::Text {
                path: more_path,
                text: more,
            },
        ) if path == more_path => text.to_mut().push_str(more),
        (
            Some(Growth::Arguments { index, text }),
            Growth::Arguments {
                index: more_index,
                text: more,
            },
        ) if index == more_index => text.to_mut().push_str(more),
        _ => joined.push(growth.into_owned()),
    }
}

/// A path as a list of keys and indexes.
fn steps(path: &Path) -> Value {
    let steps = path.steps().iter().map(|step| match step {
        Step::Key(key) => Value::from(key.as_str()),
        Step::Index(index) => Value::count(*index),
    });
    Value::Array(steps.collect())
}
