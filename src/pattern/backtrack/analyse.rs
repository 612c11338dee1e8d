//! Properties of the syntax tree that the compilation to a program depends on.

use regex_syntax::hir::ClassUnicode;

use crate::pattern::syntax::ast::{Assert, Look, Node, Test};
use crate::pattern::syntax::class;

/// Marks the groups that something refers to.
pub(super) fn mark_referenced(node: &Node, needed: &mut [bool]) {
    match node {
        Node::Backreference { group, .. } => needed[*group] = true,
        Node::Conditional(conditional) => {
            if let Test::Group(group) = &conditional.test {
                needed[*group] = true;
            }
        }
        _ => {}
    }
    node.children()
        .into_iter()
        .for_each(|node| mark_referenced(node, needed));
}

/// Returns true if running the node sets groups or asks for them.
pub(super) fn saves(node: &Node, needed: &[bool], idle_loop: bool) -> bool {
    let idle_loop = match node {
        Node::Group(group, _) if needed[*group] || idle_loop => return true,
        Node::Backreference { .. } => return true,
        Node::Conditional(conditional) if matches!(conditional.test, Test::Group(_)) => {
            return true;
        }
        Node::Repeat(repeat) => idle_loop || repeat.node.min_chars() == 0,
        _ => idle_loop,
    };
    node.children()
        .into_iter()
        .any(|node| saves(node, needed, idle_loop))
}

/// The node may match nothing, or what it begins with is not known.
pub(super) struct Unknown;

/// The characters that a match of the node can begin with.
pub(super) fn first(node: &Node) -> Result<ClassUnicode, Unknown> {
    match node {
        Node::Char(value) => Ok(class::single(*value)),
        Node::Class(class) => Ok(class.clone()),
        Node::Group(_, node) | Node::Atomic(node) => first(node),
        Node::Concat(nodes) => {
            // Conditions in front match no text. They can only forbid matches, so what the node begins with is that of the first part with text.
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
pub(super) fn lookbehind(node: &Node) -> usize {
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

#[cfg(test)]
mod tests {
    use super::{class, first, lookbehind};
    use crate::pattern::syntax::parse;

    fn begins(source: &str) -> Option<String> {
        let class = first(&parse(source).ok()?.node).ok()?;
        Some(
            ('\0'..='\x7f')
                .filter(|c| class::contains(&class, *c))
                .collect(),
        )
    }

    #[test]
    fn what_a_match_begins_with_is_known_where_it_is_not_empty() {
        assert_eq!(begins("ab|c").as_deref(), Some("ac"));
        assert_eq!(begins("(?=x)\\b(?>a+)b").as_deref(), Some("a"));
        assert_eq!(begins("[ab]{2}").as_deref(), Some("ab"));
        assert_eq!(begins("a?b"), None);
        assert_eq!(begins("(?=a)"), None);
        assert_eq!(begins("a|"), None);
    }

    #[test]
    fn looking_back_is_measured_in_bytes() {
        let of = |source: &str| lookbehind(&parse(source).expect("a pattern").node);
        assert_eq!(of("a(?=b)$"), 0);
        assert_eq!(of("(?=a)\\b"), 4);
        assert_eq!(of("(?<=ab|c)"), 8);
        assert_eq!(of("(?<=a(?<!bc))"), 12);
        assert_eq!(of("(?(?<=abc)a|b)"), 12);
        assert_eq!(of("(?<=a*)"), usize::MAX);
    }
}
