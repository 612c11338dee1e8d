//! The fixtures that a template should have, filled in from its chat template.

use std::sync::Arc;

use super::fixture::{ExpectedError, Fixture, Prompt};
use super::replay::{Replay, Setting};
use crate::derive::Case;
use crate::parser::Event;
use crate::response_template::ResponseTemplate;
use crate::value::{Value, json};

/// A fixture of the checklist.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Scaffold {
    /// Its name, as a folder.
    pub name: &'static str,
    /// The fixture; `None` where nothing is known that could fill it in.
    pub fixture: Option<Fixture>,
}

/// The parts of a message that tell which place of the checklist it can fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parts {
    content: bool,
    reasoning: bool,
    calls: usize,
    /// True if each call has arguments, and none of them is empty.
    arguments: bool,
}

/// The checklist that reviewers of templates use: plain content, reasoning and content, one call, parallel calls, and a response that
/// ends too early. Each is filled with the shortest of the `cases` that fits, a call with arguments rather than one without, and
/// its message is what the template gives; where no case fits, nothing of the kind was proved.
pub fn scaffold(template: &Arc<ResponseTemplate>, cases: &[Case]) -> Vec<Scaffold> {
    let shortest = |fits: &dyn Fn(Parts) -> bool| {
        cases
            .iter()
            .filter(|case| fits(Parts::of(&case.message)))
            .min_by_key(|case| (case.response.len(), case.prefix.len()))
    };
    let with_arguments = |fits: &dyn Fn(usize) -> bool| {
        shortest(&|parts| fits(parts.calls) && parts.arguments)
            .or_else(|| shortest(&|parts| fits(parts.calls)))
    };
    let plain = shortest(&|parts| parts.content && !parts.reasoning && parts.calls == 0);
    let reasoning = shortest(&|parts| parts.content && parts.reasoning && parts.calls == 0);
    let call = with_arguments(&|calls| calls == 1);
    let calls = with_arguments(&|calls| calls > 1);
    let whole =
        |case: Option<&Case>| case.map(|case| recorded(template, case, case.response.len()));
    let truncated = call.or(reasoning).or(plain).map(|case| {
        let end = too_early(template, case);
        recorded(template, case, end)
    });
    [
        ("plain", whole(plain)),
        ("reasoning", whole(reasoning)),
        ("one_call", whole(call)),
        ("parallel_calls", whole(calls)),
        ("truncated", truncated),
    ]
    .map(|(name, fixture)| Scaffold { name, fixture })
    .into()
}

/// The middle of the text of the last region that has some, as a byte offset in the response: a model that runs out of tokens
/// seldom does so inside a delimiter.
fn too_early(template: &Arc<ResponseTemplate>, case: &Case) -> usize {
    let replay = Setting::of(template, case).replay([case.response.as_str()]);
    let texts = replay.events.iter().rev().filter_map(|event| match event {
        Event::RegionChunk { text, .. } if !text.trim().is_empty() => Some(text.as_ref()),
        _ => None,
    });
    let middle = texts
        .filter_map(|text| Some(case.response.rfind(text)? + text.len() / 2))
        .next()
        .unwrap_or(case.response.len() / 2);
    case.response.floor_char_boundary(middle)
}

impl Parts {
    fn of(message: &Value) -> Self {
        let has = |key: &str| message.get(key).is_some_and(Value::is_truthy);
        let others = message.as_object().into_iter().flatten();
        let calls = message
            .get("tool_calls")
            .and_then(Value::as_array)
            .unwrap_or_default();
        // A call, or the function that it names; arguments may be an object, or one written as a string.
        let arguments = |call: &Value| {
            let function = call.get("function").unwrap_or(call);
            let given = function.get("arguments")?;
            let written = given.as_str().and_then(|text| json::parse(text).ok());
            let given = written.as_ref().unwrap_or(given).as_object()?;
            Some(!given.is_empty() && given.values().all(Value::is_truthy))
        };
        Self {
            content: has("content"),
            reasoning: others
                .filter(|(key, _)| !["role", "content"].contains(&key.as_str()))
                .any(|(_, value)| value.as_str().is_some_and(|text| !text.is_empty())),
            calls: calls.len(),
            arguments: calls.iter().all(|call| arguments(call) == Some(true)),
        }
    }
}

fn recorded(template: &Arc<ResponseTemplate>, case: &Case, end: usize) -> Fixture {
    let fixture = Fixture {
        response: case.response[..end].to_owned(),
        prompt: Prompt::Text(case.prefix.clone()),
        tools: case.tools.clone(),
        ..Fixture::default()
    };
    let replay = Setting::of(template, case).replay([fixture.response.as_str()]);
    fixture.with(&replay)
}

impl Fixture {
    /// The fixture with what its response gives in the place of what was recorded. Events and deltas are recorded where there were some.
    #[must_use]
    pub fn with(&self, replay: &Replay) -> Self {
        let events = || {
            replay
                .events
                .iter()
                .map(|event| Value::Object(event.to_map()))
                .collect()
        };
        Self {
            expected: Some(Value::Object(replay.message.clone())),
            error: replay.errors.first().map(|error| ExpectedError {
                kind: error.kind.name().to_owned(),
                field: error.field.clone(),
            }),
            unclaimed: replay
                .unclaimed
                .iter()
                .map(|lost| lost.text.clone())
                .collect(),
            events: self.events.as_ref().map(|_| events()),
            deltas: match &replay.deltas {
                Some(deltas) => Some(
                    deltas
                        .iter()
                        .map(|one| Value::Object(one.to_map()))
                        .collect(),
                ),
                None => self.deltas.clone(),
            },
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(response: &str, message: &str) -> Case {
        Case {
            prefix: "A:".to_owned(),
            response: response.to_owned(),
            tools: Vec::new(),
            message: json::parse(message).unwrap(),
        }
    }

    #[test]
    fn the_checklist_takes_the_shortest_case_of_each_kind() {
        let template = r#"{"start_anchor": "A:", "fields": {"thinking": {"open": "<t>", "close": "</t>"}, "content": {},
            "tool_calls": {"open": "<c>", "close": "</c>", "content": "json", "repeats": true}}}"#;
        let template = Arc::new(ResponseTemplate::from_json(template).unwrap());
        let cases = [
            case("Hello", r#"{"role": "assistant", "content": "Hello"}"#),
            case("Hi", r#"{"role": "assistant", "content": "Hi"}"#),
            case("<t>a</t>b", r#"{"thinking": "a", "content": "b"}"#),
            case("<c>{}</c>", r#"{"tool_calls": [{"arguments": {}}]}"#),
            case(
                "<c>{\"a\": 1}</c>",
                r#"{"tool_calls": [{"arguments": {"a": 1}}]}"#,
            ),
        ];
        let all = scaffold(&template, &cases);
        let response = |name: &str| {
            let found = all.iter().find(|scaffold| scaffold.name == name).unwrap();
            found
                .fixture
                .as_ref()
                .map(|fixture| fixture.response.as_str())
        };
        assert_eq!(response("plain"), Some("Hi"));
        assert_eq!(response("reasoning"), Some("<t>a</t>b"));
        assert_eq!(response("one_call"), Some("<c>{\"a\": 1}</c>"));
        assert_eq!(response("parallel_calls"), None);
        assert_eq!(response("truncated"), Some("<c>{\"a\""));
        let truncated = all[4].fixture.clone().unwrap();
        assert_eq!(
            truncated.error.unwrap().field.as_deref(),
            Some("tool_calls")
        );
        assert_eq!(
            truncated.expected,
            Some(Value::Object(crate::value::Map::default()))
        );
    }
}
