//! The debugger as its users drive it: keys in, screens out.

mod anything;
mod bench;
#[path = "../support/corpus.rs"]
#[allow(
    unreachable_pub,
    clippy::print_stderr,
    reason = "it is shared with other tests, and says what it skips"
)]
mod corpus;
mod deltas;
mod derivations;
mod editing;
mod grammar;
mod hostile;
mod looping;
mod mouse;
mod moving;
mod saving;
mod screens;
mod unclaimed;

// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
