//! Properties of a pattern's repetitions: whether its last one ever takes anything, and whether a backtracking engine may need
//! exponential time for it.

use regex_syntax::hir::ClassUnicode;

use super::Pattern;
use super::syntax::ast::{Node, RepeatKind};
use super::syntax::class;

/// Returns true if the pattern ends with a repetition that takes as little as it can, which is then always its least: `(.*?)` at the end
/// matches nothing. True is certain.
///
/// ```
/// use obverse::pattern::{Pattern, ends_lazily};
/// assert!(ends_lazily(&Pattern::re("<a>(.*?)").unwrap()));
/// assert!(!ends_lazily(&Pattern::re("<a>(.*?)$").unwrap()));
/// ```
pub fn ends_lazily(pattern: &Pattern) -> bool {
    pattern.parsed().is_ok_and(|parsed| lazy_end(&parsed.node))
}

fn lazy_end(node: &Node) -> bool {
    match node {
        Node::Repeat(repeat) => repeat.kind == RepeatKind::Lazy && repeat.max != Some(repeat.min),
        Node::Concat(nodes) => nodes.last().is_some_and(lazy_end),
        Node::Group(_, node) | Node::Atomic(node) => lazy_end(node),
        _ => false,
    }
}

/// Returns true if a repetition without end stands within another so that one text can be cut in many ways, as in `(a+)+` and `(a|a)*`:
/// Python's `re` may then take time that doubles with each character. True is no certainty that it does for a text at hand.
///
/// ```
/// use obverse::pattern::{Pattern, may_explode};
/// assert!(may_explode(&Pattern::re(r"(\s*\w+)*$").unwrap()));
/// assert!(!may_explode(&Pattern::re(r"(?:<a>(.*?)</a>\s*)+").unwrap()));
/// ```
pub fn may_explode(pattern: &Pattern) -> bool {
    pattern.parsed().is_ok_and(|parsed| explodes(&parsed.node))
}

fn explodes(node: &Node) -> bool {
    let here = match node {
        Node::Repeat(repeat) if repeat.max.is_none() && repeat.kind != RepeatKind::Possessive => {
            is_ambiguous(&repeat.node)
        }
        _ => false,
    };
    here || node.children().into_iter().any(explodes)
}

/// Returns true if repeating the node matches some text in several ways.
fn is_ambiguous(node: &Node) -> bool {
    match node {
        Node::Group(_, node) => is_ambiguous(node),
        Node::Repeat(repeat) => repeat.max.is_none() && repeat.kind != RepeatKind::Possessive,
        Node::Concat(nodes) => {
            // Besides one repetition of a single character's class, all else may match nothing.
            let must: Vec<&Node> = nodes.iter().filter(|node| node.min_chars() > 0).collect();
            must.len() <= 1 && nodes.iter().any(is_ambiguous)
        }
        Node::Alternation(nodes) => {
            let classes: Vec<ClassUnicode> = nodes.iter().filter_map(single).collect();
            let overlap = classes.iter().enumerate().any(|(at, one)| {
                classes[at + 1..].iter().any(|other| {
                    let mut both = one.clone();
                    both.intersect(other);
                    !both.ranges().is_empty()
                })
            });
            overlap || nodes.iter().any(is_ambiguous)
        }
        _ => false,
    }
}

/// The characters that the node matches, where it matches one character.
fn single(node: &Node) -> Option<ClassUnicode> {
    match node {
        Node::Char(value) => Some(class::single(*value)),
        Node::Class(class) => Some(class.clone()),
        Node::Group(_, node) => single(node),
        _ => None,
    }
}
