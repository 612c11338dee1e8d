//! The output of the verbs for programs: values, as JSON whose spelling is Python's.

use std::io::{self, Write};

use obverse::value::json::{self, Format};
use obverse::value::{Map, Value};

use super::problem::Problem;
use super::{escape, output};

/// An object with these members.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Map {
    members
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// One line of JSON.
pub(crate) fn line(members: Map) -> String {
    let written = Format::default().write(&Value::Object(members));
    let mut line = escape::json(&written).into_owned();
    line.push('\n');
    line
}

/// Writes a value as [`line`] does, without the line's end and piece by piece: a value may be as long as a response.
pub(crate) fn write(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    write_in(&Format::default(), out, value)
}

/// Prints a value as a result, as [`pretty`] spells it, piece by piece.
pub(crate) fn print(value: &Value) -> io::Result<()> {
    output::print_with(|out| {
        write_in(&Format::indented(2), out, value)?;
        out.write_all(b"\n")
    })
}

fn write_in(format: &Format, out: &mut dyn Write, value: &Value) -> io::Result<()> {
    let mut written = Ok(());
    format.write_pieces(value, &mut |piece| {
        if written.is_ok() {
            written = out.write_all(escape::json(piece).as_bytes());
        }
    });
    written
}

/// JSON on as many lines as it takes to be read by people too.
pub(crate) fn pretty(value: &Value) -> String {
    let mut text = escape::json(&Format::indented(2).write(value)).into_owned();
    text.push('\n');
    text
}

/// An error as the object that stands under `error`.
pub(crate) fn error(kind: &str, message: &str) -> Map {
    object([
        ("kind", Value::from(kind)),
        ("message", Value::from(message)),
    ])
}

/// The members of the object on one line of input.
///
/// # Errors
///
/// The error to answer with.
pub(crate) fn members(line: &[u8]) -> Result<Map, Map> {
    let text = std::str::from_utf8(line).map_err(|found| {
        let at = found.valid_up_to();
        let mut answer = error("input", &format!("invalid UTF-8 at byte {at} of the line"));
        answer.insert(
            "span".to_owned(),
            span(at..at + found.error_len().unwrap_or(1)),
        );
        answer
    })?;
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value = json::parse(body).map_err(|found| {
        let at = text.len() - body.len() + found.offset();
        let message = format!("the line is not JSON: {} at byte {at}", found.message());
        let mut answer = error("input", &message);
        answer.insert("span".to_owned(), span(at..at));
        answer
    })?;
    match value {
        Value::Object(members) => Ok(members),
        other => Err(wrong_type("the line", "an object", &other)),
    }
}

/// Returns the error that a value of a line is of the wrong type.
pub(crate) fn wrong_type(what: &str, wanted: &str, value: &Value) -> Map {
    let message = format!("{what} must be {wanted}, not {}", value.json_kind());
    error("input", &message)
}

/// A member; a null is as good as none.
pub(crate) fn take(members: &mut Map, key: &str) -> Option<Value> {
    members
        .shift_remove(key)
        .filter(|value| *value != Value::Null)
}

/// A member that is a list.
pub(crate) fn take_list(members: &mut Map, key: &str) -> Result<Option<Vec<Value>>, Map> {
    match take(members, key) {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(other) => Err(wrong_type(key, "a list", &other)),
    }
}

/// A member that is a string.
pub(crate) fn take_string(members: &mut Map, key: &str) -> Result<Option<String>, Map> {
    match take(members, key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong_type(key, "a string", &other)),
    }
}

/// A member that is a boolean.
pub(crate) fn take_bool(members: &mut Map, key: &str, default: bool) -> Result<bool, Map> {
    match take(members, key) {
        None => Ok(default),
        Some(Value::Bool(value)) => Ok(value),
        Some(other) => Err(wrong_type(key, "a boolean", &other)),
    }
}

/// A span as start and end.
pub(crate) fn span(span: std::ops::Range<usize>) -> Value {
    Value::Array(vec![Value::count(span.start), Value::count(span.end)])
}

/// A diagnostic as a value.
///
/// # Errors
///
/// A problem that says that `what` cannot be written.
pub(crate) fn reported(what: &str, report: &impl serde::Serialize) -> Result<Value, Problem> {
    let failed = |error: String| {
        let message = format!("{what} cannot be written as JSON: {error}");
        Problem::failed("report", message)
    };
    let written = serde_json::to_string(report).map_err(|error| failed(error.to_string()))?;
    json::parse(&written).map_err(|error| failed(error.message()))
}
