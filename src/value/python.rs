//! How Python spells values and reads numbers, where that shows in what it writes or takes.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, ClassUnicode, HirKind};

use super::write::{Style, write_value};
use super::{Integer, Value};

/// The value as Python's `repr()` spells it.
///
/// ```
/// use obverse::value::{json, python};
/// let value = json::parse(r#"{"a": "it's", "b": null, "c": [true, 1.0, NaN]}"#).unwrap();
/// assert_eq!(python::repr(&value), r#"{'a': "it's", 'b': None, 'c': [True, 1.0, nan]}"#);
/// ```
pub fn repr(value: &Value) -> String {
    let style = Style {
        words: ["None", "True", "False"],
        float: |out, float| out.push_str(&float_repr(float)),
        string: |out, text| out.push_str(&str_repr(text)),
        // Which quotes stand around it depends on all of it.
        piece: None,
        sort_keys: false,
        indent: None,
        item_separator: ", ",
        key_separator: ": ",
    };
    write_value(value, &style)
}

/// A string as Python's `repr()` spells it: in single quotes, unless it has one and no double quote.
///
/// Which characters are printable follows the Unicode version of this build, which may be newer than a given Python's.
pub fn str_repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c if u32::from(c) <= 0xff && !is_printable(c) => {
                out.push_str(&format!("\\x{:02x}", u32::from(c)))
            }
            c if is_printable(c) => out.push(c),
            c if u32::from(c) <= 0xffff => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    out.push(quote);
    out
}

/// A double as Python's `repr()` spells it: the shortest digits that read back, with an exponent below 1e-4 and from
/// 1e16.
pub fn float_repr(float: f64) -> String {
    if float.is_nan() {
        return "nan".to_owned();
    }
    if float.is_infinite() {
        return if float > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{float:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if float != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let plain = format!("{float}");
    if plain.contains('.') {
        plain
    } else {
        format!("{plain}.0")
    }
}

/// Returns true if Python's `str.isspace()` holds for the character: Unicode white space, and the separators U+001C to U+001F.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The text without the white space around it: Python's `str.strip()`.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Returns true if `\w` matches the character in Python's `regex` module: what Unicode calls a word character.
///
/// Follows the Unicode version of this build.
pub fn is_word(c: char) -> bool {
    static WORD: OnceLock<Option<ClassUnicode>> = OnceLock::new();
    c.is_ascii_alphanumeric()
        || c == '_'
        || !c.is_ascii() && contains(WORD.get_or_init(|| class(r"\w")), c)
}

fn is_printable(c: char) -> bool {
    static HIDDEN: OnceLock<Option<ClassUnicode>> = OnceLock::new();
    !contains(
        HIDDEN.get_or_init(|| class(r"[\p{C}\p{Zl}\p{Zp}\p{Zs}]")),
        c,
    )
}

fn class(pattern: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(pattern).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        _ => None,
    }
}

fn contains(class: &Option<ClassUnicode>, c: char) -> bool {
    class.as_ref().is_some_and(|class| {
        let ranges = class.ranges();
        let index = ranges.partition_point(|range| range.end() < c);
        ranges.get(index).is_some_and(|range| range.start() <= c)
    })
}

/// The integer that Python's `int(text)` gives: white space around it, a sign, decimal digits of any script, single
/// underscores between digits. `None` where Python raises `ValueError`, with one exception: Python refuses more than
/// 4300 digits by default, this takes any number.
///
/// ```
/// use obverse::value::{python, Integer};
/// assert_eq!(python::int(" +1_000\n"), Some(Integer::from(1000)));
/// assert_eq!(python::int("٣"), Some(Integer::from(3)));
/// assert_eq!(python::int("1__0"), None);
/// ```
pub fn int(text: &str) -> Option<Integer> {
    Integer::from_digits(&without_underscores(&ascii_number(text)?)?)
}

/// The double that Python's `float(text)` gives: as [`int`], with a fraction, an exponent, `inf`, `infinity` and `nan` in
/// any case. `None` where Python raises `ValueError`. What is too large is infinite.
pub fn float(text: &str) -> Option<f64> {
    without_underscores(&ascii_number(text)?)?.parse().ok()
}

/// The text with decimal digits of any script as ASCII digits and without white space around it; `None` when it holds
/// a character that no number has.
fn ascii_number(text: &str) -> Option<String> {
    // Here the separators U+001C to U+001F are no white space to Python, unlike in `strip`.
    text.trim()
        .chars()
        .map(|c| match c {
            c if c.is_ascii() => Some(c),
            c => digit(c),
        })
        .collect()
}

/// The ASCII digit for a decimal digit of any script.
fn digit(c: char) -> Option<char> {
    let code = u32::from(c);
    let index = ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?;
    char::from_digit(code - ZEROS[index], 10)
}

/// The text without the underscores between digits; `None` when there is one elsewhere.
fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
    let misplaced = |(index, byte): (usize, &u8)| {
        *byte == b'_' && !(index > 0 && is_digit(index - 1) && is_digit(index + 1))
    };
    (!bytes.iter().enumerate().any(misplaced)).then(|| text.replace('_', ""))
}

/// The zero of each run of ten decimal digits, as the reference's Python 3.11 knows them (Unicode 14).
#[rustfmt::skip]
const ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
    0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620,
    0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0,
    0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60,
    0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];
