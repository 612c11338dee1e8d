//! Parsing: a response gives one answer however it is cut, and no call panics, before an error or after it.

pub(crate) mod built;

use arbitrary::{Arbitrary, Unstructured};
use obverse::parser::{
    Event, Limits, OnError, Options, ParseError, ResponseParser, join_chunks,
};
use obverse::response_template::ResponseTemplate;
use obverse::value::{Value, json};

use crate::{cuts, parts};

use built::Built;

/// Beyond this a response only takes longer.
const LONGEST: usize = 4000;

/// Checks one input. One that begins with `{` is text: a document, a prefix, a response, and the sizes of the chunks.
/// Any other is what `arbitrary` makes of it: a document, and a response out of the document's delimiters.
pub fn check(input: &[u8]) {
    if input.first() == Some(&b'{') {
        let Ok(input) = std::str::from_utf8(input) else {
            return;
        };
        let [document, prefix, response, sizes] = parts(input);
        if let Ok(template) = ResponseTemplate::from_json(document) {
            every_cut(&template, prefix, response, sizes.as_bytes());
        }
        return;
    }
    let Ok(built) = Built::arbitrary(&mut Unstructured::new(input)) else {
        return;
    };
    if let Ok(template) = ResponseTemplate::from_value(&built.document()) {
        let (prefix, response) = (built.prefix(), built.response());
        every_cut(&template, &prefix, &response, built.sizes());
    }
}

fn every_cut(template: &ResponseTemplate, prefix: &str, response: &str, sizes: &[u8]) {
    if response.len() > LONGEST || prefix.len() > LONGEST {
        return;
    }
    let chunks = |sizes: &[u8]| {
        let mut start = 0;
        let piece = |end| {
            let piece = &response[start..end];
            start = end;
            piece
        };
        cuts(response, sizes)
            .into_iter()
            .map(piece)
            .collect::<Vec<_>>()
    };
    let options = Options::default();
    let keep = options.on_error(OnError::Keep);
    let whole = parse(template, prefix, &[response], options);
    let kept = parse(template, prefix, &[response], keep);
    assert_eq!(whole.errors, kept.errors, "returned, and kept");
    assert_eq!(whole.message, kept.message, "returned, and kept");
    for sizes in [sizes, &[1], &[0, 2]] {
        let pieces = chunks(sizes);
        let cut = parse(template, prefix, &pieces, options);
        assert_eq!(whole, cut, "whole, and cut as {pieces:?}");
        let cut = parse(template, prefix, &pieces, keep);
        assert_eq!(kept, cut, "kept, whole, and cut as {pieces:?}");
    }
    let skip = keep.skip_json_strings(true);
    let skipped = parse(template, prefix, &[response], skip);
    for sizes in [sizes, &[1]] {
        let pieces = chunks(sizes);
        let cut = parse(template, prefix, &pieces, skip);
        assert_eq!(
            skipped, cut,
            "strings skipped, whole, and cut as {pieces:?}"
        );
    }
    let limits = Limits::default()
        .region_bytes(sizes.first().copied().unwrap_or(7).into())
        .held_bytes(sizes.get(1).copied().unwrap_or(7).into())
        .regions(3);
    let tight = keep.limits(limits);
    let _ = parse(template, prefix, &chunks(sizes), tight);
}

/// What came of a parse that went on after every error that it could.
#[derive(Debug, PartialEq)]
struct Outcome {
    initial: Vec<Event<'static>>,
    /// Up to the first error.
    events: Vec<Event<'static>>,
    errors: Vec<String>,
    message: String,
}

fn parse(template: &ResponseTemplate, prefix: &str, chunks: &[&str], options: Options) -> Outcome {
    let mut outcome = Outcome {
        initial: Vec::new(),
        events: Vec::new(),
        errors: Vec::new(),
        message: String::new(),
    };
    let mut parser = match ResponseParser::with_options(template.clone(), prefix, &[], options) {
        Ok(parser) => parser,
        Err(error) => {
            outcome.errors.push(essence(&error));
            return outcome;
        }
    };
    outcome.initial = join_chunks(parser.initial_events().iter().cloned());
    let mut events = Vec::new();
    let mut chunks = chunks.iter();
    let mut chunk = chunks.next();
    let ended = loop {
        let Some(text) = chunk else {
            match parser.finalize() {
                Ok((message, last)) => {
                    events.extend(last);
                    outcome.message = json::to_string(&Value::Object(message));
                    break false;
                }
                Err(error) => {
                    outcome.errors.push(essence(&error));
                    if error.is_final() {
                        break error.kind.is_limit();
                    }
                    continue;
                }
            }
        };
        match parser.feed(text) {
            Ok(now) => {
                events.extend(now);
                chunk = chunks.next();
            }
            Err(error) => {
                outcome.errors.push(essence(&error));
                if error.is_final() {
                    break true;
                }
                chunk = Some(&"");
            }
        }
    };
    let malformed = parser.malformed().iter().map(essence);
    outcome.errors = malformed.chain(outcome.errors).collect();
    // How far a parse comes before a limit depends on what is held, and so on the chunks.
    if ended {
        assert!(parser.feed("more").is_err() && parser.finalize().is_err());
        outcome.events = Vec::new();
    } else {
        if outcome.message.is_empty() {
            outcome.message = json::to_string(&Value::Object(parser.message().clone()));
        }
        outcome.events = join_chunks(events);
    }
    outcome
}

fn essence(error: &ParseError) -> String {
    assert_eq!(error.span.is_some(), error.raw.is_some());
    if error.kind.is_limit() {
        return error.kind.name().to_owned();
    }
    let ParseError {
        message,
        field,
        span,
        raw,
        ..
    } = error;
    format!("{message} {field:?} {span:?} {raw:?}")
}
