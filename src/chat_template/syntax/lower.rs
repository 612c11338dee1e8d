//! From the parser's tree, which borrows its source, to ours.

use std::collections::HashMap;
use std::sync::Arc;

use minijinja::machinery::{self, ast};

use super::bounds::DEPTH;
use super::literal;
use super::newlines::Newlines;
use super::tree::{
    Arg, Args, BinaryOp, CompareOp, Expr, ExprKind, For, Literal, Macro, Name, Places, Span, Stmt,
    Target, Tree,
};
use crate::chat_template::error::TemplateError;
use crate::diagnostic::Diagnostic;

pub(super) struct Lowering<'s> {
    tree: Tree,
    by_name: HashMap<String, Name>,
    lines: &'s Newlines,
    /// Where the names of the `generation` tags stood that a `with` stands for.
    generations: &'s [usize],
    depth: usize,
    /// The names that the macro being lowered mentions, one list for each macro around.
    mentioned: Vec<Vec<Name>>,
}

type Lowered<T> = Result<T, TemplateError>;

pub(super) fn lower(
    tree: &ast::Stmt<'_>,
    lines: &Newlines,
    generations: &[usize],
) -> Lowered<Tree> {
    let mut lowering = Lowering {
        tree: Tree::default(),
        by_name: HashMap::new(),
        lines,
        generations,
        depth: 0,
        mentioned: Vec::new(),
    };
    let mut body = Vec::new();
    lowering.stmt(tree, &mut body)?;
    lowering.tree.body = body;
    lowering.tree.loop_name = lowering.by_name.get("loop").copied();
    Ok(lowering.tree)
}

impl Lowering<'_> {
    fn name(&mut self, text: &str) -> Name {
        if let Some(name) = self.by_name.get(text) {
            return *name;
        }
        let name = Name(u32::try_from(self.tree.names.len()).unwrap_or(u32::MAX));
        self.tree.names.push(Arc::from(text));
        self.by_name.insert(text.to_owned(), name);
        name
    }

    /// Keeps where a constant stands; its index.
    fn constant(&mut self, places: Places) -> usize {
        self.tree.places.push(places);
        self.tree.places.len() - 1
    }

    fn span(&self, span: machinery::Span) -> Span {
        let start = self.lines.original(span.start_offset);
        Span {
            start,
            end: self.lines.original(span.end_offset).max(start),
        }
    }

    fn error(&self, span: machinery::Span, message: impl Into<String>) -> TemplateError {
        let span = self.span(span);
        TemplateError::new(
            Diagnostic::error("chat-template-syntax", message)
                .with_span(span.start as usize..span.end as usize),
        )
    }

    fn deeper<T>(
        &mut self,
        span: machinery::Span,
        inner: impl FnOnce(&mut Self) -> Lowered<T>,
    ) -> Lowered<T> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error(
                span,
                format!("the chat template nests deeper than the limit of {DEPTH} levels"),
            ));
        }
        let out = inner(self);
        self.depth -= 1;
        out
    }

    fn body(&mut self, body: &[ast::Stmt<'_>]) -> Lowered<Vec<Stmt>> {
        let mut out = Vec::with_capacity(body.len());
        for stmt in body {
            self.stmt(stmt, &mut out)?;
        }
        Ok(out)
    }

    fn stmt(&mut self, stmt: &ast::Stmt<'_>, out: &mut Vec<Stmt>) -> Lowered<()> {
        let lowered = match stmt {
            ast::Stmt::Template(stmt) => {
                for child in &stmt.children {
                    self.stmt(child, out)?;
                }
                return Ok(());
            }
            ast::Stmt::EmitExpr(stmt) => Stmt::Emit(self.expr(&stmt.expr)?),
            ast::Stmt::EmitRaw(stmt) => {
                let places = self.lines.places(stmt.raw, stmt.span().start_offset);
                Stmt::Raw(stmt.raw.to_owned(), self.constant(places))
            }
            ast::Stmt::ForLoop(stmt) => self.deeper(stmt.span(), |this| {
                Ok(Stmt::For(Box::new(For {
                    target: this.target(&stmt.target)?,
                    iter: this.expr(&stmt.iter)?,
                    filter: stmt
                        .filter_expr
                        .as_ref()
                        .map(|expr| this.expr(expr))
                        .transpose()?,
                    recursive: stmt.recursive,
                    body: this.body(&stmt.body)?,
                    otherwise: this.body(&stmt.else_body)?,
                })))
            })?,
            ast::Stmt::IfCond(stmt) => self.branches(stmt)?,
            ast::Stmt::WithBlock(stmt) if self.is_generation(stmt.span()) => self
                .deeper(stmt.span(), |this| {
                    Ok(Stmt::Generation(this.body(&stmt.body)?))
                })?,
            ast::Stmt::WithBlock(stmt) => self.deeper(stmt.span(), |this| {
                let mut assignments = Vec::new();
                for (target, value) in &stmt.assignments {
                    assignments.push((this.target(target)?, this.expr(value)?));
                }
                Ok(Stmt::With {
                    assignments,
                    body: this.body(&stmt.body)?,
                })
            })?,
            ast::Stmt::Set(stmt) => Stmt::Set {
                target: self.target(&stmt.target)?,
                value: self.expr(&stmt.expr)?,
            },
            ast::Stmt::SetBlock(stmt) => self.deeper(stmt.span(), |this| {
                Ok(Stmt::SetBlock {
                    target: this.target(&stmt.target)?,
                    filter: stmt
                        .filter
                        .as_ref()
                        .map(|expr| this.expr(expr))
                        .transpose()?,
                    body: this.body(&stmt.body)?,
                })
            })?,
            ast::Stmt::FilterBlock(stmt) => self.deeper(stmt.span(), |this| {
                Ok(Stmt::Filter {
                    filter: this.expr(&stmt.filter)?,
                    body: this.body(&stmt.body)?,
                })
            })?,
            ast::Stmt::Block(stmt) => self.deeper(stmt.span(), |this| {
                Ok(Stmt::With {
                    assignments: Vec::new(),
                    body: this.body(&stmt.body)?,
                })
            })?,
            ast::Stmt::Macro(stmt) => {
                let index = self.deeper(stmt.span(), |this| this.function(stmt))?;
                Stmt::Macro(index)
            }
            ast::Stmt::CallBlock(stmt) => self.deeper(stmt.span(), |this| {
                Ok(Stmt::Call {
                    callee: this.expr(&stmt.call.expr)?,
                    args: this.args(&stmt.call.args)?,
                    body: this.function(&stmt.macro_decl)?,
                    span: this.span(stmt.span()),
                })
            })?,
            ast::Stmt::Break(_) => Stmt::Break,
            ast::Stmt::Continue(_) => Stmt::Continue,
            ast::Stmt::Do(stmt) => {
                return Err(self.error(stmt.span(), "chat templates have no tag `do`"));
            }
            ast::Stmt::AutoEscape(stmt)
                if stmt
                    .enabled
                    .as_const()
                    .is_some_and(|enabled| !enabled.is_true()) =>
            {
                self.deeper(stmt.span(), |this| {
                    Ok(Stmt::With {
                        assignments: Vec::new(),
                        body: this.body(&stmt.body)?,
                    })
                })?
            }
            ast::Stmt::AutoEscape(stmt) => {
                return Err(self.error(
                    stmt.span(),
                    "chat templates have no use for the tag `autoescape`",
                ));
            }
            ast::Stmt::Extends(stmt) => self.nothing_to_load("extends", stmt.span()),
            ast::Stmt::Include(stmt) => self.nothing_to_load("include", stmt.span()),
            ast::Stmt::Import(stmt) => self.nothing_to_load("import", stmt.span()),
            ast::Stmt::FromImport(stmt) => self.nothing_to_load("from", stmt.span()),
        };
        out.push(lowered);
        Ok(())
    }

    /// Returns true if a `with` stands for a `generation`.
    fn is_generation(&self, span: machinery::Span) -> bool {
        let start = span.start_offset as usize;
        let next = self.generations.partition_point(|at| *at < start);
        let before = self
            .generations
            .get(next)
            .and_then(|at| self.lines.text.get(start..*at));
        before.is_some_and(|before| before.chars().all(|c| " \t\n{%-+".contains(c)))
    }

    fn nothing_to_load(&self, tag: &str, span: machinery::Span) -> Stmt {
        Stmt::Fail {
            message: format!(
                "`{tag}` in a chat template: there is nothing to load other templates from"
            ),
            span: self.span(span),
        }
    }

    /// An `if` with its `elif` branches, which the parser nests, laid flat while they are lowered.
    fn branches(&mut self, stmt: &ast::Spanned<ast::IfCond<'_>>) -> Lowered<Stmt> {
        let mut arms = Vec::new();
        let mut current = stmt;
        let mut otherwise = loop {
            let (test, then) = self.deeper(current.span(), |this| {
                Ok((this.expr(&current.expr)?, this.body(&current.true_body)?))
            })?;
            arms.push((test, then));
            match current.false_body.as_slice() {
                [ast::Stmt::IfCond(next)] => current = next,
                other => break self.deeper(current.span(), |this| this.body(other))?,
            }
        };
        while let Some((test, then)) = arms.pop() {
            otherwise = vec![Stmt::If {
                test,
                then,
                otherwise,
            }];
        }
        Ok(otherwise
            .pop()
            .unwrap_or_else(|| Stmt::Raw(String::new(), self.constant(Places::default()))))
    }

    fn function(&mut self, decl: &ast::Spanned<ast::Macro<'_>>) -> Lowered<usize> {
        let name = self.name(decl.name);
        let mut params = Vec::new();
        for arg in &decl.args {
            if let ast::Expr::Var(var) = arg {
                params.push(self.name(var.id));
            }
        }
        let mut defaults = Vec::new();
        for default in &decl.defaults {
            defaults.push(self.expr(default)?);
        }
        self.mentioned.push(Vec::new());
        let body = self.body(&decl.body);
        let mentioned = self.mentioned.pop().unwrap_or_default();
        let body = body?;
        let [varargs, kwargs, caller] = ["varargs", "kwargs", "caller"].map(|name| self.name(name));
        let uses = |name: Name| mentioned.contains(&name) && !params.contains(&name);
        let (uses_varargs, uses_kwargs, uses_caller) = (uses(varargs), uses(kwargs), uses(caller));
        if let Some(outer) = self.mentioned.last_mut() {
            outer.extend(mentioned);
        }
        self.tree.macros.push(Macro {
            name,
            params,
            defaults,
            body,
            uses_varargs,
            uses_kwargs,
            uses_caller,
        });
        Ok(self.tree.macros.len() - 1)
    }

    fn target(&mut self, target: &ast::Expr<'_>) -> Lowered<Target> {
        let span = self.span(target.span());
        Ok(match target {
            ast::Expr::Var(var) => Target::Name(self.name(var.id)),
            ast::Expr::GetAttr(attr) => match &attr.expr {
                ast::Expr::Var(var) => Target::Attr(self.name(var.id), self.name(attr.name), span),
                _ => {
                    return Err(self.error(
                        target.span(),
                        "only an attribute of a namespace can be assigned to",
                    ));
                }
            },
            ast::Expr::List(ast_list) => {
                let mut items = Vec::new();
                for item in &ast_list.items {
                    items.push(self.target(item)?);
                }
                Target::Many(items, span)
            }
            other => return Err(self.error(other.span(), "this cannot be assigned to")),
        })
    }

    fn args(&mut self, args: &[ast::CallArg<'_>]) -> Lowered<Args> {
        args.iter()
            .map(|arg| {
                Ok(match arg {
                    ast::CallArg::Pos(expr) => Arg::Pos(self.expr(expr)?),
                    ast::CallArg::Kwarg(name, expr) => {
                        Arg::Named(self.name(name), self.expr(expr)?)
                    }
                    ast::CallArg::PosSplat(expr) => Arg::Splat(self.expr(expr)?),
                    ast::CallArg::KwargSplat(expr) => Arg::NamedSplat(self.expr(expr)?),
                })
            })
            .collect()
    }

    fn exprs(&mut self, exprs: &[ast::Expr<'_>]) -> Lowered<Vec<Expr>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn boxed(&mut self, expr: &ast::Expr<'_>) -> Lowered<Box<Expr>> {
        self.expr(expr).map(Box::new)
    }

    fn maybe(&mut self, expr: Option<&ast::Expr<'_>>) -> Lowered<Option<Box<Expr>>> {
        expr.map(|expr| self.boxed(expr)).transpose()
    }

    fn expr(&mut self, expr: &ast::Expr<'_>) -> Lowered<Expr> {
        let mut span = self.span(expr.span());
        let kind = self.deeper(expr.span(), |this| this.kind(expr))?;
        // The parser starts what follows an operand at its last link.
        let operand = match &kind {
            ExprKind::Attr(operand, _)
            | ExprKind::Item(operand, _)
            | ExprKind::Slice {
                subject: operand, ..
            }
            | ExprKind::Filter {
                subject: Some(operand),
                ..
            }
            | ExprKind::Test {
                subject: operand, ..
            }
            | ExprKind::Call {
                callee: operand, ..
            }
            | ExprKind::Compare(operand, _)
            | ExprKind::If { then: operand, .. } => Some(operand),
            _ => None,
        };
        if let Some(operand) = operand {
            span.start = operand.span.start;
        }
        Ok(Expr { kind, span })
    }

    fn kind(&mut self, expr: &ast::Expr<'_>) -> Lowered<ExprKind> {
        Ok(match expr {
            ast::Expr::Var(var) => {
                let name = self.name(var.id);
                if let Some(mentioned) = self.mentioned.last_mut() {
                    mentioned.push(name);
                }
                ExprKind::Var(name)
            }
            ast::Expr::Const(constant) => {
                let literal = self.literal(&constant.value, expr.span())?;
                self.tree.literals.push(literal);
                ExprKind::Literal(self.tree.literals.len() - 1)
            }
            ast::Expr::List(list) => ExprKind::List(self.exprs(&list.items)?),
            ast::Expr::Tuple(list) => ExprKind::Tuple(self.exprs(&list.items)?),
            ast::Expr::Map(map) => {
                let mut items = Vec::new();
                for (key, value) in map.keys.iter().zip(&map.values) {
                    items.push((self.expr(key)?, self.expr(value)?));
                }
                ExprKind::Dict(items)
            }
            ast::Expr::GetAttr(attr) => {
                ExprKind::Attr(self.boxed(&attr.expr)?, self.name(attr.name))
            }
            ast::Expr::GetItem(item) => {
                ExprKind::Item(self.boxed(&item.expr)?, self.boxed(&item.subscript_expr)?)
            }
            ast::Expr::Slice(slice) => ExprKind::Slice {
                subject: self.boxed(&slice.expr)?,
                start: self.maybe(slice.start.as_ref())?,
                stop: self.maybe(slice.stop.as_ref())?,
                step: self.maybe(slice.step.as_ref())?,
            },
            ast::Expr::UnaryOp(op) => match op.op {
                ast::UnaryOpKind::Not => ExprKind::Not(self.boxed(&op.expr)?),
                ast::UnaryOpKind::Neg => ExprKind::Neg(self.boxed(&op.expr)?),
            },
            ast::Expr::BinOp(op) => match compare_op(op.op) {
                Some(compare) => {
                    let left = self.boxed(&op.left)?;
                    ExprKind::Compare(left, vec![(compare, self.expr(&op.right)?)])
                }
                None => self.chain(op)?,
            },
            ast::Expr::Compare(compare) => {
                let left = self.boxed(&compare.expr)?;
                let mut ops = Vec::new();
                for op in &compare.ops {
                    let kind = match op.op {
                        ast::CompareOpKind::Eq => CompareOp::Eq,
                        ast::CompareOpKind::Ne => CompareOp::Ne,
                        ast::CompareOpKind::Lt => CompareOp::Lt,
                        ast::CompareOpKind::Lte => CompareOp::Le,
                        ast::CompareOpKind::Gt => CompareOp::Gt,
                        ast::CompareOpKind::Gte => CompareOp::Ge,
                        ast::CompareOpKind::In => CompareOp::In,
                        ast::CompareOpKind::NotIn => CompareOp::NotIn,
                    };
                    ops.push((kind, self.expr(&op.expr)?));
                }
                ExprKind::Compare(left, ops)
            }
            ast::Expr::IfExpr(expr) => ExprKind::If {
                then: self.boxed(&expr.true_expr)?,
                test: self.boxed(&expr.test_expr)?,
                otherwise: self.maybe(expr.false_expr.as_ref())?,
            },
            ast::Expr::Filter(filter) => ExprKind::Filter {
                name: self.name(filter.name),
                subject: self.maybe(filter.expr.as_ref())?,
                args: self.args(&filter.args)?,
            },
            ast::Expr::Test(test) => ExprKind::Test {
                name: self.name(test.name),
                subject: self.boxed(&test.expr)?,
                args: self.args(&test.args)?,
            },
            ast::Expr::Call(call) => ExprKind::Call {
                callee: self.boxed(&call.expr)?,
                args: self.args(&call.args)?,
            },
        })
    }

    /// Operators that associate to the left nest to the left, as deep as the chain is long.
    fn chain(&mut self, op: &ast::Spanned<ast::BinOp<'_>>) -> Lowered<ExprKind> {
        let mut links = Vec::new();
        let mut current = op;
        let first = loop {
            links.push((current.op, &current.right));
            match &current.left {
                ast::Expr::BinOp(left) if compare_op(left.op).is_none() => current = left,
                other => break self.boxed(other)?,
            }
        };
        let mut rest = Vec::with_capacity(links.len());
        for (op, right) in links.into_iter().rev() {
            rest.push((binary_op(op), self.expr(right)?));
        }
        Ok(ExprKind::Chain(first, rest))
    }

    fn literal(&mut self, value: &minijinja::Value, span: machinery::Span) -> Lowered<Literal> {
        use minijinja::value::ValueKind;
        Ok(match value.kind() {
            ValueKind::Bool => Literal::Bool(value.is_true()),
            ValueKind::Number => match i128::try_from(value.clone()) {
                Ok(number) if value.is_integer() => Literal::Int(number),
                _ => Literal::Float(f64::try_from(value.clone()).unwrap_or(f64::NAN)),
            },
            ValueKind::String => {
                let source = self
                    .lines
                    .text
                    .get(span.start_offset as usize..span.end_offset as usize);
                let mut places = Places::default();
                let text = match source {
                    Some(source) if source.starts_with(['"', '\'']) => {
                        let lines = self.lines;
                        literal::decode(source, |value_len, written| {
                            let [start, end] = [written.start, written.end].map(|at| {
                                lines.original(span.start_offset.saturating_add(at as u32))
                            });
                            places.push(value_len, start, end - start);
                        })
                        .map_err(|message| self.error(span, message))?
                    }
                    _ => value.as_str().unwrap_or_default().to_owned(),
                };
                Literal::Str(text, self.constant(places))
            }
            _ => Literal::None,
        })
    }
}

fn compare_op(op: ast::BinOpKind) -> Option<CompareOp> {
    Some(match op {
        ast::BinOpKind::Eq => CompareOp::Eq,
        ast::BinOpKind::Ne => CompareOp::Ne,
        ast::BinOpKind::Lt => CompareOp::Lt,
        ast::BinOpKind::Lte => CompareOp::Le,
        ast::BinOpKind::Gt => CompareOp::Gt,
        ast::BinOpKind::Gte => CompareOp::Ge,
        ast::BinOpKind::In => CompareOp::In,
        _ => return None,
    })
}

fn binary_op(op: ast::BinOpKind) -> BinaryOp {
    match op {
        ast::BinOpKind::Sub => BinaryOp::Sub,
        ast::BinOpKind::Mul => BinaryOp::Mul,
        ast::BinOpKind::Div => BinaryOp::Div,
        ast::BinOpKind::FloorDiv => BinaryOp::FloorDiv,
        ast::BinOpKind::Rem => BinaryOp::Rem,
        ast::BinOpKind::Pow => BinaryOp::Pow,
        ast::BinOpKind::Concat => BinaryOp::Concat,
        ast::BinOpKind::ScAnd => BinaryOp::And,
        ast::BinOpKind::ScOr => BinaryOp::Or,
        // Comparisons are told apart before; what is left adds.
        _ => BinaryOp::Add,
    }
}
