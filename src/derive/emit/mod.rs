//! From what is known of the wire format to the simplest response template that reads it.
//!
//! Literals where literals do. A pattern is written where a literal would fall into one of the format's traps: the close
//! of the implicit field, since white space after it would open that field again and overwrite it; the close of a call,
//! for the same reason; and openings that carry a name.

mod ends;
mod listed;
mod loose;
mod tags;
mod tail;
mod target;
mod texts;

use indexmap::IndexMap;

use self::ends::Ends;
use super::analysis::Analysis;
use super::arguments::JsonDialect;
use super::choice::{About, Choices, Reading};
use super::cut::{Members, Shape};
use super::probe::{self, ArgumentsForm};
use super::tool_calls::ToolCalls;
use super::{slot, text};
use crate::response_template::{Delimiter, Document, FieldDocument};
use crate::value::{Map, Value, json};

pub(super) use target::{Target, left_to_do, reasoning_field};

pub(super) fn emit(analysis: &Analysis, target: Target, choices: &Choices) -> Document {
    let ends = Ends::of(analysis, target);
    let mut fields = IndexMap::new();
    if let Some(reasoning) = &analysis.reasoning {
        fields.insert(
            reasoning_field(analysis, target).to_owned(),
            texts::reasoning(reasoning, &ends, choices),
        );
    }
    if let Some(calls) = &analysis.calls {
        let region = call_region(analysis, calls, &ends, choices);
        fields.insert("tool_calls".to_owned(), region);
    }
    let content = texts::content(analysis, &ends, target, choices);
    fields.insert("content".to_owned(), content);
    let mut defaults = Map::from_iter([("role".to_owned(), Value::from("assistant"))]);
    defaults.extend(
        target::default_content(analysis, target).map(|value| ("content".to_owned(), value)),
    );
    Document {
        defaults,
        start_anchor: Delimiter::Literals(analysis.anchor.literals.clone()),
        fields,
    }
}

/// A pattern for a marker that may be missing, and for the white space after it; nothing for no marker.
fn optional(marker: &str) -> String {
    match marker {
        "" => String::new(),
        marker => format!("(?:{}\\s*)?", slot::pattern(marker)),
    }
}

/// Whether nothing in the marker may vary.
fn is_plain(marker: &str) -> bool {
    !slot::any(marker) && !marker.contains(char::is_whitespace)
}

/// A pattern for any of the literals; `None` for none.
fn any_of(literals: &[&str]) -> Option<String> {
    alternatives(literals.iter().map(|one| slot::pattern(one)).collect())
}

/// A pattern for what any of the patterns matches; `None` for none.
fn alternatives(patterns: Vec<String>) -> Option<String> {
    match patterns.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(format!("(?:{})", several.join("|"))),
    }
}

fn call_region(
    analysis: &Analysis,
    calls: &ToolCalls,
    ends: &Ends<'_>,
    choices: &Choices,
) -> FieldDocument {
    let name = name(analysis, calls);
    let listed = listed::delimiters(calls, ends, &name).filter(|_| {
        let in_list = [
            "in the list",
            "a call is one only where the list was opened and is not closed",
            "nothing stands before each call that only a call has",
        ];
        let apart = [
            "each apart",
            "a call is one wherever it is written as one",
            "what stands behind a call's name may tell that it is one, and what closes the list may stand in a call",
        ];
        choices.whether("calls in a list", About::Calls, [in_list, apart])
    });
    let (open, close) = match listed {
        Some((open, close)) => (Some(open), Some(close)),
        None => (
            opening(calls, &name, choices),
            closing(calls, ends, &name, choices),
        ),
    };
    let region = FieldDocument {
        open,
        close,
        repeats: true,
        ..FieldDocument::default()
    };
    match &calls.shape {
        Shape::Array(members) => FieldDocument {
            repeats: false,
            content: Some("json".to_owned()),
            transform: Some(call_transform(members, "")),
            transform_each: true,
            ..region
        },
        Shape::Object(members) if calls.call.0.trim().is_empty() => {
            bare_object(calls, members, ends, choices)
        }
        Shape::Object(members) => FieldDocument {
            content: Some("json".to_owned()),
            transform: Some(call_transform(members, "content.")),
            ..region
        },
        Shape::Tagged { .. } => FieldDocument {
            content: Some(
                match analysis.dialect.arguments {
                    ArgumentsForm::Object => "json",
                    ArgumentsForm::JsonText => "text",
                }
                .to_owned(),
            ),
            transform: Some(named_call(calls)),
            ..region
        },
        Shape::Dialect { json, .. } => FieldDocument {
            content: Some("json".to_owned()),
            content_args: dialect_arguments(json),
            transform: Some(named_call(calls)),
            ..region
        },
        Shape::Tags { argument, .. } => FieldDocument {
            content: Some("xml-inline".to_owned()),
            content_args: tags::content_args(argument),
            transform: Some(named_call(calls)),
            ..region
        },
    }
}

/// A pattern for the name and what stands between it and the arguments; empty where the name is not part of what opens a
/// call.
fn name(analysis: &Analysis, calls: &ToolCalls) -> String {
    let (between, after) = match &calls.shape {
        Shape::Array(_) | Shape::Object(_) => return String::new(),
        Shape::Tagged { between } if between.is_empty() => (between, "{".to_owned()),
        Shape::Tagged { between } => (between, between.clone()),
        Shape::Dialect { between, .. } => (between, format!("{between}{{")),
        Shape::Tags { between, argument } => (between, format!("{between}{}", argument.open)),
    };
    // A word that stands where a name would, and opens another field, is no name.
    let others = analysis.reasoning.iter().map(|reasoning| &reasoning.open);
    let taken: String = others
        .chain(&analysis.content.open)
        .filter_map(|open| open.strip_prefix(calls.call.0.trim()))
        .filter(|word| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_'))
        .map(|word| format!("(?!{}\\b)", text::escape(word)))
        .collect();
    format!("{taken}{}", name_pattern(between, &after))
}

/// A pattern for what opens a call, its arguments' first sign included where that is known, that captures nothing: what is
/// captured where a region closes would be in nobody's scope.
fn next_call(calls: &ToolCalls, name: &str) -> String {
    let brace = match &calls.shape {
        Shape::Tagged { .. } | Shape::Dialect { .. } => "\\{",
        _ => "",
    };
    let marker = marker_pattern(own_marker(calls, name), name);
    let open = format!("{marker}{name}{brace}").replace("(?P<id>", "(?:");
    if open.contains(slot::SAME_NAME) {
        open.replace("(?P<name>", "(")
            .replace(slot::SAME_NAME, "\\1")
    } else {
        open.replace("(?P<name>", "(?:")
    }
}

/// How `json` reads the arguments.
fn dialect_arguments(json: &JsonDialect) -> Map {
    let mut arguments = Map::new();
    if json.unquoted_keys {
        arguments.insert("unquoted_keys".to_owned(), Value::Bool(true));
    }
    let (open, close) = &json.string_delims;
    if (open.as_str(), close.as_str()) != ("\"", "\"") {
        let pair: Vec<Value> = vec![Value::from(open.as_str()), Value::from(close.as_str())];
        arguments.insert("string_delims".to_owned(), vec![Value::from(pair)].into());
    }
    arguments
}

/// A call whose name was captured by what opens it.
fn named_call(calls: &ToolCalls) -> Value {
    let id = calls.has_id().then(|| Value::from("{id}"));
    call_object(Value::from("{name}"), Value::from("{content}"), id)
}

/// A call that is a JSON object with nothing around it: the name is part of what opens it, the arguments are its body,
/// and the object's own end closes it.
fn bare_object(
    calls: &ToolCalls,
    members: &Members,
    ends: &Ends<'_>,
    choices: &Choices,
) -> FieldDocument {
    let text_end = ends.text_end;
    let [before, between, after] = &members.literals;
    let any_id = |pattern: String| pattern.replace(slot::ID, "[^\"]+");
    let head = any_id(loose_json(before));
    let section = optional(calls.section.0.trim());
    let [lead, between] = [before, between].map(|literal| loose_json(literal));
    let open = format!("{section}{lead}\"(?P<name>[^\"]+)\"{between}");
    let captured = |pattern: &str| pattern.replacen(slot::ID, "(?P<id>[^\"]*)", 1);
    let behind = loose_json(after);
    let open = match open.contains(slot::ID) || !behind.contains(slot::ID) {
        true => captured(&open),
        false => format!("{open}{}", ahead(&captured(&behind))),
    };
    let id = members.id.as_ref().map(|_| Value::from("{id}"));
    let open = any_id(open);
    let at_section = match stop(calls, ends, &head) {
        Some(stop) => format!("(?:{stop}|{text_end})"),
        None => text_end.to_owned(),
    };
    let section = calls.section.1.trim();
    let at_turn_end = (!section.is_empty()).then(|| {
        let turn_end = alternatives(
            ends.pattern(None, None)
                .into_iter()
                .chain([text_end.to_owned()])
                .collect(),
        );
        let last = format!("{}{}", optional(section), turn_end.unwrap_or_default());
        format!("(?:{last}|{})", before_next(calls, &head))
    });
    let reading = |way, because, end: String| Reading::new(way, json::quote(&end), because, end);
    let at_section = reading(
        "where the section does",
        "what closes the section closes its last call",
        at_section,
    );
    let at_turn_end = at_turn_end.map(|end| {
        let because =
            "what closes the section may stand in an argument as well, where no turn ends";
        reading("where the turn does", because, end)
    });
    let readings = std::iter::once(at_section).chain(at_turn_end);
    let end = choices.choose("end of a bare call", About::Calls, readings);
    FieldDocument {
        open: Some(Delimiter::pattern(open)),
        // Space before the first bracket belongs to the arguments, which are JSON and can bear it.
        close: Some(Delimiter::pattern(format!(
            "{}{}",
            any_id(behind).trim_start_matches("\\s*"),
            end.unwrap_or_default()
        ))),
        repeats: true,
        content: Some("json".to_owned()),
        transform: Some(call_object(
            Value::from("{name}"),
            Value::from("{content}"),
            id,
        )),
        ..FieldDocument::default()
    }
}

/// JSON punctuation as a pattern in which white space may stand wherever JSON allows it.
fn loose_json(literal: &str) -> String {
    let mut pattern = String::new();
    let mut quoted = false;
    for c in literal.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                pattern.push(c);
            }
            '{' | '}' | '[' | ']' | ':' | ',' if !quoted => {
                if !matches!(c, '{' | '[') || !pattern.is_empty() {
                    loose::push_space(&mut pattern);
                }
                pattern.push_str(&text::escape(&c.to_string()));
                loose::push_space(&mut pattern);
            }
            c if c.is_whitespace() && !quoted => loose::push_space(&mut pattern),
            c => pattern.push_str(&text::escape(&c.to_string())),
        }
    }
    pattern
}

/// A pattern that looks for another one behind it, however far, for what that captures.
fn ahead(pattern: &str) -> String {
    format!("(?=.*?{pattern})")
}

/// What opens each call. The name follows at once, white space included.
fn own_marker<'c>(calls: &'c ToolCalls, name: &str) -> &'c str {
    if name.is_empty() {
        calls.call.0.trim()
    } else {
        calls.call.0.trim_start()
    }
}

/// A pattern for what opens each call, with white space where models may put some.
fn marker_pattern(marker: &str, name: &str) -> String {
    match marker.trim() {
        "{\"" => loose::signs(marker),
        _ if name.is_empty() => slot::opening_pattern(&loose::spaced(marker)),
        _ => slot::opening_pattern(&loose::spaced_before_name(marker)),
    }
}

/// What opens a region of calls: a literal if nothing but one marker does.
fn opening(calls: &ToolCalls, name: &str, choices: &Choices) -> Option<Delimiter> {
    let section = calls.section.0.trim();
    let marker = own_marker(calls, name);
    if section.is_empty() && name.is_empty() && is_plain(marker) {
        return Some(Delimiter::literal(marker));
    }
    let id = match calls.id_behind {
        true => ahead(&slot::opening_pattern(&loose::spaced(calls.call.1.trim()))),
        false => String::new(),
    };
    let pattern = format!(
        "{}{}{name}{id}",
        optional(section),
        marker_pattern(marker, name)
    );
    let before_arguments = match &calls.shape {
        Shape::Tagged { .. } | Shape::Dialect { .. } => Some(format!("{pattern}(?=\\{{)")),
        _ => None,
    };
    let reading = |way, because, pattern: String| {
        let means = json::quote(&pattern);
        Reading::new(way, means, because, Delimiter::pattern(pattern))
    };
    let before_arguments = before_arguments.map(|pattern| {
        let because = "what opens a call may stand in text as well, where no arguments follow";
        reading("where arguments follow", because, pattern)
    });
    let plain = reading("its marker", "it stands before every call", pattern);
    let readings = std::iter::once(plain).chain(before_arguments);
    choices.choose("call open", About::Calls, readings)
}

/// A group for the name up to what stands after it, of which `between` is taken.
fn name_pattern(between: &str, after: &str) -> String {
    let marker = between.trim();
    let is_apart = between.starts_with(char::is_whitespace) && !marker.is_empty();
    let space = if is_apart || loose::begins_bracketed(marker) {
        "\\s*"
    } else {
        ""
    };
    let mut between = match marker {
        "\":" => loose::signs(marker),
        _ => slot::pattern_after_name(&loose::spaced(marker)),
    };
    loose::push_space(&mut between);
    format!("(?P<name>[^\\s{}]+){space}{between}", slot::stop(after))
}

/// What closes a region of calls, with whatever may stand before the next one or the end.
fn closing(calls: &ToolCalls, ends: &Ends<'_>, name: &str, choices: &Choices) -> Option<Delimiter> {
    let marker = calls.call.1.trim();
    if marker.is_empty() {
        let next = match &calls.shape {
            Shape::Array(_) => String::new(),
            _ => next_call(calls, name),
        };
        return stop(calls, ends, &next).map(Delimiter::pattern);
    }
    if ends.is_last && is_plain(marker) {
        return Some(Delimiter::literal(marker));
    }
    let pattern = format!(
        "{}\\s*{}{}",
        slot::pattern(&loose::spaced(marker)),
        ends.optional(calls.separator.trim()),
        ends.optional(calls.section.1.trim()),
    );
    let is_json = !matches!(calls.shape, Shape::Tags { .. });
    let behind = (is_json && slot::any(marker)).then(|| {
        let pattern = format!("(?<=\\}}\\s*){pattern}");
        Reading::new(
            "behind the arguments",
            json::quote(&pattern),
            "a marker that names its call begins like many, and the arguments end before it",
            Delimiter::pattern(pattern),
        )
    });
    let literal = (!slot::any(marker)).then(|| {
        Reading::new(
            "literal",
            json::quote(marker),
            "what stands between two calls, and behind all of them, would be text",
            Delimiter::literal(marker),
        )
    });
    let pattern = Reading::new(
        "pattern",
        json::quote(&pattern),
        "it takes what may stand between two calls and behind all of them, white space too",
        Delimiter::pattern(pattern),
    );
    choices.choose(
        "call close",
        About::Calls,
        behind.into_iter().chain([pattern]).chain(literal),
    )
}

/// A pattern for where a call ends that nothing closes: at the end of the section or of the turn, and before the next
/// call, whose beginning is the pattern `next`.
fn stop(calls: &ToolCalls, ends: &Ends<'_>, next: &str) -> Option<String> {
    let section = Some(calls.section.1.trim()).filter(|section| !section.is_empty());
    let stop = ends.pattern(section, None);
    if !calls.parallel || next.is_empty() {
        return stop;
    }
    let before_next = before_next(calls, next);
    Some(match stop {
        Some(stop) => format!("(?:{stop}|{before_next})"),
        None => before_next,
    })
}

/// A pattern for what stands before the next call, whose beginning is the pattern `next`.
fn before_next(calls: &ToolCalls, next: &str) -> String {
    format!("{}(?={next})", optional(calls.separator.trim()))
}

/// The call as a message has it, its parts taken from the scope under `root`.
fn call_transform(members: &Members, root: &str) -> Value {
    let whole = members.keys == ["name", "arguments"]
        && members.name == ["name"]
        && members.arguments == ["arguments"];
    if whole && !root.is_empty() {
        let content = Value::from("{content}");
        return probe::object([("type", Value::from("function")), ("function", content)]);
    }
    let place = |path: &[String]| Value::from(format!("{{{root}{}}}", path.join(".")));
    call_object(
        place(&members.name),
        place(&members.arguments),
        members.id.as_deref().map(place),
    )
}

fn call_object(name: Value, arguments: Value, id: Option<Value>) -> Value {
    let function = probe::object([("name", name), ("arguments", arguments)]);
    match id {
        Some(id) => probe::object([
            ("type", Value::from("function")),
            ("id", id),
            ("function", function),
        ]),
        None => probe::object([("type", Value::from("function")), ("function", function)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_punctuation_lets_space_vary() {
        assert_eq!(loose_json("{\"name\": "), "\\{\\s*\"name\"\\s*:\\s*");
        assert_eq!(loose_json("}"), "\\s*\\}\\s*");
        assert_eq!(loose_json(", \"x y\": "), "\\s*,\\s*\"x y\"\\s*:\\s*");
    }

    #[test]
    fn a_name_ends_where_the_rest_of_its_tag_begins() {
        assert_eq!(name_pattern(">\n", ">\n"), "(?P<name>[^\\s>]+)>\\s*");
        assert_eq!(
            name_pattern("\n```json\n", "\n```json\n"),
            "(?P<name>[^\\s`]+)\\s*```json\\s*"
        );
    }
}
