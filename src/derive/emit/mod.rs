//! Writing the simplest response template that reads the wire format.
//!
//! Delimiters are literals where literals do. A pattern is written where a literal would fall into one of the format's traps: the close of
//! the implicit field, since white space after it would open that field again and overwrite it; the close of a call, for the same reason;
//! and openings that carry a name.

mod calls;
mod ends;
mod listed;
mod loose;
mod marker;
mod object;
mod pairs;
mod tail;
mod target;
mod texts;
mod thoughts;
mod tokens;
mod unopened;
mod value_end;
mod value_first;
mod written;

use indexmap::IndexMap;

use self::ends::Ends;
use crate::derive::choice::{Candidate, Choices};
use crate::derive::compare::pattern::either_of;
use crate::derive::compare::{slot, text};
use crate::derive::probe;
use crate::derive::read::analysis::Analysis;
use crate::derive::read::arguments::{Pairs, Style};
use crate::derive::read::calls::ToolCalls;
use crate::derive::read::cut::{Body, Members};
use crate::judge::slot::Slot;
use crate::response_template::{Delimiter, Document, FieldDocument};
use crate::value::{Map, Value, json};

pub(super) use target::{Target, field_of, left_to_do, reasoning_field, reasoning_slot};

pub(super) fn emit(analysis: &Analysis, target: Target, choices: &Choices) -> Document {
    let fields = match &analysis.object {
        Some(object) => {
            let reasoning = reasoning_field(analysis, target);
            let calls = analysis.calls.as_ref();
            object::fields(object, calls, reasoning, target.text_end)
        }
        None => regions(analysis, target, choices),
    };
    let mut defaults = Map::from_iter([("role".to_owned(), Value::from("assistant"))]);
    defaults.extend(
        target::default_content(analysis, target).map(|value| ("content".to_owned(), value)),
    );
    Document {
        defaults,
        start_anchor: markers(analysis.anchor.literals.clone(), slot::exact_pattern),
        fields,
    }
}

/// The fields of a message whose parts stand between markers.
fn regions(
    analysis: &Analysis,
    target: Target,
    choices: &Choices,
) -> IndexMap<String, FieldDocument> {
    let ends = Ends::of(analysis, target, choices);
    let mut fields = IndexMap::new();
    if let Some(reasoning) = &analysis.reasoning {
        let mut field = thoughts::thoughts(analysis, reasoning, &ends, target, choices);
        field.open = texts::told_apart(field.open, analysis, reasoning, &ends, choices);
        if analysis.json_texts.contains(&probe::REASONING) {
            field = texts::as_json(field);
        }
        fields.insert(
            reasoning_field(analysis, target).to_owned(),
            texts::placed(
                field,
                analysis
                    .dialect
                    .reasoning
                    .as_ref()
                    .filter(|_| !target.served),
            ),
        );
    }
    let further = || analysis.further.iter().filter(|_| !target.served);
    for text in further() {
        let mut field = thoughts::reasoning(analysis, &text.markers, &ends, choices);
        if text.is_json {
            field = texts::as_json(field);
        }
        field.open = texts::told_apart(field.open, analysis, &text.markers, &ends, choices);
        // Nothing is proved of a text that no render shows, and it may well come twice.
        if !text.markers.is_rendered {
            field.repeats = true;
            field.join.get_or_insert_default();
        }
        if let Slot::Key(keys) = &text.slot
            && let Some(first) = keys.first()
        {
            fields.insert(first.clone(), texts::placed(field, Some(&text.slot)));
        }
    }
    if let Some(calls) = &analysis.calls {
        let region = calls::region(analysis, calls, &ends, choices);
        fields.insert("tool_calls".to_owned(), region);
    }
    let mut content = texts::content(analysis, &ends, target, choices);
    // A text that stands right behind the content ends it.
    let next = further().filter(|text| text.ends_content);
    let next = next.map(|text| format!("(?={})", slot::pattern(&text.markers.open)));
    let next: Vec<String> = next.collect();
    content.close = content.close.map(|close| or(close, next));
    fields.insert("content".to_owned(), content);
    fields
}

/// Returns these markers as literals; where something in them varies, as a pattern for all of them.
fn markers(markers: Vec<String>, pattern: fn(&str) -> String) -> Delimiter {
    match markers.iter().any(|marker| slot::any(marker)) {
        false => Delimiter::Literals(markers),
        true => {
            let patterns = markers.iter().map(|marker| pattern(marker));
            Delimiter::pattern(either_of(patterns.collect()).unwrap_or_default())
        }
    }
}

/// A candidate whose value is a pattern. The pattern is also its meaning.
fn pattern_candidate(
    name: &'static str,
    because: &'static str,
    pattern: String,
) -> Candidate<Delimiter> {
    let means = json::quote(&pattern);
    Candidate::new(name, means, because, Delimiter::pattern(pattern))
}

/// A condition, as a look-behind, that a line begins.
const AT_LINE: &str = "(?<=\\n[^\\S\\n]*)";

/// A condition that the arguments may end here, as objects and lists do.
const BEHIND_BRACKET: &str = "(?<=[\\}\\]]\\s*)";

/// A pattern for a text as JSON writes one.
const JSON_STRING: &str = r#""(?:[^"\\]|\\.)*""#;

/// A pattern for the beginning of a JSON value.
const JSON_BEGINNING: &str = r#"(?:["\[{]|-?\d|(?:true|false|null)\b)"#;

/// A pattern for the beginning of a value of which some are no JSON: `None`, `True`.
const NEARLY_JSON_BEGINNING: &str = r#"(?:["\[{]|-?\w)"#;

/// A pattern for the beginning of an argument's value, where that tells where the argument's name ends.
fn value_beginning(argument: &Pairs) -> &'static str {
    match argument.style {
        Style::Json {
            is_whole: false, ..
        } => NEARLY_JSON_BEGINNING,
        _ => JSON_BEGINNING,
    }
}

/// A pattern for what the body of every call begins with, or what closes a call that has none, or ends the turn there; `None` where nothing is known to begin it.
pub(super) fn beginning_of_bodies(analysis: &Analysis, calls: &ToolCalls) -> Option<String> {
    let constant = |marker: &str| {
        let constant = slot::constant(marker.trim_start()).trim_end();
        let parts = listed::tokens(&analysis.pieces, constant).into_iter();
        let parts: Vec<String> = parts.map(text::escape_loosely).collect();
        (!constant.is_empty()).then(|| parts.join("\\s*"))
    };
    match &calls.body {
        Body::Pairs(pairs) => {
            let mut all = Vec::new();
            let end = constant(analysis.turn_end.marker());
            let first = constant(&pairs.open).or_else(|| pairs::named_beginning(pairs));
            let ends = match constant(&calls.call.1) {
                Some(close) => vec![close],
                // A call that nothing closes ends where the next one begins, or the section ends, or the response.
                None => {
                    let others = [&calls.call.0, &calls.section.1].map(|marker| constant(marker));
                    others
                        .into_iter()
                        .flatten()
                        .chain(["\\Z".to_owned()])
                        .collect()
                }
            };
            for one in std::iter::once(first?).chain(ends).chain(end) {
                if !all.contains(&one) {
                    all.push(one);
                }
            }
            Some(all.join("|"))
        }
        // A marker may begin with a bracket, too, so that the bracket alone tells too little where one is written twice.
        Body::Array(_) => Some("\\[\\s*[{\\]]".to_owned()),
        Body::Object(_) => Some("\\{\\s*[\"}]".to_owned()),
        // Arguments that stand alone may be null, or the text of an object.
        Body::Json => Some("\\{\\s*[\"}]|\"|null\\b".to_owned()),
        Body::Text => Some("\"\\{".to_owned()),
        Body::Dialect(_) => Some("\\{\\s*[^\\s{]".to_owned()),
    }
}

/// A pattern for a marker that may be missing, and for the white space after it; nothing for no marker.
fn optional(marker: &str) -> String {
    match marker {
        "" => String::new(),
        marker => format!("(?:{}\\s*)?", slot::pattern(marker)),
    }
}

/// Returns true if nothing in the marker may vary: it has neither a slot nor white space.
fn is_plain(marker: &str) -> bool {
    !slot::any(marker) && !marker.contains(char::is_whitespace)
}

/// A pattern for the beginning of a call's object, up to its arguments, or to the function that has them. Other members may come before that, if they are no objects or
/// lists. `None` where the arguments are the whole object.
fn object_ahead(members: &Members) -> Option<String> {
    let (root, within) = members.arguments.split_first()?;
    let quoted = |key: &String| text::escape(&json::quote(key));
    let function = within.first().map(|arguments| {
        let name = members
            .name
            .get(1)
            .filter(|_| members.name.first() == Some(root));
        let keys = [Some(arguments), name].into_iter().flatten().map(quoted);
        let keys = either_of(keys.collect()).unwrap_or_default();
        format!("\\s*\\{{\\s*{keys}\\s*:")
    });
    Some(format!(
        "\\{{\\s*(?:{})*{}\\s*:{}",
        scalar_member(JSON_STRING),
        quoted(root),
        function.unwrap_or_default()
    ))
}

/// A pattern for a JSON value that is no object and no list.
fn scalar() -> String {
    format!("(?:{JSON_STRING}|[^\\s\"\\[\\]{{}},]+)")
}

/// A pattern for a member of a JSON object that is no object and no list, and the comma behind it. `key` is a pattern for its key with the quotes.
fn scalar_member(key: &str) -> String {
    format!("{key}\\s*:\\s*{}\\s*,\\s*", scalar())
}

/// The patterns of a delimiter, of which each matches one way in which it is written.
fn patterns(delimiter: Delimiter) -> Vec<String> {
    match delimiter {
        Delimiter::Pattern(pattern) => vec![pattern],
        Delimiter::Literals(literals) => literals.iter().map(|one| text::escape(one)).collect(),
    }
}

/// The delimiter, or any of these patterns; as it is where there are none.
fn or(delimiter: Delimiter, others: impl IntoIterator<Item = String>) -> Delimiter {
    let mut others = others.into_iter().peekable();
    if others.peek().is_none() {
        return delimiter;
    }
    let all = patterns(delimiter).into_iter().chain(others).collect();
    Delimiter::pattern(either_of(all).unwrap_or_default())
}

/// The delimiter where none of these patterns matches, and where what closes its part follows before what ends a turn: as a
/// beginning of theirs it tells little alone. So it counts only where a part may begin, which is where the response does and behind one of
/// `headers`. As it is where there are no others.
fn unless(
    delimiter: Delimiter,
    others: Vec<String>,
    close: &str,
    headers: &[&str],
    ends: &[&str],
) -> Delimiter {
    let own = either_of(patterns(delimiter.clone()));
    let (Some(others), Some(own)) = (either_of(others), own) else {
        return delimiter;
    };
    let close = slot::pattern(close);
    let is_closed = match close.as_str() {
        "" => String::new(),
        close => {
            let ends = ends.iter().map(|end| slot::pattern(end));
            let stops = [close.to_owned()].into_iter().chain(ends);
            let stops = either_of(stops.collect()).unwrap_or_default();
            format!("(?=(?:(?!{stops}).)*{close})")
        }
    };
    let begins = headers.iter().map(|header| slot::pattern(header.trim()));
    let begins = either_of(["\\A".to_owned()].into_iter().chain(begins).collect());
    let begins = begins.unwrap_or_default();
    Delimiter::pattern(format!(
        "(?<={begins}\\s{{0,64}})(?!{others}){own}{is_closed}"
    ))
}

/// A pattern for any of the literals; `None` for none.
fn any_of(literals: &[&str]) -> Option<String> {
    either_of(literals.iter().map(|one| slot::pattern(one)).collect())
}
