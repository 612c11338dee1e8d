//! The variables beside the conversation that make a difference, and their effects.

use serde::Serialize;

use super::change::{RenderChange, changes};
use super::outcome::Outcome;
use super::subject::{self, FILLING, Subject};
use crate::chat_template::RenderError;
use crate::derive::probe::{self, Assistant};
use crate::derive::render::conversation::Context;
use crate::value::{Map, Value};

/// A variable that the template reads and that nobody gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Kwarg {
    /// The name of the variable.
    pub name: String,
    /// The values that make a difference, each different one.
    pub effects: Vec<KwargEffect>,
    /// True if a text that the variable is given is in the render.
    pub printed: bool,
    /// The values that were tried and make no difference.
    pub without_effect: Vec<Value>,
}

/// The changes that some values of a variable make.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct KwargEffect {
    /// The values; all do the same.
    pub values: Vec<Value>,
    /// The situations that change.
    pub situations: Vec<Situation>,
    /// The outcome of these values in the first of the situations.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The changes that the values make in the first of the situations.
    pub changes: Vec<RenderChange>,
}

/// A conversation that kwargs are tried on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Situation {
    /// The prompt after a user's message.
    Prompt,
    /// The prompt with tools.
    ToolsPrompt,
    /// The prompt after a tool's result.
    ResultPrompt,
    /// A finished turn, its reasoning before its content.
    Turn,
    /// The prompt after an earlier turn with reasoning.
    LaterPrompt,
}

type Render = Result<String, RenderError>;

pub(super) fn read(subject: &Subject<'_>) -> Vec<Kwarg> {
    let situations = situations(subject);
    let render = |kwargs: &Map| -> Vec<Render> {
        situations
            .iter()
            .map(|(_, context)| subject.render(&context.under(kwargs)))
            .collect()
    };
    let plain = render(&Map::new());
    subject
        .renderer
        .kwargs()
        .into_iter()
        .map(|(name, values)| {
            let with = |value: &Value| render(&Map::from_iter([(name.clone(), value.clone())]));
            let printed = with(&Value::from(FILLING))
                .iter()
                .any(|render| render.as_ref().is_ok_and(|text| text.contains(FILLING)));
            let mut found: Vec<(Vec<Render>, Vec<Value>)> = Vec::new();
            let mut without_effect = Vec::new();
            for value in values {
                let renders = with(&value);
                if renders == plain {
                    without_effect.push(value);
                } else if let Some((_, values)) =
                    found.iter_mut().find(|(known, _)| *known == renders)
                {
                    values.push(value);
                } else {
                    found.push((renders, vec![value]));
                }
            }
            Kwarg {
                effects: found
                    .into_iter()
                    .map(|(renders, values)| effect(&situations, &plain, &renders, values))
                    .collect(),
                name,
                printed,
                without_effect,
            }
        })
        .collect()
}

fn situations(subject: &Subject<'_>) -> Vec<(Situation, Context)> {
    let call = probe::call(0);
    let reasoned = subject.write(&Assistant::saying(probe::CONTENT).thinking(probe::REASONING));
    let calling = subject.write(&Assistant::calling([call.clone()]).thinking(probe::REASONING));
    let result = probe::tool_result(&call, probe::TOOL_RESULT);
    vec![
        (Situation::Prompt, subject.talk(false, [subject::user()])),
        (
            Situation::Turn,
            subject.talk(false, [subject::user(), reasoned.clone()]),
        ),
        (
            Situation::LaterPrompt,
            subject.talk(false, [subject::user(), reasoned, subject::user_again()]),
        ),
        (
            Situation::ToolsPrompt,
            subject.talk(true, [subject::user()]),
        ),
        (
            Situation::ResultPrompt,
            subject.talk(true, [subject::user(), calling, result]),
        ),
    ]
}

fn effect(
    situations: &[(Situation, Context)],
    plain: &[Render],
    renders: &[Render],
    values: Vec<Value>,
) -> KwargEffect {
    let mut changed = situations
        .iter()
        .zip(plain.iter().zip(renders))
        .filter(|(_, (before, after))| before != after)
        .peekable();
    let (outcome, changes) = match changed.peek() {
        Some((_, (Ok(before), Ok(after)))) => (Outcome::Rendered, changes(before, after)),
        Some((_, (Err(_), Ok(_)))) => (Outcome::Rendered, Vec::new()),
        Some((_, (_, Err(error)))) => (Outcome::refused(error), Vec::new()),
        None => (Outcome::Dropped, Vec::new()),
    };
    KwargEffect {
        values,
        situations: changed.map(|((situation, _), _)| *situation).collect(),
        outcome,
        changes,
    }
}
