//! The changes from one list of texts to another: lines of a file, words of a message.
//!
//! Equal texts get the same number, and the crate similar compares the two lists of numbers with its version of Myers' algorithm. For lists of
//! `n` and `m` texts of which `d` differ, that takes `O((n + m) · d)` comparisons of two numbers. Its `TextDiff` takes texts as they are, but is
//! generic over them: the compiler makes all six algorithms of similar anew for every kind of text. That was a sixth of all that it made
//! of Obverse. One list of numbers needs one of these algorithms, once.

use std::collections::HashMap;
use std::time::Duration;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{ChangeTag, DiffOp};
use web_time::Instant;

/// The difference between two lists of texts.
pub(crate) struct Diff<'t> {
    old: Vec<&'t str>,
    new: Vec<&'t str>,
    operations: Vec<DiffOp>,
}

/// The fate of one of the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// It is in both lists.
    Kept,
    /// It is in the old list alone.
    Removed,
    /// It is in the new list alone.
    Added,
}

impl<'t> Diff<'t> {
    /// Compares two lists. After the longest time, if there is one, what is left is taken to differ more than it may.
    pub(crate) fn new(old: Vec<&'t str>, new: Vec<&'t str>, longest: Option<Duration>) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut numbered = |texts: &[&'t str]| -> Vec<u32> {
            let number = |text: &&'t str| {
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                *numbers.entry(text).or_insert(next)
            };
            texts.iter().map(number).collect()
        };
        let operations = operations(&numbered(&old), &numbered(&new), longest);
        Self {
            old,
            new,
            operations,
        }
    }

    /// All texts in order, those that were removed before those that were added in their place.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Change, &'t str)> {
        self.operations.iter().flat_map(|one| self.of(one))
    }

    /// The changes in groups, each with at most so many texts that were kept before and behind it.
    #[cfg(any(test, feature = "cli"))]
    pub(crate) fn groups(&self, around: usize) -> Vec<Vec<(Change, &'t str)>> {
        let groups = similar::group_diff_ops(self.operations.clone(), around);
        let texts = |group: &Vec<DiffOp>| group.iter().flat_map(|one| self.of(one)).collect();
        groups.iter().map(texts).collect()
    }

    fn of(&self, operation: &DiffOp) -> impl Iterator<Item = (Change, &'t str)> {
        let changes = operation.iter_changes(&self.old[..], &self.new[..]);
        let changes = changes.map(|change| {
            let tag = match change.tag() {
                ChangeTag::Equal => Change::Kept,
                ChangeTag::Delete => Change::Removed,
                ChangeTag::Insert => Change::Added,
            };
            (tag, change.value())
        });
        changes.collect::<Vec<_>>().into_iter()
    }
}

/// The one place where similar's algorithm is compiled.
fn operations(old: &[u32], new: &[u32], longest: Option<Duration>) -> Vec<DiffOp> {
    let deadline = longest.and_then(|longest| Instant::now().checked_add(longest));
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff_deadline(&mut found, old, 0..old.len(), new, 0..new.len(), deadline);
    found.into_inner().into_inner().into_ops()
}

/// The lines of a text, each with the line feed at its end.
#[cfg(any(test, feature = "cli"))]
pub(crate) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The runs of white space of a text, and the words between them.
pub(crate) fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_space = first.is_whitespace();
        let end = rest.find(|c: char| c.is_whitespace() != is_space);
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        words.push(word);
        rest = behind;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_removed_comes_before_what_is_added_in_its_place() {
        let diff = Diff::new(words("the old  house"), words("the new  house "), None);
        let all: Vec<_> = diff.all().collect();
        assert_eq!(
            all,
            [
                (Change::Kept, "the"),
                (Change::Kept, " "),
                (Change::Removed, "old"),
                (Change::Added, "new"),
                (Change::Kept, "  "),
                (Change::Kept, "house"),
                (Change::Added, " "),
            ]
        );
    }

    #[test]
    fn groups_have_what_is_around_a_change_and_no_more() {
        let old: Vec<String> = (0..300).map(|line| format!("{line}\n")).collect();
        let new = old
            .concat()
            .replace("\n5\n", "\nfive\n")
            .replace("299\n", "");
        let old = old.concat();
        let diff = Diff::new(lines(&old), lines(&new), None);
        let groups = diff.groups(1);
        assert_eq!(
            groups,
            [
                vec![
                    (Change::Kept, "4\n"),
                    (Change::Removed, "5\n"),
                    (Change::Added, "five\n"),
                    (Change::Kept, "6\n"),
                ],
                vec![(Change::Kept, "298\n"), (Change::Removed, "299\n")],
            ]
        );
    }
}
