//! Stretches of a response that are not understood.

use std::ops::Range;

/// A stretch of a response that is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) span: Range<usize>,
    /// The field in whose region it stands; `None` where no field takes it.
    pub(super) field: Option<String>,
    pub(super) is_malformed: bool,
}
