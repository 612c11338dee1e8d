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

/// The pattern without the look-arounds that it begins with: what it matches wherever that stands. `None` where it begins with none.
pub(crate) fn anywhere(pattern: &Pattern) -> Option<Pattern> {
    let source = pattern.source();
    let mut rest = source;
    while ["(?=", "(?!", "(?<=", "(?<!"]
        .iter()
        .any(|look| rest.starts_with(look))
    {
        rest = &rest[group_end(rest)?..];
    }
    // What refers to a group within the look-around does not compile.
    (rest.len() < source.len())
        .then(|| Pattern::regex(rest).ok())
        .flatten()
}

/// The place behind the group with which a source begins.
fn group_end(source: &str) -> Option<usize> {
    let (mut depth, mut class) = (0, None);
    let mut characters = source.char_indices();
    while let Some((at, c)) = characters.next() {
        match (c, class) {
            ('\\', _) => {
                characters.next();
            }
            // The first character of a class is one of it, also where it is the bracket that closes others.
            (']', Some(start)) if at > start => class = None,
            ('^', Some(start)) if at == start => class = Some(at + 1),
            (_, Some(_)) => {}
            ('[', None) => class = Some(at + 1),
            ('(', None) => depth += 1,
            (')', None) if depth == 1 => return Some(at + 1),
            (')', None) => depth -= 1,
            _ => {}
        }
    }
    None
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

    #[test]
    fn a_pattern_is_found_where_it_would_not_count() {
        let rest = |source: &str| {
            let found = anywhere(&Pattern::regex(source).unwrap());
            found.map(|pattern| pattern.source().to_owned())
        };
        assert_eq!(rest(r"(?<![^\n])\{a").as_deref(), Some(r"\{a"));
        assert_eq!(
            rest(r"(?<=[])(]\)(?:b))(?!c)d(?=e)").as_deref(),
            Some("d(?=e)")
        );
        assert_eq!(rest("a(?=b)"), None);
        assert_eq!(rest("(?:a)b"), None);
    }
}
