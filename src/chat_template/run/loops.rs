//! Loops.

use std::cell::RefCell;
use std::rc::Rc;

use super::fault::Fault;
use super::object::{LoopState, Py};
use super::scope::Scope;
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
            Py::Generator(rest, _) => (Vec::new(), Some(rest.clone())),
            _ => {
                let items = self
                    .iterate(value)
                    .map_err(|fault| fault.at(stmt.iter.span))?;
                match &stmt.filter {
                    Some(_) => (Vec::new(), Some(Rc::new(RefCell::new(items.into())))),
                    None => (items, None),
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
            self.assign(&stmt.target, item, &inner)?;
            match self.block(&stmt.body, &inner)? {
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

    /// Whether the loop has an item at `index`. Items are looked for, and its `if` asked, no sooner than they are needed:
    /// a body may change what the `if` reads, or break before an item over which it would raise.
    pub(super) fn reach(&mut self, state: &LoopState, index: usize) -> Result<bool, Fault> {
        while state.items.borrow().len() <= index {
            let Some(item) = state
                .rest
                .as_ref()
                .and_then(|rest| rest.borrow_mut().pop_front())
            else {
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
