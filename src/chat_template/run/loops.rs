//! Loops.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::fault::Fault;
use super::object::Scope;
use super::object::{Live, LoopState, Py, Rest, View};
use super::{Flow, Render};
use crate::chat_template::syntax::tree::For;

impl<'t> Render<'t> {
    pub(super) fn for_loop(&mut self, stmt: &'t For, scope: &Rc<Scope>) -> Result<(), Fault> {
        let value = self.expr(&stmt.iter, scope)?.plain();
        self.run_loop(stmt, &value, scope, 1)
    }

    /// Runs a loop over a value; `depth` counts how often a recursive one has called itself.
    pub(super) fn run_loop(
        &mut self,
        stmt: &'t For,
        value: &Py,
        scope: &Rc<Scope>,
        depth: usize,
    ) -> Result<(), Fault> {
        self.decide_shape(value);
        let (items, rest) = match value {
            Py::Generator(rest, _) => (Vec::new(), Rest::Queue(rest.clone())),
            Py::List(_) | Py::Dict(_) | Py::View(..) if self.rules.list_methods => {
                self.note_walk(value);
                let len = value.len().unwrap_or(0);
                let live = Live {
                    container: value.clone(),
                    taken: Cell::new(0),
                    len,
                    length: Cell::new(None),
                };
                (Vec::new(), Rest::Live(Box::new(live)))
            }
            _ => {
                let items = self
                    .iterate(value)
                    .map_err(|fault| fault.at(stmt.iter.span))?;
                match &stmt.filter {
                    Some(_) => (Vec::new(), Rest::Queue(Rc::new(RefCell::new(items.into())))),
                    None => (items, Rest::Nothing),
                }
            }
        };
        self.deeper()?;
        let registered = (stmt.recursive || stmt.filter.is_some()).then(|| {
            self.loops.push((stmt, scope.clone()));
            self.loops.len() - 1
        });
        let state = Rc::new(LoopState {
            items: items.into(),
            rest,
            filter: registered.filter(|_| stmt.filter.is_some()),
            index: 0.into(),
            depth,
            changed: None.into(),
            recursive: registered.filter(|_| stmt.recursive),
        });
        let mut completed = false;
        for index in 0.. {
            if !self.reach(&state, index)? {
                break;
            }
            *state.index.borrow_mut() = index;
            let inner = Scope::inside(scope);
            if let Some(name) = self.tree.loop_name {
                inner.set(name, Py::Loop(state.clone()));
            }
            let item = state.items.borrow()[index].clone();
            let begun = self.begin_turn(&item);
            self.assign(&stmt.target, item, &inner)?;
            let flow = self.block(&stmt.body, &inner)?;
            self.end_turn(begun, stmt.iter.span);
            match flow {
                Flow::On => completed = true,
                Flow::Continue => {}
                Flow::Break => break,
            }
        }
        // Jinja's `else` asks whether the body was ever run to its end.
        if !completed {
            self.block(&stmt.otherwise, &Scope::inside(scope))?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Tells if the loop has an item at `index`. Items are looked for, and its `if` asked, no sooner than they are needed:
    /// a body may change what the `if` reads, or break before an item over which it would raise.
    pub(super) fn reach(&mut self, state: &LoopState, index: usize) -> Result<bool, Fault> {
        while state.items.borrow().len() <= index {
            let next = match &state.rest {
                Rest::Nothing => None,
                Rest::Queue(rest) => rest.borrow_mut().pop_front(),
                Rest::Live(live) => {
                    self.spend(1)?;
                    let item = nth(&live.container, live.taken.get(), live.len)?;
                    live.taken.set(live.taken.get() + 1);
                    item
                }
            };
            let Some(item) = next else {
                return Ok(false);
            };
            if let Some(filter) = state.filter {
                let (stmt, scope) = self.loops[filter].clone();
                let inner = Scope::inside(&scope);
                self.assign(&stmt.target, item.clone(), &inner)?;
                if let Some(test) = &stmt.filter {
                    let test = self.expr(test, &inner)?;
                    if !self.decide(&test) {
                        continue;
                    }
                }
            }
            state.items.borrow_mut().push(item);
        }
        Ok(true)
    }
}

/// The item of a container that comes next after so many; a dictionary that had `len` keys must still have as many.
fn nth(value: &Py, at: usize, len: usize) -> Result<Option<Py>, Fault> {
    let (kind, dict) = match value {
        Py::List(list) => return Ok(list.items().get(at).cloned()),
        Py::Dict(dict) => (View::Keys, dict),
        Py::View(kind, dict) => (*kind, dict),
        _ => return Ok(None),
    };
    if dict.len() != len {
        return Err(Fault::error(
            "a dictionary changed its size while it was walked over",
        ));
    }
    let items = dict.items();
    Ok(items.get_index(at).map(|(key, item)| match kind {
        View::Keys => key.0.clone(),
        View::Values => item.clone(),
        View::Items => Py::tuple_of([key.0.clone(), item.clone()], dict.shape()),
    }))
}
