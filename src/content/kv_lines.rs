//! The content parser `kv-lines`: an object from lines of key, separator, value.

use std::ops::Range;

use super::error::{ContentError, ContentErrorKind as Kind};
use super::scalar::Strip;
use super::{Lines, Places, ValueParser};
use crate::value::{Map, Value, json, python};

#[derive(Debug, Clone)]
pub(super) struct KvLines {
    line_sep: LineSep,
    /// A separator that cannot be used shows only at the first line that is not empty.
    kv_sep: Result<String, ContentError>,
    strip: Strip,
    value_parser: ValueParser,
}

#[derive(Debug, Clone)]
enum LineSep {
    Text(String),
    /// Any run of white space: what Python's `split(None)` makes of a null.
    Space,
}

impl KvLines {
    pub(super) fn compile(args: &Map, note: &mut dyn FnMut(ContentError)) -> Self {
        let line_sep = match args.get("line_sep") {
            None => LineSep::Text("\n".to_owned()),
            Some(Value::String(text)) if !text.is_empty() => LineSep::Text(text.clone()),
            Some(Value::Null) => LineSep::Space,
            Some(other) => {
                note(not_a_separator("line_sep", other));
                LineSep::Space
            }
        };
        let kv_sep = match args.get("kv_sep") {
            None => Ok(":".to_owned()),
            Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
            Some(other) => Err(not_a_separator("kv_sep", other)),
        };
        Self {
            line_sep,
            kv_sep,
            strip: Strip::from_args(args),
            value_parser: ValueParser::compile(args),
        }
    }

    pub(super) fn form(&self) -> Option<Lines<'_>> {
        Some(Lines {
            line_sep: match &self.line_sep {
                LineSep::Text(text) => Some(text),
                LineSep::Space => None,
            },
            kv_sep: self.kv_sep.as_deref().ok()?,
            strip: self.strip.is_on(),
            values: self.value_parser.form()?,
        })
    }

    /// The parser that makes values of the pieces.
    pub(super) fn values(&self) -> &ValueParser {
        &self.value_parser
    }

    /// The error of separators that cannot be used.
    pub(super) fn fault(&self) -> Option<&ContentError> {
        self.kv_sep.as_ref().err()
    }

    /// Parses the text. `pass_over` is told of lines without the separator, of what is passed over within a value, and of lines
    /// whose value a later one with the same key replaces.
    pub(super) fn parse(
        &self,
        text: &str,
        pass_over: &mut dyn FnMut(Range<usize>),
    ) -> Result<Value, ContentError> {
        // The pieces are slices of the text, so their place is the distance between them.
        let place = |piece: &str| {
            let start = piece.as_ptr().addr() - text.as_ptr().addr();
            start..start + piece.len()
        };
        let mut places = Places::default();
        let lines: Box<dyn Iterator<Item = &str>> = match &self.line_sep {
            LineSep::Text(separator) => Box::new(text.split(separator.as_str())),
            LineSep::Space => {
                Box::new(text.split(python::is_space).filter(|line| !line.is_empty()))
            }
        };
        let mut out = Map::new();
        for line in lines {
            let line = self.strip.apply(line);
            if line.is_empty() {
                continue;
            }
            let Some((key, value)) =
                line.split_once(self.kv_sep.as_ref().map_err(Clone::clone)?.as_str())
            else {
                pass_over(place(line));
                continue;
            };
            let (key, value) = (self.strip.apply(key), self.strip.apply(value));
            let start = place(value).start;
            let parsed = self.value_parser.parse_noting(value, &mut |within| {
                pass_over(start + within.start..start + within.end);
            });
            let parsed = parsed.map_err(|error| {
                error.inside(&format!("value of {}", json::quote(key)), Some(start))
            })?;
            let (index, _) = out.insert_full(key, parsed);
            places.note(index, place(line), pass_over);
        }
        Ok(Value::Object(out))
    }
}

fn not_a_separator(name: &str, found: &Value) -> ContentError {
    let message = format!(
        "{name} must be a string that is not empty, not {}",
        json::to_string(found)
    );
    ContentError::new(Kind::Arguments, message)
}
