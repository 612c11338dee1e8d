//! Requests for a grammar.

use std::str::FromStr;

use crate::value::{Map, Value};

/// Which calls a model may or must write, as OpenAI's `tool_choice` says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// Calls, or none.
    #[default]
    Auto,
    /// At least one call.
    Required,
    /// No call.
    None,
    /// At least one call, and all of this tool.
    Tool(String),
}

impl FromStr for ToolChoice {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "auto" => Self::Auto,
            "required" => Self::Required,
            "none" => Self::None,
            name => Self::Tool(name.to_owned()),
        })
    }
}

/// The reasoning that is asked of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reasoning {
    /// As it likes.
    #[default]
    Auto,
    /// Before anything else.
    On,
    /// Not at all: where the format has its marks all the same, nothing stands between them.
    Off,
}

/// A special token of a tokenizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecialToken {
    /// Its text.
    pub text: String,
    /// Its number.
    pub id: u32,
}

/// A request for a grammar.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// The tools, as a chat template takes them.
    pub tools: Vec<Value>,
    /// True if tools that are not among these may be called, too, with any arguments: for who reads and does not know the tools.
    pub any_tool: bool,
    /// Which calls may or must be written.
    pub tool_choice: ToolChoice,
    /// True if there may be more than one call.
    pub parallel: bool,
    /// The reasoning that is asked of the model.
    pub reasoning: Reasoning,
    /// The prompt, of which what follows the start anchor is already written. Empty where the response holds the whole message.
    pub prefix: String,
    /// A schema that the answer must fit as JSON.
    pub response_format: Option<Value>,
    /// The tokens that an engine reads and writes as one, wherever their text stands.
    pub special_tokens: Vec<SpecialToken>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            any_tool: false,
            tool_choice: ToolChoice::Auto,
            parallel: true,
            reasoning: Reasoning::Auto,
            prefix: String::new(),
            response_format: None,
            special_tokens: Vec::new(),
        }
    }
}

/// A tool that may be called.
#[derive(Debug, Clone)]
pub(crate) struct Tool {
    /// Its name; `None` of a tool that is not known.
    pub(crate) name: Option<String>,
    /// The schema of its arguments.
    pub(crate) parameters: Value,
}

impl Request {
    /// Sets the tools, as a chat template takes them.
    pub fn tools(self, tools: Vec<Value>) -> Self {
        Self { tools, ..self }
    }

    /// Sets [`Request::any_tool`].
    pub fn any_tool(self, any_tool: bool) -> Self {
        Self { any_tool, ..self }
    }

    /// Sets which calls may or must be written.
    pub fn tool_choice(self, tool_choice: ToolChoice) -> Self {
        Self {
            tool_choice,
            ..self
        }
    }

    /// Sets [`Request::parallel`].
    pub fn parallel(self, parallel: bool) -> Self {
        Self { parallel, ..self }
    }

    /// Sets the reasoning that is asked of the model.
    pub fn reasoning(self, reasoning: Reasoning) -> Self {
        Self { reasoning, ..self }
    }

    /// Sets the prompt, of which what follows the start anchor is already written.
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        Self {
            prefix: prefix.into(),
            ..self
        }
    }

    /// Sets the schema that the answer must fit as JSON.
    pub fn response_format(self, response_format: Option<Value>) -> Self {
        Self {
            response_format,
            ..self
        }
    }

    /// Sets the tokens that an engine reads and writes as one, wherever their text stands.
    pub fn special_tokens(self, special_tokens: Vec<SpecialToken>) -> Self {
        Self {
            special_tokens,
            ..self
        }
    }

    /// The tools that may be called.
    pub(crate) fn callable(&self) -> Vec<Tool> {
        let mut tools: Vec<Tool> = Vec::new();
        for tool in &self.tools {
            let function = tool.get("function").unwrap_or(tool);
            let Some(name) = function.get("name").and_then(Value::as_str) else {
                continue;
            };
            let may_be = match &self.tool_choice {
                ToolChoice::None => false,
                ToolChoice::Tool(only) => only == name,
                _ => true,
            };
            // Of two tools of one name the later counts, as it does when a response is read.
            tools.retain(|known| known.name.as_deref() != Some(name));
            if may_be {
                let parameters = function.get("parameters").cloned();
                tools.push(Tool {
                    name: Some(name.to_owned()),
                    parameters: closed(parameters.unwrap_or_else(no_arguments)),
                });
            }
        }
        if self.any_tool && matches!(self.tool_choice, ToolChoice::Auto | ToolChoice::Required) {
            let object = [("type".to_owned(), Value::from("object"))];
            tools.push(Tool {
                name: None,
                parameters: Value::Object(Map::from_iter(object)),
            });
        }
        tools
    }

    pub(crate) fn is_call_required(&self) -> bool {
        matches!(self.tool_choice, ToolChoice::Required | ToolChoice::Tool(_))
    }
}

fn no_arguments() -> Value {
    let object = [
        ("type".to_owned(), Value::from("object")),
        ("properties".to_owned(), Value::Object(Map::new())),
    ];
    Value::Object(Map::from_iter(object))
}

/// The schema with no members beside those that are declared, unless it asks for others: a model is to write no argument that
/// the tool does not know.
pub(crate) fn closed(schema: Value) -> Value {
    match schema {
        Value::Object(members) => {
            let is_object = members.contains_key("properties");
            let mut closed: Map = members
                .into_iter()
                .map(|(key, value)| {
                    let value = match key.as_str() {
                        "enum" | "const" | "default" | "examples" | "required" => value,
                        "properties" | "$defs" | "definitions" => each_closed(value),
                        _ => self::closed(value),
                    };
                    (key.to_string(), value)
                })
                .collect();
            if is_object && !closed.contains_key("additionalProperties") {
                closed.insert("additionalProperties", Value::Bool(false));
            }
            Value::Object(closed)
        }
        Value::Array(items) => Value::Array(items.into_iter().map(closed).collect()),
        other => other,
    }
}

fn each_closed(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter();
            Value::Object(
                members
                    .map(|(key, value)| (key.to_string(), closed(value)))
                    .collect(),
            )
        }
        other => other,
    }
}
