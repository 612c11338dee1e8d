//! What becomes of a region that does not parse: its error is returned, or it is kept; whole, and however it is cut.

use crate::support::parsing::{characters, cut, short};
use crate::support::random::Random;
use obverse::parser::{
    ErrorKind, Event, LimitKind, Limits, OnError, Options, ParseError, ResponseParser, join_chunks,
};
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value, json};

const CALLS: &str = r#"{
    "defaults": {"other": "text"},
    "start_anchor": "A:",
    "fields": {
        "content": {},
        "tool_calls": {"open_pattern": "<call(?: \\w+)?>", "close": "</call>", "content": "json", "repeats": true},
        "other": {"open": "<other>", "close": "</other>", "repeats": true},
        "count": {"open": "<n>", "close": "</n>", "content": "int", "optional": false}
    }
}"#;

const RESPONSE: &str =
    "Zwölf: <call>{\"a\": [1, é]</call> <call>{}</call><n>1x</n><other>x</other><call 2>[1]</call>";

fn parser(prefix: &str, options: Options) -> Result<ResponseParser, ParseError> {
    let template = ResponseTemplate::from_json(CALLS).expect("a template");
    ResponseParser::with_options(template, prefix, &[], options)
}

fn keep() -> Options {
    Options::default().on_error(OnError::Keep)
}

/// All that a parser in one mode has to say: the events joined, the errors that it returned, and how it ended.
#[derive(Debug, PartialEq)]
struct Outcome {
    events: String,
    returned: Vec<ParseError>,
    end: Result<Map, ParseError>,
    malformed: Vec<ParseError>,
}

/// Feeds the chunks, and goes on after each error that lets it.
fn read(options: Options, chunks: &[&str]) -> Outcome {
    let mut parser = parser("", options).expect("no prefix");
    let mut returned = Vec::new();
    let mut events = Vec::new();
    for chunk in chunks {
        let mut now = parser.feed(chunk);
        while let Err(error) = now {
            returned.push(error);
            now = parser.feed("");
        }
        events.extend(now.expect("events"));
    }
    let end = parser.finalize().map(|(message, last)| {
        events.extend(last);
        message
    });
    Outcome {
        events: short(&join_chunks(events)),
        returned,
        end,
        malformed: parser.malformed().to_vec(),
    }
}

/// The response whole, in characters, cut once at every place, and at random.
fn cuts() -> Vec<Vec<&'static str>> {
    let mut all = vec![vec![RESPONSE], characters(RESPONSE)];
    for (at, _) in RESPONSE.char_indices().skip(1) {
        let (head, tail) = RESPONSE.split_at(at);
        all.push(vec![head, tail]);
    }
    let mut random = Random::new(3);
    all.extend((0..50).map(|_| cut(&mut random, RESPONSE)));
    all
}

fn regions(errors: &[ParseError]) -> Vec<(&str, &str, &str)> {
    errors
        .iter()
        .map(|error| {
            let raw = error.raw.as_deref().expect("its text");
            let span = error.span.clone().expect("its place");
            assert_eq!(&RESPONSE[span], raw);
            (error.kind.name(), error.field.as_deref().unwrap_or(""), raw)
        })
        .collect()
}

const BROKEN: [(&str, &str, &str); 3] = [
    ("json", "tool_calls", "{\"a\": [1, é]"),
    ("int", "count", "1x"),
    ("merge", "other", "x"),
];

#[test]
fn errors_are_returned_unless_asked_otherwise() {
    assert_eq!(Options::default().on_error, OnError::Return);
    let whole = read(Options::default(), &[RESPONSE]);
    assert_eq!(regions(&whole.returned), BROKEN);
    assert!(whole.malformed.is_empty());
    assert!(!whole.events.contains("error"), "{}", whole.events);
    assert_eq!(whole.end.as_ref().unwrap_err().kind, ErrorKind::Required);
    for chunks in cuts() {
        assert_eq!(read(Options::default(), &chunks), whole, "{chunks:?}");
    }
}

#[test]
fn broken_regions_are_kept_when_asked_for() {
    let whole = read(keep(), &[RESPONSE]);
    assert_eq!(whole.returned, []);
    assert_eq!(regions(&whole.malformed), BROKEN);
    let expected = r#"[["open", "content"], ["chunk", "content", "Zwölf: "], ["close", "content", "Zwölf:"],
        ["open", "tool_calls"], ["dirty", "tool_calls", "{\"a\": [1, é]"], ["error", "tool_calls", "{\"a\": [1, é]"],
        ["open", "content"], ["chunk", "content", " "], ["close", "content", ""],
        ["open", "tool_calls"], ["dirty", "tool_calls", "{}"], ["close", "tool_calls", {}],
        ["open", "count"], ["chunk", "count", "1x"], ["error", "count", "1x"],
        ["open", "other"], ["chunk", "other", "x"], ["error", "other", "x"],
        ["open", "tool_calls"], ["dirty", "tool_calls", "[1]"], ["close", "tool_calls", [1]]]"#;
    let expected = json::to_string(&json::parse(expected).expect("JSON"));
    assert_eq!(whole.events, expected);
    for chunks in cuts() {
        assert_eq!(read(keep(), &chunks), whole, "{chunks:?}");
    }
}

#[test]
fn what_is_kept_does_not_fill_a_required_field() {
    let error = read(keep(), &[RESPONSE]).end.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Required);
    let message = read(keep(), &[RESPONSE, "<n>3</n>"]).end.expect("a count");
    assert_eq!(
        json::to_string(&Value::Object(message)),
        r#"{"other": "text", "tool_calls": [{}, [1]], "count": 3}"#
    );
}

#[test]
fn a_region_that_the_prefix_breaks_is_kept_too() {
    let prefix = "A:<n>x</n>";
    let mut parser = parser(prefix, keep()).expect("kept");
    assert!(matches!(
        parser.initial_events().last(),
        Some(Event::RegionError { field, error }) if field == "count" && error.raw.as_deref() == Some("x")
    ));
    assert_eq!(parser.malformed().len(), 1);
    parser.feed("<n>4</n>").expect("a count");
    assert_eq!(parser.finalize().expect("a message").0["count"], 4.into());
}

#[test]
fn a_region_that_the_prefix_breaks_is_the_error_of_the_first_call() {
    let prefix = "A:<call>1</call><n>x</n><other>y";
    let mut fed = parser(prefix, Options::default()).expect("a parser");
    assert_eq!(fed.initial_events().len(), 5);
    let error = fed.feed("</other><n>4</n>").expect_err("not an integer");
    assert_eq!(
        (error.kind.name(), error.raw.as_deref()),
        ("int", Some("x"))
    );
    assert_eq!(
        json::to_string(&Value::Object(fed.message().clone())),
        r#"{"other": "text", "tool_calls": [1]}"#
    );
    // What follows it, the prefix's rest included, is read by the next call.
    let error = fed.feed("").expect_err("`other` is no list");
    assert_eq!(
        (error.kind.name(), error.raw.as_deref()),
        ("merge", Some("y"))
    );
    fed.feed("").expect("a count");
    assert_eq!(fed.finalize().expect("a message").0["count"], 4.into());
    let mut ended = parser(prefix, Options::default()).expect("a parser");
    assert!(!ended.finalize().expect_err("not an integer").is_final());
    assert_eq!(ended.message()["tool_calls"], Value::Array(vec![1.into()]));
}

#[test]
fn a_region_cut_off_by_the_end_is_kept() {
    let mut parser = parser("", keep()).expect("no prefix");
    parser.feed("<n>1</n><call>{\"a\": ").expect("kept");
    let (message, events) = parser.finalize().expect("a message");
    assert_eq!(
        json::to_string(&Value::Object(message)),
        r#"{"other": "text", "count": 1}"#
    );
    assert_eq!(
        serde_json::to_value(events.last()).expect("JSON")["error"]["raw"],
        "{\"a\": "
    );
}

#[test]
fn limits_are_returned_all_the_same() {
    let limits = Limits::default().regions(2);
    let mut parser = parser("", keep().limits(limits)).expect("no prefix");
    parser.feed("<call>{</call><call>{</call>").expect("kept");
    let error = parser.feed("<call>{</call>").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Limit(LimitKind::Regions));
    assert_eq!(parser.malformed().len(), 2);
}
