//! What the integration tests share.

#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod comparison;
pub mod corpus;
pub mod random;
pub mod reference;
pub mod values;
