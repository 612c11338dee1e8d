//! Offsets as a page counts them.

use std::ops::Range;

/// Turns offsets in bytes into offsets in UTF-16 code units, by which strings are indexed in JavaScript.
#[derive(Debug)]
pub(super) struct Units {
    /// For every [`APART`]th byte, how many units stand before the character that has it; empty where all of the text is ASCII.
    before: Vec<usize>,
    /// The text in bytes.
    bytes: Vec<u8>,
}

/// So many bytes are counted anew for an offset, at most.
const APART: usize = 64;

impl Units {
    pub(super) fn of(text: &str) -> Self {
        let mut before = Vec::new();
        if !text.is_ascii() {
            let mut units = 0;
            for (at, byte) in text.bytes().enumerate() {
                if at % APART == 0 {
                    before.push(units);
                }
                units += units_of(byte);
            }
        }
        Self {
            before,
            bytes: text.as_bytes().to_vec(),
        }
    }

    /// The offset in units. Within a character it is the one behind it.
    pub(super) fn at(&self, byte: usize) -> usize {
        let byte = byte.min(self.bytes.len());
        let block = byte / APART;
        let Some(before) = self.before.get(block).or(self.before.last()) else {
            return byte;
        };
        let from = (block * APART).min((self.before.len() - 1) * APART);
        let rest = self.bytes[from..byte].iter().map(|byte| units_of(*byte));
        before + rest.sum::<usize>()
    }

    pub(super) fn span(&self, span: &Range<usize>) -> [usize; 2] {
        [self.at(span.start), self.at(span.end)]
    }
}

/// The units of the character that a byte begins: none for a byte within one.
fn units_of(byte: u8) -> usize {
    match byte {
        0x80..=0xbf => 0,
        0xf0.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_counted_as_javascript_does() {
        for text in ["", "abc", "é", &"aé😀\n".repeat(70)] {
            let units = Units::of(text);
            for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
                assert_eq!(units.at(at), text[..at].encode_utf16().count(), "{at}");
            }
            assert_eq!(units.at(usize::MAX), text.encode_utf16().count());
        }
    }
}
