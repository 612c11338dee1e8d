//! What a response or a document can do to the parser: limits with a name, nothing rescanned, and never a panic.

use crate::support::parsing::{characters, misaccounted, parse};
use obverse::parser::{Limits, Options, ParseError, ResponseParser, Utf8Decoder};
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value, json};
use proptest::prelude::*;

fn template(text: &str) -> ResponseTemplate {
    ResponseTemplate::from_json(text).unwrap_or_else(|invalid| panic!("{text}: {invalid}"))
}

const CALLS: &str = r#"{
    "start_anchor": "A:",
    "fields": {
        "content": {},
        "tool_calls": {"open": "<call>", "close": "</call>", "content": "json", "repeats": true},
        "thinking": {"open_pattern": "<think>\\s*", "close": "</think>"}
    }
}"#;

/// Feeds the chunks until one fails; the error, and the message so far.
fn fail(template_text: &str, limits: Limits, chunks: &[&str]) -> (ParseError, Map) {
    let mut parser = ResponseParser::with_limits(template(template_text), "", &[], limits).unwrap();
    for chunk in chunks {
        if let Err(error) = parser.feed(chunk) {
            assert!(error.kind.is_limit(), "{error}");
            assert!(error.is_final());
            assert_eq!(parser.feed("more").unwrap_err(), error);
            assert_eq!(parser.finalize().unwrap_err(), error);
            return (error, parser.message().clone());
        }
    }
    panic!("no limit was met");
}

#[test]
fn a_region_has_a_greatest_size() {
    let limits = Limits::default().region_bytes(10);
    let chunks = ["<call>[1]</call><think>0123456", "789", "x</think>"];
    let (error, message) = fail(CALLS, limits, &chunks);
    assert_eq!(&*error.message, "the region is longer than 10 bytes");
    assert_eq!(error.field.as_deref(), Some("thinking"));
    assert_eq!(error.raw.as_deref(), Some("0123456789"));
    assert_eq!(error.span, Some(23..33));
    assert_eq!(json::to_string(&message.into()), r#"{"tool_calls": [[1]]}"#);
    // As much as is allowed.
    let mut parser = ResponseParser::with_limits(template(CALLS), "", &[], limits).unwrap();
    parser.feed("<think>0123456789</think>").unwrap();
    assert_eq!(
        parser.finalize().unwrap().0["thinking"],
        "0123456789".into()
    );
}

#[test]
fn held_text_has_a_greatest_size() {
    let limits = Limits::default().held_bytes(10);
    let greedy = r#"{"start_anchor": "A:", "fields": {"content": {"close_pattern": "<end>.*"}}}"#;
    let (error, _) = fail(greedy, limits, &["text <end>", "and more"]);
    assert_eq!(
        &*error.message,
        "more than 10 bytes are held for a delimiter that may be under way"
    );
    assert!(error.hint.is_some_and(|hint| hint.contains("match less")));
    assert_eq!(error.field.as_deref(), Some("content"));
    assert_eq!(error.raw.as_deref(), Some("text "));
    // What no delimiter needs is not held, however much it is.
    let mut parser = ResponseParser::with_limits(template(CALLS), "", &[], limits).unwrap();
    for _ in 0..10_000 {
        parser.feed("much text < ").unwrap();
    }
    parser.finalize().unwrap();
}

#[test]
fn regions_have_a_greatest_number() {
    let limits = Limits::default().regions(2);
    let (error, message) = fail(
        CALLS,
        limits,
        &["<call>1</call><call>2</call>", "<call>3</call>"],
    );
    assert_eq!(&*error.message, "there are more than 2 regions");
    assert!(
        error
            .hint
            .is_some_and(|hint| hint.contains("repeats itself"))
    );
    assert_eq!(error.raw.as_deref(), Some("3"));
    assert_eq!(
        json::to_string(&message.into()),
        r#"{"tool_calls": [1, 2]}"#
    );
}

#[test]
fn a_limit_is_met_by_one_byte_more_however_the_text_is_cut() {
    let region = Limits::default().region_bytes(10);
    let held = Limits::default().held_bytes(10);
    let to_the_end = r#"{"start_anchor": "A:", "fields": {"content": {"close_pattern": "<a>.*"}}}"#;
    let to_a_literal =
        r#"{"start_anchor": "A:", "fields": {"content": {"close_pattern": "<a>.*?</a>"}}}"#;
    for (document, limits, before, counted) in [
        (CALLS, region, "", ""),
        (CALLS, region, "so<think>", ""),
        (to_the_end, held, "so", "<a>"),
        (to_a_literal, held, "so", "<a>"),
    ] {
        for (bytes, enough) in [(10, true), (11, false)] {
            let text = format!("{before}{counted:y<bytes$}");
            let mut cuts = vec![vec!["", &text], characters(&text)];
            cuts.extend((0..text.len()).map(|at| vec![&text[..at], &text[at..]]));
            for chunks in cuts {
                let document = template(document);
                let mut parser =
                    ResponseParser::with_limits(document, "", &[], limits).expect("no prefix");
                let met = chunks.iter().find_map(|chunk| parser.feed(chunk).err());
                assert_eq!(met.is_none(), enough, "{chunks:?}");
            }
        }
    }
}

#[test]
fn delimiters_without_text_do_not_alternate_for_ever() {
    let idle = r#"{"start_anchor": "A:", "fields": {"x": {"open_pattern": "(?=b)", "close_pattern": "(?=b)"}, "content": {}}}"#;
    for chunks in [&["ab"][..], &["a", "b"]] {
        let (error, message) = fail(idle, Limits::default(), chunks);
        assert_eq!(
            &*error.message,
            "64 delimiters in a row match at byte 1 without taking any text"
        );
        assert!(
            error
                .hint
                .is_some_and(|hint| hint.contains("text to match"))
        );
        assert_eq!(message["content"], "a".into());
    }
    let options = Options::default().keep_delimiters(true);
    let mut parser = ResponseParser::with_options(template(idle), "", &[], options).unwrap();
    parser.feed("ab").unwrap_err();
    assert_eq!(parser.take_delimiters().len(), 64 + 1, "one too many");
}

#[test]
fn delimiters_without_text_between_them_are_many_at_will() {
    let response = "<think></think>".repeat(100) + "<call>1</call>";
    let outcome = parse(&template(CALLS), "", &[], &[&response]);
    assert_eq!(
        json::to_string(&outcome.result.expect("a message").into()),
        r#"{"tool_calls": [1]}"#
    );
}

#[test]
fn a_pattern_has_a_greatest_number_of_steps() {
    let slow = r#"{"start_anchor": "A:", "fields": {"content": {"close_pattern": "(?=(?:(a+)b?)*\\1c)"}}}"#;
    let response = "a".repeat(60) + "!";
    let (error, _) = fail(
        slow,
        Limits::default(),
        &[response.as_str(), "rest of it", "b"],
    );
    assert!(error.message.contains("steps"), "{error}");
}

#[test]
fn after_a_region_that_does_not_parse_the_rest_is_read() {
    let mut parser = ResponseParser::new(template(CALLS), "", &[]).unwrap();
    let error = parser
        .feed("<call>{</call>a<call>1</call>b<call>x")
        .unwrap_err();
    assert!(!error.is_final());
    assert_eq!((error.span, error.raw.as_deref()), (Some(6..7), Some("{")));
    parser.feed("").unwrap();
    let error = parser.finalize().unwrap_err();
    assert!(!error.is_final());
    assert_eq!(
        (error.span, error.raw.as_deref()),
        (Some(36..37), Some("x"))
    );
    let (message, _) = parser.finalize().unwrap();
    assert_eq!(
        json::to_string(&message.into()),
        r#"{"content": "b", "tool_calls": [1]}"#
    );
}

#[test]
fn what_a_delimiter_looks_back_at_is_kept() {
    let looking_back =
        r#"{"start_anchor": "A:", "fields": {"content": {"close_pattern": "(?<=end)\\."}}}"#;
    let long = "text ".repeat(10_000) + "end";
    let outcome = parse(&template(looking_back), "", &[], &[&long, ".", "more"]);
    assert_eq!(outcome.result.unwrap()["content"], "more".into());
    assert_eq!(outcome.events[1].len(), 0);
    assert_eq!(outcome.events[2].len(), 3);
}

#[test]
fn places_stay_right_when_what_was_read_is_dropped() {
    let long = "text ".repeat(2_000);
    // Each chunk ends inside a delimiter, so that what is read with the next lies behind what was held.
    let chunks = [
        "so <",
        &format!("b> {long}<"),
        &format!("call>[\"{long}\"]</"),
        &format!("call>{long}<ca"),
        "ll>{</call>",
    ];
    let response = chunks.concat();
    let whole = parse(&template(CALLS), "", &[], &[&response]);
    let outcome = parse(&template(CALLS), "", &[], &chunks);
    assert_eq!(outcome.essence(), whole.essence());
    let error = outcome.result.expect_err("no JSON").error;
    let broken = response.len() - "{</call>".len();
    assert_eq!(error.span, Some(broken..broken + 1));
}

#[test]
fn twenty_thousand_calls_in_one_piece() {
    let call = r#"Text. <call>{"name": "f", "arguments": {"text": "<think> < [x]"}}</call>"#;
    let response = call.repeat(20_000);
    let outcome = parse(&template(CALLS), "", &[], &[&response]);
    let message = outcome.result.unwrap();
    let calls = message["tool_calls"].as_array().unwrap();
    assert_eq!(calls.len(), 20_000);
    assert_eq!(message["content"], "Text.".into());
}

/// Text in which no delimiter begins is taken without asking them, and what one of them may look back at counts all the same.
#[test]
fn what_is_looked_back_at_has_a_greatest_size_too() {
    let limits = Limits::default().held_bytes(10);
    let looking_back = |what: &str| {
        format!(
            r#"{{"start_anchor": "A:", "fields": {{"content": {{"close_pattern": "(?<={what})\\."}}}}}}"#
        )
    };
    let (error, _) = fail(&looking_back("e.*nd"), limits, &["text ", "text ", "text "]);
    assert_eq!(
        &*error.message,
        "more than 10 bytes are held for a delimiter that may be under way"
    );
    // Of a stretch that is known to be short no more is kept than that, however much text comes in however small pieces.
    let options = Options::default().forget(true);
    let short = template(&looking_back("e\\\\s?nd"));
    let mut parser = ResponseParser::with_options(short, "", &[], options).unwrap();
    let mut most = 0;
    for _ in 0..20_000 {
        parser.feed("te ").unwrap();
        most = most.max(parser.kept_bytes());
    }
    assert!(most < 10_000, "{most}");
}

/// Documents that are nearly right: the right keys with all kinds of values.
fn documents() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[ab<>/ \\n]{0,4}",
        prop::sample::select(vec![
            "<a>",
            "</a>",
            "\\s*</a>",
            "(?=<)",
            "$",
            "(?P<n>a)",
            "a*",
            "(",
            "{n}",
            "{content}"
        ])
        .prop_map(str::to_owned),
        "\\PC{0,6}",
    ]
    .prop_map(Value::from);
    let leaf = prop_oneof![
        8 => text,
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    let keys = vec![
        "open",
        "open_pattern",
        "close",
        "close_pattern",
        "content",
        "content_args",
        "repeats",
        "join",
        "optional",
        "transform",
        "transform_each",
    ];
    let member = (prop::sample::select(keys), leaf.clone()).prop_flat_map(|(key, value)| {
        let value = match key {
            "content" => prop::sample::select(obverse::content::PARSERS.to_vec())
                .prop_map(Value::from)
                .boxed(),
            "repeats" | "optional" | "transform_each" => {
                any::<bool>().prop_map(Value::from).boxed()
            }
            "content_args" => Just(Value::Object(Map::new())).boxed(),
            _ => Just(value).boxed(),
        };
        value.prop_map(move |value| (key.to_owned(), value))
    });
    let field = prop::collection::vec(member, 0..5)
        .prop_map(|members| Value::Object(members.into_iter().collect()));
    let fields = prop::collection::vec(("[a-c]", field), 1..4);
    (leaf, fields).prop_map(|(anchor, fields)| {
        let fields: Map = fields.into_iter().collect();
        let mut document = Map::new();
        document.insert("start_anchor_pattern".to_owned(), anchor);
        document.insert("fields".to_owned(), fields.into());
        document.into()
    })
}

fn responses() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab<>/{}\" \\n]{0,30}",
        ".{0,30}",
        "(<a>|</a>|<|a|é| ){0,12}"
    ]
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A response is cut in two, in two with nothing between them, and into its characters.
fn cut(
    document: &Value,
    prefix: &str,
    response: &str,
    at: prop::sample::Index,
) -> Result<(), TestCaseError> {
    let Ok(template) = ResponseTemplate::from_value(document) else {
        return Ok(());
    };
    let whole = parse(&template, prefix, &[], &[response]);
    let cuts: Vec<usize> = (0..=response.len())
        .filter(|at| response.is_char_boundary(*at))
        .collect();
    let (head, tail) = response.split_at(*at.get(&cuts));
    for chunks in [&[head, tail][..], &[head, "", tail], &characters(response)] {
        prop_assert_eq!(
            whole.essence(),
            parse(&template, prefix, &[], chunks).essence()
        );
        prop_assert_eq!(misaccounted(&template, prefix, chunks), None);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(100_000))]

    #[test]
    #[ignore = "half a minute; `.ci/run` runs it"]
    fn nothing_panics_and_no_cut_matters_at_length(
        document in documents(),
        prefix in responses(),
        response in responses(),
        at in any::<prop::sample::Index>(),
    ) {
        cut(&document, &prefix, &response, at)?;
    }
}

proptest! {
    #![proptest_config(config(4_000))]

    #[test]
    fn nothing_panics_and_no_cut_matters(
        document in documents(),
        prefix in responses(),
        response in responses(),
        at in any::<prop::sample::Index>(),
    ) {
        cut(&document, &prefix, &response, at)?;
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..40), at in any::<prop::sample::Index>()) {
        let (head, tail) = bytes.split_at(at.index(bytes.len() + 1));
        let mut decoder = Utf8Decoder::default();
        let decoded = decoder
            .push(head)
            .and_then(|text| Ok(text + &decoder.push(tail)?))
            .and_then(|text| decoder.finish().map(|()| text));
        match std::str::from_utf8(&bytes) {
            Ok(text) => prop_assert_eq!(decoded.as_deref(), Ok(text)),
            Err(error) => {
                let found = decoded.unwrap_err();
                prop_assert_eq!(found.offset, error.valid_up_to());
                prop_assert_eq!(found.truncated, error.error_len().is_none());
            }
        }
    }
}
