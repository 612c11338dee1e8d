//! The fixtures that a template should have, filled in from its chat template.

use std::sync::Arc;

use super::fixture::{ExpectedError, Fixture, Prompt};
use super::replay::{Replay, Setting};
use crate::derive::Case;
use crate::response_template::ResponseTemplate;
use crate::value::Value;

/// A fixture of the checklist.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaffold {
    /// What it is called, as a folder.
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
}

/// The checklist that reviewers of templates use: plain content, reasoning and content, one call, parallel calls, and a response that
/// ends too early. Each is filled with the shortest of the `cases` that fits, and its message is what the template gives; where no
/// case fits, nothing of the kind was proved.
pub fn scaffold(template: &Arc<ResponseTemplate>, cases: &[Case]) -> Vec<Scaffold> {
    let shortest = |fits: &dyn Fn(Parts) -> bool| {
        cases
            .iter()
            .filter(|case| fits(Parts::of(&case.message)))
            .min_by_key(|case| (case.response.len(), case.prefix.len()))
    };
    let plain = shortest(&|parts| parts.content && !parts.reasoning && parts.calls == 0);
    let reasoning = shortest(&|parts| parts.content && parts.reasoning && parts.calls == 0);
    let call = shortest(&|parts| parts.calls == 1);
    let calls = shortest(&|parts| parts.calls > 1);
    let whole =
        |case: Option<&Case>| case.map(|case| recorded(template, case, case.response.len()));
    let truncated = call.or(reasoning).or(plain).map(|case| {
        let end = case
            .response
            .floor_char_boundary(case.response.len() * 2 / 3);
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

impl Parts {
    fn of(message: &Value) -> Self {
        let has = |key: &str| message.get(key).is_some_and(Value::is_truthy);
        let others = message.as_object().into_iter().flatten();
        Self {
            content: has("content"),
            reasoning: others
                .filter(|(key, _)| !["role", "content"].contains(&key.as_str()))
                .any(|(_, value)| value.as_str().is_some_and(|text| !text.is_empty())),
            calls: message
                .get("tool_calls")
                .and_then(Value::as_array)
                .map_or(0, <[Value]>::len),
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
    let setting = Setting {
        template,
        prefix: &case.prefix,
        tools: &case.tools,
    };
    let replay = setting.replay([fixture.response.as_str()]);
    fixture.with(&replay)
}

impl Fixture {
    /// The fixture with what its response gives in the place of what was recorded. Events are recorded where there were some.
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
            events: self.events.as_ref().map(|_| events()),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

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
            case("<c>{\"a\": 1}</c>", r#"{"tool_calls": [{"a": 1}]}"#),
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
        assert_eq!(response("parallel_calls"), None);
        assert_eq!(response("truncated"), Some("<c>{\"a\": 1"));
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
