//! The events that a parser reports while it reads.

use std::borrow::Cow;

use serde::Serialize;

use super::error::ParseError;
use crate::value::{Map, Value};

/// One step of a parse, as transformers' `ResponseParser` reports it; it serializes to the same dict, key order included.
///
/// An event that a parser hands to a sink borrows from the parser; [`Event::into_owned`] makes one that can be kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event<'a> {
    /// The model has begun to write into a field. For the implicit field this comes with its first text.
    RegionOpen {
        /// The field's name.
        field: Cow<'a, str>,
    },
    /// More text of the open region.
    RegionChunk {
        /// The field's name.
        field: Cow<'a, str>,
        /// The text as the model wrote it.
        text: Cow<'a, str>,
        /// True if this is raw text of a structured region, whose value only the close brings.
        dirty: bool,
    },
    /// The region has ended.
    RegionClose {
        /// The field's name.
        field: Cow<'a, str>,
        /// The value that the region's text was parsed to.
        value: Cow<'a, Value>,
    },
    /// The region has ended, and its text does not parse. Only with [`super::OnError::Keep`]; the reference knows no such event.
    RegionError {
        /// The field's name.
        field: Cow<'a, str>,
        /// The error with its place and the text as the model wrote it. In a box, since an event is moved for every chunk.
        error: Cow<'a, Box<ParseError>>,
    },
}

impl Event<'_> {
    /// The name of the field that the event speaks of.
    pub fn field(&self) -> &str {
        match self {
            Self::RegionOpen { field }
            | Self::RegionChunk { field, .. }
            | Self::RegionClose { field, .. }
            | Self::RegionError { field, .. } => field,
        }
    }

    /// The event as the reference's dict.
    pub fn to_map(&self) -> Map {
        let mut members = Map::new();
        let mut add = |key: &str, value: Value| members.insert(key.to_owned(), value);
        add("type", Value::from(self.type_name()));
        add("field", Value::from(self.field()));
        match self {
            Self::RegionOpen { .. } => {}
            Self::RegionChunk { text, dirty, .. } => {
                add("text", Value::from(text.as_ref()));
                add("dirty", Value::from(*dirty));
            }
            Self::RegionClose { value, .. } => {
                add("value", value.as_ref().clone());
            }
            Self::RegionError { error, .. } => {
                add("error", Value::from(error.to_map()));
            }
        }
        members
    }

    /// The event's kind as it stands under `type`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::RegionOpen { .. } => "region_open",
            Self::RegionChunk { .. } => "region_chunk",
            Self::RegionClose { .. } => "region_close",
            Self::RegionError { .. } => "region_error",
        }
    }

    /// Copies the event so that it borrows nothing.
    pub fn into_owned(self) -> Event<'static> {
        let owned = |field: Cow<'_, str>| Cow::Owned(field.into_owned());
        match self {
            Self::RegionOpen { field } => Event::RegionOpen {
                field: owned(field),
            },
            Self::RegionChunk { field, text, dirty } => Event::RegionChunk {
                field: owned(field),
                text: owned(text),
                dirty,
            },
            Self::RegionClose { field, value } => Event::RegionClose {
                field: owned(field),
                value: Cow::Owned(value.into_owned()),
            },
            Self::RegionError { field, error } => Event::RegionError {
                field: owned(field),
                error: Cow::Owned(error.into_owned()),
            },
        }
    }
}

/// The events with adjacent chunks of one region joined: what does not depend on how a response was cut.
pub fn join_chunks<'a>(events: impl IntoIterator<Item = Event<'a>>) -> Vec<Event<'a>> {
    let mut joined: Vec<Event<'a>> = Vec::new();
    for event in events {
        if !absorb(&mut joined, &event) {
            joined.push(event);
        }
    }
    joined
}

/// Adds an event to those before it as [`join_chunks`] would, keeping nothing borrowed; a chunk that is joined to the one
/// before it allocates nothing of its own.
pub fn push_joined(joined: &mut Vec<Event<'static>>, event: Event<'_>) {
    if !absorb(joined, &event) {
        joined.push(event.into_owned());
    }
}

/// Adds the text of a chunk to the last event, if that is a chunk as well, and returns true if it was added.
fn absorb(joined: &mut [Event<'_>], event: &Event<'_>) -> bool {
    match (event, joined.last_mut()) {
        (Event::RegionChunk { text, .. }, Some(Event::RegionChunk { text: before, .. })) => {
            before.to_mut().push_str(text);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::ErrorKind;
    use crate::value::json::Format;

    #[test]
    fn a_map_is_written_as_serde_writes_the_event() {
        let region = Event::RegionClose {
            field: "a".into(),
            value: Cow::Owned(Value::from("b")),
        };
        let chunk = Event::RegionChunk {
            field: "a".into(),
            text: "b".into(),
            dirty: true,
        };
        let open = Event::RegionOpen { field: "a".into() };
        let error = ParseError {
            field: Some("a".to_owned()),
            ..ParseError::new(ErrorKind::Merge, "no list")
        };
        let error = Event::RegionError {
            field: "a".into(),
            error: Cow::Owned(Box::new(error)),
        };
        for event in [region, chunk, open, error] {
            let written = Format::compact().write(&Value::Object(event.to_map()));
            assert_eq!(written, serde_json::to_string(&event).unwrap());
        }
    }

    #[test]
    fn events_are_joined_alike_one_by_one_and_together() {
        let chunk = |text: &'static str| Event::RegionChunk {
            field: "a".into(),
            text: text.into(),
            dirty: false,
        };
        let open = || Event::RegionOpen { field: "a".into() };
        let events = [open(), chunk("x"), chunk("y"), open(), chunk("z")];
        let together = join_chunks(events.clone());
        let mut one_by_one = Vec::new();
        for event in events {
            push_joined(&mut one_by_one, event);
        }
        assert_eq!(together, [open(), chunk("xy"), open(), chunk("z")]);
        assert_eq!(one_by_one, together);
    }

    #[test]
    fn serializes_as_the_reference_spells_it() {
        let close = Event::RegionClose {
            field: "content".into(),
            value: Cow::Owned(Value::from("Hi")),
        };
        assert_eq!(
            serde_json::to_string(&close).unwrap(),
            r#"{"type":"region_close","field":"content","value":"Hi"}"#
        );
        let chunk = Event::RegionChunk {
            field: "content".into(),
            text: "Hi".into(),
            dirty: false,
        };
        assert_eq!(
            serde_json::to_string(&chunk).unwrap(),
            r#"{"type":"region_chunk","field":"content","text":"Hi","dirty":false}"#
        );
    }
}
