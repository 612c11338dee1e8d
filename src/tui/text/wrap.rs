//! Sentences in rows of a width, broken between words.

use super::glyph::{glyph, line};

/// The rows of a text that is read, each of at most `width` columns. A word that is wider than a row is broken. Several spaces within a row
/// stay several, since the text may quote another.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = String::new();
    let mut used = 0;
    for word in text.split([' ', '\n']) {
        let word = line(word, usize::MAX);
        let taken = columns(&word);
        if !row.is_empty() && used + 1 + taken > width {
            rows.push(row.trim_end().to_owned());
            row.clear();
            used = 0;
        }
        if !row.is_empty() {
            row.push(' ');
            used += 1;
        }
        for c in word.chars() {
            let wide = glyph(c).width;
            if used > 0 && used + wide > width {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            row.push(c);
            used += wide;
        }
    }
    rows.push(row);
    rows
}

/// The first `most` rows of a text, as [`wrapped`] makes them. Where there are more, `…` ends the last.
pub(crate) fn wrapped_to(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut rows = wrapped(text, width);
    if rows.len() > most {
        rows.truncate(most);
        if let Some(last) = rows.last_mut() {
            while columns(last) + 2 > width {
                match last.rfind(' ') {
                    Some(at) => last.truncate(at),
                    None if last.pop().is_some() => {}
                    None => break,
                }
            }
            last.push_str(" …");
        }
    }
    rows
}

/// The columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|c| glyph(c).width).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_between_words() {
        let text = "one two  three\nfour";
        assert_eq!(wrapped(text, 8), ["one two", "three", "four"]);
        assert_eq!(wrapped(text, 100), ["one two  three four"]);
        assert_eq!(wrapped("", 8), [""]);
    }

    #[test]
    fn a_word_that_is_too_wide_is_broken() {
        assert_eq!(wrapped("a abcdefg h", 4), ["a", "abcd", "efg", "h"]);
        assert_eq!(wrapped("ab", 0), ["a", "b"]);
    }

    #[test]
    fn what_is_left_out_is_shown() {
        assert_eq!(wrapped_to("one two three", 5, 2), ["one", "two …"]);
        assert_eq!(wrapped_to("one two three", 5, 3), ["one", "two", "three"]);
    }
}
