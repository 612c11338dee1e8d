//! Text from bytes that may be cut inside a character.

/// Decodes UTF-8 that arrives in pieces; the start of a character waits for its rest.
///
/// ```
/// use obverse::parser::Utf8Decoder;
/// let mut decoder = Utf8Decoder::default();
/// assert_eq!(decoder.push(b"\xe2\x82").unwrap(), "");
/// assert_eq!(decoder.push(b"\xac!").unwrap(), "\u{20ac}!");
/// decoder.finish().unwrap();
/// ```
#[derive(Debug, Default)]
pub struct Utf8Decoder {
    pending: Vec<u8>,
    /// How many bytes came before those that are pending.
    offset: usize,
}

/// Bytes that are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid UTF-8 at byte {offset}{}", if *.truncated { " (the input ends inside a character)" } else { "" })]
#[non_exhaustive]
pub struct Utf8Error {
    /// Bytes of the input before the offending one.
    pub offset: usize,
    /// True if the input merely ends too early.
    pub truncated: bool,
}

impl Utf8Decoder {
    /// The text that is complete with `bytes`.
    ///
    /// # Errors
    ///
    /// When a byte cannot belong to UTF-8 text. Nothing of this piece is returned then.
    pub fn push(&mut self, bytes: &[u8]) -> Result<String, Utf8Error> {
        self.pending.extend_from_slice(bytes);
        let complete = match std::str::from_utf8(&self.pending) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(error) => {
                return Err(Utf8Error {
                    offset: self.offset + error.valid_up_to(),
                    truncated: false,
                });
            }
        };
        let rest = self.pending.split_off(complete);
        let text = std::mem::replace(&mut self.pending, rest);
        self.offset += text.len();
        // Validated above; the lossy form cannot differ.
        Ok(String::from_utf8(text).unwrap_or_default())
    }

    /// The text before the byte that [`push`](Self::push) has refused; nothing of it was returned.
    ///
    /// ```
    /// use obverse::parser::Utf8Decoder;
    /// let mut decoder = Utf8Decoder::default();
    /// assert!(decoder.push(b"abc\xff").is_err());
    /// assert_eq!(decoder.before_error(), "abc");
    /// ```
    pub fn before_error(&self) -> &str {
        match std::str::from_utf8(&self.pending) {
            Ok(text) => text,
            // Validated up to there.
            Err(error) => {
                let valid = &self.pending[..error.valid_up_to()];
                std::str::from_utf8(valid).unwrap_or_default()
            }
        }
    }

    /// Ends the input.
    ///
    /// # Errors
    ///
    /// When it ends inside a character.
    pub fn finish(self) -> Result<(), Utf8Error> {
        if self.pending.is_empty() {
            return Ok(());
        }
        Err(Utf8Error {
            offset: self.offset,
            truncated: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_gives_the_same_text() {
        let text = "a\u{e9}\u{20ac}\u{1f600}z";
        for cut in 0..=text.len() {
            let mut decoder = Utf8Decoder::default();
            let (head, tail) = text.as_bytes().split_at(cut);
            let decoded = decoder.push(head).unwrap() + &decoder.push(tail).unwrap();
            assert_eq!(decoded, text);
            decoder.finish().unwrap();
        }
    }

    #[test]
    fn names_the_offset_of_a_bad_byte() {
        let mut decoder = Utf8Decoder::default();
        decoder.push(b"abc").unwrap();
        let error = decoder.push(b"d\xffe").unwrap_err();
        assert_eq!(
            error,
            Utf8Error {
                offset: 4,
                truncated: false
            }
        );
    }

    #[test]
    fn a_character_left_open_is_an_error() {
        let mut decoder = Utf8Decoder::default();
        decoder.push(b"ab\xe2\x82").unwrap();
        assert_eq!(
            decoder.finish().unwrap_err(),
            Utf8Error {
                offset: 2,
                truncated: true
            }
        );
    }
}
