//! How the texts begin that an expression matches, by which alternatives are told apart.

use super::walk::{Then, Writer};
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

/// How many expressions are looked at for one answer.
const MAX_STEPS: usize = 2_000;

impl Writer<'_> {
    /// The ways in which an expression and what follows it may begin.
    pub(super) fn firsts(&mut self, id: Id, then: Then, blank: bool) -> Vec<First> {
        let mut found = Vec::new();
        let mut steps = 0;
        self.gather(id, then, blank, &mut found, &mut steps);
        found
    }

    fn gather(
        &mut self,
        id: Id,
        then: Then,
        blank: bool,
        found: &mut Vec<First>,
        steps: &mut usize,
    ) {
        let mut note = |first: First| {
            if !found.contains(&first) {
                found.push(first);
            }
        };
        *steps += 1;
        if *steps > MAX_STEPS {
            return note(First::Other);
        }
        match self.arena.get(id).clone() {
            Expr::Text(text) => match if blank { text.trim_start() } else { &text } {
                "" => self.gather_on(then, blank, found, steps),
                text => note(First::Text(text.to_owned())),
            },
            Expr::Free(avoid) => note(First::Free(avoid)),
            Expr::Run { .. } | Expr::Json(_) => note(First::Other),
            Expr::Seq(items) => match items.split_first() {
                None => self.gather_on(then, blank, found, steps),
                Some((first, rest)) => {
                    let then = self.behind(rest, then);
                    self.gather(*first, then, blank, found, steps);
                }
            },
            Expr::Choice(items) => {
                for item in items {
                    self.gather(item, then, blank, found, steps);
                }
            }
            Expr::Repeat { item, min, .. } => {
                self.gather(item, then, blank, found, steps);
                if min == 0 {
                    self.gather_on(then, blank, found, steps);
                }
            }
            Expr::Rule(name) => match self.arena.rule(&name) {
                Some(body) => self.gather(body, then, blank, found, steps),
                None => note(First::Other),
            },
            Expr::Tag(_, of) => match lead(&self.arena, of) {
                Some(text) if !blank => note(First::Text(text)),
                _ => self.gather(of, then, blank, found, steps),
            },
        }
    }

    fn gather_on(&mut self, then: Then, blank: bool, found: &mut Vec<First>, steps: &mut usize) {
        match self.next(then) {
            Some((id, then)) => self.gather(id, then, blank, found, steps),
            None if found.contains(&First::End) => {}
            None => found.push(First::End),
        }
    }
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
