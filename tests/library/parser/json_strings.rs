//! Delimiters inside the strings of a `json` region, for who asks that they do not count: whole, and however it is cut.

use crate::support::parsing::{characters, cut, short};
use crate::support::random::Random;
use obverse::parser::{OnError, Options, ResponseParser, join_chunks};
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value, json};

const CALLS: &str = r#"{
    "start_anchor": "A:",
    "fields": {
        "content": {},
        "calls": {"open": "<call>", "close_pattern": "\\s*</call>", "content": "json", "repeats": true},
        "args": {"open": "<args>", "close": ["</args>", "<end"], "content": "json", "repeats": true,
                 "content_args": {"unquoted_keys": true, "string_delims": [["<s>", "</s>"]]}},
        "loose": {"open": "<loose>", "close": "</loose>", "content": "json", "repeats": true,
                  "content_args": {"allow_non_json": true}},
        "text": {"open": "<text>", "close": "</text>", "repeats": true}
    }
}"#;

/// An implicit field that is JSON, and looks back.
const IMPLICIT: &str = r#"{
    "start_anchor": "A:",
    "fields": {
        "value": {"close_pattern": "(?<=.)</v>", "content": "json", "repeats": true},
        "note": {"open": "<note>", "close": "</note>", "repeats": true}
    }
}"#;

/// The message, the joined events and the errors of a response in these chunks.
fn read(template: &str, skip_json_strings: bool, chunks: &[&str]) -> (String, String) {
    let template = ResponseTemplate::from_json(template).expect("a template");
    let options = Options::default()
        .skip_json_strings(skip_json_strings)
        .on_error(OnError::Keep);
    let mut parser = ResponseParser::with_options(template, "", &[], options).expect("no prefix");
    let mut events = Vec::new();
    for chunk in chunks {
        events.extend(parser.feed(chunk).expect("errors are kept"));
    }
    let (message, last) = parser.finalize().expect("a message");
    events.extend(last);
    (
        json::to_string(&Value::Object(message)),
        short(&join_chunks(events)),
    )
}

/// What the response comes to, which no cut changes.
fn message(template: &str, response: &str) -> String {
    let whole = read(template, true, &[response]);
    let mut random = Random::new(5);
    let mut cuts = vec![characters(response)];
    cuts.extend((0..50).map(|_| cut(&mut random, response)));
    for (at, _) in response.char_indices() {
        let (head, tail) = response.split_at(at);
        cuts.push(vec![head, "", tail]);
    }
    for chunks in cuts {
        assert_eq!(read(template, true, &chunks), whole, "{chunks:?}");
    }
    whole.0
}

#[test]
fn the_reference_closes_and_so_does_the_default() {
    let response = r#"<call>{"a": "</call>"}</call>"#;
    assert!(!Options::default().skip_json_strings);
    assert_eq!(
        read(CALLS, false, &[response]).0,
        r#"{"content": "\"}</call>"}"#
    );
    assert_eq!(message(CALLS, response), r#"{"calls": [{"a": "</call>"}]}"#);
}

#[test]
fn strings_end_where_json_ends_them() {
    for (response, expected) in [
        (
            r#"<call>{"a\"</call>": ["\\", "x  </call> y", "é</call>"]}  </call> b"#,
            r#"{"calls": [{"a\"</call>": ["\\", "x  </call> y", "é</call>"]}], "content": "b"}"#,
        ),
        (
            r#"<call>"</call>"</call><call>""</call><call>[]</call>"#,
            r#"{"calls": ["</call>", "", []]}"#,
        ),
        // A text that was never a string, or is none any more, hides no delimiter.
        ("<call>{\"a\": \"b\n</call>c\"", r#"{"content": "c\""}"#),
        (r#"<call>["\x</call>c"#, r#"{"content": "c"}"#),
        (r#"<call>{} "</call>c"#, r#"{"content": "c"}"#),
        (r#"<call>no "</call>c"#, r#"{"content": "c"}"#),
        (
            r#"<loose>she said "hi</loose> there"#,
            r#"{"loose": ["she said \"hi"], "content": "there"}"#,
        ),
        (
            r#"<loose>["</loose>"]</loose>"#,
            r#"{"loose": [["</loose>"]]}"#,
        ),
        // One that does not end takes the rest, as the end of the response does.
        (r#"a<call>{"b": "</call> c"#, r#"{"content": "a"}"#),
        (r#"a<call>{"b": "\"#, r#"{"content": "a"}"#),
        // Other regions have no strings.
        (r#"<text>"</text>""#, r#"{"text": ["\""], "content": "\""}"#),
    ] {
        assert_eq!(message(CALLS, response), expected, "{response}");
    }
}

#[test]
fn a_dialect_has_strings_of_its_own() {
    for (response, expected) in [
        (
            "<args>{a:<s></args>\n\"</s>,b:\"</args>\"}</args>c",
            r#"{"args": [{"a": "</args>\n\"", "b": "</args>"}], "content": "c"}"#,
        ),
        (
            "<args>{a:<s><end</s>}<end c",
            r#"{"args": [{"a": "<end"}], "content": "c"}"#,
        ),
        // Not in a string, but where one begins.
        ("<args>{a:<s", r#"{}"#),
    ] {
        assert_eq!(message(CALLS, response), expected, "{response}");
    }
}

#[test]
fn an_implicit_field_may_have_strings() {
    assert_eq!(
        message(
            IMPLICIT,
            r#"{"a": "</v><note>"}</v> <note>"</note>["</v>"]"#
        ),
        r#"{"value": [{"a": "</v><note>"}, ["</v>"]], "note": ["\""]}"#
    );
}

#[test]
fn no_cut_of_a_generated_response_matters() {
    let pieces = [
        "<call>", "</call>", "<args>", "</args>", "</", "<s>", "</s>", "<end", "\"", "\\", "\\\"",
        "{", "}", "[", "]", ":", ",", "a", "1", " ", "\n", "é", "<loose>", "</loose>",
    ];
    let mut random = Random::new(11);
    for _ in 0..4000 {
        let length = random.below(24);
        let response: String = (0..length).map(|_| random.pick(&pieces)).collect();
        let whole = read(CALLS, true, &[&response]);
        for chunks in [characters(&response), cut(&mut random, &response)] {
            assert_eq!(
                read(CALLS, true, &chunks),
                whole,
                "{response:?} as {chunks:?}"
            );
        }
    }
}

#[test]
fn reading_strings_is_linear() {
    let one = r#"{"a": "</call> \" </call>", "b": [1, "</call>"]},"#;
    let time = |count: usize| {
        let response = format!("<call>[{}1]</call>", one.repeat(count));
        let chunks: Vec<&str> = response
            .as_bytes()
            .chunks(64)
            .map(|chunk| std::str::from_utf8(chunk).expect("ASCII"))
            .collect();
        let start = std::time::Instant::now();
        let (message, _) = read(CALLS, true, &chunks);
        let members: Map = match json::parse(&message) {
            Ok(Value::Object(members)) => members,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            members["calls"].as_array().expect("calls")[0]
                .as_array()
                .map(<[Value]>::len),
            Some(count + 1)
        );
        start.elapsed()
    };
    let (short, long) = (
        time(1_000).max(std::time::Duration::from_millis(5)),
        time(16_000),
    );
    assert!(
        long < short * 120,
        "{short:?}, sixteen times as much {long:?}"
    );
}
