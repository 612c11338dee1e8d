//! Parsing a response with a response template: all at once, or as it arrives.
//!
//! [`ResponseParser`] mirrors transformers' class of that name: `initial_events`, `feed`, `finalize`. What it does is
//! what the reference does with the whole response at once, however the response is cut into chunks.

mod bytes;
mod cut_short;
mod error;
mod event;
mod leaked;
mod limits;
mod listener;
mod machine;
mod merge;
mod options;
mod region;
mod snapshot;
mod unclaimed;
mod unended;
mod watch;

pub use bytes::{Utf8Decoder, Utf8Error};
pub use cut_short::{CutShort, Growing, is_kept};
pub use error::{ErrorKind, LimitKind, ParseError};
pub use event::{Event, join_chunks, push_joined};
pub use leaked::{Leaked, Markers};
pub use limits::Limits;
pub(crate) use listener::Listener;
pub use merge::add_to_message;
pub use options::{OnError, Options};
pub use snapshot::{Edge, OpenRegion, Passed, Snapshot, Status, Usage, Waiting, Watched};
pub use unclaimed::{Unclaimed, UnclaimedCause};
pub use unended::Unended;

use std::sync::Arc;

use crate::content::ToolSchemas;
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value};

use machine::Machine;

/// Parses a complete response.
///
/// `prefix` is the prompt that the model was given, or `""` when the response holds the whole message; `tools` types
/// the arguments of tool calls by their JSON schemas.
///
/// # Errors
///
/// The first region that does not parse, or a required field that is missing. The rest of the message can still be had
/// from a [`ResponseParser`], which also tells what text is in no field of the message.
///
/// ```
/// use obverse::{parser::parse_response, response_template::ResponseTemplate, value::Value};
///
/// let template = ResponseTemplate::from_json(
///     r#"{
///         "defaults": {"role": "assistant"},
///         "start_anchor": "<assistant>",
///         "fields": {
///             "thinking": {"open": "<think>", "close": "</think>"},
///             "content": {}
///         }
///     }"#,
/// )?;
/// let message = parse_response("<think>A greeting.</think>Hello!", template, "", &[])?;
/// assert_eq!(message["thinking"], Value::from("A greeting."));
/// assert_eq!(message["content"], Value::from("Hello!"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_response(
    response: &str,
    template: impl Into<Arc<ResponseTemplate>>,
    prefix: &str,
    tools: &[Value],
) -> Result<Map, ParseError> {
    let sink = &mut |_: Event<'_>| ();
    let mut machine = Machine::new(
        template.into(),
        ToolSchemas::from_tools(tools),
        Options::default(),
    );
    machine.read_prefix(prefix, sink)?;
    machine.feed(response, sink)?;
    machine.finalize(sink)?;
    Ok(machine.into_message())
}

/// The delimiters that a parse of a complete response reads, in their order, and how many bytes of the prefix the parser is given: spans count from
/// the beginning of these.
///
/// # Errors
///
/// As [`parse_response`].
pub(crate) fn delimiters(
    template: &Arc<ResponseTemplate>,
    prefix: &str,
    response: &str,
    tools: &[Value],
) -> Result<(usize, Vec<Passed>), ParseError> {
    let options = Options::default().keep_delimiters(true);
    let mut parser = ResponseParser::with_options(Arc::clone(template), prefix, tools, options)?;
    let before = parser.snapshot().prefix_bytes;
    let mut ignore = |_: Event<'_>| ();
    parser.feed_with(response, &mut ignore)?;
    parser.finalize_with(&mut ignore)?;
    Ok((before, parser.take_delimiters()))
}

/// Parses a response as it arrives.
///
/// # Errors
///
/// When a region does not parse, `feed` and `finalize` return its [`ParseError`]. The region is left out of the message,
/// the rest of the text is kept, and the same call may be made again (`feed` with `""`) to go on after it; but see
/// [`ParseError::is_final`]. With [`OnError::Keep`] such a region is no error: [`malformed`](Self::malformed) lists it.
///
/// A clone goes on from where the parser is, on its own: so can be tried what would come if the response ended here.
#[derive(Debug, Clone)]
pub struct ResponseParser {
    machine: Machine,
    /// Events that are kept for a later call, if there are any.
    kept: Option<Box<Kept>>,
}

/// Events that are kept for a later call.
#[derive(Debug, Clone, Default)]
struct Kept {
    /// The events of the prefix.
    initial: Vec<Event<'static>>,
    /// The events that came before an error in the same call; the next call begins with them.
    undelivered: Vec<Event<'static>>,
}

impl ResponseParser {
    /// A parser that has read `prefix`, of which it takes what follows the last match of the template's anchor.
    ///
    /// # Errors
    ///
    /// When the anchor's pattern reaches a limit. A region of the prefix that does not parse is the error of the next call,
    /// after which the parse goes on.
    pub fn new(
        template: impl Into<Arc<ResponseTemplate>>,
        prefix: &str,
        tools: &[Value],
    ) -> Result<Self, ParseError> {
        Self::with_limits(template, prefix, tools, Limits::default())
    }

    /// A new parser, as [`new`](Self::new) makes it, with limits of one's own.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_limits(
        template: impl Into<Arc<ResponseTemplate>>,
        prefix: &str,
        tools: &[Value],
        limits: Limits,
    ) -> Result<Self, ParseError> {
        let options = Options {
            limits,
            ..Options::default()
        };
        Self::with_options(template, prefix, tools, options)
    }

    /// A new parser, as [`new`](Self::new) makes it, with options of one's own.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_options(
        template: impl Into<Arc<ResponseTemplate>>,
        prefix: &str,
        tools: &[Value],
        options: Options,
    ) -> Result<Self, ParseError> {
        let mut initial_events = Vec::new();
        let mut keep = |event: Event<'_>| initial_events.push(event.into_owned());
        let tools = ToolSchemas::from_tools(tools);
        let mut parser = Self::with_listener(template, prefix, tools, options, &mut keep)?;
        if !initial_events.is_empty() {
            parser.kept.get_or_insert_default().initial = initial_events;
        }
        Ok(parser)
    }

    /// A new parser with options that tells a listener the events of the prefix instead of keeping them.
    #[inline]
    pub(crate) fn with_listener(
        template: impl Into<Arc<ResponseTemplate>>,
        prefix: &str,
        tools: ToolSchemas,
        options: Options,
        listener: &mut dyn Listener,
    ) -> Result<Self, ParseError> {
        let mut machine = Machine::new(template.into(), tools, options);
        machine.read_prefix(prefix, listener)?;
        Ok(Self {
            machine,
            kept: None,
        })
    }

    /// The events of what the prefix had already written into the message.
    pub fn initial_events(&self) -> &[Event<'static>] {
        self.kept
            .as_ref()
            .map_or(&[], |kept| kept.initial.as_slice())
    }

    /// Reads more of the response and returns what happened.
    ///
    /// # Errors
    ///
    /// See the type. Events that came before the error are returned by the next call.
    pub fn feed(&mut self, text: &str) -> Result<Vec<Event<'static>>, ParseError> {
        let mut events = self.take_undelivered();
        let result = self.machine.feed(text, &mut |event: Event<'_>| {
            events.push(event.into_owned())
        });
        self.deliver(events, result).map(|(events, ())| events)
    }

    /// Reads more of the response and hands each event to `sink` without copying its text.
    ///
    /// # Errors
    ///
    /// See the type.
    pub fn feed_with(
        &mut self,
        text: &str,
        mut sink: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), ParseError> {
        self.machine.feed(text, &mut sink)
    }

    /// As [`feed`](Self::feed), but each event goes to a listener.
    pub(crate) fn feed_to(
        &mut self,
        text: &str,
        listener: &mut dyn Listener,
    ) -> Result<(), ParseError> {
        self.machine.feed(text, listener)
    }

    /// Ends the response: closes what is open and returns the message and the last events.
    ///
    /// # Errors
    ///
    /// See the type; also when a required field is missing, and when the parser is already finalized.
    pub fn finalize(&mut self) -> Result<(Map, Vec<Event<'static>>), ParseError> {
        let mut events = self.take_undelivered();
        let result = self
            .machine
            .finalize(&mut |event: Event<'_>| events.push(event.into_owned()));
        self.deliver(events, result)
            .map(|(events, ())| (self.message().clone(), events))
    }

    /// As [`finalize`](Self::finalize), but each event goes to `sink`; the message is in [`message`](Self::message).
    ///
    /// # Errors
    ///
    /// As [`finalize`](Self::finalize).
    pub fn finalize_with(&mut self, mut sink: &mut dyn FnMut(Event<'_>)) -> Result<(), ParseError> {
        self.machine.finalize(&mut sink)
    }

    /// As [`finalize`](Self::finalize), but each event goes to a listener.
    pub(crate) fn finalize_to(&mut self, listener: &mut dyn Listener) -> Result<(), ParseError> {
        self.machine.finalize(listener)
    }

    /// The message parsed so far: defaults and closed regions.
    pub fn message(&self) -> &Map {
        self.machine.message()
    }

    /// As [`message`](Self::message), by value, for callers that are done with the parser.
    pub fn into_message(self) -> Map {
        self.machine.into_message()
    }

    /// The regions that did not parse, in the order in which they ended, each with its field, its span, its raw text and what
    /// is wrong with it. There are none but with [`OnError::Keep`].
    pub fn malformed(&self) -> &[ParseError] {
        self.machine.malformed()
    }

    /// The text of the response that is in no field of the message, so far, in the order in which that shows. With the
    /// delimiters and the text of the regions, what no field took is all of the response up to [`Snapshot::position`], and
    /// after [`finalize`](Self::finalize) all of it; it does not depend on how the response was cut.
    ///
    /// An implicit field takes all text outside the others' regions, so a template that has one leaves such text only
    /// where its close has no text (see [`Status::Stalled`]). What a field took and dropped stands here as well, with the
    /// [`UnclaimedCause`]. What is read after a limit is reached is in the error's place, not here, and so is text that did not parse.
    pub fn unclaimed(&self) -> &[Unclaimed] {
        self.machine.unclaimed()
    }

    /// Takes the stretches of [`unclaimed`](Self::unclaimed) that are as long as they will be, so that they are not kept any longer: for who
    /// reads a response without end. Text that no field takes and that may still go on stays, and is taken by a later call.
    ///
    /// ```
    /// use obverse::{parser::ResponseParser, response_template::ResponseTemplate};
    ///
    /// let template = ResponseTemplate::from_json(
    ///     r#"{"start_anchor": "A:", "fields": {"content": {"open": "<say>", "close": "</say>"}}}"#,
    /// )?;
    /// let mut parser = ResponseParser::new(template, "", &[])?;
    /// parser.feed("Well. <say>Hello!</say> So")?;
    /// assert_eq!(parser.take_unclaimed()[0].text, "Well. ");
    /// parser.feed(" it is.")?;
    /// assert_eq!(parser.unclaimed()[0].text, " So it is.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take_unclaimed(&mut self) -> Vec<Unclaimed> {
        self.machine.take_unclaimed()
    }

    /// Takes what [`leaked`](Self::leaked) lists, so that it is not kept any longer.
    pub fn take_leaked(&mut self) -> Vec<Leaked> {
        self.machine.take_leaked()
    }

    /// The region that the end of the response closed, where its value may be a part of what the model meant; `None` before
    /// [`finalize`](Self::finalize).
    pub fn unended(&self) -> Option<&Unended> {
        self.machine.unended()
    }

    /// From now on looks for markers in the text of each region that ends; see [`leaked`](Self::leaked). Costs a search over
    /// all of that text.
    pub fn find_leaked(&mut self, markers: impl Into<Arc<Markers>>) {
        self.machine.find_leaked(markers.into());
    }

    /// The markers that stand in the text of regions that have ended, in their order: what a model wrote as a delimiter or
    /// a special token, and the response template took for text. Looked for is only what
    /// [`find_leaked`](Self::find_leaked) was given.
    ///
    /// It is the text as the model wrote it that is searched, whether it parses or not; of a region that a content parser
    /// takes apart, only what stands in a string of its value too has leaked. A marker that the prefix has a part of is not the
    /// response's, and where strings of JSON are skipped ([`Options::skip_json_strings`]) nothing is looked for. A model that
    /// speaks of a marker writes it too, so this is something to look at and no error.
    pub fn leaked(&self) -> &[Leaked] {
        self.machine.leaked()
    }

    /// How much memory the texts and values take that are kept, in bytes: the open region, what is held for a delimiter, the message, and text that no
    /// field takes. What a parser has from its beginning is not in it. It goes through the whole message.
    pub fn kept_bytes(&self) -> usize {
        self.machine.kept_bytes()
    }

    /// The parser's state: the open region, the delimiters that it looks for, what it holds.
    pub fn snapshot(&self) -> Snapshot<'_> {
        self.machine.snapshot()
    }

    /// The delimiters that were read since the last call, in their order. There are none but with
    /// [`Options::keep_delimiters`].
    pub fn take_delimiters(&mut self) -> Vec<Passed> {
        self.machine.take_passed()
    }

    fn take_undelivered(&mut self) -> Vec<Event<'static>> {
        let kept = self.kept.as_mut();
        kept.map(|kept| std::mem::take(&mut kept.undelivered))
            .unwrap_or_default()
    }

    fn deliver<T>(
        &mut self,
        events: Vec<Event<'static>>,
        result: Result<T, ParseError>,
    ) -> Result<(Vec<Event<'static>>, T), ParseError> {
        match result {
            Ok(value) => Ok((events, value)),
            Err(error) => {
                if !events.is_empty() {
                    self.kept.get_or_insert_default().undelivered = events;
                }
                Err(error)
            }
        }
    }
}
