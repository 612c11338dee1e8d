//! How does the template treat content, as text and in parts, and which parts does it know?

use serde::Serialize;

use super::change::changes;
use super::outcome::{Outcome, shorten};
use super::subject::{self, INVENTED, Subject, text_part};
use crate::chat_template::RenderError;
use crate::derive::probe;
use crate::value::Value;

/// The contents of messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Content {
    /// The outcomes of content, by role.
    pub roles: Vec<RoleContent>,
    /// The kinds of parts beside `text` that a user's content may have: those that the template's constants name and that it
    /// treats otherwise than a kind that it does not know.
    pub parts: Vec<ContentPart>,
    /// The outcome of a part of a kind that the template does not know, beside a part that is text.
    pub unknown_part: Outcome,
}

/// The content of messages of one role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RoleContent {
    /// The role.
    pub role: &'static str,
    /// A content that is text.
    pub text: Outcome,
    /// A content in two parts, `[{"type": "text", "text": ...}, ...]`.
    pub parts: Outcome,
    /// The text between those two parts; absent where they are not rendered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<String>,
}

/// A kind of part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ContentPart {
    /// The value under `type`, which is also the key of the part's data.
    #[serde(rename = "type")]
    pub kind: String,
    /// The outcome: a part counts as rendered if it adds something to the text.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The text that the part adds. At most 300 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adds: Option<String>,
}

const FIRST: &str = "Walnut prism";
const SECOND: &str = "Cobble heron";

/// Returns true if a user's content has to be in parts.
pub(super) fn only_in_parts(subject: &Subject<'_>) -> bool {
    let user = of_role(subject, "user");
    !user.text.is_rendered() && user.parts.is_rendered()
}

pub(super) fn read(subject: &Subject<'_>) -> Content {
    let roles: Vec<RoleContent> = ["system", "user", "assistant", "tool"]
        .into_iter()
        .map(|role| of_role(subject, role))
        .collect();
    let takes_parts = roles
        .iter()
        .any(|found| found.role == "user" && found.parts.is_rendered());
    Content {
        parts: if takes_parts {
            parts(subject)
        } else {
            Vec::new()
        },
        unknown_part: unknown_part(subject),
        roles,
    }
}

fn of_role(subject: &Subject<'_>, role: &'static str) -> RoleContent {
    let render = |content: Value| {
        let mut message = probe::message(role, "");
        let call = probe::call(0);
        let mut before = Vec::new();
        match role {
            "system" => {}
            "tool" => {
                message = probe::tool_result(&call, "");
                before = vec![
                    subject.divided(subject::user()),
                    subject.divided(subject.calling([call])),
                ];
            }
            "assistant" => before = vec![subject.divided(subject::user())],
            _ => {}
        }
        if let Value::Object(members) = &mut message {
            members.insert("content".to_owned(), content);
        }
        before.push(message);
        if role == "system" {
            before.push(subject.divided(subject::user()));
        }
        subject.render(&subject.talk_as_is(role == "tool", before))
    };
    let in_parts = render(Value::Array(vec![text_part(FIRST), text_part(SECOND)]));
    let parts = Outcome::unless_printed(&in_parts, &[FIRST, SECOND], |text| {
        between(text).is_some_and(|between| between.contains("type"))
    });
    RoleContent {
        role,
        text: Outcome::of(&render(Value::from(FIRST)), &[FIRST]),
        between: in_parts
            .ok()
            .filter(|_| parts.is_rendered())
            .and_then(|text| between(&text).map(shorten)),
        parts,
    }
}

fn between(text: &str) -> Option<&str> {
    let first = text.find(FIRST)? + FIRST.len();
    let length = text[first..].find(SECOND)?;
    Some(&text[first..first + length])
}

/// A user's message with a part of this kind, and one that is text.
fn with_part(subject: &Subject<'_>, kind: Option<&str>) -> Result<String, RenderError> {
    let part =
        kind.map(|kind| probe::object([("type", Value::from(kind)), (kind, Value::from(FIRST))]));
    let parts: Vec<Value> = part.into_iter().chain([text_part(SECOND)]).collect();
    let mut message = probe::message("user", "");
    if let Value::Object(members) = &mut message {
        members.insert("content".to_owned(), Value::Array(parts));
    }
    subject.render(&subject.talk_as_is(false, [message]))
}

fn unknown_part(subject: &Subject<'_>) -> Outcome {
    Outcome::of(&with_part(subject, Some(INVENTED)), &[FIRST])
}

fn parts(subject: &Subject<'_>) -> Vec<ContentPart> {
    let plain = with_part(subject, None);
    let invented = with_part(subject, Some(INVENTED));
    subject::names(subject.renderer)
        .into_iter()
        .filter(|name| name != "text" && name != "type")
        .filter_map(|kind| {
            let render = with_part(subject, Some(&kind));
            subject::is_known(&render, &invented, &kind).then(|| part(kind, &render, &plain))
        })
        .collect()
}

fn part(
    kind: String,
    render: &Result<String, RenderError>,
    plain: &Result<String, RenderError>,
) -> ContentPart {
    let adds = match (render, plain) {
        (Ok(render), Ok(plain)) => {
            let added: Vec<String> = changes(plain, render)
                .into_iter()
                .map(|change| change.added)
                .filter(|added| !added.is_empty())
                .collect();
            (!added.is_empty()).then(|| shorten(&added.join(" … ")))
        }
        _ => None,
    };
    let outcome = match render {
        Err(error) => Outcome::refused(error),
        Ok(_) if adds.is_some() => Outcome::Rendered,
        Ok(_) => Outcome::Dropped,
    };
    ContentPart {
        kind,
        outcome,
        adds,
    }
}
