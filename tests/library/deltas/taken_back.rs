//! What clients of a server are sent where something is taken back, and closes that repeat a key.

use std::sync::Arc;

use obverse::deltas::encode::{Encoder, Ending, Protocol, Reply, Whole};
use obverse::deltas::{DeltaParser, DeltaTemplate, Growth, push_joined};
use obverse::response_template::ResponseTemplate;
use obverse::value::json;

const LIST: &str = r#"{
    "start_anchor": "A:",
    "fields": {
        "content": {"repeats": true},
        "tool_calls": {"open": "<c>", "close": "</c>", "content": "json", "transform_each": true,
                       "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}}}
    }
}"#;

const KEYED: &str = r#"{
    "start_anchor": "A:",
    "fields": {
        "content": {},
        "tool_calls": {"open_pattern": "<c=(?P<name>\\w+)>", "close": "</c>", "repeats": true,
                       "content": "xml-inline", "content_args": {"tag_pattern": "<(?P<key>[^<>/]+)>(?P<value>.*?)</(?P=key)>"},
                       "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}}
    }
}"#;

fn growth(template: &str, chunks: &[&str]) -> Vec<Growth<'static>> {
    let template = ResponseTemplate::from_json(template).expect("a template");
    let template = Arc::new(DeltaTemplate::new(template));
    let mut parser = DeltaParser::new(template, "", &[]).expect("a parser");
    let mut growth: Vec<_> = parser.initial_growth().to_vec();
    for chunk in chunks {
        growth.extend(parser.feed(chunk).expect("growth"));
    }
    growth.extend(parser.finalize().expect("a message").1);
    growth
}

fn lines(growth: Vec<Growth<'static>>) -> Vec<String> {
    let mut joined = Vec::new();
    for one in growth {
        push_joined(&mut joined, one);
    }
    let lines = joined
        .iter()
        .map(|one| json::to_string(&one.to_map().into()));
    lines.collect()
}

/// The first of three calls is whole, the second has a name twice, and the third comes behind that.
const TWICE: &str = r#"<c>[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {"a": 2}, "name": "h"}, {"name": "i", "arguments": {}}]</c>"#;

#[test]
fn a_call_in_the_place_of_another_names_it() {
    assert_eq!(
        lines(growth(LIST, &[TWICE])),
        [
            r#"{"type": "call", "index": 0, "path": ["tool_calls", 0], "name": "f"}"#,
            r#"{"type": "arguments", "index": 0, "text": "{\"a\": 1}"}"#,
            r#"{"type": "call", "index": 1, "path": ["tool_calls", 1], "name": "g"}"#,
            r#"{"type": "arguments", "index": 1, "text": "{\"a\": 2}"}"#,
            r#"{"type": "call_dropped", "index": 0}"#,
            r#"{"type": "call_dropped", "index": 1}"#,
            r#"{"type": "call", "index": 2, "path": ["tool_calls", 0], "name": "f", "replaces": 0}"#,
            r#"{"type": "arguments", "index": 2, "text": "{\"a\": 1}"}"#,
            r#"{"type": "call_done", "index": 2}"#,
            r#"{"type": "call", "index": 3, "path": ["tool_calls", 1], "name": "h", "replaces": 1}"#,
            r#"{"type": "arguments", "index": 3, "text": "{\"a\": 2}"}"#,
            r#"{"type": "call_done", "index": 3}"#,
            r#"{"type": "call", "index": 4, "path": ["tool_calls", 2], "name": "i"}"#,
            r#"{"type": "arguments", "index": 4, "text": "{}"}"#,
            r#"{"type": "call_done", "index": 4}"#,
        ]
    );
}

#[test]
fn no_client_is_sent_a_call_twice() {
    let growth = growth(LIST, &[TWICE]);
    for (protocol, calls, name, arguments) in [
        (
            Protocol::OpenAi,
            "/choices/0/message/tool_calls",
            "/function/name",
            "/function/arguments",
        ),
        (Protocol::Responses, "/output", "/name", "/arguments"),
        (Protocol::Anthropic, "/content", "/name", "/input"),
    ] {
        let mut encoder = Encoder::new(protocol, Reply::default());
        let mut whole = Whole::new(protocol);
        let mut events = encoder.begin();
        events.extend(growth.iter().flat_map(|one| encoder.grow(one)));
        events.extend(encoder.end(Ending::Complete));
        for event in events {
            whole.add(event);
        }
        let answer = serde_json::to_value(whole.finish()).expect("JSON");
        let calls = answer.pointer(calls).and_then(|calls| calls.as_array());
        let calls = calls.unwrap_or_else(|| panic!("calls in {answer}"));
        let told: Vec<String> = calls
            .iter()
            .map(|call| {
                let arguments = &call.pointer(arguments).expect("arguments");
                let text = arguments
                    .as_str()
                    .map_or_else(|| arguments.to_string(), str::to_owned);
                format!(
                    "{} {}",
                    call.pointer(name).expect("a name"),
                    text.replace(' ', "")
                )
            })
            .collect();
        let expected = [r#""f" {"a":1}"#, r#""g" {"a":2}"#, r#""i" {}"#];
        assert_eq!(told, expected, "{protocol:?}");
    }
}

#[test]
fn chunks_of_chat_completions_number_calls_without_gaps() {
    let mut encoder = Encoder::new(Protocol::OpenAi, Reply::default());
    let mut numbers = Vec::new();
    for one in growth(LIST, &[TWICE]) {
        for event in encoder.grow(&one) {
            let event = serde_json::to_value(event).expect("JSON");
            let number = event.pointer("/choices/0/delta/tool_calls/0/index");
            numbers.extend(number.and_then(serde_json::Value::as_u64));
        }
    }
    assert_eq!(numbers, [0, 0, 1, 1, 2, 2]);
}

#[test]
fn a_value_whose_close_repeats_the_key_is_passed_on_as_it_is_written() {
    let chunks = ["<c=f><a.b>Pa", "ris</axb> </a", ".b><n>1", "2</n></c>"];
    let texts: Vec<String> = growth(KEYED, &chunks)
        .iter()
        .filter_map(|one| match one {
            Growth::Arguments { text, .. } => Some(text.clone().into_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(texts[..3], [r#"{"a.b": "#, r#""Pa"#, "ris</axb> "]);
    assert_eq!(texts.concat(), r#"{"a.b": "Paris</axb> ", "n": "12"}"#);
    // Of a key that is too long no pattern is made, and the value comes when it is whole.
    let key = "k".repeat(300);
    let response = format!("<c=f><{key}>v</{key}><a>1</a></c>");
    let told = lines(growth(KEYED, &[&response])).concat();
    assert!(
        told.contains(&format!(r#"{{\"{key}\": \"v\", \"a\": \"1\"}}"#)),
        "{told}"
    );
    assert!(!told.contains("dropped"), "{told}");
}
