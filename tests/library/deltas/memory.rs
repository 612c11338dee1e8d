//! A parser that is to keep no message: the same growth, in memory that does not grow with the response.

use std::sync::Arc;

use obverse::deltas::{DeltaParser, DeltaTemplate, Growth, Options, push_joined};
use obverse::parser::OnError;
use obverse::response_template::ResponseTemplate;

use super::{Fixed, fixtures};
use crate::support::parsing::{characters, cut};
use crate::support::random::Random;

fn options(forget: bool) -> Options {
    let mut options = Options::default();
    options.parser.on_error = OnError::Keep;
    options.parser.forget = forget;
    options
}

#[test]
fn the_growth_of_fixtures_is_the_same() {
    let mut random = Random::new(7);
    let mut seen = 0;
    for Fixed {
        name,
        template,
        prefix,
        fixture,
    } in fixtures()
    {
        let grown = |forget: bool, certain: bool, chunks: &[&str]| {
            let mut all = options(forget);
            all.certain = certain;
            let parser =
                DeltaParser::with_options(Arc::clone(&template), &prefix, &fixture.tools, all);
            let mut parser = parser.expect("a prefix");
            let mut growth = parser.initial_growth().to_vec();
            let mut take = |one: Growth<'_>| push_joined(&mut growth, one);
            let fed = chunks
                .iter()
                .try_for_each(|chunk| parser.feed_with(chunk, &mut take));
            let ended = fed.and_then(|()| parser.finalize_with(&mut take));
            (growth, ended)
        };
        for chunks in [
            vec![fixture.response.as_str()],
            characters(&fixture.response),
            cut(&mut random, &fixture.response),
        ] {
            for certain in [false, true] {
                assert_eq!(
                    grown(true, certain, &chunks),
                    grown(false, certain, &chunks),
                    "{name}"
                );
            }
        }
        seen += 1;
    }
    assert!(seen > 250, "{seen}");
}

/// The most that is kept at any time while a response of about that size arrives, and how much text was passed on.
fn most_kept(forget: bool, size: usize) -> (usize, usize) {
    let template = ResponseTemplate::from_json(
        r#"{"start_anchor": "<bot>", "fields": {
            "thinking": {"open": "<think>", "close": "</think>", "join": "\n", "repeats": true},
            "content": {"close_pattern": "<end>\\s*", "join": "", "repeats": true},
            "tool_calls": {"open": "<call>", "close": "</call>", "repeats": true, "content": "json",
                "transform": {"type": "function", "function": "{content}"}}
        }}"#,
    );
    let template = DeltaTemplate::new(template.expect("a response template"));
    let mut parser =
        DeltaParser::with_options(template, "", &[], options(forget)).expect("no prefix");
    let (mut most, mut passed) = (0, 0);
    let mut feed = |text: &str| {
        let mut take = |growth: Growth<'_>| {
            if let Growth::Text { text, .. } | Growth::Arguments { text, .. } = growth {
                passed += text.len();
            }
        };
        for chunk in characters(text).chunks(4) {
            parser
                .feed_with(&chunk.concat(), &mut take)
                .expect("no error");
            most = most.max(parser.parser().kept_bytes());
        }
    };
    // Half of it is one text, the rest a thought and a call over and over.
    feed(&"word ".repeat(size / 10));
    for number in 0..size / 160 {
        feed("<think>A thought of some length</think>");
        feed(&format!(
            "<call>{{\"name\": \"f\", \"arguments\": {{\"n\": {number}}}}}</call>"
        ));
    }
    parser.finalize_with(&mut |_| ()).expect("a message");
    (most, passed)
}

#[test]
fn what_is_kept_does_not_grow_with_the_response() {
    let (small, _) = most_kept(true, 4 << 10);
    let (large, passed) = most_kept(true, 1 << 20);
    println!(
        "kept at most: {small} bytes of 4 KB, {large} bytes of 1 MB ({passed} bytes passed on)"
    );
    assert!(passed > 600 << 10, "{passed}");
    assert_eq!(small, large);
    assert!(large < 1 << 10, "{large}");
    let (all, _) = most_kept(false, 40 << 10);
    assert!(all > 20 << 10, "{all}");
}
