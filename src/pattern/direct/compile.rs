//! From the tree to a program.

use super::ahead::{expect, needs};
use super::expect::Expect;
use super::program::{Program, Run, Split, Step};
use super::set::Set;
use crate::pattern::syntax::Parsed;
use crate::pattern::syntax::ast::{Assert, Node, Repeat, RepeatKind};
use crate::pattern::syntax::class;

/// How many steps a program may have.
const MAX_STEPS: usize = 1000;

impl Program {
    /// `None` for what is not tried directly.
    pub(crate) fn new(parsed: &Parsed) -> Option<Self> {
        let mut compiler = Compiler {
            steps: Vec::new(),
            names: &parsed.names,
        };
        compiler.node(&parsed.node)?;
        compiler.emit(Step::Done)?;
        let mut steps = compiler.steps;
        let needs = needs(&steps);
        for at in 0..steps.len() {
            let found = match &steps[at] {
                Step::Split(split) => (expect(&steps, split.first), expect(&steps, split.second)),
                Step::Run(run) => (
                    expect(&steps, run.next),
                    match &run.guard {
                        Some((guard, _)) => expect(&steps, *guard),
                        None => Expect::anything(),
                    },
                ),
                _ => continue,
            };
            match &mut steps[at] {
                Step::Split(split) => (split.first_expects, split.second_expects) = found,
                Step::Run(run) => {
                    run.expects = found.0;
                    run.needs = needs.of[run.next];
                    if let Some((_, expects)) = &mut run.guard {
                        *expects = found.1;
                    }
                }
                _ => {}
            }
        }
        Some(Self {
            begins: expect(&steps, 0),
            anchored: begins_at_start(&parsed.node),
            groups: parsed.names.len(),
            needs: needs.of[0],
            needed: needs.literals,
            steps,
        })
    }
}

/// Returns true if the first thing that the node asks is that it stands at the start of the text.
fn begins_at_start(node: &Node) -> bool {
    match node {
        Node::Assert(Assert::Start) => true,
        Node::Concat(nodes) => nodes.first().is_some_and(begins_at_start),
        Node::Group(_, node) | Node::Atomic(node) => begins_at_start(node),
        Node::Alternation(nodes) => nodes.iter().all(begins_at_start),
        _ => false,
    }
}

struct Compiler<'p> {
    steps: Vec<Step>,
    /// The named groups with their numbers.
    names: &'p [(String, usize)],
}

impl Compiler<'_> {
    fn emit(&mut self, step: Step) -> Option<usize> {
        if self.steps.len() >= MAX_STEPS {
            return None;
        }
        self.steps.push(step);
        Some(self.steps.len() - 1)
    }

    fn here(&self) -> usize {
        self.steps.len()
    }

    /// Emits a step whose targets are not known yet, and returns its place.
    fn reserve(&mut self) -> Option<usize> {
        self.emit(Step::Done)
    }

    fn split(&mut self, at: usize, first: usize, second: usize) {
        self.steps[at] = Step::Split(Box::new(Split {
            first,
            second,
            first_expects: Expect::anything(),
            second_expects: Expect::anything(),
        }));
    }

    fn node(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Empty => {}
            Node::Char(value) => self.literal(&value.to_string())?,
            Node::Class(class) => {
                self.emit(Step::Set(Set::new(class)))?;
            }
            Node::Assert(assert) => {
                self.emit(Step::Assert(*assert))?;
            }
            Node::Concat(nodes) => self.concat(nodes)?,
            Node::Alternation(nodes) => self.alternation(nodes)?,
            Node::Repeat(repeat) => self.repeat(repeat)?,
            Node::Group(number, node) => {
                let Some(group) = self.names.iter().position(|(_, named)| named == number) else {
                    return self.node(node);
                };
                self.emit(Step::Save(2 * group))?;
                self.node(node)?;
                self.emit(Step::Save(2 * group + 1))?;
            }
            Node::Look(look) => {
                // A look-behind of one length ends at the place from which it looks, if it begins that far before it.
                let back = match look.behind {
                    true => look.node.max_chars()?,
                    false => 0,
                };
                if look.behind && look.node.min_chars() != back {
                    return None;
                }
                let at = self.reserve()?;
                self.node(&look.node)?;
                self.emit(Step::Done)?;
                self.steps[at] = Step::Look {
                    back,
                    negative: look.negative,
                    after: self.here(),
                };
            }
            Node::Atomic(node) => self.atomic(|compiler| compiler.node(node))?,
            Node::Backreference { .. } | Node::Conditional(_) => return None,
        }
        Some(())
    }

    fn literal(&mut self, text: &str) -> Option<()> {
        self.emit(Step::Literal(text.as_bytes().into()))?;
        Some(())
    }

    /// Characters that follow each other become one literal.
    fn concat(&mut self, nodes: &[Node]) -> Option<()> {
        let mut at = 0;
        while at < nodes.len() {
            let chars = nodes[at..].iter().map_while(|node| match node {
                Node::Char(value) => Some(*value),
                _ => None,
            });
            let text: String = chars.collect();
            if text.is_empty() {
                self.node(&nodes[at])?;
                at += 1;
            } else {
                at += text.chars().count();
                self.literal(&text)?;
            }
        }
        Some(())
    }

    fn atomic(&mut self, body: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        let at = self.reserve()?;
        body(self)?;
        self.emit(Step::Done)?;
        self.steps[at] = Step::Atomic { after: self.here() };
        Some(())
    }

    fn alternation(&mut self, nodes: &[Node]) -> Option<()> {
        let mut jumps = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            if at + 1 == nodes.len() {
                self.node(node)?;
                break;
            }
            let split = self.reserve()?;
            self.node(node)?;
            jumps.push(self.reserve()?);
            let here = self.here();
            self.split(split, split + 1, here);
        }
        for jump in jumps {
            self.steps[jump] = Step::Jump(self.here());
        }
        Some(())
    }

    fn repeat(&mut self, repeat: &Repeat) -> Option<()> {
        if let Some((guard, set)) = single(&repeat.node) {
            return self.run(repeat, guard, set);
        }
        if repeat.node.min_chars() == 0 && repeat.max.is_none_or(|max| max > 1) {
            return None;
        }
        match repeat.kind {
            RepeatKind::Possessive => self.atomic(|compiler| compiler.counted(repeat, false)),
            kind => self.counted(repeat, kind == RepeatKind::Lazy),
        }
    }

    fn run(&mut self, repeat: &Repeat, guard: Option<&Node>, set: Set) -> Option<()> {
        let at = self.reserve()?;
        if let Some(guard) = guard {
            self.node(guard)?;
            self.emit(Step::Done)?;
        }
        self.steps[at] = Step::Run(Box::new(Run {
            set,
            min: repeat.min,
            max: repeat.max.unwrap_or(u32::MAX),
            kind: repeat.kind,
            guard: guard.map(|_| (at + 1, Expect::anything())),
            next: self.here(),
            expects: Expect::anything(),
            needs: None,
        }));
        Some(())
    }

    fn counted(&mut self, repeat: &Repeat, lazy: bool) -> Option<()> {
        for _ in 0..repeat.min {
            self.node(&repeat.node)?;
        }
        let mut splits = Vec::new();
        match repeat.max {
            None => {
                let start = self.reserve()?;
                splits.push(start);
                self.node(&repeat.node)?;
                self.emit(Step::Jump(start))?;
            }
            Some(max) => {
                for _ in repeat.min..max {
                    splits.push(self.reserve()?);
                    self.node(&repeat.node)?;
                }
            }
        }
        let exit = self.here();
        for at in splits {
            if lazy {
                self.split(at, exit, at + 1);
            } else {
                self.split(at, at + 1, exit);
            }
        }
        Some(())
    }
}

/// A node that reads one character of a set, with what must not come there: `.`, `[^<]`, `(?!</a>).`. Groups in what must not come
/// are never set.
fn single(node: &Node) -> Option<(Option<&Node>, Set)> {
    match node {
        Node::Char(value) => Some((None, Set::new(&class::single(*value)))),
        Node::Class(class) => Some((None, Set::new(class))),
        Node::Concat(nodes) => match nodes.as_slice() {
            [Node::Look(look), only] if look.negative && !look.behind => match single(only)? {
                (None, set) => Some((Some(&look.node), set)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
