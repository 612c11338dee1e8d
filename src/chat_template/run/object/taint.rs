//! The inputs from which a value was made, itself and all that it holds.

use std::rc::Rc;

use foldhash::HashSet;

use super::Py;
use crate::chat_template::run::trace::{Taint, Trace};

impl Trace {
    /// The inputs of which a value was made, without those of its items.
    pub(in crate::chat_template::run) fn taint(&self, value: &Py) -> Taint {
        match value {
            Py::Undefined(_, taint)
            | Py::None(taint)
            | Py::Bool(_, taint)
            | Py::Int(_, taint)
            | Py::Big(_, taint)
            | Py::Float(_, taint)
            | Py::Range(_, _, _, taint)
            | Py::Generator(_, taint) => *taint,
            Py::Str(text) | Py::Markup(text) => self.inputs_of_all(text.pieces()),
            Py::List(list) | Py::Tuple(list) => list.shape(),
            Py::Dict(dict) | Py::View(_, dict) => dict.shape(),
            Py::Method(method) => self.taint(&method.0),
            Py::Namespace(_)
            | Py::Loop(_)
            | Py::Macro(..)
            | Py::Global(_)
            | Py::Cycler(_)
            | Py::Joiner(_) => Taint::NONE,
        }
    }

    /// The inputs of which a value and all of its items were made.
    pub(in crate::chat_template::run) fn whole_taint(&self, value: &Py) -> Taint {
        let mut all = Taint::NONE;
        self.add_whole(value, &mut all, &mut HashSet::default());
        all
    }

    fn add_whole(&self, value: &Py, all: &mut Taint, seen: &mut HashSet<usize>) {
        *all = self.join(*all, self.taint(value));
        let address = match value {
            Py::List(list) | Py::Tuple(list) => Rc::as_ptr(list).addr(),
            Py::Dict(dict) | Py::View(_, dict) => Rc::as_ptr(dict).addr(),
            Py::Generator(items, _) => Rc::as_ptr(items).addr(),
            _ => return,
        };
        // A value that is held twice is looked at once.
        if !seen.insert(address) || !self.work(1 + value.len().unwrap_or(0)) {
            return;
        }
        match value {
            Py::List(list) | Py::Tuple(list) => {
                list.items()
                    .iter()
                    .for_each(|item| self.add_whole(item, all, seen));
            }
            Py::Dict(dict) | Py::View(_, dict) => {
                for (key, item) in dict.items().iter() {
                    self.add_whole(&key.0, all, seen);
                    self.add_whole(item, all, seen);
                }
            }
            Py::Generator(items, _) => {
                for item in items.borrow().iter() {
                    self.add_whole(item, all, seen);
                }
            }
            _ => {}
        }
    }
}
