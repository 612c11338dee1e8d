//! Grammars: no panic and no hang; a document reads as it was written; and a text comes to the same, and is told alike, however it is cut.

use obverse::grammar::peg::{Failure, Grammar, LimitError, Limits, Options, Parser, Status};
use obverse::grammar::reader::{Reader, Template};
use obverse::parser::{Event, ParseError, push_joined};
use obverse::value::{Map, Value};

use crate::{cuts, parts};

/// Beyond this a text only takes longer.
const LONGEST: usize = 2000;

/// Checks one input: the document of a grammar, a text, and the sizes of the chunks.
pub fn check(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else {
        return;
    };
    let [document, text, sizes] = parts(input);
    let template = match Template::from_json(document) {
        Ok(template) => template,
        Err(invalid) => {
            for found in invalid.diagnostics() {
                let span = found.place.span.clone();
                assert!(
                    span.is_none_or(|span| document.get(span).is_some()),
                    "{found}"
                );
            }
            return;
        }
    };
    let grammar = &template.grammar;
    let again = Template::from_value(&template.to_value());
    assert_eq!(again.as_ref(), Ok(&template));
    assert_eq!(
        again.map(|again| again.grammar.to_string()),
        Ok(grammar.to_string())
    );
    if text.len() > LONGEST {
        return;
    }
    let whole = [text.as_bytes()];
    let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
    let mut start = 0;
    let ends = cuts(text, sizes.as_bytes());
    let pieces: Vec<&[u8]> = ends
        .iter()
        .map(|end| &text.as_bytes()[std::mem::replace(&mut start, *end)..*end])
        .collect();
    let expected = outcome(grammar, &whole);
    let told = events(&template, &whole);
    for pieces in [&bytes, &pieces] {
        assert_eq!(outcome(grammar, pieces), expected);
        assert_eq!(events(&template, pieces), told);
    }
}

fn options() -> Options {
    let mut limits = Limits::default();
    limits.steps = 200_000;
    limits.steps_per_byte = 10;
    limits.depth = 1000;
    let mut options = Options::default();
    options.limits = limits;
    options
}

type Outcome = (Result<Status, LimitError>, Value, Failure, u64);

fn outcome(grammar: &Grammar, pieces: &[&[u8]]) -> Outcome {
    let mut parser = Parser::with_options(grammar, options());
    for piece in pieces {
        // The error comes again at the end.
        let _ = parser.feed(piece);
    }
    let status = parser.finish();
    let tree = parser.tree().to_value(&pieces.concat());
    (status, tree, parser.failure(), parser.steps())
}

fn events(template: &Template, pieces: &[&[u8]]) -> (Vec<Event<'static>>, Vec<ParseError>, Map) {
    let mut reader = Reader::with_options(template, options());
    let mut events = Vec::new();
    let mut sink = |event: Event<'_>| push_joined(&mut events, event);
    for piece in pieces {
        reader.feed(piece, &mut sink);
    }
    reader.finish(&mut sink);
    let errors = reader.take_errors();
    (events, errors, reader.into_message())
}
