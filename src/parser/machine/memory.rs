//! The memory of a parser: how much it keeps.

use super::Machine;
use crate::value::{Key, Value};

impl Machine {
    /// How much memory there is for text and values, in bytes; see [`crate::parser::ResponseParser::kept_bytes`].
    pub(in crate::parser) fn kept_bytes(&self) -> usize {
        let unclaimed: usize = self.unclaimed().iter().map(|lost| lost.text.len()).sum();
        let replaceable = self.rare().replaceable.iter();
        let replaceable = replaceable.filter_map(|one| one.text.as_ref());
        let replaceable: usize = replaceable.map(String::capacity).sum();
        let message: usize = self.message().values().map(heap).sum();
        self.buffer.capacity() + self.region.body.capacity() + unclaimed + replaceable + message
    }
}

/// How much memory a value has beside itself, in bytes.
fn heap(value: &Value) -> usize {
    match value {
        Value::String(text) => text.capacity(),
        Value::Array(items) => {
            let own = items.capacity() * size_of::<Value>();
            own + items.iter().map(heap).sum::<usize>()
        }
        Value::Object(members) => {
            let own = members.len() * (size_of::<Value>() + size_of::<Key>());
            own + members.values().map(heap).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => 0,
    }
}
