//! The official SDKs as clients: what `openai` and `anthropic` assemble of a stream is the message.

use std::sync::Arc;

use obverse::deltas::encode::{Encoder, Ending, Protocol, Reply};
use obverse::deltas::{DeltaParser, Growth, Options};
use obverse::value::{Map, Value, json};

use super::{Fixed, fixtures};
use crate::support::clients::{ask, object, parsed, python, seen};
use crate::support::parsing::cut;
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

/// A fixture as a server streams it.
struct Stream {
    /// What is sent.
    frames: Vec<Value>,
    message: Map,
    /// True if something was taken back, which no protocol can.
    took_back: bool,
}

/// The fixture by a protocol, in chunks; `None` where its message is refused.
fn stream(fixed: &Fixed, protocol: Protocol, certain: bool, random: &mut Random) -> Option<Stream> {
    let Fixed {
        template,
        prefix,
        fixture,
        ..
    } = fixed;
    let mut options = Options::default();
    options.certain = certain;
    let template = Arc::clone(template);
    let parser = DeltaParser::with_options(template, prefix, &fixture.tools, options);
    let mut parser = parser.expect("a prefix");
    let mut encoder = Encoder::new(protocol, Reply::default());
    let mut events = encoder.begin();
    let mut took_back = false;
    let mut take = |growth: &Growth<'_>| {
        took_back |= growth.is_retraction();
        events.extend(encoder.grow(growth));
    };
    parser.initial_growth().iter().for_each(&mut take);
    for chunk in cut(random, &fixture.response) {
        parser
            .feed(chunk)
            .unwrap_or_default()
            .iter()
            .for_each(&mut take);
    }
    let (message, last) = parser.finalize().ok()?;
    last.iter().for_each(&mut take);
    events.extend(encoder.end(Ending::Complete));
    let frames = events.iter().map(|event| protocol.frame(event));
    let frames = frames.chain([protocol.last_frame().to_owned()]);
    Some(Stream {
        frames: frames
            .filter(|frame| !frame.is_empty())
            .map(Value::from)
            .collect(),
        message,
        took_back,
    })
}

fn assembled(protocols: usize) {
    let Some(python) = python() else { return };
    let mut random = Random::new(4);
    let (mut lines, mut expected) = (Vec::new(), Vec::new());
    for (index, fixed) in fixtures().iter().enumerate() {
        let name = &fixed.name;
        let all = [Protocol::OpenAi, Protocol::Responses, Protocol::Anthropic];
        for protocol in all.into_iter().cycle().skip(index).take(protocols) {
            let Some(mut streamed) = stream(fixed, protocol, false, &mut random) else {
                continue;
            };
            if streamed.took_back {
                assert!(name.ends_with("truncated"), "{name}");
                let certain = stream(fixed, protocol, true, &mut random);
                streamed = certain.expect("the same message");
                assert!(!streamed.took_back, "{name}");
            }
            let Stream {
                frames, message, ..
            } = streamed;
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
            let question = object([
                ("protocol", Value::from(protocol.name())),
                ("frames", Value::Array(frames)),
            ]);
            lines.push(json::to_string(&question));
            expected.push((
                format!("{name} by {}", protocol.name()),
                seen(&message, &Reply::default().id, protocol),
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
