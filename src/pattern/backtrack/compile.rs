//! From the tree to a program, as Thompson's construction makes one, for a machine that backtracks.
//!
//! Each node becomes instructions one behind the other, and a choice becomes a split whose first target is preferred. What looks behind is
//! compiled to read backwards. Bounded repetitions are written out, so that a program's length is in proportion to the pattern with its
//! counts multiplied, which has a limit. A loop whose body can match nothing stores where an iteration began, and is left when that did
//! nothing.
//!
//! At the head of an unbounded loop it often does not matter how a position was reached: no group is asked for later, and no iteration may
//! do nothing. Such a loop begins with `Once`, which remembers the positions at which it failed and fails there at once. That is what makes
//! the search linear where no group is asked for.

use std::collections::HashMap;

use regex_syntax::hir::ClassUnicode;

use super::analyse::{first, lookbehind, mark_referenced, saves};
use crate::pattern::bytes::ByteSet;
use crate::pattern::limits;
use crate::pattern::syntax::Parsed;
use crate::pattern::syntax::ast::{Assert, Conditional, Look, Node, Repeat, RepeatKind, Test};
use crate::pattern::text::CharSet;

/// One step of a program. Where it is `back`, it reads the character before the position, not the one behind it.
#[derive(Debug, Clone)]
pub(super) enum Instruction {
    Char {
        value: char,
        back: bool,
    },
    Class {
        set: usize,
        back: bool,
    },
    Assert(Assert),
    Jump(usize),
    /// Goes on at the first, and at the second should that fail.
    Split(usize, usize),
    /// A split at the head of a greedy loop over single characters: choices at neighbouring positions become one.
    SplitRun(usize, usize),
    /// Fails when it was carried out at this position before and came to nothing; `memory` is its own.
    Once {
        memory: usize,
    },
    /// Stores the position as the start or the end of a group.
    Save(usize),
    /// Stores the position in `slot`, and behind it what the groups are.
    EnterLoop(usize),
    /// Leaves a loop whose body did nothing: goes on at `exit` when both are what is stored.
    LeaveIfIdle {
        slot: usize,
        exit: usize,
    },
    Backreference {
        group: usize,
        ignore_case: bool,
        back: bool,
    },
    /// Runs what follows up to `Done` as a program of its own, and goes on behind it, at `after`, from the old position.
    /// `memories` are those of what it runs.
    Look {
        negative: bool,
        after: usize,
        memories: (usize, usize),
    },
    /// An atomic group: as a look-ahead, but the search goes on from the new position.
    Atomic {
        after: usize,
    },
    /// Goes on at `otherwise` when the group has not matched.
    IfGroup {
        group: usize,
        otherwise: usize,
    },
    /// A look-around between here and `yes`.
    IfLook {
        negative: bool,
        yes: usize,
        no: usize,
        memories: (usize, usize),
    },
    Done,
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Program {
    pub(super) instructions: Vec<Instruction>,
    pub(super) sets: Vec<CharSet>,
    /// How many numbers a run stores: two positions for each group, a number that stands for all of these, and two more
    /// for each loop whose body can match nothing.
    pub(super) slots: usize,
    /// Where the number that stands for all groups is stored.
    pub(super) groups_as_one: usize,
    /// How many memories there are.
    pub(super) memories: usize,
    /// The characters of which one comes wherever a match begins; `None` where that is not known.
    first: Option<CharSet>,
    /// The bytes that these begin with.
    first_bytes: Option<ByteSet>,
    /// The only one of them.
    first_char: Option<char>,
    /// How many bytes before a match's start it may read.
    lookbehind: usize,
}

impl Program {
    /// `None` when the program would be too long.
    pub(crate) fn new(parsed: &Parsed) -> Option<Self> {
        let mut needed = vec![false; parsed.groups + 1];
        parsed
            .names
            .iter()
            .for_each(|(_, number)| needed[*number] = true);
        mark_referenced(&parsed.node, &mut needed);
        let mut compiler = Compiler {
            remember: !saves(&parsed.node, &needed, false),
            needed,
            memories: 0,
            idle_loop: false,
            instructions: Vec::new(),
            sets: Vec::new(),
            known_sets: HashMap::new(),
            slots: 2 * (parsed.groups + 1) + 1,
            back: false,
            any_order: false,
        };
        compiler
            .node(&parsed.node)
            .and_then(|()| compiler.emit(Instruction::Done))
            .ok()?;
        let first = first(&parsed.node).ok();
        let chars = first.as_ref().map(CharSet::new);
        Some(Self {
            instructions: compiler.instructions,
            sets: compiler.sets,
            slots: compiler.slots,
            groups_as_one: 2 * (parsed.groups + 1),
            memories: compiler.memories,
            first_char: first.as_ref().and_then(|class| match class.ranges() {
                [range] if range.start() == range.end() => Some(range.start()),
                _ => None,
            }),
            first_bytes: chars.as_ref().map(CharSet::first_bytes),
            first: chars,
            lookbehind: lookbehind(&parsed.node),
        })
    }

    /// The distance to the next place in `text` where a match can begin; `None` when there is none up to its end.
    pub(crate) fn skip(&self, text: &str) -> Option<usize> {
        match (&self.first, self.first_char) {
            (None, _) => Some(0),
            (_, Some(only)) => text.find(only),
            (Some(first), None) => text.find(|c| first.contains(c)),
        }
    }

    /// The bytes of which one comes wherever a match begins; `None` where they are not known.
    pub(crate) fn first_bytes(&self) -> Option<ByteSet> {
        self.first_bytes
    }

    /// How many bytes before a match's start it may read.
    pub(crate) fn lookbehind(&self) -> usize {
        self.lookbehind
    }
}

struct TooLong;

struct Compiler {
    instructions: Vec<Instruction>,
    sets: Vec<CharSet>,
    known_sets: HashMap<*const ClassUnicode, usize>,
    slots: usize,
    /// True if what is compiled matches towards the start of the text.
    back: bool,
    /// True if only the existence of a match counts, not which one it is: then repetitions are better tried from the
    /// smallest number on, which asks for less of the text.
    any_order: bool,
    /// For each group, whether anything asks what it matched.
    needed: Vec<bool>,
    /// True if what happens at an instruction depends on the position alone, so that it need not be tried twice.
    remember: bool,
    memories: usize,
    /// True if a loop around may do nothing in an iteration: it asks whether a group has changed.
    idle_loop: bool,
}

impl Compiler {
    fn emit(&mut self, instruction: Instruction) -> Result<(), TooLong> {
        if self.instructions.len() >= limits::PROGRAM_LENGTH {
            return Err(TooLong);
        }
        self.instructions.push(instruction);
        Ok(())
    }

    fn here(&self) -> usize {
        self.instructions.len()
    }

    /// Emits an instruction whose target is not known yet, and returns its place.
    fn reserve(&mut self) -> Result<usize, TooLong> {
        self.emit(Instruction::Done)?;
        Ok(self.here() - 1)
    }

    /// The place of the class among the sets. A repeated node has one, however often it is written out.
    fn set(&mut self, class: &ClassUnicode) -> usize {
        *self
            .known_sets
            .entry(std::ptr::from_ref(class))
            .or_insert_with(|| {
                self.sets.push(CharSet::new(class));
                self.sets.len() - 1
            })
    }

    fn node(&mut self, node: &Node) -> Result<(), TooLong> {
        let back = self.back;
        match node {
            Node::Empty => Ok(()),
            Node::Char(value) => self.emit(Instruction::Char {
                value: *value,
                back,
            }),
            Node::Class(class) => {
                let set = self.set(class);
                self.emit(Instruction::Class { set, back })
            }
            Node::Assert(assert) => self.emit(Instruction::Assert(*assert)),
            Node::Concat(nodes) if back => nodes.iter().rev().try_for_each(|node| self.node(node)),
            Node::Concat(nodes) => nodes.iter().try_for_each(|node| self.node(node)),
            Node::Alternation(nodes) => self.alternation(nodes),
            Node::Repeat(repeat) => self.repeat(repeat),
            Node::Group(group, node) if !self.needed[*group] && !self.idle_loop => self.node(node),
            Node::Group(group, node) => {
                let (open, close) = (2 * group, 2 * group + 1);
                self.emit(Instruction::Save(if back { close } else { open }))?;
                self.node(node)?;
                self.emit(Instruction::Save(if back { open } else { close }))
            }
            Node::Look(look) => {
                let at = self.reserve()?;
                let memories = self.look_body(look)?;
                self.instructions[at] = Instruction::Look {
                    negative: look.negative,
                    after: self.here(),
                    memories,
                };
                Ok(())
            }
            Node::Atomic(node) => self.atomic(|compiler| compiler.node(node)),
            Node::Backreference { group, ignore_case } => self.emit(Instruction::Backreference {
                group: *group,
                ignore_case: *ignore_case,
                back,
            }),
            Node::Conditional(conditional) => self.conditional(conditional),
        }
    }

    /// Returns the memories of what was compiled.
    fn look_body(&mut self, look: &Look) -> Result<(usize, usize), TooLong> {
        let sets_groups = saves(&look.node, &self.needed, self.idle_loop);
        let back = std::mem::replace(&mut self.back, look.behind);
        let any_order = std::mem::replace(&mut self.any_order, look.negative || !sets_groups);
        let remember = std::mem::replace(&mut self.remember, !sets_groups);
        let first = self.memories;
        self.node(&look.node)?;
        self.back = back;
        self.any_order = any_order;
        self.remember = remember;
        self.emit(Instruction::Done)?;
        Ok((first, self.memories))
    }

    fn atomic(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<(), TooLong>,
    ) -> Result<(), TooLong> {
        let at = self.reserve()?;
        // Which alternative matches first matters here, and what stands behind the group may still make that alternative fail.
        let any_order = std::mem::replace(&mut self.any_order, false);
        let remember = std::mem::replace(&mut self.remember, false);
        body(self)?;
        self.any_order = any_order;
        self.remember = remember;
        self.emit(Instruction::Done)?;
        self.instructions[at] = Instruction::Atomic { after: self.here() };
        Ok(())
    }

    fn alternation(&mut self, nodes: &[Node]) -> Result<(), TooLong> {
        let mut jumps = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            if at + 1 == nodes.len() {
                self.node(node)?;
                break;
            }
            let split = self.reserve()?;
            self.node(node)?;
            jumps.push(self.reserve()?);
            self.instructions[split] = Instruction::Split(split + 1, self.here());
        }
        for jump in jumps {
            self.instructions[jump] = Instruction::Jump(self.here());
        }
        Ok(())
    }

    fn conditional(&mut self, conditional: &Conditional) -> Result<(), TooLong> {
        let at = self.reserve()?;
        let memories = match &conditional.test {
            Test::Look(look) => self.look_body(look)?,
            Test::Group(_) => (0, 0),
        };
        let yes = self.here();
        self.node(&conditional.yes)?;
        let jump = self.reserve()?;
        let no = self.here();
        self.node(&conditional.no)?;
        self.instructions[jump] = Instruction::Jump(self.here());
        self.instructions[at] = match &conditional.test {
            Test::Group(group) => Instruction::IfGroup {
                group: *group,
                otherwise: no,
            },
            Test::Look(look) => Instruction::IfLook {
                negative: look.negative,
                yes,
                no,
                memories,
            },
        };
        Ok(())
    }

    fn repeat(&mut self, repeat: &Repeat) -> Result<(), TooLong> {
        if repeat.kind == RepeatKind::Possessive {
            return self.atomic(|compiler| compiler.counted(repeat, false));
        }
        self.counted(repeat, self.any_order || repeat.kind == RepeatKind::Lazy)
    }

    /// Inside a loop whose iterations may do nothing, what happens depends on where the iteration began.
    fn enter_loop(&mut self, can_be_empty: bool) -> (bool, bool) {
        let outer = (self.remember, self.idle_loop);
        self.remember &= !can_be_empty;
        self.idle_loop |= can_be_empty;
        outer
    }

    fn leave_loop(&mut self, outer: (bool, bool)) {
        (self.remember, self.idle_loop) = outer;
    }

    /// `slot` is where the loop stores its state when its body can match nothing.
    fn unbounded(
        &mut self,
        repeat: &Repeat,
        lazy: bool,
        slot: Option<usize>,
    ) -> Result<(), TooLong> {
        let start = self.here();
        if self.remember {
            self.emit(Instruction::Once {
                memory: self.memories,
            })?;
            self.memories += 1;
        }
        let split = self.reserve()?;
        let outer = self.enter_loop(slot.is_some());
        if let Some(slot) = slot {
            self.emit(Instruction::EnterLoop(slot))?;
        }
        self.node(&repeat.node)?;
        let leave = self.here();
        if slot.is_some() {
            self.reserve()?;
        }
        self.leave_loop(outer);
        self.emit(Instruction::Jump(start))?;
        let exit = self.here();
        let single = matches!(repeat.node, Node::Char(_) | Node::Class(_));
        self.instructions[split] = match lazy {
            true => Instruction::Split(exit, split + 1),
            false if single && !self.back => Instruction::SplitRun(split + 1, exit),
            false => Instruction::Split(split + 1, exit),
        };
        if let Some(slot) = slot {
            self.instructions[leave] = Instruction::LeaveIfIdle { slot, exit };
        }
        Ok(())
    }

    fn counted(&mut self, repeat: &Repeat, lazy: bool) -> Result<(), TooLong> {
        for _ in 0..repeat.min {
            let before = self.here();
            self.node(&repeat.node)?;
            if self.here() == before {
                break;
            }
        }
        let split = |inside: usize, outside: usize| {
            if lazy {
                Instruction::Split(outside, inside)
            } else {
                Instruction::Split(inside, outside)
            }
        };
        let can_be_empty = repeat.node.min_chars() == 0;
        let slot = self.slots;
        if can_be_empty {
            self.slots += 2;
        }
        let Some(max) = repeat.max else {
            return self.unbounded(repeat, lazy, can_be_empty.then_some(slot));
        };
        let outer = self.enter_loop(can_be_empty);
        let mut splits = Vec::new();
        let mut leaves = Vec::new();
        for _ in repeat.min..max {
            splits.push(self.reserve()?);
            if can_be_empty {
                self.emit(Instruction::EnterLoop(slot))?;
            }
            self.node(&repeat.node)?;
            if can_be_empty {
                leaves.push(self.reserve()?);
            }
        }
        self.leave_loop(outer);
        let exit = self.here();
        for at in splits {
            self.instructions[at] = split(at + 1, exit);
        }
        for at in leaves {
            self.instructions[at] = Instruction::LeaveIfIdle { slot, exit };
        }
        Ok(())
    }
}
