//! Text that may follow a delimiter which is complete without it: the close of a section behind that of its last call, or a second marker
//! at the end of a turn.
//!
//! Where the response ends, the beginning of such a text is enough. Otherwise a response that is cut there would end with a piece of a
//! marker as its text, which might even replace a text. While a response arrives, the beginning also keeps transformers waiting: it takes a
//! whole match before one that only begins, and would close with the first marker as soon as a character of the second has come.

use crate::derive::compare::slot;
use crate::derive::compare::text::escape;

/// A pattern for a marker that may be missing, and for the white space after it; nothing for no marker.
pub(super) fn optional(marker: &str, text_end: &str) -> String {
    let whole = slot::pattern(marker);
    match beginning(marker) {
        _ if marker.is_empty() => String::new(),
        // White space is taken as well, since some patterns for the end of a text match before a final line feed, too.
        Some(beginning) => format!("(?:{whole}\\s*|{beginning}\\s*{text_end})?"),
        None => format!("(?:{whole}\\s*)?"),
    }
}

/// A pattern for a marker and the white space after it, for as much of it as there is, or for nothing, where the text ends.
pub(super) fn or_the_end(marker: &str, text_end: &str) -> String {
    let whole = slot::pattern(marker);
    let beginning = beginning(marker).map_or_else(String::new, |some| format!("(?:{some})?"));
    format!("(?:{whole}\\s*|{beginning}\\s*{text_end})")
}

/// A pattern for any beginning of a marker that is not all of it, where the text ends; `None` where a pattern cannot say that.
pub(super) fn cut_short(marker: &str, text_end: &str) -> Option<String> {
    beginning(marker).map(|some| format!("{some}\\s*{text_end}"))
}

/// How many characters of a marker have a place of their own in a pattern for its beginnings. Text that begins with so many of them is the
/// marker's.
const SPELLED: usize = 40;

/// How many digits a number has at most.
const DIGITS: usize = 6;

/// A pattern for any beginning of the marker that is not all of it; `None` for a marker of one character, and where the marker's length
/// varies by more than the digits of numbers.
///
/// Each character has its place in the pattern. Any shorter one, such as two characters and whatever follows, would take text that only
/// begins as the marker does, and nobody would hear of it: what a delimiter takes goes to no field.
fn beginning(marker: &str) -> Option<String> {
    if marker.contains(slot::MORE) {
        return beginning_with_more(marker);
    }
    let edges = marker.chars().take(1).chain(marker.chars().last());
    if slot::any(&marker.replace(slot::NUMBER, "")) || edges.into_iter().any(slot::is_one) {
        return None;
    }
    let (last, _) = marker.char_indices().next_back()?;
    let (spelled, rest) = match marker.char_indices().nth(SPELLED) {
        Some((end, _)) if end < last => marker[..last].split_at(end),
        _ => (&marker[..last], ""),
    };
    let numbers = rest.matches(slot::NUMBER).count();
    let rest = match rest.chars().count() + numbers * DIGITS {
        0 => String::new(),
        most => format!(".{{0,{most}}}"),
    };
    let beginning = some_of(spelled, &rest);
    (!beginning.is_empty()).then_some(beginning)
}

/// A pattern for any beginning of a marker in which a text is repeated; `None` where there are other slots than that and numbers.
///
/// Such a marker has any length, so that each of its characters has its place in the pattern.
fn beginning_with_more(marker: &str) -> Option<String> {
    let mut parts = marker.split(slot::MORE);
    let (before, again, behind) = (parts.next()?, parts.next()?, parts.next()?);
    let others = [before, again, behind].concat().replace(slot::NUMBER, "");
    if parts.next().is_some() || slot::any(&others) || before.is_empty() {
        return None;
    }
    let behind = [again, behind].map(|text| some_of(text, ""));
    let behind: Vec<String> = behind.into_iter().filter(|text| !text.is_empty()).collect();
    let behind = format!("(?:{})*(?:{})?", slot::pattern(again), behind.join("|"));
    Some(some_of(before, &behind))
}

/// A pattern for the first character of the text, and as many more as there are; behind all of them stands the pattern `rest`.
fn some_of(text: &str, rest: &str) -> String {
    let mut signs = text.chars().rev();
    let sign = |c: char| match c {
        slot::NUMBER => "\\d+".to_owned(),
        c if c.is_whitespace() => "\\s*".to_owned(),
        c => escape(c.encode_utf8(&mut [0; 4])),
    };
    let Some(last) = signs.next() else {
        return String::new();
    };
    let last = format!("{}{rest}", sign(last));
    signs.fold(last, |behind, c| format!("{}(?:{behind})?", sign(c)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::parse_response;
    use crate::response_template::ResponseTemplate;
    use crate::value::{Value, json};

    /// Returns the content to which `{"content": {"close_pattern": PATTERN}}` parses a response.
    fn content(pattern: &str, response: &str) -> Option<String> {
        let pattern = json::quote(pattern);
        let document = format!(
            r#"{{"start_anchor": "A:", "fields": {{"content": {{"close_pattern": {pattern}}}}}}}"#
        );
        let template = ResponseTemplate::from_json(&document).unwrap();
        let message = parse_response(response, template, "", &[]).unwrap();
        message
            .get("content")
            .and_then(Value::as_str)
            .map(str::to_owned)
    }

    #[test]
    fn every_beginning_is_taken_where_the_text_ends() {
        for marker in ["</s>", "]<]x[>[</calls>", "->", "<|end|><|start|>"] {
            for end in ["\\Z", "$"] {
                let pattern = format!("</c>\\s*{}", optional(marker, end));
                for at in 0..=marker.len() {
                    let response = format!("Hi</c>\n{}", &marker[..at]);
                    let found = content(&pattern, &response);
                    assert_eq!(found.as_deref(), Some("Hi"), "{response}");
                    let found = content(&pattern, &format!("{response}\n"));
                    assert_eq!(found.as_deref(), Some("Hi"), "{response} and a line feed");
                }
                // What only begins as the marker does is text.
                let (some, _) = marker.split_at(marker.len() - 1);
                for text in ["text", "<3", "-x", &format!("{some} more text")] {
                    let found = content(&pattern, &format!("Hi</c>{text}"));
                    assert_eq!(found.as_deref(), Some(text));
                }
            }
        }
        assert_eq!(optional("", "\\Z"), "");
        assert_eq!(optional(",", "\\Z"), "(?:,\\s*)?");
        let listed = format!("all(r{0}{1}, r{0}{1});", slot::NUMBER, slot::MORE);
        let pattern = format!("</c>{}", optional(&listed, "\\Z"));
        for whole in [
            "all(r1);",
            "all(r1, r2);",
            "all(r1, r2, r3, r4, r5, r6, r7, r8, r9, r10);",
        ] {
            for at in 0..=whole.len() {
                let response = format!("Hi</c>{}", &whole[..at]);
                assert_eq!(
                    content(&pattern, &response).as_deref(),
                    Some("Hi"),
                    "{response}"
                );
            }
        }
        for text in ["allow", "all(r1, x"] {
            let found = content(&pattern, &format!("Hi</c>{text}"));
            assert_eq!(found.as_deref(), Some(text), "no beginning of the list");
        }
        // Of a long marker as many characters are spelled as tell it from any text.
        let long = format!("<{}>", "abc ".repeat(50));
        let pattern = format!("</c>{}", optional(&long, "\\Z"));
        for at in 0..=long.len() {
            let response = format!("Hi</c>{}", &long[..at]);
            let found = content(&pattern, &response);
            assert_eq!(found.as_deref(), Some("Hi"), "{response}");
        }
        let text = "<abc abc more text";
        let found = content(&pattern, &format!("Hi</c>{text}"));
        assert_eq!(found.as_deref(), Some(text));
        let counted = optional(&format!("-- {} messages --", slot::NUMBER), "\\Z");
        for at in 0..="-- 12 messages --".len() {
            let response = format!("Hi</c>{}", &"-- 12 messages --"[..at]);
            let found = content(&format!("</c>{counted}"), &response);
            assert_eq!(found.as_deref(), Some("Hi"), "{response}");
        }
    }
}
