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

/// The white space that a text begins with.
pub(in crate::derive) fn leading(text: &str) -> &str {
    &text[..text.len() - text.trim_start().len()]
}

/// Returns true if the character may be one of a word.
pub(in crate::derive) fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the text before the one word in which all the literals differ, the words, and the text after it.
pub(in crate::derive) fn differing_words<'t>(
    literals: &[&'t str],
) -> Option<(&'t str, Vec<&'t str>, &'t str)> {
    let (first, others) = literals.split_first()?;
    let shared =
        |common: fn(&str, &str) -> usize| others.iter().map(|other| common(first, other)).min();
    let before = first[..shared(common_prefix)?].trim_end_matches(is_part_of_word);
    let after = &first[first.len() - shared(common_suffix)?..];
    let after = after.trim_start_matches(is_part_of_word);
    let word =
        |literal: &&'t str| literal.get(before.len()..literal.len().checked_sub(after.len())?);
    let words: Vec<&str> = literals.iter().map(word).collect::<Option<_>>()?;
    let are_words = words
        .iter()
        .all(|word| !word.is_empty() && word.chars().all(is_part_of_word));
    are_words.then_some((before, words, after))
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
