//! A string of a render, with its origins where they are traced.

use std::fmt;
use std::ops::{Deref, Range};
use std::rc::Rc;

use super::piece::{Piece, append, narrow};

/// A string, and the pieces that it is made of. Two are equal when their characters are.
#[derive(Debug, Clone)]
pub(in crate::chat_template::run) struct Text {
    text: Rc<str>,
    runs: Option<Rc<Runs>>,
}

#[derive(Debug)]
enum Runs {
    One(Piece),
    Many(Vec<Piece>),
}

impl Text {
    /// A string of which nothing is known.
    pub(in crate::chat_template::run) fn plain(text: impl Into<Rc<str>>) -> Self {
        Self {
            text: text.into(),
            runs: None,
        }
    }

    /// A string that is one piece.
    pub(in crate::chat_template::run) fn of(text: Rc<str>, piece: Piece) -> Self {
        Self {
            text,
            runs: Some(Rc::new(Runs::One(piece))),
        }
    }

    /// A string made of pieces.
    pub(super) fn of_pieces(text: Rc<str>, pieces: Vec<Piece>) -> Self {
        let runs = match pieces.as_slice() {
            [piece] => Runs::One(*piece),
            _ => Runs::Many(pieces),
        };
        Self {
            text,
            runs: Some(Rc::new(runs)),
        }
    }

    /// The string as it is shared.
    pub(in crate::chat_template::run) fn shared(&self) -> &Rc<str> {
        &self.text
    }

    /// Returns true if nothing is known of its origins.
    pub(in crate::chat_template::run) fn is_unknown(&self) -> bool {
        self.runs.is_none()
    }

    /// Returns the pieces that it is made of; nothing where these are not known.
    pub(in crate::chat_template::run) fn pieces(&self) -> &[Piece] {
        match self.runs.as_deref() {
            None => &[],
            Some(Runs::One(piece)) => std::slice::from_ref(piece),
            Some(Runs::Many(pieces)) => pieces,
        }
    }

    /// Where a part of the string, borrowed from it, lies in it.
    pub(in crate::chat_template::run) fn range_of(&self, part: &str) -> Option<Range<usize>> {
        let start = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        let end = start.checked_add(part.len())?;
        (end <= self.text.len()).then_some(start..end)
    }

    /// Calls with each piece, or part of one, that lies in a range. What has no bytes counts when it lies in the range or at
    /// its ends.
    pub(in crate::chat_template::run) fn each_in(
        &self,
        range: &Range<usize>,
        mut use_piece: impl FnMut(Piece),
    ) {
        let pieces = self.pieces();
        if let [piece] = pieces {
            use_piece(piece.part(narrow(range.start), narrow(range.len())));
            return;
        }
        let mut at = 0;
        for piece in pieces {
            let end = at + piece.len as usize;
            let (from, to) = (at.max(range.start), end.min(range.end));
            if from < to || (from == to && piece.len == 0) {
                use_piece(piece.part(narrow(from - at), narrow(to - from)));
            }
            at = end;
            if at > range.end {
                break;
            }
        }
    }

    /// A part of the string, with its origins.
    pub(in crate::chat_template::run) fn part(&self, range: Range<usize>) -> Self {
        if range.len() == self.text.len() {
            return self.clone();
        }
        let text: Rc<str> = Rc::from(&self.text[range.clone()]);
        if self.runs.is_none() {
            return Self::plain(text);
        }
        let mut pieces = Vec::new();
        self.each_in(&range, |piece| append(&mut pieces, 0, piece));
        if pieces.is_empty() {
            // Nothing between two pieces is there because of the text all the same.
            let mut end = 0;
            let around = self.pieces().iter().find(|piece| {
                end += piece.len as usize;
                end >= range.start
            });
            pieces.extend(around.map(|piece| piece.part(0, 0)));
        }
        Self::of_pieces(text, pieces)
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
