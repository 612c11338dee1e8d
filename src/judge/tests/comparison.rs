//! Tests of the comparison of a parsed message with the rendered one, and of a response parsed in pieces with the same one parsed as a
//! whole.

use std::rc::Rc;
use std::sync::Arc;

use super::super::compare::{expected_call, is_call};
use super::super::expected::{Expected, ExpectedCall};
use super::super::manner::Manner;
use super::super::message::ArgumentsForm;
use super::super::parses::{Parses, in_pieces, pieces};
use super::super::probes;
use super::super::slot::Slot;
use super::super::trial::Tried;
use super::*;
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value, json};

/// An expectation, written as the message that must come back: `musing` is the reasoning's key, `further` that of the further text.
fn expected(message: &str) -> Expected {
    let message = json::parse(message).unwrap();
    let text = |key: &str| {
        message
            .get(key)
            .map(|text| text.as_str().unwrap().to_owned())
    };
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let calls = calls.unwrap_or_default().iter().map(|call| {
        let function = call.get("function").unwrap();
        let name = function
            .get("name")
            .map(|name| name.as_str().unwrap().to_owned());
        let arguments = function.get("arguments").unwrap().as_object().unwrap();
        ExpectedCall {
            name,
            arguments: arguments.clone(),
            id: call.get("id").map(|id| id.as_str().unwrap().to_owned()),
            call: probes::call(0),
        }
    });
    Expected {
        reasoning: text("musing"),
        further: text("further"),
        content: text("content"),
        calls: calls.collect(),
    }
}

/// Without any render, so that what is lost in comparison is not found by rendering again: where a prompt is asked for what
/// follows it, there is nothing to render.
#[test]
fn a_parsed_message_is_compared_part_by_part() {
    let template = with_defaults(r#", "mood": """#, &[CONTENT]);
    let template = Arc::new(ResponseTemplate::from_json(&template).unwrap());
    let key = |keys: &[&str]| {
        Some(Slot::Key(
            keys.iter().map(|key| (*key).to_owned()).collect(),
        ))
    };
    let manner = Manner {
        reasoning: key(&["musing"]),
        further: key(&["further"]),
        ..Manner::usual(false)
    };
    let nested = Manner {
        reasoning: key(&["musing", "inner"]),
        ..manner.clone()
    };
    let aliases = ["alias".to_owned()];
    let parses = Rc::new(Parses::new(Arc::clone(&template), Scrutiny::Pieces));
    let tried = Tried::new(Some("renamed"), &aliases, parses);
    let one = r#"{"function": {"name": "f", "arguments": {"a": 1}}}"#;
    let calls = |calls: &[&str]| format!(r#"{{"tool_calls": [{}]}}"#, calls.join(", "));
    let (said, nothing) = (r#"{"content": "Oh"}"#, "{}");
    let (thought, more) = (r#"{"musing": "Hm"}"#, r#"{"further": "So"}"#);
    for (parsed, wanted, is_same) in [
        (said, said, true),
        (nothing, said, false),
        (r#"{"content": "O"}"#, said, false),
        (r#"{"content": ["Oh"]}"#, said, false),
        (said, nothing, false),
        (r#"{"content": ""}"#, nothing, true),
        (r#"{"content": null}"#, nothing, true),
        (r#"{"mood": ""}"#, nothing, true),
        (r#"{"mood": "good"}"#, nothing, false),
        (r#"{"other": ""}"#, nothing, false),
        (r#"{"role": "assistant"}"#, nothing, true),
        (r#"{"role": "user"}"#, nothing, false),
        (thought, thought, true),
        (nothing, thought, false),
        (thought, nothing, false),
        (r#"{"musing": "H"}"#, thought, false),
        (r#"{"alias": "Hm"}"#, thought, true),
        (r#"{"renamed": "Hm"}"#, thought, true),
        (r#"{"other": "Hm"}"#, thought, false),
        (r#"{"further": "Hm"}"#, thought, false),
        (r#"{"musing": "Hm", "alias": "Hm"}"#, thought, false),
        (more, more, true),
        (nothing, more, false),
        (r#"{"alias": "So"}"#, more, false),
        (&calls(&[one]), &calls(&[one]), true),
        (nothing, &calls(&[one]), false),
        (&calls(&[one]), nothing, false),
        (&calls(&[]), nothing, true),
        (&calls(&[one, one]), &calls(&[one]), false),
        (&calls(&[one]), &calls(&[one, one]), false),
        (&calls(&[&one.replace('f', "g")]), &calls(&[one]), false),
        (
            &calls(&[&one.replace(r#""name": "f", "#, "")]),
            &calls(&[one]),
            false,
        ),
        (
            &calls(&[one]),
            &calls(&[&one.replace(r#""name": "f", "#, "")]),
            true,
        ),
        (
            &calls(&[&one.replace(r#""a""#, r#""b""#)]),
            &calls(&[one]),
            false,
        ),
        (
            &calls(&[&one.replace(r#", "arguments": {"a": 1}"#, "")]),
            &calls(&[one]),
            false,
        ),
        (&calls(&["1"]), &calls(&[one]), false),
        (r#"{"tool_calls": {}}"#, nothing, false),
    ] {
        let found = json::parse(parsed).unwrap();
        let found = found.as_object().unwrap();
        let answer = tried.is_as_expected(found, &expected(wanted), &manner);
        assert_eq!(answer, is_same, "{parsed} for {wanted}");
        if wanted == thought {
            assert!(
                !tried.is_as_expected(found, &expected(wanted), &nested),
                "{parsed}"
            );
        }
    }
}

#[test]
fn an_argument_has_the_type_that_it_had() {
    let arguments = |value: &str| {
        let arguments = json::parse(&format!(r#"{{"a": {value}}}"#)).unwrap();
        arguments.as_object().unwrap().clone()
    };
    let values = [
        "1", "1.0", "\"1\"", "true", "null", "[1]", "\"[1]\"", "{}", "\"\"",
    ];
    for (value, other) in values
        .iter()
        .flat_map(|a| values.iter().map(move |b| (a, b)))
    {
        let expected = ExpectedCall {
            name: None,
            arguments: arguments(value),
            id: None,
            call: probes::call(0),
        };
        let found = expected_call(
            &ExpectedCall {
                arguments: arguments(other),
                ..expected.clone()
            },
            ArgumentsForm::Object,
        );
        let is_same = is_call(&found, &expected);
        assert_eq!(is_same, value == other, "{value} {other}");
    }
}

/// Arguments may be the text of their object. The second render tells if the chat template takes them so.
#[test]
fn arguments_may_be_a_text() {
    let wanted =
        &expected(r#"{"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}"#).calls
            [0];
    for (arguments, is_same) in [
        (r#"{"a": 1}"#, true),
        (r#""{\"a\": 1}""#, true),
        (r#""{\"a\": 2}""#, false),
        (r#""{\"a\": 1""#, false),
        ("[1]", false),
        ("null", false),
    ] {
        let found = format!(r#"{{"function": {{"name": "f", "arguments": {arguments}}}}}"#);
        let found = json::parse(&found).unwrap();
        assert_eq!(is_call(&found, wanted), is_same, "{arguments}");
    }
}

#[test]
fn arguments_as_a_text_are_right_only_where_the_chat_template_takes_them() {
    let call = |arguments: &str| {
        format!(
            "{{% for c in m.tool_calls or [] %}}<c>{{{{ c.function.name }}}}|{{{{ {arguments} }}}}</c>{{% endfor %}}"
        )
    };
    let fields = fields(&[
        r#""tool_calls": {"open_pattern": "<c>(?P<name>[\\w.-]+)\\|", "close": "</c>", "content": "text", "repeats": true,
        "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}}"#,
        REST,
    ]);
    let both =
        "c.function.arguments if c.function.arguments is string else c.function.arguments | tojson";
    for (written, comes_back) in [(both, true), ("c.function.arguments | tojson", false)] {
        let chat = chat(&[SAID, call(written).as_str()].concat(), "");
        let judgement = judged(&chat, &fields);
        assert_eq!(holds(&judgement, Kind::Call), comes_back, "{written}");
    }
}

/// The parser gives one answer for every chunking, so that a broken one is needed here.
#[test]
fn a_parser_that_parses_pieces_differently_is_found_out() {
    let said = |text: &str| Map::from_iter([("content".to_owned(), Value::from(text))]);
    let error = |parse: &dyn Fn(&[&str]) -> (Map, u32)| {
        let parse = |chunks: &[&str]| {
            let (message, events) = parse(chunks);
            (message, Ok(events))
        };
        in_pieces("Hello there", &[1, 7], parse)
    };
    let whole = said("Hello there");
    assert_eq!(
        error(&|chunks| (said(&chunks.concat()), 1)),
        (whole.clone(), None)
    );
    let told = |size: usize| {
        let error = format!("fed {size} characters at a time it parses differently");
        (whole.clone(), Some(error))
    };
    // Another message, and the same message with other events.
    let last = |chunks: &[&str]| (said(chunks[chunks.len() - 1]), 1);
    assert_eq!(error(&last), told(1));
    let two = |chunks: &[&str]| (said(&chunks.concat()), u32::from(chunks.len() == 2));
    assert_eq!(error(&two), told(7));
}

/// A response template that our parser reads alike in pieces, and transformers does not.
#[test]
fn what_transformers_reads_otherwise_in_pieces_does_not_come_back() {
    let calls = |text: &str, open: &str| text.replace("<c>", open).replace("</c>", "§");
    let chat = chat(&[SAID, &calls(CALLED, "§run§")].concat(), "");
    assert_all_back(&judged(&chat, &fields(&[CONTENT, &calls(CALLS, "§run§")])));
    let hasty = calls(CALLS, "(?:§run)?§").replace("open", "open_pattern");
    let judgement = judged(&chat, &fields(&[CONTENT, &hasty]));
    assert_kinds(&judgement, &[Kind::Call, Kind::Calls], &[Kind::Content]);
    assert_eq!(
        first_error(&judgement),
        r#"transformers, fed one character at a time, reads "§" otherwise"#
    );
}

#[test]
fn pieces_are_counted_in_characters() {
    assert_eq!(pieces("aéb", 1).collect::<Vec<_>>(), ["a", "é", "b"]);
    assert_eq!(pieces("aéb", 2).collect::<Vec<_>>(), ["aé", "b"]);
    assert_eq!(pieces("", 2).count(), 0);
}
