//! From expressions as they were written to the arena: rules are taken out of the expressions that define them, values that every
//! grammar knows are put in where they are used, names become numbers, and what was made is checked.

use std::sync::Arc;

use indexmap::IndexMap;
use smol_str::SmolStr;

use super::arena::{ExprId, Expression, Grammar, Parts, ROOT, Rule, RuleId};
use super::build::{Expr, Kind};
use super::builtin::Builtin;
use super::check;
use super::class::CharClass;
use super::delimiters::Searches;
use super::error::{BuildError, NESTING};
use super::known;

/// How deep expressions may be nested with the rules that are defined within them. Rules that are given beside the root may be
/// chained as one likes.
const DEFINED_WITHIN: usize = 200;

impl Grammar {
    /// Makes a grammar of its root. The rules are those that are defined within it.
    ///
    /// # Errors
    ///
    /// See [`BuildError`].
    pub fn build(root: Expr) -> Result<Self, BuildError> {
        Self::with_rules(root, [])
    }

    /// Makes a grammar of its root and of rules, beside those that are defined within them.
    ///
    /// # Errors
    ///
    /// See [`BuildError`].
    pub fn with_rules(
        root: Expr,
        rules: impl IntoIterator<Item = (SmolStr, Expr)>,
    ) -> Result<Self, BuildError> {
        let rules = rules.into_iter().map(|(name, of)| (name, of, false));
        Self::with_rules_that_trigger(root, rules)
    }

    /// Makes a grammar as [`with_rules`](Self::with_rules) does, with true for each rule at which a lazy grammar begins.
    pub(super) fn with_rules_that_trigger(
        root: Expr,
        rules: impl IntoIterator<Item = (SmolStr, Expr, bool)>,
    ) -> Result<Self, BuildError> {
        let mut building = Building::default();
        for (name, of, trigger) in rules {
            building.define(name, of, trigger)?;
        }
        let root = building.hoist(root, ROOT, 0)?;
        building.take_builtins()?;
        let parts = building.lower(&root)?;
        check::check(&parts)?;
        let searches = Arc::new(searches(&parts));
        let parts = Arc::new(parts);
        Ok(Self { parts, searches })
    }
}

/// A grammar that is being built: its rules as they were written, taken out of the expressions that define them.
#[derive(Default)]
struct Building {
    /// How deep the expression that is being taken apart is nested.
    depth: usize,
    rules: IndexMap<SmolStr, WrittenRule>,
    /// The values of every grammar that are used, in order.
    builtins: Vec<Builtin>,
}

struct WrittenRule {
    /// Nothing while the rule is being taken apart.
    of: Option<Expr>,
    trigger: bool,
    builtin: Option<Builtin>,
}

impl Building {
    fn define(&mut self, name: SmolStr, of: Expr, trigger: bool) -> Result<(), BuildError> {
        let slot = WrittenRule {
            of: None,
            trigger,
            builtin: None,
        };
        let before = match self.rules.get_mut(&name) {
            Some(before) => before.of.take().map(|of| (of, before.trigger)),
            None => {
                self.rules.insert(name.clone(), slot);
                None
            }
        };
        let of = self.hoist(of, &name, 0)?;
        let Some(slot) = self.rules.get_mut(&name) else {
            // It was put there above, and nothing is taken out.
            return Ok(());
        };
        // The expression may itself have defined the rule.
        let within = slot.of.take().map(|of| (of, slot.trigger));
        let others = [before, within];
        if others
            .iter()
            .flatten()
            .any(|other| *other != (of.clone(), trigger))
        {
            return Err(BuildError::DuplicateRule { rule: name.into() });
        }
        slot.of = Some(of);
        Ok(())
    }

    /// The expression with references in the place of the rules that are defined in it.
    fn hoist(&mut self, expr: Expr, rule: &str, depth: usize) -> Result<Expr, BuildError> {
        if depth > NESTING || self.depth > DEFINED_WITHIN {
            return Err(BuildError::Nesting { rule: rule.into() });
        }
        self.depth += 1;
        let kind = self.hoist_kind(expr.0, rule, depth + 1);
        self.depth -= 1;
        kind.map(Expr)
    }

    fn hoist_kind(&mut self, kind: Kind, rule: &str, depth: usize) -> Result<Kind, BuildError> {
        Ok(match kind {
            Kind::Sequence(parts) => Kind::Sequence(self.hoist_all(parts, rule, depth)?),
            Kind::Choice(parts) => Kind::Choice(self.hoist_all(parts, rule, depth)?),
            Kind::Repeat { of, min, max } => Kind::Repeat {
                of: self.hoist_box(*of, rule, depth)?,
                min,
                max,
            },
            Kind::Peek(of) => Kind::Peek(self.hoist_box(*of, rule, depth)?),
            Kind::Negate(of) => Kind::Negate(self.hoist_box(*of, rule, depth)?),
            Kind::Atomic(of) => Kind::Atomic(self.hoist_box(*of, rule, depth)?),
            Kind::Tag(tag, of) => Kind::Tag(tag, self.hoist_box(*of, rule, depth)?),
            Kind::Schema(mut schema) => {
                let of = std::mem::replace(&mut schema.of, Expr(Kind::Eps));
                schema.of = self.hoist(of, rule, depth)?;
                Kind::Schema(schema)
            }
            Kind::Rule { name, of, trigger } => {
                self.define(name.clone(), *of, trigger)?;
                Kind::Ref(name)
            }
            Kind::Builtin(value) => {
                self.builtins.push(value);
                Kind::Ref(value.rule().into())
            }
            other => other,
        })
    }

    fn hoist_all(
        &mut self,
        parts: Vec<Expr>,
        rule: &str,
        depth: usize,
    ) -> Result<Vec<Expr>, BuildError> {
        let parts = parts.into_iter();
        parts.map(|part| self.hoist(part, rule, depth)).collect()
    }

    fn hoist_box(&mut self, of: Expr, rule: &str, depth: usize) -> Result<Box<Expr>, BuildError> {
        self.hoist(of, rule, depth).map(Box::new)
    }

    /// Defines the values of every grammar that are used and that the grammar does not define itself.
    fn take_builtins(&mut self) -> Result<(), BuildError> {
        let mut next = 0;
        while let Some(&value) = self.builtins.get(next) {
            next += 1;
            if self.rules.contains_key(value.rule()) {
                continue;
            }
            let of = known::expression(value);
            // Its references are to rules of their own.
            for other in Builtin::ALL {
                if refers(&of, other.rule()) {
                    self.builtins.push(other);
                }
            }
            self.define(value.rule().into(), of, false)?;
            if let Some(rule) = self.rules.get_mut(value.rule()) {
                rule.builtin = Some(value);
            }
        }
        Ok(())
    }

    fn lower(&self, root: &Expr) -> Result<Parts, BuildError> {
        let mut lowering = Lowering {
            building: self,
            expressions: Vec::new(),
        };
        let root = lowering.lower(root, ROOT)?;
        let mut rules = Vec::with_capacity(self.rules.len());
        for (name, written) in &self.rules {
            let of = match &written.of {
                Some(of) => lowering.lower(of, name)?,
                None => lowering.add(Expression::Eps),
            };
            rules.push(Rule {
                name: name.clone(),
                of,
                trigger: written.trigger,
                builtin: written.builtin,
            });
        }
        Ok(Parts {
            expressions: lowering.expressions,
            rules,
            root,
        })
    }
}

/// Says whether an expression refers to a rule.
fn refers(expr: &Expr, name: &str) -> bool {
    let mut left = vec![expr];
    while let Some(expr) = left.pop() {
        match &expr.0 {
            Kind::Ref(to) if to == name => return true,
            Kind::Sequence(parts) | Kind::Choice(parts) => left.extend(parts),
            Kind::Repeat { of, .. }
            | Kind::Peek(of)
            | Kind::Negate(of)
            | Kind::Atomic(of)
            | Kind::Tag(_, of)
            | Kind::Rule { of, .. } => left.push(of),
            Kind::Schema(schema) => left.push(&schema.of),
            _ => {}
        }
    }
    false
}

/// From expressions as they were written to the arena.
struct Lowering<'a> {
    building: &'a Building,
    expressions: Vec<Expression>,
}

impl Lowering<'_> {
    fn add(&mut self, expression: Expression) -> ExprId {
        let id = ExprId(self.expressions.len() as u32);
        self.expressions.push(expression);
        id
    }

    fn all(&mut self, parts: &[Expr], rule: &str) -> Result<Vec<ExprId>, BuildError> {
        parts.iter().map(|part| self.lower(part, rule)).collect()
    }

    fn lower(&mut self, expr: &Expr, rule: &str) -> Result<ExprId, BuildError> {
        let expression = match &expr.0 {
            Kind::Eps => Expression::Eps,
            Kind::Start => Expression::Start,
            Kind::End => Expression::End,
            Kind::Any => Expression::Any,
            Kind::Space => Expression::Space,
            Kind::Cut => Expression::Cut,
            Kind::Literal(text) => Expression::Literal(text.clone()),
            Kind::Chars { class, min, max } => {
                counts(*min, *max, rule)?;
                let class = CharClass::parse(class).map_err(|error| BuildError::Class {
                    rule: rule.to_owned(),
                    class: class.clone(),
                    error,
                })?;
                let (min, max) = (*min, *max);
                Expression::Chars { class, min, max }
            }
            Kind::Until(delimiters) if delimiters.iter().any(|text| text.is_empty()) => {
                let rule = rule.to_owned();
                return Err(BuildError::EmptyDelimiter { rule });
            }
            Kind::Until(delimiters) => Expression::Until(delimiters.clone()),
            Kind::Quoted(quote) => Expression::Quoted(*quote),
            Kind::Sequence(parts) => Expression::Sequence(self.all(parts, rule)?),
            Kind::Choice(parts) if parts.is_empty() => {
                let rule = rule.to_owned();
                return Err(BuildError::EmptyChoice { rule });
            }
            Kind::Choice(parts) => Expression::Choice(self.all(parts, rule)?),
            Kind::Repeat { of, min, max } => {
                counts(*min, *max, rule)?;
                let of = self.lower(of, rule)?;
                let (min, max) = (*min, *max);
                Expression::Repeat { of, min, max }
            }
            Kind::Peek(of) => Expression::Peek(self.lower(of, rule)?),
            Kind::Negate(of) => Expression::Negate(self.lower(of, rule)?),
            Kind::Atomic(of) => Expression::Atomic(self.lower(of, rule)?),
            Kind::Tag(tag, of) => Expression::Tag {
                tag: tag.clone(),
                of: self.lower(of, rule)?,
            },
            Kind::Schema(schema) => Expression::Schema {
                name: schema.name.clone(),
                schema: schema.schema.clone(),
                raw: schema.raw,
                of: self.lower(&schema.of, rule)?,
            },
            Kind::Ref(name) => return self.refer(name, rule),
            Kind::Rule { name, .. } => return self.refer(name, rule),
            Kind::Builtin(value) => return self.refer(value.rule(), rule),
        };
        Ok(self.add(expression))
    }

    fn refer(&mut self, name: &str, rule: &str) -> Result<ExprId, BuildError> {
        match self.building.rules.get_index_of(name) {
            Some(index) => Ok(self.add(Expression::Ref(RuleId(index as u32)))),
            None => Err(BuildError::UnknownRule {
                rule: rule.to_owned(),
                name: name.to_owned(),
            }),
        }
    }
}

fn counts(min: u32, max: Option<u32>, rule: &str) -> Result<(), BuildError> {
    match max {
        Some(max) if max < min => Err(BuildError::Counts {
            rule: rule.to_owned(),
            min,
            max,
        }),
        _ => Ok(()),
    }
}

/// The searches of all expressions that look for delimiters.
fn searches(parts: &Parts) -> Searches {
    let expressions = parts.expressions.iter();
    Searches::of(expressions.map(|expression| match expression {
        Expression::Until(delimiters) => delimiters.as_slice(),
        _ => &[],
    }))
}
