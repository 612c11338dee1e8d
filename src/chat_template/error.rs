//! The errors of chat templates: when one is compiled, when it renders, and when it is loaded from disk.

use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;

/// The template cannot be compiled: a syntax error, or a source beyond the limits.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{diagnostic}")]
#[non_exhaustive]
pub struct TemplateError {
    /// The mistake and its place, in byte offsets into the source as it was given.
    pub diagnostic: Box<Diagnostic>,
}

impl TemplateError {
    pub(crate) fn new(diagnostic: Diagnostic) -> Self {
        Self {
            diagnostic: Box::new(diagnostic),
        }
    }
}

/// Which bound a render ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// The number of steps that one render may take.
    Fuel,
    /// The number of bytes that one render may print.
    Output,
    /// How deep calls, loops and printed values may nest.
    Recursion,
    /// The number of bytes that the values made during one render may take.
    Memory,
    /// The number of items that one `range` may have, the sandbox's own bound.
    Range,
}

impl Limit {
    /// Its stable name, such as `fuel-limit`, by which programs tell limits apart.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fuel => "fuel-limit",
            Self::Output => "output-limit",
            Self::Recursion => "recursion-limit",
            Self::Memory => "memory-limit",
            Self::Range => "range-limit",
        }
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Fuel => "steps of one render",
            Self::Output => "bytes of output",
            Self::Recursion => "levels of nesting",
            Self::Memory => "bytes of values",
            Self::Range => "items of a range",
        })
    }
}

/// A render that did not finish.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The template refused its input with `raise_exception`.
    #[error("the chat template raised: {message}")]
    Raised {
        /// The text that it raised.
        message: String,
    },
    /// The template did something that Python does not allow, such as reading an attribute of something undefined.
    #[error("{diagnostic}")]
    Template {
        /// The mistake and its place, in byte offsets into the template's source.
        diagnostic: Box<Diagnostic>,
    },
    /// The render ran into a bound.
    #[error("the chat template exceeds the limit of {limit} {which}")]
    Limit {
        /// The bound.
        which: Limit,
        /// Its value.
        limit: u64,
    },
}

/// A chat template source that cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file or folder is not there, cannot be read, or is not what its name says.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why, in the system's words or ours.
        reason: String,
    },
    /// The file is not UTF-8.
    #[error("{}: not UTF-8 at byte {offset}", path.display())]
    NotUtf8 {
        /// The file or folder.
        path: PathBuf,
        /// How many bytes are valid before the first that is not.
        offset: usize,
    },
    /// The file is not JSON.
    #[error("{}: {reason}", path.display())]
    InvalidJson {
        /// The file or folder.
        path: PathBuf,
        /// The mistake, and the byte at which it is.
        reason: String,
    },
    /// There is no chat template there.
    #[error("{}: no chat template in it{}", path.display(), found(seen))]
    NoTemplate {
        /// Where it was looked for.
        path: PathBuf,
        /// The things that were there instead: keys of the document, files of the folder, or names of chat templates.
        seen: Vec<String>,
    },
    /// A chat template does not compile.
    #[error("{}: chat template `{name}`: {error}", path.display())]
    Template {
        /// The file that holds it.
        path: PathBuf,
        /// Its name, `default` for the only one.
        name: String,
        /// Its source.
        source_text: String,
        /// The mistake in it.
        error: TemplateError,
    },
}

fn found(seen: &[String]) -> String {
    if seen.is_empty() {
        String::new()
    } else {
        format!(" (there is: {})", seen.join(", "))
    }
}

impl LoadError {
    pub(super) fn unreadable(path: &Path, reason: impl ToString) -> Self {
        Self::Unreadable {
            path: path.to_path_buf(),
            reason: reason.to_string(),
        }
    }
}
