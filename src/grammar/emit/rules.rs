//! Which expressions become rules of their own: those that stand in several places and are more than a word.

use std::collections::{HashMap, HashSet};

use crate::grammar::Grammar;
use crate::grammar::expr::{Expr, Id};

/// The names of the expressions that are rules, in the order in which they are met.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) names: HashMap<Id, String>,
}

impl Shared {
    pub(super) fn of(grammar: &Grammar) -> Self {
        let mut counts: HashMap<Id, usize> = HashMap::new();
        let mut order = Vec::new();
        let mut seen = HashSet::new();
        let rules = grammar.arena.rules().iter().map(|(_, body)| *body);
        let mut open: Vec<Id> = rules.chain([grammar.root]).collect();
        while let Some(id) = open.pop() {
            *counts.entry(id).or_default() += 1;
            if !seen.insert(id) {
                continue;
            }
            order.push(id);
            match grammar.arena.get(id) {
                Expr::Seq(items) | Expr::Choice(items) => open.extend(items.iter().rev()),
                Expr::Repeat { item, .. } => open.push(*item),
                Expr::Tag(_, of) => open.push(*of),
                _ => {}
            }
        }
        let is_rule = |id: &Id| {
            counts[id] > 1
                && match grammar.arena.get(*id) {
                    Expr::Seq(items) | Expr::Choice(items) => !items.is_empty(),
                    Expr::Repeat { .. } | Expr::Tag(..) => true,
                    _ => false,
                }
        };
        let shared = order
            .into_iter()
            .filter(|id| is_rule(id) && *id != grammar.root);
        Self {
            names: shared
                .enumerate()
                .map(|(at, id)| (id, format!("part-{}", at + 1)))
                .collect(),
        }
    }
}
