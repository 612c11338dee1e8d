//! Errors of patterns and of searches.

use std::ops::Range;

/// Why a pattern was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct PatternError {
    /// One sentence: what is wrong. It names the construct.
    pub message: String,
    /// Where the offending construct stands: byte offsets into the pattern's source.
    pub span: Range<usize>,
    /// A suggestion for what to write instead, where there is one.
    pub hint: Option<String>,
}

impl PatternError {
    pub(crate) fn new(message: impl Into<String>, span: Range<usize>) -> Self {
        Self {
            message: message.into(),
            span,
            hint: None,
        }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Why a search gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MatchError {
    /// The search went on for longer than is allowed. The limit grows with the text that was searched, so that only
    /// patterns whose work is out of proportion to the text meet it.
    #[error("the pattern takes too long at byte {at}: more than {limit} steps")]
    StepLimit {
        /// The number of steps that was exceeded.
        limit: u64,
        /// A byte offset: how far the search had come.
        at: usize,
    },
}
