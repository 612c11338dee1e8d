//! Rendering: a walk over the syntax tree with Python's values and Jinja's rules.
//!
//! # Why it is our own
//!
//! Lexer and parser are minijinja's; its engine is not used, for three reasons. *Python's values*: `True`, `1` and `1.0` are one key of
//! a dictionary, `{}` prints as Python prints it, strings have Python's methods and slices, lists are shared by
//! those who hold them; minijinja's values are Rust's. *Origins*: each character of a render knows the place in the source or the input
//! that it comes from, through every filter and method, so that each operation on strings has to carry them along. *Limits*: a chat
//! template is untrusted, and steps, bytes, nesting and kept values are counted at every step; minijinja's fuel counts instructions
//! alone. A render is held to transformers' byte for byte by `tests/reference/render`.
//!
//! # How
//!
//! A recursive walk: a statement writes to `out`, an expression gives a value. It costs one step for each node that is visited and one for each sixteen bytes of a
//! new string, so that a render is linear in its steps, of which there is a limit. Origins are a number in each piece of a string; without tracing
//! they cost nothing but that number.

mod arguments;
mod attributes;
mod calls;
mod changing;
mod entities;
mod expressions;
mod fault;
mod filters;
mod format;
mod inputs;
mod items;
mod json;
mod laid_out;
mod loops;
mod markup;
mod mutating;
mod numbers;
mod object;
mod operators;
mod padding;
mod remember;
mod selecting;
mod strings;
mod tests;
mod text;
mod text_filters;
mod text_rules;
mod trace;
mod tracing;
mod wrapping;

use std::rc::Rc;

use self::fault::Fault;
use self::object::Key;
use self::object::ReadPath;
use self::object::Scope;
use self::object::{Attributes, Global, Missing, Py};
pub(crate) use self::remember::{PrintedLists, PrintedTools};
use self::trace::{Noted, Piece, Taint, Text, Trace, Written};
use super::error::{Limit, RenderError};
use super::layout::Layout;
use super::origins::Traced;
use super::reads::{Read, Reads};
use super::syntax::tree::{For, Literal, Name, Stmt, Target, Tree};
use super::{Clock, Inputs, Rules};
use crate::value::Map;

/// The bytes that one string may have, and what a list may hold at sixteen bytes an item.
pub(super) const MAX_VALUE: usize = 64 << 20;

/// The bytes that one render may print.
pub(super) const MAX_OUTPUT: usize = 64 << 20;

/// How deep blocks, expressions and calls may nest while rendering.
pub(super) const MAX_DEPTH: usize = 400;

/// How deep values that a template keeps may nest.
pub(super) const MAX_NESTING: usize = 500;

/// How deep the input may nest.
pub(super) const MAX_INPUT_NESTING: usize = 400;

/// The sandbox's own limit on `range`.
pub(super) const MAX_RANGE: usize = 100_000;

/// One render.
#[derive(Debug)]
pub(super) struct Render<'t> {
    tree: &'t Tree,
    /// The literals that were come upon, by their index.
    literals: Vec<Option<Py>>,
    /// The names that values have to hold, by their index, where they were needed.
    names: Vec<Option<Text>>,
    /// The variables that are given, by the index of their names.
    inputs: Vec<Option<Py>>,
    clock: Option<Clock>,
    fuel: u64,
    /// The fuel that there was at first.
    max_fuel: u64,
    depth: usize,
    /// The printed text; at its end is what a block under way captures.
    out: Written,
    /// The loops that can call themselves or leave items out, with the scope around each.
    loops: Vec<(&'t For, Rc<Scope>)>,
    /// Scopes that macros hold, and namespaces: both can hold themselves, and are emptied at the end.
    scopes: Vec<Rc<Scope>>,
    namespaces: Vec<Rc<Attributes>>,
    /// Containers that may hold themselves by way of a scope, emptied at the end as well.
    kept: Vec<Py>,
    rules: Rules,
    reads: Option<Reads>,
    /// The texts that were printed of the tools in earlier renders, where they are remembered.
    printed_tools: Option<&'t PrintedTools>,
    /// The trace, which knows the origins of characters, where they are traced.
    trace: Option<Rc<Trace>>,
    /// The byte of the printed text before which nobody asks for origins.
    told_behind: usize,
    /// How many blocks are being captured, each within the one before.
    captures: usize,
    /// Who wrote what, where that is told.
    noted: Option<Noted>,
}

/// The things that are told of a render with origins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The origins of the bytes behind this one. Where that is the first, the inputs that control flow read as well.
    Behind(usize),
    /// Everything, and who wrote what.
    Layout,
}

/// Where to go on after a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    Break,
    Continue,
}

/// Renders with the steps that there are in `fuel`, and with `observe` tells what was read.
pub(super) fn render(
    tree: &Tree,
    tokens: &Map,
    input: &Inputs<'_>,
    observe: bool,
    fuel: &mut u64,
) -> Result<(String, Reads), RenderError> {
    let (out, reads, _) = run(tree, tokens, input, observe, None, fuel)?;
    Ok((out?.into_parts().0, reads))
}

/// Renders for what is read of the inputs, which is all up to an error where there is one.
pub(super) fn reads(tree: &Tree, tokens: &Map, input: &Inputs<'_>, fuel: &mut u64) -> Reads {
    let ran = run(tree, tokens, input, true, None, fuel);
    ran.map(|(_, reads, _)| reads).unwrap_or_default()
}

/// Renders with the origins of characters.
pub(super) fn render_traced(
    tree: &Tree,
    tokens: &Map,
    input: &Inputs<'_>,
    told: Told,
    fuel: &mut u64,
) -> Result<(Traced, Layout), RenderError> {
    let trace = Trace::new(tree.places.len());
    let (out, _, noted) = run(tree, tokens, input, false, Some((&trace, told)), fuel)?;
    let (text, pieces) = out?.into_parts();
    let traced = trace.resolve(tree, text, &pieces, noted.unwrap_or_default(), told);
    traced
        .filter(|_| !trace.is_full())
        .ok_or(RenderError::Limit {
            which: Limit::Memory,
            limit: MAX_VALUE as u64,
        })
}

/// The text that a render has written, or the error that it ended with; the inputs that it has read; and who wrote what, where that was asked for.
type Ran = (Result<Written, RenderError>, Reads, Option<Noted>);

fn run(
    tree: &Tree,
    tokens: &Map,
    input: &Inputs<'_>,
    observe: bool,
    traced: Option<(&Rc<Trace>, Told)>,
    fuel: &mut u64,
) -> Result<Ran, RenderError> {
    let values = input
        .messages
        .iter()
        .chain(input.tools.unwrap_or_default())
        .chain(input.documents.unwrap_or_default())
        .chain(input.kwargs.values())
        .chain(tokens.values());
    if inputs::nests_deeper(values, MAX_INPUT_NESTING) {
        return Err(RenderError::Limit {
            which: Limit::Recursion,
            limit: MAX_INPUT_NESTING as u64,
        });
    }
    let trace = traced.map(|(trace, _)| trace);
    let told_behind = match traced {
        Some((_, Told::Behind(start))) => start,
        _ => 0,
    };
    // What is printed again has no origins and reads nothing.
    let printed_tools = input
        .printed_tools
        .filter(|_| !observe && (trace.is_none() || told_behind > 0));
    let mut render = Render {
        tree,
        literals: vec![None; tree.literals.len()],
        names: vec![None; tree.names.len()],
        inputs: inputs::variables(tree, tokens, input, observe, trace),
        clock: input.clock,
        fuel: *fuel,
        max_fuel: *fuel,
        depth: 0,
        out: Written::with_room(trace),
        loops: Vec::new(),
        scopes: Vec::new(),
        namespaces: Vec::new(),
        kept: Vec::new(),
        rules: input.rules,
        reads: observe.then(Reads::default),
        printed_tools,
        trace: trace.cloned(),
        told_behind,
        captures: 0,
        noted: traced
            .filter(|(_, told)| *told == Told::Layout)
            .map(|_| Noted::default()),
    };
    let root = Scope::root();
    let result = render.block(&tree.body, &root);
    *fuel = render.fuel;
    for scope in &render.scopes {
        scope.clear();
    }
    for namespace in &render.namespaces {
        namespace.borrow_mut().clear();
    }
    Render::empty(&render.kept);
    let reads = render.reads.unwrap_or_default();
    let written = result.map(|_| render.out).map_err(RenderError::from);
    Ok((written, reads, render.noted))
}

fn literal(literal: &Literal, traced: bool) -> Py {
    match literal {
        Literal::None => Py::NONE,
        Literal::Bool(value) => Py::bool(*value),
        Literal::Int(value) => Py::int(*value),
        Literal::Float(value) => Py::float(*value),
        Literal::Str(text, index) if traced => Py::Str(Text::of(
            Rc::from(text.as_str()),
            Piece::whole(text.len(), Trace::constant(*index)),
        )),
        Literal::Str(text, _) => Py::str(text),
    }
}

impl<'t> Render<'t> {
    /// Takes steps; the render ends when there are none left.
    fn spend(&mut self, steps: u64) -> Result<(), Fault> {
        match self.fuel.checked_sub(steps) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => {
                self.fuel = 0;
                Err(Fault::Limit(Limit::Fuel, self.max_fuel))
            }
        }
    }

    /// A new string, paid for.
    fn string(&mut self, text: String) -> Result<Py, Fault> {
        self.pay_for(text.len())?;
        Ok(Py::Str(Text::plain(text)))
    }

    /// A new string with its origins, paid for.
    fn text(&mut self, text: Written) -> Result<Py, Fault> {
        self.pay_for(text.len())?;
        Ok(Py::Str(text.finish()))
    }

    fn pay_for(&mut self, len: usize) -> Result<(), Fault> {
        if len > MAX_VALUE {
            return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
        }
        self.spend(len as u64 / 16)
    }

    /// Pays for a list of so many items before it is made.
    fn room_for(&mut self, items: usize) -> Result<(), Fault> {
        if items > MAX_VALUE / 16 {
            return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
        }
        self.spend(items as u64)
    }

    fn list(&mut self, items: Vec<Py>) -> Result<Py, Fault> {
        self.room_for(items.len())?;
        Ok(Py::list(items))
    }

    /// A macro that keeps its scope. The scope may keep the macro, so that it has to be emptied at the end.
    fn closure(&mut self, index: usize, scope: &Rc<Scope>) -> Py {
        self.scopes.push(scope.clone());
        Py::Macro(index, scope.clone())
    }

    fn name(&self, name: Name) -> &'t str {
        self.tree.name(name)
    }

    /// The name as values hold it.
    fn shared_name(&mut self, name: Name) -> Text {
        let text = self.tree.name(name);
        let slot = &mut self.names[name.index()];
        slot.get_or_insert_with(|| Text::plain(&**text)).clone()
    }

    fn literal(&mut self, index: usize) -> Py {
        let tree = self.tree;
        let traced = self.trace.is_some();
        let slot = &mut self.literals[index];
        slot.get_or_insert_with(|| literal(&tree.literals[index], traced))
            .clone()
    }

    fn note(&mut self, at: &ReadPath, step: &str, found: bool) {
        if let Some(reads) = &mut self.reads {
            reads.places.insert(Read {
                path: format!("{}{step}", at.path),
                role: at.role.clone(),
                found,
            });
        }
    }

    /// Notes that a container of the inputs is used as a whole.
    fn note_whole(&mut self, value: &Py) {
        if self.reads.is_none() {
            return;
        }
        match value {
            Py::Dict(dict) => {
                if let Some(at) = dict.read.clone() {
                    self.note(&at, ".*", true);
                }
            }
            Py::List(list) => match list.read.clone() {
                Some(at) => self.note(&at, "[]", true),
                None => {
                    for item in list
                        .items()
                        .iter()
                        .filter(|item| !matches!(item, Py::List(list) if list.read.is_none()))
                    {
                        self.note_whole(item);
                    }
                }
            },
            _ => {}
        }
    }

    fn variable(&mut self, name: Name, scope: &Scope) -> Py {
        if let Some(value) = scope.get(name) {
            return value;
        }
        let text = self.name(name);
        if let Some(value) = &self.inputs[name.index()] {
            let value = value.clone();
            if self.reads.is_some() {
                self.note(
                    &ReadPath {
                        path: text.to_owned(),
                        role: None,
                    },
                    "",
                    true,
                );
            }
            return value;
        }
        let global = match text {
            "range" => Global::Range,
            "dict" => Global::Dict,
            "namespace" => Global::Namespace,
            "raise_exception" => Global::RaiseException,
            "strftime_now" => Global::StrftimeNow,
            "lipsum" => Global::Lipsum,
            "cycler" => Global::Cycler,
            "joiner" => Global::Joiner,
            _ => {
                if let Some(reads) = &mut self.reads {
                    reads.undefined.insert(text.to_owned());
                }
                let taint = self
                    .trace
                    .as_ref()
                    .map_or(Taint::NONE, |trace| trace.absent(Taint::NONE, text));
                return Py::missing_of(Missing::Name(Rc::from(text)), taint);
            }
        };
        Py::Global(global)
    }

    fn block(&mut self, body: &'t [Stmt], scope: &Rc<Scope>) -> Result<Flow, Fault> {
        for stmt in body {
            let flow = self.stmt(stmt, scope)?;
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn deeper(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::Limit(Limit::Recursion, MAX_DEPTH as u64));
        }
        Ok(())
    }

    fn print(&mut self, value: &Py) -> Result<(), Fault> {
        self.note_whole(value);
        let before = self.out.len();
        text::write_str(value, &mut self.out)?;
        self.printed(before)
    }

    fn printed(&mut self, before: usize) -> Result<(), Fault> {
        if self.out.len() > MAX_OUTPUT {
            return Err(Fault::Limit(Limit::Output, MAX_OUTPUT as u64));
        }
        self.spend((self.out.len() - before) as u64 / 16)
    }

    /// Runs something and returns what it prints instead of printing it.
    fn capture(&mut self, run: impl FnOnce(&mut Self) -> Result<(), Fault>) -> Result<Py, Fault> {
        let before = self.out.mark();
        let noting = self.noted.take();
        self.captures += 1;
        run(self)?;
        self.captures -= 1;
        self.noted = noting;
        let text = self.out.take(before);
        if text.len() > MAX_VALUE {
            return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
        }
        self.spend(text.len() as u64 / 16)?;
        Ok(Py::Str(text))
    }

    fn capture_block(&mut self, body: &'t [Stmt], scope: &Rc<Scope>) -> Result<Py, Fault> {
        self.capture(|render| render.block(body, scope).map(|_| ()))
    }

    fn stmt(&mut self, stmt: &'t Stmt, scope: &Rc<Scope>) -> Result<Flow, Fault> {
        let may_be_printed_again = matches!(stmt, Stmt::For(_) | Stmt::Emit(_));
        if may_be_printed_again && let Some(flow) = self.print_again(stmt, scope)? {
            return Ok(flow);
        }
        self.run_stmt(stmt, scope)
    }

    fn run_stmt(&mut self, stmt: &'t Stmt, scope: &Rc<Scope>) -> Result<Flow, Fault> {
        self.spend(1)?;
        match stmt {
            Stmt::Raw(text, index) => {
                let before = self.out.len();
                self.out.push_constant(text, Trace::constant(*index));
                self.note_text(before, *index);
                self.printed(before)?;
            }
            Stmt::Emit(expr) => {
                let value = self.expr(expr, scope)?;
                self.is_here(expr.span);
                let before = self.out.len();
                self.print(&value).map_err(|fault| fault.at(expr.span))?;
                self.note_expression(before, expr.span);
            }
            Stmt::If { .. } => return self.branch(stmt, scope),
            Stmt::For(stmt) => self.for_loop(stmt, scope)?,
            Stmt::Set { target, value } => {
                let value = self.expr(value, scope)?;
                if matches!(value, Py::Generator(..) | Py::Loop(_) | Py::Cycler(_)) {
                    self.spend(value.len().unwrap_or(1_000) as u64)?;
                }
                if value.depth() > MAX_NESTING {
                    return Err(Fault::Limit(Limit::Recursion, MAX_NESTING as u64));
                }
                self.assign(target, value, scope)?;
            }
            Stmt::SetBlock {
                target,
                filter,
                body,
            } => {
                let inner = Scope::inside(scope);
                self.deeper()?;
                let mut value = self.capture_block(body, &inner)?;
                self.depth -= 1;
                if let Some(filter) = filter {
                    value = self.filter_chain(filter, value, scope)?;
                }
                self.assign(target, value, scope)?;
            }
            Stmt::With { assignments, body } => {
                let inner = Scope::inside(scope);
                for (target, value) in assignments {
                    let value = self.expr(value, scope)?;
                    self.assign(target, value, &inner)?;
                }
                self.deeper()?;
                let flow = self.block(body, &inner)?;
                self.depth -= 1;
                return Ok(flow);
            }
            Stmt::Generation(body) => {
                let inner = Scope::inside(scope);
                self.deeper()?;
                let before = self.out.len();
                let flow = self.block(body, &inner)?;
                self.note_generated(before);
                self.depth -= 1;
                return Ok(flow);
            }
            Stmt::Filter { filter, body } => {
                let inner = Scope::inside(scope);
                self.deeper()?;
                let text = self.capture_block(body, &inner)?;
                self.depth -= 1;
                let value = self.filter_chain(filter, text, scope)?;
                self.is_here(filter.span);
                let before = self.out.len();
                self.print(&value)?;
                self.note_expression(before, filter.span);
            }
            Stmt::Macro(index) => {
                let value = self.closure(*index, scope);
                scope.set(self.tree.macros[*index].name, value);
            }
            Stmt::Call {
                callee,
                args,
                body,
                span,
            } => {
                let callee = self.expr(callee, scope)?;
                let mut args = self.arguments(args, scope)?;
                let caller = self.closure(*body, scope);
                args.named.push((Text::plain("caller"), caller));
                self.is_here(*span);
                let value = self.call(&callee, args).map_err(|fault| fault.at(*span))?;
                let before = self.out.len();
                self.print(&value)?;
                self.note_expression(before, *span);
            }
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue => return Ok(Flow::Continue),
            Stmt::Fail { message, span } => return Err(Fault::error(message.clone()).at(*span)),
        }
        Ok(Flow::On)
    }

    /// An `if` with its `elif` branches, each of which stands alone in the `else` of the one before.
    fn branch(&mut self, mut stmt: &'t Stmt, scope: &Rc<Scope>) -> Result<Flow, Fault> {
        let chosen = loop {
            let Stmt::If {
                test,
                then,
                otherwise,
            } = stmt
            else {
                return self.stmt(stmt, scope);
            };
            self.spend(1)?;
            let test = self.expr(test, scope)?;
            if self.decide(&test) {
                break then;
            }
            match otherwise.as_slice() {
                [next @ Stmt::If { .. }] => stmt = next,
                _ => break otherwise,
            }
        };
        self.deeper()?;
        let flow = self.block(chosen, scope)?;
        self.depth -= 1;
        Ok(flow)
    }

    fn assign(&mut self, target: &Target, value: Py, scope: &Rc<Scope>) -> Result<(), Fault> {
        match target {
            Target::Name(name) => scope.set(*name, value),
            Target::Attr(name, attribute, span) => {
                let attribute = self.name(*attribute);
                match self.variable(*name, scope) {
                    Py::Namespace(_) if attribute.starts_with('_') => {
                        return Err(Fault::error(
                            "a namespace takes no attribute that begins with `_`",
                        )
                        .at(*span));
                    }
                    Py::Namespace(attributes) => {
                        attributes.borrow_mut().insert(Rc::from(attribute), value);
                    }
                    Py::Undefined(missing, _) => {
                        return Err(Fault::error(missing.message()).at(*span));
                    }
                    other => {
                        let message = format!(
                            "only a namespace takes attributes, `{}` is a `{}`",
                            self.name(*name),
                            other.type_name()
                        );
                        return Err(Fault::error(message).at(*span));
                    }
                }
            }
            Target::Many(targets, span) => {
                self.decide_shape(&value);
                let items = self.iterate(&value).map_err(|fault| fault.at(*span))?;
                if items.len() != targets.len() {
                    let message = format!("{} values for {} names", items.len(), targets.len());
                    return Err(Fault::error(message).at(*span));
                }
                for (target, item) in targets.iter().zip(items) {
                    self.assign(target, item, scope)?;
                }
            }
        }
        Ok(())
    }
}

/// The value as a dictionary's key.
fn hashable(value: &Py) -> Result<Key, Fault> {
    Key::new(value)
        .ok_or_else(|| Fault::error(format!("a `{}` cannot be a key", value.type_name())))
}

/// The bytes of a value.
#[cfg(test)]
pub(super) fn value_size() -> usize {
    std::mem::size_of::<Py>()
}
