//! The parts that two texts have in common, what changes from one to another, and texts in HTML and in patterns.

pub(crate) mod diff;

/// The bytes with which both texts begin; they end between two characters.
pub(crate) fn common_prefix(a: &str, b: &str) -> usize {
    a.char_indices()
        .zip(b.chars())
        .find(|((_, x), y)| x != y)
        .map_or(a.len().min(b.len()), |((at, _), _)| at)
}

/// The bytes with which both texts end; they begin between two characters.
pub(crate) fn common_suffix(a: &str, b: &str) -> usize {
    a.chars()
        .rev()
        .zip(b.chars().rev())
        .take_while(|(x, y)| x == y)
        .map(|(x, _)| x.len_utf8())
        .sum()
}

/// The parts of two texts between what both begin with and what both end with.
pub(crate) fn apart<'a, 'b>(a: &'a str, b: &'b str) -> (&'a str, &'b str) {
    let shared = common_prefix(a, b);
    let (a, b) = (&a[shared..], &b[shared..]);
    let shared = common_suffix(a, b);
    (&a[..a.len() - shared], &b[..b.len() - shared])
}

/// A text as it stands in HTML, SVG and XML, between tags and in quoted attributes alike.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

/// Escapes a literal for Python's `regex`.
pub(crate) fn escape(literal: &str) -> String {
    let mut escaped = String::with_capacity(literal.len());
    for c in literal.chars() {
        if matches!(
            c,
            '\\' | '.' | '^' | '$' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|'
        ) {
            escaped.push('\\');
        }
        match c {
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            '\r' => escaped.push_str("\\r"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Returns the text behind a beginning, in which white space may be otherwise; `None` where the text does not begin with it.
pub(crate) fn behind<'t>(text: &'t str, beginning: &str) -> Option<&'t str> {
    let is_seen = |c: &char| !c.is_whitespace();
    let mut rest = text.chars();
    for seen in beginning.chars().filter(is_seen) {
        if rest.find(is_seen) != Some(seen) {
            return None;
        }
    }
    Some(rest.as_str())
}

/// Returns true if a text ends as a prompt does, and differs from it before that end alone: `Hi<a><bot>` and the
/// prompt `Hi<bot>`.
pub(crate) fn ends_alike(before: &str, prompt: &str) -> bool {
    let (same, end) = prompt.split_at(common_prefix(prompt, before));
    let end = end.trim_end();
    let Some(rest) = before
        .trim_end()
        .strip_suffix(end)
        .filter(|_| !end.is_empty())
    else {
        return false;
    };
    // `</think>` does not end with what `<think>` ends with, nor `<bot en><t>` with what `<bot>` does.
    let other = rest.get(same.len()..).unwrap_or_default();
    rest.chars().next_back() == same.chars().next_back() && !other.contains(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        assert_eq!(
            html("<script a='\"'>&é"),
            "&lt;script a=&#39;&quot;&#39;&gt;&amp;é"
        );
    }

    #[test]
    fn characters_are_shared_whole() {
        for (a, b, first, last) in [
            ("", "a", 0, 0),
            ("<a>x", "<a>y", 3, 0),
            ("ab", "ab", 2, 2),
            ("ab", "abab", 2, 2),
            ("x</a>", "yy</a>", 0, 4),
            // Their bytes begin alike, and those of the second pair end alike.
            ("aé", "aè", 1, 0),
            ("éa", "ũa", 0, 1),
        ] {
            assert_eq!(common_prefix(a, b), first, "{a} {b}");
            assert_eq!(common_suffix(a, b), last, "{a} {b}");
        }
    }

    #[test]
    fn a_beginning_may_have_other_white_space() {
        assert_eq!(behind("a  b c", "ab\n"), Some(" c"));
        assert_eq!(behind("ab", " a b"), Some(""));
        assert_eq!(behind("ab", "abc"), None);
        assert_eq!(behind("ab", "b"), None);
    }

    #[test]
    fn a_prompt_may_be_written_otherwise_before_its_end() {
        assert!(ends_alike("Hi<end><line><bot><t>\n", "Hi<end><bot><t>"));
        assert!(ends_alike("Hi<end><line><bot>", "Hi<end><bot>\n"));
        assert!(!ends_alike("Hi<end><line><bot>", "Hi<end><bot><t>"));
        assert!(!ends_alike("Hi<bot></think>", "Hi<bot><think>"));
        assert!(!ends_alike("Hi<bot en><t>", "Hi<bot>"));
        assert!(
            !ends_alike("Hi<bot>", "Hi<bot>"),
            "nothing is written otherwise"
        );
    }
}
