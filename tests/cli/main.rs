//! The binary as its users call it: arguments and files in; exit status, standard output and standard error out.

mod bench;
mod check;
mod debug;
mod derive;
mod inspect;
mod lines;
mod lint;
mod parse;
#[cfg(unix)]
#[path = "../support/pty.rs"]
mod pty;
mod reference;
mod render;
mod review;
#[cfg(unix)]
mod terminal;
mod usage;
