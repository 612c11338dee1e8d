//! Obverse beside others: the reference for response templates and for rendering, run from `tests/reference/*.py`, and the real
//! chat templates of the corpus. Where one of them is not at hand its tests are skipped and say so; in CI they fail.

mod cases;
mod configs;
mod content;
mod conversations;
mod derive;
mod documents;
mod formats;
mod grammar;
mod hub;
mod masks;
mod own_templates;
mod parser;
mod pattern;
mod propose;
mod render;
mod response_schema;
#[path = "../support/mod.rs"]
mod support;
mod tools;
mod traps;
mod values;

// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
