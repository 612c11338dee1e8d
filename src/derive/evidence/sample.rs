//! Evidence: the two renders, and the difference between them, from which a marker was read.

use serde::Serialize;

use super::place::Writer;
use crate::derive::probe;
use crate::text::diff::{Change, Diff};

/// A marker that was inferred from renders, with the renders that it was inferred from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Evidence {
    /// The decision that the marker was read off for: `anchor`, `turn end`, `reasoning open`, ...
    #[serde(rename = "question")]
    pub decision: &'static str,
    /// The marker that was read off.
    pub marker: String,
    /// The way in which the marker was read off, in a sentence.
    pub reading: String,
    /// The first of the two renders.
    pub left: RenderExcerpt,
    /// The second of the two renders.
    pub right: RenderExcerpt,
    /// The places that write the marker where one of the renders has it, in order; empty where they could not be found out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub places: Vec<Writer>,
}

/// A render, or the part of it that matters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RenderExcerpt {
    /// The variant that was rendered, in words.
    pub variant: String,
    /// The text of the render.
    pub text: String,
}

/// A piece of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// The side that the piece is on.
    pub side: Side,
    /// The text of the piece.
    pub text: String,
}

/// The side of a diff that a piece belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The piece is in both renders.
    Both,
    /// The piece is in the left render only.
    Left,
    /// The piece is in the right render only.
    Right,
}

impl RenderExcerpt {
    /// A sample of a render from the user's first words on; what the system says before is the same in every variant.
    pub(in crate::derive) fn new(variant: impl Into<String>, text: impl Into<String>) -> Self {
        let mut text = text.into();
        let from = text.find(probe::USER).unwrap_or(0);
        Self {
            variant: variant.into(),
            text: text.split_off(from),
        }
    }
}

impl Evidence {
    /// The difference between the two renders, by words and single other characters; adjacent pieces of one side are joined.
    pub fn diff(&self) -> Vec<Piece> {
        diff(&self.left.text, &self.right.text)
    }
}

/// The difference between two texts, by words and single other characters; adjacent pieces of one side are joined.
pub fn diff(left: &str, right: &str) -> Vec<Piece> {
    let diff = Diff::new(words(left), words(right), None);
    let mut pieces: Vec<Piece> = Vec::new();
    for (change, text) in diff.all() {
        let side = match change {
            Change::Kept => Side::Both,
            Change::Removed => Side::Left,
            Change::Added => Side::Right,
        };
        match pieces.last_mut() {
            Some(last) if last.side == side => last.text.push_str(text),
            _ => pieces.push(Piece {
                side,
                text: text.to_owned(),
            }),
        }
    }
    pieces
}

/// Splits a text into runs of letters and digits, runs of white space, and single other characters.
fn words(text: &str) -> Vec<&str> {
    let class = |c: char| (c.is_alphanumeric(), c.is_whitespace());
    let mut words = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        let class = class(c);
        if before.is_some_and(|last| last != class || class == (false, false)) {
            words.push(&text[start..at]);
            start = at;
        }
        before = Some(class);
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_signs_part() {
        assert_eq!(
            words("<a b>\n\nc1"),
            ["<", "a", " ", "b", ">", "\n\n", "c1"]
        );
    }

    #[test]
    fn a_diff_tells_what_only_one_side_has() {
        let evidence = Evidence {
            decision: "turn end",
            marker: String::new(),
            reading: String::new(),
            left: RenderExcerpt::new("left", "a<b>"),
            right: RenderExcerpt::new("right", "a<b><c>"),
            places: Vec::new(),
        };
        let pieces = evidence.diff();
        assert_eq!(pieces.len(), 2);
        assert_eq!(
            (pieces[0].side, pieces[0].text.as_str()),
            (Side::Both, "a<b>")
        );
        assert_eq!(
            (pieces[1].side, pieces[1].text.as_str()),
            (Side::Right, "<c>")
        );
    }
}
