//! The `tojson` filter: `json.dumps`, as transformers lets templates call it.

use std::borrow::Cow;

use super::MAX_VALUE;
use super::fault::Fault;
use super::object::{Dict, Py};
use super::text;
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
            None | Some(Py::None) => None,
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
            None | Some(Py::None) => return Ok(style),
            Some(Py::Tuple(items)) => &items[..],
            Some(Py::List(list)) => &list.items,
            Some(_) => &[],
        };
        let [Py::Str(item), Py::Str(key)] = pair else {
            return Err(Fault::error("`separators` of `tojson` takes two strings"));
        };
        style.item_separator = Cow::Owned(item.to_string());
        style.key_separator = Cow::Owned(key.to_string());
        Ok(style)
    }
}

pub(super) fn dumps(value: &Py, style: &Style) -> Result<String, Fault> {
    let mut out = String::new();
    write(value, style, 0, &mut out)?;
    Ok(out)
}

fn newline(style: &Style, depth: usize, out: &mut String) {
    if let Some(indent) = &style.indent {
        out.push('\n');
        (0..depth).for_each(|_| out.push_str(indent));
    }
}

fn write(value: &Py, style: &Style, depth: usize, out: &mut String) -> Result<(), Fault> {
    if depth > DEPTH {
        return Err(Fault::Limit(Limit::Recursion, DEPTH as u64));
    }
    if out.len() > MAX_VALUE {
        return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
    }
    match value {
        Py::None => out.push_str("null"),
        Py::Bool(true) => out.push_str("true"),
        Py::Bool(false) => out.push_str("false"),
        Py::Int(_) | Py::Big(_) => text::write_str(value, out)?,
        Py::Float(number) => out.push_str(&number_text(*number)),
        Py::Str(text) => quote(text, style.ensure_ascii, out),
        Py::List(list) => list_items(&list.items, style, depth, out)?,
        Py::Tuple(items) => list_items(items, style, depth, out)?,
        Py::Dict(dict) => members(dict, style, depth, out)?,
        Py::Undefined(missing) => {
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

fn list_items(items: &[Py], style: &Style, depth: usize, out: &mut String) -> Result<(), Fault> {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(&style.item_separator);
        }
        newline(style, depth + 1, out);
        write(item, style, depth + 1, out)?;
    }
    if !items.is_empty() {
        newline(style, depth, out);
    }
    out.push(']');
    Ok(())
}

fn members(dict: &Dict, style: &Style, depth: usize, out: &mut String) -> Result<(), Fault> {
    let mut items: Vec<(&Py, &Py)> = dict
        .items
        .iter()
        .map(|(key, item)| (&key.0, item))
        .collect();
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
    out.push('{');
    for (index, (key, item)) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(&style.item_separator);
        }
        newline(style, depth + 1, out);
        let key = match key {
            Py::Str(text) => Cow::Borrowed(&**text),
            Py::None => Cow::Borrowed("null"),
            Py::Bool(true) => Cow::Borrowed("true"),
            Py::Bool(false) => Cow::Borrowed("false"),
            Py::Int(_) | Py::Big(_) => Cow::Owned(text::str_of(key)?),
            Py::Float(number) => Cow::Owned(number_text(*number)),
            other => {
                return Err(Fault::error(format!(
                    "`tojson` cannot write a key that is a `{}`",
                    other.type_name()
                )));
            }
        };
        quote(&key, style.ensure_ascii, out);
        out.push_str(&style.key_separator);
        write(item, style, depth + 1, out)?;
    }
    if !items.is_empty() {
        newline(style, depth, out);
    }
    out.push('}');
    Ok(())
}

fn quote(text: &str, ensure_ascii: bool, out: &mut String) {
    if ensure_ascii && !text.is_ascii() {
        let format = Format {
            ensure_ascii,
            ..Format::default()
        };
        out.push_str(&format.write(&Value::from(text)));
    } else {
        json::write_string(out, text);
    }
}
