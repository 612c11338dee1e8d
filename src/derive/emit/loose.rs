//! White space that models vary: around the markers of which a longer one is made, and around the signs of JSON.

use super::super::text;

/// What no white space is put beside: a bracket may be a part of the marker next to it.
const BRACKETS: [char; 8] = ['<', '>', '[', ']', '{', '}', '(', ')'];

/// The marker with white space between its parts, of which one at least is a bracket with what is in it; in a pattern it may be
/// missing.
pub(super) fn spaced(marker: &str) -> String {
    let mut spaced = String::new();
    let mut rest = marker;
    let mut last: Option<&str> = None;
    for token in text::tokens(marker) {
        let Some((before, after)) = rest.split_once(token) else {
            break;
        };
        if before.is_empty() && last.is_some_and(|last| may_stand_apart(last, token)) {
            spaced.push(' ');
        }
        spaced.push_str(before);
        spaced.push_str(token);
        rest = after;
        last = Some(token);
    }
    spaced.push_str(rest);
    spaced
}

/// The same for a marker behind which a name stands.
pub(super) fn spaced_before_name(marker: &str) -> String {
    let mut spaced = spaced(marker);
    if ends_bracketed(&spaced) {
        spaced.push(' ');
    }
    spaced
}

/// Whether the marker begins with a bracket with what is in it.
pub(super) fn begins_bracketed(marker: &str) -> bool {
    let tokens = text::tokens(marker);
    tokens
        .first()
        .is_some_and(|first| text::is_bracketed(first))
}

fn ends_bracketed(marker: &str) -> bool {
    let tokens = text::tokens(marker);
    let last = tokens.last().filter(|last| text::is_bracketed(last));
    last.is_some_and(|last| marker.ends_with(last))
}

fn may_stand_apart(one: &str, other: &str) -> bool {
    let is_sign = |c: Option<char>| c.is_some_and(|c| BRACKETS.contains(&c));
    match (text::is_bracketed(one), text::is_bracketed(other)) {
        (true, true) => true,
        (true, false) => !is_sign(other.chars().next()),
        (false, true) => !is_sign(one.chars().next_back()),
        (false, false) => false,
    }
}

/// A pattern for a literal of signs of JSON, between which white space may stand.
pub(super) fn signs(literal: &str) -> String {
    let mut pattern = String::new();
    for c in literal.trim().chars() {
        let is_sign = matches!(c, '{' | '}' | '[' | ']' | ':' | ',');
        if is_sign && !pattern.is_empty() {
            push_space(&mut pattern);
        }
        if c.is_whitespace() {
            push_space(&mut pattern);
            continue;
        }
        pattern.push_str(&text::escape(&c.to_string()));
        if is_sign {
            push_space(&mut pattern);
        }
    }
    pattern
}

/// Space that may stand there, unless it is there already.
pub(super) fn push_space(pattern: &mut String) {
    if !pattern.ends_with("\\s*") {
        pattern.push_str("\\s*");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_marker_may_stand_apart() {
        for (marker, expected) in [
            ("</key><value>", "</key> <value>"),
            ("<c>ask json<m>", "<c> ask json <m>"),
            ("```</call>", "``` </call>"),
            ("</f>\n</call>", "</f>\n</call>"),
            ("]<]x[>[<f=", "]<]x[>[<f="),
            ("<f=", "<f="),
            ("", ""),
        ] {
            assert_eq!(spaced(marker), expected);
        }
        assert_eq!(spaced_before_name("<call>"), "<call> ");
        assert_eq!(spaced_before_name("<call>to="), "<call> to=");
        assert!(begins_bracketed("<m>x") && !begins_bracketed("x<m>"));
    }

    #[test]
    fn signs_of_json_may_stand_apart() {
        assert_eq!(signs("{\""), "\\{\\s*\"");
        assert_eq!(signs("\": "), "\"\\s*:\\s*");
    }
}
