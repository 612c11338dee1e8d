//! Running a program.
//!
//! A run keeps no call stack of its own: it stands still wherever text is missing and goes on from there when the text
//! has come, so that nothing is tried again because of how the text was cut.
//!
//! Backtracking alone takes exponential time on some patterns. Where no group is asked for, an instruction that failed at a position fails
//! there whatever led to it; a loop remembers where it did (`memory.rs`, `compile.rs`), and the work is bounded by the program times the text.
//! Where what matches depends on groups this does not hold, and what bounds the work is the number of steps, which may grow
//! with the text that was read and no faster (`limits.rs`): beyond it a search ends in an error.

use super::compile::{Instruction, Program};
use super::memory::Memory;
use crate::pattern::limits;
use crate::pattern::syntax::class;
use crate::pattern::text::{NotArrived, Window};

/// The outcome of trying a match at one start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// It matches up to here.
    Match(usize),
    NoMatch,
    /// Text that has not arrived decides; `resume` goes on when it has.
    NotArrived,
    /// More than this number of steps were taken.
    OutOfSteps(u64),
}

/// A number for a position in a slot. Taken together over all slots, they tell one state of the groups from another.
fn mixed(slot: usize, at: usize) -> usize {
    let number = (at as u64).wrapping_add((slot as u64) << 48);
    let number = (number ^ (number >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((number ^ (number >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16) as usize
}

/// A position that is not stored.
const UNSET: usize = usize::MAX;

/// An alternative to go on with when the current way fails.
#[derive(Debug, Clone, Copy)]
enum Choice {
    /// Go on at the instruction, from the position.
    Resume(Position),
    /// Go on at the instruction from the last position, then from the character before it, down to the first.
    Run {
        instruction: usize,
        first: usize,
        last: usize,
    },
    /// Undo a stored position, and go on failing.
    Restore { slot: usize, old: usize },
}

/// An instruction and the position in the text where it is to be carried out.
#[derive(Debug, Clone, Copy)]
struct Position {
    instruction: usize,
    at: usize,
}

/// A program within the program that is being run.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// How many choices there were before it.
    base: usize,
    /// Where to go on when it matches and when it does not; `None`: to fail.
    matched: Option<Position>,
    failed: Option<Position>,
    kind: FrameKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrameKind {
    /// Going on from where it ended, whatever `matched` says.
    Atomic,
    Look {
        negative: bool,
        memories: (usize, usize),
    },
}

/// The state of a search: of the try under way, and of what all tries took together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Machine {
    slots: Vec<usize>,
    choices: Vec<Choice>,
    frames: Vec<Frame>,
    next: Option<Position>,
    memories: Vec<Memory>,
    steps: u64,
    /// The steps that are known to be allowed.
    granted: u64,
    /// How far the text has been read.
    furthest: usize,
    /// Where the search began.
    from: usize,
}

impl Machine {
    pub(crate) fn new(from: usize) -> Self {
        Self {
            from,
            furthest: from,
            granted: limits::STEPS,
            ..Self::default()
        }
    }

    /// How many steps were taken so far, over all tries.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Begins to try a match at `start`; `resume` carries it out.
    pub(crate) fn begin(&mut self, program: &Program, start: usize) {
        self.slots.clear();
        self.slots.resize(program.slots, UNSET);
        self.slots[program.groups_as_one] = 0;
        self.choices.clear();
        self.frames.clear();
        self.memories.resize_with(program.memories, Memory::default);
        self.memories
            .iter_mut()
            .for_each(|memory| memory.forget_before(start));
        self.next = Some(Position {
            instruction: 0,
            at: start,
        });
    }

    /// The span of the group in the last try, if that was a match.
    pub(crate) fn group(&self, number: usize) -> Option<std::ops::Range<usize>> {
        let (start, end) = (self.slots[2 * number], self.slots[2 * number + 1]);
        (start != UNSET && end != UNSET).then_some(start..end)
    }

    /// Goes on with the try under way. `no_end_at` is a position at which the match must not end.
    pub(crate) fn resume(
        &mut self,
        program: &Program,
        window: &Window<'_>,
        no_end_at: Option<usize>,
    ) -> Attempt {
        loop {
            let base = self.frames.last().map_or(0, |frame| frame.base);
            let Some(place) = self.next.take().or_else(|| self.backtrack(window, base)) else {
                match self.frames.pop() {
                    None => return Attempt::NoMatch,
                    Some(frame) => self.next = frame.failed,
                }
                continue;
            };
            if self.steps >= self.granted {
                let read = (self.furthest - self.from) as u64;
                self.granted = limits::STEPS + limits::STEPS_PER_BYTE.saturating_mul(read);
                if self.steps >= self.granted {
                    return Attempt::OutOfSteps(self.granted);
                }
            }
            if let Instruction::Done = program.instructions[place.instruction] {
                match self.frames.pop() {
                    Some(frame) => self.leave(window, frame, place.at),
                    None if no_end_at == Some(place.at) => {}
                    None => return Attempt::Match(place.at),
                }
            } else {
                match self.step(program, window, place) {
                    Ok(next) => self.next = next,
                    Err(NotArrived) => {
                        self.next = Some(place);
                        return Attempt::NotArrived;
                    }
                }
            }
            self.steps += 1;
        }
    }

    /// Carries out one instruction; `None` when it fails.
    fn step(
        &mut self,
        program: &Program,
        window: &Window<'_>,
        place: Position,
    ) -> Result<Option<Position>, NotArrived> {
        let Position { instruction, at } = place;
        let go = |instruction, at| Some(Position { instruction, at });
        let next = instruction + 1;
        Ok(match &program.instructions[instruction] {
            Instruction::Char { value, back } => self
                .read(window, at, *back, |c| c == *value)?
                .and_then(|at| go(next, at)),
            Instruction::Class { set, back } => {
                let set = &program.sets[*set];
                self.read(window, at, *back, |c| set.contains(c))?
                    .and_then(|at| go(next, at))
            }
            Instruction::Assert(assert) => {
                if window.holds(*assert, at)? {
                    go(next, at)
                } else {
                    None
                }
            }
            Instruction::Jump(target) => go(*target, at),
            Instruction::Split(first, second) => {
                self.choices.push(Choice::Resume(Position {
                    instruction: *second,
                    at,
                }));
                go(*first, at)
            }
            Instruction::SplitRun(first, second) => {
                self.choose_in_run(window, *second, at);
                go(*first, at)
            }
            Instruction::Once { memory } => {
                if self.memories[*memory].insert(at) {
                    go(next, at)
                } else {
                    None
                }
            }
            Instruction::Save(slot) => {
                let old = self.slots[*slot];
                if old != at {
                    self.store(*slot, at);
                    let changed =
                        self.slots[program.groups_as_one] ^ mixed(*slot, old) ^ mixed(*slot, at);
                    self.store(program.groups_as_one, changed);
                }
                go(next, at)
            }
            Instruction::EnterLoop(slot) => {
                self.store(*slot, at);
                self.store(slot + 1, self.slots[program.groups_as_one]);
                go(next, at)
            }
            Instruction::LeaveIfIdle { slot, exit } => {
                let idle = self.slots[*slot] == at
                    && self.slots[slot + 1] == self.slots[program.groups_as_one];
                go(if idle { *exit } else { next }, at)
            }
            Instruction::Backreference {
                group,
                ignore_case,
                back,
            } => self
                .backreference(window, *group, *ignore_case, *back, at)?
                .and_then(|at| go(next, at)),
            Instruction::Look {
                negative,
                after,
                memories,
            } => {
                self.enter_look(*negative, *memories, go(*after, at), None);
                go(next, at)
            }
            Instruction::IfLook {
                negative,
                yes,
                no,
                memories,
            } => {
                self.enter_look(*negative, *memories, go(*yes, at), go(*no, at));
                go(next, at)
            }
            Instruction::Atomic { after } => {
                self.enter(FrameKind::Atomic, go(*after, at), None);
                go(next, at)
            }
            Instruction::IfGroup { group, otherwise } => {
                let matched = self.group(*group).is_some();
                go(if matched { next } else { *otherwise }, at)
            }
            Instruction::Done => None,
        })
    }

    /// Stores a number so that it is undone by going back.
    fn store(&mut self, slot: usize, value: usize) {
        let old = std::mem::replace(&mut self.slots[slot], value);
        self.choices.push(Choice::Restore { slot, old });
    }

    fn enter_look(
        &mut self,
        negative: bool,
        memories: (usize, usize),
        holds: Option<Position>,
        fails: Option<Position>,
    ) {
        let (matched, failed) = if negative {
            (fails, holds)
        } else {
            (holds, fails)
        };
        self.enter(FrameKind::Look { negative, memories }, matched, failed);
    }

    fn enter(&mut self, kind: FrameKind, matched: Option<Position>, failed: Option<Position>) {
        self.frames.push(Frame {
            base: self.choices.len(),
            matched,
            failed,
            kind,
        });
    }

    /// Goes on after a frame that matched up to `at`. Its choices are given up; the means to undo what was stored stay.
    fn leave(&mut self, window: &Window<'_>, frame: Frame, at: usize) {
        self.next = frame.matched;
        match frame.kind {
            FrameKind::Look {
                negative,
                memories: (first, end),
            } => {
                // The places that are remembered as tried in vain are forgotten: from some of them the look has matched.
                self.memories[first..end].iter_mut().for_each(Memory::clear);
                if negative {
                    // Groups that a negative look has set are forgotten.
                    while self.backtrack(window, frame.base).is_some() {}
                } else {
                    self.commit(frame.base);
                }
            }
            FrameKind::Atomic => {
                self.commit(frame.base);
                self.next = frame.matched.map(|place| Position { at, ..place });
            }
        }
    }

    /// Adds a choice, to the one on top if that ends at the character before.
    fn choose_in_run(&mut self, window: &Window<'_>, instruction: usize, at: usize) {
        let length = window.before(at).map_or(0, char::len_utf8);
        match self.choices.last_mut() {
            Some(Choice::Run {
                instruction: same,
                last,
                ..
            }) if *same == instruction && *last + length == at => {
                *last = at;
            }
            _ => self.choices.push(Choice::Run {
                instruction,
                first: at,
                last: at,
            }),
        }
    }

    /// Takes the latest choice back; `None` when none is left above `base`.
    fn backtrack(&mut self, window: &Window<'_>, base: usize) -> Option<Position> {
        while self.choices.len() > base {
            match self.choices.pop()? {
                Choice::Resume(place) => return Some(place),
                Choice::Restore { slot, old } => self.slots[slot] = old,
                Choice::Run {
                    instruction,
                    first,
                    last,
                } => {
                    if first < last {
                        let length = window.before(last).map_or(0, char::len_utf8);
                        let last = last - length;
                        self.choices.push(Choice::Run {
                            instruction,
                            first,
                            last,
                        });
                    }
                    return Some(Position {
                        instruction,
                        at: last,
                    });
                }
            }
        }
        None
    }

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

    fn read(
        &mut self,
        window: &Window<'_>,
        at: usize,
        back: bool,
        wanted: impl Fn(char) -> bool,
    ) -> Result<Option<usize>, NotArrived> {
        if back {
            let before = window.before(at).filter(|c| wanted(*c));
            return Ok(before.map(|c| at - c.len_utf8()));
        }
        self.furthest = self.furthest.max(at);
        Ok(window
            .after(at)?
            .filter(|c| wanted(*c))
            .map(|c| at + c.len_utf8()))
    }

    fn backreference(
        &mut self,
        window: &Window<'_>,
        group: usize,
        ignore_case: bool,
        back: bool,
        at: usize,
    ) -> Result<Option<usize>, NotArrived> {
        let Some(range) = self.group(group) else {
            return Ok(None);
        };
        let matched = window.slice(range);
        let same = |a: char, b: char| a == b || (ignore_case && class::same_but_for_case(a, b));
        let mut position = at;
        let mut chars = matched.chars();
        while let Some(wanted) = if back {
            chars.next_back()
        } else {
            chars.next()
        } {
            match self.read(window, position, back, |c| same(wanted, c))? {
                Some(next) => position = next,
                None => break,
            }
            // Comparing is work like any other; a whole comparison is carried out again when text was missing.
            if chars.as_str().is_empty() {
                self.steps += matched.len() as u64;
                return Ok(Some(position));
            }
        }
        Ok(matched.is_empty().then_some(at))
    }
}

#[cfg(test)]
mod tests {
    use super::{Attempt, Machine, Window};
    use crate::pattern::backtrack::Program;
    use crate::pattern::syntax::parse;

    fn program(source: &str) -> Program {
        Program::new(&parse(source).expect("a pattern")).expect("a program")
    }

    #[test]
    fn it_goes_on_where_text_was_missing() {
        let program = program("(?=(?P<x>a+))[ab]+(?<!c)c");
        let mut machine = Machine::new(0);
        machine.begin(&program, 0);
        for text in ["", "a", "aa", "aab"] {
            let window = Window {
                text,
                start: 0,
                complete: false,
            };
            assert_eq!(machine.resume(&program, &window, None), Attempt::NotArrived);
        }
        let window = Window {
            text: "aabc",
            start: 0,
            complete: false,
        };
        assert_eq!(machine.resume(&program, &window, None), Attempt::Match(4));
        assert_eq!(machine.group(1), Some(0..2));
    }

    #[test]
    fn a_greedy_loop_over_characters_keeps_one_choice() {
        let program = program("(?P<x>[^<]*)(?=<)x");
        let mut machine = Machine::new(0);
        let text = "\u{e9}".repeat(1000);
        machine.begin(&program, 0);
        let window = Window {
            text: &text,
            start: 0,
            complete: false,
        };
        assert_eq!(machine.resume(&program, &window, None), Attempt::NotArrived);
        assert!(machine.choices.len() < 10, "{}", machine.choices.len());
        let window = Window {
            complete: true,
            ..window
        };
        assert_eq!(machine.resume(&program, &window, None), Attempt::NoMatch);
    }

    #[test]
    fn steps_are_counted_over_all_tries() {
        let program = program(r"(a*)*\1b");
        let text = "a".repeat(60);
        let window = Window {
            text: &text,
            start: 0,
            complete: true,
        };
        let mut machine = Machine::new(0);
        machine.begin(&program, 0);
        assert!(matches!(
            machine.resume(&program, &window, None),
            Attempt::OutOfSteps(_)
        ));
    }
}
