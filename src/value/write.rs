//! Writing values as text, in whichever style: JSON's or Python's. The walk keeps its own stack, so that the depth of a value costs
//! none of the thread's.

use std::fmt::Write as _;

use super::{Iter, Key, Value};

/// Appends a string, or a piece of one, as a style spells it.
pub(super) type Spell = fn(&mut String, &str);

/// The differences between the ways of writing a value.
pub(super) struct Style<'a> {
    /// For null, true and false.
    pub(super) words: [&'a str; 3],
    pub(super) float: fn(&mut String, f64),
    pub(super) string: Spell,
    /// A piece of a string without what stands around it, where strings can be written piece by piece: in double quotes.
    pub(super) piece: Option<Spell>,
    pub(super) sort_keys: bool,
    pub(super) indent: Option<&'a str>,
    pub(super) item_separator: &'a str,
    pub(super) key_separator: &'a str,
}

/// The rest of a list or an object that is being written.
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

/// How much text is written before it is handed on.
const PIECE: usize = 64 * 1024;

/// The value, written in a style.
pub(super) fn write_value(value: &Value, style: &Style<'_>) -> String {
    write_pieces(value, style, &mut |_| ())
}

/// Writes the value and lets `hand_on` have what is written so far, from time to time: it may take it out of the string. Returns what was
/// not taken.
pub(super) fn write_pieces(
    value: &Value,
    style: &Style<'_>,
    hand_on: &mut dyn FnMut(&mut String),
) -> String {
    let mut out = String::new();
    let mut stack: Vec<Rest<'_>> = Vec::new();
    let mut next = Some(value);
    loop {
        let mut first = false;
        if out.len() >= PIECE {
            hand_on(&mut out);
        }
        if let Some(value) = next.take() {
            match value {
                Value::Null => out.push_str(style.words[0]),
                Value::Bool(true) => out.push_str(style.words[1]),
                Value::Bool(false) => out.push_str(style.words[2]),
                Value::Int(integer) => {
                    let _ = write!(out, "{integer}");
                }
                Value::Float(float) => (style.float)(&mut out, *float),
                Value::String(text) => match style.piece {
                    Some(piece) if text.len() > PIECE => {
                        write_long(&mut out, text, piece, hand_on);
                    }
                    _ => (style.string)(&mut out, text),
                },
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

/// Writes a long string, between double quotes.
fn write_long(out: &mut String, text: &str, piece: Spell, hand_on: &mut dyn FnMut(&mut String)) {
    out.push('"');
    let mut rest = text;
    while !rest.is_empty() {
        let (head, tail) = rest.split_at(rest.floor_char_boundary(PIECE));
        piece(out, head);
        hand_on(out);
        rest = tail;
    }
    out.push('"');
}

fn new_line(out: &mut String, style: &Style<'_>, depth: usize) {
    if let Some(indent) = style.indent {
        out.push('\n');
        for _ in 0..depth {
            out.push_str(indent);
        }
    }
}
