//! Text on a screen: how each character is shown, where rows begin, and editing.

mod editor;
mod glyph;
pub(crate) mod hex;
mod rows;
mod wrap;

pub(crate) use editor::{Editor, Motion};
pub(crate) use glyph::{glyph, line};
pub(crate) use rows::Rows;
pub(crate) use wrap::{columns, wrapped, wrapped_to};
