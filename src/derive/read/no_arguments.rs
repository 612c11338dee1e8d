//! How a call without arguments is written, where it is written otherwise than one with arguments: `<do f/>` beside `<do f>…</do>`.
//!
//! Both begin alike, up to a place behind the call's name and id, and there the texts part. For example, `-> f?a=1&b=2` and `-> f`, each on
//! a line of its own, both begin with `-> f`; then a `?` follows in the one and the end of the line in the other. A pattern for what opens a
//! call can look for either. What follows in a call without arguments may be what closes every call, or text of its own, as `/>` is.

use crate::derive::compare::{slot, text};

/// The form of a call without arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::derive) struct NoArguments {
    /// The text that a call begins with in both forms, with slots for its name and its id.
    pub(in crate::derive) shared: String,
    /// The text behind that where the call has arguments.
    pub(in crate::derive) before_arguments: String,
    /// The text behind that where it has none.
    pub(in crate::derive) end: String,
    /// True if that text closes such a call, and nothing else does.
    pub(in crate::derive) is_close: bool,
}

impl NoArguments {
    /// Reads the form off `turn`, the model's turn with one call that has no arguments, with slots for its name and its id. `open` and `close`
    /// stand around the arguments of others, and `after_calls` behind the last call. `None` where the call begins as one with arguments
    /// does, or has other parts.
    pub(in crate::derive) fn of(
        turn: &str,
        (open, close): (&str, &str),
        after_calls: &str,
    ) -> Option<Self> {
        let open = open.trim_start();
        let last = open.rfind(slot::is_one)?;
        let slot = open[last..].chars().next()?;
        let (head, behind) = open.split_at(last + slot.len_utf8());
        let (_, rest) = turn.split_once(head)?;
        let ends_at_once = |shared: usize| rest[shared..].trim_end() == after_calls.trim_end();
        let shared = match text::common_prefix(behind, rest) {
            // The white space that both have is all that ends the one without arguments.
            shared if ends_at_once(shared) => behind[..shared].trim_end().len(),
            shared => shared,
        };
        let (before_arguments, rest) = (&behind[shared..], &rest[shared..]);
        let own = rest.trim_end().strip_suffix(after_calls.trim_end())?;
        let space = text::leading(rest);
        let (end, is_close) = match own.trim() {
            "" => (space, false),
            own_close if own_close == close.trim() => (own, false),
            _ => (own, true),
        };
        let is_otherwise = !before_arguments.trim().is_empty();
        (is_otherwise && !end.is_empty() && !slot::any(end)).then(|| Self {
            shared: format!("{head}{}", &behind[..shared]),
            before_arguments: before_arguments.to_owned(),
            end: end.to_owned(),
            is_close,
        })
    }

    /// A pattern for what follows in a call without arguments. White space alone is exactly what is written.
    pub(in crate::derive) fn end(&self) -> String {
        match self.end.trim() {
            "" => text::escape(&self.end),
            end => text::escape_loosely(end),
        }
    }
}
