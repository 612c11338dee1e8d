//! A source as a tree of tags: its syntax as far as marks can be put between its nodes.

use std::ops::Range;

use crate::chat_template::{Tag, tags};

/// A node of a source.
#[derive(Debug)]
pub(super) enum Node {
    /// Text between tags.
    Text(Range<usize>),
    /// A tag that stands alone: an expression, a comment, an assignment, `break`.
    Tag(Tag),
    /// A block.
    Block(Block),
}

/// A block with its bodies.
#[derive(Debug)]
pub(super) struct Block {
    /// The tag that opens it.
    pub(super) open: Tag,
    /// Its bodies, each but the first behind a tag such as `else`.
    pub(super) bodies: Vec<Vec<Node>>,
    /// All of it, with its tags.
    pub(super) range: Range<usize>,
}

impl Node {
    /// Where the node stands.
    pub(super) fn range(&self) -> Range<usize> {
        match self {
            Self::Text(range) => range.clone(),
            Self::Tag(tag) => tag.range.clone(),
            Self::Block(block) => block.range.clone(),
        }
    }
}

/// The blocks that have an end, and the tags that part their bodies.
const BLOCKS: [(&str, &[&str]); 10] = [
    ("if", &["elif", "else"]),
    ("for", &["else"]),
    ("set", &[]),
    ("macro", &[]),
    ("call", &[]),
    ("filter", &[]),
    ("with", &[]),
    ("block", &[]),
    ("autoescape", &[]),
    ("generation", &[]),
];

/// The nodes of a source that compiles.
pub(super) fn nodes(source: &str) -> Vec<Node> {
    let mut reader = Reader {
        source,
        tags: tags(source).into_iter().peekable(),
        at: 0,
    };
    let mut out = Vec::new();
    // An end tag that ends nothing does not compile; were there one, it would be a tag of its own.
    while let Some(stray) = reader.body(&mut out, &[]) {
        out.push(Node::Tag(stray));
    }
    out
}

struct Reader<'s> {
    source: &'s str,
    tags: std::iter::Peekable<std::vec::IntoIter<Tag>>,
    at: usize,
}

impl Reader<'_> {
    /// Reads nodes up to a tag that `ends` names, which is returned.
    fn body(&mut self, out: &mut Vec<Node>, ends: &[String]) -> Option<Tag> {
        while let Some(tag) = self.tags.next() {
            if self.at < tag.range.start {
                out.push(Node::Text(self.at..tag.range.start));
            }
            self.at = tag.range.end;
            let name = self.source[tag.name.clone()].to_owned();
            if ends.contains(&name) {
                return Some(tag);
            }
            let block = BLOCKS.iter().find(|(known, _)| *known == name);
            let Some((_, parts)) = block.filter(|_| !self.is_assignment(&tag, &name)) else {
                out.push(Node::Tag(tag));
                continue;
            };
            let end = format!("end{name}");
            let mut stops: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
            stops.push(end.clone());
            let start = tag.range.start;
            let mut bodies = Vec::new();
            loop {
                let mut body = Vec::new();
                let stop = self.body(&mut body, &stops);
                bodies.push(body);
                if stop.is_none_or(|stop| self.source[stop.name] == *end) {
                    break;
                }
            }
            out.push(Node::Block(Block {
                open: tag,
                bodies,
                range: start..self.at,
            }));
        }
        if self.at < self.source.len() && ends.is_empty() {
            out.push(Node::Text(self.at..self.source.len()));
            self.at = self.source.len();
        }
        None
    }

    /// Returns true if a `set` assigns at once, instead of what stands up to its end: it has an equals sign before any bracket or
    /// string, within which a filter of the other kind has its own.
    fn is_assignment(&self, tag: &Tag, name: &str) -> bool {
        let inner = &self.source[tag.inner(self.source)];
        let first = inner.find(['=', '(', '"', '\'']);
        name == "set" && first.is_some_and(|at| inner[at..].starts_with('='))
    }
}

/// Returns true if a node assigns names that are used in what runs behind it, or leaves a loop around it: then it cannot stand in a
/// block of its own. Of what a loop assigns nothing is seen outside of it.
pub(super) fn leaks(node: &Node, source: &str, behind: &[Range<usize>]) -> bool {
    let mut names = Vec::new();
    if !assigned(node, source, &mut names) {
        return true;
    }
    let is_used = |name: &str| {
        behind.iter().any(|range| {
            let text = &source[range.clone()];
            text.match_indices(name).any(|(at, _)| {
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                // An attribute, or a key.
                let is_other = |c: char| is_word(c) || matches!(c, '.' | '"' | '\'');
                !text[..at].ends_with(is_other) && !text[at + name.len()..].starts_with(is_word)
            })
        })
    };
    names.iter().any(|name| is_used(name))
}

/// Returns the ranges that run behind a node of a body: the nodes that follow it there, and what runs behind the body.
pub(super) fn runs_behind(
    nodes: &[Node],
    index: usize,
    behind: &[Range<usize>],
) -> Vec<Range<usize>> {
    let mut out = behind.to_vec();
    if let (Some(node), Some(last)) = (nodes.get(index), nodes.last()) {
        out.push(node.range().end..last.range().end);
    }
    out
}

/// Collects the names that a node assigns outside of loops; false if it leaves a loop around it.
fn assigned(node: &Node, source: &str, names: &mut Vec<String>) -> bool {
    let name = |tag: &Tag| source[tag.name.clone()].to_owned();
    // The words behind the name of a tag, up to an equals sign or bracket.
    let words = |tag: &Tag| {
        let inner = tag.inner(source);
        let rest = &source[tag.name.end..inner.end.max(tag.name.end)];
        let rest = rest.split(['=', '|']).next().unwrap_or_default();
        let words = rest
            .split(',')
            .map(|word| word.trim_matches(['(', ')', ' ', '\n', '\t']).to_owned());
        words.collect::<Vec<_>>()
    };
    match node {
        Node::Text(_) => true,
        Node::Tag(tag) => match name(tag).as_str() {
            "break" | "continue" => false,
            "set" => {
                // An attribute of a namespace is there wherever the namespace is.
                names.extend(words(tag).into_iter().filter(|word| !word.contains('.')));
                true
            }
            _ => true,
        },
        Node::Block(block) => match name(&block.open).as_str() {
            "macro" => {
                let rest = &source[block.open.name.end..block.open.range.end];
                let word = rest.split('(').next().unwrap_or_default();
                names.push(word.trim().to_owned());
                true
            }
            "set" => {
                names.extend(words(&block.open));
                true
            }
            "for" => true,
            _ => {
                let mut inner = block.bodies.iter().flatten();
                inner.all(|node| assigned(node, source, names))
            }
        },
    }
}
