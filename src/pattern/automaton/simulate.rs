//! Running an automaton: Pike's simulation, which follows all ways through it at once.
//!
//! A thread stands for each state that some way has reached, and the threads are kept in the order in which backtracking would try their ways,
//! so that the match of the first is the one that Python finds. A state that was reached in this round is not entered
//! again: whoever came first has priority, and what both would find from there is the same. That is what bounds the work by the text
//! times the states of the pattern, and the memory by its states, where backtracking would be exponential for some patterns.
//!
//! While a match is searched a thread carries only where its match begins, since slots for every group would be copied whenever threads part. The
//! groups are found by running once more, over the match alone.

use std::ops::Range;
use std::rc::Rc;

use regex_automata::nfa::thompson::State;
use regex_automata::util::primitives::StateID;

use super::build::{Automaton, assert_of};
use crate::pattern::error::MatchError;
use crate::pattern::limits;
use crate::pattern::text::{NotArrived, Scanned, Window};

/// A search under way.
#[derive(Debug, Clone)]
pub(crate) struct Simulation {
    from: usize,
    /// Up to where the text has been read.
    at: usize,
    threads: Threads<usize>,
    /// True if `threads` have been followed to states that read a byte.
    closed: bool,
    found: Option<Range<usize>>,
}

/// Threads in order of priority, each with what it carries.
#[derive(Debug, Clone)]
struct Threads<T> {
    list: Vec<(StateID, T)>,
    /// Room for the list that is made next, and for the states that are still to be followed.
    spare: Vec<(StateID, T)>,
    stack: Vec<(StateID, T)>,
    /// For each state the last round in which it was reached.
    reached: Vec<u32>,
    round: u32,
    /// How many threads have been carried over from one byte to the next so far.
    steps: u64,
}

/// The state that a thread carries along: nothing, or the slots of its groups.
trait Carried: Clone {
    /// The state after the slot of a group was passed at a position.
    fn pass(self, slot: usize, at: usize) -> Self;
}

/// Where the thread's match begins.
impl Carried for usize {
    fn pass(self, _: usize, _: usize) -> Self {
        self
    }
}

/// The slots of the groups.
impl Carried for Rc<[Option<usize>]> {
    fn pass(mut self, slot: usize, at: usize) -> Self {
        Rc::make_mut(&mut self)[slot] = Some(at);
        self
    }
}

impl<T: Carried> Threads<T> {
    fn new(automaton: &Automaton) -> Self {
        Self {
            list: Vec::new(),
            spare: Vec::new(),
            stack: Vec::new(),
            reached: vec![0; automaton.nfa.states().len()],
            round: 0,
            steps: 0,
        }
    }

    /// Follows the threads, and then one from the pattern's start that carries `seed`, to the states that read a byte.
    /// Returns what the first thread to reach the pattern's end carries; those behind it are dropped. Where the answer
    /// needs text that has not arrived, nothing changes.
    fn close(
        &mut self,
        automaton: &Automaton,
        window: &Window<'_>,
        at: usize,
        seed: Option<T>,
        no_end_at: Option<usize>,
    ) -> Result<Option<T>, NotArrived> {
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            self.reached.fill(0);
            1
        });
        self.spare.clear();
        let mut matched = None;
        let seed = seed.map(|seed| (automaton.nfa.start_anchored(), seed));
        'threads: for thread in self.list.iter().cloned().chain(seed) {
            self.stack.push(thread);
            while let Some((id, carried)) = self.stack.pop() {
                if std::mem::replace(&mut self.reached[id.as_usize()], self.round) == self.round {
                    continue;
                }
                match automaton.nfa.state(id) {
                    State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => {
                        self.spare.push((id, carried))
                    }
                    State::Look { look, next } => {
                        match assert_of(*look).map(|look| window.holds(look, at)) {
                            Some(Ok(true)) => self.stack.push((*next, carried)),
                            Some(Err(NotArrived)) => {
                                self.stack.clear();
                                return Err(NotArrived);
                            }
                            Some(Ok(false)) | None => {}
                        }
                    }
                    State::Union { alternates } => {
                        self.stack
                            .extend(alternates.iter().rev().map(|id| (*id, carried.clone())));
                    }
                    State::BinaryUnion { alt1, alt2 } => {
                        self.stack.push((*alt2, carried.clone()));
                        self.stack.push((*alt1, carried));
                    }
                    State::Capture { next, slot, .. } => {
                        self.stack.push((*next, carried.pass(slot.as_usize(), at)));
                    }
                    State::Fail => {}
                    State::Match { .. } if no_end_at == Some(at) => {}
                    State::Match { .. } => {
                        matched = Some(carried);
                        self.stack.clear();
                        break 'threads;
                    }
                }
            }
        }
        self.steps += self.spare.len() as u64;
        std::mem::swap(&mut self.list, &mut self.spare);
        Ok(matched)
    }

    /// Lets every thread read the byte.
    fn read(&mut self, automaton: &Automaton, byte: u8) {
        self.spare.clear();
        for (id, carried) in self.list.drain(..) {
            let next = match automaton.nfa.state(id) {
                State::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
                State::Sparse(sparse) => sparse.matches_byte(byte),
                State::Dense(dense) => dense.matches_byte(byte),
                _ => None,
            };
            self.spare.extend(next.map(|next| (next, carried)));
        }
        std::mem::swap(&mut self.list, &mut self.spare);
    }
}

impl Simulation {
    pub(crate) fn new(automaton: &Automaton, from: usize) -> Self {
        Self {
            from,
            at: from,
            threads: Threads::new(automaton),
            closed: false,
            found: None,
        }
    }

    /// Begins again at another place.
    pub(crate) fn restart(&mut self, from: usize) {
        self.from = from;
        self.at = from;
        self.threads.list.clear();
        self.threads.steps = 0;
        self.closed = false;
        self.found = None;
    }

    /// How many steps were taken so far.
    pub(crate) fn steps(&self) -> u64 {
        self.threads.steps
    }

    /// Goes on with what has arrived. `no_end_at` is a position at which the match must not end.
    pub(crate) fn scan(
        &mut self,
        automaton: &Automaton,
        window: &Window<'_>,
        no_end_at: Option<usize>,
    ) -> Result<Scanned, MatchError> {
        let text = window.text.as_bytes();
        loop {
            let rest = &text[self.at - window.start..];
            if !self.closed {
                let idle = self.threads.list.is_empty() && self.found.is_none();
                if idle && automaton.anchored && self.at > 0 {
                    self.at = window.end();
                    return Ok(Scanned::Hold(self.at));
                }
                if let (true, Some(first)) = (idle, &automaton.first) {
                    match first.find(rest) {
                        Some(0) => {}
                        Some(skipped) => {
                            self.at += skipped;
                            continue;
                        }
                        None => {
                            self.at = window.end();
                            return Ok(Scanned::Hold(self.at));
                        }
                    }
                }
                let between_characters = window.text.is_char_boundary(self.at - window.start);
                let seed = (self.found.is_none() && between_characters).then_some(self.at);
                match self
                    .threads
                    .close(automaton, window, self.at, seed, no_end_at)
                {
                    Ok(Some(start)) => self.found = Some(start..self.at),
                    Ok(None) => {}
                    Err(NotArrived) => {
                        // A look-ahead asks for what follows the next byte. That byte ends threads already, those among them that ask.
                        if let Some(&byte) = rest.first() {
                            let list = &mut self.threads.list;
                            let before = list.len();
                            list.retain(|(id, _)| automaton.may_go_on(*id, byte));
                            if list.len() < before {
                                continue;
                            }
                        }
                        return Ok(self.hold());
                    }
                }
                self.closed = true;
                let limit =
                    limits::STEPS + limits::AUTOMATON_STEPS_PER_BYTE * (self.at - self.from) as u64;
                if self.threads.steps > limit {
                    return Err(MatchError::StepLimit { limit, at: self.at });
                }
            }
            if let (true, Some(found)) = (self.threads.list.is_empty(), &self.found) {
                return Ok(Scanned::Found(found.clone()));
            }
            let Some(&byte) = rest.first() else {
                return Ok(match &self.found {
                    Some(found) if window.complete => Scanned::Found(found.clone()),
                    _ if window.complete => Scanned::Hold(window.end()),
                    _ => self.hold(),
                });
            };
            self.threads.read(automaton, byte);
            self.at += 1;
            self.closed = false;
        }
    }

    /// The first place where a match may begin.
    fn hold(&self) -> Scanned {
        let first = self
            .threads
            .list
            .first()
            .map_or(self.at, |(_, start)| *start);
        Scanned::Hold(
            self.found
                .as_ref()
                .map_or(first, |found| found.start.min(first)),
        )
    }
}

/// The spans of the named groups in a match that has been found. The window holds it, and what was read around it.
pub(crate) fn groups(
    automaton: &Automaton,
    window: &Window<'_>,
    span: &Range<usize>,
    no_end_at: Option<usize>,
) -> Vec<Option<Range<usize>>> {
    let mut threads = Threads::new(automaton);
    let none: Rc<[Option<usize>]> = vec![None; 2 * (automaton.groups + 1)].into();
    let mut seed = Some(none.clone());
    let mut matched = None;
    for at in span.start..=span.end {
        matched = threads
            .close(automaton, window, at, seed.take(), no_end_at)
            .unwrap_or_default();
        if at < span.end {
            threads.read(automaton, window.text.as_bytes()[at - window.start]);
        }
    }
    let slots = matched.unwrap_or(none);
    (1..=automaton.groups)
        .map(|group| Some(slots[2 * group]?..slots[2 * group + 1]?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Automaton, Scanned, Simulation, Window, groups};
    use crate::pattern::syntax::parse;

    fn automaton(source: &str) -> Automaton {
        Automaton::new(&parse(source).expect("a pattern")).expect("an automaton")
    }

    #[test]
    fn threads_are_carried_from_chunk_to_chunk() {
        let automaton = automaton("ab+|b");
        let mut simulation = Simulation::new(&automaton, 0);
        // The window begins at the last hold: what was read before is not read again.
        for (text, start, complete, expected) in [
            ("xa", 0, false, Scanned::Hold(1)),
            ("ab", 1, false, Scanned::Hold(1)),
            ("abb", 1, false, Scanned::Hold(1)),
            ("abbx", 1, false, Scanned::Found(1..4)),
        ] {
            let window = Window {
                text,
                start,
                complete,
            };
            assert_eq!(simulation.scan(&automaton, &window, None), Ok(expected));
        }
    }

    #[test]
    fn groups_are_those_of_the_match_of_highest_priority() {
        let automaton = automaton("(?P<x>a|ab)(?P<y>c|bcd)?(?P<z>z)?");
        let window = Window {
            text: "abcd",
            start: 7,
            complete: true,
        };
        assert_eq!(
            groups(&automaton, &window, &(7..11), None),
            [Some(7..8), Some(8..11), None]
        );
    }
}
