//! The machine that reads text with a grammar: an explicit stack, so that depth is memory and not the thread's stack, and so that
//! reading can stop at the end of the text that has arrived and go on when there is more.
//!
//! A *frame* is an expression that is under way; the *marks* are the places to which reading may still go back: of a choice with
//! alternatives left, of a repetition that may end where it is, of a look ahead. They are a stack, too, so that the first of them is
//! the oldest place that can be read again; what stands before is let go.
//!
//! A parse of a text takes the same steps however the text is cut: it stops only where an expression wants a byte that has not
//! arrived, and goes on in the middle of that expression. So the work over all chunks is that over the whole text. It is linear in the
//! text as long as the grammar does not go back; where it does, [`Limits`] bound it. No results are remembered ("packrat"): that
//! would take memory for every place and expression, and what a model writes is made of markers that decide at once.

use super::failure::{Expectation, Furthest};
use super::leaf::{self, Input, Read, Scan};
use super::limits::{LimitError, Limits};
use super::text::Text;
use super::tree::Entry;
use crate::grammar::peg::arena::{ExprId, Expression, Grammar, RuleId};

/// The next step of the machine.
#[derive(Debug, Clone, Copy)]
pub(super) enum Next {
    /// Try an expression where it stands.
    Enter(ExprId),
    /// Read on with an expression that reads text.
    Read(ExprId),
    /// Tell the innermost frame that its part matched, or did not.
    Leave(bool),
    /// Nothing: the root matched, or did not.
    Done(bool),
}

/// An expression that is under way.
#[derive(Debug, Clone, Copy)]
struct Frame {
    id: ExprId,
    /// Which part of a sequence, which alternative of a choice, how many of a repetition.
    count: u32,
    /// Where to go back to.
    start: usize,
    /// How long the list of nodes was there.
    nodes: usize,
    /// True if there is a mark for it.
    marked: bool,
    /// True if a cut has decided for it.
    decided: bool,
}

/// A place to which reading may go back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) at: usize,
    /// How long the list of nodes was there; those before it stay.
    pub(super) nodes: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) next: Next,
    pub(super) pos: usize,
    frames: Vec<Frame>,
    marks: Vec<Mark>,
    rules: Vec<RuleId>,
    pub(super) entries: Vec<Entry>,
    /// How many nodes are open.
    open: u32,
    /// Where each atomic expression that is under way began.
    atomics: Vec<Mark>,
    /// How many negations are under way; what fails in one is no mistake.
    negations: usize,
    scan: Scan,
    pub(super) furthest: Furthest,
    /// The furthest place that was read, with which the number of steps that are allowed grows.
    reached: usize,
    steps: u64,
    limits: Limits,
    with_rules: bool,
}

impl Machine {
    pub(super) fn new(grammar: &Grammar, limits: Limits, with_rules: bool) -> Self {
        Self {
            next: Next::Enter(grammar.root()),
            pos: 0,
            frames: Vec::new(),
            marks: Vec::new(),
            rules: Vec::new(),
            entries: Vec::new(),
            open: 0,
            atomics: Vec::new(),
            negations: 0,
            scan: Scan::default(),
            furthest: Furthest::default(),
            reached: 0,
            steps: 0,
            limits,
            with_rules,
        }
    }

    /// How many steps were taken: expressions that were tried, and bytes that they read.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// Reads until the text that has arrived does not suffice, or all is done.
    pub(super) fn run(&mut self, grammar: &Grammar, input: Input<'_>) -> Result<(), LimitError> {
        loop {
            match self.next {
                Next::Enter(id) => {
                    self.count()?;
                    self.enter(grammar, id)?;
                }
                Next::Read(id) => {
                    let expression = grammar.get(id);
                    let delimiters = grammar.searches.get(id.index());
                    match leaf::read(expression, delimiters, input, &mut self.scan) {
                        Read::Wait => return Ok(()),
                        Read::Match(end) => {
                            self.read_to(end);
                            self.pos = end;
                            self.next = Next::Leave(true);
                        }
                        Read::Fail(at) => {
                            self.read_to(at);
                            self.expected(at, id, false);
                            self.next = Next::Leave(false);
                        }
                    }
                }
                Next::Leave(matched) => self.leave(grammar, matched),
                Next::Done(_) => return Ok(()),
            }
        }
    }

    fn count(&mut self) -> Result<(), LimitError> {
        self.steps += 1;
        let more = self
            .limits
            .steps_per_byte
            .saturating_mul(self.reached as u64);
        let limit = self.limits.steps.saturating_add(more);
        if self.steps > limit {
            return Err(LimitError::Steps {
                limit,
                at: self.pos,
            });
        }
        Ok(())
    }

    /// Counts the bytes that an expression has read.
    fn read_to(&mut self, end: usize) {
        self.steps += (end - self.scan.start) as u64;
        self.reached = self.reached.max(end);
    }

    fn expected(&mut self, at: usize, expression: ExprId, negated: bool) {
        if self.negations == 0 {
            let rule = self.rules.last().copied();
            let expectation = Expectation {
                expression,
                negated,
                rule,
            };
            self.furthest.note(at, expectation);
        }
    }

    fn push(&mut self, id: ExprId, marked: bool) -> Result<(), LimitError> {
        if self.frames.len() >= self.limits.depth {
            return Err(LimitError::Depth {
                limit: self.limits.depth,
                at: self.pos,
            });
        }
        let (start, nodes) = (self.pos, self.entries.len());
        self.frames.push(Frame {
            id,
            count: 0,
            start,
            nodes,
            marked,
            decided: false,
        });
        if marked {
            self.marks.push(Mark { at: start, nodes });
        }
        Ok(())
    }

    fn open_node(&mut self, of: ExprId) -> Result<(), LimitError> {
        if self.entries.len() >= self.limits.nodes {
            return Err(LimitError::Nodes {
                limit: self.limits.nodes,
                at: self.pos,
            });
        }
        self.entries.push(Entry::open(of, self.open, self.pos));
        self.open += 1;
        Ok(())
    }

    fn enter(&mut self, grammar: &Grammar, id: ExprId) -> Result<(), LimitError> {
        self.next = match grammar.get(id) {
            Expression::Eps => Next::Leave(true),
            Expression::Cut => {
                self.cut(grammar);
                Next::Leave(true)
            }
            Expression::Sequence(parts) => match parts.first() {
                None => Next::Leave(true),
                Some(first) => {
                    self.push(id, false)?;
                    Next::Enter(*first)
                }
            },
            Expression::Choice(parts) => match parts.first() {
                None => Next::Leave(false),
                Some(first) => {
                    self.push(id, parts.len() > 1)?;
                    Next::Enter(*first)
                }
            },
            Expression::Repeat { max: Some(0), .. } => Next::Leave(true),
            Expression::Repeat { of, min, .. } => {
                self.push(id, *min == 0)?;
                Next::Enter(*of)
            }
            Expression::Peek(of) => {
                self.push(id, true)?;
                Next::Enter(*of)
            }
            Expression::Negate(of) => {
                self.push(id, true)?;
                self.negations += 1;
                Next::Enter(*of)
            }
            Expression::Atomic(of) => {
                self.push(id, false)?;
                let (at, nodes) = (self.pos, self.entries.len());
                self.atomics.push(Mark { at, nodes });
                Next::Enter(*of)
            }
            Expression::Tag { of, .. } => {
                self.push(id, false)?;
                self.open_node(id)?;
                Next::Enter(*of)
            }
            Expression::Schema { of, .. } => Next::Enter(*of),
            Expression::Ref(rule) => {
                self.push(id, false)?;
                self.rules.push(*rule);
                if self.with_rules {
                    self.open_node(id)?;
                }
                Next::Enter(grammar.rule(*rule).of)
            }
            _ => {
                self.scan = Scan::at(self.pos);
                Next::Read(id)
            }
        };
        Ok(())
    }

    /// Goes back to where a frame began.
    fn back(&mut self, frame: Frame) {
        self.pos = frame.start;
        self.entries.truncate(frame.nodes);
    }

    /// Takes the innermost frame off, with its mark.
    fn pop(&mut self, frame: Frame) {
        self.frames.pop();
        if frame.marked {
            self.marks.pop();
        }
    }

    fn leave(&mut self, grammar: &Grammar, matched: bool) {
        let Some(&frame) = self.frames.last() else {
            self.next = Next::Done(matched);
            return;
        };
        // Nothing is left to go back to: what was read stays to be seen.
        if !matched && self.marks.is_empty() {
            self.next = Next::Done(false);
            return;
        }
        let top = self.frames.len() - 1;
        self.next = match grammar.get(frame.id) {
            Expression::Sequence(parts) => {
                let count = frame.count as usize + 1;
                match parts.get(count) {
                    Some(next) if matched => {
                        self.frames[top].count += 1;
                        Next::Enter(*next)
                    }
                    _ => {
                        self.pop(frame);
                        Next::Leave(matched)
                    }
                }
            }
            Expression::Choice(parts) => {
                let count = frame.count as usize + 1;
                match parts.get(count) {
                    Some(next) if !matched && !frame.decided => {
                        self.back(frame);
                        self.frames[top].count += 1;
                        // To the last alternative there is no other.
                        if count + 1 == parts.len() {
                            self.frames[top].marked = false;
                            self.marks.pop();
                        }
                        Next::Enter(*next)
                    }
                    _ => {
                        self.pop(frame);
                        Next::Leave(matched)
                    }
                }
            }
            Expression::Repeat { of, min, max } if matched => {
                let count = frame.count.saturating_add(1);
                // Only what may occur once at most can match nothing.
                if self.pos == frame.start || max.is_some_and(|max| count >= max) {
                    self.pop(frame);
                    Next::Leave(true)
                } else {
                    if frame.marked {
                        self.marks.pop();
                    }
                    let (start, nodes) = (self.pos, self.entries.len());
                    let marked = count >= *min;
                    if marked {
                        self.marks.push(Mark { at: start, nodes });
                    }
                    self.frames[top] = Frame {
                        count,
                        start,
                        nodes,
                        marked,
                        decided: false,
                        ..frame
                    };
                    Next::Enter(*of)
                }
            }
            Expression::Repeat { min, .. } => {
                self.pop(frame);
                let enough = frame.count >= *min && !frame.decided;
                if enough {
                    self.back(frame);
                }
                Next::Leave(enough)
            }
            Expression::Peek(_) => {
                self.pop(frame);
                self.back(frame);
                Next::Leave(matched)
            }
            Expression::Negate(of) => {
                self.pop(frame);
                self.back(frame);
                self.negations -= 1;
                if matched {
                    self.expected(frame.start, *of, true);
                    self.scan = Scan::at(frame.start);
                }
                Next::Leave(!matched)
            }
            Expression::Tag { .. } => {
                self.close_node(frame, matched);
                self.pop(frame);
                Next::Leave(matched)
            }
            Expression::Ref(_) => {
                if self.with_rules {
                    self.close_node(frame, matched);
                }
                self.rules.pop();
                self.pop(frame);
                Next::Leave(matched)
            }
            Expression::Atomic(_) => {
                self.atomics.pop();
                self.pop(frame);
                Next::Leave(matched)
            }
            _ => {
                self.pop(frame);
                Next::Leave(matched)
            }
        };
    }

    fn close_node(&mut self, frame: Frame, matched: bool) {
        self.open -= 1;
        if matched {
            self.entries[frame.nodes].close(self.pos);
        } else {
            self.entries.truncate(frame.nodes);
        }
    }

    /// Takes away the mark of the innermost choice or repetition. Between the two no other frame has one.
    fn cut(&mut self, grammar: &Grammar) {
        for frame in self.frames.iter_mut().rev() {
            match grammar.get(frame.id) {
                Expression::Choice(_) | Expression::Repeat { .. } => {
                    frame.decided = true;
                    if std::mem::take(&mut frame.marked) {
                        self.marks.pop();
                    }
                    return;
                }
                Expression::Peek(_) | Expression::Negate(_) => return,
                _ => {}
            }
        }
    }

    /// The oldest place to which reading may go back.
    pub(super) fn oldest(&self) -> Option<Mark> {
        self.marks.first().copied()
    }

    /// The place before which the text is not read again. Three bytes more are left, since a character may be cut there.
    pub(super) fn behind(&self, grammar: &Grammar) -> usize {
        let here = self.safe(grammar);
        let behind = self.oldest().map_or(here, |mark| mark.at.min(here));
        behind.saturating_sub(3)
    }

    fn safe(&self, grammar: &Grammar) -> usize {
        match self.next {
            Next::Read(id) => self.scan.safe(grammar.searches.get(id.index())),
            // An expression that did not match may have read some of the text that it wants.
            Next::Done(false) => self.pos.max(self.scan.at),
            _ => self.pos,
        }
    }

    /// How many nodes, and how much of the text, will not be taken back.
    pub(super) fn settled(&self, grammar: &Grammar, text: &Text) -> (usize, usize) {
        let reach = self.reach(grammar, text);
        let all = (self.entries.len(), reach);
        if matches!(self.next, Next::Done(true)) {
            return all;
        }
        let bounds = [self.marks.first(), self.atomics.first()];
        bounds
            .into_iter()
            .flatten()
            .fold(all, |(nodes, at), bound| {
                (nodes.min(bound.nodes), at.min(bound.at))
            })
    }

    /// How many nodes are shown while an expression waits: those of an atomic expression only when it is whole.
    pub(super) fn shown(&self) -> usize {
        match (self.next, self.atomics.first()) {
            (Next::Done(true), _) | (_, None) => self.entries.len(),
            (_, Some(atomic)) => atomic.nodes,
        }
    }

    /// The place before which everything belongs to the nodes that are being read, should no alternative be taken back.
    pub(super) fn reach(&self, grammar: &Grammar, text: &Text) -> usize {
        let reach = self.safe(grammar);
        let start = reach.saturating_sub(3);
        let tail = text.between(start, reach);
        reach - (tail.len() - super::text::whole(tail))
    }
}
