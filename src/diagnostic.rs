//! Diagnostics: a mistake, its place, and advice. This is data only. The binary renders it.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// How much a diagnostic matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Works, but probably not as meant.
    Warning,
    /// Does not work.
    Error,
}

/// A stretch of the source that a diagnostic speaks of, with what it has to say there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Label {
    /// Byte offsets into the source.
    pub span: Range<usize>,
    /// A label for that place; may be empty.
    pub text: String,
}

/// Where in a document a diagnostic belongs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Place {
    /// The JSON path, such as `$.fields.content.close`; `None` for a source that is not JSON.
    pub path: Option<String>,
    /// Byte offsets into the source, when there is a source.
    pub span: Option<Range<usize>>,
}

/// A change of the source that mends what a diagnostic speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fix {
    /// An instruction that says what it does.
    pub message: String,
    /// The changes, all of them or none; they do not overlap.
    pub edits: Vec<Edit>,
}

/// One stretch of the source and what to put there instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Edit {
    /// Byte offsets into the source; empty for an insertion.
    pub span: Range<usize>,
    /// The new text.
    pub text: String,
}

/// One finding about a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// A stable name such as `unknown-key`.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// One sentence: what is wrong.
    pub message: String,
    /// Where it is.
    pub place: Place,
    /// Further places that explain it.
    pub labels: Vec<Label>,
    /// Advice on how to mend it.
    pub hint: Option<String>,
    /// How to change the source so that it is gone, where a change is safe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// An error without a place; the `with_` methods add the rest.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            place: Place::default(),
            labels: Vec::new(),
            hint: None,
            fix: None,
        }
    }

    /// A warning without a place.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, message)
        }
    }

    /// Something worth knowing, without a place.
    pub fn info(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Info,
            ..Self::error(code, message)
        }
    }

    /// The diagnostic with a JSON path.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.place.path = Some(path.into());
        self
    }

    /// The diagnostic with byte offsets into the source.
    #[must_use]
    pub fn with_span(mut self, span: Range<usize>) -> Self {
        self.place.span = Some(span);
        self
    }

    /// The diagnostic with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// One line: path and message, as far as they are known. Positions need the source and are the binary's business.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.place.path {
            write!(f, "{path}: ")?;
        }
        f.write_str(&self.message)
    }
}
