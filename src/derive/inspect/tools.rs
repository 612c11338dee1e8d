//! How does the template treat tools, and which shape must they have?

use std::rc::Rc;

use serde::Serialize;

use super::outcome::Outcome;
use super::subject::{self, Subject};
use crate::derive::probe;
use crate::derive::render::conversation::Context;
use crate::value::json::{self, Format};
use crate::value::{Map, Value};

/// The tools of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Tools {
    /// The outcome of tools as `{"type": "function", "function": {...}}`.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The outcome of tools as `{"name": ..., "parameters": ...}`, without the outer object.
    pub bare: Outcome,
    /// The outcome of a conversation without tools.
    pub without: Outcome,
    /// True if an empty list of tools renders as no tools; absent where either is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty_is_none: Option<bool>,
    /// The form in which a tool is written; absent where it is not rendered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<ToolForm>,
    /// The place of the tools; absent where they are not rendered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<ToolsPlace>,
    /// The members of tools that are read: paths such as `tools[].function.name`. A tool that is printed whole is read as `tools[].*`.
    pub reads: Vec<String>,
}

/// The form in which a tool is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolForm {
    /// As JSON, the tool whole.
    Json,
    /// As JSON, without the outer object.
    FunctionJson,
    /// In another form.
    Otherwise,
}

/// The place of the tools in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolsPlace {
    /// Before the first message.
    First,
    /// With the last message of the user.
    LastUser,
    /// After the last message.
    End,
}

/// A conversation with tools: a user's message, and a system message before it where the template prints tools only with one.
fn asked(subject: &Subject<'_>) -> Context {
    let plain = subject.talk(true, [subject::user()]);
    let shows = |context: &Context| {
        let prompt = subject.renderer.prompt(context);
        prompt.is_ok_and(|prompt| prompt.contains(&probe::call(0).name))
    };
    let with_system = || subject.talk(true, [subject::system(), subject::user()]);
    match plain.tools.is_none() || shows(&plain) {
        true => plain,
        false => Some(with_system()).filter(shows).unwrap_or(plain),
    }
}

pub(in crate::derive) fn outcome(subject: &Subject<'_>) -> Outcome {
    let context = asked(subject);
    if context.tools.is_none() {
        // The template renders nothing with tools.
        let tools = vec![probe::tool_for(&probe::call(0))];
        return rendered(subject, tools);
    }
    let call = probe::call(0);
    Outcome::of(&subject.renderer.prompt(&context), &[&call.name])
}

pub(super) fn read(subject: &Subject<'_>) -> Tools {
    let tool = probe::tool_for(&probe::call(0));
    let function = tool.get("function").cloned().unwrap_or_default();
    let outcome = outcome(subject);
    let context = asked(subject);
    let text = subject.renderer.prompt(&context).unwrap_or_default();
    let shown = outcome.is_rendered();
    let mut reads: Vec<String> = subject
        .renderer
        .observe(&context, true)
        .map(|(_, reads)| reads.places)
        .unwrap_or_default()
        .into_iter()
        .map(|read| read.path)
        .filter(|path| path.starts_with("tools[]"))
        .collect();
    reads.dedup();
    Tools {
        bare: rendered(subject, vec![function.clone()]),
        without: without(subject),
        empty_is_none: empty_is_none(subject),
        written: shown.then(|| written(&text, &tool, &function)),
        place: shown.then(|| place(subject)).flatten(),
        reads,
        outcome,
    }
}

fn rendered(subject: &Subject<'_>, tools: Vec<Value>) -> Outcome {
    let mut context = asked(subject);
    context.tools = Some(tools.into());
    Outcome::of(&subject.renderer.prompt(&context), &[&probe::call(0).name])
}

fn without(subject: &Subject<'_>) -> Outcome {
    let mut context = subject.talk(false, [subject::user()]);
    context.tools = None;
    Outcome::of(&subject.renderer.prompt(&context), &[probe::USER])
}

fn empty_is_none(subject: &Subject<'_>) -> Option<bool> {
    let mut none = subject.talk(false, [subject::user()]);
    none.tools = None;
    let mut empty = none.clone();
    empty.tools = Some(Rc::default());
    let (none, empty) = (
        subject.renderer.prompt(&none),
        subject.renderer.prompt(&empty),
    );
    Some(none.ok()? == empty.ok()?)
}

/// Looks for the tool as JSON, in each way in which templates indent it, with its keys in their order or sorted.
fn written(text: &str, tool: &Value, function: &Value) -> ToolForm {
    let holds = |value: &Value| {
        [value.clone(), sorted(value)].iter().any(|value| {
            let indented = [2, 4].map(|spaces| Format::indented(spaces).write(value));
            text.contains(&json::to_string(value))
                || text.contains(&Format::compact().write(value))
                || indented.iter().any(|written| text.contains(written))
        })
    };
    if holds(tool) {
        ToolForm::Json
    } else if holds(function) {
        ToolForm::FunctionJson
    } else {
        ToolForm::Otherwise
    }
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Map = members
                .iter()
                .map(|(key, member)| (key.clone(), sorted(member)))
                .collect();
            members.sort_keys();
            Value::Object(members)
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

fn place(subject: &Subject<'_>) -> Option<ToolsPlace> {
    let mut context = asked(subject);
    let further = [subject.answer(probe::OTHER_CONTENT), subject::user_again()];
    let further = further.map(|message| subject.divided(message));
    context.history.extend(further);
    let text = subject.renderer.prompt(&context).ok()?;
    let tools = text.find(&probe::call(0).name)?;
    Some(if tools < text.find(probe::USER)? {
        ToolsPlace::First
    } else if tools < text.find(probe::USER_AGAIN)? {
        ToolsPlace::LastUser
    } else {
        ToolsPlace::End
    })
}
