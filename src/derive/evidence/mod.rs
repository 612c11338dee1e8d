//! What a derivation tells of itself: the renders that a marker was read from, the place that writes it, what was found, and what was
//! decided.

pub(in crate::derive) mod decision;
pub(in crate::derive) mod finding;
pub(in crate::derive) mod place;
pub(in crate::derive) mod sample;
