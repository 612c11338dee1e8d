//! Running a program.

use std::ops::Range;

use super::compile::{Program, Run, Set, Step};
use crate::pattern::syntax::ast::RepeatKind;
use crate::pattern::text::Window;

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The first match.
    Found(Range<usize>),
    /// There is none.
    Nothing,
    /// The budget is used up; no match begins before this place.
    GivenUp(usize),
}

/// A position that is not stored.
const UNSET: usize = usize::MAX;

/// Steps that a search may take whatever the text, and for each byte of it.
const STEPS: usize = 1000;
const STEPS_PER_BYTE: usize = 8;

/// How many bytes are searched, or read one by one, in the time of a step.
const SEARCHED: usize = 64;
const READ: usize = 4;

/// How many choices may be open.
const CHOICES: usize = 1 << 20;

/// What to do when the current way fails.
#[derive(Debug, Clone, Copy)]
enum Choice {
    /// Go on at the step, from the position.
    Resume { step: usize, at: usize },
    /// A lazy run: go on behind it from the next place between these.
    Longer { step: usize, from: usize, to: usize },
    /// A greedy run: go on behind it from the last place between these.
    Shorter { step: usize, from: usize, to: usize },
    /// Undo a stored position, and go on failing.
    Restore { slot: usize, old: usize },
}

/// The state of searches of one text, which share a budget.
#[derive(Debug)]
pub(crate) struct Machine {
    slots: Vec<usize>,
    choices: Vec<Choice>,
    /// How many steps are left.
    left: usize,
}

/// The budget is used up.
struct OutOfSteps;

impl Machine {
    /// For searches of a text of so many bytes.
    pub(crate) fn new(length: usize) -> Self {
        Self {
            slots: Vec::new(),
            choices: Vec::new(),
            left: STEPS.saturating_add(STEPS_PER_BYTE.saturating_mul(length)),
        }
    }

    /// What the group of this number, in the order of the named groups, matched in the match that was found.
    pub(crate) fn group(&self, number: usize) -> Option<Range<usize>> {
        let (start, end) = (self.slots[2 * number], self.slots[2 * number + 1]);
        (start != UNSET && end != UNSET).then_some(start..end)
    }

    /// The first match at or after `from`, that does not end at `no_end_at`.
    pub(crate) fn search(
        &mut self,
        program: &Program,
        text: &str,
        from: usize,
        no_end_at: Option<usize>,
    ) -> Outcome {
        let mut start = from;
        loop {
            let found = program.begins.first(text.as_bytes(), start, text.len());
            let Some(found) = found.filter(|found| !program.anchored || *found == 0) else {
                return Outcome::Nothing;
            };
            if self.pay((found - start) / SEARCHED).is_err() {
                return Outcome::GivenUp(start);
            }
            start = found;
            self.slots.clear();
            self.slots.resize(2 * program.groups, UNSET);
            self.choices.clear();
            match self.run(program, text, 0, start, no_end_at) {
                Ok(Some(end)) => return Outcome::Found(start..end),
                Ok(None) => {}
                Err(OutOfSteps) => return Outcome::GivenUp(start),
            }
            match text[start..].chars().next() {
                Some(c) => start += c.len_utf8(),
                None => return Outcome::Nothing,
            }
        }
    }

    fn pay(&mut self, steps: usize) -> Result<(), OutOfSteps> {
        self.left = self.left.checked_sub(steps + 1).ok_or(OutOfSteps)?;
        Ok(())
    }

    /// Runs the program from a step on, up to its `Done`: where that is, if it matches. The choices that were open before stay.
    fn run(
        &mut self,
        program: &Program,
        text: &str,
        step: usize,
        at: usize,
        no_end_at: Option<usize>,
    ) -> Result<Option<usize>, OutOfSteps> {
        let window = Window {
            text,
            start: 0,
            complete: true,
        };
        let bytes = text.as_bytes();
        let base = self.choices.len();
        let (mut step, mut at) = (step, at);
        loop {
            self.pay(0)?;
            let next = match &program.steps[step] {
                Step::Literal(literal) => bytes[at..]
                    .starts_with(literal)
                    .then(|| (step + 1, at + literal.len())),
                Step::Set(set) => one(set, text, at).map(|at| (step + 1, at)),
                Step::Run(run) => self.enter_run(program, text, run, step, at)?,
                // The text is complete, so that the answer is there.
                Step::Assert(assert) => window
                    .holds(*assert, at)
                    .unwrap_or(false)
                    .then_some((step + 1, at)),
                Step::Save(slot) => {
                    let old = std::mem::replace(&mut self.slots[*slot], at);
                    self.choose(Choice::Restore { slot: *slot, old })?;
                    Some((step + 1, at))
                }
                Step::Jump(target) => Some((*target, at)),
                Step::Split(split) => {
                    let second = split.second_expects.allows(bytes, at);
                    if !split.first_expects.allows(bytes, at) {
                        second.then_some((split.second, at))
                    } else {
                        if second {
                            self.choose(Choice::Resume {
                                step: split.second,
                                at,
                            })?;
                        }
                        Some((split.first, at))
                    }
                }
                Step::Look { negative, after } => {
                    let inner = self.choices.len();
                    let found = self.run(program, text, step + 1, at, None)?.is_some();
                    if *negative {
                        self.undo(inner);
                    } else {
                        self.commit(inner);
                    }
                    (found != *negative).then_some((*after, at))
                }
                Step::Atomic { after } => {
                    let inner = self.choices.len();
                    let found = self.run(program, text, step + 1, at, None)?;
                    self.commit(inner);
                    found.map(|at| (*after, at))
                }
                Step::Done if no_end_at == Some(at) => None,
                Step::Done => return Ok(Some(at)),
            };
            match next {
                Some(next) => (step, at) = next,
                None => match self.backtrack(program, text, base)? {
                    Some(next) => (step, at) = next,
                    None => return Ok(None),
                },
            }
        }
    }

    fn choose(&mut self, choice: Choice) -> Result<(), OutOfSteps> {
        if self.choices.len() >= CHOICES {
            return Err(OutOfSteps);
        }
        self.choices.push(choice);
        Ok(())
    }

    /// Takes the latest choice back; `None` when none is left above `base`.
    fn backtrack(
        &mut self,
        program: &Program,
        text: &str,
        base: usize,
    ) -> Result<Option<(usize, usize)>, OutOfSteps> {
        while self.choices.len() > base {
            let Some(choice) = self.choices.pop() else {
                break;
            };
            let next = match choice {
                Choice::Resume { step, at } => Some((step, at)),
                Choice::Restore { slot, old } => {
                    self.slots[slot] = old;
                    None
                }
                Choice::Longer { step, from, to } => self.longer(program, text, step, from, to)?,
                Choice::Shorter { step, from, to } => {
                    self.shorter(program, text, step, from, to)?
                }
            };
            if next.is_some() {
                return Ok(next);
            }
        }
        Ok(None)
    }

    /// Gives up all choices above `base`, and undoes what was stored.
    fn undo(&mut self, base: usize) {
        for choice in self.choices.drain(base.min(self.choices.len())..).rev() {
            if let Choice::Restore { slot, old } = choice {
                self.slots[slot] = old;
            }
        }
    }

    /// Gives up all choices above `base`, and keeps the means to undo what was stored.
    fn commit(&mut self, base: usize) {
        let mut kept = base;
        for at in base..self.choices.len() {
            if let Choice::Restore { .. } = self.choices[at] {
                self.choices[kept] = self.choices[at];
                kept += 1;
            }
        }
        self.choices.truncate(kept);
    }

    /// Reads the characters that a run must have, and goes on behind it at the first place that it tries.
    fn enter_run(
        &mut self,
        program: &Program,
        text: &str,
        run: &Run,
        step: usize,
        at: usize,
    ) -> Result<Option<(usize, usize)>, OutOfSteps> {
        let limit = match &run.guard {
            None => text.len(),
            Some(_) => self.guarded(program, text, run, at)?,
        };
        let bounded = &text[..limit];
        let (from, count) = reach(&run.set, bounded, at, run.min);
        if count < run.min {
            return Ok(None);
        }
        let to = match run.max {
            u32::MAX if run.set.is_any => limit,
            u32::MAX => reach_all(&run.set, bounded, from),
            max => reach(&run.set, bounded, from, max.saturating_sub(run.min)).0,
        };
        if !run.set.is_any {
            self.pay((to - at) / READ)?;
        }
        match run.kind {
            RepeatKind::Possessive => Ok(Some((run.next, to))),
            RepeatKind::Lazy => self.longer(program, text, step, from, to),
            RepeatKind::Greedy => self.shorter(program, text, step, from, to),
        }
    }

    /// Where what ends the run comes first.
    fn guarded(
        &mut self,
        program: &Program,
        text: &str,
        run: &Run,
        from: usize,
    ) -> Result<usize, OutOfSteps> {
        let Some((guard, expects)) = &run.guard else {
            return Ok(text.len());
        };
        let bytes = text.as_bytes();
        let mut at = from;
        // What comes at the very end ends nothing: no character is left there.
        while let Some(found) = expects.first(bytes, at, text.len()) {
            self.pay((found - at) / SEARCHED)?;
            let Some(c) = text[found..].chars().next() else {
                break;
            };
            let inner = self.choices.len();
            let matches = self.run(program, text, *guard, found, None)?.is_some();
            self.undo(inner);
            if matches {
                return Ok(found);
            }
            at = found + c.len_utf8();
        }
        Ok(text.len())
    }

    /// Goes on behind a lazy run, at the first place from `from` to `to` that can lead on.
    fn longer(
        &mut self,
        program: &Program,
        text: &str,
        step: usize,
        from: usize,
        to: usize,
    ) -> Result<Option<(usize, usize)>, OutOfSteps> {
        let Step::Run(run) = &program.steps[step] else {
            return Ok(None);
        };
        let Some(at) = run.expects.first(text.as_bytes(), from, to) else {
            self.pay((to - from) / SEARCHED)?;
            return Ok(None);
        };
        self.pay((at - from) / SEARCHED)?;
        if at < to {
            let length = text[at..].chars().next().map_or(1, char::len_utf8);
            self.choose(Choice::Longer {
                step,
                from: at + length,
                to,
            })?;
        }
        Ok(Some((run.next, at)))
    }

    /// Goes on behind a greedy run, at the last place from `from` to `to` that can lead on.
    fn shorter(
        &mut self,
        program: &Program,
        text: &str,
        step: usize,
        from: usize,
        to: usize,
    ) -> Result<Option<(usize, usize)>, OutOfSteps> {
        let Step::Run(run) = &program.steps[step] else {
            return Ok(None);
        };
        let Some(at) = run.expects.last(text.as_bytes(), from, to) else {
            self.pay((to - from) / SEARCHED)?;
            return Ok(None);
        };
        self.pay((to - at) / SEARCHED)?;
        if at > from {
            self.choose(Choice::Shorter {
                step,
                from,
                to: at - 1,
            })?;
        }
        Ok(Some((run.next, at)))
    }
}

/// Behind the one character of the set that comes at `at`.
fn one(set: &Set, text: &str, at: usize) -> Option<usize> {
    let byte = *text.as_bytes().get(at)?;
    if byte.is_ascii() {
        return set.chars.contains(char::from(byte)).then_some(at + 1);
    }
    let c = text[at..].chars().next()?;
    set.chars.contains(c).then(|| at + c.len_utf8())
}

/// Behind the characters of the set that come at `at`, `most` of them at most, and how many they are.
fn reach(set: &Set, text: &str, at: usize, most: u32) -> (usize, u32) {
    let (mut at, mut count) = (at, 0);
    while count < most
        && let Some(next) = one(set, text, at)
    {
        at = next;
        count += 1;
    }
    (at, count)
}

/// Behind all characters of the set that come at `at`.
fn reach_all(set: &Set, text: &str, at: usize) -> usize {
    if let Some(stops) = &set.stops {
        let rest = &text.as_bytes()[at..];
        return at + stops.find(rest).unwrap_or(rest.len());
    }
    let mut at = at;
    while let Some(next) = one(set, text, at) {
        at = next;
    }
    at
}
