//! The roles that a chat template knows, and its treatment of others.

use serde::Serialize;

use super::outcome::Outcome;
use super::subject::{self, INVENTED, Subject};
use crate::chat_template::RenderError;
use crate::derive::probe;
use crate::value::Value;

/// The roles of the message format.
const STANDARD: [&str; 4] = ["system", "user", "assistant", "tool"];

/// The roles of messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Roles {
    /// The four roles of the message format, then those that the template's constants name and that it treats otherwise than
    /// a role that it does not know.
    pub known: Vec<Role>,
    /// The outcome of a role that the template does not know, as a later message.
    pub unknown: Outcome,
}

/// A role and its treatment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Role {
    /// The name of the role.
    pub role: String,
    /// The outcome of the role as the first message, before a user's or alone.
    pub first: Outcome,
    /// The outcome of the role after a user's message, after an answer, or after a tool call.
    pub later: Outcome,
}

/// A message of one role at every place where it is tried.
struct Tried {
    /// Before a user's message, and alone.
    first: [Result<String, RenderError>; 2],
    /// After a user's message, an answer, a call.
    later: [Result<String, RenderError>; 3],
}

pub(super) fn read(subject: &Subject<'_>) -> Roles {
    let invented = tried(subject, INVENTED);
    let mined: Vec<String> = subject::names(subject.renderer)
        .into_iter()
        .filter(|name| !STANDARD.contains(&name.as_str()))
        .collect();
    let standard = STANDARD.iter().map(|role| (*role).to_owned());
    let known = standard
        .map(|role| (tried(subject, &role), role))
        .chain(mined.into_iter().filter_map(|role| {
            let found = tried(subject, &role);
            found.differs(&invented, &role).then_some((found, role))
        }))
        .map(|(found, role)| Role {
            role,
            first: best(&found.first),
            later: best(&found.later),
        })
        .collect();
    Roles {
        known,
        unknown: best(&invented.later),
    }
}

impl Tried {
    fn differs(&self, invented: &Self, role: &str) -> bool {
        let all = |tried: &Self| {
            tried
                .first
                .iter()
                .chain(&tried.later)
                .cloned()
                .collect::<Vec<_>>()
        };
        all(self)
            .iter()
            .zip(&all(invented))
            .any(|(found, invented)| subject::is_known(found, invented, role))
    }
}

/// The best outcome of some places.
fn best(renders: &[Result<String, RenderError>]) -> Outcome {
    let mut outcomes = renders
        .iter()
        .map(|render| Outcome::of(render, &[probe::TOOL_RESULT]));
    let first = outcomes.next().unwrap_or(Outcome::Dropped);
    outcomes.fold(first, |best, next| best.or(|| next))
}

fn tried(subject: &Subject<'_>, role: &str) -> Tried {
    let call = probe::call(0);
    let message = probe::message(role, probe::TOOL_RESULT);
    let mut result = probe::tool_result(&call, probe::TOOL_RESULT);
    if let Value::Object(members) = &mut result {
        members.insert("role".to_owned(), Value::from(role));
    }
    let calling = subject.calling([call]);
    let answer = subject.answer(probe::CONTENT);
    let render = |tools, messages: Vec<Value>| subject.render(&subject.talk(tools, messages));
    Tried {
        first: [
            render(false, vec![message.clone(), subject::user()]),
            render(false, vec![message.clone()]),
        ],
        later: [
            render(false, vec![subject::user(), message.clone()]),
            render(false, vec![subject::user(), answer, message]),
            render(true, vec![subject::user(), calling, result]),
        ],
    }
}
