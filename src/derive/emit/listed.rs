//! Calls in a list, with nothing before each of them that only a call has: `[a(x), b(y)]` between the section's markers.
//!
//! What opens the list opens its first call, and a marker between two calls the next one. That a comma, a word and a bracket
//! open another one, and are no prose, only what stands before them tells: the list was opened and not yet closed. That they do
//! not stand inside an argument, what stands there tells too: no list and no text of an argument was opened and not yet closed.

use super::super::arguments::ArgumentTag;
use super::super::cut::Shape;
use super::super::tool_calls::ToolCalls;
use super::super::{slot, text};
use super::ends::Ends;
use super::{loose, tags, tail};
use crate::response_template::Delimiter;

/// What lists and objects are written with; no marker by itself.
const PUNCTUATION: [char; 4] = ['{', '[', '(', '"'];

/// What opens and closes a call, whose name `name` captures; `None` where a call has a marker of its own.
pub(super) fn delimiters(
    calls: &ToolCalls,
    ends: &Ends<'_>,
    name: &str,
) -> Option<(Delimiter, Delimiter)> {
    let (section_open, section_close) = (calls.section.0.trim(), calls.section.1.trim());
    let close = calls.call.1.trim();
    let own = calls.call.0.trim();
    let is_marked = !own.chars().all(|c| PUNCTUATION.contains(&c));
    if is_marked || name.is_empty() || section_open.is_empty() {
        return None;
    }
    if close.is_empty() {
        return between_markers(calls, name);
    }
    let next = super::next_call(calls, name);
    let name = format!("{}{name}", loose::signs(own));
    let list = spaced(section_open);
    let close = slot::pattern(close);
    let end = end_of_list(section_close, ends.text_end);
    if !calls.parallel {
        return Some((
            Delimiter::pattern(format!("{list}\\s*{name}")),
            Delimiter::pattern(format!("{close}{end}")),
        ));
    }
    let separator = format!("\\s*{}\\s*", slot::pattern(calls.separator.trim()));
    let inside = match spaced(section_close) {
        end if end.is_empty() => format!("(?<={list}.*)"),
        end => format!("(?<={list}(?:(?!{end}).)*)"),
    };
    let (next, outside) = match &calls.shape {
        Shape::Tagged { .. } => (next, outside_lists(&list)),
        Shape::Tags { argument, .. } => {
            let first = tags::beginning(argument);
            let next = format!("{next}(?:{first}|{close})");
            (next, outside_texts(argument))
        }
        Shape::Dialect { .. } | Shape::Object(_) | Shape::Array(_) => (next, String::new()),
    };
    Some((
        Delimiter::pattern(format!(
            "(?:{list}\\s*|(?<={close}){separator}){name}{inside}"
        )),
        Delimiter::pattern(format!("{close}(?:{end}|(?={separator}{next}){outside})")),
    ))
}

/// A pattern for the marker with white space between its parts, as far as it is made of several.
fn spaced(marker: &str) -> String {
    let parts: Vec<String> = text::tokens(marker)
        .into_iter()
        .map(slot::pattern)
        .collect();
    parts.join("\\s*")
}

/// A pattern for the end of the list. Of its parts the last may be missing where the text ends: engines stop the model at it and
/// may keep it to themselves.
fn end_of_list(marker: &str, text_end: &str) -> String {
    match text::tokens(marker).as_slice() {
        [before @ .., last] if !before.is_empty() && text::is_bracketed(last) => {
            let before: Vec<String> = before.iter().map(|part| slot::pattern(part)).collect();
            let last = tail::or_the_end(last, text_end);
            format!("\\s*{}\\s*{last}", before.join("\\s*"))
        }
        _ => format!("\\s*{}\\s*", spaced(marker)),
    }
}

/// A condition that every list of the arguments is closed, of which all between the beginning of the calls' own list and here is
/// JSON. It sees through lists in lists; texts may have brackets.
fn outside_lists(list: &str) -> String {
    // No sign of JSON but those of a text has a backslash, which leaves one way alone to read it backwards.
    let other = r#"[^"\\\[\]]|"(?:[^"\\]|\\.)*""#;
    format!("(?<={list}(?:{other}|\\[(?:{other}|\\[(?:{other})*\\])*\\])*)")
}

/// A condition that the text of an argument that has begun is closed, where texts stand in quotes.
fn outside_texts(argument: &ArgumentTag) -> String {
    let quoted = argument.value.first().zip(argument.quotes());
    quoted.map_or_else(String::new, |(around, (_, close))| {
        let opened = slot::pattern(around.between.trim());
        format!("(?<!{opened}[^{}]*)", slot::stop(&close))
    })
}

/// The same where nothing closes a call either, but a marker stands between two.
fn between_markers(calls: &ToolCalls, name: &str) -> Option<(Delimiter, Delimiter)> {
    let (section_open, section_close) = (calls.section.0.trim(), calls.section.1.trim());
    let separator = calls.separator.trim();
    if !text::is_bracketed(separator) || section_close.is_empty() {
        return None;
    }
    let own = slot::pattern(calls.call.0.trim());
    let [list, separator, end] = [section_open, separator, section_close].map(slot::pattern);
    Some((
        Delimiter::pattern(format!("(?:{list}|{separator})\\s*{own}{name}")),
        Delimiter::pattern(format!("{end}\\s*|(?={separator})")),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_marker_may_stand_apart() {
        assert_eq!(spaced("<calls>["), r"<calls>\s*\[");
        let end = end_of_list("]</calls>", "\\Z");
        assert_eq!(end, r"\s*\]\s*(?:</calls>\s*|(?:<(?:/[^>]*)?)?\s*\Z)");
        assert_eq!(end_of_list("]", "\\Z"), r"\s*\]\s*");
        assert_eq!(end_of_list("</calls>", "\\Z"), r"\s*</calls>\s*");
    }
}
