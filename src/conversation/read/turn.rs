//! An assistant's turn, read with the response template.

use std::sync::Arc;

use super::Reader;
use crate::conversation::format::ConnectionPart;
use crate::parser::parse_response;
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value};

/// The messages that a turn may be, the likeliest first.
///
/// `before` is the text between the place before and the turn, which has the turn's header; `body` is the turn, `end` what ends it. A
/// turn is first read as what follows its own header; where the start anchor is not in there (a chat template may write a header that
/// its prompt has not), as what follows a prompt, and as a whole; and last as content alone.
pub(super) fn readings(
    reader: &Reader<'_>,
    before: &str,
    body: &str,
    end: &str,
    tools: &[Value],
) -> Vec<Map> {
    let mut found: Vec<Map> = Vec::new();
    if let Some(template) = &reader.template {
        let prompts = reader
            .format
            .steps
            .iter()
            .filter(|step| step.prompt)
            .map(|step| {
                let texts = step
                    .end
                    .iter()
                    .chain(&step.header)
                    .filter_map(ConnectionPart::text);
                texts.collect::<String>()
            });
        let prompts: Vec<String> = prompts.collect();
        let own = std::iter::once(before).filter(|_| !before.is_empty());
        let prefixes = own
            .chain(prompts.iter().map(String::as_str))
            .chain(reader.format.openers.iter().map(String::as_str))
            .filter(|prefix| {
                let after = template.after_last_anchor(prefix);
                after.is_ok_and(|after| after.len() < prefix.len())
            })
            .chain([""]);
        let whole = format!("{body}{end}");
        let mut tried: Vec<&str> = Vec::new();
        for prefix in prefixes {
            let Ok(after) = template.after_last_anchor(prefix) else {
                continue;
            };
            if tried.contains(&after) {
                continue;
            }
            tried.push(after);
            for response in [whole.as_str(), body] {
                if let Ok(message) = parse_response(response, Arc::clone(template), prefix, tools)
                    && !found.contains(&message)
                {
                    found.push(message);
                }
            }
            let joined = joined(template, prefix, body, end, tools);
            found.extend(joined.filter(|joined| !found.contains(joined)));
        }
    }
    // A turn that is to be gone on with may have an opener that nothing closes.
    let all = format!("{before}{body}");
    let opened = reader.format.openers.iter();
    let opened = opened
        .filter(|opener| opener.len() > before.len())
        .filter_map(|opener| all.strip_prefix(opener.as_str()));
    let contents = [body, crate::value::python::strip(body)];
    for content in contents.into_iter().chain(opened) {
        let mut plain = Map::new();
        plain.insert("role", Value::from("assistant"));
        plain.insert("content", Value::from(content));
        if !found.contains(&plain) {
            found.push(plain);
        }
    }
    for message in &mut found {
        if message.get("role").is_none() {
            message.shift_insert(0, "role", Value::from("assistant"));
        }
        if message.get("content").is_none() && message.get("tool_calls").is_none() {
            message.insert("content", Value::from(""));
        }
    }
    found
}

/// A turn whose content speaks of its own end: it is cut there, and what the pieces say is joined.
fn joined(
    template: &Arc<ResponseTemplate>,
    prefix: &str,
    body: &str,
    end: &str,
    tools: &[Value],
) -> Option<Map> {
    let marker = end.trim();
    if marker.is_empty() || !body.contains(marker) || body.matches(marker).count() > MAX_PIECES {
        return None;
    }
    let mut whole: Option<Map> = None;
    for piece in body.split(marker) {
        // What follows the marker is no beginning of a turn: no reasoning is open there.
        let prefix = if whole.is_none() { prefix } else { "" };
        let next = parse_response(piece, Arc::clone(template), prefix, tools).ok()?;
        whole = Some(match whole {
            None => next,
            Some(mut before) => {
                let text = |message: &Map| {
                    let content = message.get("content").and_then(Value::as_str);
                    content.unwrap_or_default().to_owned()
                };
                let content = format!("{}{marker}{}", text(&before), text(&next));
                for (key, value) in &next {
                    before.insert(key.clone(), value.clone());
                }
                before.insert("content", Value::from(content));
                before
            }
        });
    }
    whole
}

/// How often a content may speak of its end.
const MAX_PIECES: usize = 6;

/// The message with more of the space that stands around its texts in the turn: a response template leaves out the space at the ends
/// of texts, and not every chat template does.
pub(super) fn spaced(message: &Map, turn: &str) -> Vec<Map> {
    let mut found = Vec::new();
    for (key, value) in message {
        let Some(text) = value.as_str().filter(|_| *key != "role") else {
            continue;
        };
        let Some(start) = turn.rfind(text) else {
            continue;
        };
        let end = start + text.len();
        let before = &turn[..start];
        let before = &before[before.trim_end().len()..];
        let behind = &turn[end..];
        let behind = &behind[..behind.len() - behind.trim_start().len()];
        for (lead, trail) in space(before, behind) {
            let mut other = message.clone();
            other.insert(key.clone(), Value::from(format!("{lead}{text}{trail}")));
            found.push(other);
        }
    }
    found
}

/// The parts of the space before and behind a text that may belong to it.
fn space<'t>(before: &'t str, behind: &'t str) -> Vec<(&'t str, &'t str)> {
    let cuts = |text: &'t str| -> Vec<usize> {
        let at = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        at.take(MAX_SPACE).collect()
    };
    let mut all = Vec::new();
    for from in cuts(before).into_iter().rev() {
        for to in cuts(behind) {
            let pair = (&before[from..], &behind[..to]);
            if pair != ("", "") {
                all.push(pair);
            }
        }
    }
    all
}

/// How many characters of space are tried on either side.
const MAX_SPACE: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_around_texts_may_be_theirs() {
        let mut message = Map::new();
        message.insert("role", Value::from("assistant"));
        message.insert("content", Value::from("a b"));
        let found = spaced(&message, "<t>\na b \n</t>");
        let texts: Vec<&str> = found
            .iter()
            .filter_map(|one| one.get("content")?.as_str())
            .collect();
        assert_eq!(texts, ["a b ", "a b \n", "\na b", "\na b ", "\na b \n"]);
    }
}
