//! The fast path: patterns that are a sequence of simple steps, as nearly all delimiters are.
//!
//! A literal, a run of characters that ends where the next step begins, anything up to a literal: where such steps follow
//! each other there is nothing to choose, so that one position, one step and the groups are all the state there is, and
//! literals are found by vectorised search. A part that may be missing, or be one of several, is tried where it would stand, the
//! ways in their order; the choices under way are then state, too. Where the steps do not decide (a step that fails after one
//! that could have stopped elsewhere or after a choice that was settled, or text that makes the search look at it again), the
//! pattern's own engine takes over from the start of the try: the answers are its answers, always.
//! A look-ahead at the end is made of steps as well: the match ends where it begins.
//!
//! # Why it is right
//!
//! A step is taken alone only if no other way through the pattern could match here (`parts.rs` decides that when the pattern is
//! compiled); in every other case the engine searches from where the try began. So a match that the steps find is the one that the engine would find first.
//! `steps_say_what_the_engine_says_after_each_chunk` in `search.rs` holds both to the same answer after every chunk: not only what is found but *when* it is, and
//! how much is held back until then.
//!
//! # What it buys
//!
//! The cost is this folder, fourteen hundred lines that the engines could do without. `cargo test --release --lib sequence_beside_engine --
//! --ignored --nocapture` measures what they buy, over a mebibyte of prose in chunks of twenty bytes. The best of five runs of a build for tests
//! (`opt-level = 1`), on a machine that was busy with other work, in MB/s:
//!
//! | pattern | by steps | by its engine |
//! |---|---:|---:|
//! | `</think>` | 593 | 592 |
//! | `<\|im_end\|>\s*` | 534 | 155 |
//! | `\s*</think>\s*` | 354 | 9 |
//! | `<tool_call>\s*<function=(?P<name>[^\s>]+)>\s*` | 529 | 147 |
//! | `<parameter=(?P<key>\w+)>(?P<value>.*?)</parameter>` | 531 | 142 |
//!
//! So a literal gains nothing, a pattern that begins with one about three and a half times, and one that begins with white space, as many closes
//! of derived templates do, forty times. That last is why it stays: an automaton that is simulated looks at each byte.

mod build;
mod parts;
mod run;

pub(crate) use build::Sequence;
pub(crate) use run::{Progress, Scanned};
