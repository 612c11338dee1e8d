//! White space that models vary: around the markers of which a longer one is made, and around the signs of JSON.

use super::super::pieces::Pieces;
use super::super::text;

/// The marker with white space between its pieces; in a pattern it may be missing.
pub(super) fn spaced(pieces: &Pieces, marker: &str) -> String {
    let edges = pieces.edges(marker);
    let parts = edges.windows(2).map(|ends| &marker[ends[0]..ends[1]]);
    let mut spaced = String::new();
    let mut last: Option<&str> = None;
    for part in parts {
        let whole = |part: &str| pieces.is_one(part.trim());
        if last.is_some_and(|last| whole(last) && !last.ends_with(char::is_whitespace)) && whole(part) {
            spaced.push(' ');
        }
        spaced.push_str(part);
        last = Some(part);
    }
    spaced
}

/// The same for a marker behind which a name stands.
pub(super) fn spaced_before_name(pieces: &Pieces, marker: &str) -> String {
    spaced(pieces, marker)
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
    fn signs_of_json_may_stand_apart() {
        assert_eq!(signs("{\""), "\\{\\s*\"");
        assert_eq!(signs("\": "), "\"\\s*:\\s*");
    }
}
