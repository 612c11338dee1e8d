//! The inputs of a render: the variables that transformers passes to a chat template.

use std::borrow::Cow;
use std::rc::Rc;

use super::object::Key;
use super::object::Py;
use super::object::{Dict, List, OrderedMap, ReadPath};
use super::trace::{Piece, Taint, Text, Trace};
use crate::chat_template::syntax::tree::Tree;
use crate::chat_template::{Inputs, REASONING_KEYS};
use crate::value::{Key as MapKey, Map, Value};

/// Returns true if one of the values nests deeper than so many levels; found out without recursing.
pub(super) fn nests_deeper<'v>(values: impl Iterator<Item = &'v Value>, limit: usize) -> bool {
    let mut open: Vec<(&Value, usize)> = values.map(|value| (value, 1)).collect();
    while let Some((value, depth)) = open.pop() {
        if depth > limit {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => open.extend(map.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    false
}

/// The variables that `render_jinja_template` passes, by the index of their names, those of them that the template mentions. A variable
/// that it passes by name cannot be a kwarg as well.
pub(super) fn variables(
    tree: &Tree,
    tokens: &Map,
    input: &Inputs<'_>,
    observe: bool,
    trace: Option<&Rc<Trace>>,
) -> Vec<Option<Py>> {
    let mut out = vec![None; tree.names.len()];
    let mut give = |name: &str, value: &dyn Fn(&Giver<'_>) -> Py| {
        if let Some(name_here) = tree.find_name(name) {
            let giver = Giver {
                trace,
                read: observe.then(|| ReadPath::top(name)),
                at: trace.map_or(Taint::NONE, |trace| trace.variable(name)),
            };
            out[name_here.index()] = Some(value(&giver));
        }
    };
    for (name, value) in tokens.iter().chain(input.kwargs) {
        give(name, &|giver| giver.value(value));
    }
    give("messages", &|giver| {
        giver.list(input.messages.iter(), |giver, message| {
            giver.message(message, input.rules.keep_nulls)
        })
    });
    for (name, items) in [("tools", input.tools), ("documents", input.documents)] {
        // Documents may be given as a kwarg, as transformers hands them on.
        if name == "documents" && items.is_none() && input.kwargs.contains_key(name) {
            continue;
        }
        give(name, &|giver| match items {
            Some(items) => {
                let make = || giver.list(items.iter(), |giver, item| giver.value(item));
                // A chat template that may change lists must not find those that another render has changed.
                let kept = input.printed_tools.filter(|_| {
                    name == "tools" && trace.is_none() && !observe && !input.rules.list_methods
                });
                kept.map_or_else(make, |kept| kept.tools(make))
            }
            None => Py::None(giver.at),
        });
    }
    give("add_generation_prompt", &|giver| {
        Py::Bool(input.add_generation_prompt, giver.at)
    });
    out
}

/// Makes values of the template of an input at some place.
struct Giver<'t> {
    trace: Option<&'t Rc<Trace>>,
    read: Option<Rc<ReadPath>>,
    at: Taint,
}

impl Giver<'_> {
    /// An input as the template sees it. Where reads are told, containers know their path; where origins are traced, all do.
    fn value(&self, value: &Value) -> Py {
        match value {
            Value::Null => Py::None(self.at),
            Value::Bool(value) => Py::Bool(*value, self.at),
            Value::Int(value) => match value.as_i64() {
                Some(value) => Py::Int(value, self.at),
                None => Py::Big(Rc::new(value.clone()), self.at),
            },
            Value::Float(value) => Py::Float(*value, self.at),
            Value::String(text) if self.trace.is_some() => Py::Str(Text::of(
                Rc::from(text.as_str()),
                Piece::whole(text.len(), self.at.node()),
            )),
            Value::String(text) => Py::str(text),
            Value::Array(items) => self.list(items.iter(), |giver, item| giver.value(item)),
            Value::Object(map) => self.dict(map, Cow::Borrowed),
        }
    }

    /// A list, each of whose items `make` makes.
    fn list<'v>(
        &self,
        items: impl Iterator<Item = &'v Value>,
        make: impl Fn(&Giver<'_>, &'v Value) -> Py,
    ) -> Py {
        let items = items
            .enumerate()
            .map(|(index, item)| {
                let read = self.read.as_ref().filter(|_| container(item));
                let giver = Giver {
                    trace: self.trace,
                    read: read.map(|read| read.item(item)),
                    at: self
                        .trace
                        .map_or(Taint::NONE, |trace| trace.item(self.at, index)),
                };
                make(&giver, item)
            })
            .collect();
        Py::List(Rc::new(List::new(items, self.read.clone(), self.at)))
    }

    /// A dictionary. `given` says under which key the caller gave the value that stands under a key.
    fn dict<'v>(&self, map: &'v Map, given: impl Fn(&'v str) -> Cow<'v, str>) -> Py {
        let items: OrderedMap<Key, Py> = map
            .iter()
            .map(|(key, value)| {
                let read = self.read.as_ref().filter(|_| container(value));
                let shared: Rc<str> = Rc::from(key.as_str());
                let mut giver = Giver {
                    trace: self.trace,
                    read: read.map(|read| read.member(key)),
                    at: Taint::NONE,
                };
                let Some(trace) = self.trace else {
                    return (Key(Py::Str(Text::plain(shared))), giver.value(value));
                };
                let name = given(key);
                giver.at = if *name == **key {
                    trace.member(self.at, &shared)
                } else {
                    trace.member(self.at, &Rc::from(&*name))
                };
                // The text of a key comes from the caller only if the caller gave that key.
                let piece = if *name == **key {
                    Piece::key(key.len(), giver.at.node())
                } else {
                    Piece::written(key.len(), giver.at.node(), true)
                };
                (Key(Py::Str(Text::of(shared, piece))), giver.value(value))
            })
            .collect();
        Py::Dict(Rc::new(Dict::new(items, self.read.clone(), self.at)))
    }

    /// A message as `apply_chat_template` hands it on: without the keys that hold nothing (unless those are kept), and its
    /// reasoning, under whichever of three names it came, under two.
    fn message(&self, message: &Value, keep_nulls: bool) -> Py {
        let Value::Object(map) = message else {
            return self.value(message);
        };
        let is_changed = |(key, value): (&MapKey, &Value)| {
            (matches!(value, Value::Null) && !keep_nulls) || REASONING_KEYS.contains(&key.as_str())
        };
        if !map.iter().any(is_changed) {
            return self.value(message);
        }
        let mut map = map.clone();
        if !keep_nulls {
            map.retain(|_, value| !matches!(value, Value::Null));
        }
        let is_there = |map: &Map, key: &str| !matches!(map.get(key), None | Some(Value::Null));
        let name = REASONING_KEYS.into_iter().find(|key| is_there(&map, key));
        let has_thinking = map.contains_key("thinking");
        let Some((name, reasoning)) = name.and_then(|name| Some((name, map.get(name)?.clone())))
        else {
            return self.dict(&map, Cow::Borrowed);
        };
        let thinking = map.get("thinking").unwrap_or(&reasoning).clone();
        map.shift_insert(0, "thinking", thinking);
        map.insert("reasoning_content".to_owned(), reasoning);
        if let Some(trace) = self.trace {
            // This name was taken because the names before it hold nothing.
            for before in REASONING_KEYS
                .into_iter()
                .take_while(|before| *before != name)
            {
                trace.decide(trace.absent(self.at, before));
            }
        }
        self.dict(&map, |key| match key {
            "reasoning_content" => Cow::Borrowed(name),
            "thinking" if !has_thinking => Cow::Borrowed(name),
            key => Cow::Borrowed(key),
        })
    }
}

fn container(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

impl ReadPath {
    pub(super) fn top(name: &str) -> Rc<Self> {
        Rc::new(Self {
            path: name.to_owned(),
            role: None,
        })
    }

    fn item(self: &Rc<Self>, item: &Value) -> Rc<Self> {
        let role = if self.path == "messages" {
            item.get("role").and_then(Value::as_str).map(str::to_owned)
        } else {
            self.role.clone()
        };
        Rc::new(Self {
            path: format!("{}[]", self.path),
            role,
        })
    }

    fn member(self: &Rc<Self>, key: &str) -> Rc<Self> {
        Rc::new(Self {
            path: format!("{}.{key}", self.path),
            role: self.role.clone(),
        })
    }
}
