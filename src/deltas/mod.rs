//! How a message grows while its response is read: the steps that the clients of a chat server are sent.
//!
//! A [`DeltaParser`] reads a response as a [`ResponseParser`] does, which it wraps, and tells [`Growth`]: more text of `content`, a call
//! that has begun, more of the JSON of its arguments. There is no second parser: regions, delimiters, values and errors are the parser's;
//! this room adds that the text of an open region is read along as it arrives, by the shape that the template gives it.
//!
//! - Text is passed on as it is written, but for white space that may be the end of a text that is stripped.
//! - Arguments that stand as JSON in the response are passed on as they are written, whatever member holds them; a string that holds JSON
//!   is passed on as the text that it spells.
//! - Arguments in tags or lines become the members of a JSON object: the key, then the value's text inside its quotes; a value for which
//!   the tools declare a type is held until its type is clear.
//! - The name and the `id` of a call come before its arguments; where the format writes them behind, the arguments wait.
//! - All else is passed on when its region ends.
//!
//! **The law.** The message that an [`Assembly`] makes of all growth is the one that [`ResponseParser::finalize`] gives, for every
//! template, response and chunking, and once adjacent pieces are joined the growth is the same for every chunking.
//!
//! **What is taken back.** Of a well-formed response nothing is taken back, as long as no field comes more often than it can hold. But a region that does not parse has no value, however much of it has
//! been read; and three things make another value of what was read: a field that keeps only its last value and comes again, a key
//! of a call that comes twice in one object, and a tag that never ends. These are told: [`Growth::CallDropped`] and
//! [`Growth::Restart`]. With [`Options::certain`] nothing is told that can still turn out otherwise; that holds back each call until its
//! region ends, and each field that keeps only its last value until the response does.
//!
//! It costs one pass over the text of each region, and memory for what is held.
//!
//! ```
//! use std::sync::Arc;
//! use obverse::deltas::{DeltaParser, DeltaTemplate, Growth};
//! use obverse::response_template::ResponseTemplate;
//! use obverse::value::json;
//!
//! let template = ResponseTemplate::from_json(r#"{
//!     "start_anchor": "<assistant>",
//!     "fields": {
//!         "content": {},
//!         "tool_calls": {"open": "<call>", "close": "</call>", "repeats": true, "content": "json",
//!                        "transform": {"type": "function", "function": "{content}"}}
//!     }
//! }"#)?;
//! let mut parser = DeltaParser::new(DeltaTemplate::new(template), "", &[])?;
//! let mut lines = Vec::new();
//! for chunk in ["Sure.<call>{\"name\": \"f\", \"argum", "ents\": {\"city\": \"Pa", "ris\"}}</call>"] {
//!     for growth in parser.feed(chunk)? {
//!         lines.push(json::to_string(&growth.to_map().into()));
//!     }
//! }
//! assert_eq!(lines, [
//!     r#"{"type": "text", "path": ["content"], "text": "Sure."}"#,
//!     r#"{"type": "call", "index": 0, "path": ["tool_calls", 0], "name": "f"}"#,
//!     r#"{"type": "arguments", "index": 0, "text": "{\"city\": \"Pa"}"#,
//!     r#"{"type": "arguments", "index": 0, "text": "ris\"}"}"#,
//!     r#"{"type": "call_done", "index": 0}"#,
//! ]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assembly;
mod calls;
mod dialect;
pub mod encode;
mod growing;
mod growth;
mod json_calls;
mod lines;
mod members;
mod reader;
mod region;
mod shape;
mod split;
mod tags;
mod text;

pub use assembly::{AssembledCall, Assembly, CallState};
pub use growth::{Growth, push_joined};

use std::sync::Arc;

use crate::content::ToolSchemas;
use crate::parser::{self, Event, Leaked, Markers, ParseError, Passed, ResponseParser, Unclaimed};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value};

use growing::{Beginning, Growing, Listening, Out, keeps_last};
use shape::{Body, Shape, Source};

/// A response template, with the parts of its fields that can be passed on while they are written. These are worked out once for all
/// responses.
#[derive(Debug, Clone)]
pub struct DeltaTemplate {
    template: Arc<ResponseTemplate>,
    /// The shape of each field.
    shapes: Vec<Shape>,
    /// For each field true if no region of it can follow another.
    comes_once: Vec<bool>,
    /// The beginning of a message of which something may be taken back, and of one of which nothing is.
    beginnings: [Beginning; 2],
}

impl DeltaTemplate {
    /// Works out the parts of the template's fields that can be passed on early.
    pub fn new(template: impl Into<Arc<ResponseTemplate>>) -> Self {
        let template = template.into();
        let fields = template.fields();
        let opens = fields.iter().any(|field| field.open.is_some());
        let mut deltas = Self {
            shapes: fields.iter().map(Shape::new).collect(),
            comes_once: fields
                .iter()
                .map(|field| field.close.is_none() && (field.open.is_some() || !opens))
                .collect(),
            beginnings: Default::default(),
            template,
        };
        deltas.beginnings = [false, true].map(|certain| {
            let waits = |field| deltas.waits_for_end(certain, field);
            Beginning::new(&deltas.template, waits)
        });
        deltas
    }

    /// The beginning of all messages.
    fn beginning(&self, certain: bool) -> &Beginning {
        &self.beginnings[usize::from(certain)]
    }

    /// Returns true if the field's value is passed on at the end of the response, whatever comes: all must be certain, and its last
    /// value alone is kept.
    fn waits_for_end(&self, certain: bool, field: usize) -> bool {
        certain && keeps_last(&self.template.fields()[field]) && !self.comes_once[field]
    }

    /// The response template.
    pub fn template(&self) -> &Arc<ResponseTemplate> {
        &self.template
    }

    /// When the arguments of the calls of a field are passed on, by its place among the template's fields; `None` where no calls are
    /// known in it before its regions end, and where there is no such field.
    pub fn arguments_come(&self, field: usize) -> Option<ArgumentsCome> {
        let Shape::Calls(shape) = self.shapes.get(field)? else {
            return None;
        };
        let in_text = |source: &Source| matches!(source, Source::Content);
        Some(match &shape.body {
            Body::Tags(tags) if tags.split.is_none() => ArgumentsCome::WhenWhole,
            Body::Json(_) if in_text(&shape.name) || in_text(&shape.id) => ArgumentsCome::Behind {
                name: in_text(&shape.name),
                id: in_text(&shape.id),
            },
            _ => ArgumentsCome::AsWritten,
        })
    }
}

/// When the arguments of a call are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentsCome {
    /// While they are written.
    AsWritten,
    /// While they are written, but not before those members of the call that also stand in the text. If a model writes such a member behind
    /// the arguments, these wait.
    Behind {
        /// True if they wait for the name.
        name: bool,
        /// True if they wait for the `id`.
        id: bool,
    },
    /// Each argument when it is whole.
    WhenWhole,
}

/// A step of reading a response.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Step<'a> {
    /// An event of the parser.
    Event(Event<'a>),
    /// Growth of the message.
    Growth(Growth<'a>),
}

/// The options of a delta parser, beside its template; the defaults suit the clients of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The options of the parser. With [`forget`](parser::Options::forget) a text is passed on and not kept, so that memory is what the open
    /// region needs; it has no effect where all must be [`certain`](Self::certain).
    pub parser: parser::Options,
    /// True to hold everything that can still turn out otherwise, so that nothing is ever taken back; see [the room](self).
    pub certain: bool,
}

/// Parses a response as it arrives, and tells how its message grows.
///
/// # Errors
///
/// As a [`ResponseParser`]: when a region does not parse, `feed` and `finalize` return the error, and the same call may be made again to go
/// on after it. The calls of a region that failed are dropped; see [`Growth::CallDropped`].
#[derive(Debug, Clone)]
pub struct DeltaParser {
    parser: ResponseParser,
    growing: Growing,
    /// The part that the prefix has brought, if it has brought any.
    initial: Option<Box<Initial>>,
    /// Growth that came before an error in the same call; the next call begins with it.
    undelivered: Vec<Growth<'static>>,
}

/// The growth before the response, that by the defaults among it, and the events of the parser.
#[derive(Debug, Clone)]
struct Initial {
    growth: Vec<Growth<'static>>,
    events: Vec<Event<'static>>,
}

impl DeltaParser {
    /// A parser that has read `prefix`; see [`ResponseParser::new`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn new(
        template: impl Into<Arc<DeltaTemplate>>,
        prefix: &str,
        tools: &[Value],
    ) -> Result<Self, ParseError> {
        Self::with_options(template, prefix, tools, Options::default())
    }

    /// A new parser, as [`new`](Self::new) makes it, with options of one's own.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_options(
        template: impl Into<Arc<DeltaTemplate>>,
        prefix: &str,
        tools: &[Value],
        options: Options,
    ) -> Result<Self, ParseError> {
        let template = template.into();
        let tools = ToolSchemas::from_tools(tools);
        let mut growing = Growing::new(Arc::clone(&template), tools.clone(), options.certain);
        let mut parser_options = options.parser;
        // Text that is passed on at the end must be kept until then.
        parser_options.forget &= !options.certain;
        let mut initial = None;
        let mut sink = |step: Step<'_>| {
            let initial = initial.get_or_insert_with(|| Initial {
                growth: template.beginning(options.certain).growth.clone(),
                events: Vec::new(),
            });
            match step {
                Step::Event(event) => initial.events.push(event.into_owned()),
                Step::Growth(growth) => push_joined(&mut initial.growth, growth),
            }
        };
        let parser = ResponseParser::with_listener(
            Arc::clone(&template.template),
            prefix,
            tools,
            parser_options,
            &mut Listening::new(&mut growing, Out::Steps(&mut sink)),
        )?;
        Ok(Self {
            parser,
            growing,
            initial: initial.map(Box::new),
            undelivered: Vec::new(),
        })
    }

    /// Returns the growth by the values that the defaults and the prefix had already written into the message.
    pub fn initial_growth(&self) -> &[Growth<'static>] {
        match &self.initial {
            Some(initial) => &initial.growth,
            None => self.growing.begun(),
        }
    }

    /// Reads more of the response, and returns the growth of the message.
    ///
    /// # Errors
    ///
    /// See the type. Growth that came before the error is returned by the next call.
    pub fn feed(&mut self, text: &str) -> Result<Vec<Growth<'static>>, ParseError> {
        let mut growth = std::mem::take(&mut self.undelivered);
        let result = self.feed_with(text, &mut |one| growth.push(one.into_owned()));
        self.deliver(growth, result)
    }

    /// As [`feed`](Self::feed), but each step goes to `sink` without its text being copied.
    ///
    /// # Errors
    ///
    /// See the type.
    pub fn feed_with(
        &mut self,
        text: &str,
        sink: &mut dyn FnMut(Growth<'_>),
    ) -> Result<(), ParseError> {
        let mut listening = Listening::new(&mut self.growing, Out::Growth(&mut *sink));
        let result = self.parser.feed_to(text, &mut listening);
        self.after(result, sink)
    }

    /// As [`feed`](Self::feed), but the growth and the parser's events go to `sink`: the growth that an event brings comes right before it.
    ///
    /// # Errors
    ///
    /// See the type.
    pub fn feed_steps(
        &mut self,
        text: &str,
        sink: &mut dyn FnMut(Step<'_>),
    ) -> Result<(), ParseError> {
        let mut listening = Listening::new(&mut self.growing, Out::Steps(&mut *sink));
        let result = self.parser.feed_to(text, &mut listening);
        self.after(result, &mut |growth| sink(Step::Growth(growth)))
    }

    /// Ends the response, and returns the message and its last growth.
    ///
    /// # Errors
    ///
    /// See the type and [`ResponseParser::finalize`].
    pub fn finalize(&mut self) -> Result<(Map, Vec<Growth<'static>>), ParseError> {
        let mut growth = std::mem::take(&mut self.undelivered);
        let result = self.finalize_with(&mut |one| growth.push(one.into_owned()));
        self.deliver(growth, result)
            .map(|growth| (self.parser.message().clone(), growth))
    }

    /// As [`finalize`](Self::finalize), but each step goes to `sink`; the message is the [`parser`](Self::parser)'s.
    ///
    /// # Errors
    ///
    /// As [`finalize`](Self::finalize).
    pub fn finalize_with(&mut self, sink: &mut dyn FnMut(Growth<'_>)) -> Result<(), ParseError> {
        let mut listening = Listening::new(&mut self.growing, Out::Growth(&mut *sink));
        let result = self.parser.finalize_to(&mut listening);
        self.after(result, sink)?;
        self.growing.end(self.parser.message(), sink);
        Ok(())
    }

    /// As [`finalize`](Self::finalize), but the growth and the parser's events go to `sink`; see [`feed_steps`](Self::feed_steps).
    ///
    /// # Errors
    ///
    /// As [`finalize`](Self::finalize).
    pub fn finalize_steps(&mut self, sink: &mut dyn FnMut(Step<'_>)) -> Result<(), ParseError> {
        let mut listening = Listening::new(&mut self.growing, Out::Steps(&mut *sink));
        let result = self.parser.finalize_to(&mut listening);
        let mut grown = |growth: Growth<'_>| sink(Step::Growth(growth));
        self.after(result, &mut grown)?;
        self.growing.end(self.parser.message(), &mut grown);
        Ok(())
    }

    /// The events of the prefix; see [`ResponseParser::initial_events`].
    pub fn initial_events(&self) -> &[Event<'static>] {
        self.initial
            .as_ref()
            .map_or(&[], |initial| initial.events.as_slice())
    }

    /// See [`ResponseParser::find_leaked`].
    pub fn find_leaked(&mut self, markers: impl Into<Arc<Markers>>) {
        self.parser.find_leaked(markers);
    }

    /// See [`ResponseParser::take_delimiters`].
    pub fn take_delimiters(&mut self) -> Vec<Passed> {
        self.parser.take_delimiters()
    }

    /// See [`ResponseParser::take_unclaimed`].
    pub fn take_unclaimed(&mut self) -> Vec<Unclaimed> {
        self.parser.take_unclaimed()
    }

    /// See [`ResponseParser::take_leaked`].
    pub fn take_leaked(&mut self) -> Vec<Leaked> {
        self.parser.take_leaked()
    }

    /// As [`ResponseParser::message`], by value, for callers that are done with the parser.
    pub fn into_message(self) -> Map {
        self.parser.into_message()
    }

    /// Returns the parser, with the message so far and its other state.
    pub fn parser(&self) -> &ResponseParser {
        &self.parser
    }

    /// Notes a region that failed. It may show in nothing but that no event of it follows.
    fn after(
        &mut self,
        result: Result<(), ParseError>,
        sink: &mut dyn FnMut(Growth<'_>),
    ) -> Result<(), ParseError> {
        if let Err(error) = &result
            && !error.is_final()
            && self.parser.snapshot().region.is_none()
        {
            self.growing.fail(sink);
        }
        result
    }

    fn deliver(
        &mut self,
        growth: Vec<Growth<'static>>,
        result: Result<(), ParseError>,
    ) -> Result<Vec<Growth<'static>>, ParseError> {
        match result {
            Ok(()) => Ok(growth),
            Err(error) => {
                self.undelivered = growth;
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DeltaParser, ResponseParser};

    /// The most that a new parser takes, in bytes; that it has nothing beside itself, `benches/tests/allocations.rs` says.
    const NEW: usize = 352;
    const NEW_WITH_DELTAS: usize = 576;

    #[test]
    fn a_new_parser_is_small() {
        assert!(size_of::<ResponseParser>() <= NEW);
        assert!(size_of::<DeltaParser>() <= NEW_WITH_DELTAS);
    }
}
