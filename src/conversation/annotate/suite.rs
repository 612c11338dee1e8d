//! The conversations with which an annotation is found and proved.

use crate::chat_template::{ChatTemplate, Clock, REASONING_KEYS, RenderInput};
use crate::value::{Map, Value, json};

/// A conversation to render.
pub(super) type Case = RenderInput;

/// Variables that are no kwargs.
const GIVEN: [&str; 4] = ["messages", "tools", "documents", "add_generation_prompt"];

/// How many values of kwargs are tried, and how many texts that a chat template searches for.
const MAX_VALUES: usize = 12;
const MAX_SOUGHT: usize = 4;

/// The conversations for a chat template: each and each beginning of it as it stands, with arguments as text, with a reasoning under
/// another key, and with contents as parts; those of several turns with each value of each kwarg that the chat template compares with one, too.
pub(super) fn cases(template: &ChatTemplate) -> Vec<Case> {
    let Ok(Value::Object(written)) = json::parse(include_str!("conversations.json")) else {
        return Vec::new();
    };
    let list = |key: &str| {
        let list = written.get(key).and_then(Value::as_array);
        list.unwrap_or_default().to_vec()
    };
    let tools = list("tools");
    let mut conversations: Vec<Vec<Value>> = list("conversations")
        .iter()
        .filter_map(|messages| messages.as_array().map(<[Value]>::to_vec))
        .collect();
    for sought in template.sought().iter().take(MAX_SOUGHT) {
        conversations.push(vec![
            message("user", "Why?"),
            message("assistant", &format!("So it is.{sought}Because.")),
            message("user", "And now?"),
            message("assistant", &format!("So it is.{sought}Still.")),
        ]);
    }
    let mut cases = Vec::new();
    for (index, messages) in conversations.iter().enumerate() {
        let calls = messages
            .iter()
            .any(|message| message.get("tool_calls").is_some());
        let reasoned = messages
            .iter()
            .any(|message| message.get(REASONING_KEYS[0]).is_some());
        for tools in [None, Some(tools.clone())] {
            if tools.is_none() && calls && index % 2 == 0 {
                continue;
            }
            let mut add = |messages: Vec<Value>, kwargs: Map| {
                cases.push(RenderInput {
                    messages,
                    tools: tools.clone(),
                    kwargs,
                    clock: Clock::date(2024, 2, 29),
                    ..RenderInput::default()
                });
            };
            for count in 1..=messages.len() {
                let messages = &messages[..count];
                add(messages.to_vec(), Map::new());
                if calls {
                    add(changed(messages, arguments_to_text), Map::new());
                }
                if reasoned {
                    add(changed(messages, rename_reasoning), Map::new());
                }
            }
            add(changed(messages, content_to_parts), Map::new());
            if tools.is_some() && messages.len() > 4 {
                for kwargs in settings(template) {
                    add(messages.clone(), kwargs);
                }
            }
        }
    }
    cases
}

fn settings(template: &ChatTemplate) -> Vec<Map> {
    let variables = template.variables().iter();
    let variables = variables.filter(|name| !GIVEN.contains(&name.as_str()));
    let settings = variables.flat_map(|name| {
        let values = template.candidates(name).iter();
        values.map(move |value| Map::from_iter([(name.clone(), value.clone())]))
    });
    settings.take(MAX_VALUES).collect()
}

fn message(role: &str, content: &str) -> Value {
    Value::Object(Map::from_iter([
        ("role".to_owned(), Value::from(role)),
        ("content".to_owned(), Value::from(content)),
    ]))
}

fn changed(messages: &[Value], change: fn(&mut Map)) -> Vec<Value> {
    let mut messages = messages.to_vec();
    for message in &mut messages {
        if let Value::Object(members) = message {
            change(members);
        }
    }
    messages
}

fn content_to_parts(message: &mut Map) {
    if let Some(content) = message.get_mut("content")
        && let Some(text) = content.as_str()
    {
        let part = Map::from_iter([
            ("type".to_owned(), Value::from("text")),
            ("text".to_owned(), Value::from(text)),
        ]);
        *content = Value::Array(vec![Value::Object(part)]);
    }
}

/// Puts a reasoning under the last of the keys that transformers knows, which it hands on as it is too.
fn rename_reasoning(message: &mut Map) {
    if let (Some(text), Some(last)) = (
        message.shift_remove(REASONING_KEYS[0]),
        REASONING_KEYS.last(),
    ) {
        message.insert((*last).to_owned(), text);
    }
}

fn arguments_to_text(message: &mut Map) {
    let Some(Value::Array(calls)) = message.get_mut("tool_calls") else {
        return;
    };
    for call in calls {
        if let Value::Object(call) = call
            && let Some(Value::Object(function)) = call.get_mut("function")
            && let Some(arguments) = function.get_mut("arguments")
        {
            *arguments = Value::String(json::to_string(arguments));
        }
    }
}
