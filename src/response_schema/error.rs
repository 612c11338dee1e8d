//! Errors: the reasons why a response has no value.

use std::fmt;

use crate::value::{Map, Path, Value, json};

/// The kind of an error at a node; each has a stable name, see [`ErrorKind::name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A node with a pattern was given a value that is not text.
    NotText,
    /// A node with `x-regex-iterator` is not an array.
    IteratorType,
    /// A node with `x-regex-key-value` is not an object.
    KeyValueType,
    /// A pattern matched that has neither a named nor an unnamed group.
    NoGroup,
    /// A pattern matched that has several unnamed groups and no named one.
    ManyGroups,
    /// A match of `x-regex-key-value` lacks its `key` or its `value`.
    KeyValueGroups,
    /// The value that `x-regex` found is no text, and a second pattern was to search it.
    ExtractedNotText,
    /// A parser was given a value that is not text.
    ParserNotText,
    /// The text is not JSON.
    Json,
    /// The JMESPath expression cannot be evaluated for the value.
    Transform,
    /// There is no parser of that name.
    UnknownParser,
    /// An object was given text and has no properties to give it to.
    ObjectText,
    /// An object was given a value that is neither text nor an object.
    NotObject,
    /// Required members are missing.
    Required,
    /// An array with `items` was given a value that is not a list.
    NotList,
    /// An array with several `prefixItems` was given a value that is not a list.
    PrefixNotList,
    /// The list is not as long as `prefixItems`.
    PrefixLength,
    /// An array has neither `items` nor `prefixItems`.
    NoItems,
    /// The node is of type integer, number, boolean or string and was given a value of another type.
    WrongValue,
    /// The text is not an integer.
    Integer,
    /// The text is not a number, or the integer is too large for one.
    Number,
    /// The text is not a boolean.
    Boolean,
    /// There is no such type.
    UnknownType,
    /// A limit was reached; the message names it.
    Limit,
}

impl ErrorKind {
    /// The kind's stable name, such as `not-text` or `required`.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotText => "not-text",
            Self::IteratorType => "iterator-type",
            Self::KeyValueType => "key-value-type",
            Self::NoGroup => "no-group",
            Self::ManyGroups => "many-groups",
            Self::KeyValueGroups => "key-value-groups",
            Self::ExtractedNotText => "extracted-not-text",
            Self::ParserNotText => "parser-not-text",
            Self::Json => "json",
            Self::Transform => "transform",
            Self::UnknownParser => "unknown-parser",
            Self::ObjectText => "object-text",
            Self::NotObject => "not-object",
            Self::Required => "required",
            Self::NotList => "not-list",
            Self::PrefixNotList => "prefix-not-list",
            Self::PrefixLength => "prefix-length",
            Self::NoItems => "no-items",
            Self::WrongValue => "wrong-value",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::UnknownType => "unknown-type",
            Self::Limit => "limit",
        }
    }
}

/// The reason why a response has no value: the kind of the error, the node, and the text that the node had.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SchemaError {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The node of the schema.
    pub path: Path,
    /// The error in a sentence.
    pub message: String,
    /// Advice on how to mend it.
    pub hint: Option<String>,
    /// The text or value that the node had then; text as it is, everything else as JSON.
    pub raw: Option<String>,
}

impl SchemaError {
    pub(super) fn new(kind: ErrorKind, path: &Path, message: impl Into<String>) -> Self {
        Self {
            kind,
            path: path.clone(),
            message: message.into(),
            hint: None,
            raw: None,
        }
    }

    /// Returns the error with advice.
    #[must_use]
    pub(super) fn with_hint(mut self, hint: &str) -> Self {
        self.hint = Some(hint.to_owned());
        self
    }

    /// Returns the error with the input that the node had.
    #[must_use]
    pub(super) fn with_raw(mut self, raw: impl Into<String>) -> Self {
        self.raw = Some(raw.into());
        self
    }

    /// The error as an object: `kind`, `message`, `path`, and where they are known `hint` and `raw`.
    pub fn to_map(&self) -> Map {
        let mut members = Map::new();
        members.insert("kind", Value::from(self.kind.name()));
        members.insert("message", Value::from(self.message.as_str()));
        members.insert("path", Value::from(self.path.to_string()));
        if let Some(hint) = &self.hint {
            members.insert("hint", Value::from(hint.as_str()));
        }
        if let Some(raw) = &self.raw {
            members.insert("raw", Value::from(raw.as_str()));
        }
        members
    }
}

/// Place and message in one line.
impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SchemaError {}

/// The beginning of a text for a message: enough to recognise it, never all of a long one.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", json::quote(&text[..end])),
        None => json::quote(text),
    }
}
