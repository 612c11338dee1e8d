//! Writing values as JSON.

use crate::value::quote::{write_ascii_piece, write_ascii_string, write_piece, write_string};
use crate::value::write::{Spell, Style, write_pieces, write_value};
use crate::value::{Value, python};

/// How to write JSON: the options of Python's `json.dumps`. The default is its default, but with `ensure_ascii` off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// Write everything outside printable ASCII as `\uXXXX`.
    pub ensure_ascii: bool,
    /// Write an object's members in the order of their keys' code points.
    pub sort_keys: bool,
    /// Put each item and member on a line of its own, indented by this much for each level.
    pub indent: Option<String>,
    /// The text between items and members.
    pub item_separator: String,
    /// The text between a key and its value.
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
        write_value(value, &self.style())
    }

    /// Hands the value in this format to `sink` in pieces, for text that is not to be in memory as a whole. A piece may
    /// end anywhere but within a character.
    ///
    /// ```
    /// use obverse::value::{Value, json::Format};
    /// let value = Value::from("é".repeat(100_000));
    /// let (mut whole, mut longest) = (String::new(), 0);
    /// Format::default().write_pieces(&value, &mut |piece| {
    ///     whole.push_str(piece);
    ///     longest = longest.max(piece.len());
    /// });
    /// assert_eq!(whole, Format::default().write(&value));
    /// assert!(longest < 100_000);
    /// ```
    pub fn write_pieces(&self, value: &Value, sink: &mut dyn FnMut(&str)) {
        let last = write_pieces(value, &self.style(), &mut |piece| {
            sink(piece);
            piece.clear();
        });
        sink(&last);
    }

    fn style(&self) -> Style<'_> {
        let (string, piece): (Spell, Spell) = match self.ensure_ascii {
            true => (write_ascii_string, write_ascii_piece),
            false => (write_string, write_piece),
        };
        Style {
            words: ["null", "true", "false"],
            float: write_float,
            string,
            piece: Some(piece),
            sort_keys: self.sort_keys,
            indent: self.indent.as_deref(),
            item_separator: &self.item_separator,
            key_separator: &self.key_separator,
        }
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

fn write_float(out: &mut String, float: f64) {
    if float.is_nan() {
        out.push_str("NaN");
    } else if float.is_infinite() {
        out.push_str(if float > 0.0 { "Infinity" } else { "-Infinity" });
    } else {
        out.push_str(&python::float_repr(float));
    }
}
