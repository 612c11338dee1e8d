//! A short difference between two renders.

use serde::Serialize;

use super::outcome::shorten;
use crate::derive::compare::text;
use crate::derive::evidence::sample::{Side, diff};

/// How many changes are told.
const MOST: usize = 4;

/// Texts that differ in more than so many bytes are not compared word by word, which takes long.
const COMPARED: usize = 4_000;

/// A place where two renders differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RenderChange {
    /// The text that only the first render has. Of a long text the beginning and the end are kept.
    pub removed: String,
    /// The text that only the second render has.
    pub added: String,
}

/// Returns the changes that make `right` of `left`: the first few, in their order.
pub(super) fn changes(left: &str, right: &str) -> Vec<RenderChange> {
    let begin = text::common_prefix(left, right);
    let end = text::common_suffix(&left[begin..], &right[begin..]);
    let (left, right) = (
        &left[begin..left.len() - end],
        &right[begin..right.len() - end],
    );
    if left.is_empty() && right.is_empty() {
        return Vec::new();
    }
    if left.is_empty() || right.is_empty() || left.len().max(right.len()) > COMPARED {
        return vec![RenderChange {
            removed: shorten(left),
            added: shorten(right),
        }];
    }
    let mut found: Vec<(String, String)> = Vec::new();
    let mut between = String::new();
    for piece in diff(left, right) {
        if piece.side == Side::Both {
            between = piece.text;
            continue;
        }
        // A few characters that are common by chance do not part a change in two.
        let goes_on = !between.chars().any(char::is_alphanumeric);
        if !found.last().is_some_and(|_| goes_on) {
            found.push((String::new(), String::new()));
            between.clear();
        }
        if let Some((removed, added)) = found.last_mut() {
            removed.push_str(&between);
            added.push_str(&between);
            match piece.side {
                Side::Left => removed.push_str(&piece.text),
                Side::Right | Side::Both => added.push_str(&piece.text),
            }
        }
        between.clear();
    }
    found.truncate(MOST);
    found
        .into_iter()
        .map(|(removed, added)| RenderChange {
            removed: shorten(&removed),
            added: shorten(&added),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(left: &str, right: &str) -> Vec<(String, String)> {
        changes(left, right)
            .into_iter()
            .map(|change| (change.removed, change.added))
            .collect()
    }

    #[test]
    fn what_only_one_side_has_is_told() {
        assert_eq!(told("a b", "a b"), []);
        assert_eq!(
            told("<a>\n", "<a>\n<b>"),
            [(String::new(), "<b>".to_owned())]
        );
        assert_eq!(
            told("x one y two z", "x ONE y TWO z"),
            [
                ("one".to_owned(), "ONE".to_owned()),
                ("two".to_owned(), "TWO".to_owned())
            ]
        );
    }

    #[test]
    fn long_texts_are_not_compared_word_by_word() {
        let (left, right) = ("a ".repeat(COMPARED), "b ".repeat(COMPARED));
        assert_eq!(changes(&left, &right).len(), 1);
    }
}
