//! The changes themselves.

use std::ops::Range;

use super::marked::{Mark, Marked, Part};
use super::{Deviation, Markers};
use crate::derive::probe::CALLS_KEY;
use crate::judge::{self, Case};
use crate::response_template::ResponseTemplate;
use crate::value::json::{self, Format};
use crate::value::{Map, Value, python};

/// A text for the places where no chat template writes text.
const SAID: &str = "Let me see";

/// The name of a member that no chat template writes.
const MEMBER: &str = "note";

/// The response with a deviation, and the message that it must give; `None` where there is nothing to change. `all` are the marked
/// responses, of which one may show what another does not have.
pub(super) fn changed(
    deviation: Deviation,
    marked: &Marked<'_>,
    all: &[Marked<'_>],
    markers: Markers<'_>,
    template: &ResponseTemplate,
) -> Option<Case> {
    let text = marked.case.response.as_str();
    let message = &marked.case.message;
    let end = all.iter().find_map(end_of_plain);
    let end = end.or(markers.behind_object);
    let end = end.filter(|end| text.trim_end_matches(python::is_space).ends_with(end));
    let (response, message) = match deviation {
        Deviation::EndMissing => (text[..text.rfind(end?)?].to_owned(), message.clone()),
        Deviation::LastEndMissing => {
            let end = end?;
            let left = markers.pieces.without_last_token(end)?;
            let response = format!("{}{left}", &text[..text.rfind(end)?]);
            (response, message.clone())
        }
        Deviation::EndTwice => (format!("{text}{}", end?), message.clone()),
        Deviation::EndToken => {
            let end = markers
                .ends
                .first()
                .filter(|end| !text.contains(end.as_str()))?;
            (format!("{text}{end}"), message.clone())
        }
        Deviation::SpaceAdded => (spaced(marked, "\n"), message.clone()),
        Deviation::SpaceRemoved => (spaced(marked, ""), message.clone()),
        Deviation::SpaceDoubled => (doubled(marked), message.clone()),
        Deviation::ReasoningEmpty => {
            let is_without = marked.of_part(Part::Reasoning, true).next().is_none();
            let shown = all.iter().find_map(around_reasoning)?;
            let (open, close) = (is_without && marked.opened.is_none()).then_some(shown)?;
            (format!("{open}\n\n{close}{text}"), message.clone())
        }
        Deviation::ReasoningMissing => {
            let close = marked.of_part(Part::Reasoning, false).next()?;
            // One that the prompt has opened cannot be missing: what stands there instead is the reasoning.
            let start = marked.of_part(Part::Reasoning, true).next()?.span.start;
            let mut without_it = message.as_object()?.clone();
            without_it.shift_remove(marked.reasoning);
            // A reasoning in several parts is not missing with one of them.
            let is_whole = marked.of_part(Part::Reasoning, false).count() == 1;
            let is_closed = is_whole && !close.span.is_empty();
            let response = is_closed.then(|| without(text, &(start..close.span.end)))?;
            (response, Value::Object(without_it))
        }
        Deviation::ReasoningOpenedTwice => {
            let closes = marked.of_part(Part::Reasoning, false).next()?;
            let open = marked.of_part(Part::Reasoning, true).next();
            let open = match open {
                Some(open) => marked.text(open),
                None => all.iter().find_map(around_reasoning)?.0,
            };
            let has_it = !open.is_empty() && !closes.span.is_empty();
            (has_it.then(|| format!("{open}{text}"))?, message.clone())
        }
        Deviation::ReasoningClosedTwice => {
            let close = marked.of_part(Part::Reasoning, false).next()?;
            (twice(marked, close)?, message.clone())
        }
        Deviation::ReasoningQuotesCall => {
            let close = marked.of_part(Part::Reasoning, false).next()?;
            let own = message.get(marked.reasoning)?.as_str()?;
            let (first, rest) = own.split_once(' ')?;
            let call = all.iter().find_map(only_call)?;
            // A model that writes what ends the turn has ended it, and quotes nothing.
            let plain_end = all.iter().find_map(end_of_plain);
            let call = plain_end
                .and_then(|end| call.strip_suffix(end))
                .unwrap_or(call);
            let quoted = format!("{first} {call} {rest}");
            let at = text[..close.span.start].rfind(own)?;
            let mut message = message.as_object()?.clone();
            message.insert(marked.reasoning.to_owned(), Value::from(quoted.as_str()));
            let behind = &text[at + own.len()..];
            (
                judge::between(&text[..at], &quoted, behind),
                Value::Object(message),
            )
        }
        Deviation::AnswerNamesReasoning => {
            naming(marked, all.iter().find_map(opening_of_reasoning)?)?
        }
        Deviation::AnswerNamesCall => naming(marked, all.iter().find_map(opening_of_call)?)?,
        Deviation::ReasoningUnclosedBeforeCall => {
            let at = marked
                .marks
                .iter()
                .position(|mark| mark.part == Part::Reasoning && !mark.opens)?;
            let (close, next) = (&marked.marks[at], marked.marks.get(at + 1)?);
            let is_next = next.part == Part::Calls && next.opens && !close.span.is_empty();
            let between = text.get(close.span.end..next.span.start)?;
            let is_direct = is_next && between.trim().is_empty();
            let unclosed = format!(
                "{}\n{}",
                &text[..close.span.start],
                &text[next.span.start..]
            );
            // Where no render has an end, an engine stops at what it knows as one.
            let stopped = end.is_none().then(|| markers.ends.first()).flatten();
            let response = match stopped {
                Some(stop) if unclosed != text => unclosed + stop,
                _ => unclosed,
            };
            (is_direct.then_some(response)?, message.clone())
        }
        Deviation::ReasoningUnclosed => {
            let close = marked.of_part(Part::Reasoning, false).next()?;
            let only = Map::from_iter([
                ("role".to_owned(), Value::from("assistant")),
                (
                    marked.reasoning.to_owned(),
                    message.get(marked.reasoning)?.clone(),
                ),
            ]);
            let response = format!("{}{}", &text[..close.span.start], end.unwrap_or_default());
            (response, Value::Object(only))
        }
        Deviation::TextBeforeCalls => {
            let open = marked.of_part(Part::Calls, true).next()?;
            beside_calls(marked, open.span.start)?
        }
        Deviation::TextBetweenCalls => {
            let second = marked.of_part(Part::Calls, true).nth(1)?;
            beside_calls(marked, second.span.start)?
        }
        Deviation::TextBehindCalls => {
            let close = marked.of_part(Part::Calls, false).last()?;
            let is_left = close.span.end < text.len();
            beside_calls(marked, is_left.then_some(close.span.end)?)?
        }
        Deviation::SectionOpenedTwice => {
            let (first, open, _) = in_section(marked, all)?;
            let (before, behind) = text.split_at(first.span.start);
            (format!("{before}{open}{behind}"), message.clone())
        }
        Deviation::SectionMissing => {
            let (first, open, close) = in_section(marked, all)?;
            let last = marked.of_part(Part::Calls, false).last()?;
            let end = last.span.start + marked.text(last).strip_suffix(close)?.len();
            let within = text.get(first.span.start + open.len()..end)?;
            let (before, behind) = (&text[..first.span.start], &text[last.span.end..]);
            ([before, within, behind].concat(), message.clone())
        }
        Deviation::CallOpenedTwice => {
            let open = marked.of_part(Part::Calls, true).next()?;
            (twice(marked, open)?, message.clone())
        }
        Deviation::CallUnclosed => {
            let is_call = |mark: &Mark, opens| mark.part == Part::Calls && mark.opens == opens;
            let mut pairs = marked.marks.windows(2);
            let (close, open) = pairs.find_map(|pair| match pair {
                [close, open] if is_call(close, false) && is_call(open, true) => {
                    Some((close, open))
                }
                _ => None,
            })?;
            let between = &text[close.span.end..open.span.start];
            let is_own = between.trim().is_empty() && !close.span.is_empty();
            (is_own.then(|| without(text, &close.span))?, message.clone())
        }
        Deviation::LastCallUnclosed => {
            let close = marked.of_part(Part::Calls, false).last()?;
            let has_it = !close.span.is_empty();
            (has_it.then(|| without(text, &close.span))?, message.clone())
        }
        Deviation::ParametersReordered => (in_tags(marked, template)?, message.clone()),
        Deviation::JsonIndented => {
            let style = Format::indented(2);
            (
                in_json(marked, |value| Some(style.write(value)))?,
                message.clone(),
            )
        }
        Deviation::JsonReordered => {
            let response = in_json(marked, |value| Some(json::to_string(&reordered(value)?)));
            (response?, message.clone())
        }
        Deviation::JsonMember => {
            let response = in_json(marked, |value| with_member(value, message));
            (response?, message.clone())
        }
        Deviation::ArgumentsAsText => {
            let response = in_json(marked, |value| as_text(value, message));
            (response?, message.clone())
        }
        Deviation::IdsMissing => {
            let in_json = in_json(marked, |value| without_id(value, message));
            let response = in_json.or_else(|| without_marked_ids(marked))?;
            (response, without_ids(message))
        }
    };
    (response != text).then(|| Case {
        response,
        message,
        ..marked.case.clone()
    })
}

/// Returns the text that ends a response without calls and with a content, without the white space around it.
fn end_of_plain<'a>(marked: &Marked<'a>) -> Option<&'a str> {
    let is_plain = marked.marks.iter().all(|mark| mark.part != Part::Calls);
    let last = marked.marks.last().filter(|last| is_plain && !last.opens)?;
    without_space(marked.text(last))
}

/// The text without the white space around it; `None` where nothing is left.
fn without_space(text: &str) -> Option<&str> {
    let text = text.trim_matches(python::is_space);
    (!text.is_empty()).then_some(text)
}

/// Returns the text of a response's call, with its delimiters, where it has a single one.
fn only_call<'a>(marked: &Marked<'a>) -> Option<&'a str> {
    let mut opens = marked.of_part(Part::Calls, true);
    let (open, None) = (opens.next()?, opens.next()) else {
        return None;
    };
    let close = marked.of_part(Part::Calls, false).last()?;
    let call = marked.case.response.get(open.span.start..close.span.end)?;
    Some(call.trim_matches(python::is_space))
}

/// Returns what opens the reasoning of a response, or of its prompt, without the white space around it.
fn opening_of_reasoning<'a>(marked: &Marked<'a>) -> Option<&'a str> {
    let own = marked.of_part(Part::Reasoning, true).next();
    without_space(own.map(|mark| marked.text(mark)).or(marked.opened)?)
}

/// Returns what opens the first call of a response, without the white space around it.
fn opening_of_call<'a>(marked: &Marked<'a>) -> Option<&'a str> {
    without_space(marked.text(marked.of_part(Part::Calls, true).next()?))
}

/// Returns the response whose answer names a text, and its message.
fn naming(marked: &Marked<'_>, named: &str) -> Option<(String, Value)> {
    let case = marked.case.naming(named)?;
    Some((case.response, case.message))
}

/// Returns the delimiters that open and close the reasoning of a response.
fn around_reasoning<'a>(marked: &Marked<'a>) -> Option<(&'a str, &'a str)> {
    let open = marked.of_part(Part::Reasoning, true).next()?;
    let close = marked.of_part(Part::Reasoning, false).next()?;
    Some((marked.text(open), marked.text(close)))
}

/// Returns the delimiter that opens the first call of a response, where it begins with what opens a section, and what opens and closes that.
fn in_section<'m, 'a>(
    marked: &'m Marked<'a>,
    all: &[Marked<'a>],
) -> Option<(&'m Mark, &'a str, &'a str)> {
    let (open, close) = all.iter().find_map(section_of)?;
    let first = marked.of_part(Part::Calls, true).next()?;
    let is_begun = marked.text(first).starts_with(open) && !open.trim().is_empty();
    is_begun.then_some((first, open, close))
}

/// Returns what opens and closes the section of the calls: what stands before the first of several calls and not before the others, and
/// what stands behind the last and not behind the others. Either is empty where the calls have nothing of the kind; `None` where a
/// response has fewer than two calls.
fn section_of<'a>(marked: &Marked<'a>) -> Option<(&'a str, &'a str)> {
    let mut opens = marked
        .of_part(Part::Calls, true)
        .map(|mark| marked.text(mark));
    let mut closes = marked
        .of_part(Part::Calls, false)
        .map(|mark| marked.text(mark));
    let (first, second) = (opens.next()?, opens.next()?);
    let (earlier, last) = (closes.next()?, closes.last()?);
    // The calls' own names stand in what opens them: of the second, as much is common to both as comes before the name.
    let own = second.trim_start_matches(python::is_space);
    let head = own.chars().scan(0, |at, c| {
        *at += c.len_utf8();
        Some(*at)
    });
    let begins = head
        .map_while(|end| first.find(&own[..end]))
        .last()
        .filter(|start| *start > 0);
    let open = begins.map_or("", |start| &first[..start]);
    let close = last.strip_prefix(earlier.trim_end_matches(python::is_space));
    Some((open, close.unwrap_or_default()))
}

/// Returns the response with a delimiter twice; `None` where it has no text.
fn twice(marked: &Marked<'_>, mark: &Mark) -> Option<String> {
    let text = marked.case.response.as_str();
    let own = marked.text(mark);
    (!own.is_empty()).then(|| {
        format!(
            "{}{own}{}",
            &text[..mark.span.start],
            &text[mark.span.start..]
        )
    })
}

/// Returns the text without a part of it.
fn without(text: &str, part: &Range<usize>) -> String {
    [&text[..part.start], &text[part.end..]].concat()
}

/// Returns the response with the tags of each of its calls in the opposite order; `None` where the arguments are not read by a pattern for
/// tags.
fn in_tags(marked: &Marked<'_>, template: &ResponseTemplate) -> Option<String> {
    let tags = template.field(CALLS_KEY)?.content.tag_pattern()?;
    let text = marked.case.response.as_str();
    let mut out = String::new();
    let mut at = 0;
    for region in marked.calls() {
        let found = tags.find_iter(&text[region.clone()]);
        let spans: Vec<Range<usize>> = found
            .map_while(Result::ok)
            .map(|found| region.start + found.span.start..region.start + found.span.end)
            .collect();
        for (span, other) in spans.iter().zip(spans.iter().rev()) {
            out.push_str(&text[at..span.start]);
            out.push_str(&text[other.clone()]);
            at = span.end;
        }
    }
    out.push_str(&text[at..]);
    Some(out)
}

/// Returns the response with `space` in the place of the white space around its delimiters.
fn spaced(marked: &Marked<'_>, space: &str) -> String {
    let text = marked.case.response.as_str();
    let is_added = !space.is_empty();
    let mut out = String::new();
    let mut at = 0;
    for mark in marked.marks.iter().filter(|mark| !mark.span.is_empty()) {
        let before = &text[at..mark.span.start];
        let before = match is_added {
            true => before,
            false => before.trim_matches(python::is_space),
        };
        out.push_str(before);
        // A delimiter may begin or end a text as it begins and ends a line.
        if at > 0 || !before.is_empty() {
            out.push_str(space);
        }
        let own = &text[mark.span.clone()];
        out.push_str(match is_added {
            true => own,
            false => own.trim_matches(python::is_space),
        });
        at = mark.span.end;
        if at < text.len() {
            out.push_str(space);
        }
    }
    let rest = &text[at..];
    out.push_str(match is_added {
        true => rest,
        false => rest.trim_matches(python::is_space),
    });
    out
}

/// The response with the white space in its delimiters twice.
fn doubled(marked: &Marked<'_>) -> String {
    let text = marked.case.response.as_str();
    let mut out = String::new();
    let mut at = 0;
    for mark in &marked.marks {
        out.push_str(&text[at..mark.span.start]);
        for c in marked.text(mark).chars() {
            out.push(c);
            if python::is_space(c) {
                out.push(c);
            }
        }
        at = mark.span.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Returns the response with a text at a place beside its calls, which goes to the content.
fn beside_calls(marked: &Marked<'_>, at: usize) -> Option<(String, Value)> {
    let message = marked.case.message.as_object()?;
    if message.get("content").is_some_and(Value::is_truthy) {
        return None;
    }
    let mut message = message.clone();
    message.insert("content".to_owned(), Value::from(SAID));
    let (before, behind) = marked.case.response.split_at(at);
    Some((format!("{before}{SAID}{behind}"), Value::Object(message)))
}

/// Returns the response with the JSON of each of its calls written anew by `write`; `None` where there is no JSON, or it stays as it is.
fn in_json(marked: &Marked<'_>, write: impl Fn(&Value) -> Option<String>) -> Option<String> {
    let text = marked.case.response.as_str();
    let regions: Vec<Range<usize>> = marked.calls();
    if !marked.is_json || regions.is_empty() {
        return None;
    }
    let mut out = String::new();
    let mut at = 0;
    for region in regions {
        let inner = text[region.clone()].trim_matches(python::is_space);
        let value = json::parse(inner).ok()?;
        out.push_str(&text[at..region.start]);
        out.push_str(&write(&value)?);
        at = region.end;
    }
    out.push_str(&text[at..]);
    Some(out)
}

/// A value with the members of its objects in the opposite order; `None` where there are none to change.
fn reordered(value: &Value) -> Option<Value> {
    let turned = turned(value);
    (json::to_string(&turned) != json::to_string(value)).then_some(turned)
}

fn turned(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().rev();
            let members = members.map(|(key, member)| (key.clone(), turned(member)));
            Value::Object(members.collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(turned).collect()),
        other => other.clone(),
    }
}

/// The arguments of a message's calls.
fn arguments(message: &Value) -> Vec<&Value> {
    let calls = message.get(CALLS_KEY).and_then(Value::as_array);
    let calls = calls.unwrap_or_default().iter();
    calls
        .filter_map(|call| call.get("function")?.get("arguments"))
        .collect()
}

/// Applies `change` to each call in a value and returns the value's new text. Returns `None` where the value has no call, or where a call
/// cannot be changed in this way.
fn each_call(value: &Value, change: &dyn Fn(&Map) -> Option<Map>) -> Option<String> {
    let changed = match value {
        Value::Object(members) => Value::Object(change(members)?),
        Value::Array(items) => {
            let items = items
                .iter()
                .map(|item| Some(Value::Object(change(item.as_object()?)?)));
            Value::Array(items.collect::<Option<_>>()?)
        }
        _ => return None,
    };
    Some(json::to_string(&changed))
}

fn with_member(value: &Value, message: &Value) -> Option<String> {
    let arguments = arguments(message);
    each_call(value, &|call| {
        // An object among the arguments of a call is data, even if it looks like a call.
        let is_call = call.values().any(|member| arguments.contains(&member));
        let mut call = call.clone();
        call.insert(MEMBER.to_owned(), Value::from("plain"));
        is_call.then_some(call)
    })
}

fn as_text(value: &Value, message: &Value) -> Option<String> {
    let arguments = arguments(message);
    each_call(value, &|call| {
        let (key, object) = call
            .iter()
            .find(|(_, member)| arguments.contains(member) && member.as_object().is_some())?;
        let mut changed = call.clone();
        changed.insert(key.to_string(), Value::from(json::to_string(object)));
        Some(changed)
    })
}

fn without_id(value: &Value, message: &Value) -> Option<String> {
    let calls = message.get(CALLS_KEY).and_then(Value::as_array);
    let ids: Vec<&Value> = calls
        .unwrap_or_default()
        .iter()
        .filter_map(|call| call.get("id"))
        .collect();
    each_call(value, &|call| {
        let (key, _) = call.iter().find(|(_, member)| ids.contains(member))?;
        let key = key.to_string();
        let mut changed = call.clone();
        changed.shift_remove(&key);
        Some(changed)
    })
}

/// Returns the response without the ids in what opens its calls. Behind a name, what stands between that and the id is missing as well.
fn without_marked_ids(marked: &Marked<'_>) -> Option<String> {
    let calls = marked.case.message.get(CALLS_KEY).and_then(Value::as_array);
    let mut calls = calls?.iter();
    let text = marked.case.response.as_str();
    let mut out = String::new();
    let mut at = 0;
    for open in marked.of_part(Part::Calls, true) {
        let call = calls.next()?;
        let id = call.get("id")?.as_str().filter(|id| !id.is_empty())?;
        let name = call.get("function")?.get("name")?.as_str()?;
        let own = marked.text(open);
        let id_at = own.find(id).filter(|_| !id.contains(name))?;
        let name_end = own.find(name).map(|start| start + name.len());
        let start = name_end.filter(|end| *end <= id_at).unwrap_or(id_at);
        out.push_str(&text[at..open.span.start + start]);
        at = open.span.start + id_at + id.len();
    }
    out.push_str(&text[at..]);
    Some(out)
}

/// The message without what a deviation may leave in its calls or not: a member that is none of a call, and an id without any text.
pub(super) fn without_what_is_no_loss(deviation: Deviation, message: &Value) -> Value {
    let of_call = |call: &mut Map| match deviation {
        Deviation::IdsMissing if call.get("id").is_some_and(|id| !id.is_truthy()) => {
            call.shift_remove("id");
        }
        Deviation::JsonMember => {
            if let Some(Value::Object(function)) = call.get_mut("function") {
                function.shift_remove(MEMBER);
            }
        }
        _ => {}
    };
    each_of_message(message, &of_call)
}

/// The message with each of its calls changed.
fn each_of_message(message: &Value, change: &dyn Fn(&mut Map)) -> Value {
    let mut message = message.as_object().cloned().unwrap_or_default();
    if let Some(calls) = message.get(CALLS_KEY).and_then(Value::as_array) {
        let calls = calls.iter().map(|call| match call {
            Value::Object(call) => {
                let mut call = call.clone();
                change(&mut call);
                Value::Object(call)
            }
            other => other.clone(),
        });
        let calls: Vec<Value> = calls.collect();
        message.insert(CALLS_KEY.to_owned(), Value::Array(calls));
    }
    Value::Object(message)
}

fn without_ids(message: &Value) -> Value {
    each_of_message(message, &|call| {
        call.shift_remove("id");
    })
}
