//! The limits of reading with a grammar.

/// The limits of a parse. What reaches one ends in a [`LimitError`] that names it.
///
/// Which limit is reached, and at which byte, does not depend on how the text is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How many expressions may be under way, each within the one before. A nested JSON value takes about eight a level. The
    /// default is 100,000.
    pub depth: usize,
    /// How many steps a parse may take whatever the text: expressions that are tried, and bytes that they read. The default is
    /// 10,000,000.
    pub steps: u64,
    /// How many steps more it may take for each byte up to the furthest that was read. A grammar that does not go back takes
    /// a handful; one that tries alternatives within alternatives may take any number. The default is 1,000.
    pub steps_per_byte: u64,
    /// How much text may be kept for going back to it, in bytes. The default is 64 MiB.
    pub held_bytes: usize,
    /// How many nodes the tree may have. The default is 4,000,000.
    pub nodes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 100_000,
            steps: 10_000_000,
            steps_per_byte: 1_000,
            held_bytes: 64 << 20,
            nodes: 4_000_000,
        }
    }
}

/// A limit that a parse has reached. It reads no further then; what was read before can still be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// [`Limits::depth`].
    #[error("at byte {at} expressions are nested deeper than the limit of {limit} (depth)")]
    Depth {
        /// The limit.
        limit: usize,
        /// The byte at which it was reached.
        at: usize,
    },
    /// [`Limits::steps`] and [`Limits::steps_per_byte`].
    #[error(
        "at byte {at} reading takes more than {limit} steps, the limit for as much text (steps)"
    )]
    Steps {
        /// How many steps were allowed.
        limit: u64,
        /// The byte at which it was reached.
        at: usize,
    },
    /// [`Limits::held_bytes`].
    #[error("more than {limit} bytes are kept for going back to them (held_bytes)")]
    Held {
        /// The limit.
        limit: usize,
    },
    /// [`Limits::nodes`].
    #[error("at byte {at} the tree has more nodes than the limit of {limit} (nodes)")]
    Nodes {
        /// The limit.
        limit: usize,
        /// The byte at which it was reached.
        at: usize,
    },
}
