//! Holding one fixture to what it records.

use std::sync::Arc;

use super::compare::{Difference, differences};
use super::cuts::Effort;
use super::fixture::Fixture;
use super::laws::{Broken, first_broken};
use super::replay::{Replay, Setting};
use crate::parser::{ParseError, Unclaimed};
use crate::response_template::ResponseTemplate;
use crate::value::Value;

/// Something about a response that is not as its fixture records, or that must hold for every response and does not.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Failure {
    /// The fixture records no message.
    NotRecorded,
    /// The message is another one.
    Message(Vec<Difference>),
    /// The response does not parse, and should.
    Unexpected(Box<ParseError>),
    /// The response must end in an error, and ends in another one or in none.
    OtherError {
        /// The error's kind and field, as recorded.
        expected: (String, Option<String>),
        /// The first error there is.
        found: Option<Box<ParseError>>,
    },
    /// Text that is in no field of the message, and that the fixture does not list; and what it lists that is in one, or not there.
    Unclaimed {
        /// The text that is not listed.
        unexpected: Vec<Unclaimed>,
        /// The text that is listed and not found.
        missing: Vec<String>,
    },
    /// The events are other ones.
    Events(Vec<Difference>),
    /// The message grows otherwise.
    Deltas(Vec<Difference>),
    /// A law is broken.
    Law(Broken),
}

/// Parses a fixture's response with the template, after the prompt, and says what is not as recorded; nothing when all is
/// well. Also returns what the response gives when it arrives at once.
pub fn check(
    fixture: &Fixture,
    template: &Arc<ResponseTemplate>,
    prefix: &str,
    effort: &Effort,
) -> (Replay, Vec<Failure>) {
    let setting = Setting {
        template,
        prefix,
        tools: &fixture.tools,
    };
    let mut whole = setting.replay([fixture.response.as_str()]);
    let records = fixture.deltas.is_some();
    whole.deltas = records.then(|| setting.deltas(&fixture.response));
    let mut failures = Vec::new();
    failures.extend(wrong_error(fixture, &whole));
    failures.extend(wrong_message(fixture, &whole));
    failures.extend(wrong_unclaimed(fixture, &whole));
    failures.extend(wrong_events(fixture, &whole));
    failures.extend(wrong_deltas(fixture, &whole));
    let recorded = fixture.chunks.as_ref().and_then(|chunks| {
        let replay = setting.replay(chunks.iter().map(String::as_str));
        (!replay.agrees(&whole)).then(|| Broken::Recorded(Box::new(replay)))
    });
    let broken = recorded.or_else(|| first_broken(&setting, &fixture.response, &whole, effort));
    failures.extend(broken.map(Failure::Law));
    (whole, failures)
}

fn wrong_message(fixture: &Fixture, whole: &Replay) -> Option<Failure> {
    let Some(expected) = &fixture.expected else {
        return Some(Failure::NotRecorded);
    };
    let found = Value::Object(whole.message.clone());
    let differences = differences(expected, &found);
    (!differences.is_empty()).then_some(Failure::Message(differences))
}

fn wrong_error(fixture: &Fixture, whole: &Replay) -> Option<Failure> {
    let found = whole.errors.first();
    match (&fixture.error, found) {
        (None, None) => None,
        (None, Some(found)) => Some(Failure::Unexpected(Box::new(found.clone()))),
        (Some(expected), Some(found))
            if expected.kind == found.kind.name() && expected.field == found.field =>
        {
            None
        }
        (Some(expected), found) => Some(Failure::OtherError {
            expected: (expected.kind.clone(), expected.field.clone()),
            found: found.cloned().map(Box::new),
        }),
    }
}

/// Each text that is listed stands for one stretch of that text, whatever the order.
fn wrong_unclaimed(fixture: &Fixture, whole: &Replay) -> Option<Failure> {
    // A fixture that records no message yet records no such texts either.
    fixture.expected.as_ref()?;
    let mut missing = fixture.unclaimed.clone();
    let mut unexpected = Vec::new();
    for lost in &whole.unclaimed {
        match missing.iter().position(|listed| *listed == lost.text) {
            Some(index) => {
                missing.remove(index);
            }
            None => unexpected.push(lost.clone()),
        }
    }
    (!unexpected.is_empty() || !missing.is_empty()).then_some(Failure::Unclaimed {
        unexpected,
        missing,
    })
}

fn wrong_events(fixture: &Fixture, whole: &Replay) -> Option<Failure> {
    let recorded = joined(fixture.events.as_deref()?);
    let found = whole
        .events
        .iter()
        .map(|event| Value::Object(event.to_map()))
        .collect::<Vec<_>>();
    let differences = differences(&recorded.into(), &found.into());
    (!differences.is_empty()).then_some(Failure::Events(differences))
}

fn wrong_deltas(fixture: &Fixture, whole: &Replay) -> Option<Failure> {
    let recorded = grown(fixture.deltas.as_deref()?);
    let found = whole.deltas.iter().flatten();
    let found: Vec<Value> = found.map(|growth| Value::Object(growth.to_map())).collect();
    let differences = differences(&recorded.into(), &found.into());
    (!differences.is_empty()).then_some(Failure::Deltas(differences))
}

/// Recorded deltas with adjacent pieces of one text, or of the arguments of one call, joined.
fn grown(deltas: &[Value]) -> Vec<Value> {
    let mut joined: Vec<Value> = Vec::new();
    for delta in deltas {
        let same = |key: &str, last: &Value| last.get(key) == delta.get(key);
        if let (Some(Value::Object(last)), Some(text)) =
            (joined.last_mut(), delta.get("text").and_then(Value::as_str))
        {
            let before = Value::Object(last.clone());
            if ["type", "path", "index"]
                .iter()
                .all(|key| same(key, &before))
                && let Some(Value::String(before)) = last.get_mut("text")
            {
                before.push_str(text);
                continue;
            }
        }
        joined.push(delta.clone());
    }
    joined
}

/// Recorded events with adjacent chunks of a region joined.
pub(super) fn joined(events: &[Value]) -> Vec<Value> {
    let text_of = |event: &Value| {
        let is_chunk = event.get("type").and_then(Value::as_str) == Some("region_chunk");
        event
            .get("text")
            .and_then(Value::as_str)
            .filter(|_| is_chunk)
            .map(str::to_owned)
    };
    let mut joined: Vec<Value> = Vec::new();
    for event in events {
        let before = joined.last().and_then(text_of);
        match (text_of(event), before, joined.last_mut()) {
            (Some(text), Some(before), Some(Value::Object(last))) => {
                last.insert("text".to_owned(), Value::from(before + &text));
            }
            _ => joined.push(event.clone()),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::super::fixture::ExpectedError;
    use super::*;
    use crate::value::json;

    const TEMPLATE: &str = r#"{"start_anchor": "A:", "fields": {"content": {"close_pattern": "<e>\\s*"},
        "calls": {"open": "<c>", "close": "</c>", "content": "json"}}}"#;

    fn fixture(response: &str, expected: &str) -> Fixture {
        Fixture {
            response: response.to_owned(),
            expected: Some(json::parse(expected).unwrap()),
            ..Fixture::default()
        }
    }

    fn failures(fixture: &Fixture) -> Vec<Failure> {
        let template = Arc::new(ResponseTemplate::from_json(TEMPLATE).unwrap());
        check(fixture, &template, "", &Effort::default()).1
    }

    /// Pieces of one text count as one, and what grows otherwise is a failure that is recorded anew.
    #[test]
    fn deltas_are_held_to_what_is_recorded() {
        let deltas = |texts: &[&str]| {
            let lines = texts.iter().map(|text| {
                json::parse(&format!(
                    r#"{{"type": "text", "path": ["content"], "text": {}}}"#,
                    json::quote(text)
                ))
                .unwrap()
            });
            Some(lines.collect::<Vec<_>>())
        };
        let mut sound = fixture("Hi there", r#"{"content": "Hi there"}"#);
        sound.deltas = deltas(&["Hi", " there"]);
        assert_eq!(failures(&sound), []);
        sound.deltas = deltas(&["Hi", " you"]);
        let [Failure::Deltas(found)] = &failures(&sound)[..] else {
            panic!("{:?}", failures(&sound));
        };
        assert_eq!(found.len(), 1);
        let template = Arc::new(ResponseTemplate::from_json(TEMPLATE).unwrap());
        let (whole, _) = check(&sound, &template, "", &Effort::default());
        assert_eq!(sound.with(&whole).deltas, deltas(&["Hi there"]));
    }

    #[test]
    fn a_fixture_that_holds_has_no_failure() {
        let mut sound = fixture("Hi<c>[1]</c>", r#"{"calls": [1], "content": "Hi"}"#);
        assert_eq!(failures(&sound), []);
        sound.chunks = Some(vec!["Hi<c".to_owned(), ">[1]</c>".to_owned()]);
        let events = r#"[{"type": "region_open", "field": "content"},
            {"type": "region_chunk", "field": "content", "text": "H", "dirty": false},
            {"type": "region_chunk", "field": "content", "text": "i", "dirty": false},
            {"type": "region_close", "field": "content", "value": "Hi"},
            {"type": "region_open", "field": "calls"},
            {"type": "region_chunk", "field": "calls", "text": "[1]", "dirty": true},
            {"type": "region_close", "field": "calls", "value": [1]}]"#;
        sound.events = json::parse(events)
            .unwrap()
            .as_array()
            .map(<[Value]>::to_vec);
        assert_eq!(failures(&sound), []);
        let wrong = json::parse(&events.replace("[1]}", "[2]}")).unwrap();
        sound.events = wrong.as_array().map(<[Value]>::to_vec);
        let [Failure::Events(found)] = &failures(&sound)[..] else {
            panic!("{:?}", failures(&sound));
        };
        assert_eq!(found[0].path.to_string(), "$[5].value[0]");
    }

    #[test]
    fn another_message_is_told_by_its_path() {
        let [Failure::Message(found)] = &failures(&fixture("Hi", r#"{"content": "Ho"}"#))[..]
        else {
            panic!("one failure");
        };
        assert_eq!(found[0].path.to_string(), "$.content");
        let unrecorded = Fixture {
            expected: None,
            ..fixture("Hi", "{}")
        };
        assert_eq!(failures(&unrecorded), [Failure::NotRecorded]);
    }

    #[test]
    fn an_error_must_be_the_recorded_one() {
        let mut broken = fixture("Hi<c>{oops</c>", r#"{"content": "Hi"}"#);
        assert!(matches!(&failures(&broken)[..], [Failure::Unexpected(_)]));
        let error = |kind: &str, field: &str| {
            Some(ExpectedError {
                kind: kind.to_owned(),
                field: Some(field.to_owned()),
            })
        };
        broken.error = error("json", "calls");
        assert_eq!(failures(&broken), []);
        broken.error = error("json", "content");
        assert!(matches!(
            &failures(&broken)[..],
            [Failure::OtherError { .. }]
        ));
        let mut sound = fixture("Hi", r#"{"content": "Hi"}"#);
        sound.error = error("json", "calls");
        assert!(matches!(
            &failures(&sound)[..],
            [Failure::OtherError { found: None, .. }]
        ));
    }

    #[test]
    fn text_that_no_field_takes_must_be_expected() {
        let tags = r#"{"start_anchor": "A:", "fields": {"content": {"open": "<a>", "close": "</a>", "repeats": true}}}"#;
        let template = Arc::new(ResponseTemplate::from_json(tags).unwrap());
        let failures = |unclaimed: &[&str]| {
            let fixture = Fixture {
                unclaimed: unclaimed.iter().map(|text| (*text).to_owned()).collect(),
                ..fixture(
                    "one <a>Hi</a>\n<a>Ho</a> two",
                    r#"{"content": ["Hi", "Ho"]}"#,
                )
            };
            check(&fixture, &template, "", &Effort::default()).1
        };
        assert_eq!(failures(&[" two", "one "]), []);
        let [
            Failure::Unclaimed {
                unexpected,
                missing,
            },
        ] = &failures(&["one ", "three"])[..]
        else {
            panic!("one failure");
        };
        assert_eq!((&*unexpected[0].text, unexpected.len()), (" two", 1));
        assert_eq!(unexpected[0].span, 23..27);
        assert_eq!(missing, &["three"]);
        let unrecorded = Fixture {
            expected: None,
            ..fixture("one", "{}")
        };
        let (replay, failures) = check(&unrecorded, &template, "", &Effort::default());
        assert_eq!(failures, [Failure::NotRecorded]);
        assert_eq!(unrecorded.with(&replay).unclaimed, ["one"]);
    }
}
