//! Does appending a message leave the text before it as it was? Training on several turns at once needs that.

use serde::Serialize;

use super::orders::Turn;
use super::subject::{self, Subject};
use crate::derive::compare::text;
use crate::derive::probe::{self, Assistant};
use crate::value::{Map, Value};

/// How many characters before a difference are told, and how many after it.
const BEFORE: usize = 24;
const AFTER: usize = 120;

/// Whether conversations only grow: each time that a message is appended the text before it is compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Growth {
    /// How many messages could be appended without being refused, of those that were tried.
    pub appended: usize,
    /// Whether none of them changes the text before it.
    pub prefix_preserving: bool,
    /// Whether the same holds without reasoning.
    pub without_reasoning: bool,
    /// Whether an answer goes on where the prompt ended: what the model read is what is kept.
    pub continues_prompt: bool,
    /// Each message that changes the text before it, in a conversation with reasoning, and each that does not go on where the
    /// prompt ended.
    pub breaks: Vec<Break>,
    /// Under which other kwargs the first answer is another one.
    pub under: Vec<GrowthUnder>,
}

/// Growth under kwargs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GrowthUnder {
    /// The kwargs.
    pub kwargs: Map,
    /// As in [`Growth`].
    pub prefix_preserving: bool,
    /// As in [`Growth`].
    pub continues_prompt: bool,
}

/// A message after which the text before it is another one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Break {
    /// The messages before it.
    pub before: Vec<Turn>,
    /// The message.
    pub appended: Turn,
    /// Whether it is the prompt, with what asks the model to go on, that is not gone on from.
    pub prompt: bool,
    /// The first byte of the earlier text that is not the same.
    pub at: usize,
    /// The text before that byte. At most 24 characters.
    pub after: String,
    /// What followed. At most 120 characters.
    pub was: String,
    /// What follows instead. At most 120 characters.
    pub is: String,
}

/// A conversation as it grows: with or without reasoning, in all answers.
fn talk(subject: &Subject<'_>, reasoned: bool) -> Vec<(Turn, Value)> {
    let call = probe::call(0);
    let thinking = |message: Assistant| {
        subject.write(&if reasoned {
            message.thinking(probe::REASONING)
        } else {
            message
        })
    };
    vec![
        (Turn::User, subject::user()),
        (Turn::Assistant, thinking(Assistant::saying(probe::CONTENT))),
        (Turn::User, subject::user_again()),
        (Turn::Call, thinking(Assistant::calling([call.clone()]))),
        (Turn::Tool, probe::tool_result(&call, probe::TOOL_RESULT)),
        (
            Turn::Assistant,
            thinking(Assistant::saying(probe::OTHER_CONTENT)),
        ),
        (Turn::User, subject::user()),
    ]
}

pub(super) fn read(subject: &Subject<'_>, calls: bool, settings: &[Map]) -> Growth {
    let (appended, breaks) = grown(subject, calls, true, &Map::new());
    let (prefix_preserving, continues_prompt) = summary(&breaks);
    let under = settings
        .iter()
        .filter(|kwargs| !kwargs.is_empty())
        .filter_map(|kwargs| {
            let found = summary(&grown(subject, calls, true, kwargs).1);
            (found != (prefix_preserving, continues_prompt)).then(|| GrowthUnder {
                kwargs: kwargs.clone(),
                prefix_preserving: found.0,
                continues_prompt: found.1,
            })
        })
        .collect();
    Growth {
        appended,
        prefix_preserving,
        without_reasoning: summary(&grown(subject, calls, false, &Map::new()).1).0,
        continues_prompt,
        breaks,
        under,
    }
}

fn summary(breaks: &[Break]) -> (bool, bool) {
    let none = |prompt: bool| !breaks.iter().any(|found| found.prompt == prompt);
    (none(false), none(true))
}

/// Appends message after message: how many were not refused, and what they broke.
fn grown(subject: &Subject<'_>, calls: bool, reasoned: bool, kwargs: &Map) -> (usize, Vec<Break>) {
    let mut messages = talk(subject, reasoned);
    if !calls {
        messages.truncate(3);
    }
    let mut found = Vec::new();
    let mut appendable = 0;
    for count in 1..messages.len() {
        let (before, rest) = messages.split_at(count);
        let Some((appended, _)) = rest.first() else {
            continue;
        };
        let history = before.iter().map(|(_, message)| message.clone());
        let context = subject.talk(calls, history).under(kwargs);
        let next = before
            .iter()
            .chain(rest.first())
            .map(|(_, message)| message.clone());
        let next = subject.talk(calls, next).under(kwargs);
        let Ok(after) = subject.renderer.history(&next) else {
            continue;
        };
        appendable += 1;
        let turns = || before.iter().map(|(turn, _)| *turn).collect();
        let is_answer = matches!(appended, Turn::Assistant | Turn::Call);
        for prompt in [false, true] {
            let (history, prompted) = (
                subject.renderer.history(&context),
                subject.renderer.prompt(&context),
            );
            // Where nothing asks the model to go on, the prompt is the history.
            let earlier = match prompt {
                true if is_answer && prompted != history => prompted,
                true => continue,
                false => history,
            };
            if let Ok(earlier) = earlier
                && !after.starts_with(&earlier)
            {
                found.push(broken(turns(), *appended, prompt, &earlier, &after));
            }
        }
    }
    (appendable, found)
}

fn broken(before: Vec<Turn>, appended: Turn, prompt: bool, earlier: &str, after: &str) -> Break {
    let at = text::common_prefix(earlier, after);
    let shown = at;
    let kept: Vec<char> = earlier[..shown].chars().rev().take(BEFORE).collect();
    let follows = |text: &str| text[shown..].chars().take(AFTER).collect();
    Break {
        before,
        appended,
        prompt,
        at,
        after: kept.into_iter().rev().collect(),
        was: follows(earlier),
        is: follows(after),
    }
}
