//! The bytes with which a program can go on at a step: possibly more than it matches, never fewer.

use memchr::memmem::Finder;

use super::compile::{Set, Step};
use crate::pattern::bytes::ByteSet;
use crate::pattern::syntax::ast::Assert;

/// Where a step can lead to a match, as far as the next bytes tell.
#[derive(Debug)]
pub(super) struct Expect {
    /// Nothing is known: anywhere.
    anywhere: bool,
    /// The first bytes.
    bytes: ByteSet,
    /// The end of the text.
    end: bool,
    /// The text begins with this literal, of two bytes at least, everywhere but at the end.
    literal: Option<Finder<'static>>,
    /// This comes behind it, with characters of these sets alone between.
    behind: Option<(Finder<'static>, Vec<Set>)>,
}

/// Returns the bytes with which the steps from `from` on can go on.
pub(super) fn expect(steps: &[Step], from: usize) -> Expect {
    let mut found = Gathered::default();
    found.gather(steps, from);
    if found.anywhere {
        return Expect::anything();
    }
    let literal = found
        .literal
        .filter(|text| text.len() > 1 && !found.has_sets);
    Expect {
        anywhere: false,
        bytes: found.bytes,
        end: found.end,
        literal: literal.map(|text| Finder::new(&text).into_owned()),
        behind: behind(steps, from),
    }
}

/// The literal that comes behind nothing but runs, where there is only one way.
fn behind(steps: &[Step], from: usize) -> Option<(Finder<'static>, Vec<Set>)> {
    let (mut at, mut sets) = (from, Vec::new());
    loop {
        at = match &steps[at] {
            Step::Save(_) | Step::Assert(_) => at + 1,
            Step::Jump(target) if *target > at => *target,
            Step::Run(run) if !run.set.is_any => {
                sets.push(run.set.clone());
                run.next
            }
            Step::Literal(text) if text.len() > 1 && !sets.is_empty() => {
                return Some((Finder::new(text).into_owned(), sets));
            }
            _ => return None,
        };
    }
}

#[derive(Default)]
struct Gathered {
    anywhere: bool,
    bytes: ByteSet,
    end: bool,
    /// The beginning that all literals share.
    literal: Option<Vec<u8>>,
    has_sets: bool,
}

impl Gathered {
    fn gather(&mut self, steps: &[Step], from: usize) {
        let mut seen = vec![false; steps.len()];
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if self.anywhere || std::mem::replace(&mut seen[at], true) {
                continue;
            }
            match &steps[at] {
                Step::Literal(text) => {
                    self.bytes.add(text[0]);
                    self.literal = Some(match self.literal.take() {
                        None => text.to_vec(),
                        Some(known) => shared(&known, text),
                    });
                }
                Step::Set(set) => {
                    set.add_first_bytes(&mut self.bytes);
                    self.has_sets = true;
                }
                Step::Run(run) => {
                    if run.max > 0 {
                        run.set.add_first_bytes(&mut self.bytes);
                        self.has_sets = true;
                    }
                    if run.min == 0 {
                        open.push(run.next);
                    }
                }
                Step::Assert(Assert::End) => self.end = true,
                Step::Assert(Assert::EndOrFinalNewline | Assert::LineEnd) => {
                    self.end = true;
                    self.bytes.add(b'\n');
                    self.has_sets = true;
                }
                // These forbid, and allow nothing.
                Step::Assert(_) | Step::Save(_) => open.push(at + 1),
                Step::Jump(target) => open.push(*target),
                Step::Split(split) => open.extend([split.first, split.second]),
                Step::Look { back, after, .. } if *back > 0 => open.push(*after),
                Step::Look {
                    negative, after, ..
                } => {
                    // What is looked for must come here, whatever is read behind it.
                    let mut body = Self::default();
                    if !negative {
                        body.gather(steps, at + 1);
                    }
                    if *negative || body.anywhere {
                        open.push(*after);
                    } else {
                        self.join(body);
                    }
                }
                Step::Atomic { .. } => open.push(at + 1),
                Step::Done => self.anywhere = true,
            }
        }
    }

    fn join(&mut self, other: Self) {
        self.bytes = self.bytes.union(&other.bytes);
        self.end |= other.end;
        self.has_sets |= other.has_sets;
        self.literal = match (self.literal.take(), other.literal) {
            (Some(one), Some(other)) => Some(shared(&one, &other)),
            (one, other) => one.or(other),
        };
    }
}

fn shared(one: &[u8], other: &[u8]) -> Vec<u8> {
    let pairs = one.iter().zip(other).take_while(|(a, b)| a == b);
    pairs.map(|(byte, _)| *byte).collect()
}

impl Expect {
    pub(super) fn anything() -> Self {
        Self {
            anywhere: true,
            bytes: ByteSet::EMPTY,
            end: true,
            literal: None,
            behind: None,
        }
    }

    /// Returns true if a match may go on at byte `at` of the text.
    pub(super) fn allows(&self, text: &[u8], at: usize) -> bool {
        self.anywhere
            || match text.get(at) {
                Some(byte) => self.bytes.contains(*byte),
                None => self.end,
            }
    }

    /// The first place from `from` to `to`, both included, where it may be.
    pub(super) fn first(&self, text: &str, from: usize, to: usize) -> Option<usize> {
        if from > to {
            return None;
        }
        if self.anywhere {
            return Some(from);
        }
        let mut from = from;
        if let Some((literal, sets)) = &self.behind {
            let mut place = from + literal.find(&text.as_bytes()[from..])?;
            let is_between = |c: &char| sets.iter().any(|set| set.chars.contains(*c));
            while place > from
                && let Some(c) = text[..place].chars().next_back().filter(is_between)
            {
                place -= c.len_utf8();
            }
            from = place;
            if from > to {
                return None;
            }
        }
        let text = text.as_bytes();
        let stretch = text.get(from..)?;
        let found = match &self.literal {
            // The place itself may be as far as `to`, and the literal reach beyond.
            Some(literal) => {
                let end = (to - from)
                    .saturating_add(literal.needle().len())
                    .min(stretch.len());
                literal.find(&stretch[..end])
            }
            None => {
                let end = (to - from).saturating_add(1).min(stretch.len());
                self.bytes.find(&stretch[..end])
            }
        };
        found
            .map(|place| from + place)
            .or((self.end && to == text.len()).then_some(to))
    }

    /// The last place from `from` to `to`, both included, where it may be.
    pub(super) fn last(&self, text: &[u8], from: usize, to: usize) -> Option<usize> {
        if from > to {
            return None;
        }
        if self.anywhere {
            // Not within a character.
            let mut to = to;
            while to > from && text.get(to).is_some_and(|byte| byte & 0xc0 == 0x80) {
                to -= 1;
            }
            return Some(to);
        }
        if self.end && to == text.len() {
            return Some(to);
        }
        let stretch = &text[from..text.len().min(to + 1)];
        let mut end = stretch.len();
        loop {
            let place = self.bytes.find_last(&stretch[..end])?;
            let literal = self.literal.as_ref().map(Finder::needle);
            if literal.is_none_or(|literal| text[from + place..].starts_with(literal)) {
                return Some(from + place);
            }
            end = place;
        }
    }
}
