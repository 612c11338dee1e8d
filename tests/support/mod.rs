//! What the integration tests share.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::print_stderr,
    reason = "each test binary is a crate of its own, uses its own part, and says what it skips"
)]

pub mod clients;
pub mod comparison;
pub mod cores;
pub mod corpus;
pub mod derived;
pub mod deriving;
pub mod hub;
pub mod pages;
pub mod parsing;
pub mod random;
pub mod reference;
pub mod rust_source;
pub mod schema;
pub mod values;
