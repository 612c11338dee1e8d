//! The binary as its users call it: arguments and files in; exit status, standard output and standard error out.

mod bench;
mod check;
mod codes;
mod convert;
mod debug;
mod derive;
#[cfg(feature = "http")]
mod fetch;
mod fixtures;
mod grammar;
mod html;
mod hub;
#[cfg(feature = "http")]
mod hub_list;
mod init;
mod inspect;
mod integrations;
mod lines;
mod lint;
mod packages;
mod page;
mod parse;
mod peg;
mod propose;
#[cfg(unix)]
#[path = "../support/pty.rs"]
mod pty;
mod read;
mod record;
mod reference;
mod render;
mod review;
#[cfg(all(feature = "serve", unix))]
mod serve;
mod spans;
#[path = "../support/mod.rs"]
mod support;
#[cfg(unix)]
mod terminal;
mod usage;

// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
