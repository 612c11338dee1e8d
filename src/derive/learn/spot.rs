//! Stretches of a response that are not understood.

use std::ops::Range;

/// A stretch of a response that is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) span: Range<usize>,
    /// The field in whose region it stands; `None` where the text is in no field of the message.
    pub(super) field: Option<String>,
    pub(super) is_malformed: bool,
}
