//! Comparing texts: common beginnings and ends; and texts as patterns.

pub(in crate::derive) use crate::text::{common_prefix, common_suffix, escape};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loose_patterns_let_white_space_vary() {
        assert_eq!(escape_loosely("<|a|>\n"), "<\\|a\\|>\\s*");
        assert_eq!(escape_loosely("a b"), "a\\s*b");
    }
}
