//! A pattern taken apart: what both engines are built from.

use regex_syntax::hir::ClassUnicode;

/// One node of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    /// Matches the empty string.
    Empty,
    /// Matches exactly this character.
    Char(char),
    /// Matches one character of the class; an empty class matches nothing.
    Class(ClassUnicode),
    /// Matches the empty string at certain places.
    Assert(Assert),
    /// One after the other.
    Concat(Vec<Node>),
    /// The first that leads to a match.
    Alternation(Vec<Node>),
    /// Again and again.
    Repeat(Box<Repeat>),
    /// A group that remembers what it matched, under its number.
    Group(usize, Box<Node>),
    /// `(?=`, `(?!`, `(?<=`, `(?<!`.
    Look(Box<Look>),
    /// `(?>`: the first way in which it matches is the only one.
    Atomic(Box<Node>),
    /// The text that the group last matched, once more.
    Backreference {
        /// The group's number.
        group: usize,
        /// True if letters may differ in case.
        ignore_case: bool,
    },
    /// `(?(...)yes|no)`.
    Conditional(Box<Conditional>),
}

/// `node{min,max}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repeat {
    pub(crate) node: Node,
    pub(crate) min: u32,
    /// `None`: no maximum.
    pub(crate) max: Option<u32>,
    pub(crate) kind: RepeatKind,
}

/// Which number of repetitions is tried first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RepeatKind {
    /// The largest.
    Greedy,
    /// The smallest.
    Lazy,
    /// The largest, and no other.
    Possessive,
}

/// A look at the text around the current position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) behind: bool,
    pub(crate) negative: bool,
    pub(crate) node: Node,
}

/// `(?(test)yes|no)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conditional {
    pub(crate) test: Test,
    pub(crate) yes: Node,
    pub(crate) no: Node,
}

/// The condition of a conditional.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Test {
    /// Holds if the group has matched.
    Group(usize),
    /// Holds if the look-around does.
    Look(Look),
}

/// A condition on the current position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assert {
    /// The start of the text.
    Start,
    /// The end of the text.
    End,
    /// The end of the text, or before a newline that ends the text.
    EndOrFinalNewline,
    /// The start of the text, or after a newline.
    LineStart,
    /// The end of the text, or before a newline.
    LineEnd,
    /// A place between a word character and something else. With `ascii`, only ASCII characters are word characters.
    WordBoundary { ascii: bool },
    /// Any other place.
    NotWordBoundary { ascii: bool },
    /// The start of a word.
    WordStart { ascii: bool },
    /// The end of a word.
    WordEnd { ascii: bool },
}

impl Node {
    /// Returns true if the node matches the empty string and nothing else, asking nothing of the place: what Python's `regex`
    /// drops a quantifier after.
    pub(crate) fn is_void(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Concat(nodes) | Self::Alternation(nodes) => nodes.iter().all(Self::is_void),
            Self::Repeat(repeat) => repeat.node.is_void(),
            Self::Atomic(node) => node.is_void(),
            Self::Look(look) => !look.negative && look.node.is_void(),
            Self::Conditional(conditional) => conditional.yes.is_void() && conditional.no.is_void(),
            _ => false,
        }
    }

    /// The least number of characters that a match can have.
    pub(crate) fn min_chars(&self) -> usize {
        match self {
            Self::Char(_) | Self::Class(_) => 1,
            Self::Empty | Self::Assert(_) | Self::Look(_) | Self::Backreference { .. } => 0,
            Self::Concat(nodes) => nodes
                .iter()
                .fold(0, |sum, node| sum.saturating_add(node.min_chars())),
            Self::Alternation(nodes) => nodes.iter().map(Self::min_chars).min().unwrap_or(0),
            Self::Repeat(repeat) => repeat.node.min_chars().saturating_mul(repeat.min as usize),
            Self::Group(_, node) | Self::Atomic(node) => node.min_chars(),
            Self::Conditional(conditional) => {
                conditional.yes.min_chars().min(conditional.no.min_chars())
            }
        }
    }

    /// The greatest number of characters that a match can have; `None` where there is no bound.
    pub(crate) fn max_chars(&self) -> Option<usize> {
        match self {
            Self::Char(_) | Self::Class(_) => Some(1),
            Self::Empty | Self::Assert(_) | Self::Look(_) => Some(0),
            Self::Backreference { .. } => None,
            Self::Concat(nodes) => nodes
                .iter()
                .try_fold(0usize, |sum, node| sum.checked_add(node.max_chars()?)),
            Self::Alternation(nodes) => nodes
                .iter()
                .try_fold(0, |most, node| Some(node.max_chars()?.max(most))),
            Self::Repeat(repeat) => match (repeat.node.max_chars()?, repeat.max) {
                (0, _) => Some(0),
                (most, max) => most.checked_mul(max? as usize),
            },
            Self::Group(_, node) | Self::Atomic(node) => node.max_chars(),
            Self::Conditional(conditional) => Some(
                conditional
                    .yes
                    .max_chars()?
                    .max(conditional.no.max_chars()?),
            ),
        }
    }

    /// The nodes directly below this one.
    pub(crate) fn children(&self) -> Vec<&Node> {
        match self {
            Self::Empty
            | Self::Char(_)
            | Self::Class(_)
            | Self::Assert(_)
            | Self::Backreference { .. } => Vec::new(),
            Self::Concat(nodes) | Self::Alternation(nodes) => nodes.iter().collect(),
            Self::Repeat(repeat) => vec![&repeat.node],
            Self::Group(_, node) | Self::Atomic(node) => vec![node],
            Self::Look(look) => vec![&look.node],
            Self::Conditional(conditional) => match &conditional.test {
                Test::Group(_) => vec![&conditional.yes, &conditional.no],
                Test::Look(look) => vec![&look.node, &conditional.yes, &conditional.no],
            },
        }
    }
}
