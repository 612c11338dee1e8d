//! How does the template treat reasoning, and for how long does it keep it?

use std::fmt;

use serde::Serialize;

use super::keys::{Effect, RoleKeys};
use super::outcome::Outcome;
use super::subject::{self, Subject};
use crate::derive::probe::{self, Assistant, Dialect};
use crate::derive::render::conversation::Context;
use crate::judge::slot::Slot;
use crate::value::{Map, Value};

/// The reasoning of assistants' messages.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Reasoning {
    /// The message keys under which it is rendered. transformers hands reasoning that came as `reasoning_content`, `thinking`
    /// or `reasoning` on under the first two, so that a template that reads one of them takes all three.
    pub keys: Vec<String>,
    /// How long it is rendered.
    pub lifetime: Lifetime,
    /// Each situation that was tried.
    pub situations: Vec<ReasoningSituation>,
    /// The kwargs under which it is rendered for longer or not as long.
    pub under: Vec<ReasoningUnder>,
}

/// Reasoning under kwargs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReasoningUnder {
    /// The kwargs.
    pub kwargs: Map,
    /// How long it is rendered.
    pub lifetime: Lifetime,
}

/// How long reasoning is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Lifetime {
    /// It is rendered in every turn of the history.
    Kept,
    /// It is rendered until the next message of the user.
    UntilNextUser,
    /// It is rendered in the last message of a conversation alone.
    LastMessage,
    /// It is rendered in the last message of a conversation, and kept in messages with tool calls.
    LastMessageAndCalls,
    /// It is rendered in messages with tool calls, until the next message of the user.
    WithCallsUntilNextUser,
    /// It is rendered in messages with tool calls only, and kept there.
    WithCalls,
    /// It is never rendered.
    Never,
}

impl fmt::Display for Lifetime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kept => "kept in the history",
            Self::UntilNextUser => "kept until the user's next message",
            Self::LastMessage => "rendered in the last message alone",
            Self::LastMessageAndCalls => "rendered in the last message, and kept beside calls",
            Self::WithCalls => "rendered beside calls only",
            Self::WithCallsUntilNextUser => {
                "rendered beside calls only, until the user's next message"
            }
            Self::Never => "never rendered",
        })
    }
}

/// A message with reasoning, at one place in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReasoningSituation {
    /// The place of the message.
    pub situation: ReasoningPlace,
    /// The outcome of the reasoning.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// A place of a message with reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningPlace {
    /// The last message, with content.
    Last,
    /// A message with content, before the next message of the user.
    BeforeUser,
    /// The last message, with a call.
    LastWithCall,
    /// A message with a call, before its result.
    BeforeResult,
    /// A message with a call. Its result, an answer and a message of the user follow.
    CallBeforeUser,
}

const PLACES: [ReasoningPlace; 5] = [
    ReasoningPlace::Last,
    ReasoningPlace::BeforeUser,
    ReasoningPlace::LastWithCall,
    ReasoningPlace::BeforeResult,
    ReasoningPlace::CallBeforeUser,
];

/// The keys that transformers knows for reasoning; others are found by what the template reads.
const STANDARD: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// Tries the keys that are read of assistants' messages, and reports on the one that is rendered at most places.
pub(super) fn read(subject: &Subject<'_>, keys: &[RoleKeys], settings: &[Map]) -> Reasoning {
    let read: Vec<&str> = keys
        .iter()
        .filter(|found| found.role == "assistant")
        .flat_map(|found| &found.keys)
        .filter(|key| key.effect != Effect::None || STANDARD.contains(&key.key.as_str()))
        .map(|key| key.key.as_str())
        .filter(|key| !["content", "role", "name"].contains(key))
        .filter(|key| key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .collect();
    let mut found = Reasoning {
        keys: Vec::new(),
        lifetime: Lifetime::Never,
        situations: Vec::new(),
        under: Vec::new(),
    };
    for key in read {
        let mut under = Vec::new();
        let subject = subject.spelled(Dialect {
            reasoning: Some(Slot::key(key)),
            ..subject.dialect.clone()
        });
        let default = situations(&subject, &Map::new());
        let mut most = rendered(&default);
        for kwargs in settings {
            let situations = situations(&subject, kwargs);
            most = most.max(rendered(&situations));
            if lifetime(&situations) != lifetime(&default) {
                under.push(ReasoningUnder {
                    kwargs: kwargs.clone(),
                    lifetime: lifetime(&situations),
                });
            }
        }
        if most == 0 {
            continue;
        }
        if rendered(&default) > rendered(&found.situations) || found.keys.is_empty() {
            found.lifetime = lifetime(&default);
            found.situations = default;
            found.under = under;
        }
        found.keys.push(key.to_owned());
    }
    found
}

/// Returns how long reasoning is rendered that is spelled as the subject's messages are: under the defaults, or under the first of these settings
/// where it is rendered at all.
pub(in crate::derive) fn lifetime_under(subject: &Subject<'_>, settings: &[Map]) -> Lifetime {
    [&Map::new()]
        .into_iter()
        .chain(settings)
        .map(|kwargs| lifetime(&situations(subject, kwargs)))
        .find(|found| *found != Lifetime::Never)
        .unwrap_or(Lifetime::Never)
}

fn rendered(situations: &[ReasoningSituation]) -> usize {
    situations
        .iter()
        .filter(|found| found.outcome.is_rendered())
        .count()
}

fn situations(subject: &Subject<'_>, kwargs: &Map) -> Vec<ReasoningSituation> {
    PLACES
        .iter()
        .map(|place| {
            let context = context(subject, *place).under(kwargs);
            ReasoningSituation {
                situation: *place,
                outcome: Outcome::of(&subject.render(&context), &[probe::REASONING]),
            }
        })
        .collect()
}

fn context(subject: &Subject<'_>, place: ReasoningPlace) -> Context {
    let call = probe::call(0);
    let answer = subject.write(&Assistant::saying(probe::CONTENT).thinking(probe::REASONING));
    let calling = subject.write(&Assistant::calling([call.clone()]).thinking(probe::REASONING));
    let result = probe::tool_result(&call, probe::TOOL_RESULT);
    let messages: Vec<Value> = match place {
        ReasoningPlace::Last => vec![answer],
        ReasoningPlace::BeforeUser => vec![answer, subject::user_again()],
        ReasoningPlace::LastWithCall => vec![calling],
        ReasoningPlace::BeforeResult => vec![calling, result],
        ReasoningPlace::CallBeforeUser => vec![
            calling,
            result,
            subject.answer(probe::OTHER_CONTENT),
            subject::user_again(),
        ],
    };
    let tools = !matches!(place, ReasoningPlace::Last | ReasoningPlace::BeforeUser);
    subject.talk(tools, std::iter::once(subject::user()).chain(messages))
}

fn lifetime(situations: &[ReasoningSituation]) -> Lifetime {
    let at = |places: &[ReasoningPlace]| {
        situations
            .iter()
            .any(|found| places.contains(&found.situation) && found.outcome.is_rendered())
    };
    if at(&[ReasoningPlace::BeforeUser]) {
        Lifetime::Kept
    } else if at(&[ReasoningPlace::Last]) {
        if at(&[ReasoningPlace::CallBeforeUser]) {
            Lifetime::LastMessageAndCalls
        } else if at(&[ReasoningPlace::BeforeResult]) {
            Lifetime::UntilNextUser
        } else {
            Lifetime::LastMessage
        }
    } else if at(&[ReasoningPlace::CallBeforeUser]) {
        Lifetime::WithCalls
    } else if at(&[ReasoningPlace::LastWithCall, ReasoningPlace::BeforeResult]) {
        Lifetime::WithCallsUntilNextUser
    } else {
        Lifetime::Never
    }
}
