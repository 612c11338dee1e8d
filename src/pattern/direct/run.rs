//! Running a program: backtracking, in the order in which Python tries.
//!
//! The steps are carried out one by one. Where two are possible the first is taken and the other is put on a stack of choices; when a step
//! fails, the latest choice is taken back, and with it the groups that were stored since. The first way that leads to the end is therefore
//! the one that Python finds, which tries in the same order. A run of characters is one choice and not one for each length: it is taken
//! back to the next place at which what follows can begin, by vectorised search ([`Expect`]).
//!
//! Time is paid for in steps, from an allowance in proportion to the text ([`STEPS`], [`STEPS_PER_BYTE`]). When the first is used up the
//! search begins again and remembers from then on at which step and place it failed, one bit each, so that no pair of them is tried twice:
//! that bounds the work by the product of the program and the text, as in a bounded backtracker. When the second allowance is used up as
//! well, the search gives up and names the start that it had come to, from where the pattern's engine goes on.

use std::ops::Range;

use super::expect::Expect;
use super::memory::Memory;
use super::program::{Program, Run, Step};
use super::set::Set;
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

/// Steps that searches may take whatever the text, and for each byte of it: before what failed is remembered, and from then on.
const STEPS: [usize; 2] = [1000, 1_000_000];
const STEPS_PER_BYTE: [usize; 2] = [24, 64];

/// How many bytes may be taken to remember what failed.
const MEMORY: usize = 64 << 20;

/// How many bytes are searched, or read one by one, in the time of a step.
const SEARCHED: usize = 64;
const READ: usize = 4;

/// How many choices may be open.
const CHOICES: usize = 1 << 20;

/// A choice that is open: the way to take when the current one fails.
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

/// A step and the place where it is to be carried out.
#[derive(Debug, Clone, Copy)]
struct Position {
    step: usize,
    at: usize,
}

/// The places behind which a run may end.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    step: usize,
    from: usize,
    to: usize,
}

/// The state of searches of one text, which share a budget.
#[derive(Debug)]
pub(crate) struct Machine {
    slots: Vec<usize>,
    choices: Vec<Choice>,
    /// How many steps are left.
    left: usize,
    /// Where which steps failed, once the first budget is used up.
    memory: Option<Memory>,
    /// For each needed literal where it stands last, once that was asked.
    last: Vec<Option<Option<usize>>>,
    /// For each run the stretch that was last passed over in search of what ends it, which comes where the stretch ends.
    guarded: Vec<Range<usize>>,
}

/// The budget is used up.
struct OutOfSteps;

impl Machine {
    /// For searches of a text of so many bytes.
    pub(crate) fn new(length: usize) -> Self {
        Self {
            slots: Vec::new(),
            choices: Vec::new(),
            left: budget(0, length),
            memory: None,
            last: Vec::new(),
            guarded: Vec::new(),
        }
    }

    /// Returns the bytes that the group of this number, in the order of the named groups, matched in the match that was found.
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
        if let Some(memory) = &mut self.memory {
            memory.clear();
        }
        let mut start = from;
        loop {
            let last = match self.last_of(program, text, program.needs) {
                Ok(last) => last,
                Err(OutOfSteps) => return Outcome::GivenUp(start),
            };
            let found = program
                .begins
                .first(text, start, last.unwrap_or(text.len()));
            let found = found.filter(|found| {
                (!program.anchored || *found == 0) && (program.needs.is_none() || last.is_some())
            });
            let Some(found) = found else {
                return Outcome::Nothing;
            };
            if self.pay((found - start) / SEARCHED).is_err() {
                return Outcome::GivenUp(start);
            }
            start = found;
            self.slots.clear();
            self.slots.resize(2 * program.groups, UNSET);
            self.choices.clear();
            match self.run(
                program,
                text,
                Position { step: 0, at: start },
                no_end_at,
                true,
            ) {
                Ok(Some(end)) => return Outcome::Found(start..end),
                Ok(None) => {}
                Err(OutOfSteps) if self.memory.is_none() && remembers(program, text) => {
                    self.remember(program, text.len());
                    continue;
                }
                Err(OutOfSteps) => return Outcome::GivenUp(start),
            }
            match text[start..].chars().next() {
                Some(c) => start += c.len_utf8(),
                None => return Outcome::Nothing,
            }
        }
    }

    /// Remembers what fails from now on, with a budget of its own.
    pub(super) fn remember(&mut self, program: &Program, length: usize) {
        self.memory = Some(Memory::new(program.steps.len()));
        self.left = budget(1, length);
    }

    /// Where the needed literal of this number stands last.
    fn last_of(
        &mut self,
        program: &Program,
        text: &str,
        number: Option<usize>,
    ) -> Result<Option<usize>, OutOfSteps> {
        let Some(number) = number else {
            return Ok(None);
        };
        self.last.resize(program.needed.len(), None);
        if let Some(known) = self.last[number] {
            return Ok(known);
        }
        self.pay(text.len() / SEARCHED)?;
        let last = memchr::memmem::rfind(text.as_bytes(), program.needed[number].needle());
        self.last[number] = Some(last);
        Ok(last)
    }

    fn pay(&mut self, steps: usize) -> Result<(), OutOfSteps> {
        self.left = self.left.checked_sub(steps + 1).ok_or(OutOfSteps)?;
        Ok(())
    }

    /// Runs the program from a step on, up to its `Done`: where that is, if it matches. The choices that were open before stay.
    ///
    /// A step that fails at a place fails there whatever led to it, so that, `outermost`, it need not be tried again. Within a look-around
    /// a step that led on is met again.
    fn run(
        &mut self,
        program: &Program,
        text: &str,
        from: Position,
        no_end_at: Option<usize>,
        outermost: bool,
    ) -> Result<Option<usize>, OutOfSteps> {
        let window = Window {
            text,
            start: 0,
            complete: true,
        };
        let bytes = text.as_bytes();
        let base = self.choices.len();
        let Position { mut step, mut at } = from;
        loop {
            self.pay(0)?;
            let next = match &program.steps[step] {
                Step::Literal(literal) => bytes[at..]
                    .starts_with(literal)
                    .then(|| (step + 1, at + literal.len())),
                Step::Set(set) => one(set, text, at).map(|at| (step + 1, at)),
                Step::Run(run) => {
                    self.enter_run(program, text, run, Position { step, at }, outermost)?
                }
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
                Step::Split(_) if outermost && self.was_tried(step, at) => None,
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
                Step::Look {
                    back,
                    negative,
                    after,
                } => {
                    let inner = self.choices.len();
                    let found = match before(text, at, *back) {
                        Some(at) => {
                            let from = Position { step: step + 1, at };
                            self.run(program, text, from, None, false)?.is_some()
                        }
                        None => false,
                    };
                    if *negative {
                        self.undo(inner);
                    } else {
                        self.commit(inner);
                    }
                    (found != *negative).then_some((*after, at))
                }
                Step::Atomic { after } => {
                    let inner = self.choices.len();
                    let inner_from = Position { step: step + 1, at };
                    let found = self.run(program, text, inner_from, None, false)?;
                    self.commit(inner);
                    found.map(|at| (*after, at))
                }
                Step::Done if no_end_at == Some(at) => None,
                Step::Done => return Ok(Some(at)),
            };
            match next {
                Some(next) => (step, at) = next,
                None => match self.backtrack(program, text, base, outermost)? {
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
        outermost: bool,
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
                Choice::Longer { step, from, to } => {
                    self.longer(program, text, Stretch { step, from, to }, outermost)?
                }
                Choice::Shorter { step, from, to } => {
                    self.shorter(program, text, Stretch { step, from, to })?
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
        place: Position,
        outermost: bool,
    ) -> Result<Option<(usize, usize)>, OutOfSteps> {
        let Position { step, at } = place;
        let limit = match &run.guard {
            None => text.len(),
            Some(_) => self.guarded(program, text, run, place)?,
        };
        let bounded = &text[..limit];
        let (from, count) = reach(&run.set, bounded, at, run.min);
        if count < run.min {
            return Ok(None);
        }
        let is_remembered = outermost && run.max == u32::MAX && run.kind != RepeatKind::Possessive;
        let memory = self.memory.as_ref().filter(|_| is_remembered);
        let was_tried =
            |at: usize| memory.is_some_and(|memory| memory.first(step, at, at).is_some());
        if was_tried(from) {
            return Ok(None);
        }
        let to = match (run.max, memory) {
            (u32::MAX, _) if run.set.is_any => limit,
            // Beyond a place where the loop was before, all was tried.
            (u32::MAX, Some(_)) => reach_all(&run.set, bounded, from, was_tried),
            (u32::MAX, None) => match &run.set.stops {
                Some(stops) => {
                    let rest = &bounded.as_bytes()[from..];
                    from + stops.find(rest).unwrap_or(rest.len())
                }
                None => reach_all(&run.set, bounded, from, |_| false),
            },
            (max, _) => reach(&run.set, bounded, from, max.saturating_sub(run.min)).0,
        };
        if !run.set.is_any {
            self.pay((to - at) / READ)?;
        }
        let mut stretch = Stretch { step, from, to };
        if run.kind == RepeatKind::Possessive {
            return Ok(Some((run.next, to)));
        }
        if run.needs.is_some() {
            match self.last_of(program, text, run.needs)? {
                Some(last) if last >= from => stretch.to = last.min(to),
                _ => return Ok(None),
            }
        }
        if run.kind == RepeatKind::Lazy {
            return self.longer(program, text, stretch, outermost);
        }
        if let (true, Some(memory)) = (is_remembered, &mut self.memory) {
            // Where the loop was before, all from there on was tried.
            if let Some(tried) = memory.first(step, from, stretch.to) {
                stretch.to = tried - 1;
            }
            memory.add(step, from, stretch.to);
        }
        self.shorter(program, text, stretch)
    }

    /// Returns true if the step was carried out at this place before, if that is remembered; from now on it was.
    fn was_tried(&mut self, step: usize, at: usize) -> bool {
        self.memory.as_mut().is_some_and(|memory| {
            let was = memory.first(step, at, at).is_some();
            memory.add(step, at, at);
            was
        })
    }

    /// Returns where the text that ends the run comes first.
    fn guarded(
        &mut self,
        program: &Program,
        text: &str,
        run: &Run,
        place: Position,
    ) -> Result<usize, OutOfSteps> {
        let Some((guard, expects)) = &run.guard else {
            return Ok(text.len());
        };
        let Position { step, at: from } = place;
        self.guarded.resize(program.steps.len(), 0..0);
        // A search from within the stretch that was passed over finds the same end.
        let passed = &self.guarded[step];
        if passed.start <= from && from < passed.end {
            return Ok(passed.end);
        }
        let end = self.first_of(program, text, (*guard, expects), from)?;
        self.guarded[step] = from..end;
        Ok(end)
    }

    /// The first place from `from` on where the program that begins at a step matches and a character comes; else the end.
    fn first_of(
        &mut self,
        program: &Program,
        text: &str,
        (guard, expects): (usize, &Expect),
        from: usize,
    ) -> Result<usize, OutOfSteps> {
        let mut at = from;
        // A delimiter at the very end ends nothing, since no character is left there.
        while let Some(found) = expects.first(text, at, text.len()) {
            self.pay((found - at) / SEARCHED)?;
            let Some(c) = text[found..].chars().next() else {
                break;
            };
            let inner = self.choices.len();
            let from = Position {
                step: guard,
                at: found,
            };
            let matches = self.run(program, text, from, None, false)?.is_some();
            self.undo(inner);
            if matches {
                return Ok(found);
            }
            at = found + c.len_utf8();
        }
        Ok(text.len())
    }

    /// Goes on behind a lazy run, at the first place of the stretch that can lead on.
    fn longer(
        &mut self,
        program: &Program,
        text: &str,
        stretch: Stretch,
        outermost: bool,
    ) -> Result<Option<(usize, usize)>, OutOfSteps> {
        let Stretch { step, from, to } = stretch;
        let Step::Run(run) = &program.steps[step] else {
            return Ok(None);
        };
        if from > to {
            return Ok(None);
        }
        let found = run.expects.first(text, from, to);
        let passed = found.unwrap_or(to);
        self.pay((passed - from) / SEARCHED)?;
        if outermost
            && run.max == u32::MAX
            && let Some(memory) = &mut self.memory
        {
            if memory.first(step, from, passed).is_some() {
                return Ok(None);
            }
            memory.add(step, from, passed);
        }
        let Some(at) = found else {
            return Ok(None);
        };
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

    /// Goes on behind a greedy run, at the last place of the stretch that can lead on.
    fn shorter(
        &mut self,
        program: &Program,
        text: &str,
        stretch: Stretch,
    ) -> Result<Option<(usize, usize)>, OutOfSteps> {
        let Stretch { step, from, to } = stretch;
        let Step::Run(run) = &program.steps[step] else {
            return Ok(None);
        };
        let Some(at) = run.expects.last(text.as_bytes(), from, to) else {
            self.pay(to.saturating_sub(from) / SEARCHED)?;
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

fn budget(remembers: usize, length: usize) -> usize {
    STEPS[remembers].saturating_add(STEPS_PER_BYTE[remembers].saturating_mul(length))
}

/// Returns true if there is room to remember the steps that failed.
fn remembers(program: &Program, text: &str) -> bool {
    program.steps.len().saturating_mul(text.len() / 8) <= MEMORY
}

/// The place so many characters before `at`.
fn before(text: &str, at: usize, chars: usize) -> Option<usize> {
    match chars.checked_sub(1) {
        None => Some(at),
        Some(last) => text[..at]
            .char_indices()
            .rev()
            .nth(last)
            .map(|(place, _)| place),
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

/// Behind all characters of the set that come at `at`, but before where the loop ends for another reason.
fn reach_all(set: &Set, text: &str, at: usize, ends: impl Fn(usize) -> bool) -> usize {
    let mut at = at;
    while let Some(next) = one(set, text, at).filter(|next| !ends(*next)) {
        at = next;
    }
    at
}
