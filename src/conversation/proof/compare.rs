//! Compares what was read with the conversation that was rendered, as far as the render shows it.

use crate::conversation::render::{CALLS, Talk};
use crate::value::{Map, Value, python};

/// A difference between a reading and the conversation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Difference {
    /// A stable name: `dropped`, `trimmed`, `merged`.
    pub(super) code: &'static str,
    /// Whose what: `assistant.reasoning_content`.
    pub(super) what: String,
}

/// The differences that a render itself makes: what it does not show, and what it shows without the space at its ends.
pub(super) fn made_by_render(talk: &Talk, text: &str) -> Vec<Difference> {
    let mut found = Vec::new();
    for message in &talk.messages {
        for (key, value) in texts(message) {
            let what = format!("{}.{key}", role(message));
            if value.trim().is_empty() || text.contains(&value) {
                continue;
            }
            let code = if text.contains(python::strip(&value)) {
                "trimmed"
            } else {
                "dropped"
            };
            found.push(Difference { code, what });
        }
    }
    found.sort();
    found.dedup();
    found
}

fn role(message: &Value) -> &str {
    message
        .get("role")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The texts of a message by their keys, and its calls as texts.
fn texts(message: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (key, value) in message.as_object().into_iter().flatten() {
        if let Some(text) = value.as_str().filter(|_| *key != "role") {
            found.push((key.to_string(), text.to_owned()));
        }
    }
    for call in message
        .get(CALLS)
        .and_then(Value::as_array)
        .unwrap_or_default()
    {
        let function = call.get("function");
        let name = function.and_then(|function| function.get("name"));
        if let Some(name) = name.and_then(Value::as_str) {
            found.push((format!("{CALLS}.name"), name.to_owned()));
        }
        let arguments = function.and_then(|function| function.get("arguments"));
        for (_, value) in arguments.and_then(Value::as_object).into_iter().flatten() {
            if let Some(text) = value.as_str() {
                found.push((format!("{CALLS}.arguments"), text.to_owned()));
            }
        }
    }
    found
}

/// Returns what of a plain conversation did not come back although the render shows it, in words; `None` if all did.
///
/// Texts that the render shows must be in the message that they came from, under their key, and no message may have others.
pub(super) fn lost(talk: &Talk, read: &[Value], text: &str) -> Option<String> {
    let shown = |value: &str| {
        let value = python::strip(value);
        !value.is_empty() && text.contains(value)
    };
    let wanted: Vec<(&Value, Vec<(String, String)>)> = talk
        .messages
        .iter()
        .map(|message| {
            let mut all = texts(message);
            all.retain(|(key, value)| is_told(key) && shown(value));
            (message, all)
        })
        .filter(|(_, all)| !all.is_empty())
        .collect();
    let found: Vec<(&Value, Vec<(String, String)>)> = read
        .iter()
        .map(|message| {
            let mut all = texts(message);
            all.retain(|(key, value)| is_told(key) && !python::strip(value).is_empty());
            (message, all)
        })
        .filter(|(_, all)| !all.is_empty())
        .collect();
    if wanted.len() != found.len() {
        return Some(format!(
            "{} messages show and {} were read",
            wanted.len(),
            found.len()
        ));
    }
    for ((meant, wanted), (got, found)) in wanted.iter().zip(&found) {
        if role(meant) != role(got) {
            return Some(format!(
                "a message of the role {} came back as {}",
                role(meant),
                role(got)
            ));
        }
        let stripped = |all: &[(String, String)]| {
            let mut all: Vec<(String, String)> = all
                .iter()
                .map(|(key, value)| (key.clone(), python::strip(value).to_owned()))
                .collect();
            all.sort();
            all
        };
        let (wanted, found) = (stripped(wanted), stripped(found));
        if wanted != found {
            let missing = wanted.iter().find(|one| !found.contains(one));
            let (key, said) = missing.or(found.first())?;
            return Some(format!(
                "{}.{key} did not come back as {said:?}",
                role(meant)
            ));
        }
    }
    None
}

/// Ids and names of results stand for others that calls have, and are compared by rendering.
fn is_told(key: &str) -> bool {
    !matches!(key, "name" | "tool_call_id")
}

/// A text of a reading of a plain conversation in which a constant stands that begins or ends messages.
pub(super) fn swallowed(read: &[Value], constants: &[String]) -> Option<String> {
    let is_marker = |constant: &&String| {
        let signs = constant.chars().filter(|c| !c.is_whitespace());
        signs.count() > 2
    };
    read.iter().flat_map(texts).find_map(|(_, value)| {
        let mut markers = constants.iter().filter(is_marker);
        markers
            .find(|marker| value.contains(marker.as_str()))
            .cloned()
    })
}

/// A message without what only orders it.
pub(super) fn short(message: &Value) -> Value {
    let Some(members) = message.as_object() else {
        return message.clone();
    };
    let members: Map = members
        .iter()
        .map(|(key, value)| (key.to_string(), value.clone()))
        .collect();
    Value::Object(members)
}
