//! The backtracking engine: for look-around, back-references, atomic groups and conditionals, which no automaton has.
//!
//! It tries one start after the other. A try that would have to read past the end of a window that may yet grow stands
//! still there: its start is held, what came before is decided for good, and it goes on when the text has come.

mod analyse;
mod compile;
mod memory;
mod run;

pub(crate) use compile::Program;
pub(crate) use run::{Attempt, Machine};
