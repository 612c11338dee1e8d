//! Responses taken apart by their messages: the parts of the message that stand in the text, and the gaps between them.
//!
//! A gap is what the format writes between two parts, such as a call's name and its first key. Gaps between parts of the same kinds can be
//! compared, whatever the messages are: what a response has between a name and a key, and what renders have there. So no render of
//! the very same message is needed.
//!
//! A part is searched behind the one before it, so it costs about the length of the response for each part.

use std::ops::Range;

use super::CONTENT_KEY;
use super::calls::{self, is_amid};
use super::unshown::place_of;
use crate::derive::probe::CALLS_KEY;
use crate::judge::Case;
use crate::value::{Map, Value, json, python};

/// How far a part of a call may stand from the one before it, in bytes.
const MAX_BETWEEN: usize = 160;

/// How many texts are kept of the gaps between parts of the same two kinds.
const MAX_KNOWN: usize = 16;

/// How long a text of a render has to be, in bytes, that is told from what stands around it.
const SHORTEST: usize = 4;

/// The kind of a part of a message, or an end of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::derive) enum Part {
    Start,
    Content,
    /// A text beside the content.
    Other,
    Name,
    Key,
    Value,
    /// All arguments of a call as an object.
    Arguments,
    End,
}

/// The text between two neighbouring parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::derive) struct Gap {
    pub(in crate::derive) before: Part,
    pub(in crate::derive) behind: Part,
    pub(in crate::derive) text: String,
}

/// The gaps of a response, from its start to its end; `None` where not every part of the message stands in it.
pub(super) fn gaps(response: &str, message: &Map) -> Option<Vec<Gap>> {
    let parts = parts(response, message)?;
    let starts = std::iter::once((Part::Start, 0..0)).chain(parts.iter().cloned());
    let ends = parts.iter().cloned();
    let ends = ends.chain([(Part::End, response.len()..response.len())]);
    let gaps = starts.zip(ends).map(|((before, one), (behind, next))| {
        Some(Gap {
            before,
            behind,
            text: response.get(one.end..next.start)?.to_owned(),
        })
    });
    gaps.collect()
}

/// The place of the first call of a message in a response, with the object in which its name stands, if it does.
pub(super) fn first_call(response: &str, message: &Map) -> Option<Range<usize>> {
    let calls = message.get(CALLS_KEY).and_then(Value::as_array)?;
    let parts = call_in(response, 0, calls.first()?, &[])?;
    let (_, name) = parts.first()?;
    let whole = calls::enclosing(response, name);
    let spans = parts.iter().map(|(_, span)| span).chain(&whole);
    let start = spans.clone().map(|span| span.start).min()?;
    let end = spans.map(|span| span.end).max()?;
    Some(start..end)
}

/// The gaps that renders have, each text once, for any two kinds of parts no more than [`MAX_KNOWN`].
pub(in crate::derive) fn known(cases: &[Case]) -> Vec<Gap> {
    let mut known: Vec<Gap> = Vec::new();
    for case in cases {
        let Some(message) = case.message.as_object() else {
            continue;
        };
        if !is_plain(&case.response, message) {
            continue;
        }
        for gap in gaps(&case.response, message).into_iter().flatten() {
            let alike = |other: &&Gap| other.before == gap.before && other.behind == gap.behind;
            if !known.contains(&gap) && known.iter().filter(alike).count() < MAX_KNOWN {
                known.push(gap);
            }
        }
    }
    known
}

/// Returns true if each text of a message stands in the response once, and is more than a sign or two that the format may have as well.
fn is_plain(response: &str, message: &Map) -> bool {
    let texts = message.iter().filter(|(key, _)| *key != "role");
    let texts = texts.filter_map(|(_, value)| value.as_str());
    let calls = message.get(CALLS_KEY).and_then(Value::as_array);
    let arguments = calls.unwrap_or_default().iter().flat_map(|call| {
        let plain = calls::plain_call(call, false);
        let arguments = plain.get("arguments").and_then(Value::as_object);
        let values = arguments.into_iter().flatten();
        let values = values.filter_map(|(_, value)| value.as_str().map(str::to_owned));
        values.collect::<Vec<String>>()
    });
    let mut all = texts.map(str::to_owned).chain(arguments);
    all.all(|text| {
        let text = text.trim_matches(python::is_space);
        text.is_empty()
            || text.len() >= SHORTEST
                && text.chars().any(char::is_alphanumeric)
                && response.matches(text).nth(1).is_none()
    })
}

/// The places of the parts of a message in a response, in their order there.
fn parts(response: &str, message: &Map) -> Option<Vec<(Part, Range<usize>)>> {
    let mut found: Vec<(Part, Range<usize>)> = Vec::new();
    let texts = message.iter().filter(|(key, _)| *key != "role");
    let mut texts: Vec<(Part, &str)> = texts
        .filter_map(|(key, value)| {
            let part = match key.as_str() {
                CONTENT_KEY => Part::Content,
                _ => Part::Other,
            };
            let text = value.as_str()?.trim_matches(python::is_space);
            (!text.is_empty()).then_some((part, text))
        })
        .collect();
    // A content may be a part of the longer reasoning.
    texts.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    for (part, text) in texts {
        let spans = response.match_indices(text);
        let mut spans = spans.map(|(at, text)| at..at + text.len());
        let span = spans.find(|span| is_free(&found, span))?;
        found.push((part, span));
    }
    let calls = message.get(CALLS_KEY).and_then(Value::as_array);
    let mut from = 0;
    for call in calls.unwrap_or_default() {
        let parts = call_in(response, from, call, &found)?;
        from = parts.iter().map(|(_, span)| span.end).max()?;
        found.extend(parts);
    }
    found.sort_by_key(|(_, span)| span.start);
    (!found.is_empty()).then_some(found)
}

fn find(text: &str, part: &str, at: usize) -> Option<usize> {
    text[at..].find(part).map(|by| at + by)
}

fn is_free(found: &[(Part, Range<usize>)], span: &Range<usize>) -> bool {
    found
        .iter()
        .all(|(_, other)| other.end <= span.start || span.end <= other.start)
}

/// The parts of the first call behind a place that is this one.
fn call_in(
    response: &str,
    from: usize,
    call: &Value,
    found: &[(Part, Range<usize>)],
) -> Option<Vec<(Part, Range<usize>)>> {
    let plain = calls::plain_call(call, false);
    let name = plain
        .get("name")?
        .as_str()
        .filter(|name| !name.is_empty())?;
    let arguments = plain.get("arguments")?.as_object()?;
    if arguments.is_empty() {
        return None;
    }
    let mut at = from;
    while let Some(start) = find(response, name, at) {
        let span = start..start + name.len();
        at = span.end;
        if is_amid(response, &span) || !is_free(found, &span) {
            continue;
        }
        let behind = span.end..(span.end + MAX_BETWEEN).min(response.len());
        let before = from.max(start.saturating_sub(MAX_BETWEEN))..start;
        let whole = object_in(response, behind, arguments)
            .or_else(|| object_in(response, before, arguments).filter(|body| body.end <= start));
        if let Some(body) = whole.filter(|body| is_free(found, body)) {
            return Some(vec![(Part::Name, span), (Part::Arguments, body)]);
        }
        if let Some(pairs) = pairs_in(response, span.end, arguments) {
            return Some([vec![(Part::Name, span)], pairs].concat());
        }
    }
    None
}

/// The place of an object with these members that begins within a stretch.
fn object_in(response: &str, within: Range<usize>, arguments: &Map) -> Option<Range<usize>> {
    let starts = response.match_indices('{').map(|(at, _)| at);
    let mut starts = starts.filter(|at| within.contains(at));
    starts.find_map(|at| {
        let (value, len) = json::parse_prefix(&response[at..]).ok()?;
        (value.as_object() == Some(arguments)).then(|| at..at + len)
    })
}

/// The places of the keys and values of arguments that stand apart from each other.
fn pairs_in(response: &str, from: usize, arguments: &Map) -> Option<Vec<(Part, Range<usize>)>> {
    let mut left: Vec<(&str, &Value)> = arguments
        .iter()
        .map(|(key, value)| (key.as_str(), value))
        .collect();
    let mut found = Vec::new();
    let mut end = from;
    while !left.is_empty() {
        let next = left.iter().enumerate().filter_map(|(index, (key, value))| {
            let start = standing_in(response, key, end)?;
            let behind = start + key.len();
            let (gap, len) = place_of(&response[behind..], value)?;
            let value = behind + gap..behind + gap + len;
            Some((index, start..behind, value))
        });
        let (index, key, value) = next.min_by_key(|(_, key, _)| key.start)?;
        end = value.end;
        found.push((Part::Key, key));
        found.push((Part::Value, value));
        left.remove(index);
    }
    Some(found)
}

/// The first place behind another at which a key stands as a word of its own.
fn standing_in(response: &str, key: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(start) = find(response, key, at).filter(|start| start - from <= MAX_BETWEEN) {
        if !is_amid(response, &(start..start + key.len())) {
            return Some(start);
        }
        at = start + key.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(response: &str, message: &str) -> Vec<String> {
        let message = json::parse(message).unwrap();
        let gaps = gaps(response, message.as_object().unwrap()).unwrap_or_default();
        let shown = |gap: Gap| format!("{:?} {:?} {:?}", gap.before, gap.text, gap.behind);
        gaps.into_iter().map(shown).collect()
    }

    #[test]
    fn gaps_lie_between_the_parts_of_the_message() {
        let message =
            r#"{"content": "Hi.", "tool_calls": [{"name": "f", "arguments": {"k": "v"}}]}"#;
        assert_eq!(
            shown("<a>Hi.<c=f><p=k>v</p></c>", message),
            [
                "Start \"<a>\" Content",
                "Content \"<c=\" Name",
                "Name \"><p=\" Key",
                "Key \">\" Value",
                "Value \"</p></c>\" End"
            ]
        );
        assert_eq!(
            shown(r#"Hi.<c>{"k": "v"} as f</c>"#, message),
            [
                "Start \"\" Content",
                "Content \"<c>\" Arguments",
                "Arguments \" as \" Name",
                "Name \"</c>\" End"
            ]
        );
        assert!(shown("Hi. There is no call.", message).is_empty());
    }
}
