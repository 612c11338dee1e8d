//! One parse from its beginning to its end, over all regions that do not parse.

use std::sync::Arc;

use obverse::parser::{Event, Markers, Options, ParseError, Passed, ResponseParser, Snapshot};
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value};

use super::strays::Strays;

/// A parse that goes on after an error.
#[derive(Debug)]
pub(super) struct Session {
    parser: ResponseParser,
    errors: Vec<ParseError>,
    /// An error that the parser cannot go on after.
    halted: bool,
}

/// What happens in a parse.
#[derive(Debug)]
pub(super) enum Step<'a> {
    Event(Event<'a>),
    /// In the place of the region's close, if it is a region that does not parse.
    Error(&'a ParseError),
}

/// What comes of a parse.
#[derive(Debug)]
pub(super) struct Ended {
    /// The message; what could be parsed of it, when there are errors.
    pub(super) message: Map,
    pub(super) errors: Vec<ParseError>,
    pub(super) strays: Strays,
}

type Sink<'s> = &'s mut dyn FnMut(Step<'_>);

impl Session {
    pub(super) fn begin(
        template: &Arc<ResponseTemplate>,
        prefix: &str,
        tools: &[Value],
        options: Options,
        markers: &Arc<Markers>,
    ) -> Result<Self, Box<ParseError>> {
        let mut parser = ResponseParser::with_options(Arc::clone(template), prefix, tools, options)
            .map_err(Box::new)?;
        parser.find_leaked(Arc::clone(markers));
        Ok(Self {
            parser,
            errors: Vec::new(),
            halted: false,
        })
    }

    pub(super) fn initial_events(&self) -> &[Event<'static>] {
        self.parser.initial_events()
    }

    pub(super) fn feed(&mut self, text: &str, sink: Sink<'_>) {
        let mut text = text;
        while !self.halted {
            let fed = self
                .parser
                .feed_with(text, &mut |event| sink(Step::Event(event)));
            match fed {
                Ok(()) => return,
                Err(error) => self.note(error, sink),
            }
            text = "";
        }
    }

    /// The errors so far, which are then no longer kept.
    pub(super) fn take_errors(&mut self) -> Vec<ParseError> {
        std::mem::take(&mut self.errors)
    }

    /// Whether there are errors that nobody has taken.
    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Whether there was an error after which nothing more is parsed.
    pub(super) fn has_halted(&self) -> bool {
        self.halted
    }

    /// What the parser is doing.
    pub(super) fn snapshot(&self) -> Snapshot<'_> {
        self.parser.snapshot()
    }

    /// The delimiters since the last call, if the options ask for them.
    pub(super) fn take_delimiters(&mut self) -> Vec<Passed> {
        self.parser.take_delimiters()
    }

    /// Ends the response.
    pub(super) fn finish(mut self, sink: Sink<'_>) -> Ended {
        self.finalize(sink);
        self.stop()
    }

    /// The same, for who looks at the state afterwards.
    pub(super) fn finalize(&mut self, sink: Sink<'_>) {
        while !self.halted {
            let done = self
                .parser
                .finalize_with(&mut |event| sink(Step::Event(event)));
            match done {
                Ok(()) => return,
                Err(error) => self.note(error, sink),
            }
        }
    }

    /// Ends the parse where it is, the response not being over.
    pub(super) fn stop(self) -> Ended {
        Ended {
            strays: Strays::of(&self.parser),
            message: self.parser.into_message(),
            errors: self.errors,
        }
    }

    fn note(&mut self, error: ParseError, sink: Sink<'_>) {
        self.halted = error.is_final();
        sink(Step::Error(&error));
        self.errors.push(error);
    }
}
