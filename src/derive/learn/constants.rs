//! The constants of a response: the texts that the chat template writes, and the tokenizer's special tokens.

use std::ops::Range;

use crate::derive::compare::pieces::Pieces;
use crate::value::python;

/// Texts that are known to belong to no message.
#[derive(Debug, Clone)]
pub(in crate::derive) struct Constants<'a> {
    pub(super) pieces: &'a Pieces,
    pub(super) special_tokens: Vec<String>,
}

impl<'a> Constants<'a> {
    /// The constants that renders show, and the special tokens of a tokenizer.
    pub(in crate::derive) fn new(pieces: &'a Pieces, special_tokens: Vec<String>) -> Self {
        Self {
            pieces,
            special_tokens,
        }
    }
}

impl Constants<'_> {
    /// Returns the places of the constants in a text, in bytes and in their order; of those that overlap the first.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        for token in self.pieces.tokens(text) {
            let Some(start) = text[at..].find(token).map(|by| at + by) else {
                continue;
            };
            at = start + token.len();
            if self.pieces.is_one(token) {
                found.push(start..at);
            }
        }
        for special in &self.special_tokens {
            let all = text.match_indices(special.as_str());
            found.extend(all.map(|(at, text)| at..at + text.len()));
        }
        found.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        let mut end = 0;
        found.retain(|span| {
            let is_apart = span.start >= end;
            end = end.max(span.end);
            is_apart
        });
        found
    }

    /// Returns the number of a text's bytes that are neither in a constant nor white space, and the number of its constants.
    pub(super) fn weigh(&self, text: &str) -> (usize, usize) {
        let found = self.find(text);
        let mut at = 0;
        let mut lost = 0;
        for span in &found {
            lost += visible(&text[at..span.start]);
            at = span.end;
        }
        (lost + visible(&text[at..]), found.len())
    }
}

fn visible(text: &str) -> usize {
    let characters = text.chars().filter(|c| !python::is_space(*c));
    characters.map(char::len_utf8).sum()
}
