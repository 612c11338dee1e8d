//! The side of a client: putting a message together from the steps that a server sends.

use super::Growth;
use super::calls::{as_call, holds_call};
use crate::value::{Map, Path, Value, json};

/// Puts a message together from its growth, as the client of a server does.
///
/// ```
/// use obverse::deltas::{Assembly, Growth};
/// use obverse::value::{Map, Path, json};
/// let path = Path::default().key("content");
/// let mut assembly = Assembly::default();
/// for text in ["Hel", "lo"] {
///     assembly.add(&Growth::Text { path: std::borrow::Cow::Borrowed(&path), text: text.into() });
/// }
/// let message = json::parse(r#"{"content": "Hello", "tool_calls": []}"#).unwrap();
/// assert_eq!(assembly.difference(message.as_object().unwrap()), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Assembly {
    /// Texts and values by their place, in the order in which they came.
    parts: Vec<(Path, Value)>,
    calls: Vec<AssembledCall>,
    retractions: usize,
}

/// A call as the client has it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AssembledCall {
    /// The call's number.
    pub index: usize,
    /// The call's place in the message.
    pub path: Path,
    /// The call's `id`, where it has one.
    pub id: Option<String>,
    /// The name of the function.
    pub name: String,
    /// The text of its arguments so far.
    pub arguments: String,
    /// The state of the call.
    pub state: CallState,
}

/// The state of a call, as far as the client knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallState {
    /// The call is being written.
    Open,
    /// The call is whole.
    Done,
    /// The call does not count.
    Dropped,
}

impl Assembly {
    /// Adds a step to the message.
    pub fn add(&mut self, growth: &Growth<'_>) {
        self.retractions += usize::from(growth.is_retraction());
        match growth {
            Growth::Text { path, text } => {
                let part = self.parts.iter_mut().rev().find(|(at, _)| *at == **path);
                match part {
                    Some((_, Value::String(before))) => before.push_str(text),
                    Some((_, other)) => *other = Value::from(text.as_ref()),
                    None => {
                        let part = (path.clone().into_owned(), Value::from(text.as_ref()));
                        self.parts.push(part);
                    }
                }
            }
            Growth::Value { path, value } => {
                self.parts.retain(|(at, _)| *at != **path);
                let part = (path.clone().into_owned(), value.clone().into_owned());
                self.parts.push(part);
            }
            Growth::Restart { path } => self
                .parts
                .retain(|(at, _)| !at.steps().starts_with(path.steps())),
            Growth::Call {
                index,
                path,
                id,
                name,
                ..
            } => self.calls.push(AssembledCall {
                index: *index,
                path: path.clone().into_owned(),
                id: id.as_deref().map(str::to_owned),
                name: name.clone().into_owned(),
                arguments: String::new(),
                state: CallState::Open,
            }),
            Growth::Arguments { index, text } => {
                if let Some(call) = self.call(*index) {
                    call.arguments.push_str(text);
                }
            }
            Growth::CallDone { index } => self.set(*index, CallState::Done),
            Growth::CallDropped { index } => self.set(*index, CallState::Dropped),
        }
    }

    fn call(&mut self, index: usize) -> Option<&mut AssembledCall> {
        self.calls.iter_mut().rev().find(|call| call.index == index)
    }

    fn set(&mut self, index: usize, state: CallState) {
        if let Some(call) = self.call(index) {
            call.state = state;
        }
    }

    /// The calls so far, dropped ones included, in the order of their numbers.
    pub fn calls(&self) -> &[AssembledCall] {
        &self.calls
    }

    /// How many steps took back something.
    pub fn retractions(&self) -> usize {
        self.retractions
    }

    /// The text at a path, as far as there is one.
    pub fn text(&self, path: &Path) -> Option<&str> {
        let part = self.parts.iter().find(|(at, _)| at == path);
        part.and_then(|(_, value)| value.as_str())
    }

    /// Returns a difference between the assembled message and the parsed one; `None` if there is none. Empty values at the top are as good
    /// as none. Of a call `id`, name and arguments count.
    pub fn difference(&self, message: &Map) -> Option<String> {
        let mut expected = Vec::new();
        for (key, value) in message {
            flatten(&Path::default().key(key), value, &mut expected);
        }
        let mut parts = Vec::new();
        for (path, value) in &self.parts {
            flatten(path, value, &mut parts);
        }
        let mut found: Vec<(&Path, Leaf<'_>)> = parts
            .iter()
            .map(|(path, value)| (path, Leaf::Value(value)))
            .collect();
        for call in &self.calls {
            match call.state {
                CallState::Done => found.push((&call.path, Leaf::Call(call))),
                CallState::Open => return Some(format!("call {} is never done", call.index)),
                CallState::Dropped => {}
            }
        }
        for (path, value) in &expected {
            let place = found.iter().position(|(at, _)| *at == path);
            let Some(place) = place else {
                let value = json::to_string(value);
                return Some(format!("{path} was not passed on: {value}"));
            };
            let (_, leaf) = found.swap_remove(place);
            if let Some(difference) = leaf.difference(value) {
                return Some(format!("{path}: {difference}"));
            }
        }
        let more = found.first();
        more.map(|(path, _)| format!("{path} was passed on, and is not in the message"))
    }
}

enum Leaf<'a> {
    Value(&'a Value),
    Call(&'a AssembledCall),
}

impl Leaf<'_> {
    fn difference(&self, value: &Value) -> Option<String> {
        let unequal = |found: String, expected: String| {
            (found != expected).then(|| format!("passed on as {found}, but it is {expected}"))
        };
        let call = match self {
            Self::Value(found) => return unequal(json::to_string(found), json::to_string(value)),
            Self::Call(call) => call,
        };
        let Some(is) = as_call(value) else {
            return Some("passed on as a call, which it is not".to_owned());
        };
        let shown = |name: &str, id: Option<&str>| format!("{name:?} with the id {id:?}");
        if let Some(difference) =
            unequal(shown(&call.name, call.id.as_deref()), shown(is.name, is.id))
        {
            return Some(difference);
        }
        match is.arguments {
            None => unequal(call.arguments.clone(), String::new()),
            Some(Value::String(text)) => unequal(call.arguments.clone(), text.clone()),
            Some(arguments) => match json::parse(&call.arguments) {
                Ok(found) => unequal(json::to_string(&found), json::to_string(arguments)),
                Err(error) => Some(format!(
                    "its arguments are no JSON: {error}: {}",
                    json::quote(&call.arguments)
                )),
            },
        }
    }
}

/// The calls, texts and values of a message with their places: those that are passed on one by one.
fn flatten<'v>(path: &Path, value: &'v Value, leaves: &mut Vec<(Path, &'v Value)>) {
    match value {
        value if path.steps().len() == 1 && is_empty(value) => {}
        Value::Array(items) if holds_call(value) || path.steps().len() == 1 => {
            for (index, item) in items.iter().enumerate() {
                flatten(&path.index(index), item, leaves);
            }
        }
        value => leaves.push((path.clone(), value)),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
    }
}
