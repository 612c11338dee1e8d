//! Why a grammar cannot be built.

use super::class::ClassError;

/// How deep the expressions of one rule may be nested.
pub const NESTING: usize = 100;

/// A grammar that cannot be used. Each error names the rule in which it was found; the root is no rule and is called `root`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A reference to a rule that is not there.
    #[error("rule `{rule}` refers to `{name}`, and there is no such rule")]
    UnknownRule {
        /// The rule with the reference.
        rule: String,
        /// The name that nothing has.
        name: String,
    },
    /// Two rules with one name that are not the same.
    #[error("rule `{rule}` is defined twice, and not alike")]
    DuplicateRule {
        /// The name.
        rule: String,
    },
    /// A rule that comes back to itself before anything is read.
    #[error("left recursion: {}", path.join(" → "))]
    LeftRecursion {
        /// The rules, each referring to the next; the first is also the last.
        path: Vec<String>,
    },
    /// A repetition of something that may match without reading anything, which would never end.
    #[error("rule `{rule}` repeats what may match nothing: {repeated}")]
    EmptyRepetition {
        /// The rule with the repetition.
        rule: String,
        /// The expression that is repeated, as it prints.
        repeated: String,
    },
    /// A repetition whose least count is above its greatest.
    #[error("rule `{rule}` repeats at least {min} and at most {max} times")]
    Counts {
        /// The rule with the repetition.
        rule: String,
        /// The least count.
        min: u32,
        /// The greatest.
        max: u32,
    },
    /// A class of characters that is none.
    #[error("rule `{rule}` has the class {class:?}: {error}")]
    Class {
        /// The rule with the class.
        rule: String,
        /// The class as it was written.
        class: String,
        /// The error in it.
        error: ClassError,
    },
    /// A delimiter with no characters, which stands everywhere.
    #[error("rule `{rule}` reads until an empty delimiter, which stands everywhere")]
    EmptyDelimiter {
        /// The rule with the delimiter.
        rule: String,
    },
    /// A choice between nothing, which never matches.
    #[error("rule `{rule}` has a choice between no alternatives, which never matches")]
    EmptyChoice {
        /// The rule with the choice.
        rule: String,
    },
    /// A rule whose expressions are nested deeper than [`NESTING`].
    #[error(
        "rule `{rule}` nests deeper than {}; rules of its own for what lies inside make it flat",
        super::NESTING
    )]
    Nesting {
        /// The rule.
        rule: String,
    },
}

impl BuildError {
    /// The name of the rule in which it was found, `root` for the root.
    pub fn rule(&self) -> &str {
        match self {
            Self::LeftRecursion { path } => path.first().map_or("root", String::as_str),
            Self::UnknownRule { rule, .. }
            | Self::DuplicateRule { rule }
            | Self::EmptyRepetition { rule, .. }
            | Self::Counts { rule, .. }
            | Self::Class { rule, .. }
            | Self::EmptyDelimiter { rule }
            | Self::EmptyChoice { rule }
            | Self::Nesting { rule } => rule,
        }
    }
}
