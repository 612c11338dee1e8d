//! Limits of the response template format: what a chat template writes and no response template reads.
//!
//! A question that finds a format of which the response template format can express only a part answers with the part
//! that it can express, and with the limits of that. Verification believes no limit on its word: a message that does not
//! come back counts as inexpressible only if the smallest message that still does not come back has the limit.

use super::probe::Assistant;

/// Something that the response template format has no way to read.
#[derive(Debug, Clone)]
pub(super) struct Limit {
    /// What is lost, and why no response template reads it; in a sentence.
    pub(super) text: String,
    /// Whether a message has it.
    pub(super) is_in: fn(&Assistant) -> bool,
}
