//! JSON as Python's `json` module reads and writes it.
//!
//! Read: `NaN`, `Infinity` and `-Infinity`; integers of any size, exactly; of duplicate keys the last value counts, at
//! the first one's position; control characters in strings are errors. Two things differ from Python, on purpose: a
//! surrogate escape without its partner becomes U+FFFD, since Rust strings hold no surrogates, and the depth is limited
//! to [`MAX_DEPTH`], where Python gives up at its recursion limit.

mod places;
mod read;
mod write;

pub use super::quote::quote;
pub(crate) use super::quote::{write_piece, write_string};
pub use places::{MemberSpans, Places};
pub(crate) use read::plain;
pub use read::{
    JsonError, JsonErrorKind, MAX_DEPTH, offset_in_literal, parse, parse_prefix, parse_with_places,
};
pub use write::{Format, to_string};
