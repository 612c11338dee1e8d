//! How does the template treat tools' results?

use serde::Serialize;

use super::outcome::{Outcome, shorten};
use super::subject::{self, Subject};
use crate::derive::probe;
use crate::value::Value;

/// Messages of the role `tool`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Results {
    /// The outcome of a result that is text.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The outcome of a result that is an object.
    pub object: Outcome,
    /// The text between the results of two calls of one message; absent where they are not both rendered. At most 300 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<String>,
}

const SECOND: &str = "Cobble heron";

pub(in crate::derive) fn outcome(subject: &Subject<'_>) -> Outcome {
    one(subject, Value::from(probe::TOOL_RESULT))
}

pub(super) fn read(subject: &Subject<'_>) -> Results {
    let object = probe::object([("weather", Value::from(probe::TOOL_RESULT))]);
    Results {
        outcome: outcome(subject),
        object: one(subject, object),
        between: between(subject),
    }
}

/// One result of this content. An object is printed where Python's own quotes show.
fn one(subject: &Subject<'_>, content: Value) -> Outcome {
    let call = probe::call(2);
    let mut result = probe::tool_result(&call, "");
    if let Value::Object(members) = &mut result {
        members.insert("content".to_owned(), content);
    }
    let context = subject.talk(true, [subject::user(), subject.calling([call]), result]);
    Outcome::unless_printed(&subject.render(&context), &[probe::TOOL_RESULT], |text| {
        text.contains(&format!("'{}'", probe::TOOL_RESULT))
            || text.contains(&format!("\\\"{}\\\"", probe::TOOL_RESULT))
    })
}

fn between(subject: &Subject<'_>) -> Option<String> {
    let calls = [probe::call(0), probe::call(1)];
    let context = subject.talk(
        true,
        [
            subject::user(),
            subject.calling(calls.clone()),
            probe::tool_result(&calls[0], probe::TOOL_RESULT),
            probe::tool_result(&calls[1], SECOND),
        ],
    );
    let text = subject.render(&context).ok()?;
    let first = text.find(probe::TOOL_RESULT)? + probe::TOOL_RESULT.len();
    let length = text[first..].find(SECOND)?;
    Some(shorten(&text[first..first + length]))
}
