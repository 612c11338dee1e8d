//! The syntax of Python's `regex` module (version 0 behaviour, Unicode patterns, `DOTALL`), read into a tree.
//!
//! Which sources are accepted and what they mean was measured on the module itself, version 2026.11.15. The older module `re`, of Python
//! 3.11, is a [`Dialect`] of it: it knows less, and its letters and blanks are others.

pub(crate) mod ast;
pub(crate) mod class;
mod cursor;
mod escape;
mod fuzzy;
mod group;
mod parser;
mod set;

pub(crate) use parser::{Dialect, Parsed, parse, parse_as};
