//! Parsing with a grammar: the strict reader.

use std::io::{Read, Write};
use std::path::Path;

use obverse::chunking::{self, Chunking};
use obverse::grammar::peg::Options;
use obverse::grammar::reader::{Reader, Template};
use obverse::parser::{Event, Limits, ParseError};
use obverse::value::{Map, Value};

use super::{Args, PIECE, PREFIX, partial, region_problem, write_event, write_line};
use crate::cli::problem::{Document, Problem};
use crate::cli::progress::Progress;
use crate::cli::status::Status;
use crate::cli::stop::Stop;
use crate::cli::{input, output, wire};

/// Parses a response.
pub(super) fn run(args: &Args, template: &Template, response: &Path) -> Result<Status, Stop> {
    let refused = [
        (args.deltas.is_some(), "--deltas"),
        (args.state, "--state"),
        (args.skip_json_strings, "--skip-json-strings"),
        (args.max_regions.is_some(), "--max-regions"),
    ];
    if let Some((_, what)) = refused.iter().find(|(given, _)| *given) {
        let message = format!("{what} is for response templates, and TEMPLATE is a grammar");
        let problem = Problem::failed("usage", message);
        return Err(problem
            .with_hint("with a grammar there are --events, --chunks, --prefix and --tools")
            .into());
    }
    let prefix = args.given.prefix()?.unwrap_or_default();
    let progress = match args.events {
        true => Progress::of_stream(response),
        false => Progress::of_input(response),
    };
    let mut reading = input::open(response)?;
    let name = input::name(response);
    let mut following = Following {
        reader: reader(template, &args.limits(), &args.given.tools()?),
        name: &name,
        out: output::results(),
        events: args.events,
        errors: Vec::new(),
        of_prefix: false,
    };
    let mut text = None;
    following.feed(|reader, sink| reader.read_prefix(&prefix, sink))?;
    following.of_prefix = following.reader.has_halted() || !following.errors.is_empty();
    match (&args.chunks, args.events) {
        (Some(chunking), _) => {
            let whole = args.read_whole(reading.as_mut(), response)?;
            following.chunks(&whole, chunking)?;
        }
        (None, true) => following.pieces(reading.as_mut(), response)?,
        (None, false) => {
            let whole = args.read_whole(reading.as_mut(), response)?;
            following.feed(|reader, sink| reader.feed(whole.as_bytes(), sink))?;
            text = Some(whole);
        }
    }
    following.end(text.as_deref(), progress)
}

struct Following<'a, W> {
    reader: Reader,
    name: &'a str,
    out: W,
    events: bool,
    errors: Vec<ParseError>,
    /// True if the prefix does not follow the grammar, whatever the response is.
    of_prefix: bool,
}

impl<W: Write> Following<'_, W> {
    fn feed(
        &mut self,
        feed: impl FnOnce(&mut Reader, &mut dyn FnMut(Event<'_>)),
    ) -> std::io::Result<()> {
        let mut result = Ok(());
        let (out, events) = (&mut self.out, self.events);
        feed(&mut self.reader, &mut |event| {
            if events && result.is_ok() {
                result = write_event(out, &event);
            }
        });
        result?;
        for error in self.reader.take_errors() {
            if self.events {
                write_line(&mut self.out, "error", "error", error.to_map())?;
            }
            self.errors.push(error);
        }
        if self.events {
            self.out.flush()?;
        }
        Ok(())
    }

    fn chunks(&mut self, text: &str, chunking: &Chunking) -> Result<(), Stop> {
        let ends = chunking
            .ends(text, &[])
            .map_err(|error| Problem::failed("chunks", error.to_string()))?;
        for chunk in chunking::chunks(text, &ends) {
            self.feed(|reader, sink| reader.feed(chunk.as_ref(), sink))?;
        }
        Ok(())
    }

    fn pieces(&mut self, reading: &mut dyn Read, path: &Path) -> Result<(), Stop> {
        let mut buffer = vec![0; PIECE];
        while !self.reader.has_halted() {
            let piece = input::read_piece(reading, &mut buffer)
                .map_err(|error| input::unreadable(path, &error))?;
            if piece.is_empty() {
                break;
            }
            self.feed(|reader, sink| reader.feed(piece, sink))?;
        }
        Ok(())
    }

    /// Ends the response and writes the message.
    fn end(mut self, text: Option<&str>, progress: Progress) -> Result<Status, Stop> {
        self.feed(|reader, sink| reader.finish(sink))?;
        drop(progress);
        let errors = std::mem::take(&mut self.errors);
        let (name, text) = match self.of_prefix {
            true => (PREFIX, None),
            false => (self.name, text),
        };
        let tell = || {
            for error in &errors {
                let mut problem = region_problem(error, name, text, usize::MAX);
                if self.of_prefix {
                    problem = problem.with_hint(
                        "of the prefix what follows the grammar's start anchor is read, and all of it where that is not in it: give what the prompt has begun of the message alone",
                    );
                }
                let problem = match text {
                    Some(_) => problem,
                    None => problem.about(Document {
                        name: name.to_owned(),
                        text: None,
                    }),
                };
                problem.show();
            }
        };
        let message = self.reader.into_message();
        let is_fine = errors.is_empty();
        if self.events {
            tell();
            let kind = if is_fine {
                "message"
            } else {
                "partial_message"
            };
            write_line(&mut self.out, kind, "message", message)?;
            self.out.flush()?;
        } else {
            let written = match is_fine {
                true => message,
                false => partial(&errors, message),
            };
            drop(self.out);
            output::told_beside(tell, || wire::print(&Value::Object(written)))?;
        }
        Ok(if is_fine { Status::Done } else { Status::Found })
    }
}

/// A reader that keeps as much as a parser with these limits may hold.
pub(super) fn reader(template: &Template, limits: &Limits, tools: &[Value]) -> Reader {
    let mut options = Options::default();
    options.limits.held_bytes = limits.held_bytes;
    Reader::with_options(template, options).tools(tools)
}

/// The outcome of parsing a response in pieces.
pub(super) struct Answer {
    pub(super) errors: Vec<ParseError>,
    pub(super) message: Map,
    /// The events of the prefix, those of the pieces (a list for each), and those of the end.
    pub(super) events: [Value; 3],
}

/// Parses a response in pieces.
pub(super) fn answer(
    mut reader: Reader,
    prefix: &str,
    chunks: &[String],
    finalize: bool,
) -> Answer {
    let list = |told: Vec<Map>| Value::Array(told.into_iter().map(Value::Object).collect());
    let mut told = Vec::new();
    reader.read_prefix(prefix, &mut |event| told.push(event.to_map()));
    let initial = list(told);
    let mut events = Vec::new();
    for chunk in chunks {
        let mut told = Vec::new();
        reader.feed(chunk.as_bytes(), &mut |event| told.push(event.to_map()));
        events.push(list(told));
    }
    let mut told = Vec::new();
    if finalize {
        reader.finish(&mut |event| told.push(event.to_map()));
    }
    Answer {
        errors: reader.take_errors(),
        message: reader.into_message(),
        events: [initial, Value::Array(events), list(told)],
    }
}
