//! The limits that keep a hostile pattern from taking the machine.

/// The greatest length of a pattern's source, and of all literals of a list together, in bytes.
pub(crate) const PATTERN_BYTES: usize = 1 << 16;

/// How deep groups may be nested.
pub(crate) const NESTING: usize = 100;

/// How many ranges of characters the sets of a pattern may have together; `\w` has almost 800.
pub(crate) const CLASS_RANGES: usize = 500_000;

/// The greatest size of an automaton, in bytes.
pub(crate) const AUTOMATON_BYTES: usize = 4 << 20;

/// The greatest number of instructions of a backtracking program.
pub(crate) const PROGRAM_LENGTH: usize = 200_000;

/// How many steps a search may take whatever the text.
pub(crate) const STEPS: u64 = 2_000_000;

/// How many steps more backtracking may take for each byte that it read.
pub(crate) const STEPS_PER_BYTE: u64 = 64;

/// How many steps more an automaton may take for each byte that it read. Its patterns are linear; only their size counts.
pub(crate) const AUTOMATON_STEPS_PER_BYTE: u64 = 1000;
