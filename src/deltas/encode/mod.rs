//! Growth in the forms in which chat servers send it.
//!
//! An [`Encoder`] makes of each step the events that a server would send, as JSON values; it reads no clock and makes no random
//! numbers, so the same growth with the same [`Reply`] gives the same events. [`Protocol::frame`] writes an event as a server-sent event.
//!
//! Some things cannot be told to clients. No protocol has a way to take something back, so [`Growth::Restart`] sends nothing and a dropped
//! call stays as far as it was sent; the message has the value that came instead. A call that comes in the place of one that was sent is not
//! sent: a client would make both. Members of the message other than `content`, reasoning
//! and calls have no place in them. A call without an `id` is given one, made of the reply's `id` and the call's number.

mod anthropic;
mod openai;
mod responses;
mod whole;

pub use whole::Whole;

use std::borrow::Cow;
use std::str::FromStr;

use super::Growth;
use crate::value::{Key, Map, Path, Step, Value, json};

/// The form in which growth is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protocol {
    /// Growth as it is: [`Growth::to_map`].
    Growth,
    /// OpenAI's Chat Completions: `chat.completion.chunk`.
    OpenAi,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Anthropic,
}

impl Protocol {
    /// All protocols.
    pub const ALL: [Self; 4] = [Self::Growth, Self::OpenAi, Self::Responses, Self::Anthropic];

    /// Returns the name by which users ask for the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Growth => "growth",
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
        }
    }

    /// The event as it is sent: a server-sent event with an empty line behind it.
    pub fn frame(self, event: &Value) -> String {
        let data = json::Format::compact().write(event);
        let named = matches!(self, Self::Responses | Self::Anthropic);
        match event.get("type").and_then(Value::as_str) {
            Some(name) if named => format!("event: {name}\ndata: {data}\n\n"),
            _ => format!("data: {data}\n\n"),
        }
    }

    /// The text that is sent behind the last event.
    pub fn last_frame(self) -> &'static str {
        match self {
            Self::OpenAi => "data: [DONE]\n\n",
            Self::Growth | Self::Responses | Self::Anthropic => "",
        }
    }
}

/// The error for a name that is not a protocol's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is no form of deltas; there are growth, openai, responses and anthropic")]
#[non_exhaustive]
pub struct UnknownProtocol {
    /// The name that was given.
    pub name: String,
}

impl FromStr for Protocol {
    type Err = UnknownProtocol;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL
            .into_iter()
            .find(|protocol| protocol.name() == name);
        found.ok_or_else(|| UnknownProtocol {
            name: name.to_owned(),
        })
    }
}

/// The facts that a server tells of its reply beside the message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// The reply's `id`.
    pub id: String,
    /// The model's name.
    pub model: String,
    /// The time at which the reply began, in seconds since 1970.
    pub created: i64,
    /// The key of reasoning in Chat Completions: `reasoning_content`, as most servers call it, or `reasoning`.
    pub reasoning_key: String,
    /// How many tokens it took, as Chat Completions have it (`prompt_tokens`, `completion_tokens`), if that is to be told. It counts when the
    /// reply ends: see [`Encoder::tell_usage`].
    pub usage: Option<Value>,
}

impl Default for Reply {
    fn default() -> Self {
        Self {
            id: "reply".to_owned(),
            model: "model".to_owned(),
            created: 0,
            reasoning_key: "reasoning_content".to_owned(),
            usage: None,
        }
    }
}

/// The reason why a model stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ending {
    /// The model had written all that it wanted to write.
    #[default]
    Complete,
    /// The model had written as much as it was allowed to.
    Length,
}

/// Makes events of growth.
///
/// ```
/// use obverse::deltas::Growth;
/// use obverse::deltas::encode::{Encoder, Ending, Protocol, Reply};
/// use obverse::value::{Path, json};
///
/// let mut encoder = Encoder::new(Protocol::OpenAi, Reply::default());
/// let mut events = encoder.begin();
/// let path = Path::default().key("content");
/// events.extend(encoder.grow(&Growth::Text { path: std::borrow::Cow::Owned(path), text: "Hi".into() }));
/// events.extend(encoder.end(Ending::Complete));
/// let delta = events[1].get("choices").unwrap().as_array().unwrap()[0].get("delta").unwrap();
/// assert_eq!(json::to_string(delta), r#"{"content": "Hi"}"#);
/// ```
#[derive(Debug, Clone)]
pub struct Encoder {
    inner: Inner,
    /// The numbers of the calls that are not sent, in their order: each came in the place of one that was.
    unsent: Vec<usize>,
}

#[derive(Debug, Clone)]
enum Inner {
    Growth,
    OpenAi(openai::Chat),
    Responses(Box<responses::Responses>),
    Anthropic(anthropic::Messages),
}

impl Encoder {
    /// Makes an encoder for a reply that has not begun.
    pub fn new(protocol: Protocol, reply: Reply) -> Self {
        let inner = match protocol {
            Protocol::Growth => Inner::Growth,
            Protocol::OpenAi => Inner::OpenAi(openai::Chat::new(reply)),
            Protocol::Responses => Inner::Responses(Box::new(responses::Responses::new(reply))),
            Protocol::Anthropic => Inner::Anthropic(anthropic::Messages::new(reply)),
        };
        Self {
            inner,
            unsent: Vec::new(),
        }
    }

    /// The events that are sent before any growth.
    pub fn begin(&mut self) -> Vec<Value> {
        match &mut self.inner {
            Inner::Growth => Vec::new(),
            Inner::OpenAi(chat) => chat.begin(),
            Inner::Responses(responses) => responses.begin(),
            Inner::Anthropic(messages) => messages.begin(),
        }
    }

    /// The events that are sent for a step.
    pub fn grow(&mut self, growth: &Growth<'_>) -> Vec<Value> {
        if matches!(self.inner, Inner::Growth) {
            return vec![Value::Object(growth.to_map())];
        }
        let Some(sent) = self.as_sent(growth) else {
            return Vec::new();
        };
        let growth = sent.as_ref();
        match &mut self.inner {
            Inner::Growth => Vec::new(),
            Inner::OpenAi(chat) => chat.grow(growth),
            Inner::Responses(responses) => responses.grow(growth),
            Inner::Anthropic(messages) => messages.grow(growth),
        }
    }

    /// The step with the number that the client has for its call; `None` if it is of a call that is not sent.
    fn as_sent<'g>(&mut self, growth: &'g Growth<'_>) -> Option<Cow<'g, Growth<'g>>> {
        let index = match growth {
            Growth::Call {
                index, replaces, ..
            } => {
                if replaces.is_some() {
                    self.unsent.push(*index);
                }
                *index
            }
            Growth::Arguments { index, .. }
            | Growth::CallDone { index }
            | Growth::CallDropped { index } => *index,
            _ => return Some(Cow::Borrowed(growth)),
        };
        if self.unsent.is_empty() {
            return Some(Cow::Borrowed(growth));
        }
        // Numbers without gaps, for clients take them for places in a list.
        let before = self.unsent.binary_search(&index).err()?;
        let index = index - before;
        Some(Cow::Owned(match growth {
            Growth::Call { path, id, name, .. } => Growth::Call {
                index,
                path: Cow::Borrowed(path),
                id: id.as_deref().map(Cow::Borrowed),
                name: Cow::Borrowed(name),
                replaces: None,
            },
            Growth::Arguments { text, .. } => Growth::Arguments {
                index,
                text: Cow::Borrowed(text),
            },
            Growth::CallDropped { .. } => Growth::CallDropped { index },
            _ => Growth::CallDone { index },
        }))
    }

    /// Gives the [`usage`](Reply::usage) that the last events tell.
    pub fn tell_usage(&mut self, usage: Value) {
        let reply = match &mut self.inner {
            Inner::Growth => return,
            Inner::OpenAi(chat) => &mut chat.reply,
            Inner::Responses(responses) => &mut responses.reply,
            Inner::Anthropic(messages) => &mut messages.reply,
        };
        reply.usage = Some(usage);
    }

    /// The events that are sent after all growth.
    pub fn end(&mut self, ending: Ending) -> Vec<Value> {
        match &mut self.inner {
            Inner::Growth => Vec::new(),
            Inner::OpenAi(chat) => chat.end(ending),
            Inner::Responses(responses) => responses.end(ending),
            Inner::Anthropic(messages) => messages.end(ending),
        }
    }
}

/// The role of a text to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Content,
    Reasoning,
}

/// The role of the text at a path, by the names that chat templates give to reasoning.
fn part(path: &Path) -> Option<Part> {
    match path.steps().first() {
        Some(Step::Key(key)) => match key.as_str() {
            "content" => Some(Part::Content),
            "thinking" | "reasoning" | "reasoning_content" => Some(Part::Reasoning),
            _ => None,
        },
        _ => None,
    }
}

/// The text that a step adds to content or reasoning.
fn added<'g>(growth: &'g Growth<'_>) -> Option<(Part, &'g str)> {
    match growth {
        Growth::Text { path, text } => Some((part(path)?, text)),
        Growth::Value { path, value } => Some((part(path)?, value.as_str()?)),
        _ => None,
    }
}

/// The `id` of a call, made up where it has none.
fn call_id(reply: &Reply, id: Option<&str>, index: usize) -> String {
    id.map_or_else(|| format!("call_{}_{index}", reply.id), str::to_owned)
}

/// The numbers of a usage: the prompt's tokens, those that were written, and both.
fn tokens(usage: Option<&Value>) -> [Value; 3] {
    ["prompt_tokens", "completion_tokens", "total_tokens"].map(|key| {
        let number = usage.and_then(|usage| usage.get(key));
        number.cloned().unwrap_or_else(|| Value::count(0))
    })
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members
        .into_iter()
        .map(|(key, value)| (Key::from(key), value));
    Value::Object(members.collect::<Map>())
}
