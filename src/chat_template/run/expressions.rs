//! Evaluating expressions.

use std::rc::Rc;

use super::attributes::changes_nothing;
use super::fault::Fault;
use super::object::OrderedMap;
use super::object::Scope;
use super::object::{Missing, Py};
use super::trace::Taint;
use super::tracing::Other;
use super::{Render, hashable, operators};
use crate::chat_template::syntax::tree::{Arg, BinaryOp, Expr, ExprKind, Literal, Name, Span};

impl<'t> Render<'t> {
    /// Evaluates an expression.
    pub(super) fn expr(&mut self, expr: &'t Expr, scope: &Rc<Scope>) -> Result<Py, Fault> {
        match &expr.kind {
            ExprKind::Literal(index) => return Ok(self.literal(*index)),
            ExprKind::Var(name) => return Ok(self.variable(*name, scope)),
            _ => {}
        }
        self.spend(1)?;
        self.deeper()?;
        let value = self
            .compound(expr, scope)
            .map_err(|fault| fault.at(expr.span))?;
        self.depth -= 1;
        Ok(value)
    }

    fn compound(&mut self, expr: &'t Expr, scope: &Rc<Scope>) -> Result<Py, Fault> {
        match &expr.kind {
            ExprKind::Literal(index) => Ok(self.literal(*index)),
            ExprKind::Var(name) => Ok(self.variable(*name, scope)),
            ExprKind::List(items) => {
                let items = self.exprs(items, scope)?;
                self.list(items)
            }
            ExprKind::Tuple(items) => Ok(Py::tuple(self.exprs(items, scope)?)),
            ExprKind::Dict(items) => {
                let mut dict =
                    OrderedMap::with_capacity_and_hasher(items.len(), Default::default());
                for (key, value) in items {
                    let key = self.expr(key, scope)?.plain();
                    let value = self.expr(value, scope)?.plain();
                    // A key that is computed may be one that is there.
                    self.decide_shape(&key);
                    dict.insert(hashable(&key)?, value);
                }
                Ok(Py::dict(dict))
            }
            ExprKind::Attr(subject, name) => {
                let subject = self.expr(subject, scope)?.plain();
                self.is_here(expr.span);
                self.attribute(&subject, self.name(*name))
            }
            ExprKind::Item(subject, key) => {
                let subject = self.expr(subject, scope)?.plain();
                let key = self.expr(key, scope)?.plain();
                self.is_here(expr.span);
                self.item(&subject, &key)
            }
            ExprKind::Slice {
                subject,
                start,
                stop,
                step,
            } => {
                let subject = self.expr(subject, scope)?.plain();
                let mut bounds = [Py::NONE, Py::NONE, Py::NONE];
                for (slot, bound) in bounds.iter_mut().zip([start, stop, step]) {
                    if let Some(bound) = bound {
                        *slot = self.expr(bound, scope)?;
                    }
                }
                self.is_here(expr.span);
                self.slice(&subject, &bounds)
            }
            ExprKind::Not(inner) => {
                let value = self.expr(inner, scope)?;
                Ok(Py::Bool(!value.is_true(), self.taint(&value).derived()))
            }
            ExprKind::Neg(inner) => {
                let value = self.expr(inner, scope)?;
                let negated = operators::negate(&value)?;
                Ok(self.made_of(negated, self.taint(&value)))
            }
            ExprKind::Chain(first, rest) => self.chain(expr.span, first, rest, scope),
            ExprKind::Compare(first, rest) => {
                let mut left = self.expr(first, scope)?;
                let mut taint = Taint::NONE;
                for (op, right) in rest {
                    let right = self.expr(right, scope)?;
                    taint = self.join(taint, self.compared_taint(*op, &left, &right));
                    if !self.compare(*op, &left, &right)? {
                        return Ok(Py::Bool(false, taint));
                    }
                    left = right;
                }
                Ok(Py::Bool(true, taint))
            }
            ExprKind::If {
                test,
                then,
                otherwise,
            } => {
                let test = self.expr(test, scope)?;
                if self.trace.is_none() {
                    return match otherwise {
                        _ if test.is_true() => self.expr(then, scope),
                        Some(otherwise) => self.expr(otherwise, scope),
                        None => Ok(no_else()),
                    };
                }
                let mut calls = self.calls_something(then);
                let value = if test.is_true() {
                    self.expr(then, scope)?
                } else if let Some(otherwise) = otherwise {
                    calls |= self.calls_something(otherwise);
                    self.expr(otherwise, scope)?
                } else {
                    no_else()
                };
                if calls {
                    self.decide_shape(&test);
                }
                let other = match otherwise {
                    _ if !test.is_true() => self.other(then),
                    None => Other::Telling,
                    Some(otherwise) => self.other(otherwise),
                };
                Ok(self.chosen_by(value, self.taint(&test), other))
            }
            ExprKind::Filter {
                name,
                subject,
                args,
            } => {
                let subject = match subject {
                    Some(subject) => self.expr(subject, scope)?,
                    None => Py::missing(Missing::Nothing("a filter without a value")),
                };
                let args = self.arguments(args, scope)?;
                self.is_here(expr.span);
                self.filter(self.name(*name), subject, args)
            }
            ExprKind::Test {
                name,
                subject,
                args,
            } => {
                let subject = self.expr(subject, scope)?;
                let args = self.arguments(args, scope)?;
                let name = self.name(*name);
                let taint = self.tested_taint(name, &subject, &args);
                self.test(name, &subject, args)
                    .map(|holds| Py::Bool(holds, taint.derived()))
            }
            ExprKind::Call { callee, args } => {
                if let ExprKind::Attr(subject, name) = &callee.kind {
                    return self.call_attribute(callee.span, (subject, *name), args, scope);
                }
                let callee = self.expr(callee, scope)?;
                let args = self.arguments(args, scope)?;
                self.is_here(expr.span);
                self.call(&callee, args)
            }
        }
    }

    /// Calls an attribute of a value. A method that is called at once need not be made a value.
    fn call_attribute(
        &mut self,
        span: Span,
        (subject, name): (&'t Expr, Name),
        args: &'t [Arg],
        scope: &Rc<Scope>,
    ) -> Result<Py, Fault> {
        self.spend(1)?;
        let name = self.name(name);
        let subject = self.expr(subject, scope).map_err(|fault| fault.at(span))?;
        let subject = subject.plain();
        if self.is_method(&subject, name) {
            let args = self.arguments(args, scope)?;
            self.is_here(span);
            return self.call_method(&subject, name, args);
        }
        let callee = self
            .attribute(&subject, name)
            .map_err(|fault| fault.at(span))?;
        let args = self.arguments(args, scope)?;
        self.is_here(span);
        self.call(&callee, args)
    }

    /// Returns true if an expression is an empty string.
    fn is_nothing(&self, expr: &Expr) -> bool {
        let ExprKind::Literal(index) = &expr.kind else {
            return false;
        };
        matches!(&self.tree.literals[*index], Literal::Str(text, _) if text.is_empty())
    }

    /// The kind of value that an expression that is not evaluated might have had. Scalars tell of the inputs that choose them.
    fn other(&self, expr: &Expr) -> Other {
        let tells = match &expr.kind {
            ExprKind::Literal(index) => match &self.tree.literals[*index] {
                Literal::Str(text, _) => text.is_empty(),
                _ => true,
            },
            ExprKind::Not(_) | ExprKind::Neg(_) | ExprKind::Compare(..) | ExprKind::Test { .. } => {
                true
            }
            ExprKind::Chain(first, rest) => {
                rest.iter().all(|(op, right)| {
                    matches!(op, BinaryOp::And | BinaryOp::Or)
                        && self.other(right) == Other::Telling
                }) && self.other(first) == Other::Telling
            }
            ExprKind::Filter { name, .. } => {
                matches!(self.name(*name), "length" | "count" | "int" | "float")
            }
            ExprKind::Call { callee, .. } => match &callee.kind {
                ExprKind::Attr(_, name) => matches!(self.name(*name), "startswith" | "endswith"),
                _ => false,
            },
            _ => false,
        };
        if tells { Other::Telling } else { Other::Silent }
    }

    fn exprs(&mut self, exprs: &'t [Expr], scope: &Rc<Scope>) -> Result<Vec<Py>, Fault> {
        exprs
            .iter()
            .map(|expr| self.expr(expr, scope).map(Py::plain))
            .collect()
    }

    fn chain(
        &mut self,
        span: Span,
        first: &'t Expr,
        rest: &'t [(BinaryOp, Expr)],
        scope: &Rc<Scope>,
    ) -> Result<Py, Fault> {
        let mut left = self.expr(first, scope)?;
        for (op, right) in rest {
            let decided = match op {
                BinaryOp::And => !left.is_true(),
                BinaryOp::Or => left.is_true(),
                _ => {
                    let right = self.expr(right, scope)?;
                    self.is_here(span);
                    left = self.binary(*op, &left, &right)?;
                    continue;
                }
            };
            if self.trace.is_none() {
                if !decided {
                    left = self.expr(right, scope)?;
                }
                continue;
            }
            let chooser = self.taint(&left);
            if !chooser.is_none() && self.calls_something(right) {
                self.decided_by(chooser);
            }
            if !decided {
                left = self.expr(right, scope)?;
            }
            left = if *op == BinaryOp::Or
                && self.is_nothing(right)
                && !decided
                && !chooser.is_none()
            {
                self.nothing(chooser)
            } else {
                let other = if decided {
                    self.other(right)
                } else {
                    Other::Telling
                };
                self.chosen_by(left, chooser, other)
            };
        }
        Ok(left)
    }

    /// The filters of a `filter` or `set` block, innermost first, on the block's text.
    pub(super) fn filter_chain(
        &mut self,
        filter: &'t Expr,
        text: Py,
        scope: &Rc<Scope>,
    ) -> Result<Py, Fault> {
        let ExprKind::Filter {
            name,
            subject,
            args,
        } = &filter.kind
        else {
            return self.expr(filter, scope);
        };
        let subject = match subject {
            Some(subject) => self.filter_chain(subject, text, scope)?,
            None => text,
        };
        let args = self.arguments(args, scope)?;
        self.is_here(filter.span);
        self.filter(self.name(*name), subject, args)
            .map_err(|fault| fault.at(filter.span))
    }
}

impl Render<'_> {
    /// Returns true if evaluating an expression may do something beside giving a value: call what may set an attribute of a namespace.
    fn calls_something(&self, expr: &Expr) -> bool {
        if self.trace.is_none() {
            return false;
        }
        let any = |exprs: &[Expr]| exprs.iter().any(|expr| self.calls_something(expr));
        let in_args = |args: &[Arg]| args.iter().any(|arg| self.calls_something(arg.expr()));
        match &expr.kind {
            ExprKind::Var(_) | ExprKind::Literal(_) => false,
            ExprKind::List(items) | ExprKind::Tuple(items) => any(items),
            ExprKind::Dict(items) => items
                .iter()
                .any(|(key, value)| self.calls_something(key) || self.calls_something(value)),
            ExprKind::Attr(subject, _) | ExprKind::Not(subject) | ExprKind::Neg(subject) => {
                self.calls_something(subject)
            }
            ExprKind::Item(subject, key) => {
                self.calls_something(subject) || self.calls_something(key)
            }
            ExprKind::Slice {
                subject,
                start,
                stop,
                step,
            } => {
                self.calls_something(subject)
                    || [start, stop, step]
                        .into_iter()
                        .flatten()
                        .any(|bound| self.calls_something(bound))
            }
            ExprKind::Chain(first, rest) => {
                self.calls_something(first)
                    || rest.iter().any(|(_, right)| self.calls_something(right))
            }
            ExprKind::Compare(first, rest) => {
                self.calls_something(first)
                    || rest.iter().any(|(_, right)| self.calls_something(right))
            }
            ExprKind::If {
                test,
                then,
                otherwise,
            } => {
                self.calls_something(test)
                    || self.calls_something(then)
                    || otherwise
                        .as_deref()
                        .is_some_and(|expr| self.calls_something(expr))
            }
            ExprKind::Filter { subject, args, .. } => {
                subject
                    .as_deref()
                    .is_some_and(|expr| self.calls_something(expr))
                    || in_args(args)
            }
            ExprKind::Test { subject, args, .. } => self.calls_something(subject) || in_args(args),
            ExprKind::Call { callee, args } => {
                let harmless = match &callee.kind {
                    ExprKind::Attr(subject, name) => {
                        changes_nothing(self.name(*name)) && !self.calls_something(subject)
                    }
                    _ => false,
                };
                !harmless || in_args(args)
            }
        }
    }
}

fn no_else() -> Py {
    Py::missing(Missing::Nothing("an inline `if` without `else` was false"))
}
