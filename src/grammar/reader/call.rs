//! One call, from the nodes of its tags.

use std::collections::HashMap;
use std::ops::Range;

use super::types::Types;
use super::value::{As, Values, failed};
use crate::parser::ParseError;
use crate::value::{Map, Value};

/// The call that the nodes of a stretch of the list make up.
///
/// The tags are taken in the order of the text, however deep they lie: an argument's value belongs to the name before it.
pub(super) fn call(
    values: &Values<'_>,
    nodes: Range<usize>,
    types: &Types,
) -> Result<Value, ParseError> {
    let mut reading = Call::default();
    let mut at = nodes.start;
    while at < nodes.end {
        let Some(node) = values.node(at) else {
            break;
        };
        at = match node.tag() {
            Some("tool-name") => {
                reading.name = Some(trimmed(values.value(node, As::Text)?));
                node.behind()
            }
            Some("tool-id") => {
                reading.id = Some(unquoted(trimmed(values.value(node, As::Text)?)));
                // An id may have the name in it.
                at + 1
            }
            Some("tool-args") if !values.holds(node, "tool-arg-name") => {
                reading.arguments = Some(values.value(node, As::Json)?);
                node.behind()
            }
            Some("tool-arg-name") => {
                let Value::String(name) = trimmed(values.value(node, As::Text)?) else {
                    return Err(failed("the name of an argument is no text"));
                };
                reading.argument = Some(name);
                node.behind()
            }
            Some(tag @ ("tool-arg-value" | "tool-arg-string-value")) => {
                let by = match tag {
                    "tool-arg-value" => As::Json,
                    _ => As::Text,
                };
                let value = values.value(node, by)?;
                let name = reading.argument.take();
                let name = name.ok_or_else(|| failed("a value stands before its name"))?;
                reading.raw.insert(name.clone(), values.raw(node));
                reading.constructed.insert(name, value);
                node.behind()
            }
            _ => at + 1,
        };
    }
    reading.finish(types)
}

#[derive(Default)]
struct Call {
    name: Option<Value>,
    id: Option<Value>,
    arguments: Option<Value>,
    /// Arguments that stand one by one.
    constructed: Map,
    /// These as they stand in the response.
    raw: HashMap<String, String>,
    /// The name of the argument whose value comes next.
    argument: Option<String>,
}

impl Call {
    fn finish(self, types: &Types) -> Result<Value, ParseError> {
        let name = self.name.ok_or_else(|| failed("the call has no name"))?;
        let arguments = self.arguments.unwrap_or(Value::Object(self.constructed));
        let arguments = match (arguments, name.as_str()) {
            (Value::Object(arguments), Some(tool)) => {
                let fitted = arguments.into_iter().map(|(key, value)| {
                    let raw = self.raw.get(key.as_str()).map(String::as_str);
                    let value = types.fit(tool, &key, value, raw);
                    (key.to_string(), value)
                });
                Value::Object(fitted.collect())
            }
            (other, _) => other,
        };
        let mut function = Map::new();
        function.insert("name", name);
        function.insert("arguments", arguments);
        let mut call = Map::new();
        call.insert("type", Value::from("function"));
        if let Some(id) = self.id {
            call.insert("id", id);
        }
        call.insert("function", Value::Object(function));
        Ok(Value::Object(call))
    }
}

/// A text without the white space around it.
fn trimmed(value: Value) -> Value {
    match value {
        Value::String(text) => Value::from(text.trim()),
        other => other,
    }
}

/// A text without the quotes that stand around it.
fn unquoted(value: Value) -> Value {
    let inner = value.as_str().and_then(|text| {
        let inner = text.strip_prefix('"')?.strip_suffix('"')?;
        Some(Value::from(inner))
    });
    inner.unwrap_or(value)
}
