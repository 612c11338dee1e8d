//! Putting a text of tags at a node so that nothing else of the render changes.
//!
//! A tag may remove the white space beside it. Tags that are put directly at a node remove as much on their outer side as that node would
//! have. Where they would remove more, an expression that prints nothing is put between.

use super::nodes::Node;

/// A text to put into the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Insertion {
    pub(super) at: usize,
    pub(super) text: String,
}

/// The source with texts put in.
pub(super) fn apply(source: &str, insertions: &[Insertion]) -> String {
    let mut insertions: Vec<&Insertion> = insertions.iter().collect();
    insertions.sort_by_key(|insertion| insertion.at);
    let mut out = String::with_capacity(source.len() + 64 * insertions.len());
    let mut done = 0;
    for insertion in insertions {
        out.push_str(&source[done..insertion.at]);
        out.push_str(&insertion.text);
        done = insertion.at;
    }
    out.push_str(&source[done..]);
    out
}

/// A name that a source does not use.
pub(super) fn unused(source: &str) -> String {
    let mut name = "generated".to_owned();
    while source.contains(&name) {
        name.push('_');
    }
    name
}

/// Tags before a node.
pub(super) fn before(source: &str, node: &Node, tags: &str) -> Insertion {
    let at = node.range().start;
    let (left, right) = match node {
        Node::Text(_) => (Side::Nothing, taken_behind(source, at)),
        _ => (taken_before(source, at), Side::Nothing),
    };
    insertion(at, tags, left, right)
}

/// Tags within a text.
pub(super) fn within(
    source: &str,
    text: std::ops::Range<usize>,
    at: usize,
    tags: &str,
) -> Insertion {
    let before = &source[text.start..at];
    let line = before.rfind('\n').map_or(before, |at| &before[at + 1..]);
    let left = if !line.is_empty() && line.trim().is_empty() {
        Side::Kept
    } else {
        Side::Nothing
    };
    let right = if source[at..].starts_with(['\n', '\r']) {
        Side::Kept
    } else {
        Side::Nothing
    };
    insertion(at, tags, left, right)
}

/// Tags behind a node.
pub(super) fn behind(source: &str, node: &Node, tags: &str) -> Insertion {
    let mut at = node.range().end;
    let (left, right) = match node {
        Node::Text(range) if at == source.len() => {
            // Jinja drops a line end at the end of the source, and one right behind a tag: the tag goes before it.
            let own = &source[range.clone()];
            let kept = own.strip_suffix('\n').unwrap_or(own);
            let kept = kept.strip_suffix('\r').unwrap_or(kept);
            at -= own.len() - kept.len();
            (Side::Nothing, Side::Nothing)
        }
        Node::Text(_) => (taken_before(source, at), Side::Nothing),
        _ => (Side::Nothing, taken_behind(source, at)),
    };
    insertion(at, tags, left, right)
}

/// The treatment that a mark gives the white space on one side of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// It treats it as every tag does.
    Nothing,
    /// It takes all of it.
    Taken,
    /// It must not take any.
    Kept,
}

fn insertion(at: usize, tags: &str, left: Side, right: Side) -> Insertion {
    let mut text = tags.to_owned();
    match left {
        Side::Nothing => {}
        Side::Taken => text.replace_range(2..2, "-"),
        Side::Kept => text.insert_str(0, "{{ '' }}"),
    }
    match right {
        Side::Nothing => {}
        Side::Taken => text.insert(text.len() - 2, '-'),
        Side::Kept => text.push_str("{{ '' }}"),
    }
    Insertion { at, text }
}

/// Returns how the tag at `at` treats the white space before it, for a mark that comes between.
fn taken_before(source: &str, at: usize) -> Side {
    let tag = &source[at..];
    let line = source[..at].trim_end_matches([' ', '\t']);
    let is_indented = line.len() < at && (line.is_empty() || line.ends_with(['\n', '\r']));
    match tag.as_bytes().get(2) {
        Some(b'-') => Side::Taken,
        Some(b'+') if is_indented => Side::Kept,
        _ if tag.starts_with("{{") && is_indented => Side::Kept,
        _ => Side::Nothing,
    }
}

/// Returns how the tag that ends at `at` treats the white space behind it.
fn taken_behind(source: &str, at: usize) -> Side {
    let before = &source[..at];
    let is_line_end = source[at..].starts_with(['\n', '\r']);
    if ["-%}", "-}}", "-#}"]
        .iter()
        .any(|end| before.ends_with(end))
    {
        Side::Taken
    } else if before.ends_with("%}") && !before.ends_with("+%}") || before.ends_with("#}") {
        Side::Nothing
    } else if is_line_end {
        Side::Kept
    } else {
        Side::Nothing
    }
}
