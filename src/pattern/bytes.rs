//! Sets of bytes, and the search for them.

/// A set of bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ByteSet {
    bits: [u64; 4],
    /// All of them, when there are at most three.
    few: [u8; 3],
    len: usize,
}

/// Below this length a look at each byte is faster than a vectorised search.
const SHORT: usize = 16;

impl ByteSet {
    pub(crate) const EMPTY: Self = Self {
        bits: [0; 4],
        few: [0; 3],
        len: 0,
    };

    pub(crate) fn add(&mut self, byte: u8) {
        if !self.contains(byte) {
            self.bits[usize::from(byte >> 6)] |= 1 << (byte & 63);
            if let Some(place) = self.few.get_mut(self.len) {
                *place = byte;
            }
            self.len += 1;
        }
    }

    pub(crate) fn contains(&self, byte: u8) -> bool {
        self.bits[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut both = *self;
        match other.few.get(..other.len) {
            Some(few) => few.iter().for_each(|byte| both.add(*byte)),
            None => (0..=255)
                .filter(|byte| other.contains(*byte))
                .for_each(|byte| both.add(byte)),
        }
        both
    }

    /// The distance to the first of them in the text.
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        let [a, b, c] = self.few;
        if text.len() >= SHORT {
            match self.len {
                0 => return None,
                1 => return memchr::memchr(a, text),
                2 => return memchr::memchr2(a, b, text),
                3 => return memchr::memchr3(a, b, c, text),
                _ => {}
            }
        }
        text.iter().position(|byte| self.contains(*byte))
    }

    /// The place of the last of them in the text.
    pub(crate) fn find_last(&self, text: &[u8]) -> Option<usize> {
        let [a, b, c] = self.few;
        if text.len() >= SHORT {
            match self.len {
                0 => return None,
                1 => return memchr::memrchr(a, text),
                2 => return memchr::memrchr2(a, b, text),
                3 => return memchr::memrchr3(a, b, c, text),
                _ => {}
            }
        }
        text.iter().rposition(|byte| self.contains(*byte))
    }
}

impl From<u8> for ByteSet {
    fn from(byte: u8) -> Self {
        std::iter::once(byte).collect()
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        let mut set = Self::default();
        bytes.into_iter().for_each(|byte| set.add(byte));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::ByteSet;

    #[test]
    fn the_first_of_them_is_found_however_many_they_are() {
        for bytes in ["", "a", "ab", "abc", "abcd", "a\u{e9}"] {
            let set: ByteSet = bytes.bytes().collect();
            for text in [
                "xyz",
                "xxb",
                "xxxxxxxxxxxxxxxxxxxxxxxxxc",
                "cxxbxxxxxxaxxxxxxxxxxxxxxx",
                "x\u{e9}",
            ] {
                let expected = text
                    .bytes()
                    .position(|byte| bytes.as_bytes().contains(&byte));
                assert_eq!(set.find(text.as_bytes()), expected, "{bytes} in {text}");
                let expected = text
                    .bytes()
                    .rposition(|byte| bytes.as_bytes().contains(&byte));
                let found = set.find_last(text.as_bytes());
                assert_eq!(found, expected, "{bytes} last in {text}");
            }
        }
    }
}
