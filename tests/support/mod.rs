//! What the integration tests share.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test binary is a crate of its own and uses its own part"
)]

pub mod corpus;
pub mod reference;
pub mod rust_source;
