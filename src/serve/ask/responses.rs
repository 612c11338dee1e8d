//! OpenAI's Responses. Nothing of a conversation is kept, so each request must have all of it.

use super::{Request, Turn, add_call, call, message, parts, take_strict, tool};
use crate::serve::refusal::{Refusal, object};
use crate::value::{Map, Value};

pub(super) fn read(request: &mut Request) -> Result<Turn, Refusal> {
    let mut turn = Turn::default();
    if let Some(instructions) = request.take("instructions") {
        turn.messages
            .push(message("system", &parts::text(&instructions)?));
    }
    match request.take("input") {
        Some(Value::String(text)) => turn.messages.push(message("user", &text)),
        Some(Value::Array(items)) => {
            for item in items {
                let kind = item.json_kind();
                let Value::Object(item) = item else {
                    let message = format!("an item of `input` must be an object, not {kind}");
                    return Err(Refusal::request(message).about("input"));
                };
                add(item, &mut turn.messages)?;
            }
        }
        Some(other) => return Err(Request::wrong("input", "a string or a list", &other)),
        None => return Err(Refusal::request("there is no `input`").about("input")),
    }
    for mut given in request.list("tools")?.unwrap_or_default() {
        let is_function = given.get("type").and_then(Value::as_str) == Some("function");
        let Value::Object(given) = &mut given else {
            return Err(Request::wrong("tools", "a list of objects", &given));
        };
        let (Some(name), true) = (given.shift_remove("name"), is_function) else {
            let message = "the tools are functions with a name; others are not offered";
            return Err(Refusal::unsupported("tools", message));
        };
        turn.strict |= take_strict(given);
        let (description, parameters) = (
            given.shift_remove("description"),
            given.shift_remove("parameters"),
        );
        turn.tools.push(tool(name, description, parameters));
    }
    request.choose_tools(&mut turn)?;
    turn.one_call = request.boolean("parallel_tool_calls")? == Some(false);
    let absent = |value: &Value| !value.is_truthy();
    request.only(
        "previous_response_id",
        absent,
        "no response is kept; send the whole conversation as `input`",
    )?;
    request.only("conversation", absent, "no conversation is kept")?;
    request.only("background", absent, "nothing is written in the background")?;
    request.format("text", Some("format"), &mut turn)?;
    let effort = request.object("reasoning")?;
    if let Some(effort) = effort.and_then(|mut reasoning| reasoning.shift_remove("effort")) {
        turn.kwargs.insert("reasoning_effort", effort);
    }
    request.most(&["max_output_tokens"], &mut turn);
    Ok(turn)
}

/// Adds an item of the input to the conversation.
fn add(mut item: Map, messages: &mut Vec<Value>) -> Result<(), Refusal> {
    let text_of = |item: &Map, key: &str| parts::text(item.get(key).unwrap_or(&Value::Null));
    let kind = item
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or("message");
    match kind {
        "message" => {
            let role = match item.get("role").and_then(Value::as_str) {
                Some("developer") => "system",
                Some(role) => role,
                None => return Err(Refusal::request("a message has no `role`").about("input")),
            };
            let content = text_of(&item, "content")?;
            let is_open = |message: &Value| {
                let role = message.get("role").and_then(Value::as_str);
                role == Some("assistant") && message.get("content").is_none()
            };
            // The reasoning of a message is an item before it.
            match messages.last_mut() {
                Some(Value::Object(last))
                    if role == "assistant" && is_open(&Value::Object(last.clone())) =>
                {
                    last.insert("content", Value::from(content));
                }
                _ => messages.push(message(role, &content)),
            }
        }
        "function_call" => {
            let (Some(name), Some(arguments)) =
                (item.shift_remove("name"), item.shift_remove("arguments"))
            else {
                let message = "a `function_call` has a `name` and `arguments`";
                return Err(Refusal::request(message).about("input"));
            };
            add_call(
                messages,
                call(item.shift_remove("call_id"), name, arguments),
            );
        }
        "function_call_output" => {
            let mut result = Map::new();
            result.insert("role", Value::from("tool"));
            result.insert("content", Value::from(text_of(&item, "output")?));
            if let Some(id) = item.shift_remove("call_id") {
                result.insert("tool_call_id", id);
            }
            messages.push(Value::Object(result));
        }
        "reasoning" => {
            let parts = item.get("content").and_then(Value::as_array);
            let texts = parts
                .unwrap_or_default()
                .iter()
                .filter_map(|part| part.get("text")?.as_str());
            let reasoning: String = texts.collect();
            if !reasoning.is_empty() {
                messages.push(object([
                    ("role", Value::from("assistant")),
                    ("reasoning_content", Value::from(reasoning)),
                ]));
            }
        }
        other => {
            let message = format!("`input` has an item of type `{other}`, which cannot be sent");
            return Err(Refusal::unsupported("input", message));
        }
    }
    Ok(())
}
