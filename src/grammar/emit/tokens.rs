//! Texts cut at special tokens.

use crate::grammar::SpecialToken;

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut<'t> {
    Text(&'t str),
    Token(&'t SpecialToken),
}

/// The text cut at the special tokens that stand in it; of two that begin at a place the longer one.
pub(super) fn cut<'t>(text: &'t str, tokens: &'t [SpecialToken]) -> Vec<Cut<'t>> {
    let mut cuts = Vec::new();
    let (mut from, mut at) = (0, 0);
    while at < text.len() {
        let here = tokens
            .iter()
            .filter(|token| !token.text.is_empty() && text[at..].starts_with(&token.text));
        match here.max_by_key(|token| token.text.len()) {
            Some(token) => {
                if from < at {
                    cuts.push(Cut::Text(&text[from..at]));
                }
                cuts.push(Cut::Token(token));
                at += token.text.len();
                from = at;
            }
            None => at += text[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    if from < text.len() {
        cuts.push(Cut::Text(&text[from..]));
    }
    cuts
}
