//! A program: the steps that a pattern was compiled to, with what is known of each before it runs.

use memchr::memmem::Finder;

use super::expect::Expect;
use super::set::Set;
use crate::pattern::syntax::ast::{Assert, RepeatKind};

/// One step. Behind it comes the next one, unless it says otherwise.
#[derive(Debug)]
pub(super) enum Step {
    Literal(Box<[u8]>),
    Set(Set),
    Run(Box<Run>),
    Assert(Assert),
    /// Stores the position in the slot.
    Save(usize),
    Jump(usize),
    /// Goes on at the first, and at the second should that fail.
    Split(Box<Split>),
    /// Runs the steps that follow, up to `Done`, as a program of its own, from `back` characters before here; then goes on at `after`, from
    /// here.
    Look {
        back: usize,
        negative: bool,
        after: usize,
    },
    /// Runs the steps that follow, up to `Done`, as a program of its own; then goes on at `after`, from where that ended, and never tries
    /// it in another way.
    Atomic {
        after: usize,
    },
    Done,
}

/// `first` or `second`, with what each can go on with.
#[derive(Debug)]
pub(super) struct Split {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) first_expects: Expect,
    pub(super) second_expects: Expect,
}

/// Characters of a set, again and again.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) set: Set,
    pub(super) min: u32,
    /// `u32::MAX`: no maximum.
    pub(super) max: u32,
    pub(super) kind: RepeatKind,
    /// The run ends where this matches: the step where a program of its own begins, with what it begins with.
    pub(super) guard: Option<(usize, Expect)>,
    /// Where the run's continuation begins, and what it begins with.
    pub(super) next: usize,
    pub(super) expects: Expect,
    /// The number of the literal without which nothing behind the run matches.
    pub(super) needs: Option<usize>,
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Program {
    pub(super) steps: Vec<Step>,
    /// The beginning of a match.
    pub(super) begins: Expect,
    /// True if the only start is that of the text.
    pub(super) anchored: bool,
    /// How many named groups there are.
    pub(super) groups: usize,
    /// Literals that some part of the program cannot do without, and the one that all of it cannot.
    pub(super) needed: Vec<Finder<'static>>,
    pub(super) needs: Option<usize>,
}
