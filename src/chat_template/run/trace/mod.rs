//! The trace of a render, which knows of each value from which inputs each was made, and which inputs control flow read.
//!
//! Every origin is a number, an index into [`Trace`]'s nodes, so that values can carry it at the price of a copy. Inputs make
//! a tree of nodes, and what is derived from several is a node that joins two others; they are taken apart once, at the end.

mod noted;
mod piece;
mod resolve;
mod text;
mod written;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use foldhash::HashMap;

use crate::chat_template::REASONING_KEYS;
use crate::chat_template::syntax::tree::Span;

pub(super) use self::noted::{By, Noted, Turned, Wrote};
pub(super) use self::piece::Piece;
pub(super) use self::text::Text;
pub(super) use self::written::Written;

/// The nodes that one render may make; beyond that it ends in an error.
const MAX_NODES: usize = 4 << 20;

/// How many pieces and values one render may be asked for their inputs; beyond that it ends in an error.
const MAX_WORK: u64 = 200_000_000;

/// A place that origins can name, an index into the nodes of a [`Trace`]. The first names nothing.
pub(super) type Node = u32;

/// The inputs from which a value was made: a node, or nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Taint(u32);

impl Taint {
    /// Made from no input, or not traced.
    pub(super) const NONE: Self = Self(0);

    /// The bit that tells the input itself from what was made of it.
    const ITSELF: u32 = 1 << 31;

    pub(super) fn node(self) -> Node {
        self.0 & !Self::ITSELF
    }

    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Returns true if the value is the input itself.
    pub(super) fn is_itself(self) -> bool {
        self.0 & Self::ITSELF != 0
    }

    /// The inputs, for a value that was made of them.
    pub(super) fn derived(self) -> Self {
        Self(self.node())
    }
}

#[derive(Debug)]
enum NodeKind {
    Nothing,
    /// The constant of that index in the syntax tree.
    Constant(u32),
    /// An expression that writes what is neither a constant's nor an input's.
    Expression(Span),
    /// A variable, or a member of the node before.
    Key(Node, Rc<str>),
    Item(Node, u32),
    /// Derived from both, the first of which counts for more.
    Join(Node, Node),
}

/// Members by name, each with its node.
type Members = Vec<(Rc<str>, Node)>;

/// The trace of one render.
#[derive(Debug)]
pub(super) struct Trace {
    nodes: RefCell<Vec<NodeKind>>,
    joins: RefCell<HashMap<(Node, Node), Node>>,
    /// Members that were asked for and not found, by the node that was asked; there are few for each.
    missing: RefCell<HashMap<Node, Members>>,
    decided: RefCell<Vec<bool>>,
    /// The expression that is evaluated, and its node when there is one.
    here: Cell<(Span, Node)>,
    is_full: Cell<bool>,
    work: Cell<u64>,
}

impl Trace {
    /// A trace over a syntax tree with so many constants.
    pub(super) fn new(constants: usize) -> Rc<Self> {
        let mut nodes = vec![NodeKind::Nothing];
        nodes.extend((0..constants).map(|index| NodeKind::Constant(index as u32)));
        Rc::new(Self {
            nodes: RefCell::new(nodes),
            joins: RefCell::default(),
            missing: RefCell::default(),
            decided: RefCell::default(),
            here: Cell::default(),
            is_full: Cell::new(false),
            work: Cell::new(0),
        })
    }

    /// Returns true if there were more origins than one render may have, so that what is told is not all.
    pub(super) fn is_full(&self) -> bool {
        self.is_full.get()
    }

    /// Takes note of work; false when there was too much of it.
    pub(super) fn work(&self, amount: usize) -> bool {
        self.work.set(self.work.get().saturating_add(amount as u64));
        if self.work.get() > MAX_WORK {
            self.is_full.set(true);
        }
        !self.is_full.get()
    }

    fn add(&self, place: NodeKind) -> Node {
        let mut nodes = self.nodes.borrow_mut();
        if nodes.len() >= MAX_NODES {
            self.is_full.set(true);
            return 0;
        }
        nodes.push(place);
        (nodes.len() - 1) as Node
    }

    /// The node of a constant of the syntax tree.
    pub(super) fn constant(index: usize) -> Node {
        index as Node + 1
    }

    /// The taint of a variable that is an input itself.
    pub(super) fn variable(&self, name: &str) -> Taint {
        self.member(Taint::NONE, &Rc::from(name))
    }

    /// The taint of a member of a dictionary, which is an input itself as the dictionary is.
    pub(super) fn member(&self, of: Taint, key: &Rc<str>) -> Taint {
        Taint(self.add(NodeKind::Key(of.node(), key.clone())) | Taint::ITSELF)
    }

    /// The taint of an item of a list, which is an input itself as the list is.
    pub(super) fn item(&self, of: Taint, index: usize) -> Taint {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        Taint(self.add(NodeKind::Item(of.node(), index)) | Taint::ITSELF)
    }

    /// The taint of a member that is not there. It names the place where the member would be.
    pub(super) fn absent(&self, of: Taint, key: &str) -> Taint {
        if !of.is_itself() && !of.is_none() {
            return of;
        }
        let mut missing = self.missing.borrow_mut();
        let known = missing.entry(of.node()).or_default();
        if let Some((_, node)) = known.iter().find(|(name, _)| **name == *key) {
            return Taint(*node);
        }
        let key: Rc<str> = Rc::from(key);
        let node = self.add(NodeKind::Key(of.node(), key.clone()));
        known.push((key, node));
        Taint(node)
    }

    /// The inputs because of which a lookup in a dictionary found nothing. A message has its reasoning under two names, whichever of three
    /// it came under, so that for a reasoning all three count.
    pub(super) fn not_found(&self, of: Taint, key: &str) -> Taint {
        if of.is_none() {
            return Taint::NONE;
        }
        let is_message = match self.nodes.borrow()[of.node() as usize] {
            NodeKind::Item(list, _) => {
                matches!(&self.nodes.borrow()[list as usize], NodeKind::Key(0, name) if **name == *"messages")
            }
            _ => false,
        };
        if is_message && matches!(key, "reasoning_content" | "thinking") {
            let names = REASONING_KEYS.map(|name| self.absent(of, name));
            return self.join(self.join(names[0], names[1]), names[2]);
        }
        self.absent(of, key)
    }

    /// The inputs of something that is made of both; `a` counts for more.
    pub(super) fn join(&self, a: Taint, b: Taint) -> Taint {
        let (a, b) = (a.node(), b.node());
        if a == 0 || b == 0 || a == b {
            return Taint(a | b);
        }
        if let NodeKind::Join(x, y) = self.nodes.borrow()[a as usize]
            && (x == b || y == b)
        {
            return Taint(a);
        }
        if let Some(node) = self.joins.borrow().get(&(a, b)) {
            return Taint(*node);
        }
        let node = self.add(NodeKind::Join(a, b));
        self.joins.borrow_mut().insert((a, b), node);
        Taint(node)
    }

    /// The inputs of a piece. The text of a key depends on the object that has the key, and not on the value under it.
    pub(super) fn inputs_of(&self, piece: &Piece) -> Taint {
        if piece.origin == 0 {
            return Taint::NONE;
        }
        match self.nodes.borrow()[piece.origin as usize] {
            NodeKind::Nothing | NodeKind::Constant(_) | NodeKind::Expression(_) => Taint::NONE,
            NodeKind::Key(of, _) if piece.is_key() => Taint(of),
            _ => Taint(piece.origin),
        }
    }

    /// The inputs of all of some pieces.
    pub(super) fn inputs_of_all(&self, pieces: &[Piece]) -> Taint {
        let mut all = Taint::NONE;
        let mut last = 0;
        if !self.work(pieces.len()) {
            return all;
        }
        for piece in pieces {
            // Pieces of one input are often next to each other.
            if piece.origin != last || piece.is_key() {
                last = piece.origin;
                all = self.join(all, self.inputs_of(piece));
            }
        }
        all
    }

    /// Returns true if a text comes from one input, all of it, or from none at all.
    pub(super) fn is_of_one(&self, pieces: &[Piece]) -> bool {
        match pieces.split_first() {
            None => true,
            Some((first, rest)) => {
                let own = self.inputs_of(first);
                self.work(pieces.len()) && rest.iter().all(|piece| self.inputs_of(piece) == own)
            }
        }
    }

    /// Notes that control flow read something made of these inputs.
    pub(super) fn decide(&self, taint: Taint) {
        let node = taint.node() as usize;
        if node == 0 {
            return;
        }
        let mut decided = self.decided.borrow_mut();
        if decided.len() <= node {
            decided.resize(node + 1, false);
        }
        decided[node] = true;
    }

    /// Notes which expression is evaluated.
    pub(super) fn set_here(&self, span: Span) {
        if self.here.get().0 != span {
            self.here.set((span, 0));
        }
    }

    /// The node of the expression that is evaluated.
    pub(super) fn here(&self) -> Node {
        let (span, node) = self.here.get();
        if node != 0 {
            return node;
        }
        let node = self.add(NodeKind::Expression(span));
        self.here.set((span, node));
        node
    }
}
