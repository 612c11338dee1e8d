//! A response parsed from its beginning to its end, in any chunks, with all that came of it.

use std::sync::Arc;

use crate::deltas::{self, DeltaParser, DeltaTemplate, Growth};
use crate::derive::Case;
use crate::parser::{Event, OnError, Options, ParseError, ResponseParser, Unclaimed, push_joined};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value};

/// The setting of a parse: the response template, the prefix and the tools.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Setting<'a> {
    /// The response template.
    pub template: &'a Arc<ResponseTemplate>,
    /// The prompt, or `""` when the response holds the whole message.
    pub prefix: &'a str,
    /// The tools, whose schemas type the arguments of calls.
    pub tools: &'a [Value],
}

/// The outcome of a parse.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Replay {
    /// The events, adjacent chunks of a region joined. A region that does not parse ends with
    /// [`Event::RegionError`].
    pub events: Vec<Event<'static>>,
    /// The message, or what there is of it when there are errors.
    pub message: Map,
    /// The text that is in no field of the message, white space alone left out.
    pub unclaimed: Vec<Unclaimed>,
    /// Each region that does not parse, and last what ended the parse, if something did.
    pub errors: Vec<ParseError>,
    /// How the message grew, adjacent pieces joined, where a fixture records that; see [`Setting::deltas`].
    pub deltas: Option<Vec<Growth<'static>>>,
}

impl<'a> Setting<'a> {
    /// The setting with this response template, prefix and these tools.
    pub fn new(template: &'a Arc<ResponseTemplate>, prefix: &'a str, tools: &'a [Value]) -> Self {
        Self {
            template,
            prefix,
            tools,
        }
    }

    /// The setting in which a case of a derivation is parsed.
    pub fn of(template: &'a Arc<ResponseTemplate>, case: &'a Case) -> Self {
        Self {
            template,
            prefix: &case.prefix,
            tools: &case.tools,
        }
    }
}

impl Setting<'_> {
    /// A parser with this setting that goes on after a region that does not parse.
    ///
    /// # Errors
    ///
    /// That a limit was reached in the prefix.
    pub fn parser(&self) -> Result<ResponseParser, ParseError> {
        let options = Options {
            on_error: OnError::Keep,
            ..Options::default()
        };
        ResponseParser::with_options(Arc::clone(self.template), self.prefix, self.tools, options)
    }

    /// Parses a response that arrives in these chunks.
    pub fn replay<'t>(&self, chunks: impl IntoIterator<Item = &'t str>) -> Replay {
        let mut parser = match self.parser() {
            Ok(parser) => parser,
            Err(error) => {
                return Replay {
                    events: Vec::new(),
                    message: self.template.defaults().clone(),
                    unclaimed: Vec::new(),
                    errors: vec![error],
                    deltas: None,
                };
            }
        };
        let mut events = Vec::new();
        for event in parser.initial_events() {
            push_joined(&mut events, event.clone());
        }
        let sink = &mut |event: Event<'_>| push_joined(&mut events, event);
        let ended = chunks
            .into_iter()
            .try_for_each(|chunk| parser.feed_with(chunk, sink))
            .and_then(|()| parser.finalize_with(sink));
        let mut errors = parser.malformed().to_vec();
        errors.extend(ended.err());
        let lost = parser.unclaimed().iter();
        Replay {
            events,
            unclaimed: lost
                .filter(|lost| !lost.is_white_space())
                .cloned()
                .collect(),
            message: parser.into_message(),
            errors,
            deltas: None,
        }
    }

    /// How the message of a response grows, adjacent pieces joined; nothing where a limit was reached in the prefix.
    pub fn deltas(&self, response: &str) -> Vec<Growth<'static>> {
        let mut options = deltas::Options::default();
        options.parser.on_error = OnError::Keep;
        let template = DeltaTemplate::new(Arc::clone(self.template));
        let parser = DeltaParser::with_options(template, self.prefix, self.tools, options);
        let Ok(mut parser) = parser else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for growth in parser.initial_growth() {
            deltas::push_joined(&mut all, growth.clone());
        }
        let sink = &mut |growth: Growth<'_>| deltas::push_joined(&mut all, growth);
        // How it ends is told by the replay.
        if parser.feed_with(response, sink).is_ok() {
            let _ = parser.finalize_with(sink);
        }
        all
    }

    /// The setting with another prefix.
    #[must_use]
    pub fn after<'s>(&'s self, prefix: &'s str) -> Setting<'s> {
        Setting { prefix, ..*self }
    }
}

impl Replay {
    /// Returns true if another parse gave the same. The places of errors in the response do not count. Nor does the text that no field
    /// takes: the more of a response is in the prompt, the less of such text the rest of it has.
    pub fn agrees(&self, other: &Self) -> bool {
        self.message == other.message
            && self.errors.len() == other.errors.len()
            && self.errors.iter().zip(&other.errors).all(same_error)
            && self.events.len() == other.events.len()
            && self.events.iter().zip(&other.events).all(same_event)
    }
}

fn same_event((a, b): (&Event<'_>, &Event<'_>)) -> bool {
    match (a, b) {
        (
            Event::RegionError { field, error },
            Event::RegionError {
                field: other_field,
                error: other,
            },
        ) => field == other_field && same_error((error, other)),
        _ => a == b,
    }
}

fn same_error((a, b): (&ParseError, &ParseError)) -> bool {
    a.kind == b.kind && a.field == b.field && a.raw == b.raw
}
