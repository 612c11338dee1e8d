//! The fixed texts in a pattern: what a person would look for in its place.

use super::Pattern;
use super::syntax::ast::Node;

/// The texts that a pattern spells out, in its order and each once: its literals, or every run of fixed characters in its source,
/// whether a match needs it or not. What a look-around says is left out, unless nothing else is there: it is another delimiter's. What it says must not
/// stand there always is.
///
/// ```
/// use obverse::pattern::{Pattern, fixed_texts};
/// let pattern = Pattern::regex(r"</call>\s*(?:</calls>|<\|end\|>)?")?;
/// assert_eq!(fixed_texts(&pattern), ["</call>", "</calls>", "<|end|>"]);
/// # Ok::<(), obverse::pattern::PatternError>(())
/// ```
pub fn fixed_texts(pattern: &Pattern) -> Vec<String> {
    let mut texts = Vec::new();
    match (pattern.as_literals(), pattern.parsed()) {
        (Some(literals), _) => texts.extend_from_slice(literals),
        (None, Ok(parsed)) => {
            collect(&parsed.node, false, &mut texts);
            // Text that is only looked at belongs to another delimiter, unless there is nothing else.
            if texts.iter().all(String::is_empty) {
                collect(&parsed.node, true, &mut texts);
            }
        }
        // A pattern that has compiled can be parsed again.
        (None, Err(_)) => {}
    }
    let mut seen = std::collections::HashSet::new();
    texts.retain(|text| !text.is_empty() && seen.insert(text.clone()));
    texts
}

/// Adds the runs of a node, those of what it looks at if `looks` says so. Every run ends with the node.
fn collect(node: &Node, looks: bool, texts: &mut Vec<String>) {
    match node {
        Node::Char(c) => texts.push(c.to_string()),
        Node::Concat(nodes) => {
            let mut run = String::new();
            for node in nodes {
                if let Node::Char(c) = node {
                    run.push(*c);
                } else {
                    texts.push(std::mem::take(&mut run));
                    collect(node, looks, texts);
                }
            }
            texts.push(run);
        }
        Node::Alternation(nodes) => nodes.iter().for_each(|node| collect(node, looks, texts)),
        Node::Repeat(repeat) => collect(&repeat.node, looks, texts),
        Node::Group(_, node) | Node::Atomic(node) => collect(node, looks, texts),
        Node::Look(look) if looks && !look.negative => collect(&look.node, looks, texts),
        Node::Conditional(conditional) => {
            collect(&conditional.yes, looks, texts);
            collect(&conditional.no, looks, texts);
        }
        Node::Empty
        | Node::Class(_)
        | Node::Assert(_)
        | Node::Look(_)
        | Node::Backreference { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        fixed_texts(&Pattern::regex(source).unwrap())
    }

    #[test]
    fn every_run_is_told_once_and_in_order() {
        assert_eq!(texts(r"<a>\s*<b>\s*<a>"), ["<a>", "<b>"]);
        assert_eq!(texts(r"(?P<n>x+y)z?(?=end)(?!no)"), ["x", "y", "z"]);
        assert_eq!(texts(r"(?=end)(?!no)\s"), ["end"]);
        assert_eq!(texts(r"\w+"), [""; 0]);
        let literals = Pattern::literals(&["a.".to_owned(), "b".to_owned()]).unwrap();
        assert_eq!(fixed_texts(&literals), ["a.", "b"]);
    }
}
