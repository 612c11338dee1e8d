//! How texts begin, by which alternatives are told apart.

use crate::grammar::avoid::Avoid;
use crate::grammar::expr::{Arena, Expr, Id};

/// A way to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum First {
    /// With this text.
    Text(String),
    /// With some text in which these do not stand.
    Free(Avoid),
    /// With nothing: the text is at its end.
    End,
    /// With something else.
    Other,
}

impl First {
    /// Returns true if nothing that begins as the other does begins with the text.
    pub(super) fn is_told_from(&self, text: &str) -> bool {
        match self {
            Self::Text(other) => !other.starts_with(text) && !text.starts_with(other.as_str()),
            // Such a text has no place for it: it is empty there, and what follows would be the same.
            Self::Free(avoid) => !avoid.allows(text),
            Self::End => true,
            Self::Other => false,
        }
    }
}

/// The text that everything begins with that an expression matches, as far as it is plain to see; `None` where there is none.
pub(super) fn lead(arena: &Arena, id: Id) -> Option<String> {
    let mut text = String::new();
    gather_lead(arena, id, &mut text);
    (!text.is_empty()).then_some(text)
}

/// Adds the text; returns true if it is all of the expression.
pub(super) fn gather_lead(arena: &Arena, id: Id, text: &mut String) -> bool {
    match arena.get(id) {
        Expr::Text(more) => {
            text.push_str(more);
            true
        }
        Expr::Tag(_, of) => gather_lead(arena, *of, text),
        Expr::Seq(items) => items.iter().all(|item| gather_lead(arena, *item, text)),
        _ => false,
    }
}

/// Returns true if no text begins with another of them.
pub(super) fn are_told_apart(mut texts: Vec<String>) -> bool {
    texts.sort_unstable();
    texts
        .windows(2)
        .all(|pair| !pair[1].starts_with(pair[0].as_str()))
}
