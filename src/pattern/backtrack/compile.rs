//! From the tree to a program.

use std::collections::HashMap;

use regex_syntax::hir::ClassUnicode;

use crate::pattern::limits;
use crate::pattern::syntax::ast::{Assert, Conditional, Look, Node, Repeat, RepeatKind, Test};
use crate::pattern::syntax::{Parsed, class};
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
    /// The same at the head of a greedy loop over single characters: choices at neighbouring positions become one.
    SplitRun(usize, usize),
    /// Stores the position as the start or the end of a group.
    Save(usize),
    /// Stores the position in `slot`, and behind it the number of changes to groups so far.
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
    Look {
        negative: bool,
        after: usize,
    },
    /// The same, going on from the new position.
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
    },
    Done,
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Program {
    pub(super) instructions: Vec<Instruction>,
    pub(super) sets: Vec<CharSet>,
    /// How many numbers a run stores: two positions for each group, the number of changes to them, and two more numbers
    /// for each loop whose body can match nothing.
    pub(super) slots: usize,
    /// Where the number of changes is stored.
    pub(super) changes: usize,
    /// The characters that a match can begin with; `None` where it may be empty or begins with something unknown.
    first: Option<CharSet>,
    /// The only one of them.
    first_char: Option<char>,
    /// How many bytes before a match's start it may read.
    lookbehind: usize,
}

impl Program {
    /// `None` when the program would be too long.
    pub(crate) fn new(parsed: &Parsed) -> Option<Self> {
        let mut compiler = Compiler {
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
        Some(Self {
            instructions: compiler.instructions,
            sets: compiler.sets,
            slots: compiler.slots,
            changes: 2 * (parsed.groups + 1),
            first_char: first.as_ref().and_then(|class| match class.ranges() {
                [range] if range.start() == range.end() => Some(range.start()),
                _ => None,
            }),
            first: first.map(|class| CharSet::new(&class)),
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
    /// Whether what is compiled matches towards the start of the text.
    back: bool,
    /// Whether only the existence of a match counts, not which one it is: then repetitions are better tried from the
    /// smallest number on, which asks for less of the text.
    any_order: bool,
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
            Node::Group(group, node) => {
                let (open, close) = (2 * group, 2 * group + 1);
                self.emit(Instruction::Save(if back { close } else { open }))?;
                self.node(node)?;
                self.emit(Instruction::Save(if back { open } else { close }))
            }
            Node::Look(look) => {
                let at = self.reserve()?;
                self.look_body(look)?;
                self.instructions[at] = Instruction::Look {
                    negative: look.negative,
                    after: self.here(),
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

    fn look_body(&mut self, look: &Look) -> Result<(), TooLong> {
        let back = std::mem::replace(&mut self.back, look.behind);
        let any_order = std::mem::replace(
            &mut self.any_order,
            look.negative || !has_groups(&look.node),
        );
        self.node(&look.node)?;
        self.back = back;
        self.any_order = any_order;
        self.emit(Instruction::Done)
    }

    fn atomic(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<(), TooLong>,
    ) -> Result<(), TooLong> {
        let at = self.reserve()?;
        let any_order = std::mem::replace(&mut self.any_order, false);
        body(self)?;
        self.any_order = any_order;
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
        if let Test::Look(look) = &conditional.test {
            self.look_body(look)?;
        }
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
            let start = self.reserve()?;
            if can_be_empty {
                self.emit(Instruction::EnterLoop(slot))?;
            }
            self.node(&repeat.node)?;
            let leave = self.here();
            if can_be_empty {
                self.reserve()?;
            }
            self.emit(Instruction::Jump(start))?;
            let exit = self.here();
            let single = matches!(repeat.node, Node::Char(_) | Node::Class(_));
            self.instructions[start] = if single && !lazy && !self.back {
                Instruction::SplitRun(start + 1, exit)
            } else {
                split(start + 1, exit)
            };
            if can_be_empty {
                self.instructions[leave] = Instruction::LeaveIfIdle { slot, exit };
            }
            return Ok(());
        };
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

fn has_groups(node: &Node) -> bool {
    matches!(node, Node::Group(..)) || node.children().into_iter().any(has_groups)
}

/// The node may match nothing, or what it begins with is not known.
struct Unknown;

fn first(node: &Node) -> Result<ClassUnicode, Unknown> {
    match node {
        Node::Char(value) => Ok(class::single(*value)),
        Node::Class(class) => Ok(class.clone()),
        Node::Group(_, node) | Node::Atomic(node) => first(node),
        Node::Concat(nodes) => {
            // What matches nothing in front does not matter: it can only forbid more.
            let begins = nodes
                .iter()
                .find(|node| !matches!(node, Node::Assert(_) | Node::Look(_) | Node::Empty));
            begins.map_or(Err(Unknown), first)
        }
        Node::Alternation(nodes) => {
            let classes = nodes.iter().map(first).collect::<Result<Vec<_>, _>>()?;
            Ok(class::union(classes))
        }
        Node::Repeat(repeat) if repeat.min > 0 => first(&repeat.node),
        _ => Err(Unknown),
    }
}

/// How many bytes before its position the node may read.
fn lookbehind(node: &Node) -> usize {
    /// The greatest length of a character in UTF-8.
    const CHAR: usize = 4;
    let below = node
        .children()
        .into_iter()
        .map(lookbehind)
        .max()
        .unwrap_or(0);
    let of_look = |look: &Look| {
        if !look.behind {
            return below;
        }
        look.node.max_chars().map_or(usize::MAX, |chars| {
            chars.saturating_mul(CHAR).saturating_add(below)
        })
    };
    match node {
        Node::Assert(Assert::Start | Assert::End | Assert::EndOrFinalNewline | Assert::LineEnd) => {
            0
        }
        Node::Assert(_) => CHAR,
        Node::Look(look) => of_look(look),
        Node::Conditional(conditional) => match &conditional.test {
            Test::Look(look) => of_look(look).max(below),
            Test::Group(_) => below,
        },
        _ => below,
    }
}
