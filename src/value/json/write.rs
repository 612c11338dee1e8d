//! Writing values, with an explicit stack: the depth of a value costs no stack.

use std::fmt::Write as _;

use crate::value::{Iter, Key, Value, python};

/// How to write JSON: the options of Python's `json.dumps`. The default is its default, but with `ensure_ascii` off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// Write everything outside printable ASCII as `\uXXXX`.
    pub ensure_ascii: bool,
    /// Write an object's members in the order of their keys' code points.
    pub sort_keys: bool,
    /// Put each item and member on a line of its own, indented by this much for each level.
    pub indent: Option<String>,
    /// What stands between items and members.
    pub item_separator: String,
    /// What stands between a key and its value.
    pub key_separator: String,
}

impl Default for Format {
    fn default() -> Self {
        Self {
            ensure_ascii: false,
            sort_keys: false,
            indent: None,
            item_separator: ", ".to_owned(),
            key_separator: ": ".to_owned(),
        }
    }
}

impl Format {
    /// No white space: `separators=(",", ":")`.
    pub fn compact() -> Self {
        Self {
            item_separator: ",".to_owned(),
            key_separator: ":".to_owned(),
            ..Self::default()
        }
    }

    /// One item a line: `indent=spaces`.
    pub fn indented(spaces: usize) -> Self {
        Self {
            indent: Some(" ".repeat(spaces)),
            item_separator: ",".to_owned(),
            ..Self::default()
        }
    }

    /// The value in this format.
    ///
    /// ```
    /// use obverse::value::json::{self, Format};
    /// let value = json::parse(r#"{"b": [], "a": [1, "é"]}"#).unwrap();
    /// let format = Format { ensure_ascii: true, sort_keys: true, ..Format::indented(1) };
    /// assert_eq!(format.write(&value), "{\n \"a\": [\n  1,\n  \"\\u00e9\"\n ],\n \"b\": []\n}");
    /// ```
    pub fn write(&self, value: &Value) -> String {
        let style = Style {
            words: ["null", "true", "false"],
            float: write_float,
            string: if self.ensure_ascii {
                write_ascii_string
            } else {
                write_string
            },
            sort_keys: self.sort_keys,
            indent: self.indent.as_deref(),
            item_separator: &self.item_separator,
            key_separator: &self.key_separator,
        };
        write_value(value, &style)
    }
}

/// The value as Python's `json.dumps(value, ensure_ascii=False)` writes it.
///
/// ```
/// use obverse::value::json;
/// let value = json::parse(r#"{"a":[1e16,1.0,-0.0,1e-5],"b":"é\u0001"}"#).unwrap();
/// assert_eq!(json::to_string(&value), r#"{"a": [1e+16, 1.0, -0.0, 1e-05], "b": "é\u0001"}"#);
/// ```
pub fn to_string(value: &Value) -> String {
    Format::default().write(value)
}

/// A string as JSON.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_string(&mut out, text);
    out
}

/// What tells one way of writing values from another.
pub(in crate::value) struct Style<'a> {
    /// For null, true and false.
    pub(in crate::value) words: [&'a str; 3],
    pub(in crate::value) float: fn(&mut String, f64),
    pub(in crate::value) string: fn(&mut String, &str),
    pub(in crate::value) sort_keys: bool,
    pub(in crate::value) indent: Option<&'a str>,
    pub(in crate::value) item_separator: &'a str,
    pub(in crate::value) key_separator: &'a str,
}

/// What is left to write of a list or an object.
enum Rest<'a> {
    Items(std::slice::Iter<'a, Value>),
    Members(Iter<'a>),
    Sorted(std::vec::IntoIter<(&'a Key, &'a Value)>),
}

impl<'a> Rest<'a> {
    fn next(&mut self) -> Option<(Option<&'a Key>, &'a Value)> {
        match self {
            Self::Items(items) => items.next().map(|value| (None, value)),
            Self::Members(members) => members.next().map(|(key, value)| (Some(key), value)),
            Self::Sorted(members) => members.next().map(|(key, value)| (Some(key), value)),
        }
    }

    fn close(&self) -> char {
        if matches!(self, Self::Items(_)) {
            ']'
        } else {
            '}'
        }
    }
}

pub(in crate::value) fn write_value(value: &Value, style: &Style<'_>) -> String {
    let mut out = String::new();
    let mut stack: Vec<Rest<'_>> = Vec::new();
    let mut next = Some(value);
    loop {
        let mut first = false;
        if let Some(value) = next.take() {
            match value {
                Value::Null => out.push_str(style.words[0]),
                Value::Bool(true) => out.push_str(style.words[1]),
                Value::Bool(false) => out.push_str(style.words[2]),
                Value::Int(integer) => {
                    let _ = write!(out, "{integer}");
                }
                Value::Float(float) => (style.float)(&mut out, *float),
                Value::String(text) => (style.string)(&mut out, text),
                Value::Array(items) if items.is_empty() => out.push_str("[]"),
                Value::Object(members) if members.is_empty() => out.push_str("{}"),
                Value::Array(items) => {
                    out.push('[');
                    stack.push(Rest::Items(items.iter()));
                    first = true;
                }
                Value::Object(members) => {
                    out.push('{');
                    let mut sorted: Vec<_> = if style.sort_keys {
                        members.iter().collect()
                    } else {
                        Vec::new()
                    };
                    sorted.sort_by_key(|(key, _)| *key);
                    stack.push(if style.sort_keys {
                        Rest::Sorted(sorted.into_iter())
                    } else {
                        Rest::Members(members.iter())
                    });
                    first = true;
                }
            }
        }
        let Some(rest) = stack.last_mut() else {
            return out;
        };
        match rest.next() {
            Some((key, value)) => {
                if !first {
                    out.push_str(style.item_separator);
                }
                new_line(&mut out, style, stack.len());
                if let Some(key) = key {
                    (style.string)(&mut out, key);
                    out.push_str(style.key_separator);
                }
                next = Some(value);
            }
            None => {
                let close = rest.close();
                stack.pop();
                new_line(&mut out, style, stack.len());
                out.push(close);
            }
        }
    }
}

fn new_line(out: &mut String, style: &Style<'_>, depth: usize) {
    if let Some(indent) = style.indent {
        out.push('\n');
        for _ in 0..depth {
            out.push_str(indent);
        }
    }
}

fn write_float(out: &mut String, float: f64) {
    if float.is_nan() {
        out.push_str("NaN");
    } else if float.is_infinite() {
        out.push_str(if float > 0.0 { "Infinity" } else { "-Infinity" });
    } else {
        out.push_str(&python::float_repr(float));
    }
}

/// A string as JSON, appended.
pub(crate) fn write_string(out: &mut String, text: &str) {
    write_escaped(out, text, |c| c < ' ');
}

fn write_ascii_string(out: &mut String, text: &str) {
    write_escaped(out, text, |c| !(' '..='~').contains(&c));
}

/// A piece of a string as JSON, without the quotes around it, appended.
pub(crate) fn write_piece(out: &mut String, text: &str) {
    escape(out, text, |c| c < ' ');
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
