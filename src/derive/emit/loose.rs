//! White space that models vary between the markers of which a longer one is made.

use crate::derive::compare::pieces::Pieces;
use crate::derive::compare::text;

/// The marker with white space between its pieces; in a pattern it may be missing.
pub(super) fn spaced(pieces: &Pieces, marker: &str) -> String {
    let edges = pieces.edges(marker);
    let parts = edges.windows(2).map(|ends| &marker[ends[0]..ends[1]]);
    let mut spaced = String::new();
    let mut last: Option<&str> = None;
    for part in parts {
        let whole = |part: &str| pieces.is_one(part.trim());
        // A character that is repeated, as in `~~~`, is one marker, and no white space stands within it.
        let is_run = part.chars().count() == 1 && last == Some(part);
        if last.is_some_and(|last| whole(last) && !last.ends_with(char::is_whitespace))
            && whole(part)
            && !is_run
        {
            spaced.push(' ');
        }
        spaced.push_str(part);
        last = Some(part);
    }
    spaced
}

/// Space that may stand there, unless it is there already.
pub(super) fn push_space(pattern: &mut String) {
    if !pattern.ends_with("\\s*") && !pattern.ends_with("\\s+") {
        pattern.push_str("\\s*");
    }
}

/// White space of which each character may be missing.
pub(super) fn optional_space(space: &str) -> String {
    let all = space.chars();
    all.map(|c| format!("{}?", text::escape(&c.to_string())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_marker_may_stand_apart() {
        let pieces = Pieces::of([], ["</key>", "<value>", "<f="]);
        assert_eq!(spaced(&pieces, "</key><value>"), "</key> <value>");
        assert_eq!(spaced(&pieces, "</key>\n<value>"), "</key>\n<value>");
        assert_eq!(spaced(&pieces, "x<f="), "x<f=");
        assert_eq!(spaced(&pieces, ""), "");
        let pieces = Pieces::of([], ["~", "<value>"]);
        assert_eq!(spaced(&pieces, "~~~<value>"), "~~~ <value>");
    }
}
