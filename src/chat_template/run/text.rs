//! How Python writes values: `str()` and `repr()`.

use std::fmt::Write as _;

use super::fault::Fault;
use super::object::{Py, View};
use crate::value::python;

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
        Py::Str(text) | Py::Markup(text) => {
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
        Py::Float(number) => out.push_str(&python::float_repr(*number)),
        Py::Str(text) => out.push_str(&python::str_repr(text)),
        Py::Markup(text) => {
            let _ = write!(out, "Markup({})", python::str_repr(text));
        }
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
                    .map(|(key, item)| Py::tuple([key.0.clone(), item.clone()]))
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
                out.push_str(&python::str_repr(key));
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
                state.items.borrow().len()
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

/// `str.isprintable` of one character.
pub(super) fn printable(c: char) -> bool {
    matches!(c, '\\' | '\'') || !python::str_repr(c.encode_utf8(&mut [0; 4])).starts_with("'\\")
}
