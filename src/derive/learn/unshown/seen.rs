//! Responses, taken apart by the messages that they must parse to.
//!
//! A response is searched for the parts of its message from its beginning on: the texts, then each call's name and arguments. The
//! arguments are one JSON object, alone or within one that has the name, too; or else each key stands in the text by itself, and
//! its value behind it. What stands between two neighbours is cut where it is the same as elsewhere: of what stands between two calls, the
//! beginning that is also behind the last call closes a call, and the end that is also before the first one opens it. So
//! `a), b` and `b)]` give `)` for the close of a call, `, ` between two and `]` behind all.
//!
//! It costs a search for each name, key and value, each within the next [`MAX_BETWEEN`] bytes.

use super::super::recorded::Recorded;
use super::super::{CONTENT_KEY, calls};
use super::arguments;
use crate::derive::probe::CALLS_KEY;
use crate::pattern::Pattern;
use crate::text;
use crate::value::{Map, Value, json, python};

/// How far a part may stand behind the one before it, in bytes.
const MAX_BETWEEN: usize = 160;

/// How the parts of a message are written that no render shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parts {
    pub(super) texts: Vec<Text>,
    pub(super) calls: Option<Calls>,
    pub(super) taught_by: Vec<String>,
}

/// A text beside the content.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    pub(super) key: String,
    pub(super) before: String,
    pub(super) behind: String,
}

/// The calls, behind the texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Calls {
    /// Before all of them.
    pub(super) open: String,
    /// Before each.
    pub(super) head: String,
    pub(super) body: Body,
    /// Behind each.
    pub(super) tail: String,
    /// Between two.
    pub(super) between: String,
    /// Behind all of them.
    pub(super) close: String,
}

/// How one call is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    /// As an object: its members in their order.
    Object(Vec<(String, Member)>),
    /// The name, what stands between, and an object of arguments.
    Named(String),
    /// The name, and each argument by itself.
    Pairs(Pairs),
}

/// The value of a member.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Member {
    Name,
    Arguments,
    /// The arguments as a string with JSON in it.
    ArgumentsText,
    Id,
    /// Always this.
    Constant(Value),
}

/// Arguments by themselves.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pairs {
    /// Behind the name.
    pub(super) open: String,
    pub(super) before_key: String,
    pub(super) behind_key: String,
    pub(super) behind_value: String,
    pub(super) between: String,
    pub(super) texts: Quoting,
    /// Whether what is no text is written as Python spells it.
    pub(super) is_python: bool,
}

/// How a text is written that is a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Quoting {
    Json,
    Plain,
    Quoted(char),
}

/// A call in a response.
struct Found {
    start: usize,
    end: usize,
    body: FoundBody,
}

enum FoundBody {
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

/// What one response shows of calls.
struct Shown {
    /// What stands before the first.
    lead: String,
    /// What stands between each two.
    gaps: Vec<String>,
    /// What stands behind the last.
    trail: String,
    calls: Vec<Found>,
}

/// How the parts with these keys are written, if the responses tell it of each of them.
pub(super) fn parts(recorded: &[Recorded], keys: &[String], close: Option<&str>) -> Option<Parts> {
    let end = close.and_then(|close| Pattern::regex(&format!("(?:{close})\\Z")).ok());
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
            let Some(text) = wanted.and_then(|text| around(response, key, text, content)) else {
                continue;
            };
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
    let calls = wants_calls.then(|| of_calls(&shown)).flatten();
    let texts = keys.iter().filter_map(|key| {
        let of_key: Vec<&Text> = texts.iter().filter(|text| text.key == *key).collect();
        let most = most(
            of_key
                .iter()
                .map(|text| (text.before.as_str(), text.behind.as_str())),
        )?;
        let (before, behind) = most;
        let is_marked = !before.trim().is_empty() && !behind.trim().is_empty();
        is_marked.then(|| Text {
            key: key.clone(),
            before: before.to_owned(),
            behind: behind.to_owned(),
        })
    });
    let parts = Parts {
        texts: texts.collect(),
        calls,
        taught_by,
    };
    (!parts.texts.is_empty() || parts.calls.is_some()).then_some(parts)
}

fn trimmed(value: Option<&Value>) -> Option<&str> {
    let text = value?.as_str()?.trim_matches(python::is_space);
    (!text.is_empty()).then_some(text)
}

fn find(text: &str, part: &str, at: usize) -> Option<usize> {
    text[at..].find(part).map(|by| at + by)
}

/// A text that the response begins with, and where what stands around it ends: before the content, or before what follows on the
/// same line.
fn around(response: &str, key: &str, text: &str, content: Option<&str>) -> Option<(Text, usize)> {
    let start = find(response, text, 0).filter(|start| *start <= MAX_BETWEEN)?;
    let end = start + text.len();
    let next = find(response, content?, end)?;
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
        // Of the keys that are left the one that comes next.
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

/// How far on a value stands, and how long it is.
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

/// The most common of some; of equally common ones the first.
fn most<T: PartialEq + Copy>(all: impl Iterator<Item = T>) -> Option<T> {
    let all: Vec<T> = all.collect();
    let count = |one: &T| all.iter().filter(|other| *other == one).count();
    let best = all.iter().map(count).max()?;
    // What fewer than half have is not believed.
    all.iter()
        .copied()
        .find(|one| count(one) == best && best * 2 >= all.len())
}

fn of_calls(shown: &[Shown]) -> Option<Calls> {
    let body = body(shown)?;
    let is_pairs = matches!(body, Body::Pairs(_));
    // Of a call without arguments it cannot be told where its arguments would end.
    let has_end = |call: &Found| {
        !is_pairs
            || matches!(&call.body, FoundBody::Pairs { behind_keys, .. } if !behind_keys.is_empty())
    };
    let lead = most(shown.iter().map(|one| one.lead.as_str()))?;
    let ended = shown
        .iter()
        .filter(|one| one.calls.last().is_some_and(&has_end));
    let trail = most(ended.map(|one| one.trail.trim_end_matches(python::is_space)))?;
    let gaps = shown.iter().flat_map(|one| {
        let ended = one.calls.iter().zip(&one.gaps);
        ended
            .filter(|(call, _)| has_end(call))
            .map(|(_, gap)| gap.as_str())
    });
    let (tail, between, head) = match most(gaps) {
        Some(gap) => {
            let tail = common_prefix(gap, trail);
            let rest = &gap[tail.len()..];
            let head = common_suffix(rest, lead);
            (tail, &rest[..rest.len() - head.len()], head)
        }
        None => (trail, "", lead),
    };
    let mut calls = Calls {
        open: lead[..lead.len() - head.len()].to_owned(),
        head: head.to_owned(),
        tail: tail.to_owned(),
        between: between.to_owned(),
        close: trail[tail.len()..].to_owned(),
        body,
    };
    // What stands behind each value stands behind the last one, too.
    if let Body::Pairs(pairs) = &mut calls.body {
        let all = std::mem::take(&mut pairs.between);
        let behind = common_prefix(&all, &calls.tail).to_owned();
        let rest = &all[behind.len()..];
        let before = common_suffix(rest, &pairs.open).to_owned();
        pairs.between = rest[..rest.len() - before.len()].to_owned();
        pairs.open.truncate(pairs.open.len() - before.len());
        calls.tail.drain(..behind.len());
        (pairs.before_key, pairs.behind_value) = (before, behind);
    }
    let marked = [&calls.open, &calls.head, &calls.tail, &calls.close];
    let is_marked = marked.iter().any(|text| !text.trim().is_empty());
    is_marked.then_some(calls)
}

/// How a call is written in most of the responses.
fn body(shown: &[Shown]) -> Option<Body> {
    let calls: Vec<&Found> = shown.iter().flat_map(|one| &one.calls).collect();
    let objects = calls.iter().filter_map(|call| match &call.body {
        FoundBody::Object(members) => Some(members.as_slice()),
        _ => None,
    });
    let objects: Vec<&[(String, Member)]> = objects.collect();
    let named = calls.iter().filter_map(|call| match &call.body {
        // An object of no arguments may be anything.
        FoundBody::Named(between) => Some(between.as_str()),
        _ => None,
    });
    let named: Vec<&str> = named.collect();
    if objects.len() * 2 > calls.len() {
        return Some(Body::Object(most(objects.into_iter())?.to_vec()));
    }
    if named.len() * 2 > calls.len() {
        return Some(Body::Named(most(named.into_iter())?.to_owned()));
    }
    pairs(&calls).map(Body::Pairs)
}

fn pairs(calls: &[&Found]) -> Option<Pairs> {
    let (mut opens, mut behind_keys, mut betweens) = (Vec::new(), Vec::new(), Vec::new());
    let (mut quotings, mut are_python) = (Vec::new(), false);
    for call in calls {
        let FoundBody::Pairs {
            open,
            behind_keys: behind,
            between,
            quotings: quoted,
            is_python,
        } = &call.body
        else {
            continue;
        };
        if behind.is_empty() {
            continue;
        }
        opens.push(open.as_str());
        behind_keys.extend(behind.iter().map(String::as_str));
        betweens.extend(between.iter().map(String::as_str));
        quotings.extend(quoted);
        are_python |= is_python;
    }
    let texts = most(quotings.into_iter()).cloned();
    Some(Pairs {
        open: most(opens.into_iter())?.to_owned(),
        before_key: String::new(),
        behind_key: most(behind_keys.into_iter())?.to_owned(),
        behind_value: String::new(),
        between: most(betweens.into_iter())?.to_owned(),
        // Where texts are JSON, so is the rest; what deviates from that is read as text.
        is_python: are_python && texts.as_ref().is_some_and(|texts| *texts != Quoting::Json),
        texts: texts.unwrap_or(Quoting::Json),
    })
}

/// What both begin with.
fn common_prefix<'t>(one: &'t str, other: &str) -> &'t str {
    &one[..text::common_prefix(one, other)]
}

/// What both end with.
fn common_suffix<'t>(one: &'t str, other: &str) -> &'t str {
    &one[one.len() - text::common_suffix(one, other)..]
}
