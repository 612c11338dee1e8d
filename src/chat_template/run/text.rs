//! How Python writes values: `str()` and `repr()`.

use std::fmt::Write as _;

use super::fault::Fault;
use super::object::{Py, View};

/// How deep a printed value may nest.
const DEPTH: usize = 200;

/// Python's `str()`.
pub(super) fn str_of(value: &Py) -> Result<String, Fault> {
    let mut out = String::new();
    write_str(value, &mut out)?;
    Ok(out)
}

/// Python's `str()`, appended.
pub(super) fn write_str(value: &Py, out: &mut String) -> Result<(), Fault> {
    match value {
        Py::Str(text) => {
            out.push_str(text);
            Ok(())
        }
        Py::Undefined(_) => Ok(()),
        other => write_repr(other, out, 0),
    }
}

/// Python's `repr()`.
pub(super) fn repr_of(value: &Py) -> Result<String, Fault> {
    let mut out = String::new();
    write_repr(value, &mut out, 0)?;
    Ok(out)
}

fn write_repr(value: &Py, out: &mut String, depth: usize) -> Result<(), Fault> {
    if depth > DEPTH {
        return Err(Fault::Limit(
            crate::chat_template::Limit::Recursion,
            DEPTH as u64,
        ));
    }
    if out.len() > super::MAX_VALUE {
        return Err(Fault::Limit(
            crate::chat_template::Limit::Memory,
            super::MAX_VALUE as u64,
        ));
    }
    match value {
        Py::Undefined(_) => out.push_str("Undefined"),
        Py::None => out.push_str("None"),
        Py::Bool(true) => out.push_str("True"),
        Py::Bool(false) => out.push_str("False"),
        Py::Int(number) => {
            let _ = write!(out, "{number}");
        }
        Py::Big(number) => {
            let _ = write!(out, "{number}");
        }
        Py::Float(number) => out.push_str(&float(*number)),
        Py::Str(text) => quote(text, out),
        Py::List(list) => sequence(&list.items, "[", "]", out, depth)?,
        Py::Tuple(items) if items.len() == 1 => sequence(items, "(", ",)", out, depth)?,
        Py::Tuple(items) => sequence(items, "(", ")", out, depth)?,
        Py::Dict(dict) => {
            out.push('{');
            for (index, (key, item)) in dict.items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_repr(&key.0, out, depth + 1)?;
                out.push_str(": ");
                write_repr(item, out, depth + 1)?;
            }
            out.push('}');
        }
        Py::Range(start, stop, 1) => {
            let _ = write!(out, "range({start}, {stop})");
        }
        Py::Range(start, stop, step) => {
            let _ = write!(out, "range({start}, {stop}, {step})");
        }
        Py::View(kind, dict) => {
            let items: Vec<Py> = match kind {
                View::Keys => dict.items.keys().map(|key| key.0.clone()).collect(),
                View::Values => dict.items.values().cloned().collect(),
                View::Items => dict
                    .items
                    .iter()
                    .map(|(key, item)| Py::Tuple([key.0.clone(), item.clone()].into()))
                    .collect(),
            };
            out.push_str(value.type_name());
            sequence(&items, "([", "])", out, depth)?;
        }
        Py::Namespace(attributes) => {
            // A namespace prints its attributes as a dictionary.
            out.push_str("<Namespace {");
            for (index, (key, item)) in attributes.borrow().iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                quote(key, out);
                out.push_str(": ");
                write_repr(item, out, depth + 1)?;
            }
            out.push_str("}>");
        }
        Py::Loop(state) => {
            let _ = write!(
                out,
                "<LoopContext {}/{}>",
                *state.index.borrow() + 1,
                state.items.len()
            );
        }
        // Python prints an address here, which is another one every time.
        other => {
            let _ = write!(out, "<{} object>", other.type_name());
        }
    }
    Ok(())
}

fn sequence(
    items: &[Py],
    open: &str,
    close: &str,
    out: &mut String,
    depth: usize,
) -> Result<(), Fault> {
    out.push_str(open);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_repr(item, out, depth + 1)?;
    }
    out.push_str(close);
    Ok(())
}

/// A string between quotes, double ones only where it has single ones alone.
fn quote(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if printable(c) => out.push(c),
            c => {
                let code = u32::from(c);
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(quote);
}

/// `str.isprintable` of one character. The categories that Python does not print are those that Rust's `Debug`
/// escapes, apart from the combining marks, which it escapes for the sake of terminals.
pub(super) fn printable(c: char) -> bool {
    if c == ' ' || c.is_ascii_graphic() {
        return true;
    }
    if c.is_whitespace() || c.is_control() {
        return false;
    }
    let mut escaped = c.escape_debug();
    match (escaped.next(), escaped.next()) {
        (Some('\\'), Some('u')) => combining(c),
        _ => true,
    }
}

/// Whether Unicode calls it a mark.
fn combining(c: char) -> bool {
    use std::sync::OnceLock;
    static MARKS: OnceLock<Vec<(char, char)>> = OnceLock::new();
    let marks = MARKS.get_or_init(|| class(r"\p{M}"));
    let after = marks.partition_point(|(start, _)| *start <= c);
    after
        .checked_sub(1)
        .and_then(|at| marks.get(at))
        .is_some_and(|(_, end)| c <= *end)
}

/// The value of a decimal digit of any script. Each script's ten digits are one run of the Unicode tables.
pub(super) fn decimal_digit(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    if !c.is_numeric() {
        return None;
    }
    use std::sync::OnceLock;
    static DIGITS: OnceLock<Vec<(char, char)>> = OnceLock::new();
    let digits = DIGITS.get_or_init(|| class(r"\p{Nd}"));
    let (start, _) = digits
        .iter()
        .find(|(start, end)| (*start..=*end).contains(&c))?;
    Some((u32::from(c) - u32::from(*start)) % 10)
}

/// The ranges of a class of characters, asked of the tables of the regex crate.
fn class(pattern: &str) -> Vec<(char, char)> {
    use regex_syntax::hir::{Class, HirKind};
    match regex_syntax::parse(pattern).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class
            .iter()
            .map(|range| (range.start(), range.end()))
            .collect(),
        _ => Vec::new(),
    }
}

/// Python's `repr` of a float: the shortest digits that read back as the same, with an exponent outside 1e-4..1e16.
pub(super) fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) || value == 0.0 {
        let plain = value.to_string();
        return if plain.contains('.') {
            plain
        } else {
            format!("{plain}.0")
        };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::{float, repr_of};
    use crate::chat_template::run::object::Py;

    #[test]
    fn floats_are_spelt_as_python_spells_them() {
        let spelt = [
            1.0,
            0.1,
            1e16,
            1e15,
            1e-4,
            1e-5,
            -0.0,
            1.5e300,
            123_456_789.125,
        ]
        .map(float);
        assert_eq!(
            spelt,
            [
                "1.0",
                "0.1",
                "1e+16",
                "1000000000000000.0",
                "0.0001",
                "1e-05",
                "-0.0",
                "1.5e+300",
                "123456789.125"
            ]
        );
    }

    #[test]
    fn strings_are_quoted_as_python_quotes_them() {
        let quoted = [
            "a",
            "it's",
            "it's \"so\"",
            "\n\u{7}\u{a0}\u{2028}é\u{301}\u{200b}",
        ]
        .map(|text| repr_of(&Py::str(text)).expect("short"));
        assert_eq!(
            quoted,
            [
                "'a'",
                "\"it's\"",
                "'it\\'s \"so\"'",
                "'\\n\\x07\\xa0\\u2028é\u{301}\\u200b'"
            ]
        );
    }
}
