//! Strings as JSON writes them.

use std::fmt::Write as _;

/// A string as JSON.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_string(&mut out, text);
    out
}

/// A string as JSON, appended.
pub(crate) fn write_string(out: &mut String, text: &str) {
    write_escaped(out, text, |c| c < ' ');
}

/// A string as JSON in printable ASCII, appended.
pub(super) fn write_ascii_string(out: &mut String, text: &str) {
    write_escaped(out, text, |c| !(' '..='~').contains(&c));
}

/// A piece of a string as JSON, without the quotes around it, appended.
pub(crate) fn write_piece(out: &mut String, text: &str) {
    escape(out, text, |c| c < ' ');
}

/// Such a piece in printable ASCII.
pub(super) fn write_ascii_piece(out: &mut String, text: &str) {
    escape(out, text, |c| !(' '..='~').contains(&c));
}

fn write_escaped(out: &mut String, text: &str, as_number: fn(char) -> bool) {
    out.push('"');
    escape(out, text, as_number);
    out.push('"');
}

fn escape(out: &mut String, text: &str, as_number: fn(char) -> bool) {
    let mut plain = 0;
    for (at, c) in text.char_indices() {
        let escape = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            c if as_number(c) => "",
            _ => continue,
        };
        out.push_str(&text[plain..at]);
        out.push_str(escape);
        if escape.is_empty() {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
        plain = at + c.len_utf8();
    }
    out.push_str(&text[plain..]);
}
