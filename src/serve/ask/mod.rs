//! Requests of clients: those of each protocol, read into the one form that a chat template is given.
//!
//! What the server cannot do is refused and not left out in silence; members that change nothing about the response (`user`, `metadata`,
//! `store`) are left out.

mod chat;
mod messages;
mod parts;
mod responses;

use crate::deltas::encode::Protocol;
use crate::value::{Map, Value, json};

use super::Manner;
use super::refusal::{Refusal, object};
use crate::grammar::ToolChoice;

/// A turn of a conversation that a client asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Turn {
    /// The conversation in the form of Chat Completions, the arguments of calls as text.
    pub(super) messages: Vec<Value>,
    /// The tools that the model may call, in that form.
    pub(super) tools: Vec<Value>,
    /// Further variables for the chat template.
    pub(super) kwargs: Map,
    /// The members that ask how to write, in the form of completions.
    pub(super) writing: Map,
    /// True if the reply is to be streamed.
    pub(super) stream: bool,
    /// True if a streamed reply is to tell the usage of tokens.
    pub(super) include_usage: bool,
    /// True if there may be no more than one call.
    pub(super) one_call: bool,
    /// Which calls may or must be written. Where none may, no tools are offered.
    pub(super) choice: ToolChoice,
    /// True if a tool is strict: its calls must fit its schema.
    pub(super) strict: bool,
    /// A schema that the answer must fit.
    pub(super) response_format: Option<Value>,
}

impl Turn {
    /// Reads a request.
    pub(super) fn read(protocol: Protocol, body: &[u8]) -> Result<Self, Refusal> {
        let text = std::str::from_utf8(body)
            .map_err(|error| Refusal::request(format!("the request is not UTF-8: {error}")))?;
        let value = json::parse(text).map_err(|error| {
            let (message, at) = (error.message(), error.offset());
            Refusal::request(format!("the request is not JSON: {message} at byte {at}"))
        })?;
        let kind = value.json_kind();
        let Value::Object(mut members) = value else {
            return Err(Refusal::request(format!(
                "the request must be an object, not {kind}"
            )));
        };
        // A null is as good as none.
        members.retain(|_, value| *value != Value::Null);
        let mut request = Request { members };
        let mut turn = match protocol {
            Protocol::Responses => responses::read(&mut request)?,
            Protocol::Anthropic => messages::read(&mut request)?,
            _ => chat::read(&mut request)?,
        };
        turn.stream = request.boolean("stream")?.unwrap_or(false);
        if let Some(kwargs) = request.object("chat_template_kwargs")? {
            turn.kwargs.extend(kwargs);
        }
        for key in WRITING {
            if let Some(value) = request.members.shift_remove(key) {
                turn.writing.insert(key, value);
            }
        }
        if turn.messages.is_empty() {
            return Err(Refusal::request("there is no message to answer"));
        }
        name_results(&mut turn.messages);
        Ok(turn)
    }

    /// The conversation as the chat template wants it.
    pub(super) fn messages(&self, manner: Manner) -> Vec<Value> {
        let mut messages = self.messages.clone();
        for message in &mut messages {
            let Value::Object(message) = message else {
                continue;
            };
            let Some(Value::Array(calls)) = message.get_mut("tool_calls") else {
                continue;
            };
            if !manner.arguments_as_text {
                calls.iter_mut().for_each(take_arguments_apart);
            }
            if message.contains_key("content") {
                continue;
            }
            if manner.rules.keep_nulls {
                message.insert("content", Value::Null);
            } else if manner.empty_content {
                message.insert("content", Value::from(""));
            }
        }
        messages
    }
}

/// The members that are passed on to the upstream as they are: how to choose tokens, and when to end.
const WRITING: [&str; 15] = [
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "typical_p",
    "seed",
    "stop",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "logit_bias",
    "min_tokens",
    "ignore_eos",
    "stop_token_ids",
    "priority",
];

/// The arguments of a call as the object that they spell, if they spell one.
fn take_arguments_apart(call: &mut Value) {
    let Value::Object(call) = call else { return };
    let Some(Value::Object(function)) = call.get_mut("function") else {
        return;
    };
    let parsed = function.get("arguments").and_then(Value::as_str);
    if let Some(Ok(object @ Value::Object(_))) = parsed.map(json::parse) {
        function.insert("arguments", object);
    }
}

/// Results of tools are told the name of the tool, which clients leave out and chat templates print.
fn name_results(messages: &mut [Value]) {
    let mut names = Vec::new();
    for message in messages {
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for call in calls.unwrap_or_default() {
            let name = call
                .get("function")
                .and_then(|function| function.get("name"));
            if let (Some(id), Some(name)) = (call.get("id"), name) {
                names.push((id.clone(), name.clone()));
            }
        }
        let Value::Object(message) = message else {
            continue;
        };
        let id = message.get("tool_call_id").cloned();
        let known = names
            .iter()
            .rev()
            .find(|(known, _)| Some(known) == id.as_ref());
        if let (Some((_, name)), false) = (known, message.contains_key("name")) {
            message.insert("name", name.clone());
        }
    }
}

/// A request, whose members are taken from it one by one.
struct Request {
    members: Map,
}

impl Request {
    fn take(&mut self, key: &str) -> Option<Value> {
        self.members.shift_remove(key)
    }

    fn wrong(key: &str, wanted: &str, value: &Value) -> Refusal {
        let kind = value.json_kind();
        Refusal::request(format!("`{key}` must be {wanted}, not {kind}")).about(key)
    }

    fn boolean(&mut self, key: &str) -> Result<Option<bool>, Refusal> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(value)),
            Some(other) => Err(Self::wrong(key, "a boolean", &other)),
        }
    }

    fn list(&mut self, key: &str) -> Result<Option<Vec<Value>>, Refusal> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(other) => Err(Self::wrong(key, "a list", &other)),
        }
    }

    fn object(&mut self, key: &str) -> Result<Option<Map>, Refusal> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Object(members)) => Ok(Some(members)),
            Some(other) => Err(Self::wrong(key, "an object", &other)),
        }
    }

    /// Refuses a member of the request unless it asks for what is done anyway: `n: 1` is taken, `n: 2` is refused.
    fn only(&mut self, key: &str, is_usual: fn(&Value) -> bool, why: &str) -> Result<(), Refusal> {
        match self.take(key) {
            Some(value) if !is_usual(&value) => Err(Refusal::unsupported(key, why)),
            _ => Ok(()),
        }
    }

    /// The most tokens to write, under the protocol's name.
    fn most(&mut self, keys: &[&str], turn: &mut Turn) {
        for key in keys {
            if let Some(count) = self.take(key) {
                turn.writing.insert("max_tokens", count);
            }
        }
    }

    /// Takes what is said about which tools may be called. Where none may, none are offered.
    fn choose_tools(&mut self, turn: &mut Turn) -> Result<(), Refusal> {
        let choice = self.take("tool_choice");
        let kind = choice.as_ref().map(|choice| {
            let name = choice.as_str().or_else(|| choice.get("type")?.as_str());
            name.unwrap_or_default()
        });
        if let Some(choice) = &choice
            && choice.get("disable_parallel_tool_use") == Some(&Value::Bool(true))
        {
            turn.one_call = true;
        }
        let name = choice.as_ref().and_then(|choice| {
            let function = choice.get("function").unwrap_or(choice);
            function.get("name")?.as_str()
        });
        turn.choice = match (kind, name) {
            (None | Some("auto"), _) => ToolChoice::Auto,
            (Some("none"), _) => {
                turn.tools.clear();
                ToolChoice::None
            }
            // The second is Anthropic's word for it.
            (Some("required" | "any"), _) => ToolChoice::Required,
            (Some("function" | "tool"), Some(name)) => ToolChoice::Tool(name.to_owned()),
            _ => {
                return Err(Refusal::unsupported(
                    "tool_choice",
                    "`tool_choice` is `auto`, `none`, `required`, or a function by its name",
                ));
            }
        };
        Ok(())
    }

    /// Takes the format that an answer must have: `key` of the request, or the object within it of that name.
    fn format(&mut self, key: &str, within: Option<&str>, turn: &mut Turn) -> Result<(), Refusal> {
        let Some(given) = self.take(key) else {
            return Ok(());
        };
        let format = match within {
            Some(name) => match given.get(name) {
                Some(format) => format,
                None => return Ok(()),
            },
            None => &given,
        };
        let described = format.get("json_schema").unwrap_or(format);
        turn.response_format = match format.get("type").and_then(Value::as_str) {
            None | Some("text") => None,
            Some("json_object") => Some(object([("type", Value::from("object"))])),
            Some("json_schema") => match described.get("schema") {
                Some(schema) => Some(schema.clone()),
                None => return Err(Refusal::request("the format has no `schema`").about(key)),
            },
            Some(_) => {
                let message = "the format is `text`, `json_object` or `json_schema`";
                return Err(Refusal::unsupported(key, message));
            }
        };
        Ok(())
    }
}

/// Takes the member `strict` out of a tool, and returns true if the tool is strict. The engine is told of it; a chat template would print
/// it.
fn take_strict(tool: &mut Map) -> bool {
    tool.shift_remove("strict") == Some(Value::Bool(true))
}

/// A message.
fn message(role: &str, content: &str) -> Value {
    object([
        ("role", Value::from(role)),
        ("content", Value::from(content)),
    ])
}

/// A call in the form of Chat Completions.
fn call(id: Option<Value>, name: Value, arguments: Value) -> Value {
    let function = object([("name", name), ("arguments", arguments)]);
    let mut call = Map::new();
    if let Some(id) = id {
        call.insert("id", id);
    }
    call.insert("type", Value::from("function"));
    call.insert("function", function);
    Value::Object(call)
}

/// Adds calls to the message of the assistant that they belong to: the last one, or a new one.
fn add_call(messages: &mut Vec<Value>, call: Value) {
    let is_assistant =
        |message: &Value| message.get("role").and_then(Value::as_str) == Some("assistant");
    if !messages.last().is_some_and(is_assistant) {
        messages.push(object([("role", Value::from("assistant"))]));
    }
    let Some(Value::Object(message)) = messages.last_mut() else {
        return;
    };
    match message.get_mut("tool_calls") {
        Some(Value::Array(calls)) => calls.push(call),
        _ => {
            message.insert("tool_calls", Value::Array(vec![call]));
        }
    }
}

/// A tool of Chat Completions out of its parts.
fn tool(name: Value, description: Option<Value>, parameters: Option<Value>) -> Value {
    let mut function = Map::new();
    function.insert("name", name);
    if let Some(description) = description {
        function.insert("description", description);
    }
    function.insert("parameters", parameters.unwrap_or_else(|| object([])));
    object([
        ("type", Value::from("function")),
        ("function", Value::Object(function)),
    ])
}

#[cfg(test)]
mod tests;
