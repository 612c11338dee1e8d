//! Why a response could not be parsed.

use std::ops::Range;

use serde::{Serialize, Serializer};

use crate::content::{ContentError, ContentErrorKind};
use crate::value::{Map, Value};

/// A response, or one region of it, that does not parse.
///
/// Nothing is lost with it: it carries the raw text, and the parser keeps the message parsed so far.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize)]
#[error("{message}")]
#[non_exhaustive]
pub struct ParseError {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// A sentence that says what went wrong and where.
    pub message: String,
    /// Advice on how to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The field whose region it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The region's text: byte offsets into the response. What the prefix had already written of the region lies before
    /// the response, so such a region begins at 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Range<usize>>,
    /// The region's text as the model wrote it, the prefix's part included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<Box<str>>,
}

/// The kinds of [`ParseError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A region's text is not what its content parser or transform takes.
    Content(ContentErrorKind),
    /// A value cannot be added to the message: `join` needs strings, `repeats` a list.
    Merge,
    /// A field with `optional: false` is missing.
    Required,
    /// This limit was reached.
    Limit(LimitKind),
    /// The parser was used after `finalize`.
    Finalized,
    /// The response does not match the grammar that it is read with.
    Grammar,
    /// The response matches the grammar, but what a part of it holds is no value.
    Value,
}

/// The limits that a parse can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitKind {
    /// The text of one region, or of one stretch that no field takes: [`super::Limits::region_bytes`].
    RegionBytes,
    /// The text that is kept because it may be read again, such as for a delimiter that may be under way: [`super::Limits::held_bytes`].
    HeldBytes,
    /// The number of regions with a value: [`super::Limits::regions`].
    Regions,
    /// The delimiters in a row that match without taking any text.
    IdleDelimiters,
    /// The steps that reading takes: those of a pattern, or of a grammar.
    Steps,
    /// How deeply the expressions of a grammar are nested.
    Depth,
    /// How many nodes the tree of a grammar has.
    Nodes,
}

impl ErrorKind {
    /// Returns true if a limit was reached, whichever it was.
    pub fn is_limit(self) -> bool {
        matches!(self, Self::Limit(_))
    }

    /// The kind's stable name: that of the content parser's step, or `merge`, `required`, `limit`, `finalized`, `no-match`, `value`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Content(kind) => kind.name(),
            Self::Merge => "merge",
            Self::Required => "required",
            Self::Limit(_) => "limit",
            Self::Finalized => "finalized",
            Self::Grammar => "no-match",
            Self::Value => "value",
        }
    }
}

impl Serialize for ErrorKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl ParseError {
    /// Returns true if the parser reads no further. After an error of which this is false it leaves out the region and goes on with
    /// the next call; after one of which it is true every further call fails.
    pub fn is_final(&self) -> bool {
        !matches!(
            self.kind,
            ErrorKind::Content(_) | ErrorKind::Merge | ErrorKind::Value
        )
    }

    /// The error as an object: `kind`, `message`, and as far as they are known `field`, `span` (start and end), `raw` and
    /// `hint`.
    pub fn to_map(&self) -> Map {
        let mut members = Map::new();
        let mut add = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                members.insert(key.to_owned(), value);
            }
        };
        let span =
            |span: &Range<usize>| vec![Value::count(span.start), Value::count(span.end)].into();
        add("kind", Some(self.kind.name().into()));
        add("message", Some(self.message.as_str().into()));
        add("field", self.field.as_deref().map(Value::from));
        add("span", self.span.as_ref().map(span));
        add("raw", self.raw.as_deref().map(Value::from));
        add("hint", self.hint.as_deref().map(Value::from));
        members
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            field: None,
            span: None,
            raw: None,
        }
    }

    pub(super) fn content(field: &str, error: &ContentError) -> Self {
        Self {
            hint: error.hint().map(str::to_owned),
            ..Self::new(
                ErrorKind::Content(error.error_kind()),
                format!("field '{field}': {}", error.message()),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::parse_response;
    use crate::response_template::ResponseTemplate;
    use crate::value::json::Format;

    /// The error of a call whose arguments are no JSON.
    fn broken_call() -> ParseError {
        let template = ResponseTemplate::from_json(
            r#"{"start_anchor": "A:", "fields": {"content": {}, "call": {"open": "<c>", "close": "</c>", "content": "json"}}}"#,
        );
        parse_response("Hi<c>{'a': 1}</c>", template.expect("a template"), "", &[])
            .expect_err("no JSON")
    }

    #[test]
    fn an_error_says_where_and_what_to_do() {
        let map = broken_call().to_map();
        let written = |key: &str| Format::compact().write(&map[key]);
        assert_eq!(written("kind"), r#""json""#);
        assert_eq!(written("field"), r#""call""#);
        assert_eq!(written("span"), "[5,13]");
        assert_eq!(written("raw"), r#""{'a': 1}""#);
        assert!(
            map["message"]
                .as_str()
                .is_some_and(|message| message.starts_with("field 'call': "))
        );
        assert!(
            map["hint"]
                .as_str()
                .is_some_and(|hint| hint.contains("allow_non_json"))
        );
    }

    #[test]
    fn kinds_have_names_and_serialize_as_these() {
        for (kind, name) in [
            (broken_call().kind, "json"),
            (ErrorKind::Merge, "merge"),
            (ErrorKind::Required, "required"),
            (ErrorKind::Limit(LimitKind::Regions), "limit"),
            (ErrorKind::Finalized, "finalized"),
            (ErrorKind::Grammar, "no-match"),
            (ErrorKind::Value, "value"),
        ] {
            assert_eq!(kind.name(), name);
            assert_eq!(serde_json::to_value(kind).unwrap(), name);
        }
    }

    #[test]
    fn what_concerns_a_region_alone_is_not_final() {
        let is_final = |kind| ParseError::new(kind, "").is_final();
        assert!(!broken_call().is_final() && !is_final(ErrorKind::Merge));
        for kind in [
            ErrorKind::Required,
            ErrorKind::Limit(LimitKind::Regions),
            ErrorKind::Finalized,
        ] {
            assert!(is_final(kind), "{kind:?}");
        }
    }
}
