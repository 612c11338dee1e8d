//! Parses as a test sees them: what came of a response that was cut in one way, in a form that can be compared.

use obverse::parser::{ErrorKind, Event, ParseError, ResponseParser, join_chunks};
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value, json};

use super::random::Random;

/// What came of one parse.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The prefix's events, adjacent chunks joined.
    pub initial: Vec<Event<'static>>,
    /// The events of each chunk and, last, of the end; up to the error where there is one.
    pub events: Vec<Vec<Event<'static>>>,
    pub result: Result<Map, Failure>,
}

/// How a parse failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// `prefix`, `feed` or `finalize`.
    pub stage: &'static str,
    pub error: ParseError,
    /// The message as far as it was parsed; none for `prefix`.
    pub output: Option<Map>,
}

/// Feeds `chunks` to a new parser, and ends.
pub fn parse(
    template: &ResponseTemplate,
    prefix: &str,
    tools: &[Value],
    chunks: &[&str],
) -> Outcome {
    let mut outcome = Outcome {
        initial: Vec::new(),
        events: Vec::new(),
        result: Ok(Map::new()),
    };
    let mut parser = match ResponseParser::new(template.clone(), prefix, tools) {
        Ok(parser) => parser,
        Err(error) => {
            outcome.result = Err(Failure {
                stage: "prefix",
                error,
                output: None,
            });
            return outcome;
        }
    };
    // What is wrong in the prefix is what the first call says.
    if !prefix.is_empty()
        && let Err(error) = parser.feed("")
    {
        outcome.result = Err(Failure {
            stage: "prefix",
            error,
            output: None,
        });
        return outcome;
    }
    outcome.initial = join_chunks(parser.initial_events().iter().cloned());
    let failed = |stage, error, parser: &ResponseParser| Failure {
        stage,
        error,
        output: Some(parser.message().clone()),
    };
    for chunk in chunks {
        match parser.feed(chunk) {
            Ok(events) => outcome.events.push(events),
            Err(error) => {
                outcome.result = Err(failed("feed", error, &parser));
                return outcome;
            }
        }
    }
    outcome.result = match parser.finalize() {
        Ok((message, events)) => {
            outcome.events.push(events);
            Ok(message)
        }
        Err(error) => Err(failed("finalize", error, &parser)),
    };
    outcome
}

impl Outcome {
    /// What must not depend on the chunking: the message, or which region failed and the message so far, and after a
    /// parse that did not fail the events joined.
    pub fn essence(&self) -> String {
        match &self.result {
            Ok(message) => format!(
                "message {}; initial {}; events {}",
                json::to_string(&Value::Object(message.clone())),
                short(&self.initial),
                short(&join_chunks(self.events.iter().flatten().cloned()))
            ),
            Err(failure) => {
                let ParseError {
                    kind,
                    field,
                    span,
                    raw,
                    ..
                } = &failure.error;
                // Where a limit is met depends on what is held, and so on the chunks.
                let place = if *kind == ErrorKind::Limit {
                    String::new()
                } else {
                    format!("{field:?} {span:?} {raw:?}")
                };
                let output = failure.output.clone().map(Value::Object);
                format!(
                    "error {} {place}; output {}",
                    kind.name(),
                    output.as_ref().map_or("none".to_owned(), json::to_string)
                )
            }
        }
    }
}

/// Events in the short form of `tests/cases`, one JSON list.
pub fn short(events: &[Event<'_>]) -> String {
    let items = events.iter().map(|event| {
        let mut items = vec![Value::from(match event {
            Event::RegionOpen { .. } => "open",
            Event::RegionChunk { dirty: false, .. } => "chunk",
            Event::RegionChunk { dirty: true, .. } => "dirty",
            Event::RegionClose { .. } => "close",
            Event::RegionError { .. } => "error",
        })];
        items.push(Value::from(event.field()));
        match event {
            Event::RegionOpen { .. } => {}
            Event::RegionChunk { text, .. } => items.push(Value::from(text.as_ref())),
            Event::RegionClose { value, .. } => items.push(value.as_ref().clone()),
            Event::RegionError { error, .. } => {
                items.extend(error.raw.as_deref().map(Value::from));
            }
        }
        Value::Array(items)
    });
    json::to_string(&Value::Array(items.collect()))
}

/// The text cut at random: often into characters, often into a few pieces, sometimes with empty ones.
pub fn cut<'t>(random: &mut Random, text: &'t str) -> Vec<&'t str> {
    let mean = if text.len() > 2_000 {
        [500, 5_000][random.below(2)]
    } else {
        [1, 1, 2, 3, 5, 9, 20][random.below(7)]
    };
    let mut chunks = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let characters = if mean == 1 { 1 } else { random.below(2 * mean) };
        let end = rest
            .char_indices()
            .nth(characters)
            .map_or(rest.len(), |(at, _)| at);
        let (chunk, after) = rest.split_at(end);
        chunks.push(chunk);
        rest = after;
    }
    chunks
}

/// The text a character at a time.
pub fn characters(text: &str) -> Vec<&str> {
    text.split_inclusive(|_: char| true).collect()
}
