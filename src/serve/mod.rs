//! A chat server in front of one that writes raw completions.
//!
//! The server renders the conversation with a chat template, has an upstream server write on after that prompt, reads what it writes with a
//! response template, and sends its client the deltas: OpenAI's Chat Completions and Responses and Anthropic's Messages, streamed or whole.
//! The upstream needs nothing but `/v1/completions` with `stream`.
//!
//! - `ask` reads what clients ask, in each protocol, into one `Turn`;
//! - `constrain` makes the grammar that holds the model to what a client forces, where the upstream takes one;
//! - `upstream` asks the upstream server, and `sse` reads the events that it streams;
//! - `exchange` is one response from its first piece to its last: the parser, the encoder, and what is kept of it for a fixture. It knows no
//!   network, and so no order of events but the one that it is called in;
//! - `reply` streams an exchange, or waits for its end;
//! - `refusal` is what a client is told when it gets no answer;
//! - `listen` takes connections, guards the routes and ends.
//!
//! **What is taken back.** Nothing that a client was sent. A call whose region turns out not to parse stays as far as it was sent, which the
//! protocols provide for: arguments are text there since a model may write no JSON.
//!
//! **Who drives.** A client that reads: each piece is asked of the upstream when the one before is on its way, nothing is buffered beyond one
//! piece, and no task runs for a stream beside its connection's. A client that leaves drops its reply, and with it the connection to the
//! upstream, which is how such servers are told to stop.
//!
//! The library prints nothing: what an operator wants to know is told as a [`Notice`].

mod ask;
mod constrain;
mod exchange;
mod listen;
mod record;
mod refusal;
mod reply;
mod sse;
mod upstream;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::chat_template::{ChatTemplateSource, Clock, Rules};
use crate::deltas::DeltaTemplate;
use crate::derive::Report;
use crate::parser::Markers;
use crate::response_template::{Invalid, ResponseTemplate};
use crate::value::json::Format;
use crate::value::{Map, Value};

pub use constrain::{Constraint, TakesGrammar, UnknownUpstream};
pub use listen::{listen, serve};
pub use upstream::{Upstream, WrongUrl};

/// The model that a server speaks for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Model {
    /// Its name to clients.
    pub name: String,
    /// The chat templates that render the prompts.
    pub chat: ChatTemplateSource,
    /// The response template that reads the responses.
    pub template: Arc<DeltaTemplate>,
    /// The response template as a document, for the folder of fixtures.
    document: String,
    /// The texts that tell, where they stand in a message, that a delimiter was not understood.
    markers: Arc<Markers>,
    /// How the chat template wants what clients send.
    pub manner: Manner,
    /// The time that the chat template is told; the system's when there is none.
    pub clock: Option<Clock>,
    /// The means to hold the model to what clients ask for; without it what would need that is refused.
    pub constraint: Option<Constraint>,
}

impl Model {
    /// A model of that name, whose chat template is handed what most want, and whose responses are read by this response template.
    ///
    /// # Errors
    ///
    /// A document that is no valid response template.
    pub fn new(
        name: impl Into<String>,
        chat: ChatTemplateSource,
        document: &Value,
    ) -> Result<Self, Invalid> {
        let template = ResponseTemplate::from_value(document)?;
        let special = chat.special_tokens.values().filter_map(Value::as_str);
        let special = special.map(str::to_owned).collect::<Vec<_>>();
        Ok(Self {
            name: name.into(),
            markers: Arc::new(
                Markers::of(&template)
                    .and(special)
                    .and_telling(chat.named_tokens()),
            ),
            chat,
            template: Arc::new(DeltaTemplate::new(template)),
            document: Format::indented(2).write(document) + "\n",
            manner: Manner::default(),
            clock: None,
            constraint: None,
        })
    }
}

/// How a chat template wants the conversation. The default is as transformers renders, and as most chat templates want it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manner {
    /// True if the arguments of calls are JSON as text, as clients send them; else they are handed over as objects.
    pub arguments_as_text: bool,
    /// True if a message that has calls and no content must have an empty one.
    pub empty_content: bool,
    /// The rules to render by.
    pub rules: Rules,
}

impl Manner {
    /// The manner in which a derivation's messages came back.
    pub fn of(report: &Report) -> Self {
        let mut manner = Self::default();
        for kind in &report.kinds {
            let has = |words: &str| kind.manner.contains(words);
            manner.arguments_as_text |= has("arguments as text");
            manner.empty_content |= has("an empty content beside calls");
            manner.rules.keep_nulls |= has("a null content beside calls, kept");
            manner.rules.list_methods |= has("methods that change lists allowed");
        }
        manner
    }
}

/// How a server is run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The key that clients must show; `None` lets in everybody who reaches the server.
    pub api_key: Option<String>,
    /// How much an exchange may take.
    pub limits: Limits,
    /// The folder in which each exchange is kept as a fixture.
    pub record: Option<PathBuf>,
    /// True if to hold what can still turn out otherwise: a call then comes when it is whole.
    pub certain: bool,
    /// How many tokens the upstream may write where the client does not say.
    pub max_tokens: u32,
    /// Further fields of what the upstream is asked, which win over all others; a null leaves one out.
    pub fields: Map,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            api_key: None,
            limits: Limits::default(),
            record: None,
            certain: false,
            max_tokens: 4096,
            fields: Map::new(),
        }
    }
}

/// How much an exchange may take. Who asks for more is told which limit it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// A request, in bytes; 16 MiB by default.
    pub request_bytes: usize,
    /// A response, in bytes; 64 MiB by default.
    pub response_bytes: usize,
    /// How many requests are answered at the same time; 1024 by default. One more is told to come again.
    pub exchanges: usize,
    /// For how long the upstream may say nothing; two minutes by default.
    pub silence: Duration,
    /// How long an exchange may last; an hour by default.
    pub lasting: Duration,
    /// How long exchanges may go on once the server is told to stop; ten seconds by default.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request_bytes: 16 << 20,
            response_bytes: 64 << 20,
            exchanges: 1024,
            silence: Duration::from_secs(120),
            lasting: Duration::from_secs(3600),
            grace: Duration::from_secs(10),
        }
    }
}

/// Something that the operator of a server wants to know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// A client was told that it gets no answer, or not all of it.
    Refused {
        /// The exchange.
        id: String,
        /// The reason.
        why: String,
    },
    /// A response has a part that does not parse, or that is in no field of the message.
    Lost {
        /// The exchange.
        id: String,
        /// The part that is lost, in words.
        what: String,
    },
    /// The grammar leaves something open that a client asked for.
    Open {
        /// The exchange.
        id: String,
        /// The thing that is not asked of the model, in words.
        what: String,
    },
    /// A client left before the end.
    Left {
        /// The exchange.
        id: String,
    },
    /// An exchange is a fixture now, in that folder.
    Recorded {
        /// The exchange.
        id: String,
        /// The fixture.
        folder: PathBuf,
    },
    /// An exchange could not be made a fixture.
    NotRecorded {
        /// The exchange.
        id: String,
        /// The reason.
        why: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { id, why } => write!(f, "{id}: {why}"),
            Self::Lost { id, what } | Self::Open { id, what } => write!(f, "{id}: {what}"),
            Self::Left { id } => write!(f, "{id}: the client left before the end"),
            Self::Recorded { id, folder } => write!(f, "{id}: recorded {}", folder.display()),
            Self::NotRecorded { id, why } => write!(f, "{id}: not recorded: {why}"),
        }
    }
}

/// Where notices go.
pub type Tell = Arc<dyn Fn(Notice) + Send + Sync>;
