//! Grammars that are held from the first sign of a call on: a model writes what it likes until then.
//!
//! The signs are those at which a response template would end the answer and begin a call, so nothing that is a call to
//! whoever reads escapes the grammar.

use super::avoid::{Avoid, Piece};
use super::expr::Id;
use super::format::{Format, Kind};

/// A grammar that begins with a call.
#[derive(Debug, Clone)]
pub(crate) struct Lazy {
    pub(crate) root: Id,
    /// The signs that a call begins; none where it cannot be seen.
    pub(crate) triggers: Vec<Trigger>,
    /// True if a call may begin without any sign, which is then not held.
    pub(crate) is_unseen: bool,
}

/// A sign that a call begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// This text.
    Word(String),
    /// A text that this regular expression matches, in the syntax that llama.cpp knows.
    Pattern(String),
}

impl Trigger {
    /// The sign in the text with which a call begins; `None` where there is no such text.
    pub(crate) fn of(text: &str, format: &Format) -> Option<Self> {
        let texts = format.states.iter().filter_map(|state| match &state.kind {
            Kind::Text(text) => Some(&text.avoid),
            Kind::Call(_) => None,
        });
        let ways: Vec<&Vec<Piece>> = texts.flat_map(Avoid::pieces).collect();
        let begins = |piece: &Piece| matches!(piece, Piece::Text(known) if text.starts_with(known));
        let word = ways.iter().find_map(|way| match way.as_slice() {
            [Piece::Text(word)] if text.starts_with(word.as_str()) => Some(word.clone()),
            _ => None,
        });
        if let Some(word) = word {
            return Some(Self::Word(word));
        }
        if let Some(way) = ways.iter().find(|way| way.first().is_some_and(begins)) {
            return Some(Self::Pattern(way.iter().map(pattern).collect()));
        }
        let word = text.trim_end();
        (!word.is_empty()).then(|| Self::Word(word.to_owned()))
    }
}

fn pattern(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => text.chars().map(escaped).collect(),
        Piece::Space => "\\s*".to_owned(),
        Piece::Run(chars, min) => {
            // llama.cpp's expressions know bytes: what is beyond ASCII is in a set or out of it as a whole.
            let (sign, set) = match chars.is_wide() {
                true => ("^", chars.negated()),
                false => ("", chars.clone()),
            };
            let within = (0..128_u8).map(char::from).filter(|c| set.has(*c));
            let within: String = within
                .map(|c| match c {
                    c if c.is_ascii_alphanumeric() => c.to_string(),
                    c => format!("\\x{:02x}", u32::from(c)),
                })
                .collect();
            let count = match min {
                0 => "*".to_owned(),
                1 => "+".to_owned(),
                min => format!("{{{min},}}"),
            };
            format!("[{sign}{within}]{count}")
        }
    }
}

/// A character as it is in a regular expression.
fn escaped(c: char) -> String {
    if "\\.^$|()[]{}*+?".contains(c) {
        format!("\\{c}")
    } else {
        c.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::chars::Chars;

    #[test]
    fn a_pattern_is_in_the_syntax_of_llama_cpp() {
        let name = Chars::from_ranges(&[('>', '>'), (' ', ' ')]).negated();
        let pieces = [
            Piece::Text(">>>".to_owned()),
            Piece::Space,
            Piece::Run(name, 1),
            Piece::Text("{".to_owned()),
        ];
        let all: String = pieces.iter().map(pattern).collect();
        assert_eq!(all, r">>>\s*[^\x20\x3e]+\{");
    }
}
