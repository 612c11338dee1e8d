//! The parser `gemma4-tool-call`: calls whose strings stand between marks of their own and whose keys stand bare, put into JSON.
//!
//! As the reference does it: the strings are taken out of the text and leave their numbers between two NULs, bare words between `{` or
//! `,` and `:` are put in quotes, and the strings are put back as JSON. One pass for each, unless the text has NULs of its own: then
//! the strings are put back one after the other, as the reference puts them back, since one may come to stand beside such a NUL.

use std::fmt::Write as _;

use crate::value::json;

/// The marker that opens and closes a string.
const MARK: &str = "<|\"|>";

/// How many bytes may be read while strings are put back one after the other, for each byte of the text.
const PASSES: usize = 1000;

/// The text in JSON, as far as it goes; `None` where that takes too long.
pub(super) fn to_json(text: &str) -> Option<String> {
    let mut strings = Vec::new();
    let mut taken = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(MARK) {
        let body = &rest[start + MARK.len()..];
        let Some(length) = body.find(MARK) else {
            break;
        };
        let _ = write!(taken, "{}\0{}\0", &rest[..start], strings.len());
        strings.push(&body[..length]);
        rest = &body[length + MARK.len()..];
    }
    taken.push_str(rest);
    let quoted = quote_keys(&taken);
    if !text.contains('\0') {
        return Some(put_back(&quoted, &strings));
    }
    if quoted.len().saturating_mul(strings.len()) > text.len().saturating_mul(PASSES) + (1 << 20) {
        return None;
    }
    let mut text = quoted;
    for (number, string) in strings.iter().enumerate() {
        text = text.replace(&format!("\0{number}\0"), &json::quote(string));
    }
    Some(text)
}

/// Puts words between `{` or `,` and `:` in quotes, wherever they stand.
fn quote_keys(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    while let Some(at) = rest.find(['{', ',']) {
        let (before, after) = rest.split_at(at + 1);
        out.push_str(before);
        let word = after.find(|c| !is_word(c)).unwrap_or(after.len());
        if word > 0 && after[word..].starts_with(':') {
            let _ = write!(out, "\"{}\":", &after[..word]);
            rest = &after[word + 1..];
        } else {
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// `\w` of Python's `re`.
fn is_word(c: char) -> bool {
    c == '_' || crate::pattern::is_alphanumeric_to_python(c)
}

/// Puts strings back where their numbers stand between NULs.
fn put_back(text: &str, strings: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, piece) in text.split('\0').enumerate() {
        let string = piece
            .parse()
            .ok()
            .and_then(|number: usize| strings.get(number));
        match string {
            // Every other piece is a number, there being no NULs but those that were put there.
            Some(string) if at % 2 == 1 => out.push_str(&json::quote(string)),
            _ => out.push_str(piece),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::to_json;

    #[test]
    fn strings_and_keys_are_put_in_quotes() {
        assert_eq!(
            to_json("{city:<|\"|>Par\"is, {a:1}<|\"|>,days:3}").as_deref(),
            Some("{\"city\":\"Par\\\"is, {a:1}\",\"days\":3}")
        );
        assert_eq!(to_json("{a:<|\"|>x").as_deref(), Some("{\"a\":<|\"|>x"));
        assert_eq!(
            to_json("\u{0}000\0<|\"|>x<|\"|>").as_deref(),
            Some("\u{0}000\0\"x\"")
        );
        assert_eq!(
            to_json("\x000\0<|\"|>x<|\"|>").as_deref(),
            Some("\"x\"\"x\"")
        );
    }
}
