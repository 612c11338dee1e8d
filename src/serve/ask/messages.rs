//! Anthropic's Messages.

use super::{Request, Turn, add_call, call, message, parts, take_strict, tool};
use crate::serve::refusal::{Refusal, object};
use crate::value::{Map, Value, json};

pub(super) fn read(request: &mut Request) -> Result<Turn, Refusal> {
    let mut turn = Turn::default();
    if let Some(system) = request.take("system") {
        turn.messages
            .push(message("system", &parts::text(&system)?));
    }
    let Some(messages) = request.list("messages")? else {
        return Err(Refusal::request("there are no `messages`").about("messages"));
    };
    for given in messages {
        let Some(role) = given.get("role").and_then(Value::as_str) else {
            return Err(Refusal::request("a message has no `role`").about("messages"));
        };
        match given.get("content") {
            Some(Value::Array(blocks)) => add(role, blocks, &mut turn.messages)?,
            Some(content) => turn.messages.push(message(role, &parts::text(content)?)),
            None => return Err(Refusal::request("a message has no `content`").about("messages")),
        }
    }
    for mut given in request.list("tools")?.unwrap_or_default() {
        let Value::Object(given) = &mut given else {
            return Err(Request::wrong("tools", "a list of objects", &given));
        };
        let (Some(name), Some(schema)) = (
            given.shift_remove("name"),
            given.shift_remove("input_schema"),
        ) else {
            let message = "the tools have a `name` and an `input_schema`; others are not offered";
            return Err(Refusal::unsupported("tools", message));
        };
        turn.strict |= take_strict(given);
        let description = given.shift_remove("description");
        turn.tools.push(tool(name, description, Some(schema)));
    }
    request.choose_tools(&mut turn)?;
    if let Some(texts) = request.take("stop_sequences") {
        turn.writing.insert("stop", texts);
    }
    request.most(&["max_tokens"], &mut turn);
    Ok(turn)
}

/// Adds the blocks of a message to the conversation: results of tools are messages of their own, before the text beside them.
fn add(role: &str, blocks: &[Value], messages: &mut Vec<Value>) -> Result<(), Refusal> {
    let wrong = |what: &str| Refusal::request(what.to_owned()).about("messages");
    let (mut text, mut reasoning) = (String::new(), String::new());
    let mut calls = Vec::new();
    for block in blocks {
        let kind = block.get("type").and_then(Value::as_str).unwrap_or("text");
        let text_of = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
        match kind {
            "text" => text.push_str(text_of("text")),
            "thinking" => reasoning.push_str(text_of("thinking")),
            "redacted_thinking" => {}
            "tool_use" => {
                let name = block.get("name").cloned();
                let name = name.ok_or_else(|| wrong("a `tool_use` has no `name`"))?;
                let input = block.get("input").cloned().unwrap_or_else(|| object([]));
                let arguments = Value::from(json::to_string(&input));
                calls.push(call(block.get("id").cloned(), name, arguments));
            }
            "tool_result" => {
                let content = block.get("content").unwrap_or(&Value::Null);
                let mut result = Map::new();
                result.insert("role", Value::from("tool"));
                result.insert("content", Value::from(parts::text(content)?));
                if let Some(id) = block.get("tool_use_id") {
                    result.insert("tool_call_id", id.clone());
                }
                messages.push(Value::Object(result));
            }
            other => {
                let message =
                    format!("a content has a block of type `{other}`, which cannot be sent");
                return Err(Refusal::unsupported("messages", message));
            }
        }
    }
    if text.is_empty() && reasoning.is_empty() && calls.is_empty() {
        return Ok(());
    }
    let mut written = Map::new();
    written.insert("role", Value::from(role));
    if !reasoning.is_empty() {
        written.insert("reasoning_content", Value::from(reasoning));
    }
    if !text.is_empty() || calls.is_empty() {
        written.insert("content", Value::from(text));
    }
    messages.push(Value::Object(written));
    for call in calls {
        add_call(messages, call);
    }
    Ok(())
}
