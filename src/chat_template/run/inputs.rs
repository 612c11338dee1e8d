//! What a render is given: the variables that transformers passes to a chat template.

use std::rc::Rc;

use indexmap::IndexMap;

use super::object::{Origin, Py};
use crate::chat_template::RenderInput;
use crate::value::{Map, Value};

/// Whether one of the values nests deeper than so many levels; found out without recursing.
pub(super) fn nests_deeper<'v>(values: impl Iterator<Item = &'v Value>, limit: usize) -> bool {
    let mut open: Vec<(&Value, usize)> = values.map(|value| (value, 1)).collect();
    while let Some((value, depth)) = open.pop() {
        if depth > limit {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => open.extend(map.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    false
}

/// The variables that `render_jinja_template` passes. What it passes by name cannot be a kwarg as well.
pub(super) fn variables(tokens: &Map, input: &RenderInput, observe: bool) -> IndexMap<Rc<str>, Py> {
    let origin = |name: &str| observe.then(|| Origin::top(name));
    let mut out = IndexMap::new();
    for (name, value) in tokens.iter().chain(&input.kwargs) {
        out.insert(
            Rc::from(name.as_str()),
            Py::from_input(value, origin(name).as_ref()),
        );
    }
    let messages = Value::Array(input.messages.iter().map(prepare).collect());
    out.insert(
        Rc::from("messages"),
        Py::from_input(&messages, origin("messages").as_ref()),
    );
    for (name, items) in [("tools", &input.tools), ("documents", &input.documents)] {
        let value = match items {
            Some(items) => Py::from_input(&Value::Array(items.clone()), origin(name).as_ref()),
            None => Py::None,
        };
        out.insert(Rc::from(name), value);
    }
    out.insert(
        Rc::from("add_generation_prompt"),
        Py::Bool(input.add_generation_prompt),
    );
    out
}

/// A message as `apply_chat_template` hands it on: without the keys that hold nothing, and its reasoning, under whichever
/// of three names it came, under two.
fn prepare(message: &Value) -> Value {
    let Value::Object(map) = message else {
        return message.clone();
    };
    let mut map = map.clone();
    map.retain(|_, value| !matches!(value, Value::Null));
    let reasoning = ["reasoning_content", "thinking", "reasoning"]
        .iter()
        .find_map(|key| map.get(key))
        .cloned();
    if let Some(reasoning) = reasoning {
        let thinking = map.get("thinking").unwrap_or(&reasoning).clone();
        map.shift_insert(0, "thinking", thinking);
        map.insert("reasoning_content".to_owned(), reasoning);
    }
    Value::Object(map)
}
