//! What a parser reports while it reads.

use std::borrow::Cow;

use serde::Serialize;

use super::error::ParseError;
use crate::value::Value;

/// One step of a parse, as transformers' `ResponseParser` reports it; it serializes to the same dict, key order included.
///
/// An event that a parser hands to a sink borrows from the parser; [`Event::into_owned`] makes one that can be kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
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
        /// Whether this is raw text of a structured region, whose value only the close brings.
        dirty: bool,
    },
    /// The region has ended.
    RegionClose {
        /// The field's name.
        field: Cow<'a, str>,
        /// What the region's text was parsed to.
        value: Cow<'a, Value>,
    },
    /// The region has ended, and its text does not parse. Only with [`super::OnError::Keep`]; the reference knows no such event.
    RegionError {
        /// The field's name.
        field: Cow<'a, str>,
        /// What is wrong, where, and the text as the model wrote it.
        error: Cow<'a, ParseError>,
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

    /// The same event, borrowing nothing.
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
        if let Event::RegionChunk { text, .. } = &event
            && let Some(Event::RegionChunk { text: before, .. }) = joined.last_mut()
        {
            before.to_mut().push_str(text);
        } else {
            joined.push(event);
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

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
