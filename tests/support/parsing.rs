//! Parses as a test sees them: what came of a response that was cut in one way, in a form that can be compared.

use obverse::parser::{
    Event, OnError, Options, ParseError, ResponseParser, Unclaimed, join_chunks,
};
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
    /// What no field took.
    pub unclaimed: Vec<Unclaimed>,
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
        unclaimed: Vec::new(),
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
    // An error of the prefix is told by the first call.
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
                outcome.unclaimed = parser.unclaimed().to_vec();
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
    outcome.unclaimed = parser.unclaimed().to_vec();
    outcome
}

/// What is wrong with the parser's account of a response: every byte must be a delimiter's, a region's or unclaimed, and of one
/// of these alone. A parse that reaches a limit, and so does not come to the end, is not asked.
pub fn misaccounted(template: &ResponseTemplate, prefix: &str, chunks: &[&str]) -> Option<String> {
    let options = Options::default()
        .on_error(OnError::Keep)
        .keep_delimiters(true);
    let mut parser = ResponseParser::with_options(template.clone(), prefix, &[], options).ok()?;
    let mut taken: String = chunk_texts(parser.initial_events());
    for chunk in chunks {
        taken += &chunk_texts(&parser.feed(chunk).ok()?);
    }
    let mut last = Vec::new();
    let ended = parser.finalize_with(&mut |event| last.push(event.into_owned()));
    if ended.is_err_and(|error| error.kind.is_limit()) {
        return None;
    }
    taken += &chunk_texts(&last);
    let text = template.after_last_anchor(prefix).ok()?.to_owned() + &chunks.concat();
    let prefix = text.len() - chunks.concat().len();
    let delimiters = parser.take_delimiters();
    let mut others: Vec<_> = delimiters.into_iter().map(|passed| passed.span).collect();
    for lost in parser.unclaimed() {
        let span = lost.span.start + prefix..lost.span.end + prefix;
        if text.get(span.clone()) != Some(&*lost.text) || span.is_empty() {
            return Some(format!("{lost:?} is not in {text:?}"));
        }
        // Text that a field took and dropped belongs to a region.
        if lost.field.is_none() {
            others.push(span);
        }
    }
    others.sort_by_key(|span| (span.start, span.end));
    let mut left = String::new();
    let mut at = prefix;
    for span in others {
        if span.end <= prefix {
            continue;
        }
        let start = span.start.max(prefix);
        if start < at {
            return Some(format!("{span:?} of {text:?} is accounted for twice"));
        }
        left += &text[at..start];
        at = span.end;
    }
    left += &text[at..];
    // The account is of the response alone: what regions have of the prefix is known only not to be longer than it.
    let rest = taken.strip_suffix(&left);
    let whole = rest.is_some_and(|rest| rest.len() <= prefix);
    (!whole).then(|| format!("regions have {taken:?}, but {left:?} of {text:?} is no one else's"))
}

fn chunk_texts(events: &[Event<'_>]) -> String {
    let texts = events.iter().map(|event| match event {
        Event::RegionChunk { text, .. } => text.as_ref(),
        _ => "",
    });
    texts.collect()
}

impl Outcome {
    /// What must not depend on the chunking: the message, or which region failed and the message so far, and after a
    /// parse that did not fail the events joined.
    pub fn essence(&self) -> String {
        match &self.result {
            Ok(message) => format!(
                "message {}; initial {}; events {}; unclaimed {:?}",
                json::to_string(&Value::Object(message.clone())),
                short(&self.initial),
                short(&join_chunks(self.events.iter().flatten().cloned())),
                self.unclaimed
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
                let place = if kind.is_limit() {
                    String::new()
                } else {
                    format!("{field:?} {span:?} {raw:?} unclaimed {:?}", self.unclaimed)
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
            other => panic!("an event that the tests do not know: {other:?}"),
        })];
        items.push(Value::from(event.field()));
        match event {
            Event::RegionOpen { .. } => {}
            Event::RegionChunk { text, .. } => items.push(Value::from(text.as_ref())),
            Event::RegionClose { value, .. } => items.push(value.as_ref().clone()),
            Event::RegionError { error, .. } => {
                items.extend(error.raw.as_deref().map(Value::from));
            }
            other => panic!("an event that the tests do not know: {other:?}"),
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
