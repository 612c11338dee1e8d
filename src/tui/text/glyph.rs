//! How a character is shown: as itself, or spelled out where a terminal or its reader would take it for something else.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar as _;

/// The picture of a character on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glyph {
    /// The text that is drawn; for a mark, the text that is added to the character before it.
    pub(crate) text: Cow<'static, str>,
    /// The columns that it takes; none for a mark.
    pub(crate) width: usize,
    /// True if something else than the character itself is shown.
    pub(crate) is_spelled: bool,
}

/// The picture of a character.
pub(crate) fn glyph(c: char) -> Glyph {
    if (' '..='~').contains(&c) {
        return plain(c, 1);
    }
    let picture = match c {
        '\n' => '⏎',
        '\t' => '⇥',
        '\r' => '␍',
        '\u{7f}' => '␡',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('␀'),
        _ => '\0',
    };
    if picture != '\0' {
        return Glyph {
            text: String::from(picture).into(),
            width: 1,
            is_spelled: true,
        };
    }
    match c.width() {
        Some(width) if !is_deceptive(c) => plain(c, width),
        _ => {
            let mut text = String::new();
            let _ = write!(text, "⟨{:X}⟩", u32::from(c));
            Glyph {
                width: text.chars().count(),
                text: text.into(),
                is_spelled: true,
            }
        }
    }
}

fn plain(c: char, width: usize) -> Glyph {
    Glyph {
        text: String::from(c).into(),
        width,
        is_spelled: false,
    }
}

/// Characters that cannot be seen, that change the direction of writing, or that change how wide their neighbours are.
fn is_deceptive(c: char) -> bool {
    c.is_control()
        || c.is_whitespace() && c != ' '
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202f}'
                | '\u{205f}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1f3fb}'..='\u{1f3ff}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// At most `width` columns of the text on one line, everything spelled out that must be; where it is longer, `…` ends it.
pub(crate) fn line(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let glyph = glyph(c);
        if used + glyph.width > width {
            // Room for the sign that there is more.
            while used + 1 > width {
                match out.pop() {
                    Some(last) => used -= last.width().unwrap_or(0),
                    None => return out,
                }
            }
            out.push('…');
            return out;
        }
        // A mark needs something that it can stand on.
        if glyph.width > 0 || !out.is_empty() {
            out.push_str(&glyph.text);
        }
        used += glyph.width;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr as _;

    #[test]
    fn nothing_that_a_terminal_acts_upon_is_left() {
        for c in '\0'..=char::MAX {
            let shown = glyph(c);
            assert!(!shown.text.chars().any(is_deceptive), "{c:?}");
            assert_eq!(shown.text.width(), shown.width, "{c:?}");
        }
    }

    #[test]
    fn invisible_characters_are_spelled() {
        assert_eq!(
            line("a\u{1b}[31m\u{202e}\u{200b}é\0\n\t", 80),
            "a␛[31m⟨202E⟩⟨200B⟩é␀⏎⇥"
        );
    }

    #[test]
    fn a_line_is_no_wider_than_asked() {
        let text = "ab漢字\u{301}\u{1b}\u{202e}z";
        for width in 0..20 {
            let shown = line(text, width);
            assert!(shown.width() <= width, "{shown:?}");
        }
        assert_eq!(line("abcdef", 4), "abc…");
        assert_eq!(line("漢字漢字", 4), "漢…");
        assert_eq!(line("e\u{301}", 1), "e\u{301}");
    }
}
