//! The text that a parser may still want, of what has arrived.

/// Text of which the front was let go.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    /// Bytes that were let go.
    base: usize,
    kept: Vec<u8>,
    /// How many of `kept` were let go but not yet taken out; they are when they are the greater part.
    dead: usize,
}

impl Text {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.kept.extend_from_slice(bytes);
    }

    /// The place behind the last byte.
    pub(super) fn end(&self) -> usize {
        self.base + self.kept.len()
    }

    /// The place of the first byte that can still be had.
    pub(super) fn start(&self) -> usize {
        self.base + self.dead
    }

    /// Returns the bytes that have arrived from a place on.
    pub(super) fn from(&self, at: usize) -> &[u8] {
        self.kept
            .get(at.wrapping_sub(self.base)..)
            .unwrap_or_default()
    }

    /// The bytes between two places, as far as they are there.
    pub(super) fn between(&self, from: usize, to: usize) -> &[u8] {
        let rest = self.from(from.max(self.start()));
        &rest[..to.saturating_sub(from.max(self.start())).min(rest.len())]
    }

    /// Lets go of what stands before a place. Each byte is moved at most once on average.
    pub(super) fn release(&mut self, to: usize) {
        self.dead = to
            .saturating_sub(self.base)
            .min(self.kept.len())
            .max(self.dead);
        if self.dead > self.kept.len() / 2 {
            self.kept.drain(..self.dead);
            self.base += self.dead;
            self.dead = 0;
        }
    }
}

/// The character at the front of bytes, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Front {
    /// A character, so many bytes long.
    Char(char, usize),
    /// The beginning of one, or nothing.
    Incomplete,
    /// So many bytes that belong to no character.
    Invalid,
}

/// The character at the front of bytes.
pub(super) fn front(bytes: &[u8]) -> Front {
    let Some(&first) = bytes.first() else {
        return Front::Incomplete;
    };
    if first < 0x80 {
        return Front::Char(char::from(first), 1);
    }
    let head = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(error) if error.error_len().is_none() => return Front::Incomplete,
        Err(_) => return Front::Invalid,
    };
    match valid.chars().next() {
        Some(c) => Front::Char(c, c.len_utf8()),
        None => Front::Invalid,
    }
}

/// How many of the bytes stand before a character at their end that is not whole.
pub(super) fn whole(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        if bytes[at] & 0xC0 != 0x80 {
            let incomplete = bytes[at] >= 0x80 && front(&bytes[at..]) == Front::Incomplete;
            return if incomplete { at } else { bytes.len() };
        }
    }
    bytes.len()
}
