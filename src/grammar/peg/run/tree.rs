//! The tree of what was read.
//!
//! While a text is read the nodes stand in a list, each before those within it, so that going back is cutting the list off.

use std::ops::Range;

use crate::grammar::peg::arena::{ExprId, Expression, Grammar};
use crate::value::{Map, Value};

/// The end of a node that is being read.
const OPEN: usize = usize::MAX;

/// A node in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// The tag's expression, or the reference to the rule.
    pub(super) of: ExprId,
    pub(super) depth: u32,
    pub(super) start: usize,
    end: usize,
}

impl Entry {
    pub(super) fn open(of: ExprId, depth: u32, start: usize) -> Self {
        Self {
            of,
            depth,
            start,
            end: OPEN,
        }
    }

    pub(super) fn close(&mut self, end: usize) {
        self.end = end;
    }
}

/// The nodes of what was read so far: the tags, and the rules if they were asked for.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Tree<'a> {
    pub(super) grammar: &'a Grammar,
    pub(super) entries: &'a [Entry],
    /// The end of nodes that are being read.
    pub(super) reach: usize,
}

/// A node of a tree.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    tree: Tree<'a>,
    index: usize,
}

impl<'a> Tree<'a> {
    /// All nodes, each before those within it.
    pub fn nodes(self) -> impl Iterator<Item = Node<'a>> {
        (0..self.entries.len()).map(move |index| Node { tree: self, index })
    }

    /// The nodes from a place of the list on.
    pub(in crate::grammar) fn nodes_from(self, index: usize) -> impl Iterator<Item = Node<'a>> {
        (index..self.entries.len()).map(move |index| Node { tree: self, index })
    }

    /// How many nodes there are.
    pub(in crate::grammar) fn len(self) -> usize {
        self.entries.len()
    }

    /// The nodes that lie in no other.
    pub fn roots(self) -> impl Iterator<Item = Node<'a>> {
        self.within(0..self.entries.len(), 0)
    }

    /// The first node with a tag.
    pub fn find(self, tag: &str) -> Option<Node<'a>> {
        self.nodes().find(|node| node.tag() == Some(tag))
    }

    /// The node at a place of the list.
    pub(in crate::grammar) fn node(self, index: usize) -> Option<Node<'a>> {
        (index < self.entries.len()).then_some(Node { tree: self, index })
    }

    fn within(self, range: Range<usize>, depth: u32) -> impl Iterator<Item = Node<'a>> {
        let nodes = range.map(move |index| Node { tree: self, index });
        nodes.filter(move |node| node.entry().depth == depth)
    }

    /// The tree as JSON: a list of objects with `tag` or `rule`, `start`, `end`, with `text` its text, `partial` where a node is not
    /// whole, and `children` where it has any.
    pub fn to_value(self, text: &[u8]) -> Value {
        // By depth rather than by recursion: a tree is as deep as the text makes it.
        let mut levels: Vec<Vec<Value>> = vec![Vec::new()];
        let mut under_way: Vec<Map> = Vec::new();
        let finish = |levels: &mut Vec<Vec<Value>>, under_way: &mut Vec<Map>| {
            let children = levels.pop().unwrap_or_default();
            if let (Some(mut map), Some(level)) = (under_way.pop(), levels.last_mut()) {
                if !children.is_empty() {
                    map.insert("children", Value::Array(children));
                }
                level.push(Value::Object(map));
            }
        };
        for node in self.nodes() {
            while under_way.len() > node.depth() {
                finish(&mut levels, &mut under_way);
            }
            under_way.push(node.to_map(text));
            levels.push(Vec::new());
        }
        while !under_way.is_empty() {
            finish(&mut levels, &mut under_way);
        }
        Value::Array(levels.pop().unwrap_or_default())
    }
}

impl<'a> Node<'a> {
    fn entry(self) -> &'a Entry {
        &self.tree.entries[self.index]
    }

    /// Its place in the list.
    pub(in crate::grammar) fn index(self) -> usize {
        self.index
    }

    /// The place in the list behind it and all within it.
    pub(in crate::grammar) fn behind(self) -> usize {
        let depth = self.entry().depth;
        let inner = &self.tree.entries[self.index + 1..];
        let length = inner.iter().position(|entry| entry.depth <= depth);
        self.index + 1 + length.unwrap_or(inner.len())
    }

    /// Its tag, if it is a tag's node.
    pub fn tag(self) -> Option<&'a str> {
        match self.tree.grammar.get(self.entry().of) {
            Expression::Tag { tag, .. } => Some(tag),
            _ => None,
        }
    }

    /// The name of its rule, if it is a rule's node.
    pub fn rule(self) -> Option<&'a str> {
        match self.tree.grammar.get(self.entry().of) {
            Expression::Ref(rule) => Some(&self.tree.grammar.rule(*rule).name),
            _ => None,
        }
    }

    /// Where it begins, in bytes of the text.
    pub fn start(self) -> usize {
        self.entry().start
    }

    /// Where it ends; where a node is [not whole](Self::is_partial), where what is known to belong to it ends.
    pub fn end(self) -> usize {
        match self.is_partial() {
            true => self.tree.reach.max(self.start()),
            false => self.entry().end,
        }
    }

    /// True if it was not read to its end.
    pub fn is_partial(self) -> bool {
        self.entry().end == OPEN
    }

    /// How many nodes it lies in.
    pub fn depth(self) -> usize {
        self.entry().depth as usize
    }

    /// The nodes within it, but not those within them.
    pub fn children(self) -> impl Iterator<Item = Node<'a>> {
        let depth = self.entry().depth + 1;
        self.tree.within(self.index + 1..self.behind(), depth)
    }

    /// Its bytes, out of the whole text.
    pub fn bytes(self, text: &[u8]) -> &[u8] {
        text.get(self.start()..self.end()).unwrap_or_default()
    }

    /// Its text, out of the whole text; bytes that belong to no character are U+FFFD in it.
    pub fn text(self, text: &[u8]) -> String {
        String::from_utf8_lossy(self.bytes(text)).into_owned()
    }

    fn to_map(self, text: &[u8]) -> Map {
        let mut map = Map::new();
        if let Some(tag) = self.tag() {
            map.insert("tag", Value::from(tag));
        }
        if let Some(rule) = self.rule() {
            map.insert("rule", Value::from(rule));
        }
        map.insert("start", Value::count(self.start()));
        map.insert("end", Value::count(self.end()));
        map.insert("text", Value::from(self.text(text)));
        if self.is_partial() {
            map.insert("partial", Value::from(true));
        }
        map
    }
}
