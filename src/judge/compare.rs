//! The comparison of a parsed message with the one that was rendered: it must have whatever can be seen of that, each part in its field,
//! and nothing else.

use super::expected::{Expected, ExpectedCall};
use super::manner::{KNOWN, Manner};
use super::message::{ArgumentsForm, CALLS_KEY};
use super::slot::Slot;
use super::trial::Tried;
use crate::value::{Map, Value, json, python};

impl Tried<'_> {
    /// Returns true if the parsed message has all that can be seen, each part in its field, and nothing else.
    pub(super) fn is_as_expected(
        &self,
        parsed: &Map,
        expected: &Expected,
        manner: &Manner,
    ) -> bool {
        let role = parsed
            .get("role")
            .is_none_or(|role| role.as_str() == Some("assistant"));
        let content = match (parsed.get("content"), &expected.content) {
            (Some(found), Some(content)) => found.as_str() == Some(content),
            (found, None) => found.is_none_or(|found| !found.is_truthy()),
            (None, Some(_)) => false,
        };
        role && content
            && self.has_texts(parsed, expected, manner)
            && has_calls(parsed, &expected.calls)
    }

    /// Returns true if the fields beside content and calls have the texts that can be seen: a reasoning under a key that renders as the one
    /// under which it went in.
    fn has_texts(&self, parsed: &Map, expected: &Expected, manner: &Manner) -> bool {
        let is_default = |name: &str, value: &Value| {
            self.template().defaults().get(name) == Some(value) && !value.is_truthy()
        };
        let mut found: Vec<(&str, &Value)> = parsed
            .iter()
            .filter(|(name, value)| {
                !KNOWN.contains(&name.as_str()) && !is_default(name.as_str(), value)
            })
            .map(|(name, value)| (name.as_str(), value))
            .collect();
        let mut take = |slot: &Option<Slot>, text: &Option<String>, aliases: &[String]| {
            let Some(text) = text else { return true };
            let is_there = |name: &str, value: &Value| match slot {
                Some(Slot::Key(keys)) => match keys.as_slice() {
                    [key] => {
                        let is_named = key == name
                            || aliases.iter().any(|alias| alias == name)
                            || self.reasoning_field == Some(name);
                        is_named && value.as_str() == Some(text)
                    }
                    [first, inner @ ..] => first == name && is_within(value, inner, text),
                    [] => false,
                },
                Some(Slot::Part { .. }) => value.as_str() == Some(text),
                None => false,
            };
            let at = found.iter().position(|(name, value)| is_there(name, value));
            at.map(|at| found.remove(at)).is_some()
        };
        take(&manner.reasoning, &expected.reasoning, self.aliases)
            && take(&manner.further, &expected.further, &[])
            && found.is_empty()
    }

    /// Returns the message that the response template has to give: all that can be seen of the rendered one.
    pub(super) fn expected_message(&self, expected: &Expected, manner: &Manner) -> Value {
        let mut message = Map::new();
        message.insert("role", Value::from("assistant"));
        let name = |slot: &Option<Slot>| slot.as_ref().map(Slot::name).unwrap_or_default();
        let reasoning = match self.reasoning_field {
            Some(field) => field.to_owned(),
            None => name(&manner.reasoning),
        };
        let texts = [
            (reasoning, &expected.reasoning),
            (name(&manner.further), &expected.further),
            ("content".to_owned(), &expected.content),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                message.insert(name, Value::from(text.as_str()));
            }
        }
        let calls: Vec<Value> = expected
            .calls
            .iter()
            .map(|call| expected_call(call, manner.arguments))
            .collect();
        if !calls.is_empty() {
            message.insert(CALLS_KEY, calls.into());
        }
        Value::Object(message)
    }
}

/// Returns true if the value is an object with nothing but `text` under these keys within keys.
fn is_within(value: &Value, keys: &[String], text: &str) -> bool {
    let Some((first, rest)) = keys.split_first() else {
        return value.as_str() == Some(text);
    };
    let members = value.as_object().filter(|members| members.len() == 1);
    let inner = members.and_then(|members| members.get(first.as_str()));
    inner.is_some_and(|inner| is_within(inner, rest, text))
}

pub(super) fn expected_call(expected: &ExpectedCall, arguments: ArgumentsForm) -> Value {
    let mut function = Map::new();
    if let Some(name) = &expected.name {
        function.insert("name", Value::from(name.as_str()));
    }
    function.insert("arguments", arguments.write(&expected.arguments));
    let mut call = Map::new();
    call.insert("type", Value::from("function"));
    if let Some(id) = &expected.id {
        call.insert("id", Value::from(id.as_str()));
    }
    call.insert("function", Value::Object(function));
    Value::Object(call)
}

/// Returns true if a message has exactly these calls.
fn has_calls(parsed: &Map, expected: &[ExpectedCall]) -> bool {
    let found = match parsed.get(CALLS_KEY) {
        None => return expected.is_empty(),
        Some(Value::Array(found)) => found,
        Some(_) => return false,
    };
    found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|(found, expected)| is_call(found, expected))
}

pub(super) fn is_call(found: &Value, expected: &ExpectedCall) -> bool {
    let Some(call) = found.as_object() else {
        return false;
    };
    let id = call
        .get("id")
        .and_then(Value::as_str)
        .filter(|id| !id.is_empty())
        == expected.id.as_deref();
    let kind = call
        .get("type")
        .is_none_or(|kind| kind.as_str() == Some("function"));
    let names = ["type", "id", "function"];
    let Some(function) = call.get("function").and_then(Value::as_object) else {
        return false;
    };
    let name = match &expected.name {
        Some(name) => function.get("name").and_then(Value::as_str) == Some(name),
        None => true,
    };
    let arguments = match function.get("arguments") {
        Some(Value::Object(found)) => *found == expected.arguments,
        // Where the chat template takes arguments as text, a parsed message may have them as text. If they mean the same they are
        // accepted here; rendering the message again decides.
        Some(Value::String(text)) => {
            json::parse(text).is_ok_and(|found| found == Value::Object(expected.arguments.clone()))
        }
        None => expected.arguments.is_empty(),
        Some(_) => false,
    };
    let known = call.keys().all(|key| names.contains(&key.as_str()))
        && function
            .keys()
            .all(|key| ["name", "arguments"].contains(&key.as_str()));
    id && kind && name && arguments && known
}

/// Returns true if two messages say the same. White space at the ends of texts does not count, nor do members that are empty.
pub(crate) fn says_the_same(a: &Value, b: &Value) -> bool {
    said(a) == said(b)
}

fn said(message: &Value) -> Map {
    let members = message.as_object().into_iter().flatten();
    let filled = members.filter(|(_, value)| value.is_truthy());
    filled
        .map(|(key, value)| {
            let value = match value {
                Value::String(text) => Value::from(text.trim_matches(python::is_space)),
                other => other.clone(),
            };
            (key.clone(), value)
        })
        .filter(|(_, value)| value.is_truthy())
        .collect()
}
