//! Rules that are referred to once, put where they are referred to: a grammar that was made rule by rule becomes one that reads well.

use std::collections::HashMap;

use smol_str::SmolStr;

use crate::grammar::peg::build::{Expr, Kind, choice, sequence};

/// How deep an expression may nest that is put into another. What is deeper stays a rule, so that a chain of rules does not become one
/// expression without end.
const MAX_DEPTH: usize = 12;

/// The root and the rules that are left, in their order.
pub(super) fn inlined(
    root: Expr,
    rules: Vec<(SmolStr, Expr)>,
) -> (Expr, impl Iterator<Item = (SmolStr, Expr)>) {
    let mut counts: HashMap<SmolStr, usize> = HashMap::new();
    for expr in std::iter::once(&root).chain(rules.iter().map(|(_, of)| of)) {
        count(expr, &mut counts);
    }
    let order: Vec<SmolStr> = rules.iter().map(|(name, _)| name.clone()).collect();
    let mut inlining = Inlining {
        once: counts
            .into_iter()
            .filter(|(_, count)| *count == 1)
            .map(|(name, _)| name)
            .collect(),
        rules: rules.into_iter().collect(),
        done: HashMap::new(),
    };
    let root = inlining.expr(root);
    for name in &order {
        inlining.rule(name);
    }
    let mut left = inlining.done;
    let rules = order
        .into_iter()
        .filter_map(move |name| left.remove(&name).map(|of| (name, of)));
    (root, rules)
}

struct Inlining {
    /// The rules to which there is one reference.
    once: std::collections::HashSet<SmolStr>,
    /// Those that were not looked at.
    rules: HashMap<SmolStr, Expr>,
    /// Those that stay.
    done: HashMap<SmolStr, Expr>,
}

impl Inlining {
    /// Looks at a rule, unless that was done or is being done.
    fn rule(&mut self, name: &SmolStr) {
        if let Some(of) = self.rules.remove(name) {
            let of = self.expr(of);
            self.done.insert(name.clone(), of);
        }
    }

    fn expr(&mut self, expr: Expr) -> Expr {
        Expr(match expr.0 {
            Kind::Ref(name) => {
                self.rule(&name);
                let is_small = |of: &Expr| depth(of) <= MAX_DEPTH;
                if self.once.contains(&name) && self.done.get(&name).is_some_and(is_small) {
                    return self.done.remove(&name).unwrap_or(Expr(Kind::Eps));
                }
                Kind::Ref(name)
            }
            // Made anew, so that a sequence in a sequence becomes part of it.
            Kind::Sequence(parts) => {
                let parts: Vec<Expr> = parts.into_iter().map(|part| self.expr(part)).collect();
                return sequence(parts);
            }
            Kind::Choice(parts) => {
                let parts: Vec<Expr> = parts.into_iter().map(|part| self.expr(part)).collect();
                // A cut in a choice decides for that choice alone.
                if parts.iter().any(has_choice_with_cut) {
                    Kind::Choice(parts)
                } else {
                    return choice(parts);
                }
            }
            Kind::Repeat { of, min, max } => Kind::Repeat {
                of: Box::new(self.expr(*of)),
                min,
                max,
            },
            Kind::Tag(tag, of) => Kind::Tag(tag, Box::new(self.expr(*of))),
            Kind::Negate(of) => Kind::Negate(Box::new(self.expr(*of))),
            Kind::Peek(of) => Kind::Peek(Box::new(self.expr(*of))),
            other => other,
        })
    }
}

fn has_choice_with_cut(expr: &Expr) -> bool {
    matches!(&expr.0, Kind::Choice(parts) if parts.iter().any(has_cut))
}

/// True if a cut stands in the expression that would decide for a choice around it.
fn has_cut(expr: &Expr) -> bool {
    match &expr.0 {
        Kind::Cut => true,
        Kind::Sequence(parts) => parts.iter().any(has_cut),
        Kind::Tag(_, of) => has_cut(of),
        // It may.
        Kind::Ref(_) => true,
        _ => false,
    }
}

fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.0 {
        Kind::Sequence(parts) | Kind::Choice(parts) => parts.iter().collect(),
        Kind::Repeat { of, .. }
        | Kind::Tag(_, of)
        | Kind::Negate(of)
        | Kind::Peek(of)
        | Kind::Atomic(of)
        | Kind::Rule { of, .. } => vec![of],
        Kind::Schema(schema) => vec![&schema.of],
        _ => Vec::new(),
    }
}

fn count(expr: &Expr, counts: &mut HashMap<SmolStr, usize>) {
    if let Kind::Ref(name) = &expr.0 {
        *counts.entry(name.clone()).or_default() += 1;
    }
    for part in parts(expr) {
        count(part, counts);
    }
}

fn depth(expr: &Expr) -> usize {
    let inner = parts(expr).into_iter().map(depth).max();
    inner.map_or(0, |inner| inner + 1)
}
