//! Why a region's text has no value.

use std::fmt;

/// Which step failed; each has a stable name, see [`ContentError::kind`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ContentErrorKind {
    /// The text is not an integer.
    Int,
    /// The text is not a number.
    Float,
    /// The text is not JSON.
    Json,
    /// `xml-inline` could not take the text apart.
    XmlInline,
    /// `kv-lines` could not take the text apart.
    KvLines,
    /// `content_args` are not what the content parser takes. They are read when a region is parsed, not when the
    /// document is loaded: the reference loads such documents.
    Arguments,
    /// A transform's placeholder stands for nothing.
    Transform,
    /// `transform_each` met something that is not a list of objects.
    TransformEach,
    /// A limit was reached; the message names it.
    Limit,
}

impl ContentErrorKind {
    /// The step's stable name: `int`, `float`, `json`, `xml-inline`, `kv-lines`, `content-args`, `transform`,
    /// `transform-each`, `limit`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Float => "float",
            Self::Json => "json",
            Self::XmlInline => "xml-inline",
            Self::KvLines => "kv-lines",
            Self::Arguments => "content-args",
            Self::Transform => "transform",
            Self::TransformEach => "transform-each",
            Self::Limit => "limit",
        }
    }
}

/// Why a region's text has no value: what is wrong, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentError {
    kind: ContentErrorKind,
    message: String,
    offset: Option<usize>,
    hint: Option<String>,
}

impl ContentError {
    pub(crate) fn new(kind: ContentErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            offset: None,
            hint: None,
        }
    }

    /// The error with a byte offset inside the region's text.
    #[must_use]
    pub(crate) fn at(mut self, offset: usize) -> Self {
        self.offset = Some(offset);
        self
    }

    /// The error with advice.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The error of a part of the region: `what` it is, and where it starts if that is known.
    #[must_use]
    pub(crate) fn inside(mut self, what: &str, start: Option<usize>) -> Self {
        self.message = format!("{what}: {}", self.message);
        self.offset = self
            .offset
            .and_then(|offset| start.map(|start| start + offset))
            .or(start);
        self
    }

    /// The step that failed, by its stable name; see [`ContentErrorKind::name`].
    pub fn kind(&self) -> &'static str {
        self.kind.name()
    }

    /// The step that failed, for matching on.
    pub fn error_kind(&self) -> ContentErrorKind {
        self.kind
    }

    /// The message, without the place and the advice.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The byte offset inside the region's text, where it is known.
    pub fn offset(&self) -> Option<usize> {
        self.offset
    }

    /// Advice on how to mend it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// Message, place and advice in one line.
impl fmt::Display for ContentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(offset) = self.offset {
            write!(f, " (at byte {offset} of the region)")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ContentError {}

/// The beginning of a text for a message: enough to recognise it, never all of a long region.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut characters = text.chars();
    let beginning: String = characters.by_ref().take(LONGEST).collect();
    let more = if characters.next().is_some() {
        "..."
    } else {
        ""
    };
    format!("{}{more}", crate::value::json::quote(&beginning))
}
