//! The limits that keep a hostile pattern from taking the machine.

/// The greatest length of a pattern's source, and of all literals of a list together, in bytes.
pub(crate) const PATTERN_BYTES: usize = 1 << 16;

/// How deep groups may be nested.
pub(crate) const NESTING: usize = 200;

/// The greatest size of an automaton, in bytes.
pub(crate) const AUTOMATON_BYTES: usize = 4 << 20;

/// The greatest number of instructions of a backtracking program.
pub(crate) const PROGRAM_LENGTH: usize = 200_000;

/// How many steps backtracking may take whatever the text, and how many more for each byte that was read.
pub(crate) const STEPS: u64 = 2_000_000;
pub(crate) const STEPS_PER_BYTE: u64 = 64;
