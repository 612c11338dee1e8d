//! How does the template treat tool calls, and how must they be spelled?

use serde::Serialize;

use super::outcome::Outcome;
use super::subject::{self, Subject};
use crate::chat_template::RenderError;
use crate::derive::probe::{self, ArgumentsForm, Assistant, CALLS_KEY, Call, Dialect, NoContent};
use crate::value::{Key, Map, Value};

/// The tool calls of an assistant's message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Calls {
    /// The outcome of one call in the spelling that fares best.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// True if calls are rendered only where another message follows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub before_next: bool,
    /// The outcome of each spelling.
    pub spellings: Vec<Spelling>,
    /// Further facts about the calls; absent where calls are not rendered.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub details: Option<CallDetails>,
}

/// A spelling of a message with a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Spelling {
    /// The arguments: `object`, or `text` that holds a JSON object.
    pub arguments: &'static str,
    /// The message's content: `absent` (as is `null`, which transformers takes away) or `empty`.
    pub content: &'static str,
    /// The outcome of the call in this spelling.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// The facts about calls that are rendered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CallDetails {
    /// The outcome of two calls in one message.
    pub parallel: Outcome,
    /// The outcome of content beside a call.
    pub content: Outcome,
    /// The place of that content; absent where it is not rendered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_place: Option<ContentPlace>,
    /// The outcome of a call as `{"name": ..., "arguments": ...}`, without the outer object.
    pub bare: Outcome,
    /// The outcome of calls in a conversation without tools.
    pub without_tools: Outcome,
    /// The treatment of the calls' ids.
    pub ids: Ids,
}

/// The place of the content of a message with calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ContentPlace {
    /// Before the calls.
    Before,
    /// After the calls.
    After,
}

/// The ids of calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Ids {
    /// True if an id is in the text, before its result is.
    pub rendered: bool,
    /// The outcome of a call without an id and of its result, which then has none either.
    pub absent: Outcome,
    /// The outcomes of ids of different shapes, in a call and its result.
    pub shapes: Vec<IdShape>,
}

/// An id of some shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IdShape {
    /// The id that was tried.
    pub example: String,
    /// The outcome of the call with that id.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Ids as they are met: nine letters and digits, two makers' random ones, one made of the name and a number, a number.
const IDS: [&str; 5] = [
    "prb000000",
    "call_Zq7dN3kPx0aRvW51",
    "toolu-01A09q90qw90lq917835",
    "functions.fetch_lumen:0",
    "0",
];

/// The outcomes of all spellings, and the spelling that fares best.
pub(super) fn spellings(subject: &Subject<'_>) -> (Vec<Spelling>, Dialect) {
    let mut best: Option<(Outcome, Dialect)> = None;
    let mut found = Vec::new();
    for (arguments, form) in [
        ("object", ArgumentsForm::Object),
        ("text", ArgumentsForm::JsonText),
    ] {
        for (content, no_content) in [("absent", NoContent::Absent), ("empty", NoContent::Empty)] {
            let dialect = Dialect {
                arguments: form,
                no_content,
                ..subject.dialect.clone()
            };
            let spelled = subject.spelled(dialect.clone());
            let outcome = one_call(&spelled);
            best = Some(match best {
                Some((known, kept)) if known.clone().or(|| outcome.clone()) == known => {
                    (known, kept)
                }
                _ => (outcome.clone(), dialect),
            });
            found.push(Spelling {
                arguments,
                content,
                outcome,
            });
        }
    }
    let dialect = best.map_or_else(|| subject.dialect.clone(), |(_, dialect)| dialect);
    (found, dialect)
}

/// Returns the outcome of a message with one call and nothing else.
fn one_call(subject: &Subject<'_>) -> Outcome {
    let call = probe::call(0);
    let render =
        subject.render(&subject.talk(true, [subject::user(), subject.calling([call.clone()])]));
    outcome(&render, &[call])
}

/// Returns the outcome of calls: they are rendered if their names and the texts of their arguments are in the render.
fn outcome(render: &Result<String, RenderError>, calls: &[Call]) -> Outcome {
    let words: Vec<&str> = calls
        .iter()
        .flat_map(|call| {
            let values = call.arguments.values().filter_map(Value::as_str);
            std::iter::once(call.name.as_str()).chain(values)
        })
        .collect();
    let keys: Vec<&Key> = calls
        .iter()
        .flat_map(|call| call.arguments.keys())
        .collect();
    Outcome::unless_printed(render, &words, |text| {
        keys.iter().any(|key| {
            text.contains(&format!("\\\"{key}\\\"")) || text.contains(&format!("'{key}': "))
        })
    })
}

/// Two calls in one message.
pub(in crate::derive) fn parallel(subject: &Subject<'_>) -> Outcome {
    let calls = [probe::call(0), probe::call(1)];
    let message = subject.calling(calls.clone());
    let render = subject.render(&subject.talk(true, [subject::user(), message]));
    outcome(&render, &calls)
}

/// Content beside a call, and the render.
pub(in crate::derive) fn beside(subject: &Subject<'_>) -> (Outcome, String) {
    let call = probe::call(0);
    let message = Assistant::calling([call.clone()]).with_content(probe::CONTENT);
    let render = subject.render(&subject.talk(true, [subject::user(), subject.write(&message)]));
    let outcome = Outcome::of(&render, &[&call.name, probe::CONTENT]);
    (outcome, render.unwrap_or_default())
}

pub(super) fn read(subject: &Subject<'_>, spellings: Vec<Spelling>) -> Calls {
    let outcome = one_call(subject);
    let details = outcome.is_in_text().then(|| details(subject));
    Calls {
        outcome,
        before_next: subject.calls_followed,
        spellings,
        details,
    }
}

fn details(subject: &Subject<'_>) -> CallDetails {
    let call = probe::call(0);
    let (content, text) = beside(subject);
    let content_place = match (text.rfind(probe::CONTENT), text.rfind(&call.name)) {
        (Some(content), Some(name)) if content < name => Some(ContentPlace::Before),
        (Some(_), Some(_)) => Some(ContentPlace::After),
        _ => None,
    };
    let mut without_tools = subject.talk(true, [subject::user(), subject.calling([call.clone()])]);
    without_tools.tools = None;
    CallDetails {
        parallel: parallel(subject),
        content,
        content_place,
        bare: bare(subject, &call),
        without_tools: self::outcome(&subject.render(&without_tools), &[call]),
        ids: ids(subject),
    }
}

/// A call without its outer object.
fn bare(subject: &Subject<'_>, call: &Call) -> Outcome {
    let mut message = subject.calling([call.clone()]);
    each_call(&mut message, |members| {
        if let Some(Value::Object(function)) = members.shift_remove("function") {
            members.shift_remove("type");
            members.extend(function);
        }
    });
    outcome(
        &subject.render(&subject.talk(true, [subject::user(), message])),
        std::slice::from_ref(call),
    )
}

/// Changes the calls of a message.
fn each_call(message: &mut Value, change: impl Fn(&mut Map)) {
    if let Value::Object(members) = message
        && let Some(Value::Array(calls)) = members.get_mut(CALLS_KEY)
    {
        for call in calls {
            if let Value::Object(call) = call {
                change(call);
            }
        }
    }
}

fn ids(subject: &Subject<'_>) -> Ids {
    let call = probe::call(0);
    let render =
        subject.render(&subject.talk(true, [subject::user(), subject.calling([call.clone()])]));
    let mut message = subject.calling([call.clone()]);
    each_call(&mut message, |members| {
        members.shift_remove("id");
    });
    let mut result = probe::tool_result(&call, probe::TOOL_RESULT);
    if let Value::Object(members) = &mut result {
        members.shift_remove("tool_call_id");
    }
    let absent = outcome(
        &subject.render(&subject.talk(true, [subject::user(), message, result])),
        std::slice::from_ref(&call),
    );
    let shapes = IDS.map(|id| {
        let call = Call {
            id: id.to_owned(),
            ..call.clone()
        };
        let result = probe::tool_result(&call, probe::TOOL_RESULT);
        let message = subject.calling([call.clone()]);
        let render = subject.render(&subject.talk(true, [subject::user(), message, result]));
        IdShape {
            example: id.to_owned(),
            outcome: outcome(&render, &[call]),
        }
    });
    Ids {
        rendered: render.is_ok_and(|text| text.contains(&call.id)),
        absent,
        shapes: shapes.into(),
    }
}
