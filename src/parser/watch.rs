//! The boundary between the state machine and the matching engines: which delimiter comes next.

use std::cmp::Reverse;

use crate::pattern::{Captures, MatchError, Pattern, Progress, Search, Window};

/// Which of a field's two delimiters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Open,
    Close,
}

/// One delimiter that is being looked for.
///
/// A watch survives the states in which nobody asks for it: what it has found past the current position stays found, so
/// that text is scanned once for each delimiter however many regions there are.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) side: Side,
    pub(super) field: usize,
    /// Where the field's name stands among the names in code point order, which settles ties.
    rank: usize,
    pattern: Pattern,
    search: Search,
    state: State,
}

#[derive(Debug)]
enum State {
    /// No match begins before `hold`.
    Pending {
        hold: usize,
    },
    Found(Captures),
}

/// What is known about the next delimiter.
#[derive(Debug)]
pub(super) enum Next {
    /// This one, whatever follows; the index is into the watches.
    Delimiter { watch: usize, captures: Captures },
    /// None before `hold`, a byte offset.
    None { hold: usize },
}

impl Watch {
    pub(super) fn new(side: Side, field: usize, rank: usize, pattern: &Pattern) -> Self {
        Self {
            side,
            field,
            rank,
            pattern: pattern.clone(),
            search: Search::new(pattern, 0),
            state: State::Pending { hold: 0 },
        }
    }

    /// Bytes before the current position that the delimiter may look at.
    pub(super) fn lookbehind(&self) -> usize {
        self.pattern.lookbehind()
    }

    fn advance(&mut self, window: &Window<'_>, from: usize) -> Result<(), MatchError> {
        let stale = match &self.state {
            State::Pending { hold } => *hold < from,
            State::Found(captures) => captures.span.start < from,
        };
        if stale {
            self.search = Search::new(&self.pattern, from);
            self.state = State::Pending { hold: from };
        }
        if let State::Pending { .. } = self.state {
            self.state = match self.search.advance(window)? {
                Progress::Found(captures) => State::Found(captures),
                Progress::Pending { hold } => State::Pending { hold },
            };
        }
        Ok(())
    }
}

/// Advances the watches at `indices` and says which delimiter is next at or after `from`: the earliest, then the longest,
/// then opens before closes, then by the field's name, as the reference orders them.
pub(super) fn next_delimiter(
    watches: &mut [Watch],
    indices: &[usize],
    window: &Window<'_>,
    from: usize,
) -> Result<Next, MatchError> {
    let end = window.start + window.text.len();
    let mut hold = end;
    for &index in indices {
        let watch = &mut watches[index];
        watch.advance(window, from)?;
        if let State::Pending { hold: pending } = watch.state {
            hold = hold.min(pending);
        }
    }
    let best = indices
        .iter()
        .filter_map(|&index| match &watches[index].state {
            State::Found(captures) => Some((index, captures)),
            State::Pending { .. } => None,
        })
        .min_by_key(|(index, captures)| {
            let watch = &watches[*index];
            let span = &captures.span;
            (
                span.start,
                Reverse(span.end - span.start),
                watch.side,
                watch.rank,
            )
        });
    Ok(match best {
        // A pending delimiter that begins at the same place could still turn out to be the longer one.
        Some((watch, captures)) if window.complete || captures.span.start < hold => {
            Next::Delimiter {
                watch,
                captures: captures.clone(),
            }
        }
        Some((_, captures)) => Next::None {
            hold: hold.min(captures.span.start),
        },
        None => Next::None { hold },
    })
}
