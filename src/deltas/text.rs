//! Stripping text as it arrives of the white space around it.

use crate::value::python;

/// A writer that passes a text's pieces on, except for white space that may turn out to be the text's end.
#[derive(Debug, Clone, Default)]
pub(super) struct Stripped {
    begun: bool,
    space: String,
}

impl Stripped {
    /// Begins another text.
    pub(super) fn reset(&mut self) {
        self.begun = false;
        self.space.clear();
    }

    /// Adds more of the text, and gives the part that is certain to `give`.
    #[inline]
    pub(super) fn push(&mut self, strip: bool, piece: &str, mut give: impl FnMut(&str)) {
        if !strip {
            if !piece.is_empty() {
                give(piece);
            }
            return;
        }
        // Nearly every piece: in the middle of a text, with no white space at its end.
        let ends_in_text = |byte: &u8| byte.is_ascii_graphic();
        if self.begun && self.space.is_empty() && piece.as_bytes().last().is_some_and(ends_in_text)
        {
            return give(piece);
        }
        let piece = if self.begun {
            piece
        } else {
            piece.trim_start_matches(python::is_space)
        };
        let text = piece.trim_end_matches(python::is_space);
        if !text.is_empty() {
            self.begun = true;
            if !self.space.is_empty() {
                give(&self.space);
                self.space.clear();
            }
            give(text);
        }
        self.space.push_str(&piece[text.len()..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_are_the_stripped_text() {
        let text = " \n\u{a0}a  b\u{1c} c \n ";
        for size in 1..5 {
            let (mut stripped, mut given) = (Stripped::default(), String::new());
            let characters: Vec<char> = text.chars().collect();
            for piece in characters.chunks(size) {
                let piece: String = piece.iter().collect();
                stripped.push(true, &piece, |text| given.push_str(text));
                assert!(python::strip(text).starts_with(&given));
                assert_eq!(given, python::strip(&given));
            }
            assert_eq!(given, python::strip(text));
        }
    }
}
