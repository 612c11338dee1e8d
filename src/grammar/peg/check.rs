//! Checks of what must hold of a grammar so that reading with it ends.
//!
//! An expression is *nullable* if it may match without reading a byte. A rule is *left recursive* if it comes back to itself
//! through expressions that stand where nothing was read yet. Both are found as is usual for parsing expression grammars (Ford,
//! POPL 2004, section 3.6, "well-formedness"): nullability from the leaves up, left recursion by a depth-first walk over what a rule may
//! call first. Both look at each expression, and at each reference, once. The answers are cautious: an
//! expression counts as nullable if one of its alternatives is, though another may always match before.

use super::arena::{ExprId, Expression, Parts, ROOT};
use super::error::BuildError;
use super::print;

/// Looks for left recursion and for repetitions of nothing.
pub(super) fn check(parts: &Parts) -> Result<(), BuildError> {
    let checking = Checking::new(parts);
    checking.repetitions()?;
    checking.left_recursion()
}

struct Checking<'a> {
    parts: &'a Parts,
    /// For each expression, if it may match nothing.
    nullable: Vec<bool>,
}

impl<'a> Checking<'a> {
    /// Says of each expression if it may match nothing: first of those that need no other for it, then of those that wait for them. Each
    /// expression tells once those that wait for it.
    fn new(parts: &'a Parts) -> Self {
        let count = parts.expressions.len();
        let mut waits = Vec::with_capacity(count);
        let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (at, expression) in parts.expressions.iter().enumerate() {
            waits.push(waits_for(expression));
            if let Expression::Ref(rule) = expression {
                waiting[parts.rules[rule.0 as usize].of.index()].push(at);
            }
            for child in children(expression) {
                waiting[child.index()].push(at);
            }
        }
        let mut nullable = vec![false; count];
        let mut found: Vec<usize> = (0..count).filter(|at| waits[*at] == 0).collect();
        while let Some(at) = found.pop() {
            nullable[at] = true;
            for &other in &waiting[at] {
                if waits[other] > 0 && waits[other] != NEVER {
                    waits[other] -= 1;
                    if waits[other] == 0 {
                        found.push(other);
                    }
                }
            }
        }
        Self { parts, nullable }
    }

    fn known(&self, id: ExprId) -> bool {
        self.nullable[id.index()]
    }

    /// The root and the rules, with their names.
    fn named(&self) -> impl Iterator<Item = (&'a str, ExprId)> {
        let rules = self.parts.rules.iter();
        let rules = rules.map(|rule| (rule.name.as_str(), rule.of));
        std::iter::once((ROOT, self.parts.root)).chain(rules)
    }

    fn repetitions(&self) -> Result<(), BuildError> {
        for (name, of) in self.named() {
            let mut left = vec![of];
            while let Some(id) = left.pop() {
                let expression = self.parts.get(id);
                if let Expression::Repeat { of, max, .. } = expression
                    && self.known(*of)
                    && max.is_none_or(|max| max > 1)
                {
                    return Err(BuildError::EmptyRepetition {
                        rule: name.to_owned(),
                        repeated: print::expression(self.parts, *of),
                    });
                }
                left.extend(children(expression).iter().rev());
            }
        }
        Ok(())
    }

    fn left_recursion(&self) -> Result<(), BuildError> {
        let mut state = vec![Visit::New; self.parts.rules.len()];
        for start in 0..self.parts.rules.len() {
            if state[start] == Visit::New {
                self.walk(start, &mut state)?;
            }
        }
        Ok(())
    }

    /// A depth-first walk over the rules that are called first, without recursion: rules may be chained by the thousand.
    fn walk(&self, start: usize, state: &mut [Visit]) -> Result<(), BuildError> {
        let mut path = vec![(start, self.called_first(start))];
        state[start] = Visit::Open;
        while let Some((_, calls)) = path.last_mut() {
            let Some(next) = calls.pop() else {
                if let Some((done, _)) = path.pop() {
                    state[done] = Visit::Done;
                }
                continue;
            };
            match state[next] {
                Visit::Done => {}
                Visit::New => {
                    state[next] = Visit::Open;
                    path.push((next, self.called_first(next)));
                }
                Visit::Open => {
                    let names = path.iter().map(|(rule, _)| *rule);
                    let cycle = names.skip_while(|rule| *rule != next).chain([next]);
                    let name = |rule: usize| self.parts.rules[rule].name.to_string();
                    return Err(BuildError::LeftRecursion {
                        path: cycle.map(name).collect(),
                    });
                }
            }
        }
        Ok(())
    }

    /// The rules that a rule may call before anything is read.
    fn called_first(&self, rule: usize) -> Vec<usize> {
        let mut calls = Vec::new();
        let mut left = vec![self.parts.rules[rule].of];
        while let Some(id) = left.pop() {
            match self.parts.get(id) {
                Expression::Ref(rule) => calls.push(rule.0 as usize),
                Expression::Sequence(parts) => {
                    for part in parts {
                        left.push(*part);
                        if !self.known(*part) {
                            break;
                        }
                    }
                }
                other => left.extend(children(other)),
            }
        }
        calls
    }
}

/// An expression that matches nothing never.
const NEVER: usize = usize::MAX;

/// How many of its parts must be able to match nothing so that an expression is.
fn waits_for(expression: &Expression) -> usize {
    match expression {
        Expression::Eps
        | Expression::Start
        | Expression::End
        | Expression::Cut
        | Expression::Space
        | Expression::Until(_)
        | Expression::Quoted(_)
        | Expression::Peek(_)
        | Expression::Negate(_)
        | Expression::Chars { min: 0, .. }
        | Expression::Repeat { min: 0, .. } => 0,
        Expression::Literal(text) if text.is_empty() => 0,
        Expression::Any | Expression::Literal(_) | Expression::Chars { .. } => NEVER,
        Expression::Sequence(parts) => parts.len(),
        Expression::Choice(_)
        | Expression::Repeat { .. }
        | Expression::Atomic(_)
        | Expression::Tag { .. }
        | Expression::Schema { .. }
        | Expression::Ref(_) => 1,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Visit {
    New,
    Open,
    Done,
}

/// Returns the expressions that an expression is made of.
pub(super) fn children(expression: &Expression) -> &[ExprId] {
    match expression {
        Expression::Sequence(parts) | Expression::Choice(parts) => parts,
        Expression::Repeat { of, .. }
        | Expression::Peek(of)
        | Expression::Negate(of)
        | Expression::Atomic(of)
        | Expression::Tag { of, .. }
        | Expression::Schema { of, .. } => std::slice::from_ref(of),
        _ => &[],
    }
}
