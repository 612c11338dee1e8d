//! The official SDKs as clients: what `openai` and `anthropic` assemble of a stream is the message.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use obverse::deltas::DeltaParser;
use obverse::deltas::encode::{Encoder, Ending, Protocol, Reply};
use obverse::value::{Key, Map, Value, json};

use super::{Fixed, fixtures};
use crate::support::random::Random;

/// The Python that has the SDKs: `OBVERSE_CLIENTS_PYTHON`, or that of `.venv-clients`.
fn python() -> Option<PathBuf> {
    let found = std::env::var_os("OBVERSE_CLIENTS_PYTHON")
        .map(PathBuf::from)
        .or_else(|| Some(super::root().join(".venv-clients/bin/python")))
        .filter(|path| path.exists());
    if found.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "CI must have the SDKs: `.ci/run` installs them"
        );
        println!("skipped: no SDKs; `tests/reference/install` sets them up");
    }
    found
}

fn ask(python: &Path, lines: &[String]) -> Vec<Value> {
    let mut child = Command::new(python)
        .arg(super::root().join("tests/reference/clients/assemble.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python starts");
    let mut input = child.stdin.take().expect("a pipe");
    let text = lines.join("\n") + "\n";
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("Python ends");
    writer.join().expect("a writer").expect("Python reads");
    assert!(output.status.success(), "assemble.py failed");
    let answers = String::from_utf8(output.stdout).expect("UTF-8");
    answers
        .lines()
        .map(|line| json::parse(line).expect("JSON"))
        .collect()
}

/// What clients are to see of a message.
fn seen(message: &Map, reply: &Reply, protocol: Protocol) -> Value {
    let texts = |keys: &[&str]| {
        let texts = keys.iter().filter_map(|key| message.get(key)?.as_str());
        Value::from(texts.collect::<String>())
    };
    let mut calls = Vec::new();
    for call in message
        .get("tool_calls")
        .and_then(Value::as_array)
        .unwrap_or_default()
    {
        let function = call.get("function").expect("a function");
        let made_up = format!("call_{}_{}", reply.id, calls.len());
        let arguments = function.get("arguments").cloned().unwrap_or_default();
        // Anthropic's SDK gives the value, and takes a string for the text of one; the others give the text.
        let arguments = match arguments {
            Value::String(text) => json::parse(&text).unwrap_or(Value::from(text)),
            other => other,
        };
        calls.push(Value::Object(
            [
                (
                    "id",
                    call.get("id").cloned().unwrap_or(Value::from(made_up)),
                ),
                ("name", function.get("name").cloned().expect("a name")),
                ("arguments", arguments),
            ]
            .into_iter()
            .map(|(key, value): (&str, Value)| (Key::from(key), value))
            .collect(),
        ));
    }
    let ending = match (protocol, calls.is_empty()) {
        (Protocol::OpenAi, true) => "stop",
        (Protocol::OpenAi, false) => "tool_calls",
        (Protocol::Anthropic, true) => "end_turn",
        (Protocol::Anthropic, false) => "tool_use",
        _ => "completed",
    };
    let members = [
        ("content", texts(&["content"])),
        (
            "reasoning",
            texts(&["thinking", "reasoning", "reasoning_content"]),
        ),
        ("calls", Value::Array(calls)),
        ("ending", Value::from(ending)),
    ];
    Value::Object(
        members
            .into_iter()
            .map(|(key, value): (&str, Value)| (Key::from(key), value))
            .collect(),
    )
}

/// The same of what a client said, the arguments parsed where they came as text.
fn parsed(mut answer: Value) -> Value {
    if let Value::Object(members) = &mut answer
        && let Some(Value::Array(calls)) = members.get_mut("calls")
    {
        for call in calls {
            if let Value::Object(call) = call
                && let Some(arguments) = call.get_mut("arguments")
                && let Some(value) = arguments.as_str().and_then(|text| json::parse(text).ok())
            {
                *arguments = value;
            }
        }
    }
    answer
}

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
            let question = [
                ("protocol", Value::from(protocol.name())),
                ("frames", Value::Array(frames)),
            ];
            let question: Map = question
                .into_iter()
                .map(|(key, value): (&str, Value)| (Key::from(key), value))
                .collect();
            lines.push(json::to_string(&Value::Object(question)));
            expected.push((
                format!("{name} by {}", protocol.name()),
                seen(&message, &reply, protocol),
            ));
        }
    }
    assert!(lines.len() > 200 * protocols, "{}", lines.len());
    let answers = ask(&python, &lines);
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
