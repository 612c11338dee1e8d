//! What a render is given: the variables that transformers passes to a chat template.

use std::borrow::Cow;
use std::rc::Rc;

use super::object::{Origin, Py};
use crate::chat_template::Inputs;
use crate::chat_template::syntax::tree::Tree;
use crate::value::{Key, Map, Value};

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

/// The variables that `render_jinja_template` passes, by the index of their names, those of them that the template mentions.
/// What it passes by name cannot be a kwarg as well.
pub(super) fn variables(
    tree: &Tree,
    tokens: &Map,
    input: &Inputs<'_>,
    observe: bool,
) -> Vec<Option<Py>> {
    let mut out = vec![None; tree.names.len()];
    let mut give = |name: &str, value: &dyn Fn(Option<&Rc<Origin>>) -> Py| {
        if let Some(name_here) = tree.find_name(name) {
            let origin = observe.then(|| Origin::top(name));
            out[name_here.index()] = Some(value(origin.as_ref()));
        }
    };
    for (name, value) in tokens.iter().chain(input.kwargs) {
        give(name, &|origin| Py::from_input(value, origin));
    }
    give("messages", &|origin| {
        let messages = input.messages.iter().map(prepare);
        Py::list_from_input(messages, origin)
    });
    for (name, items) in [("tools", input.tools), ("documents", input.documents)] {
        give(name, &|origin| match items {
            Some(items) => Py::list_from_input(items.iter().map(Cow::Borrowed), origin),
            None => Py::None,
        });
    }
    give("add_generation_prompt", &|_| {
        Py::Bool(input.add_generation_prompt)
    });
    out
}

/// The names under which a message's reasoning may come, those first that count first.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// A message as `apply_chat_template` hands it on: without the keys that hold nothing, and its reasoning, under whichever
/// of three names it came, under two.
fn prepare(message: &Value) -> Cow<'_, Value> {
    let Value::Object(map) = message else {
        return Cow::Borrowed(message);
    };
    let is_changed = |(key, value): (&Key, &Value)| {
        matches!(value, Value::Null) || REASONING.contains(&key.as_str())
    };
    if !map.iter().any(is_changed) {
        return Cow::Borrowed(message);
    }
    let mut map = map.clone();
    map.retain(|_, value| !matches!(value, Value::Null));
    let reasoning = REASONING.iter().find_map(|key| map.get(key)).cloned();
    if let Some(reasoning) = reasoning {
        let thinking = map.get("thinking").unwrap_or(&reasoning).clone();
        map.shift_insert(0, "thinking", thinking);
        map.insert("reasoning_content".to_owned(), reasoning);
    }
    Cow::Owned(Value::Object(map))
}
