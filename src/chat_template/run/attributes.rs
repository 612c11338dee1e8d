//! Attributes: what the sandbox lets a template see of each type.

use std::rc::Rc;

use super::Render;
use super::fault::Fault;
use super::object::{Global, LoopState, Missing, Py};
use super::strings;
use super::trace::Taint;

/// The methods of `dict` that change nothing, and those that would.
const DICT: [&str; 6] = ["get", "items", "keys", "values", "copy", "fromkeys"];
const DICT_MUTATORS: [&str; 5] = ["clear", "pop", "popitem", "setdefault", "update"];
const LIST: [&str; 3] = ["index", "count", "copy"];
const LIST_MUTATORS: [&str; 8] = [
    "append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove",
];

impl Render<'_> {
    /// `value.name`: an attribute, or what `value["name"]` gives.
    pub(super) fn attribute(&mut self, value: &Py, name: &str) -> Result<Py, Fault> {
        if let Py::Undefined(missing, _) = value {
            return Err(Fault::error(missing.message()));
        }
        if let Py::Loop(state) = value {
            self.look_ahead(state, name)?;
        }
        if let Some(attribute) = self.own_attribute(value, name) {
            return Ok(attribute);
        }
        if let Py::Dict(dict) = value
            && let Some(item) = self.member(dict, name)
        {
            return Ok(item);
        }
        let why = Missing::Attr(value.type_name().to_owned(), format!("`{name}`"));
        Ok(Py::missing_of(why, self.not_found(value, name)))
    }

    /// Comes to the items that an attribute of a loop is told from.
    pub(super) fn look_ahead(&mut self, state: &LoopState, name: &str) -> Result<(), Fault> {
        let index = match name {
            "last" | "nextitem" => *state.index.borrow() + 1,
            // How many there are of a container that may change is asked of it, not of what comes.
            "length" | "revindex" | "revindex0" if state.live_len().is_some() => return Ok(()),
            "length" | "revindex" | "revindex0" => usize::MAX,
            _ => return Ok(()),
        };
        self.reach(state, index).map(drop)
    }

    /// Returns true if the attribute is a method that the sandbox lets a template call.
    pub(super) fn is_method(&self, value: &Py, name: &str) -> bool {
        is_harmless(value, name) || (self.rules.list_methods && changes(value, name))
    }

    /// The attribute, as Python's `getattr` gives it within the sandbox; `None` where there is no such attribute.
    pub(super) fn own_attribute(&mut self, value: &Py, name: &str) -> Option<Py> {
        if self.is_method(value, name) {
            return Some(Py::Method(Rc::new((value.clone(), Rc::from(name)))));
        }
        let out_of_bounds = || {
            Some(Py::missing(Missing::Unsafe(
                value.type_name().to_owned(),
                name.to_owned(),
            )))
        };
        match value {
            Py::Dict(_) | Py::List(_) if changes(value, name) => out_of_bounds(),
            Py::Range(start, stop, step, taint) => match name {
                "start" => Some(Py::Int(*start, taint.derived())),
                "stop" => Some(Py::Int(*stop, taint.derived())),
                "step" => Some(Py::Int(*step, taint.derived())),
                _ => None,
            },
            Py::Tuple(items) if items.is_group() => match name {
                "grouper" => items.items().first().cloned(),
                "list" => items.items().last().cloned(),
                _ => None,
            },
            Py::Namespace(attributes) => attributes.borrow().get(name).cloned(),
            Py::Loop(state) => loop_attribute(state, name),
            Py::Macro(index, _) => {
                let tree = self.tree;
                let definition = &tree.macros[*index];
                match name {
                    "name" => Some(Py::str(tree.name(definition.name))),
                    "arguments" => Some(Py::tuple(
                        definition
                            .params
                            .iter()
                            .map(|param| Py::str(tree.name(*param))),
                    )),
                    "catch_varargs" => Some(Py::bool(definition.uses_varargs)),
                    "catch_kwargs" => Some(Py::bool(definition.uses_kwargs)),
                    "caller" => Some(Py::bool(definition.uses_caller)),
                    _ => None,
                }
            }
            Py::Cycler(state) => match name {
                "current" => state.0.get(*state.1.borrow()).cloned(),
                _ => None,
            },
            Py::Global(Global::Dict) if name == "fromkeys" => {
                Some(Py::Global(Global::DictFromKeys))
            }
            _ => None,
        }
    }
}

/// Returns true if a method of that name changes nothing, whatever it is called on.
pub(super) fn changes_nothing(name: &str) -> bool {
    strings::METHODS.contains(&name) || DICT.contains(&name) || LIST.contains(&name)
}

/// Returns true if the attribute is a method that changes a list or a dictionary.
fn changes(value: &Py, name: &str) -> bool {
    match value {
        Py::Dict(_) => DICT_MUTATORS.contains(&name),
        Py::List(_) => LIST_MUTATORS.contains(&name),
        _ => false,
    }
}

/// Returns true if the attribute is a method that changes nothing.
fn is_harmless(value: &Py, name: &str) -> bool {
    match value {
        Py::Str(_) => strings::METHODS.contains(&name),
        Py::Dict(_) => DICT.contains(&name),
        Py::List(_) => LIST.contains(&name),
        Py::Tuple(_) => matches!(name, "index" | "count"),
        Py::Float(..) => name == "is_integer",
        Py::Int(..) | Py::Bool(..) => name == "bit_length",
        Py::Loop(_) => matches!(name, "cycle" | "changed"),
        Py::Cycler(_) => matches!(name, "next" | "reset"),
        _ => false,
    }
}

fn loop_attribute(state: &LoopState, name: &str) -> Option<Py> {
    let index = *state.index.borrow();
    let items = state.items.borrow();
    let count = match name {
        "length" | "revindex" | "revindex0" => state.live_len().unwrap_or(items.len()),
        _ => items.len(),
    };
    let int = |value: usize| {
        Some(Py::Int(
            i64::try_from(value).unwrap_or(i64::MAX),
            Taint::NONE,
        ))
    };
    match name {
        "index" => int(index + 1),
        "index0" => int(index),
        // If a container grew while the loop ran, the count may be too small.
        "revindex" => Some(Py::int(count as i128 - index as i128)),
        "revindex0" => Some(Py::int(count as i128 - index as i128 - 1)),
        "first" => Some(Py::bool(index == 0)),
        "last" => Some(Py::bool(index + 1 == count)),
        "length" => int(count),
        "depth" => int(state.depth),
        "depth0" => int(state.depth - 1),
        "previtem" => Some(match index.checked_sub(1) {
            Some(before) => items[before].clone(),
            None => Py::missing(Missing::Nothing("there is no previous item")),
        }),
        "nextitem" => Some(match items.get(index + 1) {
            Some(next) => next.clone(),
            None => Py::missing(Missing::Nothing("there is no next item")),
        }),
        _ => None,
    }
}
