//! The report of a derivation: what was found and proved, and where the chat template writes it.

pub(in crate::derive) mod places;
pub(in crate::derive) mod summary;
