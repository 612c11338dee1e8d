//! Calling: macros, methods, and the functions that every template has.

use std::cell::RefCell;
use std::rc::Rc;

use super::arguments::{self, Arguments};
use super::fault::Fault;
use super::object::Key;
use super::object::OrderedMap;
use super::object::Scope;
use super::object::{Global, LoopState, Py, View};
use super::trace::Taint;
use super::tracing::Other;
use super::{MAX_RANGE, Render, hashable, text};
use crate::chat_template::Clock;
use crate::chat_template::error::Limit;
use crate::chat_template::syntax::tree::Arg;

impl<'t> Render<'t> {
    pub(super) fn arguments(
        &mut self,
        args: &'t [Arg],
        scope: &Rc<Scope>,
    ) -> Result<Arguments, Fault> {
        let mut out = Arguments::default();
        for arg in args {
            let value = self.expr(arg.expr(), scope)?.plain();
            match arg {
                Arg::Pos(_) => out.positional.push(value),
                Arg::Named(name, _) => out.named.push((self.shared_name(*name), value)),
                Arg::Splat(_) => {
                    self.decide_shape(&value);
                    out.positional.extend(self.iterate(&value)?);
                }
                Arg::NamedSplat(_) => match &value {
                    Py::Dict(dict) => {
                        self.decide_shape(&value);
                        for (key, item) in dict.items().iter() {
                            let Py::Str(name) = &key.0 else {
                                return Err(Fault::error(
                                    "`**` needs a dictionary with strings for keys",
                                ));
                            };
                            out.named.push((name.clone(), item.clone()));
                        }
                    }
                    other => {
                        return Err(Fault::error(format!(
                            "`**` needs a dictionary, not a `{}`",
                            other.type_name()
                        )));
                    }
                },
            }
        }
        Ok(out)
    }

    pub(super) fn call(&mut self, callee: &Py, args: Arguments) -> Result<Py, Fault> {
        match callee {
            Py::Macro(index, scope) => self.call_macro(*index, scope, args),
            Py::Method(method) => self.call_method(&method.0, &method.1, args),
            Py::Global(global) => self.call_global(*global, args),
            Py::Loop(state) => self.call_loop(state, args),
            Py::Joiner(joiner) => {
                args.none("joiner")?;
                let used = joiner.1.replace(true);
                Ok(Py::Str(if used {
                    joiner.0.clone()
                } else {
                    self.nothing_of(&joiner.0)
                }))
            }
            Py::Undefined(missing, _) => Err(Fault::error(missing.message())),
            other => Err(Fault::error(format!(
                "a `{}` cannot be called",
                other.type_name()
            ))),
        }
    }

    fn call_macro(
        &mut self,
        index: usize,
        defined_in: &Rc<Scope>,
        args: Arguments,
    ) -> Result<Py, Fault> {
        let tree = self.tree;
        let definition = &tree.macros[index];
        let name = self.name(definition.name);
        let scope = Scope::inside(defined_in);
        let mut given: Vec<Option<Py>> = vec![None; definition.params.len()];
        let mut varargs = Vec::new();
        for (at, value) in args.positional.into_iter().enumerate() {
            match given.get_mut(at) {
                Some(slot) => *slot = Some(value),
                None => varargs.push(value),
            }
        }
        let mut kwargs = OrderedMap::default();
        let mut caller = None;
        for (key, value) in args.named {
            match definition
                .params
                .iter()
                .position(|param| *self.name(*param) == *key)
            {
                Some(at) if given[at].is_some() => {
                    return Err(Fault::error(format!(
                        "the macro `{name}` is given `{key}` twice"
                    )));
                }
                Some(at) => given[at] = Some(value),
                None if &*key == "caller" && definition.uses_caller => caller = Some(value),
                None => {
                    kwargs.insert(Key(Py::Str(key)), value);
                }
            }
        }
        if !varargs.is_empty() && !definition.uses_varargs {
            return Err(Fault::error(format!(
                "the macro `{name}` takes no more than {} arguments",
                definition.params.len()
            )));
        }
        if let Some(key) = kwargs.keys().next()
            && !definition.uses_kwargs
        {
            return Err(Fault::error(format!(
                "the macro `{name}` has no parameter {}",
                text::repr_of(&key.0)?
            )));
        }
        let without_default = definition.params.len() - definition.defaults.len();
        for (at, (param, value)) in definition.params.iter().zip(given).enumerate() {
            let value = match (value, at.checked_sub(without_default)) {
                (Some(value), _) => value,
                (None, Some(default)) => self.expr(&definition.defaults[default], &scope)?,
                (None, None) => Py::missing(super::Missing::Name(Rc::from(self.name(*param)))),
            };
            scope.set(*param, value);
        }
        let varargs = definition.uses_varargs.then(|| Py::tuple(varargs));
        let kwargs = definition.uses_kwargs.then(|| Py::dict(kwargs));
        let caller = definition.uses_caller.then(|| {
            caller.unwrap_or_else(|| Py::missing(super::Missing::Name(Rc::from("caller"))))
        });
        for (special, value) in [("varargs", varargs), ("kwargs", kwargs), ("caller", caller)] {
            if let Some(value) = value
                && let Some(name) = tree.find_name(special)
            {
                scope.set(name, value);
            }
        }
        self.deeper()?;
        let printed = self.capture_block(&definition.body, &scope)?;
        self.depth -= 1;
        Ok(printed)
    }

    fn call_loop(&mut self, state: &LoopState, args: Arguments) -> Result<Py, Fault> {
        let Some(recursive) = state.recursive else {
            return Err(Fault::error("only a loop marked `recursive` can be called"));
        };
        let items = args.one("loop", "iterable")?;
        let (stmt, scope) = self.loops[recursive].clone();
        self.capture(|render| render.run_loop(stmt, &items, &scope, state.depth + 1))
    }

    fn call_global(&mut self, global: Global, args: Arguments) -> Result<Py, Fault> {
        match global {
            Global::Range => {
                let taint = self.arguments_taint(&args);
                range(args, taint)
            }
            Global::Dict => {
                let mut dict = OrderedMap::default();
                let mut shape = Taint::NONE;
                let mut positional = args.positional.into_iter();
                match positional.next() {
                    None => {}
                    Some(Py::Dict(from)) => {
                        shape = from.shape();
                        dict.extend(
                            from.items()
                                .iter()
                                .map(|(key, item)| (key.clone(), item.clone())),
                        );
                    }
                    Some(pairs) => {
                        shape = self.taint(&pairs);
                        for pair in self.iterate(&pairs)? {
                            let [key, value] = <[Py; 2]>::try_from(self.iterate(&pair)?)
                                .map_err(|_| Fault::error("`dict` needs pairs"))?;
                            self.decide_shape(&key);
                            dict.insert(hashable(&key)?, value);
                        }
                    }
                }
                if positional.next().is_some() {
                    return Err(Fault::error("`dict` takes one argument"));
                }
                for (name, _) in &args.named {
                    self.decide_place(shape, name);
                }
                dict.extend(
                    args.named
                        .into_iter()
                        .map(|(key, value)| (Key(Py::Str(key)), value)),
                );
                self.room_for(dict.len())?;
                Ok(Py::dict_of(dict, shape))
            }
            Global::DictFromKeys => {
                let [keys, value] = args.bind("fromkeys", ["iterable", "value"], 1)?;
                let value = value.unwrap_or(Py::NONE);
                let keys = keys.unwrap_or(Py::NONE);
                let shape = self.taint(&keys);
                let mut dict = OrderedMap::default();
                for key in self.iterate(&keys)? {
                    self.decide_shape(&key);
                    dict.insert(hashable(&key)?, value.clone());
                }
                Ok(Py::dict_of(dict, shape))
            }
            Global::Namespace => {
                let named = args.named.clone();
                let Py::Dict(start) = self.call_global(Global::Dict, args)? else {
                    return Err(Fault::error("`namespace` takes a dictionary or names"));
                };
                let mut attributes = OrderedMap::default();
                for (key, value) in start.items().iter() {
                    let Py::Str(name) = &key.0 else { continue };
                    if name.starts_with('_') {
                        return Err(Fault::error(
                            "a namespace takes no attribute that begins with `_`",
                        ));
                    }
                    attributes.insert(name.shared().clone(), value.clone());
                }
                attributes.extend(
                    named
                        .into_iter()
                        .map(|(name, value)| (name.shared().clone(), value)),
                );
                let namespace = Rc::new(RefCell::new(attributes));
                self.namespaces.push(namespace.clone());
                Ok(Py::Namespace(namespace))
            }
            Global::RaiseException => {
                let message = args.one("raise_exception", "message")?;
                Err(Fault::Raised(text::str_of(&message)?))
            }
            Global::StrftimeNow => {
                let format = args.one("strftime_now", "format")?;
                let shown = arguments::string("strftime_now", &format)?;
                let shown = self.clock.unwrap_or_else(Clock::now).strftime(shown);
                let shown = self.string(shown)?;
                let clock = self.trace.as_ref().map_or(Taint::NONE, |trace| {
                    trace.absent(Taint::NONE, "strftime_now")
                });
                Ok(self.made_of(shown, self.join(clock, self.taint(&format))))
            }
            Global::Lipsum => Err(Fault::error(
                "`lipsum` prints random text, which no chat template can mean",
            )),
            Global::Cycler => {
                if args.positional.is_empty() {
                    return Err(Fault::error("`cycler` needs at least one item"));
                }
                Ok(Py::Cycler(Rc::new((args.positional, RefCell::new(0)))))
            }
            Global::Joiner => {
                let [separator] = args.bind("joiner", ["sep"], 0)?;
                let separator = separator.unwrap_or_else(|| Py::str(", "));
                arguments::string("joiner", &separator)?;
                let Py::Str(separator) = separator.plain() else {
                    return Err(Fault::error("`joiner` needs a string"));
                };
                Ok(Py::Joiner(Rc::new((separator, RefCell::new(false)))))
            }
        }
    }

    fn loop_method(&mut self, state: &LoopState, name: &str, args: Arguments) -> Result<Py, Fault> {
        let mut taint = self.arguments_taint(&args);
        let values = args.positional;
        if name == "changed" {
            let before = state.changed.replace(None);
            let same = match before {
                Some((before, taint_before)) => {
                    taint = self.join(taint, taint_before);
                    self.same(&Py::list(before), &Py::list(values.clone()))?
                }
                None => false,
            };
            *state.changed.borrow_mut() = Some((values, taint));
            return Ok(Py::Bool(!same, taint.derived()));
        }
        if values.is_empty() {
            return Err(Fault::error("`loop.cycle` needs at least one item"));
        }
        Ok(values[*state.index.borrow() % values.len()].clone())
    }

    pub(super) fn call_method(
        &mut self,
        subject: &Py,
        name: &str,
        args: Arguments,
    ) -> Result<Py, Fault> {
        match subject {
            Py::Str(text) => self.string_method(text, name, args),
            Py::Dict(dict) => match name {
                "get" => {
                    let [key, default] =
                        args.without_names(name)?
                            .bind("get", ["key", "default"], 1)?;
                    let key = key.unwrap_or(Py::NONE);
                    hashable(&key)?;
                    if let Some(found) = self.own_item(subject, &key) {
                        // A default that does not tell that the key is missing would have been there instead.
                        return Ok(match &default {
                            Some(default) if !default.is_scalar() && default.is_true() => {
                                let taint = self.member_taint(subject, &key, &found);
                                self.chosen_by(found, taint, Other::Silent)
                            }
                            _ => found,
                        });
                    }
                    let taint = match &key {
                        Py::Str(name) => self.not_found(subject, name),
                        _ => dict.shape(),
                    };
                    Ok(self.chosen_by(default.unwrap_or(Py::NONE), taint, Other::Telling))
                }
                "keys" => args
                    .none("keys")
                    .map(|()| Py::View(View::Keys, dict.clone())),
                "values" => args
                    .none("values")
                    .map(|()| Py::View(View::Values, dict.clone())),
                "items" => args
                    .none("items")
                    .map(|()| Py::View(View::Items, dict.clone())),
                "copy" if self.rules.list_methods => {
                    args.none("copy")?;
                    self.room_for(dict.len())?;
                    Ok(Py::dict_of(dict.items().clone(), dict.shape()))
                }
                "copy" => args.none("copy").map(|()| subject.clone()),
                "clear" | "pop" | "popitem" | "setdefault" | "update" => {
                    self.change_dict(dict, name, args)
                }
                _ => self.call_global(Global::DictFromKeys, args),
            },
            Py::List(_) | Py::Tuple(_) => {
                if name == "copy" && self.rules.list_methods {
                    args.none("copy")?;
                    let items = self.iterate(subject)?;
                    self.room_for(items.len())?;
                    return Ok(Py::list_of(items, self.taint(subject)));
                }
                if name == "copy" {
                    return args.none("copy").map(|()| subject.clone());
                }
                if let Py::List(list) = subject
                    && !matches!(name, "index" | "count")
                {
                    return self.change_list(list, name, args);
                }
                let items = self.iterate(subject)?;
                self.spend(items.len() as u64)?;
                let wanted = args.one(name, "value")?;
                let taint = self.join(self.whole_taint(subject), self.whole_taint(&wanted));
                if name == "count" {
                    let mut count = 0;
                    for item in &items {
                        count += i128::from(self.same(item, &wanted)?);
                    }
                    return Ok(Py::int(count).with_taint(taint.derived()));
                }
                for (at, item) in items.iter().enumerate() {
                    if self.same(item, &wanted)? {
                        return Ok(Py::int(at as i128).with_taint(taint.derived()));
                    }
                }
                Err(Fault::error("`index` of what is not in the list"))
            }
            Py::Float(value, taint) => args
                .none(name)
                .map(|()| Py::Bool(value.fract() == 0.0, taint.derived())),
            Py::Loop(state) => self.loop_method(state, name, args),
            Py::Cycler(state) => {
                args.none(name)?;
                let mut at = state.1.borrow_mut();
                if name == "reset" {
                    *at = 0;
                    return Ok(Py::NONE);
                }
                let item = state.0[*at].clone();
                *at = (*at + 1) % state.0.len();
                Ok(item)
            }
            other => {
                args.none(name)?;
                let bits = other
                    .as_int()
                    .map_or(0, |value| 128 - value.unsigned_abs().leading_zeros());
                Ok(Py::Int(i64::from(bits), self.taint(other).derived()))
            }
        }
    }
}

fn range(args: Arguments, taint: Taint) -> Result<Py, Fault> {
    if !args.named.is_empty() {
        return Err(Fault::error("`range` takes no names"));
    }
    let mut numbers = Vec::new();
    for value in &args.positional {
        if matches!(value, Py::Undefined(..)) || value.as_int().is_none() {
            return Err(Fault::error(format!(
                "`range` needs integers, not a `{}`",
                value.type_name()
            )));
        }
        numbers.push(arguments::int_or(Some(value), 0)?);
    }
    let (start, stop, step) = match numbers.as_slice() {
        [stop] => (0, *stop, 1),
        [start, stop] => (*start, *stop, 1),
        [start, stop, step] => (*start, *stop, *step),
        _ => return Err(Fault::error("`range` takes one to three arguments")),
    };
    if step == 0 {
        return Err(Fault::error("the step of a range cannot be zero"));
    }
    let range = Py::Range(start, stop, step, taint);
    if range.len().is_some_and(|len| len > MAX_RANGE) {
        return Err(Fault::Limit(Limit::Range, MAX_RANGE as u64));
    }
    Ok(range)
}
