//! Which statements and which turns of loops wrote which part of a render. For example, the text around a message's content belongs to that
//! message, since a loop wrote it while it was at that message.
//!
//! Only text that is written to the render itself is noted. Text that a macro, a `set` block or a filter collects first counts as written
//! by the statement that prints it.

use super::origins::{InputPath, InputStep};

/// Who wrote which part of a render, in the order of writing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The texts and expressions that were printed, without those that printed nothing.
    pub(crate) writes: Vec<Write>,
    /// The turns of loops, each behind those within it.
    pub(crate) turns: Vec<Turn>,
    /// The stretches that `generation` blocks wrote, in bytes, without the empty ones.
    pub(crate) generated: Vec<(usize, usize)>,
}

/// A stretch of a render that one statement wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Write {
    /// Where it starts in the render, in bytes.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
    /// Where in the source the text or the expression stands, in bytes.
    pub(crate) source: (usize, usize),
    /// True if it is an expression, false if it is text between tags.
    pub(crate) is_expression: bool,
}

/// A turn of a loop: one run of its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    /// How long the render was when the turn began, in bytes.
    pub(crate) start: usize,
    /// How long it was when the turn ended.
    pub(crate) end: usize,
    /// Where in the source the expression stands that the loop walks over, in bytes.
    pub(crate) source: (usize, usize),
    /// The inputs that the turn's item is, or was made of, the one that counts most first.
    pub(crate) items: Vec<InputPath>,
}

impl Turn {
    /// Returns the index of the message that the item is, or is a part of; `None` where it belongs to none, or to several.
    pub(crate) fn message(&self) -> Option<usize> {
        let mut indices = self.items.iter().map(message_of);
        let first = indices.next()??;
        indices.all(|index| index == Some(first)).then_some(first)
    }

    /// Returns true if the item is a message itself.
    pub(crate) fn is_of_message(&self) -> bool {
        self.items.first().is_some_and(|path| path.len() == 2)
    }
}

/// The index of the message that a path leads to or into.
pub(crate) fn message_of(path: &InputPath) -> Option<usize> {
    match path.get(..2)? {
        [InputStep::Key(name), InputStep::Index(index)] if name == "messages" => Some(*index),
        _ => None,
    }
}
