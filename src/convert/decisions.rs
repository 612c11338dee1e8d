//! The decisions that a schema leaves open. Each combination of them makes a candidate.

/// One choice for each thing that a schema leaves open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decisions {
    /// True if white space around texts is dropped, of fields that have an open; `strip_rest` is the same for the implicit field.
    pub(super) strip: bool,
    pub(super) strip_rest: bool,
    /// True if a close takes the white space behind it.
    pub(super) space: bool,
    /// True if the text before the body of a call belongs to its opening.
    pub(super) header: bool,
    /// True if a text that has no open and stands before something else is read from the start.
    pub(super) begins: bool,
}
