//! How Python writes values: `str()` and `repr()`.

use super::fault::Fault;
use super::object::{Py, View};
use super::trace::{Taint, Text, Written};
use crate::value::python;

/// How deep a printed value may nest.
const DEPTH: usize = 200;

/// Python's `str()`.
pub(super) fn str_of(value: &Py) -> Result<String, Fault> {
    let mut out = Written::default();
    write_str(value, &mut out)?;
    Ok(out.into_parts().0)
}

/// Python's `str()`, appended.
pub(super) fn write_str(value: &Py, out: &mut Written) -> Result<(), Fault> {
    match value {
        Py::Str(text) | Py::Markup(text) => {
            out.push_text(text);
            Ok(())
        }
        Py::Undefined(_, taint) => {
            out.push_nothing(*taint);
            Ok(())
        }
        other => write_repr(other, out, 0),
    }
}

/// Python's `repr()`.
pub(super) fn repr_of(value: &Py) -> Result<String, Fault> {
    let mut out = Written::default();
    write_repr(value, &mut out, 0)?;
    Ok(out.into_parts().0)
}

/// Python's `repr()`, appended; `depth` counts what it stands in.
pub(super) fn write_repr(value: &Py, out: &mut Written, depth: usize) -> Result<(), Fault> {
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
        Py::Undefined(_, taint) => out.push_of("Undefined", *taint),
        // Python's own names are not how the input was written.
        Py::None(taint) => out.push_of("None", *taint),
        Py::Bool(true, taint) => out.push_of("True", *taint),
        Py::Bool(false, taint) => out.push_of("False", *taint),
        Py::Int(number, taint) => {
            let mut digits = [0; 24];
            out.push_value(decimal(*number, &mut digits), *taint);
        }
        Py::Big(number, taint) => out.push_value(&number.to_string(), *taint),
        Py::Float(number, taint) => out.push_value(&python::float_repr(*number), *taint),
        Py::Str(text) => quote(text, out),
        Py::Markup(text) => {
            out.push("Markup(");
            quote(text, out);
            out.push(")");
        }
        Py::List(list) => sequence(&list.items(), list.shape(), "[", "]", out, depth)?,
        Py::Tuple(list) if list.len() == 1 => {
            sequence(&list.items(), list.shape(), "(", ",)", out, depth)?;
        }
        Py::Tuple(list) => sequence(&list.items(), list.shape(), "(", ")", out, depth)?,
        Py::Dict(dict) => {
            out.push_of("{", dict.shape());
            for (index, (key, item)) in dict.items().iter().enumerate() {
                if index > 0 {
                    out.push_of(", ", dict.shape());
                }
                write_repr(&key.0, out, depth + 1)?;
                out.push_of(": ", dict.shape());
                write_repr(item, out, depth + 1)?;
            }
            out.push_of("}", dict.shape());
        }
        Py::Range(start, stop, 1, taint) => {
            out.push_of(&format!("range({start}, {stop})"), *taint);
        }
        Py::Range(start, stop, step, taint) => {
            out.push_of(&format!("range({start}, {stop}, {step})"), *taint);
        }
        Py::View(kind, dict) => {
            let items: Vec<Py> = match kind {
                View::Keys => dict.items().keys().map(|key| key.0.clone()).collect(),
                View::Values => dict.items().values().cloned().collect(),
                View::Items => dict
                    .items()
                    .iter()
                    .map(|(key, item)| Py::tuple_of([key.0.clone(), item.clone()], dict.shape()))
                    .collect(),
            };
            out.push_of(value.type_name(), dict.shape());
            sequence(&items, dict.shape(), "([", "])", out, depth)?;
        }
        Py::Namespace(attributes) => {
            // A namespace prints its attributes as a dictionary.
            out.push("<Namespace {");
            for (index, (key, item)) in attributes.borrow().iter().enumerate() {
                if index > 0 {
                    out.push(", ");
                }
                out.push(&python::str_repr(key));
                out.push(": ");
                write_repr(item, out, depth + 1)?;
            }
            out.push("}>");
        }
        Py::Loop(state) => {
            out.push(&format!(
                "<LoopContext {}/{}>",
                *state.index.borrow() + 1,
                state.items.borrow().len()
            ));
        }
        // Python prints an address here, which is another one every time.
        other => {
            out.push(&format!("<{} object>", other.type_name()));
        }
    }
    Ok(())
}

/// A string as Python spells it, in quotes.
fn quote(text: &Text, out: &mut Written) {
    let shown = python::str_repr(text);
    let Some(trace) = out.trace().cloned() else {
        out.push(&shown);
        return;
    };
    let whole = match text.pieces() {
        [key] if key.is_key() => key.itself(),
        pieces => trace.inputs_of_all(pieces),
    };
    let quote = &shown[..1];
    if text.contains(['\'', '"']) && !trace.is_of_one(text.pieces()) {
        // One character anywhere can change which quotes there are, and which of them are escaped.
        trace.decide(whole);
    }
    out.push_of(quote, whole);
    out.push_mapped(text, |c, shown| {
        if matches!(c, ' ' | '!' | '#'..='&' | '('..='[' | ']'..='~') {
            return false;
        }
        if matches!(c, '\'' | '"') {
            if quote.starts_with(c) {
                shown.extend(['\\', c]);
            }
        } else {
            let one = python::str_repr(c.encode_utf8(&mut [0; 4]));
            let inner = &one[1..one.len() - 1];
            if !inner.starts_with(c) || c == '\\' {
                shown.push_str(inner);
            }
        }
        !shown.is_empty()
    });
    out.push_of(quote, whole);
}

/// The digits of a number, written into a buffer.
fn decimal(number: i64, buffer: &mut [u8; 24]) -> &str {
    let mut rest = number.unsigned_abs();
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        at -= 1;
        buffer[at] = b'-';
    }
    std::str::from_utf8(&buffer[at..]).unwrap_or_default()
}

fn sequence(
    items: &[Py],
    shape: Taint,
    open: &str,
    close: &str,
    out: &mut Written,
    depth: usize,
) -> Result<(), Fault> {
    out.push_of(open, shape);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_of(", ", shape);
        }
        write_repr(item, out, depth + 1)?;
    }
    out.push_of(close, shape);
    Ok(())
}

/// `str.isprintable` of one character.
pub(super) fn printable(c: char) -> bool {
    matches!(c, '\\' | '\'') || !python::str_repr(c.encode_utf8(&mut [0; 4])).starts_with("'\\")
}
