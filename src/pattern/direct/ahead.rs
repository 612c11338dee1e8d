//! The facts that are known of a program's steps before it runs: the bytes with which it can go on at each, and the literals that must come.
//!
//! The bytes are gathered by following every way from a step up to the first thing that it reads: they may be more than the
//! program matches, never fewer, so that a place where none of them stands can be passed over. Each step is gathered from once, which is
//! quadratic in the number of steps, of which there are at most a thousand.
//!
//! The literals that must come are the solution of a data flow problem, as a compiler solves it: a step needs what it reads itself, and what
//! all of the steps that can follow it need. Sets of literals are bits of one word; everything is assumed at first and taken away until nothing
//! changes, which gives the greatest solution.

use memchr::memmem::Finder;

use super::expect::Expect;
use super::program::Step;
use super::set::Set;
use crate::pattern::bytes::ByteSet;
use crate::pattern::syntax::ast::Assert;

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
                    // The text that is looked for must come here, whatever is read behind it.
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

/// The literals without which no way leads from a step to a match.
pub(super) struct Needs {
    pub(super) literals: Vec<Finder<'static>>,
    /// For each step, the longest of these.
    pub(super) of: Vec<Option<usize>>,
}

/// For each step the literals that are read on every way to the end, as bits: those of all ways that lead on from it, and its own. The
/// greatest solution, found by taking away until nothing changes.
pub(super) fn needs(steps: &[Step]) -> Needs {
    let literals: Vec<(usize, &[u8])> = steps
        .iter()
        .enumerate()
        .filter_map(|(at, step)| match step {
            Step::Literal(text) if text.len() > 1 => Some((at, &**text)),
            _ => None,
        })
        .take(u64::BITS as usize)
        .collect();
    let mut bits = vec![u64::MAX; steps.len()];
    loop {
        let mut changed = false;
        for at in (0..steps.len()).rev() {
            let found = match &steps[at] {
                Step::Literal(_) => {
                    let own = literals.iter().position(|(known, _)| *known == at);
                    bits[at + 1] | own.map_or(0, |own| 1 << own)
                }
                Step::Set(_) | Step::Assert(_) | Step::Save(_) => bits[at + 1],
                Step::Run(run) => bits[run.next],
                Step::Jump(target) => bits[*target],
                Step::Split(split) => bits[split.first] & bits[split.second],
                Step::Look {
                    negative: true,
                    after,
                    ..
                } => bits[*after],
                // The text that stands before need not come again.
                Step::Look { back, after, .. } if *back > 0 => bits[*after],
                Step::Look { after, .. } | Step::Atomic { after } => bits[at + 1] | bits[*after],
                Step::Done => 0,
            };
            changed |= found != bits[at];
            bits[at] = found;
        }
        if !changed {
            break;
        }
    }
    let longest = |bits: &u64| {
        let all = (0..literals.len()).filter(|number| bits >> number & 1 == 1);
        all.max_by_key(|number| literals[*number].1.len())
    };
    Needs {
        of: bits.iter().map(longest).collect(),
        literals: literals
            .iter()
            .map(|(_, text)| Finder::new(text).into_owned())
            .collect(),
    }
}
