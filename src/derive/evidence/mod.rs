//! The account that a derivation gives of itself: the renders that a marker was read from, the place that writes it, the findings, and the
//! decisions.

pub(in crate::derive) mod decision;
pub(in crate::derive) mod finding;
pub(in crate::derive) mod place;
pub(in crate::derive) mod sample;
