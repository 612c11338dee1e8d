//! Making text from templates, responses and fixtures harmless on a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns true if a terminal or its reader would take the character for something else than itself: control characters, the
/// marks that turn the direction of writing, and what takes no room at all.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// The text on one line: line feeds too are written as `\n`.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    replace(text, is_harmful, spell)
}

/// The text on its own lines; everything harmful but line feeds and tabs is spelled out.
pub(crate) fn block(text: &str) -> Cow<'_, str> {
    replace(text, |c| is_harmful(c) && !matches!(c, '\n' | '\t'), spell)
}

/// JSON text that means the same and shows no harmful character. JSON allows them in strings only, where each may be
/// written as `\uXXXX`.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    replace(
        text,
        |c| is_harmful(c) && !matches!(c, '\n' | '\r' | '\t'),
        |c, out| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        },
    )
}

fn spell(c: char, out: &mut String) {
    out.extend(c.escape_default());
}

fn replace(
    text: &str,
    is_replaced: impl Fn(char) -> bool,
    spell: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    let Some(first) = text.find(&is_replaced) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        if is_replaced(c) {
            spell(c, &mut out);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// At most `limit` characters of the text on one line; of a longer one the beginning and the end, and how much is left
/// out. No word is cut where that leaves most of what there is room for.
pub(crate) fn short(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return line(text).into_owned();
    }
    let (head, tail) = (limit * 2 / 3, limit / 3);
    let at = |index: usize| {
        text.char_indices()
            .nth(index)
            .map_or(text.len(), |(at, _)| at)
    };
    let head = before_a_word(text, at(head));
    let tail = behind_a_word(text, at(count - tail));
    let left_out = count - head.chars().count() - tail.chars().count();
    format!("{} … {left_out} characters … {}", line(head), line(tail))
}

/// The text up to a byte offset, or up to the word that would be cut there, if that is at least half of it.
fn before_a_word(text: &str, end: usize) -> &str {
    let (head, rest) = text.split_at(end);
    let is_cut = !head.ends_with(char::is_whitespace) && !rest.starts_with(char::is_whitespace);
    let word = head
        .rfind(char::is_whitespace)
        .filter(|at| is_cut && at * 2 >= end);
    head[..word.unwrap_or(end)].trim_end()
}

/// The text from a byte offset on, or behind the word that would be cut there, if that is at least half of it.
fn behind_a_word(text: &str, start: usize) -> &str {
    let (head, tail) = text.split_at(start);
    let is_cut = !head.ends_with(char::is_whitespace) && !tail.starts_with(char::is_whitespace);
    let word = tail
        .find(char::is_whitespace)
        .filter(|at| is_cut && at * 2 <= tail.len());
    tail[word.unwrap_or(0)..].trim_start()
}

/// At most the last `limit` characters of the text on one line, and how much is left out.
pub(crate) fn end(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    match text.char_indices().nth(count.saturating_sub(limit)) {
        Some((at, _)) if at > 0 => format!("{} characters … {}", count - limit, line(&text[at..])),
        _ => line(text).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}[31mb\u{9b}c\u{202e}d\u{7f}\r\n\u{200b}\u{e0001}é😀";

    #[test]
    fn nothing_harmful_is_left_on_a_line() {
        assert_eq!(
            line(HOSTILE),
            "a\\u{1b}[31mb\\u{9b}c\\u{202e}d\\u{7f}\\r\\n\\u{200b}\\u{e0001}é😀"
        );
    }

    #[test]
    fn a_block_keeps_its_lines() {
        assert_eq!(block("a\n\tb\u{7}\r\n"), "a\n\tb\\u{7}\\r\n");
    }

    #[test]
    fn json_means_the_same() {
        let written = obverse::value::json::quote(HOSTILE);
        let safe = json(&written);
        assert!(!safe.chars().any(is_harmful), "{safe:?}");
        assert_eq!(
            obverse::value::json::parse(&safe).unwrap().as_str(),
            Some(HOSTILE)
        );
    }

    #[test]
    fn a_long_text_is_cut_between_words() {
        let text = "one two three four five six seven eight nine ten eleven";
        assert_eq!(
            short(text, 30),
            "one two three four … 27 characters … ten eleven"
        );
        assert_eq!(
            short("one two\nthree four five", 12),
            "one two … 12 characters … five"
        );
        // A word that is longer than half of the room is cut.
        assert_eq!(
            short(&format!("a {}", "b".repeat(20)), 6),
            "a bb … 16 characters … bb"
        );
    }

    #[test]
    fn harmless_text_is_not_copied() {
        assert!(matches!(line("é <|im|> 😀"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_long_text_keeps_both_ends() {
        assert_eq!(short("é\n", 2), "é\\n");
        assert_eq!(short(&"éa".repeat(9), 6), "éaéa … 12 characters … éa");
        assert_eq!(end("é\n", 2), "é\\n");
        assert_eq!(end("aé\n", 2), "1 characters … é\\n");
        assert_eq!(end("", 2), "");
    }
}
