//! What can go wrong with a chat template: when it is compiled, when it renders, and when it is loaded from disk.

use crate::diagnostic::Diagnostic;

/// The template cannot be compiled: a syntax error, or a source beyond the limits.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{diagnostic}")]
pub struct TemplateError {
    /// What is wrong and where, in byte offsets into the source as it was given.
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
pub enum RenderError {
    /// The template refused its input with `raise_exception`.
    #[error("the chat template raised: {message}")]
    Raised {
        /// What it said.
        message: String,
    },
    /// The template did something that Python does not allow, such as reading an attribute of something undefined.
    #[error("{diagnostic}")]
    Template {
        /// What it did and where, in byte offsets into the template's source.
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
