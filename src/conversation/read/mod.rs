//! Reading a rendered conversation back.
//!
//! `chart` finds where the places of a text are, and `draft` makes messages of them; `turn` reads the assistant's turns with the response
//! template, and `definition` the definitions of tools that are not written as JSON. Where a chat template is at hand, `check` looks for a reading
//! that renders to the text: `tries` renders readings, `compared` tells where a render differs from the text, and `ids` reads the ids of calls,
//! whose places only a render shows.
//!
//! A text of a message that quotes a header, such as a user who asks what `<bot>` means, looks like the header of a message. Of several readings
//! that render to the text, the one counts that ends each place first.

mod chart;
mod check;
mod compared;
mod date;
mod definition;
mod draft;
mod ids;
mod tries;
mod turn;

use std::sync::Arc;

pub(crate) use draft::completed;
use serde::Serialize;

use crate::chat_template::{ChatTemplateSource, Clock};
use crate::conversation::format::ConversationFormat;
use crate::conversation::format::markers::Markers;
use crate::conversation::render::Renderer;
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value};

/// Reads conversations of one format.
#[derive(Debug)]
pub struct Reader<'a> {
    format: ConversationFormat,
    markers: Markers,
    template: Option<Arc<ResponseTemplate>>,
    renderer: Option<Renderer<'a>>,
}

/// A conversation that was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Conversation {
    /// The messages, in order, as they are given to a chat template.
    #[cfg_attr(
        test,
        schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")
    )]
    pub messages: Vec<Value>,
    /// The definitions of tools, as far as they are written as JSON.
    #[cfg_attr(
        test,
        schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")
    )]
    pub tools: Vec<Value>,
    /// The stretches of the text that belong to no message: a default system prompt, dates, instructions.
    pub added: Vec<Added>,
    /// Where the messages and their parts stand.
    pub spans: Vec<ReadSpan>,
    /// True if the text ends with the prompt for the assistant's turn.
    pub add_generation_prompt: bool,
    /// The variables beside the conversation that show in the text.
    #[cfg_attr(
        test,
        schemars(with = "serde_json::Map<String, serde_json::Value>", default)
    )]
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub kwargs: Map,
    /// The date that the text shows, as `2026-01-31`, if it shows one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// True if what was read renders to the very text again; absent where there is no chat template to ask, or where the definitions
    /// of tools were kept as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<bool>,
}

/// A stretch of the text that belongs to no message, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Added {
    /// Where it starts.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The text.
    pub text: String,
}

/// A stretch of the text that belongs to a message, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReadSpan {
    /// The index of the message.
    pub message: usize,
    /// Its role.
    pub role: String,
    /// The part of it: `header`, `end`, `turn` for all that an assistant writes before the end, or the key whose text it is.
    pub part: String,
    /// Where it starts.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// Why a text could not be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{reason} at byte {at}{}", told(.expected))]
#[non_exhaustive]
pub struct ReadError {
    /// The reason why it could not be read.
    pub reason: Reason,
    /// The byte from which on it is wrong.
    pub at: usize,
    /// The texts that were expected there; of constants the text that is missing.
    pub expected: Vec<String>,
    /// The conversation as far as it was read before that.
    pub read: Box<Conversation>,
}

/// The reason why a text cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// It does not follow the format.
    #[error("the text stops fitting the conversation format")]
    Unfit,
    /// It follows the format, and the chat template renders something else of what was read.
    #[error("what was read renders to another text")]
    Differs,
}

fn told(expected: &[String]) -> String {
    let quoted: Vec<String> = expected.iter().map(|text| format!("{text:?}")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        several => format!("; expected {}", several.join(" or ")),
    }
}

impl Reader<'static> {
    /// A reader that has the format alone.
    pub fn new(format: ConversationFormat) -> Self {
        Self {
            markers: Markers::of(&format),
            template: format.template(),
            format,
            renderer: None,
        }
    }
}

impl<'a> Reader<'a> {
    /// A reader that renders what it reads, and takes only what renders to the text again.
    pub fn with_source(
        format: ConversationFormat,
        source: &'a ChatTemplateSource,
        clock: Option<Clock>,
    ) -> Self {
        let renderer = Renderer {
            source,
            clock,
            handing: format.handing,
        };
        Self {
            renderer: Some(renderer),
            ..Reader::new(format)
        }
    }

    /// The format.
    pub fn format(&self) -> &ConversationFormat {
        &self.format
    }

    /// Reads a rendered conversation.
    ///
    /// # Errors
    ///
    /// When the text does not follow the format, or when no reading of it renders to it; what was read before that is kept.
    pub fn read(&self, text: &str) -> Result<Conversation, ReadError> {
        check::read(self, text)
    }
}
