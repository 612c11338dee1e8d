//! Evaluating expressions.

use std::rc::Rc;

use indexmap::IndexMap;

use super::attributes::is_method;
use super::fault::Fault;
use super::object::{Missing, Py};
use super::scope::Scope;
use super::{Render, hashable, operators};
use crate::chat_template::syntax::tree::{Arg, BinaryOp, Expr, ExprKind, Name, Span};

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
                let mut dict = IndexMap::with_capacity(items.len());
                for (key, value) in items {
                    let key = self.expr(key, scope)?.plain();
                    let value = self.expr(value, scope)?.plain();
                    dict.insert(hashable(&key)?, value);
                }
                Ok(Py::dict(dict))
            }
            ExprKind::Attr(subject, name) => {
                let subject = self.expr(subject, scope)?.plain();
                self.attribute(&subject, self.name(*name))
            }
            ExprKind::Item(subject, key) => {
                let subject = self.expr(subject, scope)?.plain();
                let key = self.expr(key, scope)?.plain();
                self.item(&subject, &key)
            }
            ExprKind::Slice {
                subject,
                start,
                stop,
                step,
            } => {
                let subject = self.expr(subject, scope)?.plain();
                let mut bounds = [Py::None, Py::None, Py::None];
                for (slot, bound) in bounds.iter_mut().zip([start, stop, step]) {
                    if let Some(bound) = bound {
                        *slot = self.expr(bound, scope)?;
                    }
                }
                self.slice(&subject, &bounds)
            }
            ExprKind::Not(inner) => Ok(Py::Bool(!self.expr(inner, scope)?.is_true())),
            ExprKind::Neg(inner) => operators::negate(&self.expr(inner, scope)?),
            ExprKind::Chain(first, rest) => self.chain(first, rest, scope),
            ExprKind::Compare(first, rest) => {
                let mut left = self.expr(first, scope)?;
                for (op, right) in rest {
                    let right = self.expr(right, scope)?;
                    if !self.compare(*op, &left, &right)? {
                        return Ok(Py::Bool(false));
                    }
                    left = right;
                }
                Ok(Py::Bool(true))
            }
            ExprKind::If {
                test,
                then,
                otherwise,
            } => {
                if self.expr(test, scope)?.is_true() {
                    return self.expr(then, scope);
                }
                match otherwise {
                    Some(otherwise) => self.expr(otherwise, scope),
                    None => Ok(Py::missing(Missing::Nothing(
                        "an inline `if` without `else` was false",
                    ))),
                }
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
                self.filter(self.name(*name), subject, args)
            }
            ExprKind::Test {
                name,
                subject,
                args,
            } => {
                let subject = self.expr(subject, scope)?;
                let args = self.arguments(args, scope)?;
                self.test(self.name(*name), &subject, args).map(Py::Bool)
            }
            ExprKind::Call { callee, args } => {
                if let ExprKind::Attr(subject, name) = &callee.kind {
                    return self.call_attribute(callee.span, (subject, *name), args, scope);
                }
                let callee = self.expr(callee, scope)?;
                let args = self.arguments(args, scope)?;
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
        if is_method(&subject, name) {
            let args = self.arguments(args, scope)?;
            return self.call_method(&subject, name, args);
        }
        let callee = self
            .attribute(&subject, name)
            .map_err(|fault| fault.at(span))?;
        let args = self.arguments(args, scope)?;
        self.call(&callee, args)
    }

    fn exprs(&mut self, exprs: &'t [Expr], scope: &Rc<Scope>) -> Result<Vec<Py>, Fault> {
        exprs
            .iter()
            .map(|expr| self.expr(expr, scope).map(Py::plain))
            .collect()
    }

    fn chain(
        &mut self,
        first: &'t Expr,
        rest: &'t [(BinaryOp, Expr)],
        scope: &Rc<Scope>,
    ) -> Result<Py, Fault> {
        let mut left = self.expr(first, scope)?;
        for (op, right) in rest {
            let decided = match op {
                BinaryOp::And => !left.is_true(),
                BinaryOp::Or => left.is_true(),
                _ => false,
            };
            if !decided {
                let right = self.expr(right, scope)?;
                left = self.binary(*op, &left, &right)?;
            }
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
        self.filter(self.name(*name), subject, args)
            .map_err(|fault| fault.at(filter.span))
    }
}
