//! The strict reader of a derived format: what its PEG brings back of messages that no response template does.
//!
//! A response template has the content parsers of its standard, which read no Python literals, undo no escapes in texts and know no
//! `None` among JSON. The PEG of the same format does, since [`emit`](super::emit) writes a Python literal as another way to read each
//! value that is not a plain text. Proved as a response template is: what came of a message's render must be the message.
//! The reader is told of the tools that the judge had, and where the response template misses a message, of tools as that message calls them.

use std::sync::Arc;

use super::emit::Language;
use super::reader::{Reader, Template};
use super::{Request, WrittenFormat};
use crate::derive::{Counterexample, Derivation};
use crate::parser::Event;
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value};

impl WrittenFormat {
    /// The grammar that reads a response to any prompt with calls of any tools, and how it is read with; `None` where nothing is known
    /// to be written in the format.
    pub fn reader(&self) -> Option<Template> {
        let grammar = self.grammar(&Request::default().any_tool(true)).ok()?;
        Template::from_json(&grammar.write(Language::Peg).text).ok()
    }
}

/// The strict reader of a derivation, and how far it was seen to read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StrictReader {
    /// The grammar.
    pub template: Template,
    /// The messages that it brings back.
    pub read: usize,
    /// The messages that it was tried on: those that the response template brings back, and those that it misses.
    pub of: usize,
    /// Of the messages that the response template misses those that it brings back.
    pub read_of_missed: usize,
    /// The messages that it does not bring back, with what comes of them.
    pub missed: Vec<Counterexample>,
}

impl StrictReader {
    /// Makes the reader of a derived format, and tries it on every message that the derivation was proved with and on those that its response
    /// template misses. `None` where nothing is known to be written in the format.
    pub fn of(derivation: &Derivation) -> Option<Self> {
        let template = ResponseTemplate::from_value(&derivation.document.to_value()).ok()?;
        let written = WrittenFormat::new(&Arc::new(template), &derivation.cases, &[]);
        let template = written.reader()?;
        let proved = derivation.cases.iter().map(|case| Meant {
            prefix: &case.prefix,
            response: &case.response,
            tools: case.tools.clone(),
            message: &case.message,
        });
        let missed = derivation.missed.iter().map(Meant::of);
        let lost = |meant: Meant<'_>| meant.lost(&template);
        let (cases, misses) = (derivation.cases.len(), derivation.missed.len());
        let mut lost_of_missed: Vec<Counterexample> = missed.filter_map(lost).collect();
        let read_of_missed = misses - lost_of_missed.len();
        let mut all: Vec<Counterexample> = proved.filter_map(lost).collect();
        all.append(&mut lost_of_missed);
        Some(Self {
            read: cases + misses - all.len(),
            of: cases + misses,
            read_of_missed,
            missed: all,
            template,
        })
    }
}

/// A response, and the message that it is to parse to.
struct Meant<'a> {
    prefix: &'a str,
    response: &'a str,
    tools: Vec<Value>,
    message: &'a Value,
}

impl<'a> Meant<'a> {
    /// A message that no response template brings back, the tools being as it calls them.
    fn of(missed: &'a Counterexample) -> Self {
        Self {
            prefix: &missed.prefix,
            response: &missed.response,
            tools: tools_of(&missed.expected),
            message: &missed.expected,
        }
    }

    /// Returns what comes of it instead of the message; `None` where it comes back. Numbers are the same where their values are.
    fn lost(self, template: &Template) -> Option<Counterexample> {
        let mut reader = Reader::new(template).tools(&self.tools);
        let sink = &mut |_: Event<'_>| ();
        reader.read_prefix(self.prefix, sink);
        reader.feed(self.response.as_bytes(), sink);
        reader.finish(sink);
        let error = reader.take_errors().into_iter().next();
        let parsed = Value::Object(reader.into_message());
        if error.is_none() && are_same(&parsed, self.message) {
            return None;
        }
        Some(Counterexample {
            message: self.message.clone(),
            prefix: self.prefix.to_owned(),
            response: self.response.to_owned(),
            expected: self.message.clone(),
            parsed,
            error: error.map(|error| error.to_string()),
        })
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
                Value::from(value.schema_type()),
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
