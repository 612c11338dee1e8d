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

/// The node may match where nothing is known of the character that comes next.
pub(super) struct Unknown;

/// The characters of which one comes wherever a match of the node begins.
///
/// A match of `(?=ab)` takes no text, and an `a` comes where it begins all the same.
pub(super) fn first(node: &Node) -> Result<ClassUnicode, Unknown> {
    match next(node)? {
        (class, false) => Ok(class),
        (_, true) => Err(Unknown),
    }
}

/// The characters that may come where the node matches, and whether it may match before any other as well.
fn next(node: &Node) -> Result<(ClassUnicode, bool), Unknown> {
    Ok(match node {
        Node::Char(value) => (class::single(*value), false),
        Node::Class(class) => (class.clone(), false),
        Node::Group(_, node) | Node::Atomic(node) => next(node)?,
        Node::Concat(nodes) => {
            let mut classes = Vec::new();
            for node in nodes {
                let (class, is_open) = next(node)?;
                classes.push(class);
                if !is_open {
                    return Ok((class::union(classes), false));
                }
            }
            (class::union(classes), true)
        }
        Node::Alternation(nodes) => {
            let all = nodes.iter().map(next).collect::<Result<Vec<_>, _>>()?;
            let is_open = all.iter().any(|(_, is_open)| *is_open);
            let classes = all.into_iter().map(|(class, _)| class);
            (class::union(classes.collect::<Vec<_>>()), is_open)
        }
        Node::Repeat(repeat) => {
            let (class, is_open) = next(&repeat.node)?;
            (class, is_open || repeat.min == 0)
        }
        Node::Look(look) if !look.behind && !look.negative => next(&look.node)?,
        // These can only forbid matches.
        Node::Assert(_) | Node::Look(_) | Node::Empty => (class::none(), true),
        Node::Backreference { .. } | Node::Conditional(_) => return Err(Unknown),
    })
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
    fn what_a_match_begins_with_is_known_where_something_must_come() {
        assert_eq!(begins("ab|c").as_deref(), Some("ac"));
        assert_eq!(begins("(?=x)\\b(?>a+)b").as_deref(), Some("x"));
        assert_eq!(begins("(?!x)(?<=y)\\b(?>a+)b").as_deref(), Some("a"));
        assert_eq!(begins("[ab]{2}").as_deref(), Some("ab"));
        assert_eq!(begins("a?b").as_deref(), Some("ab"));
        assert_eq!(begins("(?=a?b)").as_deref(), Some("ab"));
        assert_eq!(begins("(?:<a>|(?<=x)(?=b))").as_deref(), Some("<b"));
        assert_eq!(begins("(?=a?)"), None);
        assert_eq!(begins("(?!a)"), None);
        assert_eq!(begins("a|"), None);
        assert_eq!(begins("(a)?\\1b"), None);
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
