//! The official SDKs as clients: what `openai` and `anthropic` assemble of a stream is the message.

use std::sync::Arc;

use obverse::deltas::DeltaParser;
use obverse::deltas::encode::{Encoder, Ending, Protocol, Reply};
use obverse::value::{Value, json};

use super::{Fixed, fixtures};
use crate::support::clients::{ask, object, parsed, python, seen};
use crate::support::random::Random;

/// Each fixture by one of the protocols, another than the fixture before it.
#[test]
fn the_sdks_assemble_every_fixture() {
    assembled(1);
}

#[test]
#[ignore = "half a minute; `.ci/run` runs it"]
fn the_sdks_assemble_every_fixture_by_every_protocol() {
    assembled(3);
}

fn assembled(protocols: usize) {
    let Some(python) = python() else { return };
    let mut random = Random::new(4);
    let (mut lines, mut expected) = (Vec::new(), Vec::new());
    for (index, fixed) in fixtures().into_iter().enumerate() {
        let Fixed {
            name,
            template,
            prefix,
            fixture,
        } = fixed;
        let all = [Protocol::OpenAi, Protocol::Responses, Protocol::Anthropic];
        for protocol in all.into_iter().cycle().skip(index).take(protocols) {
            let mut parser =
                DeltaParser::new(Arc::clone(&template), &prefix, &fixture.tools).expect("a prefix");
            let reply = Reply::default();
            let mut encoder = Encoder::new(protocol, reply.clone());
            let mut events = encoder.begin();
            let mut took_back = false;
            let mut take = |growth: &obverse::deltas::Growth<'_>, events: &mut Vec<Value>| {
                took_back |= growth.is_retraction();
                events.extend(encoder.grow(growth));
            };
            for growth in parser.initial_growth().to_vec() {
                take(&growth, &mut events);
            }
            for chunk in crate::support::parsing::cut(&mut random, &fixture.response) {
                for growth in parser.feed(chunk).unwrap_or_default() {
                    take(&growth, &mut events);
                }
            }
            let Ok((message, last)) = parser.finalize() else {
                continue;
            };
            for growth in last {
                take(&growth, &mut events);
            }
            // No protocol can take anything back.
            if took_back {
                assert!(name.ends_with("truncated"), "{name}");
                continue;
            }
            // Of arguments that are cut short Anthropic's SDK gives as much as it can read.
            let cut_short = |call: &Value| {
                let text = call
                    .get("function")
                    .and_then(|function| function.get("arguments")?.as_str());
                text.is_some_and(|text| json::parse(text).is_err())
            };
            let calls = message.get("tool_calls").and_then(Value::as_array);
            if protocol == Protocol::Anthropic && calls.unwrap_or_default().iter().any(cut_short) {
                assert!(name.ends_with("truncated"), "{name}");
                continue;
            }
            events.extend(encoder.end(Ending::Complete));
            let frames = events
                .iter()
                .map(|event| Value::from(protocol.frame(event)));
            let mut frames: Vec<Value> = frames.collect();
            frames.push(Value::from(protocol.last_frame()));
            frames.retain(|frame| frame.as_str() != Some(""));
            let question = object([
                ("protocol", Value::from(protocol.name())),
                ("frames", Value::Array(frames)),
            ]);
            lines.push(json::to_string(&question));
            expected.push((
                format!("{name} by {}", protocol.name()),
                seen(&message, &reply.id, protocol),
            ));
        }
    }
    assert!(lines.len() > 200 * protocols, "{}", lines.len());
    let answers = ask(&python, "clients/assemble.py", &lines);
    assert_eq!(answers.len(), expected.len());
    for ((name, expected), answer) in expected.into_iter().zip(answers) {
        assert_eq!(
            json::to_string(&parsed(answer)),
            json::to_string(&expected),
            "{name}"
        );
    }
    println!("{} streams", lines.len());
}
