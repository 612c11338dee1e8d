//! One response from its first piece to its last: parsed, told to the client, and kept for a fixture.

use std::sync::Arc;

use axum::http::StatusCode;

use crate::deltas::encode::{Encoder, Ending, Protocol, Reply, Whole};
use crate::deltas::{self, DeltaParser, Growth};
use crate::parser::OnError;
use crate::value::{Map, Value};

use super::ask::Turn;
use super::record::{How, Kept, Recorder};
use super::refusal::{Refusal, object};
use super::upstream::Piece;
use super::{Config, Model, Notice, Tell};

/// The member of a last event, or of a whole answer, that tells what is lost. No protocol has a place for that, and clients leave
/// alone what they do not know.
const LOST: &str = "obverse";

/// How many bytes of a lost text are told.
const TOLD: usize = 2000;

/// A response while it is written.
pub(super) struct Exchange {
    id: String,
    parser: DeltaParser,
    client: Client,
    ending: Ending,
    usage: Option<Value>,
    include_usage: bool,
    /// How many bytes may still come.
    room: usize,
    kept: Option<(Recorder, Kept)>,
    tell: Tell,
}

/// The client, and the form in which it is told the response.
struct Client {
    protocol: Protocol,
    encoder: Encoder,
    out: Out,
    /// Calls beyond the first are not passed on, and end the response.
    one_call: bool,
    /// How many calls the client was told of.
    calls: usize,
    state: State,
}

/// Where the text for the client is gathered.
enum Out {
    /// Frames that are to be sent.
    Stream(String),
    /// The answer, sent at its end.
    Whole(Box<Whole>),
}

/// How far a response is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// More may come.
    Open,
    /// Nothing more is wanted.
    Cut,
    /// The client has all.
    Ended,
    /// The client has all that it wanted.
    Enough,
    /// The client was told why it does not have all.
    Failed,
}

/// The setting of an exchange.
pub(super) struct Setting<'a> {
    pub(super) id: String,
    /// In seconds since 1970.
    pub(super) created: i64,
    pub(super) protocol: Protocol,
    pub(super) model: &'a Model,
    pub(super) config: &'a Config,
    pub(super) recorder: Option<&'a Recorder>,
    pub(super) tell: Tell,
}

impl Exchange {
    /// An exchange of which nothing is written yet; `prompt` is the text that the upstream writes on after.
    pub(super) fn new(setting: Setting<'_>, turn: &Turn, prompt: &str) -> Result<Self, Refusal> {
        let Setting {
            id,
            created,
            protocol,
            model,
            config,
            recorder,
            tell,
        } = setting;
        let mut options = deltas::Options::default();
        options.parser.on_error = OnError::Keep;
        options.parser.limits.region_bytes = config.limits.response_bytes;
        options.parser.limits.held_bytes = config.limits.response_bytes;
        options.certain = config.certain;
        // The client has the message.
        options.parser.forget = true;
        let template = Arc::clone(&model.template);
        let parser = DeltaParser::with_options(template, prompt, &turn.tools, options);
        let mut parser = parser.map_err(|error| {
            let message = format!("the prompt cannot be read: {error}");
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "prompt", message)
        })?;
        if recorder.is_some() {
            parser.find_leaked(Arc::clone(&model.markers));
        }
        let mut reply = Reply::default();
        reply.id.clone_from(&id);
        reply.model.clone_from(&model.name);
        reply.created = created;
        let mut client = Client {
            protocol,
            encoder: Encoder::new(protocol, reply),
            out: match turn.stream {
                true => Out::Stream(String::new()),
                false => Out::Whole(Box::new(Whole::new(protocol))),
            },
            one_call: turn.one_call,
            calls: 0,
            state: State::Open,
        };
        let begun = client.encoder.begin();
        client.send(begun);
        for growth in parser.initial_growth() {
            client.grow(growth);
        }
        let kept = recorder.map(|recorder| {
            let kept = Kept {
                prompt: prompt.to_owned(),
                tools: turn.tools.clone(),
                chunks: Vec::new(),
            };
            (recorder.clone(), kept)
        });
        Ok(Self {
            id,
            parser,
            client,
            ending: Ending::Complete,
            usage: None,
            // Only Chat Completions ask whether to tell it.
            include_usage: turn.include_usage || !turn.stream || protocol != Protocol::OpenAi,
            room: config.limits.response_bytes,
            kept,
            tell,
        })
    }

    /// Takes what the upstream has written.
    ///
    /// # Errors
    ///
    /// That the response is too long, or that the parser reached a limit.
    pub(super) fn take(&mut self, piece: Piece) -> Result<(), Refusal> {
        match piece {
            Piece::Finish(true) => self.ending = Ending::Length,
            Piece::Finish(false) => {}
            Piece::Usage(usage) => self.usage = Some(usage),
            Piece::Text(text) => self.read(text)?,
        }
        Ok(())
    }

    fn read(&mut self, text: String) -> Result<(), Refusal> {
        let Some(room) = self.room.checked_sub(text.len()) else {
            let message = "the response is longer than the server takes";
            return Err(Refusal::upstream("response_too_long", message));
        };
        self.room = room;
        let client = &mut self.client;
        let read = self
            .parser
            .feed_with(&text, &mut |growth| client.grow(&growth));
        if let Some((_, kept)) = &mut self.kept {
            kept.chunks.push(text);
        }
        read.map_err(|error| does_not_parse(&error.message))
    }

    /// Returns true if no more text is wanted, though the upstream may have more.
    pub(super) fn is_cut(&self) -> bool {
        self.client.state == State::Cut
    }

    /// Ends the response as it should.
    ///
    /// # Errors
    ///
    /// That it is no message.
    pub(super) fn end(&mut self) -> Result<(), Refusal> {
        let client = &mut self.client;
        let ended = self
            .parser
            .finalize_with(&mut |growth| client.grow(&growth));
        ended.map_err(|error| does_not_parse(&error.message))?;
        if let Some(usage) = self.usage.take().filter(|_| self.include_usage) {
            self.client.encoder.tell_usage(usage);
        }
        let mut events = self.client.encoder.end(self.ending);
        if let Some(lost) = self.lost()
            && self.client.protocol == Protocol::OpenAi
            && let Some(Value::Object(event)) = events.first_mut()
        {
            event.insert(LOST, lost);
        }
        self.client.send(events);
        if let Out::Stream(out) = &mut self.client.out {
            out.push_str(self.client.protocol.last_frame());
        }
        // A response that was cut is not recorded as a whole one.
        self.client.state = match self.is_cut() {
            true => State::Enough,
            false => State::Ended,
        };
        Ok(())
    }

    /// Ends the response with what went wrong, in the middle of a stream.
    pub(super) fn fail(&mut self, refusal: &Refusal) {
        (self.tell)(Notice::Refused {
            id: self.id.clone(),
            why: refusal.message.clone(),
        });
        let protocol = self.client.protocol;
        if let Out::Stream(out) = &mut self.client.out {
            out.push_str(&protocol.frame(&refusal.body(protocol)));
        }
        self.client.state = State::Failed;
    }

    /// Ends the exchange when the client is told so elsewhere.
    pub(super) fn refuse(&mut self) {
        self.client.state = State::Failed;
    }

    /// The frames that are to be sent now.
    pub(super) fn frames(&mut self) -> String {
        match &mut self.client.out {
            Out::Stream(out) => std::mem::take(out),
            Out::Whole(_) => String::new(),
        }
    }

    /// The answer of a response that is not streamed, once.
    pub(super) fn whole(&mut self) -> Value {
        match std::mem::replace(&mut self.client.out, Out::Stream(String::new())) {
            Out::Whole(whole) => whole.finish(),
            Out::Stream(_) => Value::Null,
        }
    }

    /// Tells and returns what of the response the client cannot see: regions that do not parse, and text that is in no field.
    fn lost(&self) -> Option<Value> {
        let parser = self.parser.parser();
        let short = |text: &str| {
            let mut end = text.len().min(TOLD);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            Value::from(&text[..end])
        };
        let malformed: Vec<Value> = parser
            .malformed()
            .iter()
            .map(|error| {
                (self.tell)(Notice::Lost {
                    id: self.id.clone(),
                    what: error.to_string(),
                });
                let raw = error.raw.as_deref().map_or(Value::Null, short);
                let field = error.field.as_deref().map_or(Value::Null, Value::from);
                let message = Value::from(error.message.as_str());
                object([("field", field), ("message", message), ("raw", raw)])
            })
            .collect();
        let unclaimed = parser
            .unclaimed()
            .iter()
            .filter(|lost| !lost.is_white_space());
        let unclaimed: Vec<Value> = unclaimed
            .map(|lost| {
                (self.tell)(Notice::Lost {
                    id: self.id.clone(),
                    what: format!(
                        "bytes {} to {}: {}",
                        lost.span.start,
                        lost.span.end,
                        lost.fate()
                    ),
                });
                short(&lost.text)
            })
            .collect();
        let mut lost = Map::new();
        for (key, values) in [("malformed", malformed), ("unclaimed", unclaimed)] {
            if !values.is_empty() {
                lost.insert(key, Value::Array(values));
            }
        }
        (!lost.is_empty()).then_some(Value::Object(lost))
    }
}

impl Client {
    fn grow(&mut self, growth: &Growth<'_>) {
        if matches!(growth, Growth::Call { replaces: None, .. }) {
            self.calls += 1;
            if self.one_call && self.calls > 1 {
                self.state = State::Cut;
            }
        }
        if self.state == State::Open {
            let events = self.encoder.grow(growth);
            self.send(events);
        }
    }

    fn send(&mut self, events: Vec<Value>) {
        for event in events {
            match &mut self.out {
                Out::Stream(out) => out.push_str(&self.protocol.frame(&event)),
                Out::Whole(whole) => whole.add(event),
            }
        }
    }
}

fn does_not_parse(message: &str) -> Refusal {
    Refusal::upstream(
        "not_parsed",
        format!("the response does not parse: {message}"),
    )
}

/// An exchange that is over is made a fixture, however it ended.
impl Drop for Exchange {
    fn drop(&mut self) {
        if matches!(self.client.state, State::Open | State::Cut) {
            (self.tell)(Notice::Left {
                id: self.id.clone(),
            });
        }
        let kept = self.kept.take();
        let Some((recorder, kept)) = kept.filter(|(_, kept)| !kept.chunks.is_empty()) else {
            return;
        };
        let how = match self.client.state {
            State::Ended if self.ending == Ending::Length => How::CutShort,
            State::Ended if self.parser.parser().leaked().is_empty() => How::Ended,
            State::Ended => How::Doubtful,
            _ => How::CutShort,
        };
        let id = self.id.clone();
        let notice = match recorder.keep(&id, kept, how) {
            Ok(folder) => Notice::Recorded { id, folder },
            Err(why) => Notice::NotRecorded { id, why },
        };
        (self.tell)(notice);
    }
}
