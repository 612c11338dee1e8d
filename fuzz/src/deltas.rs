//! Deltas: what a client puts together is the message, and the joined growth does not depend on how the response is cut.

use std::sync::Arc;

use arbitrary::{Arbitrary, Unstructured};
use obverse::deltas::{Assembly, DeltaParser, DeltaTemplate, Growth, Options, push_joined};
use obverse::parser::OnError;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Value, json};

use crate::chunks::built::Built;
use crate::{cuts, parts};

/// Beyond this a response only takes longer.
const LONGEST: usize = 4000;

/// Checks one input, which is one of [`crate::chunks`], with the tools as a fifth part where it is text.
pub fn check(input: &[u8]) {
    if input.first() == Some(&b'{') {
        let Ok(input) = std::str::from_utf8(input) else {
            return;
        };
        let [document, prefix, response, sizes, tools] = parts(input);
        let tools = json::parse(tools).unwrap_or_default();
        let tools = tools.as_array().unwrap_or_default();
        if let Ok(template) = ResponseTemplate::from_json(document) {
            every_cut(template, prefix, tools, response, sizes.as_bytes());
        }
        return;
    }
    let Ok(built) = Built::arbitrary(&mut Unstructured::new(input)) else {
        return;
    };
    if let Ok(template) = ResponseTemplate::from_value(&built.document()) {
        let (prefix, response) = (built.prefix(), built.response());
        every_cut(template, &prefix, &[], &response, built.sizes());
    }
}

fn every_cut(
    template: ResponseTemplate,
    prefix: &str,
    tools: &[Value],
    response: &str,
    sizes: &[u8],
) {
    if response.len() > LONGEST || prefix.len() > LONGEST {
        return;
    }
    let template = Arc::new(DeltaTemplate::new(template));
    for (on_error, certain) in [
        (OnError::Keep, false),
        (OnError::Return, false),
        (OnError::Keep, true),
    ] {
        let mut options = Options::default();
        options.parser.on_error = on_error;
        options.certain = certain;
        let grow = |pieces: &[&str]| {
            let template = Arc::clone(&template);
            grow(DeltaParser::with_options(template, prefix, tools, options).ok()?, pieces, certain)
        };
        let whole = grow(&[response]);
        for sizes in [sizes, &[1], &[0, 2]] {
            let mut start = 0;
            let pieces: Vec<&str> = cuts(response, sizes)
                .into_iter()
                .map(|end| &response[std::mem::replace(&mut start, end)..end])
                .collect();
            assert_eq!(whole, grow(&pieces), "whole, and cut as {pieces:?}");
        }
    }
}

/// The joined growth of a response; `None` where a limit or a missing field ends it.
fn grow(mut parser: DeltaParser, pieces: &[&str], certain: bool) -> Option<Vec<Growth<'static>>> {
    let (mut client, mut joined) = (Assembly::default(), Vec::new());
    let mut take = |growth: Growth<'_>| {
        client.add(&growth);
        push_joined(&mut joined, growth);
    };
    parser.initial_growth().iter().cloned().for_each(&mut take);
    for piece in pieces {
        let mut piece = *piece;
        while let Err(error) = parser.feed_with(piece, &mut take) {
            if error.is_final() {
                return None;
            }
            piece = "";
        }
    }
    while let Err(error) = parser.finalize_with(&mut take) {
        if error.is_final() {
            return None;
        }
    }
    let difference = client.difference(parser.parser().message());
    assert_eq!(difference, None, "cut as {pieces:?}");
    assert!(!certain || client.retractions() == 0, "{joined:?}");
    Some(joined)
}
