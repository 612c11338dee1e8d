//! Comparing texts: common beginnings and ends; and texts as patterns.

pub(in crate::derive) use crate::text::{common_prefix, common_suffix};

/// Escapes a literal for Python's `regex`.
pub(in crate::derive) fn escape(literal: &str) -> String {
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

/// A pattern for a literal in which each run of white space matches any run of white space, none included.
pub(in crate::derive) fn escape_loosely(literal: &str) -> String {
    let mut pattern = String::new();
    let mut rest = literal;
    while !rest.is_empty() {
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        pattern.push_str(&escape(&rest[..word]));
        let blank = rest[word..]
            .find(|c: char| !c.is_whitespace())
            .unwrap_or(rest.len() - word);
        if blank > 0 {
            pattern.push_str("\\s*");
        }
        rest = &rest[word + blank..];
    }
    pattern
}

/// Whether prose, code or tables have such a marker as well: words with a sign at most, two signs, or one again and again. What it looks like
/// ranks candidates that renders cannot tell apart, and decides nothing.
pub(in crate::derive) fn is_common(marker: &str) -> bool {
    let marker = marker.trim();
    let signs: Vec<char> = marker
        .chars()
        .filter(|c| !c.is_alphanumeric() && !c.is_whitespace())
        .collect();
    let is_run = signs.iter().all(|sign| Some(sign) == signs.first());
    match marker.chars().any(char::is_alphanumeric) {
        true => signs.len() <= 1,
        false => !signs.is_empty() && (is_run || signs.len() <= 2),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_and_runs_of_one_sign_are_common() {
        for common in ["call", "over and out", "COMMIT;", "----", "**", ");", "f("] {
            assert!(super::is_common(common), "{common}");
        }
        for marker in ["<end>", "[/x]", "<|x|>", "<->", ""] {
            assert!(!super::is_common(marker), "{marker}");
        }
    }

    use super::*;

    #[test]
    fn loose_patterns_let_white_space_vary() {
        assert_eq!(escape_loosely("<|a|>\n"), "<\\|a\\|>\\s*");
        assert_eq!(escape_loosely("a b"), "a\\s*b");
    }
}
