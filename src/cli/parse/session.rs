//! One parse from its beginning to its end, over all regions that do not parse.

use std::sync::Arc;

use obverse::deltas::encode::{Encoder, Ending, Protocol, Reply};
use obverse::deltas::{self, DeltaParser, DeltaTemplate};
use obverse::parser::{Event, Markers, Options, ParseError, Passed, ResponseParser, Snapshot};
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value};

use super::strays::Strays;

/// A parse that goes on after an error.
#[derive(Debug)]
pub(super) struct Session {
    reader: Reader,
    errors: Vec<ParseError>,
    /// An error that the parser cannot go on after.
    halted: bool,
    /// The strays that were taken out of the parser.
    strays: Strays,
    /// True if strays are taken out as the response arrives.
    arrives: bool,
}

/// The parser that reads.
#[derive(Debug)]
enum Reader {
    Parser(Box<ResponseParser>),
    Deltas(Box<(DeltaParser, Encoder)>),
}

/// The deltas that are asked for.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) protocol: Protocol,
    pub(super) template: Arc<DeltaTemplate>,
    /// True if nothing may be taken back.
    pub(super) certain: bool,
}

impl Reader {
    fn parser(&self) -> &ResponseParser {
        match self {
            Self::Parser(parser) => parser,
            Self::Deltas(deltas) => deltas.0.parser(),
        }
    }

    fn feed(&mut self, text: &str, sink: Sink<'_>) -> Result<(), ParseError> {
        match self {
            Self::Parser(parser) => parser.feed_with(text, &mut |event| sink(Step::Event(event))),
            Self::Deltas(deltas) => {
                let (parser, encoder) = &mut **deltas;
                parser.feed_steps(text, &mut |step| tell(encoder, step, sink))
            }
        }
    }

    fn finalize(&mut self, sink: Sink<'_>) -> Result<(), ParseError> {
        match self {
            Self::Parser(parser) => parser.finalize_with(&mut |event| sink(Step::Event(event))),
            Self::Deltas(deltas) => {
                let (parser, encoder) = &mut **deltas;
                parser.finalize_steps(&mut |step| tell(encoder, step, sink))
            }
        }
    }
}

fn tell(encoder: &mut Encoder, step: deltas::Step<'_>, sink: Sink<'_>) {
    match step {
        deltas::Step::Event(event) => sink(Step::Event(event)),
        deltas::Step::Growth(growth) => {
            for delta in encoder.grow(&growth) {
                sink(Step::Delta(delta));
            }
        }
    }
}

/// A step of a parse.
#[derive(Debug)]
pub(super) enum Step<'a> {
    Event(Event<'a>),
    /// An event that a client is sent, if deltas are asked for.
    Delta(Value),
    /// In the place of the region's close, if it is a region that does not parse.
    Error(&'a ParseError),
}

/// The outcome of a parse.
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
        asked: Option<&Asked>,
    ) -> Result<Self, Box<ParseError>> {
        let reader = match asked {
            None => {
                let template = Arc::clone(template);
                let parser = ResponseParser::with_options(template, prefix, tools, options);
                let mut parser = parser.map_err(Box::new)?;
                parser.find_leaked(Arc::clone(markers));
                Reader::Parser(Box::new(parser))
            }
            Some(asked) => {
                let mut all = deltas::Options::default();
                all.parser = options;
                all.certain = asked.certain;
                let template = Arc::clone(&asked.template);
                let parser = DeltaParser::with_options(template, prefix, tools, all);
                let mut parser = parser.map_err(Box::new)?;
                parser.find_leaked(Arc::clone(markers));
                let encoder = Encoder::new(asked.protocol, Reply::default());
                Reader::Deltas(Box::new((parser, encoder)))
            }
        };
        Ok(Self {
            reader,
            errors: Vec::new(),
            halted: false,
            strays: Strays::default(),
            arrives: false,
        })
    }

    pub(super) fn initial_events(&self) -> &[Event<'static>] {
        match &self.reader {
            Reader::Parser(parser) => parser.initial_events(),
            Reader::Deltas(deltas) => deltas.0.initial_events(),
        }
    }

    /// The events that a client is sent first, and for what the prefix brings; none where no deltas are asked for.
    pub(super) fn initial_deltas(&mut self) -> Vec<Value> {
        let Reader::Deltas(deltas) = &mut self.reader else {
            return Vec::new();
        };
        let (parser, encoder) = &mut **deltas;
        let mut initial = encoder.begin();
        for growth in parser.initial_growth() {
            initial.extend(encoder.grow(growth));
        }
        initial
    }

    pub(super) fn feed(&mut self, text: &str, sink: Sink<'_>) {
        let mut text = text;
        while !self.halted {
            let fed = self.reader.feed(text, sink);
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

    /// Returns true if there are errors that nobody has taken.
    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Returns true if there was an error after which nothing more is parsed.
    pub(super) fn has_halted(&self) -> bool {
        self.halted
    }

    /// The parser's state.
    pub(super) fn snapshot(&self) -> Snapshot<'_> {
        self.reader.parser().snapshot()
    }

    /// The delimiters since the last call, if the options ask for them.
    pub(super) fn take_delimiters(&mut self) -> Vec<Passed> {
        match &mut self.reader {
            Reader::Parser(parser) => parser.take_delimiters(),
            Reader::Deltas(deltas) => deltas.0.take_delimiters(),
        }
    }

    /// Ends the response.
    pub(super) fn finish(mut self, sink: Sink<'_>) -> Ended {
        self.finalize(sink);
        self.stop()
    }

    /// Ends the parse, for those who look at the state afterwards.
    pub(super) fn finalize(&mut self, sink: Sink<'_>) {
        while !self.halted {
            match self.reader.finalize(sink) {
                Ok(()) => break,
                Err(error) => self.note(error, sink),
            }
        }
        if let Reader::Deltas(deltas) = &mut self.reader {
            for delta in deltas.1.end(Ending::Complete) {
                sink(Step::Delta(delta));
            }
        }
    }

    /// Takes the strays so far out of the parser, so that a stream may have any number of them.
    pub(super) fn take_strays(&mut self) {
        let (unclaimed, leaked) = match &mut self.reader {
            Reader::Parser(parser) => (parser.take_unclaimed(), parser.take_leaked()),
            Reader::Deltas(deltas) => (deltas.0.take_unclaimed(), deltas.0.take_leaked()),
        };
        self.arrives = true;
        self.strays.add_some(unclaimed, leaked);
    }

    /// Ends the parse where it is, the response not being over.
    pub(super) fn stop(mut self) -> Ended {
        if self.arrives {
            self.take_strays();
        }
        self.strays.end(self.reader.parser());
        Ended {
            strays: self.strays,
            message: match self.reader {
                Reader::Parser(parser) => parser.into_message(),
                Reader::Deltas(deltas) => deltas.0.into_message(),
            },
            errors: self.errors,
        }
    }

    fn note(&mut self, error: ParseError, sink: Sink<'_>) {
        self.halted = error.is_final();
        sink(Step::Error(&error));
        self.errors.push(error);
    }
}
