//! Pieces: stretches of a text that have one origin.

use super::{Node, Taint};

/// A stretch of a text with one origin. A piece without bytes stands for text that might have been there, such as that of an input that is
/// empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::chat_template::run) struct Piece {
    pub(super) len: u32,
    /// The bytes of the origin's own text that are shown, where `kind` says that there are such.
    pub(super) from: u32,
    pub(super) from_len: u32,
    pub(super) origin: Node,
    kind: u8,
}

const SHOWS: u8 = 1;
const DERIVED: u8 = 2;
const KEY: u8 = 4;
/// The bytes do not stand for those of the origin one by one, even where there are as many.
const UNEVEN: u8 = 8;

pub(super) fn narrow(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

impl Piece {
    /// The whole text of an origin.
    pub(in crate::chat_template::run) fn whole(len: usize, origin: Node) -> Self {
        let len = narrow(len);
        Self {
            len,
            from: 0,
            from_len: len,
            origin,
            kind: SHOWS,
        }
    }

    /// The whole text of the key to which an origin's path leads.
    pub(in crate::chat_template::run) fn key(len: usize, origin: Node) -> Self {
        Self {
            kind: SHOWS | KEY,
            ..Self::whole(len, origin)
        }
    }

    /// Text that was written for an origin. It is the origin's own, as a number's digits are, or derived.
    pub(in crate::chat_template::run) fn written(len: usize, origin: Node, derived: bool) -> Self {
        Self {
            from_len: 0,
            kind: if derived { DERIVED } else { 0 },
            ..Self::whole(len, origin)
        }
    }

    pub(in crate::chat_template::run) fn is_key(&self) -> bool {
        self.kind & KEY != 0
    }

    /// The origin that the piece is of: for a key, the member itself and not the object that holds it.
    pub(in crate::chat_template::run) fn itself(&self) -> Taint {
        Taint(self.origin)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn is_derived(&self) -> bool {
        self.kind & DERIVED != 0
    }

    /// The bytes of the origin's text that are shown, if any are.
    pub(super) fn from(self) -> Option<(usize, usize)> {
        let (from, len) = (self.from as usize, self.from_len as usize);
        (self.kind & SHOWS != 0).then_some((from, from + len))
    }

    /// Returns true if each byte stands for one byte of the origin.
    fn is_even(&self) -> bool {
        self.kind & (SHOWS | UNEVEN) == SHOWS && self.len == self.from_len
    }

    /// Returns the part of the piece that has `len` bytes from an offset on.
    pub(super) fn part(&self, offset: u32, len: u32) -> Self {
        if self.is_even() {
            return Self {
                len,
                from: self.from + offset,
                from_len: len,
                ..*self
            };
        }
        // A part of a number's digits is not the number.
        let cut = len != self.len;
        Self {
            len,
            kind: if cut { self.kind | DERIVED } else { self.kind },
            ..*self
        }
    }

    /// Returns the piece as the origin of other text, which has `len` bytes: of another character, or else of an escape and the like.
    pub(super) fn instead(&self, len: usize, is_character: bool) -> Self {
        Self {
            len: narrow(len),
            kind: self.kind | DERIVED | if is_character { 0 } else { UNEVEN },
            ..*self
        }
    }

    /// The piece with an origin that names more inputs.
    pub(super) fn with_origin(&self, origin: Node) -> Self {
        Self { origin, ..*self }
    }

    /// Returns the piece with nothing of the origin's own text.
    pub(super) fn without_from(&self) -> Self {
        Self {
            from: 0,
            from_len: 0,
            kind: (self.kind | DERIVED) & !SHOWS,
            ..*self
        }
    }

    /// Takes in the piece behind it if that continues it, and returns true if it did.
    pub(super) fn absorb(&mut self, next: &Self) -> bool {
        let alike = self.origin == next.origin && self.kind == next.kind;
        let continues = if self.kind & SHOWS == 0 {
            self.is_derived()
        } else {
            self.is_even() && next.is_even() && self.from + self.from_len == next.from
        };
        if !alike || !continues {
            return false;
        }
        self.len = self.len.saturating_add(next.len);
        if self.kind & SHOWS != 0 {
            self.from_len = self.from_len.saturating_add(next.from_len);
        }
        true
    }
}

/// Appends a piece to others of which those from `floor` on belong to the same text.
pub(super) fn append(pieces: &mut Vec<Piece>, floor: usize, next: Piece) {
    if pieces.len() > floor
        && let Some(last) = pieces.last_mut()
    {
        let same = last.origin == next.origin && last.is_key() == next.is_key();
        if (next.len == 0 && same) || last.absorb(&next) {
            return;
        }
        if last.len == 0 && same {
            *last = next;
            return;
        }
    }
    pieces.push(next);
}
