//! The literal engine: the first of several strings, the longest where two begin at one place.
//!
//! An Aho-Corasick automaton over bytes that knows of each state how long the text is that it stands for. That length
//! is what a stream needs: it tells where an occurrence that is not complete yet would begin.

use std::ops::Range;

use super::bytes::ByteSet;
use super::text::Scanned;

/// A state: the trie's node for a string that some literal begins with.
#[derive(Debug, Clone)]
struct State {
    /// Transitions, sorted by byte.
    next: Vec<(u8, u32)>,
    /// The state of the longest proper suffix that is one.
    fail: u32,
    /// The length of the string.
    depth: u32,
    /// The length of the longest literal that the string ends with; 0 for none.
    ends: u32,
}

/// The literals, made for searching.
#[derive(Debug)]
pub(crate) struct Literals {
    states: Vec<State>,
    /// The transitions of the state for the empty string.
    root: Box<[u32; 256]>,
    /// The first bytes of the literals.
    first: ByteSet,
}

/// Where a search stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scan {
    state: u32,
    found: Option<Range<usize>>,
}

impl Literals {
    /// `literals` are not empty strings.
    pub(crate) fn new(literals: &[String]) -> Self {
        let mut states = vec![State {
            next: Vec::new(),
            fail: 0,
            depth: 0,
            ends: 0,
        }];
        for literal in literals {
            let mut at = 0;
            for &byte in literal.as_bytes() {
                at = match states[at].next.binary_search_by_key(&byte, |next| next.0) {
                    Ok(found) => states[at].next[found].1 as usize,
                    Err(place) => {
                        let depth = states[at].depth + 1;
                        let new = states.len();
                        states.push(State {
                            next: Vec::new(),
                            fail: 0,
                            depth,
                            ends: 0,
                        });
                        states[at].next.insert(place, (byte, new as u32));
                        new
                    }
                };
            }
            states[at].ends = states[at].depth;
        }
        let mut root = Box::new([0; 256]);
        for &(byte, state) in &states[0].next {
            root[usize::from(byte)] = state;
        }
        let first = states[0].next.iter().map(|next| next.0).collect();
        let mut literals = Self {
            states,
            root,
            first,
        };
        literals.link();
        literals
    }

    /// Sets where each state goes on when no transition fits, from the shortest strings to the longest.
    fn link(&mut self) {
        let mut queue: std::collections::VecDeque<u32> =
            self.states[0].next.iter().map(|next| next.1).collect();
        while let Some(at) = queue.pop_front() {
            for (byte, child) in self.states[at as usize].next.clone() {
                let fail = self.step(self.states[at as usize].fail, byte);
                let ends = self.states[fail as usize].ends;
                let state = &mut self.states[child as usize];
                state.fail = fail;
                if state.ends == 0 {
                    state.ends = ends;
                }
                queue.push_back(child);
            }
        }
    }

    fn step(&self, mut at: u32, byte: u8) -> u32 {
        while at != 0 {
            let state = &self.states[at as usize];
            if let Ok(found) = state.next.binary_search_by_key(&byte, |next| next.0) {
                return state.next[found].1;
            }
            at = state.fail;
        }
        self.root[usize::from(byte)]
    }

    /// Goes on with `scan` over `text`, which begins at byte offset `start`. With `complete`, nothing follows it.
    pub(crate) fn scan(
        &self,
        scan: &mut Scan,
        text: &[u8],
        start: usize,
        complete: bool,
    ) -> Scanned {
        let mut at = 0;
        while at < text.len() {
            if scan.state == 0 && scan.found.is_none() {
                match self.first.find(&text[at..]) {
                    Some(skipped) => at += skipped,
                    None => break,
                }
            }
            scan.state = self.step(scan.state, text[at]);
            at += 1;
            let state = &self.states[scan.state as usize];
            let end = start + at;
            let begins = end - state.depth as usize;
            if scan
                .found
                .as_ref()
                .is_some_and(|found| found.start < begins)
            {
                break;
            }
            if state.ends > 0 {
                let found = end - state.ends as usize..end;
                // An earlier one is better, and a longer one that begins where the other does.
                if scan
                    .found
                    .as_ref()
                    .is_none_or(|old| found.start <= old.start)
                {
                    scan.found = Some(found);
                }
                if state.next.is_empty() && state.ends == state.depth {
                    break;
                }
            }
        }
        let end = start + at;
        let state = &self.states[scan.state as usize];
        let begins = end - state.depth as usize;
        match scan.found.clone() {
            // Nothing that is under way begins early enough to be better.
            Some(found)
                if at < text.len() || complete || begins > found.start || state.next.is_empty() =>
            {
                Scanned::Found(found)
            }
            _ if complete => Scanned::Hold(start + text.len()),
            Some(found) => Scanned::Hold(found.start.min(begins)),
            None if at < text.len() => Scanned::Hold(start + text.len()),
            None => Scanned::Hold(begins),
        }
    }

    /// The bytes that a literal begins with.
    pub(crate) fn first_bytes(&self) -> ByteSet {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::{Literals, Scan, Scanned};

    fn literals(list: &[&str]) -> Literals {
        Literals::new(
            &list
                .iter()
                .map(|literal| (*literal).to_owned())
                .collect::<Vec<_>>(),
        )
    }

    fn whole(list: &[&str], text: &str) -> Scanned {
        literals(list).scan(&mut Scan::default(), text.as_bytes(), 0, true)
    }

    #[test]
    fn the_first_is_found_and_at_one_place_the_longest() {
        assert_eq!(whole(&["ab", "abcd", "bc"], "xabcx"), Scanned::Found(1..3));
        assert_eq!(whole(&["ab", "abcd", "bc"], "xabcd"), Scanned::Found(1..5));
        assert_eq!(whole(&["abcd", "bc"], "xabce"), Scanned::Found(2..4));
        assert_eq!(whole(&["c", "abcd"], "abc"), Scanned::Found(2..3));
        assert_eq!(whole(&["ab"], "a"), Scanned::Hold(1));
    }

    #[test]
    fn an_earlier_one_that_may_be_complete_later_is_waited_for() {
        let literals = literals(&["c", "abcd"]);
        let mut scan = Scan::default();
        assert_eq!(
            literals.scan(&mut scan, b"xabc", 0, false),
            Scanned::Hold(1)
        );
        assert_eq!(
            literals.scan(&mut scan.clone(), b"d", 4, false),
            Scanned::Found(1..5)
        );
        assert_eq!(
            literals.scan(&mut scan.clone(), b"x", 4, false),
            Scanned::Found(3..4)
        );
        assert_eq!(literals.scan(&mut scan, b"", 4, true), Scanned::Found(3..4));
    }

    #[test]
    fn characters_that_share_bytes_are_held_whole() {
        let literals = literals(&["\u{e9}b", "\u{e0}"]);
        let mut scan = Scan::default();
        assert_eq!(
            literals.scan(&mut scan, "x\u{e9}".as_bytes(), 0, false),
            Scanned::Hold(1)
        );
        assert_eq!(
            literals.scan(&mut scan, "\u{e8}".as_bytes(), 3, false),
            Scanned::Hold(5)
        );
    }
}
