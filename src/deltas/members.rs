//! Arguments that are written one by one, as an object in JSON.
//!
//! A key that comes twice is written twice: readers of the JSON take the last value, as the content parser does, and where it gathers the
//! values of a key into a list, the list is written anew.

use super::calls::{Call, Tell, TypedText};
use super::shape::ValueShape;
use super::text::Stripped;
use crate::value::{Map, Value, json};

#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    /// True if a member has been written.
    begun: bool,
    key: String,
    value: Under,
    /// The text that is being written; kept for its memory.
    out: String,
    /// The lists of the values so far of keys that come again, as they are before they get their types, where values of one key make a
    /// list.
    gathered: Option<Map>,
}

/// The value that is being written.
#[derive(Debug, Clone, Default)]
enum Under {
    #[default]
    None,
    /// The value is passed on as it comes.
    Text(Stripped, TypedText),
    /// The value is needed whole.
    Whole(String),
}

impl Members {
    pub(super) fn new(merge_duplicates: bool) -> Self {
        Self {
            gathered: merge_duplicates.then(Map::new),
            ..Self::default()
        }
    }

    /// Begins another object.
    pub(super) fn reset(&mut self) {
        self.begun = false;
        self.value = Under::None;
        if let Some(gathered) = &mut self.gathered {
            *gathered = Map::new();
        }
    }

    /// Begins a member whose value comes in pieces.
    pub(super) fn begin(
        &mut self,
        key: &str,
        values: &ValueShape,
        call: &mut Call,
        tell: &mut Tell<'_>,
    ) {
        self.key.clear();
        self.key.push_str(key);
        let in_pieces = matches!(values, ValueShape::Text { .. }) && self.gathered.is_none();
        self.value = if in_pieces {
            self.write_key();
            call.write(&self.out, tell);
            Under::Text(Stripped::default(), TypedText::default())
        } else {
            Under::Whole(String::new())
        };
    }

    /// Returns true if the value that is being written has this key.
    pub(super) fn is_of(&self, key: &str) -> bool {
        self.key == key && !matches!(self.value, Under::None)
    }

    /// Adds more of the value's text.
    pub(super) fn push(
        &mut self,
        piece: &str,
        values: &ValueShape,
        call: &mut Call,
        tell: &mut Tell<'_>,
    ) {
        match (&mut self.value, values) {
            (Under::Text(stripped, typed), ValueShape::Text { strip }) => {
                let (key, out) = (&self.key, &mut self.out);
                stripped.push(*strip, piece, |text| {
                    if typed.is_plain(text) {
                        return call.write(text, tell);
                    }
                    out.clear();
                    typed.push(text, call.types(tell.tools), key, out);
                    call.write(out, tell);
                });
            }
            (Under::Whole(text), _) => text.push_str(piece),
            _ => {}
        }
    }

    /// Ends the value. Returns `false` where it has no value, and so the region has none.
    pub(super) fn end(
        &mut self,
        values: &ValueShape,
        call: &mut Call,
        tell: &mut Tell<'_>,
    ) -> bool {
        match std::mem::take(&mut self.value) {
            Under::None => true,
            Under::Text(_, mut typed) => {
                self.out.clear();
                typed.end(call.types(tell.tools), &self.key, &mut self.out);
                call.write(&self.out, tell);
                true
            }
            Under::Whole(text) => {
                let key = std::mem::take(&mut self.key);
                let value = match values {
                    ValueShape::Text { strip: false } => Some(Value::from(text)),
                    ValueShape::Text { strip: true } => {
                        Some(Value::from(crate::value::python::strip(&text)))
                    }
                    ValueShape::Whole(content) => content.parse(&text).ok(),
                };
                value.is_some_and(|value| {
                    self.whole(&key, value, call, tell);
                    true
                })
            }
        }
    }

    /// Adds a member that comes whole.
    pub(super) fn whole(&mut self, key: &str, value: Value, call: &mut Call, tell: &mut Tell<'_>) {
        let mut value = match &mut self.gathered {
            None => value,
            Some(gathered) => {
                match gathered.get_mut(key) {
                    None => {
                        gathered.insert(key, value);
                    }
                    Some(Value::Array(values)) => values.push(value),
                    Some(first) => {
                        *first = Value::Array(vec![std::mem::take(first), value]);
                    }
                }
                gathered.get(key).cloned().unwrap_or_default()
            }
        };
        if let Some(types) = call.types(tell.tools) {
            types.coerce(key, &mut value);
        }
        self.key.clear();
        self.key.push_str(key);
        self.write_key();
        self.out.push_str(&json::to_string(&value));
        call.write(&self.out, tell);
    }

    /// Writes the member's key, and what stands before and behind it.
    fn write_key(&mut self) {
        let out = &mut self.out;
        out.clear();
        out.push_str(if self.begun { ", " } else { "{" });
        self.begun = true;
        json::write_string(out, &self.key);
        out.push_str(": ");
    }

    /// Ends the object.
    pub(super) fn finish(&mut self, call: &mut Call, tell: &mut Tell<'_>) {
        call.write(if self.begun { "}" } else { "{}" }, tell);
    }
}
