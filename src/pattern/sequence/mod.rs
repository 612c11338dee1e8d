//! The fast way: patterns that are a sequence of simple steps, as nearly all delimiters are.
//!
//! A literal, a run of characters that ends where the next step begins, anything up to a literal: where such steps follow
//! each other there is nothing to choose, so that one position, one step and the groups are all the state there is, and
//! literals are found by vectorised search. A part that may be missing, or be one of several, is tried where it would stand, the
//! ways in their order; the choices under way are then state, too. Where the steps do not decide (a step that fails after one
//! that could have stopped elsewhere or after a choice that was settled, or text that makes the search look at it again), the
//! pattern's own engine takes over from the start of the try: the answers are its answers, always.

mod build;
mod parts;
mod run;

pub(crate) use build::Sequence;
pub(crate) use run::{Progress, Scanned};
