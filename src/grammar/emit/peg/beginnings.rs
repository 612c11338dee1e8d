//! The ways in which expressions begin, with what follows them where they may be nothing.

use super::firsts::{First, lead};
use super::walk::{Then, Writer};
use crate::grammar::expr::{Expr, Id};

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
