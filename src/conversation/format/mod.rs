//! The conversation format: what is needed to read a whole rendered conversation back. It is data alone.
//!
//! A render is seen as texts that come from inputs (*places*: the content of a user's message, the id in a tool's result, the
//! definition of a tool, all that an assistant writes in a turn) with texts of the chat template between them (*steps*). A step
//! says which place may follow which, and what stands between the two: the end of the message before, what belongs to no message,
//! and the header of the one after. Whatever a chat template does by position (another end for the last message, a system message
//! in front of the first question, results that are grouped) is a step of its own.

mod definition;
pub(crate) mod markers;
mod part;
mod validate;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value, json};

pub use definition::{Advance, ArgumentKind, DefinitionLayout, DefinitionStep, DefinitionText};
pub use part::{ConnectionPart, Hole};
pub(crate) use part::{append, literal_len, ranges_with};

/// The version of the document that this crate reads and writes.
pub const VERSION: u32 = 1;

/// How conversations are written, derived from a chat template or written by hand.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConversationFormat {
    /// The version of this document, 1.
    pub version: u32,
    /// The response template by which the assistant's turns are read; without one their whole text is content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<serde_json::Value>"))]
    pub response_template: Option<Value>,
    /// The texts that come from inputs. Steps name them by their index.
    pub places: Vec<InputText>,
    /// The steps that may lead from one place to another, to the first and from the last.
    pub steps: Vec<Connection>,
    /// Texts that stand before turns: where a turn lacks the one that the response template asks for, it is read as if it had it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub openers: Vec<String>,
    /// How definitions of tools are written that are no JSON; without it those are kept as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definitions: Option<DefinitionLayout>,
    /// Variables beside the conversation under which steps were seen; the first is that without any.
    #[serde(default, deserialize_with = "validate::objects")]
    #[cfg_attr(
        test,
        schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")
    )]
    pub settings: Vec<Map>,
    /// How messages have to be handed to the chat template.
    #[serde(default, skip_serializing_if = "Handing::is_usual")]
    pub handing: Handing,
    /// The formats in which the chat template writes dates, as `strftime` knows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dates: Vec<String>,
}

/// A text of a render that comes from an input.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InputText {
    /// The kind of its text.
    pub holds: Holds,
    /// Whose message it belongs to; absent for definitions of tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Under which key of the message it is found; absent for definitions and turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How it is written.
    #[serde(default)]
    pub written: Encoding,
}

/// The kind of text that a place holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// A text of a message: `content`, `name`, `tool_call_id`.
    Text,
    /// All that an assistant's turn holds, which the response template reads.
    Turn,
    /// No text: a message of which the chat template shows only that it is there.
    Nothing,
    /// The definition of one tool.
    Definition,
    /// The definitions of all tools, as a list.
    Definitions,
}

/// How the text of a place is written.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// As it is.
    #[default]
    AsIs,
    /// Without the space at its ends.
    Trimmed,
    /// As JSON: of a text with its quotes, of a tool the whole definition.
    Json,
    /// As what stands between the quotes of a JSON string.
    Escaped,
    /// As JSON, of a tool the member `function` alone.
    JsonFunction,
    /// In a way that cannot be undone: the text is taken as it stands.
    Changed,
}

/// A step: the text between two places.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// The place before; absent at the beginning of a render.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
    /// The end of the message before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub end: Vec<ConnectionPart>,
    /// The text that belongs to no message: a default system prompt, an instruction about tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<ConnectionPart>,
    /// The beginning of the next message; of a step to the end of a render the prompt for the assistant's turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub header: Vec<ConnectionPart>,
    /// The place after; absent at the end of a render.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<usize>,
    /// True if the place after belongs to the same message as the one before.
    #[serde(default, skip_serializing_if = "is_false")]
    pub within: bool,
    /// True if the message of the place after stands before all others, although it is written here.
    #[serde(default, skip_serializing_if = "is_false")]
    pub moved: bool,
    /// True if the place after belongs to the assistant's turn before it, which goes on behind the messages in between.
    #[serde(default, skip_serializing_if = "is_false")]
    pub resumes: bool,
    /// True if the model is asked to go on: `add_generation_prompt` was given.
    #[serde(default, skip_serializing_if = "is_false")]
    pub prompt: bool,
    /// The settings under which it was seen, by their index; absent where it is seen under all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<usize>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// How messages have to be handed to the chat template where it does not take the usual form. Whoever only reads has no use for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Handing {
    /// True if the arguments of calls are the text of a JSON object.
    pub arguments_as_text: bool,
    /// True if a message with calls alone has an empty content.
    pub empty_content: bool,
    /// True if a message with calls alone has a null for its content, and nulls are kept.
    pub null_content: bool,
    /// True if contents are lists of parts.
    pub parts: bool,
    /// True if the chat template calls methods that change lists.
    pub list_methods: bool,
}

impl Handing {
    /// Returns true if nothing is asked for.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl Connection {
    /// All that stands between the two places, in order.
    pub fn parts(&self) -> impl Iterator<Item = &ConnectionPart> {
        self.end.iter().chain(&self.added).chain(&self.header)
    }
}

/// Why a document is no conversation format.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct InvalidFormat(pub(crate) Vec<Diagnostic>);

impl InvalidFormat {
    /// Returns all that is wrong with it.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0
    }
}

impl ConversationFormat {
    /// Reads a document and validates it.
    ///
    /// # Errors
    ///
    /// When it is no conversation format; the diagnostics say where.
    pub fn from_value(value: &Value) -> Result<Self, InvalidFormat> {
        validate::read(value)
    }

    /// Reads a document from its JSON.
    ///
    /// # Errors
    ///
    /// As [`from_value`](Self::from_value), and when it is no JSON.
    pub fn from_json(text: &str) -> Result<Self, InvalidFormat> {
        let value = json::parse(text).map_err(|error| {
            let at = error.offset();
            let diagnostic = Diagnostic::error("json-syntax", error.message()).with_span(at..at);
            InvalidFormat(vec![diagnostic])
        })?;
        Self::from_value(&value)
    }

    /// The document as a value.
    pub fn to_value(&self) -> Value {
        let text = serde_json::to_string(self).unwrap_or_default();
        json::parse(&text).unwrap_or_default()
    }

    /// The document as indented JSON.
    pub fn to_json(&self) -> String {
        json::Format::indented(2).write(&self.to_value())
    }

    /// The response template, compiled; `None` for a format without one.
    pub(crate) fn template(&self) -> Option<Arc<ResponseTemplate>> {
        let value = self.response_template.as_ref()?;
        ResponseTemplate::from_value(value).ok().map(Arc::new)
    }

    /// Returns true if definitions of tools are places.
    pub(crate) fn reads_definitions(&self) -> bool {
        let mut places = self.places.iter();
        places.any(|place| matches!(place.holds, Holds::Definition | Holds::Definitions))
    }

    /// Returns true if definitions of tools are among what stands between places.
    pub(crate) fn keeps_definitions(&self) -> bool {
        let mut parts = self.steps.iter().flat_map(Connection::parts);
        parts.any(ConnectionPart::is_definitions)
    }

    /// Returns true if a JSON value has the members that only a conversation format has.
    pub fn is_one(value: &Value) -> bool {
        value.get("places").is_some() && value.get("steps").is_some()
    }
}

impl InputText {
    /// The place as people name it: `user.content`, `assistant`, `definition`.
    pub fn name(&self) -> String {
        match (self.holds, &self.role, &self.key) {
            (Holds::Definition, ..) => "definition".to_owned(),
            (Holds::Definitions, ..) => "definitions".to_owned(),
            (_, Some(role), Some(key)) => format!("{role}.{key}"),
            (_, Some(role), None) => role.clone(),
            (_, None, key) => key.clone().unwrap_or_default(),
        }
    }
}
