//! Variables: each block that has its own is a scope, and a macro keeps the scope it was defined in.

use std::cell::RefCell;
use std::rc::Rc;

use super::Py;
use crate::chat_template::syntax::tree::Name;

/// One block's variables.
#[derive(Debug, Default)]
pub(in crate::chat_template::run) struct Scope {
    variables: RefCell<Vec<(Name, Py)>>,
    parent: Option<Rc<Scope>>,
}

impl Scope {
    pub(in crate::chat_template::run) fn root() -> Rc<Self> {
        Rc::default()
    }

    pub(in crate::chat_template::run) fn inside(parent: &Rc<Self>) -> Rc<Self> {
        Rc::new(Self {
            variables: RefCell::default(),
            parent: Some(parent.clone()),
        })
    }

    pub(in crate::chat_template::run) fn set(&self, name: Name, value: Py) {
        let mut variables = self.variables.borrow_mut();
        match variables.iter_mut().find(|(key, _)| *key == name) {
            Some(slot) => slot.1 = value,
            None => variables.push((name, value)),
        }
    }

    pub(in crate::chat_template::run) fn get(&self, name: Name) -> Option<Py> {
        let mut scope = self;
        loop {
            if let Some((_, value)) = scope
                .variables
                .borrow()
                .iter()
                .find(|(key, _)| *key == name)
            {
                return Some(value.clone());
            }
            scope = scope.parent.as_deref()?;
        }
    }

    /// Breaks the cycles that macros make: they hold the scope that holds them.
    pub(in crate::chat_template::run) fn clear(&self) {
        self.variables.borrow_mut().clear();
    }
}
