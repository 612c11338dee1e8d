//! Responses, taken apart by the messages that they must parse to.
//!
//! A response is searched for the parts of its message from its beginning on: the texts, then each call's name and arguments. The
//! arguments are one JSON object, alone or within one that has the name, too; or else each key stands in the text by itself, and
//! its value behind it.
//!
//! It costs a search for each name, key and value, each within the next [`MAX_BETWEEN`] bytes.

use super::super::recorded::Recorded;
use super::super::{CONTENT_KEY, calls};
use super::arguments;
use super::parts::{Member, Quoting, Text};
use crate::derive::probe::CALLS_KEY;
use crate::pattern::Pattern;
use crate::value::{Map, Value, json, python};

/// How far a part may stand behind the one before it, in bytes.
const MAX_BETWEEN: usize = 160;

/// The delimiters that are known, as patterns.
pub(super) struct Known {
    /// For the text that ends the content.
    pub(super) close: Option<String>,
    /// For the text that opens calls.
    pub(super) opens_calls: Option<String>,
}

/// The parts of messages that the responses show.
pub(super) struct Seen {
    /// Each text beside the content, with what stands around it.
    pub(super) texts: Vec<Text>,
    /// The calls of each response that has some.
    pub(super) calls: Vec<Shown>,
    /// The names of the responses that show something.
    pub(super) taught_by: Vec<String>,
}

/// A call in a response.
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) body: FoundBody,
}

pub(super) enum FoundBody {
    Object(Vec<(String, Member)>),
    Named(String),
    Pairs {
        open: String,
        behind_keys: Vec<String>,
        between: Vec<String>,
        quotings: Vec<Quoting>,
        is_python: bool,
    },
}

/// The calls of one response, with the text around them.
pub(super) struct Shown {
    /// The text before the first call.
    pub(super) lead: String,
    /// The texts between each two neighbouring calls.
    pub(super) gaps: Vec<String>,
    /// The text behind the last call.
    pub(super) trail: String,
    pub(super) calls: Vec<Found>,
}

/// Returns the parts with these keys that all responses show.
pub(super) fn seen(recorded: &[Recorded], keys: &[String], known: &Known) -> Seen {
    let end = known.close.as_ref();
    let end = end.and_then(|close| Pattern::regex(&format!("(?:{close})\\Z")).ok());
    let opens_calls = known.opens_calls.as_ref();
    let opens_calls = opens_calls.and_then(|open| Pattern::regex(open).ok());
    let mut texts: Vec<Text> = Vec::new();
    let mut shown: Vec<Shown> = Vec::new();
    let mut taught_by = Vec::new();
    let wants_calls = keys.iter().any(|key| key == CALLS_KEY);
    for one in recorded {
        let Some(message) = one.expected.as_ref().and_then(Value::as_object) else {
            continue;
        };
        let response = match end.as_ref().map(|end| end.search(&one.response, 0)) {
            Some(Ok(Some(found))) => &one.response[..found.span.start],
            _ => one.response.as_str(),
        };
        let mut at = 0;
        let mut is_taught = false;
        for key in keys.iter().filter(|key| *key != CALLS_KEY) {
            let wanted = trimmed(message.get(key.as_str()));
            let content = trimmed(message.get(CONTENT_KEY));
            let text = wanted.and_then(|text| {
                around(response, key, text, |end| match content {
                    Some(content) => find(response, content, end),
                    // Calls may follow at once.
                    None => {
                        let found = opens_calls.as_ref()?.search(response, end).ok()??;
                        Some(found.span.start)
                    }
                })
            });
            let Some(text) = text else { continue };
            at = at.max(text.1);
            is_taught |= !texts.contains(&text.0);
            texts.push(text.0);
        }
        let calls = message.get(CALLS_KEY).and_then(Value::as_array);
        if let Some(calls) = calls.filter(|calls| wants_calls && !calls.is_empty()) {
            let content = trimmed(message.get(CONTENT_KEY));
            if let Some(found) = content.and_then(|content| find(response, content, at)) {
                at = found + content.map_or(0, str::len);
            }
            if let Some(found) = calls_in(response, at, calls) {
                shown.push(found);
                is_taught = true;
            }
        }
        if is_taught {
            taught_by.push(one.name.clone());
        }
    }
    Seen {
        texts,
        calls: shown,
        taught_by,
    }
}

fn trimmed(value: Option<&Value>) -> Option<&str> {
    let text = value?.as_str()?.trim_matches(python::is_space);
    (!text.is_empty()).then_some(text)
}

fn find(text: &str, part: &str, at: usize) -> Option<usize> {
    text[at..].find(part).map(|by| at + by)
}

/// Returns a text that the response begins with, and the place where the text around it ends, which `next` finds behind a place.
fn around(
    response: &str,
    key: &str,
    text: &str,
    next: impl Fn(usize) -> Option<usize>,
) -> Option<(Text, usize)> {
    let start = find(response, text, 0).filter(|start| *start <= MAX_BETWEEN)?;
    let end = start + text.len();
    let next = next(end)?;
    let behind = &response[end..next];
    (behind.len() <= MAX_BETWEEN).then(|| {
        let text = Text {
            key: key.to_owned(),
            before: response[..start].to_owned(),
            behind: behind.to_owned(),
        };
        (text, next)
    })
}

/// The calls behind a place, if all of them stand there in their order.
fn calls_in(response: &str, at: usize, calls: &[Value]) -> Option<Shown> {
    let mut found: Vec<Found> = Vec::new();
    for call in calls {
        let from = found.last().map_or(at, |last| last.end);
        found.push(call_in(response, from, call)?);
    }
    let (first, last) = (found.first()?, found.last()?);
    let pairs = found.iter().zip(&found[1..]);
    Some(Shown {
        lead: response[at..first.start].to_owned(),
        gaps: pairs
            .map(|(one, next)| response[one.end..next.start].to_owned())
            .collect(),
        trail: response[last.end..].to_owned(),
        calls: found,
    })
}

fn call_in(response: &str, from: usize, call: &Value) -> Option<Found> {
    let plain = calls::plain_call(call, true);
    let name = plain.get("name")?.as_str()?;
    let arguments = arguments(call)?;
    let mut at = from;
    while let Some(start) = find(response, name, at) {
        let span = start..start + name.len();
        at = span.end;
        if let Some(found) = object_in(response, from, &span, &plain, &arguments) {
            return Some(found);
        }
        if calls::is_amid(response, &span) {
            continue;
        }
        let body = named_in(response, span.end, &arguments)
            .or_else(|| pairs_in(response, span.end, &arguments));
        if let Some((body, end)) = body {
            return Some(Found {
                start: span.start,
                end,
                body,
            });
        }
    }
    None
}

/// A call that is an object with the name in it.
fn object_in(
    response: &str,
    from: usize,
    name: &std::ops::Range<usize>,
    call: &Value,
    arguments: &Map,
) -> Option<Found> {
    let body = calls::enclosing(response, name).filter(|body| body.start >= from)?;
    let object = json::parse(&response[body.clone()]).ok()?;
    let called = &response[name.clone()];
    let members = object.as_object()?.iter().map(|(key, value)| {
        let as_text = value.as_str().and_then(|text| json::parse(text).ok());
        let member = match value {
            value if value.as_str() == Some(called) => Member::Name,
            value if value.as_object() == Some(arguments) => Member::Arguments,
            _ if as_text.as_ref().and_then(Value::as_object) == Some(arguments) => {
                Member::ArgumentsText
            }
            value if call.get("id") == Some(value) => Member::Id,
            value => Member::Constant(value.clone()),
        };
        (key.to_string(), member)
    });
    let members: Vec<(String, Member)> = members.collect();
    let is_there = |wanted: &[Member]| members.iter().any(|(_, member)| wanted.contains(member));
    let is_whole =
        is_there(&[Member::Name]) && is_there(&[Member::Arguments, Member::ArgumentsText]);
    is_whole.then_some(Found {
        start: body.start,
        end: body.end,
        body: FoundBody::Object(members),
    })
}

/// Arguments that are an object behind the name.
fn named_in(response: &str, at: usize, arguments: &Map) -> Option<(FoundBody, usize)> {
    let start = find(response, "{", at).filter(|start| start - at <= MAX_BETWEEN)?;
    let (value, len) = json::parse_prefix(&response[start..]).ok()?;
    let between = response[at..start].to_owned();
    (value.as_object() == Some(arguments)).then(|| (FoundBody::Named(between), start + len))
}

/// Arguments each by itself.
fn pairs_in(response: &str, at: usize, arguments: &Map) -> Option<(FoundBody, usize)> {
    let mut left: Vec<(&str, &Value)> = arguments
        .iter()
        .map(|(key, value)| (key.as_str(), value))
        .collect();
    let (mut open, mut behind_keys, mut between) = (String::new(), Vec::new(), Vec::new());
    let mut quotings = Vec::new();
    let mut is_python = false;
    let mut end = at;
    while !left.is_empty() {
        // The next of the keys that are left, in the order of the text.
        let next = left.iter().enumerate().filter_map(|(index, (key, value))| {
            let start = find(response, key, end).filter(|start| start - end <= MAX_BETWEEN)?;
            let behind = start + key.len();
            let (gap, len, spelled) = value_in(&response[behind..], value)?;
            Some((start, index, behind, gap, len, spelled))
        });
        let (start, index, behind, gap, len, spelled) = next.min_by_key(|next| next.0)?;
        match behind_keys.is_empty() {
            true => open = response[end..start].to_owned(),
            false => between.push(response[end..start].to_owned()),
        }
        behind_keys.push(response[behind..behind + gap].to_owned());
        match spelled {
            Spelled::Text(quoting) => quotings.push(quoting),
            Spelled::Python => is_python = true,
            Spelled::Json => {}
        }
        end = behind + gap + len;
        left.remove(index);
    }
    let body = FoundBody::Pairs {
        open,
        behind_keys,
        between,
        quotings,
        is_python,
    };
    Some((body, end))
}

enum Spelled {
    Text(Quoting),
    Json,
    Python,
}

/// Returns how many bytes ahead a value stands, and how long it is, however it is spelled.
pub(in crate::derive::learn) fn place_of(text: &str, value: &Value) -> Option<(usize, usize)> {
    value_in(text, value).map(|(at, len, _)| (at, len))
}

/// Returns how many bytes ahead a value stands, how long it is and how it is spelled.
fn value_in(text: &str, value: &Value) -> Option<(usize, usize, Spelled)> {
    let starts = text.char_indices().map(|(at, _)| at).skip(1);
    let mut starts = starts.take_while(|at| *at <= MAX_BETWEEN);
    starts.find_map(|at| {
        let rest = &text[at..];
        let as_json = json::parse_prefix(rest).ok();
        if let Some((_, len)) = as_json.filter(|(found, _)| found == value) {
            let spelled = match value {
                Value::String(_) => Spelled::Text(Quoting::Json),
                _ => Spelled::Json,
            };
            return Some((at, len, spelled));
        }
        let Some(plain) = value.as_str() else {
            let spelled = python::repr(value);
            return rest
                .starts_with(&spelled)
                .then_some((at, spelled.len(), Spelled::Python));
        };
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        if let Some(quote) = quote {
            let spelled = format!("{quote}{plain}{quote}");
            return rest.starts_with(&spelled).then_some((
                at,
                spelled.len(),
                Spelled::Text(Quoting::Quoted(quote)),
            ));
        }
        let is_plain = !plain.is_empty() && rest.starts_with(plain);
        is_plain.then_some((at, plain.len(), Spelled::Text(Quoting::Plain)))
    })
}
