//! The automaton engine: a simulation of a finite automaton whose threads are carried from chunk to chunk.
//!
//! The automaton is regex-automata's Thompson NFA over bytes. Its threads are kept in order of priority, the earliest
//! start first, as in a Pike machine: when one reaches the end of the pattern, those behind it are dropped, and the match
//! is decided when none is left before it. What is looked at around a position (`$`, `\b`) is answered here, since a
//! window's end need not be the text's.

mod build;
mod simulate;

pub(crate) use build::{Automaton, BuildError};
pub(crate) use simulate::{Simulation, groups};
