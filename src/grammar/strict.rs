//! The strict reader of a derived format: what its PEG brings back of messages that no response template does.
//!
//! A response template has the content parsers of its standard, which read no Python literals, undo no escapes in texts and know no
//! `None` among JSON. The PEG of the same format does, since [`emit`](super::emit) writes a Python literal as another way to read each
//! value that is not a plain text. Proved as a response template is: what came of a message's render must be the message.

use super::emit::Language;
use super::reader::{self, Template};
use super::{Request, WrittenFormat};
use crate::derive::Counterexample;
use crate::value::{Map, Value};

impl WrittenFormat {
    /// Returns true if the grammar of this format, for tools as the message calls them, reads the response to the message that it
    /// had to parse to. Numbers are the same where their values are.
    pub fn brings_back(&self, missed: &Counterexample) -> bool {
        let request = Request::default()
            .prefix(missed.prefix.as_str())
            .tools(tools_of(&missed.expected));
        let Ok(grammar) = self.grammar(&request) else {
            return false;
        };
        let Ok(template) = Template::from_json(&grammar.write(Language::Peg).text) else {
            return false;
        };
        let read = reader::read(&missed.response, &template);
        read.is_ok_and(|message| are_same(&Value::Object(message), &missed.expected))
    }
}

/// A tool for each call of a message, by whose schema its arguments are what they are.
fn tools_of(message: &Value) -> Vec<Value> {
    let object = |members: [(&str, Value); 2]| {
        let members = members.map(|(key, value)| (key.to_owned(), value));
        Value::Object(Map::from_iter(members))
    };
    let tool = |call: &Value| {
        let function = call.get("function")?;
        let arguments = function.get("arguments").and_then(Value::as_object)?;
        let of = |value: &Value| {
            Value::Object(Map::from_iter([(
                "type".to_owned(),
                Value::from(type_of(value)),
            )]))
        };
        let arguments = arguments.iter();
        let properties: Map = arguments
            .map(|(key, value)| (key.to_string(), of(value)))
            .collect();
        let parameters = object([
            ("type", Value::from("object")),
            ("properties", Value::Object(properties)),
        ]);
        let name = function.get("name")?.clone();
        let function = object([("name", name), ("parameters", parameters)]);
        Some(object([
            ("type", Value::from("function")),
            ("function", function),
        ]))
    };
    let calls = message.get("tool_calls").and_then(Value::as_array);
    calls.unwrap_or_default().iter().filter_map(tool).collect()
}

/// The type of a value, as JSON Schema calls it.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Int(_) => "integer",
        Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns true if two values are the same, where one number may be whole and the other not.
fn are_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Int(whole), Value::Float(number)) | (Value::Float(number), Value::Int(whole)) => {
            whole.to_string().parse() == Ok(*number)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| are_same(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_there = |key: &str, value: &Value| {
                other.get(key).is_some_and(|other| are_same(value, other))
            };
            one.len() == other.len() && one.iter().all(|(key, value)| is_there(key, value))
        }
        (one, other) => one == other,
    }
}
