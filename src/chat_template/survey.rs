//! What a template's syntax tree tells without rendering: its constants, its variables, and what it compares them with.

use std::collections::HashSet;

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Stmt};

use crate::value::{Integer, Value};

/// What was found, each list in source order without repetitions.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) constants: Vec<String>,
    pub(super) variables: Vec<String>,
    pub(super) candidates: Vec<(String, Vec<Value>)>,
    seen: HashSet<String>,
    bound: HashSet<String>,
}

const GLOBALS: [&str; 12] = [
    "range",
    "dict",
    "namespace",
    "raise_exception",
    "strftime_now",
    "lipsum",
    "cycler",
    "joiner",
    "loop",
    "self",
    "caller",
    "varargs",
];

impl Survey {
    pub(super) fn of(tree: &Stmt<'_>) -> Self {
        let mut survey = Self::default();
        survey.stmt(tree);
        let bound = std::mem::take(&mut survey.bound);
        survey
            .variables
            .retain(|name| !bound.contains(name) && !GLOBALS.contains(&name.as_str()));
        let variables: HashSet<&String> = survey.variables.iter().collect();
        survey
            .candidates
            .retain(|(name, _)| variables.contains(name));
        survey
    }

    fn constant(&mut self, text: &str) {
        if !text.is_empty() && self.seen.insert(text.to_owned()) {
            self.constants.push(text.to_owned());
        }
    }

    fn body(&mut self, body: &[Stmt<'_>]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn bind(&mut self, target: &Expr<'_>) {
        match target {
            Expr::Var(var) => {
                self.bound.insert(var.id.to_owned());
            }
            Expr::List(list) => list.items.iter().for_each(|item| self.bind(item)),
            Expr::Tuple(list) => list.items.iter().for_each(|item| self.bind(item)),
            other => self.expr(other),
        }
    }

    fn stmt(&mut self, stmt: &Stmt<'_>) {
        match stmt {
            Stmt::Template(stmt) => self.body(&stmt.children),
            Stmt::EmitExpr(stmt) => self.expr(&stmt.expr),
            Stmt::EmitRaw(stmt) => self.constant(stmt.raw),
            Stmt::ForLoop(stmt) => {
                self.expr(&stmt.iter);
                self.bind(&stmt.target);
                stmt.filter_expr.iter().for_each(|expr| self.expr(expr));
                self.body(&stmt.body);
                self.body(&stmt.else_body);
            }
            Stmt::IfCond(stmt) => {
                self.expr(&stmt.expr);
                self.truth(&stmt.expr);
                self.body(&stmt.true_body);
                self.body(&stmt.false_body);
            }
            Stmt::WithBlock(stmt) => {
                for (target, expr) in &stmt.assignments {
                    self.expr(expr);
                    self.bind(target);
                }
                self.body(&stmt.body);
            }
            Stmt::Set(stmt) => {
                self.expr(&stmt.expr);
                // `set x = x or ...` still takes x from outside.
                let reads_itself = matches!(&stmt.target, Expr::Var(var) if self.variables.iter().any(|name| name == var.id));
                if !reads_itself {
                    self.bind(&stmt.target);
                }
            }
            Stmt::SetBlock(stmt) => {
                stmt.filter.iter().for_each(|expr| self.expr(expr));
                self.bind(&stmt.target);
                self.body(&stmt.body);
            }
            Stmt::AutoEscape(stmt) => self.body(&stmt.body),
            Stmt::FilterBlock(stmt) => {
                self.expr(&stmt.filter);
                self.body(&stmt.body);
            }
            Stmt::Block(stmt) => self.body(&stmt.body),
            Stmt::Macro(stmt) => {
                self.bound.insert(stmt.name.to_owned());
                stmt.args.iter().for_each(|arg| self.bind(arg));
                stmt.defaults.iter().for_each(|expr| self.expr(expr));
                self.body(&stmt.body);
            }
            Stmt::CallBlock(stmt) => {
                self.expr(&stmt.call.expr);
                self.args(&stmt.call.args);
                stmt.macro_decl.args.iter().for_each(|arg| self.bind(arg));
                stmt.macro_decl
                    .defaults
                    .iter()
                    .for_each(|expr| self.expr(expr));
                self.body(&stmt.macro_decl.body);
            }
            Stmt::Do(stmt) => {
                self.expr(&stmt.call.expr);
                self.args(&stmt.call.args);
            }
            _ => {}
        }
    }

    fn args(&mut self, args: &[CallArg<'_>]) {
        for arg in args {
            match arg {
                CallArg::Pos(expr)
                | CallArg::Kwarg(_, expr)
                | CallArg::PosSplat(expr)
                | CallArg::KwargSplat(expr) => {
                    self.expr(expr);
                }
            }
        }
    }

    fn expr(&mut self, expr: &Expr<'_>) {
        match expr {
            Expr::Var(var) => {
                if !self.variables.iter().any(|name| name == var.id) && !self.bound.contains(var.id)
                {
                    self.variables.push(var.id.to_owned());
                }
            }
            Expr::Const(constant) => {
                if let Some(text) = constant.value.as_str() {
                    self.constant(text);
                }
            }
            Expr::Slice(slice) => {
                self.expr(&slice.expr);
                [&slice.start, &slice.stop, &slice.step]
                    .into_iter()
                    .flatten()
                    .for_each(|expr| self.expr(expr));
            }
            Expr::UnaryOp(op) => {
                self.expr(&op.expr);
                self.truth(&op.expr);
            }
            Expr::BinOp(op) => {
                self.expr(&op.left);
                self.expr(&op.right);
                match op.op {
                    BinOpKind::ScAnd | BinOpKind::ScOr => {
                        self.truth(&op.left);
                        self.truth(&op.right);
                    }
                    BinOpKind::Eq | BinOpKind::Ne | BinOpKind::In => {
                        self.compared(&op.left, &op.right);
                        self.compared(&op.right, &op.left);
                    }
                    _ => {}
                }
            }
            Expr::Compare(compare) => {
                self.expr(&compare.expr);
                compare.ops.iter().for_each(|op| self.expr(&op.expr));
            }
            Expr::IfExpr(expr) => {
                self.expr(&expr.true_expr);
                self.expr(&expr.test_expr);
                self.truth(&expr.test_expr);
                expr.false_expr.iter().for_each(|expr| self.expr(expr));
            }
            Expr::Filter(filter) => {
                filter.expr.iter().for_each(|expr| self.expr(expr));
                self.args(&filter.args);
            }
            Expr::Test(test) => {
                self.expr(&test.expr);
                self.args(&test.args);
                match test.name {
                    "true" | "false" | "boolean" => self.truth(&test.expr),
                    _ => {}
                }
            }
            Expr::GetAttr(attr) => self.expr(&attr.expr),
            Expr::GetItem(item) => {
                self.expr(&item.expr);
                self.expr(&item.subscript_expr);
            }
            Expr::Call(call) => {
                self.expr(&call.expr);
                self.args(&call.args);
            }
            Expr::List(list) => list.items.iter().for_each(|item| self.expr(item)),
            Expr::Tuple(list) => list.items.iter().for_each(|item| self.expr(item)),
            Expr::Map(map) => {
                for (key, value) in map.keys.iter().zip(&map.values) {
                    self.expr(key);
                    self.expr(value);
                }
            }
        }
    }

    /// A variable whose truth decides something is worth trying both ways.
    fn truth(&mut self, expr: &Expr<'_>) {
        if let Expr::Var(var) = expr {
            self.candidate(var.id, Value::Bool(true));
            self.candidate(var.id, Value::Bool(false));
        }
    }

    fn compared(&mut self, subject: &Expr<'_>, other: &Expr<'_>) {
        let Expr::Var(var) = subject else { return };
        match other {
            Expr::Const(constant) => {
                if let Some(value) = plain(&constant.value) {
                    self.candidate(var.id, value);
                }
            }
            Expr::List(list) => list
                .items
                .iter()
                .for_each(|item| self.compared(subject, item)),
            Expr::Tuple(list) => list
                .items
                .iter()
                .for_each(|item| self.compared(subject, item)),
            _ => {}
        }
    }

    fn candidate(&mut self, name: &str, value: Value) {
        let at = self
            .candidates
            .iter()
            .position(|(key, _)| key == name)
            .unwrap_or_else(|| {
                self.candidates.push((name.to_owned(), Vec::new()));
                self.candidates.len() - 1
            });
        let values = &mut self.candidates[at].1;
        if !values.contains(&value) {
            values.push(value);
        }
    }
}

fn plain(value: &minijinja::Value) -> Option<Value> {
    if let Some(text) = value.as_str() {
        return Some(Value::from(text));
    }
    if value.is_none() {
        return Some(Value::Null);
    }
    if let Ok(value) = bool::try_from(value.clone())
        && value.to_string() == minijinja::Value::from(value).to_string()
        && matches!(minijinja::value::ValueKind::Bool, kind if kind == minijinja::Value::from(value).kind())
    {
        return Some(Value::Bool(value));
    }
    Integer::from_digits(&value.to_string()).map(Value::Int)
}
