//! An assistant's turn, read with the response template.

use std::ops::Range;
use std::sync::Arc;

use super::Reader;
use crate::conversation::format::ConnectionPart;
use crate::conversation::render::CALLS;
use crate::parser::{Options, ResponseParser, parse_response};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value, json};

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
        let whole = format!("{body}{end}");
        // The end may reach into the next header where all headers begin alike.
        let own_end = before_header(reader, end);
        let short = format!("{body}{own_end}");
        for prefix in prefixes(reader, template, before) {
            let prefix = prefix.as_str();
            for response in [whole.as_str(), body, short.as_str()] {
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
    found.iter_mut().for_each(complete);
    found
}

/// The end of a turn without the text with which prompts begin.
fn before_header<'t>(reader: &Reader<'_>, end: &'t str) -> &'t str {
    let prompts = reader.format.steps.iter().filter(|step| step.prompt);
    let headers = prompts.filter_map(|step| step.header.first()?.text());
    // Where all renders end with a prompt no step has it for a header.
    let template = reader.format.response_template.as_ref();
    let anchor = template.and_then(|one| one.get("start_anchor")?.as_str());
    let begun = headers.chain(anchor).filter_map(|header| {
        let mut starts = end.char_indices().map(|(at, _)| at);
        starts.find(|at| !end[*at..].trim().is_empty() && header.starts_with(&end[*at..]))
    });
    &end[..begun.min().unwrap_or(end.len())]
}

/// Gives a message what every message of an assistant has.
fn complete(message: &mut Map) {
    if message.get("role").is_none() {
        message.shift_insert(0, "role", Value::from("assistant"));
    }
    if message.get("content").is_none() && message.get("tool_calls").is_none() {
        message.insert("content", Value::from(""));
    }
}

/// The prompts that a turn may follow: its own header, those of the format, its openers, and none. Of prompts that leave the same text for
/// the response one is kept.
fn prefixes(reader: &Reader<'_>, template: &ResponseTemplate, before: &str) -> Vec<String> {
    let prompts = reader.format.steps.iter().filter(|step| step.prompt);
    let prompts = prompts.map(|step| {
        let texts = step
            .end
            .iter()
            .chain(&step.header)
            .filter_map(ConnectionPart::text);
        texts.collect::<String>()
    });
    let own = std::iter::once(before.to_owned()).filter(|own| !own.is_empty());
    let all = own
        .chain(prompts)
        .chain(reader.format.openers.iter().cloned())
        .filter(|prefix| {
            let after = template.after_last_anchor(prefix);
            after.is_ok_and(|after| after.len() < prefix.len())
        })
        .chain([String::new()]);
    let mut left: Vec<String> = Vec::new();
    let all = all.filter(|prefix| match template.after_last_anchor(prefix) {
        Ok(after) if !left.iter().any(|known| known == after) => {
            left.push(after.to_owned());
            true
        }
        _ => false,
    });
    all.collect()
}

/// The messages of a turn whose texts speak of delimiters: what the response template takes for one is text.
///
/// A delimiter that is meant as text is replaced by a character that nothing takes for one, and put back where that character was
/// read. It is tried with each delimiter and all behind it, with each alone, and with others ([`meant`]): `a<think>b` in a content opens the reasoning again
/// otherwise, and takes from the message what was thought before. Each costs a parse of the turn.
pub(super) fn spoken(
    reader: &Reader<'_>,
    before: &str,
    body: &str,
    end: &str,
    tools: &[Value],
) -> Vec<Map> {
    let mut found: Vec<Map> = Vec::new();
    let Some(template) = &reader.template else {
        return found;
    };
    let Some(stand_in) = STAND_INS.chars().find(|c| !body.contains(*c)) else {
        return found;
    };
    for prefix in prefixes(reader, template, before) {
        let response = format!("{body}{end}");
        let spans = delimiters(template, &prefix, &response, tools);
        // The marker that ends the turn is no text of it.
        let spans: Vec<Range<usize>> = spans
            .into_iter()
            .filter(|span| span.end <= body.len())
            .collect();
        for meant in meant(spans.len()) {
            let texts: Vec<&str> = meant
                .iter()
                .map(|at| &response[spans[*at].clone()])
                .collect();
            let mut changed = response.clone();
            for span in meant.iter().rev().map(|at| &spans[*at]) {
                changed.replace_range(span.clone(), stand_in.encode_utf8(&mut [0; 4]));
            }
            let Ok(message) = parse_response(&changed, Arc::clone(template), &prefix, tools) else {
                continue;
            };
            let mut texts = texts.into_iter();
            let mut message = put_back(Value::Object(message), stand_in, &mut texts);
            // A message that lost one of them is not what was written; nor is one that has them in another order.
            if let (Value::Object(message), None) = (&mut message, texts.next()) {
                complete(message);
                if !found.contains(message) {
                    found.push(message.clone());
                }
            }
        }
    }
    found
}

/// Which of so many delimiters may be meant as text: each with all behind it, each alone, and, of few, all others that are possible.
fn meant(count: usize) -> Vec<Vec<usize>> {
    let behind = (0..count.saturating_sub(1)).map(|at| (at..count).collect());
    let alone = (0..count).map(|at| vec![at]);
    let mut all: Vec<Vec<usize>> = behind.chain(alone).collect();
    if count <= MAX_ANY {
        for chosen in 1..1_usize << count {
            let some: Vec<usize> = (0..count).filter(|at| chosen >> at & 1 == 1).collect();
            if !all.contains(&some) {
                all.push(some);
            }
        }
    }
    all
}

/// Of how many delimiters any may be meant as text.
const MAX_ANY: usize = 6;

/// Characters for private use, one of which stands for a delimiter that is meant as text.
const STAND_INS: &str = "\u{e0a0}\u{e7f3}\u{f155}\u{f8d2}";

/// Puts texts back, one after the other, where a character stands for them.
fn put_back<'t>(value: Value, stand_in: char, texts: &mut impl Iterator<Item = &'t str>) -> Value {
    match value {
        Value::String(text) if text.contains(stand_in) => {
            let mut whole = String::new();
            for c in text.chars() {
                match (c == stand_in).then(|| texts.next()).flatten() {
                    Some(text) => whole.push_str(text),
                    None => whole.push(c),
                }
            }
            Value::from(whole)
        }
        Value::Array(items) => Value::Array(
            items
                .into_iter()
                .map(|item| put_back(item, stand_in, texts))
                .collect(),
        ),
        Value::Object(members) => {
            let members = members.into_iter();
            let members =
                members.map(|(key, value)| (key.to_string(), put_back(value, stand_in, texts)));
            Value::Object(Map::from_iter(members))
        }
        other => other,
    }
}

/// Where delimiters stand in a turn, at most [`MAX_SPOKEN`].
fn delimiters(
    template: &Arc<ResponseTemplate>,
    prefix: &str,
    response: &str,
    tools: &[Value],
) -> Vec<Range<usize>> {
    let options = Options {
        keep_delimiters: true,
        ..Options::default()
    };
    let before = template.after_last_anchor(prefix).map_or(0, str::len);
    let parser = ResponseParser::with_options(Arc::clone(template), prefix, tools, options);
    let Ok(mut parser) = parser else {
        return Vec::new();
    };
    // What is read before an error counts, too.
    let read = parser.feed_with(response, &mut |_| {});
    if read.is_ok() {
        let _ = parser.finalize_with(&mut |_| {});
    }
    let spans = parser.take_delimiters().into_iter().filter_map(|passed| {
        let start = passed.span.start.checked_sub(before)?;
        let end = (passed.span.end - before).min(response.len());
        (start < end).then_some(start..end)
    });
    spans.take(MAX_SPOKEN).collect()
}

/// How many delimiters of a turn are tried as text.
const MAX_SPOKEN: usize = 8;

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
        // The text behind the marker does not begin a turn, so that no reasoning is open there.
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

/// The message with other types of its arguments: where no definition of a tool says what they are, a text that is JSON may stand for its
/// value. First all that are such texts are values, then each alone.
pub(super) fn typed(message: &Map) -> Vec<Map> {
    let mut texts = 0;
    retyped(message, &mut |_| {
        texts += 1;
        false
    });
    if texts == 0 || texts > MAX_TYPED {
        return Vec::new();
    }
    let alone = (0..texts).filter(|_| texts > 1);
    let all = std::iter::once(None).chain(alone.map(Some));
    let one = |only: Option<usize>| {
        retyped(message, &mut |number| {
            only.is_none_or(|only| only == number)
        })
    };
    all.map(one).collect()
}

/// How many arguments of a turn may be texts that are JSON for other types to be tried.
const MAX_TYPED: usize = 8;

/// Returns the message with some arguments as values instead of texts: those that are the JSON of such a value, and that are chosen by
/// their number.
fn retyped(message: &Map, is_chosen: &mut dyn FnMut(usize) -> bool) -> Map {
    let mut message = message.clone();
    let mut number = 0;
    let calls = match message.get_mut(CALLS) {
        Some(Value::Array(calls)) => calls.as_mut_slice(),
        _ => &mut [],
    };
    for call in calls {
        let Value::Object(call) = call else { continue };
        let Some(Value::Object(function)) = call.get_mut("function") else {
            continue;
        };
        let arguments = function.get_mut("arguments");
        let Some(Value::Object(arguments)) = arguments else {
            continue;
        };
        for argument in arguments.values_mut() {
            let parsed = argument.as_str().and_then(|text| json::parse(text).ok());
            let Some(parsed) = parsed.filter(|parsed| parsed.as_str().is_none()) else {
                continue;
            };
            if is_chosen(number) {
                *argument = parsed;
            }
            number += 1;
        }
    }
    message
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
    fn any_of_few_delimiters_may_be_text() {
        let all = meant(3);
        assert_eq!(all.len(), 7);
        assert_eq!(all[..2], [vec![0, 1, 2], vec![1, 2]]);
        assert!(all.contains(&vec![0, 2]));
        // Of many only each alone, and each with all behind it.
        assert_eq!(meant(MAX_ANY + 1).len(), 2 * (MAX_ANY + 1) - 1);
    }

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
