//! Where marks have to stand, and how they are written there so that nothing else of the render changes.
//!
//! Neighbouring nodes of one body that write nothing but what the model writes get one pair of marks around them. A block that writes other
//! text as well is gone into. An expression or a text that writes the header of the turn and then what the model writes is cut in two.
//! Where the same nodes write messages of other roles too, their text is kept in a variable first, and printed within marks if the message
//! is the assistant's.

use std::ops::Range;

use super::nodes::{Node, leaks, runs_behind};
use super::put::{self, Insertion, unused};
use super::seen::{Edge, Sights, Wrote};
use super::split::{Cut, Sum};
use crate::chat_template::TagKind;

/// A place that cannot be marked, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unmarkable {
    pub(super) range: Range<usize>,
    pub(super) reason: Reason,
}

/// The reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// At times it writes what the model writes, and at times it does not.
    Unsteady,
    /// It writes both what the model writes and other text, and cannot be cut.
    Uncut,
    /// It writes what the model writes and messages of others, and no variable holds the message.
    Nameless,
}

/// The share of the model's text in what a node writes.
#[derive(Debug, Clone, PartialEq)]
enum Status {
    /// Nothing that was seen.
    Neutral,
    /// Nothing that the model writes.
    Outside,
    /// Only what the model writes; `shared` where it writes other messages too.
    Inside {
        shared: bool,
    },
    /// Nothing that the model writes before an edge, and only what it writes from there on; `shared` as for `Inside`.
    From {
        edge: Edge,
        shared: bool,
    },
    /// Some of it.
    Mixed,
    Blocked(Reason),
}

/// The marks for a source.
pub(super) struct Marks<'s> {
    source: &'s str,
    sights: &'s Sights,
    pub(super) insertions: Vec<Insertion>,
    pub(super) unmarkable: Vec<Unmarkable>,
    /// How many stretches are marked.
    pub(super) count: usize,
    /// A name that the source does not use.
    variable: String,
}

/// A stretch under way.
struct Group {
    open: Insertion,
    shared: bool,
    /// The index of its last node.
    last: usize,
}

impl<'s> Marks<'s> {
    pub(super) fn find(source: &'s str, nodes: &[Node], sights: &'s Sights) -> Self {
        let mut marks = Self {
            source,
            sights,
            insertions: Vec::new(),
            unmarkable: Vec::new(),
            count: 0,
            variable: unused(source),
        };
        marks.body(nodes, None, &[]);
        marks
    }

    fn status(&self, node: &Node) -> Status {
        match node {
            Node::Text(range) => self.seen(range.clone()),
            Node::Tag(tag) if tag.kind == TagKind::Expression || self.is(node, &["raw"]) => {
                self.seen(tag.range.clone())
            }
            Node::Tag(_) => Status::Neutral,
            Node::Block(block) if self.is(node, &["call", "filter"]) => {
                self.seen(block.open.range.clone())
            }
            Node::Block(_) if self.is(node, &["macro", "set"]) => Status::Neutral,
            Node::Block(block) => {
                let inner = block.bodies.iter().flatten();
                let inner = inner.map(|node| self.status(node));
                inner.fold(Status::Neutral, |all, next| match (all, next) {
                    (all, Status::Neutral) => all,
                    (Status::Neutral, Status::From { .. } | Status::Blocked(_)) => Status::Mixed,
                    (Status::Neutral, next) => next,
                    (all, next) if all == next => all,
                    _ => Status::Mixed,
                })
            }
        }
    }

    fn is(&self, node: &Node, names: &[&str]) -> bool {
        let tag = match node {
            Node::Text(_) => return false,
            Node::Tag(tag) => tag,
            Node::Block(block) => &block.open,
        };
        names.contains(&&self.source[tag.name.clone()])
    }

    /// Returns the status of the text or expression in a range, as it was seen.
    fn seen(&self, range: Range<usize>) -> Status {
        let Some((_, seen)) = self.sights.by_place.range(range).next() else {
            return Status::Neutral;
        };
        let shared = !seen.others.is_empty();
        let is_none = |wrote: &Wrote| matches!(wrote, Wrote::Nothing | Wrote::Before);
        if !seen.others.iter().all(is_none) {
            return Status::Blocked(Reason::Unsteady);
        }
        // Where the prompt ends behind a statement, the statement wrote the prompt and nothing of what the model says.
        let own: Vec<Wrote> = seen
            .own
            .iter()
            .copied()
            .filter(|wrote| *wrote != Wrote::Before)
            .collect();
        match own.as_slice() {
            [] | [Wrote::Nothing] => Status::Outside,
            [Wrote::All] if own.len() == seen.own.len() => Status::Inside { shared },
            [Wrote::From(edge)] => Status::From {
                edge: *edge,
                shared,
            },
            [Wrote::Else] => Status::Blocked(Reason::Uncut),
            _ => Status::Blocked(Reason::Unsteady),
        }
    }

    /// Marks a body; `message` is the variable that holds the message there, and `behind` what runs behind it.
    fn body(&mut self, nodes: &[Node], message: Option<&str>, behind: &[Range<usize>]) {
        let mut group: Option<Group> = None;
        for (index, node) in nodes.iter().enumerate() {
            let after = runs_behind(nodes, index, behind);
            match self.status(node) {
                Status::Inside { shared } if !leaks(node, self.source, &after) => {
                    match &mut group {
                        Some(group) if group.shared == shared => group.last = index,
                        _ => {
                            self.close(group.take(), nodes, message);
                            group = Some(Group {
                                open: put::before(self.source, node, &self.open(shared)),
                                shared,
                                last: index,
                            });
                        }
                    }
                }
                Status::Neutral if !leaks(node, self.source, &after) => {}
                Status::From { edge, shared } => {
                    self.close(group.take(), nodes, message);
                    match self.cut(node, edge, shared) {
                        Some(open) => {
                            group = Some(Group {
                                open,
                                shared,
                                last: index,
                            });
                        }
                        None => self.block(node, Reason::Uncut),
                    }
                }
                Status::Blocked(reason) => {
                    self.close(group.take(), nodes, message);
                    self.block(node, reason);
                }
                Status::Neutral | Status::Outside => self.close(group.take(), nodes, message),
                Status::Inside { .. } | Status::Mixed => {
                    self.close(group.take(), nodes, message);
                    self.within(node, message, &after);
                }
            }
        }
        self.close(group, nodes, message);
    }

    fn block(&mut self, node: &Node, reason: Reason) {
        let range = match node {
            Node::Block(block) => block.open.range.clone(),
            node => node.range(),
        };
        self.unmarkable.push(Unmarkable { range, reason });
    }

    /// Marks the bodies of a block.
    fn within(&mut self, node: &Node, message: Option<&str>, after: &[Range<usize>]) {
        let Node::Block(block) = node else {
            return;
        };
        let own = self.sights.message_of(self.source, node);
        // What is assigned in a loop is forgotten at its end.
        let behind = if self.is(node, &["for"]) { &[] } else { after };
        for body in &block.bodies {
            self.body(body, own.or(message), behind);
        }
    }

    /// The opening mark within a node.
    fn cut(&self, node: &Node, edge: Edge, shared: bool) -> Option<Insertion> {
        let open = self.open(shared);
        let range = node.range();
        match node {
            Node::Text(_) => {
                let (Edge::Within(at) | Edge::Before(at) | Edge::Behind(at)) = edge;
                Some(put::within(self.source, range, at, &open))
            }
            Node::Tag(tag) if tag.kind == TagKind::Expression => {
                let sum = Sum::read(self.source, tag.inner(self.source))?;
                let cut = match edge {
                    Edge::Within(at) => sum.within(self.source, at)?,
                    Edge::Behind(at) => sum.behind(at.checked_sub(1)?)?,
                    Edge::Before(at) => sum.before(at)?,
                };
                let (at, text) = match cut {
                    Cut::Sign(at) => (at, format!("}}}}{open}{{{{ '' ")),
                    Cut::Within(at, quote) => (at, format!("{quote} }}}}{open}{{{{ {quote}")),
                };
                Some(Insertion { at, text })
            }
            _ => None,
        }
    }

    fn open(&self, shared: bool) -> String {
        if shared {
            format!("{{% set {} %}}", self.variable)
        } else {
            "{% generation %}".to_owned()
        }
    }

    /// Ends a stretch.
    fn close(&mut self, group: Option<Group>, nodes: &[Node], message: Option<&str>) {
        let Some(group) = group else {
            return;
        };
        let Some(last) = nodes.get(group.last) else {
            return;
        };
        let text = if group.shared {
            let Some(message) = message else {
                self.block(last, Reason::Nameless);
                return;
            };
            let name = &self.variable;
            format!(
                "{{% endset %}}{{% if {message}['role'] == 'assistant' %}}{{% generation %}}{{{{ {name} }}}}\
                 {{% endgeneration %}}{{% else %}}{{{{ {name} }}}}{{% endif %}}"
            )
        } else {
            "{% endgeneration %}".to_owned()
        };
        let close = put::behind(self.source, last, &text);
        self.insertions.push(group.open);
        self.insertions.push(close);
        self.count += 1;
    }
}
