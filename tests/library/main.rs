//! The library as those who use the crate do, without the reference: what each part does, and the house's own rules.

mod accepted;
mod alone;
mod architecture;
mod constrained;
mod conversations;
#[cfg(feature = "project")]
mod deltas;
mod derive;
mod derived;
#[cfg(feature = "project")]
mod fixtures;
mod grammar;
mod inspect;
mod lint;
mod parser;
mod pattern_streams;
#[cfg(feature = "project")]
mod schemas;
mod spans;
#[path = "../support/mod.rs"]
mod support;

// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
