//! The keys of messages that a chat template reads, and their effects.

use std::collections::BTreeSet;

use serde::Serialize;

use super::subject::{self, FILLING, Subject};
use crate::derive::probe::{self, Assistant, CALLS_KEY};
use crate::derive::render::conversation::Context;
use crate::value::Value;

/// How many rounds look for keys. Some keys turn up only when others are there.
const ROUNDS: usize = 3;

/// The beginning of all paths into messages.
const MESSAGE: &str = "messages[].";

/// The keys that are read of the messages of one role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RoleKeys {
    /// The role.
    pub role: String,
    /// The keys that are read.
    pub keys: Vec<MessageKey>,
}

/// A key of a message that the template asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MessageKey {
    /// The path from the message down: `content`, `tool_calls[].function.name`. Items of a list have `[]`, `*` is any key of
    /// an object whose members are walked over.
    pub key: String,
    /// The effect of the key on the text.
    pub effect: Effect,
}

/// The effect of a key on the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effect {
    /// A text that the key is given is in the render.
    Rendered,
    /// A value that the key is given changes the render, or makes the template refuse it.
    Changes,
    /// The template asks for the key, and no value that it was given made a difference.
    None,
}

/// Reads the keys of the roles that are known.
pub(super) fn read(subject: &Subject<'_>, roles: &[String]) -> Vec<RoleKeys> {
    roles
        .iter()
        .map(|role| RoleKeys {
            role: role.clone(),
            keys: of_role(subject, role),
        })
        .filter(|found| !found.keys.is_empty())
        .collect()
}

fn of_role(subject: &Subject<'_>, role: &str) -> Vec<MessageKey> {
    let talks: Vec<Context> = talks(subject, role);
    let mut found: Vec<MessageKey> = Vec::new();
    let mut filled: Vec<Context> = talks.clone();
    for _ in 0..ROUNDS {
        let paths: BTreeSet<String> = filled
            .iter()
            .flat_map(|talk| asked(subject, talk, role))
            .filter(|path| !found.iter().any(|known| known.key == *path))
            .collect();
        if paths.is_empty() {
            break;
        }
        for key in paths {
            let effect = talks
                .iter()
                .map(|talk| effect(subject, talk, role, &key))
                .min()
                .unwrap_or(Effect::None);
            // The next key is asked for in conversations that have this one, too.
            filled = talks
                .iter()
                .map(|talk| filling(talk, role, &key, &Value::from(FILLING)))
                .chain(filled)
                .take(2 * talks.len())
                .collect();
            found.push(MessageKey { key, effect });
        }
    }
    // A key that holds other keys says no more than they do.
    let paths: Vec<String> = found.iter().map(|found| found.key.clone()).collect();
    found.retain(|found| {
        !paths.iter().any(|path| {
            path.strip_prefix(&found.key)
                .is_some_and(|rest| rest.starts_with(['.', '[']))
        })
    });
    found
}

/// The conversations in which messages of a role have everything that they may have.
fn talks(subject: &Subject<'_>, role: &str) -> Vec<Context> {
    let call = probe::call(0);
    let result = probe::tool_result(&call, probe::TOOL_RESULT);
    match role {
        "assistant" => {
            let reasoned = Assistant::saying(probe::CONTENT).thinking(probe::REASONING);
            let mut calling = subject.calling([call]);
            with(&mut calling, "content", Value::from(probe::CONTENT));
            vec![
                subject.talk(false, [subject::user(), subject.write(&reasoned)]),
                subject.talk(true, [subject::user(), calling.clone()]),
                subject.talk(true, [subject::user(), calling, result]),
            ]
        }
        "tool" => vec![subject.talk(true, [subject::user(), subject.calling([call]), result])],
        "user" => vec![subject.talk(false, [subject::user()])],
        role => {
            let message = probe::message(role, probe::SYSTEM);
            vec![
                subject.talk(false, [message.clone(), subject::user()]),
                subject.talk(false, [subject::user(), message]),
            ]
        }
    }
}

fn with(message: &mut Value, key: &str, value: Value) {
    if let Value::Object(members) = message {
        members.insert(key.to_owned(), value);
    }
}

/// The places in messages of a role that a render asks for, where it is not refused.
fn asked(subject: &Subject<'_>, talk: &Context, role: &str) -> Vec<String> {
    let Ok((_, reads)) = subject.renderer.observe(talk, true) else {
        return Vec::new();
    };
    let places = reads
        .places
        .into_iter()
        .filter(|read| read.role.as_deref() == Some(role));
    places
        .filter_map(|read| Some(read.path.strip_prefix(MESSAGE)?.to_owned()))
        .filter(|path| !path.is_empty() && path.is_ascii())
        .collect()
}

/// Returns the effect of a key in one conversation. A text and then both truth values are put in its place, and the greatest effect counts.
fn effect(subject: &Subject<'_>, talk: &Context, role: &str, key: &str) -> Effect {
    let plain = subject.render(talk);
    let mut best = Effect::None;
    for value in [Value::from(FILLING), Value::Bool(true), Value::Bool(false)] {
        let filled = filling(talk, role, key, &value);
        if filled == *talk {
            continue;
        }
        let render = subject.render(&filled);
        if render.as_ref().is_ok_and(|text| text.contains(FILLING)) {
            return Effect::Rendered;
        }
        if render != plain {
            best = Effect::Changes;
        }
    }
    best
}

/// The conversation with a value at one key of the messages of a role. A container keeps what it holds, since what a text
/// in its place does is known.
fn filling(talk: &Context, role: &str, key: &str, value: &Value) -> Context {
    let mut talk = talk.clone();
    let steps: Vec<&str> = key.split('.').collect();
    for message in &mut talk.history {
        if subject::role(message) == Some(role) {
            put(message, &steps, value);
        }
    }
    talk
}

fn put(target: &mut Value, steps: &[&str], value: &Value) {
    let Some((step, rest)) = steps.split_first() else {
        if !matches!(target, Value::Object(_) | Value::Array(_)) {
            *target = value.clone();
        }
        return;
    };
    let (name, items) = match step.strip_suffix("[]") {
        Some(name) => (name, true),
        None => (*step, false),
    };
    let Value::Object(members) = target else {
        return;
    };
    let is_new = !members.contains_key(name);
    if is_new && (items || !rest.is_empty() || name == CALLS_KEY) {
        return;
    }
    let member = members.get_or_insert_null(name);
    match member {
        Value::Array(list) if items => {
            for item in list {
                put(item, rest, value);
            }
        }
        member if !items => put(member, rest, value),
        _ => {}
    }
}
