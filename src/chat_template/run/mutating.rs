//! The methods that change a list or a dictionary, where the rules allow them.
//!
//! Containers are shared as in Python, but none may come to hold itself: there are no cycles, so that what nobody holds is
//! dropped, and every walk ends. How deep containers stand in each other is counted where something is put into one.

use std::collections::HashMap;
use std::rc::Rc;

use super::arguments::{Arguments, int_or};
use super::fault::Fault;
use super::object::Key;
use super::object::Py;
use super::object::{Dict, List};
use super::tracing::Other;
use super::{MAX_NESTING, Render, hashable};
use crate::chat_template::error::Limit;
use crate::chat_template::syntax::tree::CompareOp;

impl Render<'_> {
    /// Calls a method that changes a list.
    pub(super) fn change_list(
        &mut self,
        list: &Rc<List>,
        name: &str,
        args: Arguments,
    ) -> Result<Py, Fault> {
        let args = if name == "sort" {
            args
        } else {
            args.without_names(name)?
        };
        // Whatever was counted from the start of an input need not be there any longer.
        list.set_shape(list.shape());
        match name {
            "append" => {
                let item = args.one(name, "object")?;
                self.room_for(list.len() / 64)?;
                self.put(&Py::List(list.clone()), &item)?;
                list.items_mut()?.push(item);
                self.room_left(list.len())
            }
            "extend" => {
                let more = args.one(name, "iterable")?;
                let shape = self.join(list.shape(), self.taint(&more));
                let items = self.iterate(&more)?;
                for item in &items {
                    self.put(&Py::List(list.clone()), item)?;
                }
                list.items_mut()?.extend(items);
                list.set_shape(shape);
                self.room_left(list.len())
            }
            "insert" => {
                let [at, item] = args.bind(name, ["index", "object"], 2)?;
                let (at, item) = (at.unwrap_or(Py::NONE), item.unwrap_or(Py::NONE));
                self.decide_shape(&at);
                let at = int_or(Some(&at), 0)?;
                let len = i64::try_from(list.len()).unwrap_or(i64::MAX);
                let at = if at < 0 { at + len } else { at }.clamp(0, len);
                self.spend(list.len() as u64 / 16)?;
                self.put(&Py::List(list.clone()), &item)?;
                list.items_mut()?
                    .insert(usize::try_from(at).unwrap_or(0), item);
                self.room_left(list.len())
            }
            "pop" => {
                let [at] = args.bind(name, ["index"], 0)?;
                if let Some(at) = &at {
                    self.decide_shape(at);
                }
                self.decided_by(list.shape());
                let at = int_or(at.as_ref(), -1)?;
                let len = i64::try_from(list.len()).unwrap_or(i64::MAX);
                let at = if at < 0 { at + len } else { at };
                let Some(at) = usize::try_from(at).ok().filter(|at| *at < list.len()) else {
                    return Err(Fault::error("`pop` of an item that the list does not have"));
                };
                self.spend((list.len() - at) as u64 / 16)?;
                Ok(list.items_mut()?.remove(at))
            }
            "remove" => {
                let wanted = args.one(name, "value")?;
                self.decide_whole(&Py::List(list.clone()));
                self.decide_whole(&wanted);
                let items = list.items().clone();
                self.spend(items.len() as u64)?;
                for (at, item) in items.iter().enumerate() {
                    if self.same(item, &wanted)? {
                        list.items_mut()?.remove(at);
                        return Ok(Py::NONE);
                    }
                }
                Err(Fault::error("`remove` of what is not in the list"))
            }
            "clear" => {
                args.none(name)?;
                list.items_mut()?.clear();
                Ok(Py::NONE)
            }
            "reverse" => {
                args.none(name)?;
                self.spend(list.len() as u64 / 16)?;
                self.decided_by(list.shape());
                list.items_mut()?.reverse();
                Ok(Py::NONE)
            }
            _ => self.sort_list(list, args),
        }
    }

    fn sort_list(&mut self, list: &List, args: Arguments) -> Result<Py, Fault> {
        if !args.positional.is_empty() {
            return Err(Fault::error("`sort` takes no positional arguments"));
        }
        let [key, reverse] = args.bind("sort", ["key", "reverse"], 0)?;
        self.decide_options(&[&reverse]);
        self.decided_by(list.shape());
        // Python too takes the items away while it compares them.
        let items = std::mem::take(&mut *list.items_mut()?);
        self.room_for(items.len())?;
        let mut keyed = Vec::with_capacity(items.len());
        for item in &items {
            let by = match &key {
                None | Some(Py::None(_)) => item.clone(),
                Some(key) => {
                    let args = Arguments {
                        positional: vec![item.clone()],
                        ..Arguments::default()
                    };
                    self.call(key, args)?
                }
            };
            keyed.push((by, item.clone()));
        }
        let sorted = self.sorted(keyed, reverse.is_some_and(|value| value.is_true()))?;
        if list.len() > 0 {
            return Err(Fault::error("a list is changed while it is sorted"));
        }
        *list.items_mut()? = sorted;
        Ok(Py::NONE)
    }

    /// Calls a method that changes a dictionary.
    pub(super) fn change_dict(
        &mut self,
        dict: &Rc<Dict>,
        name: &str,
        args: Arguments,
    ) -> Result<Py, Fault> {
        match name {
            "update" => {
                let mut shape = dict.shape();
                let named = args.named;
                let more = Arguments {
                    positional: args.positional,
                    ..Arguments::default()
                };
                let [more] = more.bind(name, ["m"], 0)?;
                let mut pairs = Vec::new();
                match &more {
                    None => {}
                    Some(Py::Dict(more)) => {
                        shape = self.join(shape, more.shape());
                        let items = more.items();
                        pairs.extend(items.iter().map(|(key, item)| (key.clone(), item.clone())));
                    }
                    Some(more) => {
                        shape = self.join(shape, self.taint(more));
                        for pair in self.iterate(more)? {
                            let [key, value] = <[Py; 2]>::try_from(self.iterate(&pair)?)
                                .map_err(|_| Fault::error("`update` needs pairs"))?;
                            self.decide_shape(&key);
                            pairs.push((hashable(&key)?, value));
                        }
                    }
                }
                pairs.extend(
                    named
                        .into_iter()
                        .map(|(key, value)| (Key(Py::Str(key)), value)),
                );
                self.room_for(pairs.len())?;
                for (key, value) in pairs {
                    if let Py::Str(name) = &key.0 {
                        self.decide_place(dict.shape(), name);
                    }
                    self.put(&Py::Dict(dict.clone()), &value)?;
                    dict.items_mut()?.insert(key, value);
                }
                dict.set_shape(self.join(dict.shape(), shape));
                self.room_left(dict.len())
            }
            "pop" => {
                let [key, default] = args
                    .without_names(name)?
                    .bind(name, ["key", "default"], 1)?;
                let key = key.unwrap_or(Py::NONE);
                let whole = Py::Dict(dict.clone());
                let taint = self.compared_taint(CompareOp::In, &key, &whole);
                self.spend(dict.len() as u64 / 16)?;
                let key = hashable(&key)?;
                let found = dict.items_mut()?.shift_remove(&key);
                dict.set_shape(self.join(dict.shape(), taint));
                match found.or(default) {
                    Some(value) => Ok(self.chosen_by(value, taint, Other::Silent)),
                    None => Err(Fault::error("`pop` of a key that the dictionary lacks")),
                }
            }
            "setdefault" => {
                let [key, default] = args
                    .without_names(name)?
                    .bind(name, ["key", "default"], 1)?;
                let (key, default) = (key.unwrap_or(Py::NONE), default.unwrap_or(Py::NONE));
                let whole = Py::Dict(dict.clone());
                let taint = self.compared_taint(CompareOp::In, &key, &whole);
                self.decided_by(taint);
                let key = hashable(&key)?;
                let held = dict.items().get(&key).cloned();
                if let Some(held) = held {
                    return Ok(held);
                }
                self.put(&whole, &default)?;
                dict.items_mut()?.insert(key, default.clone());
                dict.set_shape(self.join(dict.shape(), taint));
                self.room_left(dict.len())?;
                Ok(default)
            }
            "popitem" => {
                args.none(name)?;
                self.decided_by(dict.shape());
                let last = dict.items_mut()?.pop();
                dict.set_shape(dict.shape());
                match last {
                    Some((key, value)) => Ok(Py::tuple([key.0, value])),
                    None => Err(Fault::error("`popitem` of an empty dictionary")),
                }
            }
            _ => {
                args.none(name)?;
                dict.items_mut()?.clear();
                dict.set_shape(dict.shape());
                Ok(Py::NONE)
            }
        }
    }

    /// Checks that a container may have so many items; gives `None`, as methods do that only change their container.
    fn room_left(&mut self, len: usize) -> Result<Py, Fault> {
        if len > super::MAX_VALUE / 16 {
            return Err(Fault::Limit(Limit::Memory, super::MAX_VALUE as u64));
        }
        Ok(Py::NONE)
    }

    /// Makes sure that a value may be put into a container: that it does not hold the container, and not too deep.
    fn put(&mut self, container: &Py, value: &Py) -> Result<(), Fault> {
        if value.is_scalar() || value.as_str().is_some() {
            return Ok(());
        }
        let (home, level) = match container {
            Py::List(list) => (address(container), list.level()),
            Py::Dict(dict) => (address(container), dict.level()),
            _ => return Ok(()),
        };
        // The longest way down to each container that is held, looked for again from one that turns out to be deeper.
        let mut depths: HashMap<usize, usize> = HashMap::new();
        let mut open = vec![(value.clone(), 1)];
        let mut height = 0;
        while let Some((value, depth)) = open.pop() {
            self.spend(1)?;
            height = height.max(depth);
            if level + depth > MAX_NESTING {
                return Err(Fault::Limit(Limit::Recursion, MAX_NESTING as u64));
            }
            let at = address(&value);
            if at == home {
                return Err(Fault::error("a container cannot hold itself"));
            }
            if at != 0 {
                let known = depths.entry(at).or_insert(0);
                if *known >= depth {
                    continue;
                }
                *known = depth;
            }
            let mut held = |item: &Py| {
                if !item.is_scalar() && item.as_str().is_none() {
                    open.push((item.clone(), depth + 1));
                }
            };
            match &value {
                Py::List(list) | Py::Tuple(list) => {
                    list.sink(level + depth);
                    list.items().iter().for_each(&mut held);
                }
                Py::Dict(dict) | Py::View(_, dict) => {
                    dict.sink(level + depth);
                    dict.items().values().for_each(&mut held);
                }
                Py::Generator(items, _) => items.borrow().iter().for_each(&mut held),
                Py::Cycler(state) => state.0.iter().for_each(&mut held),
                Py::Method(method) => held(&method.0),
                // These hold scopes and loops, and so may hold the container by ways that are not looked through.
                Py::Loop(_) | Py::Macro(..) | Py::Namespace(_) => self.keep(container),
                _ => {}
            }
        }
        match container {
            Py::List(list) => list.deepen(1 + height),
            Py::Dict(dict) => dict.deepen(1 + height),
            _ => {}
        }
        Ok(())
    }

    /// Has a container emptied at the end of the render.
    fn keep(&mut self, container: &Py) {
        let is_new = match container {
            Py::List(list) => list.keep(),
            Py::Dict(dict) => dict.keep(),
            _ => false,
        };
        if is_new {
            self.kept.push(container.clone());
        }
    }

    /// Empties containers that may hold themselves by ways that were not looked through.
    pub(super) fn empty(kept: &[Py]) {
        for container in kept {
            match container {
                Py::List(list) => drop(
                    list.items_mut()
                        .map(|mut items| std::mem::take(&mut *items)),
                ),
                Py::Dict(dict) => drop(
                    dict.items_mut()
                        .map(|mut items| std::mem::take(&mut *items)),
                ),
                _ => {}
            }
        }
    }
}

/// The address by which containers are told apart; 0 for a value that is none.
fn address(value: &Py) -> usize {
    match value {
        Py::List(list) | Py::Tuple(list) => Rc::as_ptr(list).addr(),
        Py::Dict(dict) | Py::View(_, dict) => Rc::as_ptr(dict).addr(),
        Py::Generator(items, _) => Rc::as_ptr(items).addr(),
        _ => 0,
    }
}
