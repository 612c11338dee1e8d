//! Calls in a list, with nothing before each of them that only a call has: `[a(x), b(y)]` between the section's markers.
//!
//! The marker that opens the list opens its first call, and a marker between two calls opens the next one. A comma, a word and a bracket,
//! as in `, b(`, may be prose. They open a call only if the text before them has opened the list and not closed it. They must not stand
//! inside an argument either, so the text before them must not have opened a list or a text of an argument without closing it.

use super::marker::Captures;
use super::written::Written;
use super::{BEHIND_BRACKET, JSON_STRING, either_of, pairs, tail};
use crate::derive::choice::Choices;
use crate::derive::compare::pieces::Pieces;
use crate::derive::compare::{slot, text};
use crate::derive::read::arguments::{Around, Order, Pairs, Style};
use crate::derive::read::cut::Body;
use crate::response_template::Delimiter;
use crate::value::json;

/// The characters that lists and objects are written with. None of them is a marker by itself.
const PUNCTUATION: [char; 4] = ['{', '[', '(', '"'];

/// Returns the delimiters that open and close a call; `None` where a call has a marker of its own.
pub(super) fn delimiters(
    written: &Written<'_>,
    choices: &Choices,
) -> Option<(Delimiter, Delimiter)> {
    let Written {
        calls,
        ends,
        pieces,
        not_others,
        ..
    } = written;
    let (section_open, section_close) = (calls.section.0.trim(), calls.section.1.trim());
    let close = calls.call.1.trim();
    if !calls.call.0.contains(slot::NAME) && !matches!(calls.body, Body::Object(_)) {
        return None;
    }
    let own = calls.call.0.split(slot::is_one).next().unwrap_or_default();
    // What opens an argument as well, as `<` does in `<f><k>v</k></f>`, does not tell a call.
    let opens_argument =
        matches!(&calls.body, Body::Pairs(argument) if argument.open.trim() == own.trim());
    let is_marked = !opens_argument && !own.trim().chars().all(|c| PUNCTUATION.contains(&c));
    let has_other_slot = close.replace(slot::NAME, "").contains(slot::is_one);
    if is_marked || section_open.is_empty() || has_other_slot {
        return None;
    }
    if close.is_empty() {
        return between_markers(written);
    }
    if matches!(calls.body, Body::Object(_)) {
        return None;
    }
    let call = written.open(Captures::All);
    let list = spaced(pieces, section_open);
    let behind = written.behind_argument(close);
    let close = slot::pattern(close);
    let end = end_of_list(pieces, section_close, ends.text_end);
    if !calls.parallel {
        return Some((
            Delimiter::pattern(format!("{not_others}{list}\\s*{call}")),
            Delimiter::pattern(format!("{close}{end}")),
        ));
    }
    let separator = amid_space(&slot::pattern(calls.separator.trim()));
    let inside = match spaced(pieces, section_close) {
        // Where every call ends with the end of the list, that does not tell that the list was closed.
        end if end.is_empty() || close.contains(&end) => format!("(?<={list}.*)"),
        // A list in an argument also ends with `]`, so that such lists are passed over whole.
        end if end == "\\]" && has_json(&calls.body) => outside_lists(&list),
        end => {
            // What ends the list may stand in a text.
            let other = match &calls.body {
                Body::Pairs(argument) => beside_texts(argument),
                _ => None,
            };
            match other {
                Some(other) => format!("(?<={list}(?:{JSON_STRING}|(?!{end})(?:{other}))*)"),
                None => format!("(?<={list}(?:(?!{end}).)*)"),
            }
        }
    };
    let next = written.next();
    let (next, outside) = match &calls.body {
        Body::Json => (next, outside_lists(&list)),
        Body::Pairs(argument) => {
            let first = pairs::beginning(argument, choices);
            let next = format!("{next}(?:{first}|{close})");
            // A name that is said twice is a group, which a pattern has once.
            let is_once = calls.call.0.matches(slot::NAME).count() < 2;
            let begun = || format!("(?:{list}\\s*|{close}{separator}){}", written.next());
            let begun = is_once.then(begun);
            (next, outside_texts(argument, &list, begun.as_deref()))
        }
        Body::Text | Body::Dialect(_) | Body::Object(_) | Body::Array(_) => (next, String::new()),
    };
    Some((
        Delimiter::pattern(format!(
            "(?:{not_others}{list}\\s*|(?<={close}){separator}{inside}){call}"
        )),
        Delimiter::pattern(format!(
            "{behind}{close}(?:{end}|(?={separator}{next}){outside})"
        )),
    ))
}

/// Returns a pattern with white space allowed around it; for an empty pattern, one for white space.
fn amid_space(pattern: &str) -> String {
    match pattern {
        "" => "\\s*".to_owned(),
        pattern => format!("\\s*{pattern}\\s*"),
    }
}

/// The brackets between which a list may stand.
const BRACKETS: [&str; 6] = ["[", "(", "{", "]", ")", "}"];

/// The parts of a marker that opens or closes a list: its pieces, and each bracket at the edge where the list stands. `]</calls>` has the
/// parts `]` and `</calls>`.
fn parts<'t>(pieces: &Pieces, marker: &'t str) -> Vec<&'t str> {
    let opening = marker.trim_end_matches(['[', '(', '{']);
    let (before, opening) = marker.split_at(opening.len());
    let rest = before.trim_start_matches([']', ')', '}']);
    let (closing, rest) = before.split_at(before.len() - rest.len());
    let signs = |signs: &'t str| signs.split_inclusive(|_| true).map(str::trim);
    signs(closing)
        .chain(tokens(pieces, rest))
        .chain(signs(opening))
        .filter(|part| !part.is_empty())
        .collect()
}

/// The tokens of a text of which all are pieces. A text of which one is none is one token: of what is in no piece nobody knows where it ends.
pub(super) fn tokens<'t>(pieces: &Pieces, text: &'t str) -> Vec<&'t str> {
    let tokens = pieces.tokens(text);
    match tokens.iter().all(|token| pieces.is_one(token)) {
        true => tokens,
        false => vec![text.trim()],
    }
}

/// A pattern for the marker with white space between its parts, as far as it is made of several.
fn spaced(pieces: &Pieces, marker: &str) -> String {
    let parts: Vec<String> = parts(pieces, marker)
        .into_iter()
        .map(slot::pattern)
        .collect();
    parts.join("\\s*")
}

/// A pattern for the end of the list. Its last part may be missing where the text ends: engines stop the model at it and may keep it to
/// themselves.
fn end_of_list(pieces: &Pieces, marker: &str, text_end: &str) -> String {
    match parts(pieces, marker).as_slice() {
        [before @ .., last] if !before.is_empty() && !BRACKETS.contains(last) => {
            let before: Vec<String> = before.iter().map(|part| slot::pattern(part)).collect();
            let last = tail::or_the_end(last, text_end);
            format!("\\s*{}\\s*{last}", before.join("\\s*"))
        }
        _ => amid_space(&spaced(pieces, marker)),
    }
}

/// Returns true if the values of arguments are written as JSON.
fn has_json(body: &Body) -> bool {
    match body {
        Body::Json => true,
        Body::Pairs(argument) => argument.are_json(),
        Body::Text | Body::Dialect(_) | Body::Object(_) | Body::Array(_) => false,
    }
}

/// How deep lists in arguments may nest.
const LISTS: usize = 3;

/// A condition, as a look-behind, that every list of the arguments is closed. For this, all between the opening of the calls' own list and
/// here has to be JSON, whose texts may have brackets in them and whose lists may nest [`LISTS`] deep.
fn outside_lists(list: &str) -> String {
    // In JSON only texts have backslashes. Without them elsewhere there is only one way in which the look-behind can match.
    let other = format!("[^\"\\\\\\[\\]]|{JSON_STRING}");
    let lists = (1..LISTS).fold(format!("\\[(?:{other})*\\]"), |inner, _| {
        format!("\\[(?:{other}|{inner})*\\]")
    });
    format!("(?<={list}(?:{other}|{lists})*)")
}

/// A pattern for what may stand beside the texts of arguments that are JSON; `None` where they are not.
fn beside_texts(argument: &Pairs) -> Option<&'static str> {
    let Style::Json { around, .. } = &argument.style else {
        return None;
    };
    let constants = [
        &argument.open,
        &argument.separator,
        &around.between,
        &around.close,
    ];
    // In JSON only texts have backslashes, but the chat template may write some between arguments.
    Some(
        match constants.iter().any(|constant| constant.contains('\\')) {
            true => "[^\"\\\\]|\\\\+(?![\"\\\\])",
            false => "[^\"\\\\]",
        },
    )
}

/// A condition, as a look-behind, that the text of the last argument is closed, where texts stand in quotes.
fn outside_texts(argument: &Pairs, list: &str, begun: Option<&str>) -> String {
    let Some(around) = argument.value.first() else {
        return String::new();
    };
    let between = slot::pattern(around.between.trim());
    let opened = begun.and_then(|begun| opened(begun, argument, around));
    let opened = opened.unwrap_or(between);
    match (&argument.style, argument.quotes()) {
        // What begins a text may end one as well, as in `a="x="`, so that all since the opening of the list is read.
        (Style::Json { .. }, _) => {
            let other = beside_texts(argument).unwrap_or_default();
            format!("(?<={list}(?:{other}|{JSON_STRING})*)")
        }
        (Style::Quoted(_, close), _) => format!("(?<!{opened}[^{}]*)", slot::stop(close)),
        (Style::Text, Some((_, close))) => {
            let close = slot::stop(&close);
            format!("(?<!{opened}(?:[^{close}\\\\]|\\\\.)*)")
        }
        (Style::Text, None) => String::new(),
    }
}

/// A pattern for what opens the text of an argument, where that begins behind `first`, with which a call begins; `None` where nothing stands between
/// two arguments.
///
/// A text may end with what stands between a key and its text, as `'YWJj=='` does, so that the key and what stands before it belong to the
/// pattern as well.
fn opened(first: &str, argument: &Pairs, around: &Around) -> Option<String> {
    let (separator, between) = (argument.separator.trim(), around.between.trim());
    if separator.is_empty() || argument.order == Order::ValueFirst {
        return None;
    }
    let stops: String = [separator, between, around.close.trim()]
        .map(slot::stop)
        .concat();
    let next = match argument.separator.ends_with(char::is_whitespace) {
        true => format!("{}\\s+", slot::pattern(separator)),
        false => slot::pattern(separator),
    };
    let open = slot::pattern(argument.open.trim());
    let between = slot::pattern(between);
    Some(format!(
        "(?:{first}|{next}){open}[^\\r\\n{stops}]+{between}"
    ))
}

/// Returns the delimiters of calls where nothing closes a call either, but a marker stands between two.
fn between_markers(written: &Written<'_>) -> Option<(Delimiter, Delimiter)> {
    let calls = written.calls;
    let (section_open, section_close) = (calls.section.0.trim(), calls.section.1.trim());
    let separator = calls.separator.trim();
    let ends_line = [&calls.separator, &calls.call.1].map(|text| text.contains('\n'));
    let is_line = separator.is_empty() && ends_line.contains(&true);
    if !is_line && !written.pieces.is_one(separator) {
        return None;
    }
    // A response may end without what closes the section.
    let section = Some(section_close).filter(|close| !close.is_empty());
    let end = written.ends.pattern(section, &[])?;
    let (call, next) = match &calls.body {
        Body::Object(members) => {
            let keys = members.needed().map(|key| text::escape(&json::quote(key)));
            let key = either_of(keys.collect())?;
            let object = format!("(?=\\{{\\s*{key}\\s*:)");
            (object.clone(), object)
        }
        _ => (written.open(Captures::All), written.next()),
    };
    let list = slot::pattern(section_open);
    let separator = match is_line {
        true => "\\n".to_owned(),
        false => slot::pattern(separator),
    };
    let behind = match calls.body.first_sign() {
        Some(_) => BEHIND_BRACKET,
        None => "",
    };
    // A line of its own begins a call only within the section.
    let inside = match section_close {
        _ if !is_line => String::new(),
        "" => format!("(?<={list}.*)"),
        close => format!("(?<={list}(?:(?!{}).)*)", slot::pattern(close)),
    };
    Some((
        Delimiter::pattern(format!("(?:{list}|{behind}{separator})\\s*{call}{inside}")),
        Delimiter::pattern(match is_line {
            true => format!("(?:{end}|{behind}(?={separator}\\s*{next}))"),
            false => format!("(?:{end}|{behind}(?={separator}))"),
        }),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::read::unread::Unread;
    use crate::pattern::Pattern;

    /// A text may end with what opens a text, and with the like of a key before it.
    #[test]
    fn the_text_of_the_last_argument_is_closed_by_its_quote() {
        let around = Around {
            between: "='".to_owned(),
            close: "'".to_owned(),
        };
        let mut argument = Pairs {
            open: String::new(),
            order: Order::KeyFirst,
            value: vec![around],
            separator: ", ".to_owned(),
            name_quotes: None,
            style: Style::Quoted("'".to_owned(), "'".to_owned()),
            unread: Unread::default(),
        };
        let is_outside = |argument: &Pairs, text: &str| {
            let outside = outside_texts(argument, "<c>\\[", Some("(?:<c>\\[|\\), )\\w+\\("));
            let pattern = Pattern::regex(&format!("#{outside}")).unwrap();
            pattern.find_iter(text).count() == 1
        };
        for (text, expected) in [
            ("<c>[f(a='x'#", true),
            ("<c>[f(a=1#", true),
            ("<c>[f(a='x#", false),
            ("<c>[f(a=1), g(b='x#", false),
            ("<c>[f(a='x', b='y#", false),
            ("<c>[f(a='YWJj=='#", true),
            ("<c>[f(a='data:x,YWJj=='#", true),
            ("<c>[f(a='x,v='#", true),
            ("<c>[f(a='x(v='#", true),
            ("<c>[f(a='it's#", true),
        ] {
            assert_eq!(is_outside(&argument, text), expected, "{text}");
        }
        argument.separator = " ".to_owned();
        assert!(
            !is_outside(&argument, "<c>[f(a='x='#"),
            "as if a text were open"
        );
        assert!(is_outside(&argument, "<c>[f(a='x'#"));
    }

    #[test]
    fn the_parts_of_a_marker_may_stand_apart() {
        let pieces = Pieces::of([], ["<calls>", "[", "]", "</calls>"]);
        assert_eq!(spaced(&pieces, "<calls>["), r"<calls>\s*\[");
        let end_of_list = |marker: &str| end_of_list(&pieces, marker, "\\Z");
        let end = end_of_list("]</calls>");
        assert_eq!(
            end,
            r"\s*\]\s*(?:</calls>\s*|(?:<(?:/(?:c(?:a(?:l(?:l(?:s)?)?)?)?)?)?)?\s*\Z)"
        );
        assert_eq!(end_of_list("]"), r"\s*\]\s*");
        assert_eq!(end_of_list("</calls>"), r"\s*</calls>\s*");
    }
}
