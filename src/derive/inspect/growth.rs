//! Growth: a comparison of conversations before and after a message is appended. Training on several turns at once needs the text before
//! the message to stay as it was.

use serde::Serialize;

use super::orders::Turn;
use super::subject::{self, Subject};
use crate::derive::compare::text;
use crate::derive::probe::{self, Assistant};
use crate::value::{Map, Value};

/// How many characters before a difference are told, and how many after it.
const BEFORE: usize = 24;
const AFTER: usize = 120;

/// The growth of conversations: each time that a message is appended, the text before it is compared with the earlier render.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Growth {
    /// How many messages could be appended without being refused, of those that were tried.
    pub appended: usize,
    /// True if no message changes the text before it.
    pub prefix_preserving: bool,
    /// True if no message changes the text before it in a conversation without reasoning.
    pub without_reasoning: bool,
    /// True if an answer goes on where the prompt ended, so that the text the model read is the text that is kept.
    pub continues_prompt: bool,
    /// Each message that changes the text before it, in a conversation with reasoning, and each that does not go on where the
    /// prompt ended.
    pub breaks: Vec<Break>,
    /// The shortest conversation with a message that changes the text before it, where there is one.
    pub smallest: Option<Smallest>,
    /// The other kwargs under which the first answer is another one.
    pub under: Vec<GrowthUnder>,
}

/// Growth under kwargs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GrowthUnder {
    /// The kwargs.
    pub kwargs: Map,
    /// As [`Growth::prefix_preserving`], under these kwargs.
    pub prefix_preserving: bool,
    /// As [`Growth::continues_prompt`], under these kwargs.
    pub continues_prompt: bool,
    /// As [`Growth::smallest`], under these kwargs.
    pub smallest: Option<Smallest>,
}

/// A conversation of which a message changes the text before it, and of which no message can be left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Smallest {
    /// The messages before it.
    pub messages: Vec<Value>,
    /// The message that is appended.
    pub message: Value,
    /// The difference that it makes.
    #[serde(flatten)]
    pub found: Break,
}

/// A message that changes the text before it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Break {
    /// The messages before it.
    pub before: Vec<Turn>,
    /// The message that was appended.
    pub appended: Turn,
    /// True if the earlier text is the prompt, with its generation prompt, and the answer does not go on from it.
    pub prompt: bool,
    /// The offset of the first byte of the earlier text that changes.
    pub at: usize,
    /// The text before that byte. At most 24 characters.
    pub after: String,
    /// The text that followed in the earlier render. At most 120 characters.
    pub was: String,
    /// The text that follows instead. At most 120 characters.
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
    let smallest = |breaks: &[Break], kwargs: &Map| smallest(subject, calls, breaks, kwargs);
    let (prefix_preserving, continues_prompt) = summary(&breaks);
    let under = settings
        .iter()
        .filter(|kwargs| !kwargs.is_empty())
        .filter_map(|kwargs| {
            let breaks = grown(subject, calls, true, kwargs).1;
            let found = summary(&breaks);
            (found != (prefix_preserving, continues_prompt)).then(|| GrowthUnder {
                smallest: smallest(&breaks, kwargs),
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
        smallest: smallest(&breaks, &Map::new()),
        breaks,
        under,
    }
}

fn summary(breaks: &[Break]) -> (bool, bool) {
    let none = |prompt: bool| !breaks.iter().any(|found| found.prompt == prompt);
    (none(false), none(true))
}

/// The shortest of what breaks, with each message left out that can be.
fn smallest(
    subject: &Subject<'_>,
    calls: bool,
    breaks: &[Break],
    kwargs: &Map,
) -> Option<Smallest> {
    let shortest = breaks.iter().filter(|found| !found.prompt);
    let count = shortest.map(|found| found.before.len()).min()?;
    let mut messages = talk(subject, true);
    let appended = messages.get(count)?.clone();
    messages.truncate(count);
    let breaks = |before: &[(Turn, Value)]| {
        let render = |messages: &mut dyn Iterator<Item = &(Turn, Value)>| {
            let messages: Vec<Value> = messages.map(|(_, message)| message.clone()).collect();
            subject
                .renderer
                .history(&subject.talk(calls, messages).under(kwargs))
        };
        let earlier = render(&mut before.iter()).ok()?;
        let after = render(&mut before.iter().chain([&appended])).ok()?;
        let turns = || before.iter().map(|(turn, _)| *turn).collect();
        (!after.starts_with(&earlier)).then(|| broken(turns(), appended.0, false, &earlier, &after))
    };
    let mut found = breaks(&messages)?;
    let mut at = 0;
    while at < messages.len() {
        let mut shorter = messages.clone();
        shorter.remove(at);
        match (!shorter.is_empty()).then(|| breaks(&shorter)).flatten() {
            Some(still) => (messages, found) = (shorter, still),
            None => at += 1,
        }
    }
    let divided = |(_, message): (Turn, Value)| subject.divided(message);
    Some(Smallest {
        messages: messages.into_iter().map(divided).collect(),
        message: divided(appended),
        found,
    })
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
