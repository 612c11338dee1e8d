//! The `tojson` filter: `json.dumps`, as transformers lets templates call it.

use std::borrow::Cow;

use super::MAX_VALUE;
use super::fault::Fault;
use super::object::Py;
use super::object::{Dict, List};
use super::text;
use super::trace::{Taint, Text, Written};
use crate::chat_template::error::Limit;
use crate::value::json::{self, Format};
use crate::value::{Value, python};

/// How deep a value may nest; Python stops at about a thousand.
const DEPTH: usize = 500;

/// How `json.dumps` is told to write.
#[derive(Debug, Clone)]
pub(super) struct Style {
    pub(super) ensure_ascii: bool,
    pub(super) indent: Option<String>,
    pub(super) item_separator: Cow<'static, str>,
    pub(super) key_separator: Cow<'static, str>,
    pub(super) sort_keys: bool,
}

impl Style {
    pub(super) fn new(
        ensure_ascii: Option<Py>,
        indent: Option<Py>,
        separators: Option<Py>,
        sort_keys: Option<Py>,
    ) -> Result<Self, Fault> {
        let indent = match indent {
            None | Some(Py::None(_)) => None,
            Some(Py::Str(text)) => Some(text.to_string()),
            Some(other) => {
                let width = super::arguments::int_or(Some(&other), 0)?.clamp(0, 1000);
                Some(" ".repeat(usize::try_from(width).unwrap_or(0)))
            }
        };
        let mut style = Self {
            ensure_ascii: ensure_ascii.is_some_and(|value| value.is_true()),
            item_separator: Cow::Borrowed(if indent.is_some() { "," } else { ", " }),
            key_separator: Cow::Borrowed(": "),
            indent,
            sort_keys: sort_keys.is_some_and(|value| value.is_true()),
        };
        let pair = match &separators {
            None | Some(Py::None(_)) => return Ok(style),
            Some(Py::Tuple(list) | Py::List(list)) => list.items().clone(),
            Some(_) => Vec::new(),
        };
        let [Py::Str(item), Py::Str(key)] = pair.as_slice() else {
            return Err(Fault::error("`separators` of `tojson` takes two strings"));
        };
        style.item_separator = Cow::Owned(item.to_string());
        style.key_separator = Cow::Owned(key.to_string());
        Ok(style)
    }
}

pub(super) fn dumps(value: &Py, style: &Style, out: &mut Written) -> Result<(), Fault> {
    write(value, style, 0, out)
}

fn newline(style: &Style, depth: usize, shape: Taint, out: &mut Written) {
    if let Some(indent) = &style.indent {
        out.push_of("\n", shape);
        (0..depth).for_each(|_| out.push_of(indent, shape));
    }
}

fn write(value: &Py, style: &Style, depth: usize, out: &mut Written) -> Result<(), Fault> {
    if depth > DEPTH {
        return Err(Fault::Limit(Limit::Recursion, DEPTH as u64));
    }
    if out.len() > MAX_VALUE {
        return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
    }
    match value {
        Py::None(taint) => out.push_value("null", *taint),
        Py::Bool(true, taint) => out.push_value("true", *taint),
        Py::Bool(false, taint) => out.push_value("false", *taint),
        Py::Int(..) | Py::Big(..) => text::write_str(value, out)?,
        Py::Float(number, taint) => out.push_value(&number_text(*number), *taint),
        Py::Str(text) => quote(text, style.ensure_ascii, out),
        Py::List(list) => list_items(list, style, depth, out)?,
        Py::Tuple(items) => list_items(items, style, depth, out)?,
        Py::Dict(dict) => members(dict, style, depth, out)?,
        Py::Undefined(missing, _) => {
            return Err(Fault::error(format!(
                "`tojson` of a value that is not there: {}",
                missing.message()
            )));
        }
        other => {
            return Err(Fault::error(format!(
                "`tojson` cannot write a `{}`",
                other.type_name()
            )));
        }
    }
    Ok(())
}

fn number_text(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned()
    } else {
        python::float_repr(number)
    }
}

fn list_items(list: &List, style: &Style, depth: usize, out: &mut Written) -> Result<(), Fault> {
    let items = list.items();
    let shape = list.shape();
    out.push_of("[", shape);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_of(&style.item_separator, shape);
        }
        newline(style, depth + 1, shape, out);
        write(item, style, depth + 1, out)?;
    }
    if !items.is_empty() {
        newline(style, depth, shape, out);
    }
    out.push_of("]", shape);
    Ok(())
}

fn members(dict: &Dict, style: &Style, depth: usize, out: &mut Written) -> Result<(), Fault> {
    let shape = dict.shape();
    let held = dict.items();
    let mut items: Vec<(&Py, &Py)> = held.iter().map(|(key, item)| (&key.0, item)).collect();
    if style.sort_keys {
        let mut failed = None;
        items.sort_by(
            |a, b| match super::operators::order("<", a.0, b.0, &mut 1_000_000) {
                Ok(order) => order.unwrap_or(std::cmp::Ordering::Equal),
                Err(fault) => {
                    failed.get_or_insert(fault);
                    std::cmp::Ordering::Equal
                }
            },
        );
        if let Some(fault) = failed {
            return Err(fault);
        }
    }
    out.push_of("{", shape);
    for (index, (key, item)) in items.iter().enumerate() {
        if index > 0 {
            out.push_of(&style.item_separator, shape);
        }
        newline(style, depth + 1, shape, out);
        let shown = match key {
            Py::Str(text) => Cow::Borrowed(&**text),
            Py::None(_) => Cow::Borrowed("null"),
            Py::Bool(true, _) => Cow::Borrowed("true"),
            Py::Bool(false, _) => Cow::Borrowed("false"),
            Py::Int(..) | Py::Big(..) => Cow::Owned(text::str_of(key)?),
            Py::Float(number, _) => Cow::Owned(number_text(*number)),
            other => {
                return Err(Fault::error(format!(
                    "`tojson` cannot write a key that is a `{}`",
                    other.type_name()
                )));
            }
        };
        match (key, out.trace()) {
            (Py::Str(text), _) => quote(text, style.ensure_ascii, out),
            (_, None) => quote(&Text::plain(&*shown), style.ensure_ascii, out),
            (key, Some(trace)) => {
                let taint = trace.taint(key).derived();
                out.push_of(&format!("\"{shown}\""), taint);
            }
        }
        out.push_of(&style.key_separator, shape);
        write(item, style, depth + 1, out)?;
    }
    if !items.is_empty() {
        newline(style, depth, shape, out);
    }
    out.push_of("}", shape);
    Ok(())
}

fn quote(text: &Text, ensure_ascii: bool, out: &mut Written) {
    let Some(trace) = out.trace().cloned() else {
        write_quoted(text, ensure_ascii, out.buffer());
        return;
    };
    let whole = match text.pieces() {
        [key] if key.is_key() => key.itself(),
        pieces => trace.inputs_of_all(pieces),
    };
    out.push_of("\"", whole);
    let is_plain = |byte: u8| matches!(byte, b' ' | b'!' | b'#'..=b'[' | b']'..=b'~');
    if text.bytes().all(is_plain) {
        out.push_text(text);
        out.push_of("\"", whole);
        return;
    }
    out.push_mapped(text, |c, shown| {
        if matches!(c, ' ' | '!' | '#'..='[' | ']'..='~') {
            return false;
        }
        write_quoted(c.encode_utf8(&mut [0; 4]), ensure_ascii, shown);
        shown.pop();
        shown.remove(0);
        !shown.starts_with(c) || c == '\\'
    });
    out.push_of("\"", whole);
}

fn write_quoted(text: &str, ensure_ascii: bool, out: &mut String) {
    if ensure_ascii {
        let format = Format {
            ensure_ascii,
            ..Format::default()
        };
        out.push_str(&format.write(&Value::from(text)));
    } else {
        json::write_string(out, text);
    }
}
