//! Messages before a chat template's own spelling: what an assistant says, and the tools that it calls.

use crate::value::{Map, Value, json};

/// The message key of tool calls.
pub(crate) const CALLS_KEY: &str = "tool_calls";

/// Returns true if the message has calls.
pub(crate) fn has_calls(message: &Value) -> bool {
    let calls = message.get(CALLS_KEY).and_then(Value::as_array);
    calls.is_some_and(|calls| !calls.is_empty())
}

/// A tool call of a message that is to be rendered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) arguments: Map,
    /// The call's id; empty for a call without one.
    pub(crate) id: String,
}

impl Call {
    /// Its name, its id, and the names and texts of its arguments.
    pub(crate) fn texts(self) -> impl Iterator<Item = String> {
        let arguments = self.arguments.into_iter().flat_map(|(key, value)| {
            let text = value.as_str().map(str::to_owned);
            std::iter::once(key.to_string()).chain(text)
        });
        [self.name, self.id].into_iter().chain(arguments)
    }
}

/// An assistant's message before it is written in a chat template's own keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Assistant {
    pub(crate) reasoning: Option<String>,
    pub(crate) content: Option<String>,
    pub(crate) calls: Vec<Call>,
}

/// A part of a call that the chat template asks for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Asked {
    /// The name of the function.
    Function(String),
    /// The name of an argument.
    Argument(String),
    /// The name of an argument of a certain function.
    ArgumentOf { function: String, argument: String },
    /// The text with which an id begins.
    Id(String),
}

impl Assistant {
    pub(crate) fn saying(content: &str) -> Self {
        Self {
            content: Some(content.to_owned()),
            ..Self::default()
        }
    }

    pub(crate) fn calling(calls: impl IntoIterator<Item = Call>) -> Self {
        Self {
            calls: calls.into_iter().collect(),
            ..Self::default()
        }
    }

    #[must_use]
    pub(crate) fn thinking(mut self, reasoning: &str) -> Self {
        self.reasoning = Some(reasoning.to_owned());
        self
    }

    #[must_use]
    pub(crate) fn with_content(mut self, content: &str) -> Self {
        self.content = Some(content.to_owned());
        self
    }
}

/// The name of the function that a tool or a call in the keys of the chat format is of.
pub(crate) fn function_name(of: &Value) -> Option<&str> {
    of.get("function")?.get("name")?.as_str()
}

/// A tool that `call` calls, as a JSON schema that names the type of each argument.
pub(crate) fn tool_for(call: &Call) -> Value {
    let properties: Map = call
        .arguments
        .iter()
        .map(|(key, value)| {
            let schema = object([
                ("type", Value::from(value.schema_type())),
                ("description", Value::from(format!("The {key}."))),
            ]);
            (key.clone(), schema)
        })
        .collect();
    let parameters = object([
        ("type", Value::from("object")),
        ("properties", Value::Object(properties)),
        (
            "required",
            call.arguments
                .keys()
                .map(|key| Value::from(key.as_str()))
                .collect::<Vec<_>>()
                .into(),
        ),
    ]);
    let function = object([
        ("name", Value::from(call.name.as_str())),
        ("description", Value::from(format!("Tool {}.", call.name))),
        ("parameters", parameters),
    ]);
    object([("type", Value::from("function")), ("function", function)])
}

/// A message of another role.
pub(crate) fn message(role: &str, content: &str) -> Value {
    object([
        ("role", Value::from(role)),
        ("content", Value::from(content)),
    ])
}

/// A tool's answer to `call`.
pub(crate) fn tool_result(call: &Call, content: &str) -> Value {
    object([
        ("role", Value::from("tool")),
        ("name", Value::from(call.name.as_str())),
        ("tool_call_id", Value::from(call.id.as_str())),
        ("content", Value::from(content)),
    ])
}

/// An object from pairs.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(
        members
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

/// The form in which the arguments of a call are handed to the chat template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentsForm {
    /// The arguments are an object.
    Object,
    /// The arguments are the text of a JSON object.
    JsonText,
}

impl ArgumentsForm {
    /// The arguments as the chat template is given them, which is also how a parsed message must have them.
    pub(crate) fn write(self, arguments: &Map) -> Value {
        let object = Value::Object(arguments.clone());
        match self {
            Self::Object => object,
            Self::JsonText => Value::from(json::to_string(&object)),
        }
    }
}

/// A call in the keys of the chat format.
pub(crate) fn write_call(call: &Call, arguments: ArgumentsForm) -> Value {
    let function = object([
        ("name", Value::from(call.name.as_str())),
        ("arguments", arguments.write(&call.arguments)),
    ]);
    let mut written = Map::new();
    written.insert("type", Value::from("function"));
    if !call.id.is_empty() {
        written.insert("id", Value::from(call.id.as_str()));
    }
    written.insert("function", function);
    Value::Object(written)
}

/// A text as the one part of a list.
pub(crate) fn text_part(text: Value) -> Value {
    object([("type", Value::from("text")), ("text", text)])
}

/// The message with a content that is a text as a list of one part.
pub(crate) fn content_to_parts(message: &mut Value) {
    if let Value::Object(members) = message
        && let Some(content @ Value::String(_)) = members.get_mut("content")
    {
        *content = Value::Array(vec![text_part(std::mem::take(content))]);
    }
}
