//! Rendering on minijinja's machine.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};

use super::{Clock, Limit, Read, Reads, RenderError, RenderInput};
use crate::diagnostic::Diagnostic;
use crate::value::{Map, Value};

const FUEL: u64 = 20_000_000;

pub(super) fn environment(source: &str) -> Result<Environment<'static>, Error> {
    let mut env = Environment::new();
    env.set_syntax(syntax()?);
    env.set_debug(true);
    env.set_fuel(Some(FUEL));
    env.set_undefined_behavior(UndefinedBehavior::Lenient);
    env.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    env.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    env.add_function(
        "raise_exception",
        |message: String| -> Result<String, Error> {
            Err(Error::new(ErrorKind::EvalBlock, message))
        },
    );
    env.add_filter(
        "tojson",
        |value: minijinja::Value, kwargs: Kwargs| -> Result<minijinja::Value, Error> {
            let indent: Option<usize> = kwargs.get("indent").ok().flatten();
            let mut out = String::new();
            write_json(&value, indent, 0, &mut out)?;
            Ok(minijinja::Value::from_safe_string(out))
        },
    );
    env.add_template_owned("chat", source.to_owned())?;
    Ok(env)
}

/// Blocks are trimmed as transformers has them trimmed.
pub(super) fn syntax() -> Result<minijinja::syntax::SyntaxConfig, Error> {
    minijinja::syntax::SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
}

fn write_json(
    value: &minijinja::Value,
    indent: Option<usize>,
    depth: usize,
    out: &mut String,
) -> Result<(), Error> {
    use minijinja::value::ValueKind;
    let line = |depth: usize, out: &mut String| {
        if let Some(width) = indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', width * depth));
        }
    };
    let comma = if indent.is_some() { "," } else { ", " };
    match value.kind() {
        ValueKind::None => out.push_str("null"),
        ValueKind::Bool | ValueKind::Number => {
            out.push_str(&value.to_string().to_lowercase());
        }
        ValueKind::String => {
            out.push_str(&serde_json::Value::from(value.as_str().unwrap_or_default()).to_string())
        }
        ValueKind::Seq | ValueKind::Iterable => {
            out.push('[');
            let mut empty = true;
            for item in value.try_iter()? {
                if !empty {
                    out.push_str(comma);
                }
                empty = false;
                line(depth + 1, out);
                write_json(&item, indent, depth + 1, out)?;
            }
            if !empty {
                line(depth, out);
            }
            out.push(']');
        }
        ValueKind::Map => {
            out.push('{');
            let mut empty = true;
            for key in value.try_iter()? {
                if !empty {
                    out.push_str(comma);
                }
                empty = false;
                line(depth + 1, out);
                out.push_str(&serde_json::Value::from(key.to_string()).to_string());
                out.push_str(": ");
                write_json(&value.get_item(&key)?, indent, depth + 1, out)?;
            }
            if !empty {
                line(depth, out);
            }
            out.push('}');
        }
        _ => return Err(Error::new(ErrorKind::BadSerialization, "not a JSON value")),
    }
    Ok(())
}

type Log = Arc<Mutex<Reads>>;

/// An input value that writes down what is asked of it.
#[derive(Debug)]
struct Watched {
    value: Value,
    path: String,
    role: Option<String>,
    log: Option<Log>,
}

fn wrap(value: &Value, path: String, role: Option<String>, log: Option<&Log>) -> minijinja::Value {
    match value {
        Value::Null => minijinja::Value::from(()),
        Value::Bool(value) => minijinja::Value::from(*value),
        Value::Int(value) => value.as_i64().map_or_else(
            || {
                value
                    .to_string()
                    .parse::<i128>()
                    .map_or_else(|_| minijinja::Value::from(f64::NAN), minijinja::Value::from)
            },
            minijinja::Value::from,
        ),
        Value::Float(value) => minijinja::Value::from(*value),
        Value::String(value) => minijinja::Value::from(value.as_str()),
        Value::Array(_) | Value::Object(_) => minijinja::Value::from_object(Watched {
            value: value.clone(),
            path,
            role,
            log: log.cloned(),
        }),
    }
}

impl Watched {
    fn child(&self, value: Option<&Value>, step: &str) -> Option<minijinja::Value> {
        let path = format!("{}{step}", self.path);
        let mut role = self.role.clone();
        if self.path == "messages" {
            role = value
                .and_then(|message| message.get("role"))
                .and_then(Value::as_str)
                .map(str::to_owned);
        }
        if let Some(log) = &self.log
            && let Ok(mut log) = log.lock()
        {
            log.places.insert(Read {
                path: path.clone(),
                role: role.clone(),
                found: value.is_some(),
            });
        }
        value.map(|value| wrap(value, path, role, self.log.as_ref()))
    }
}

impl Object for Watched {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        if self.value.as_array().is_some() {
            ObjectRepr::Seq
        } else {
            ObjectRepr::Map
        }
    }

    fn get_value(self: &Arc<Self>, key: &minijinja::Value) -> Option<minijinja::Value> {
        match &self.value {
            Value::Array(items) => self.child(Some(items.get(key.as_usize()?)?), "[]"),
            Value::Object(map) => {
                let key = key.as_str()?;
                self.child(map.get(key), &format!(".{key}"))
            }
            _ => None,
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        match &self.value {
            Value::Array(items) => Enumerator::Seq(items.len()),
            Value::Object(map) => Enumerator::Values(
                map.keys()
                    .map(|key| minijinja::Value::from(key.as_str()))
                    .collect(),
            ),
            _ => Enumerator::NonEnumerable,
        }
    }
}

/// The template's variables.
#[derive(Debug)]
struct Variables {
    values: Map,
    clock: Option<Clock>,
    log: Option<Log>,
}

impl Object for Variables {
    fn get_value(self: &Arc<Self>, key: &minijinja::Value) -> Option<minijinja::Value> {
        let name = key.as_str()?;
        if name == "strftime_now" {
            let clock = self.clock;
            return Some(minijinja::Value::from_function(move |format: String| {
                clock.unwrap_or_else(Clock::now).strftime(&format)
            }));
        }
        let value = self.values.get(name);
        if let Some(log) = &self.log
            && let Ok(mut log) = log.lock()
            && !matches!(name, "raise_exception" | "range" | "namespace" | "dict")
        {
            if value.is_none() {
                log.undefined.insert(name.to_owned());
            } else {
                log.places.insert(Read {
                    path: name.to_owned(),
                    role: None,
                    found: true,
                });
            }
        }
        value.map(|value| wrap(value, name.to_owned(), None, self.log.as_ref()))
    }
}

fn alias_reasoning(message: &Value) -> Value {
    let Value::Object(map) = message else {
        return message.clone();
    };
    let Some(reasoning) = ["reasoning_content", "thinking", "reasoning"]
        .iter()
        .filter_map(|key| map.get(*key))
        .find(|value| !matches!(value, Value::Null))
    else {
        return message.clone();
    };
    let mut out = Map::new();
    out.insert("thinking".to_owned(), reasoning.clone());
    out.extend(map.iter().map(|(key, value)| (key.clone(), value.clone())));
    out.insert("reasoning_content".to_owned(), reasoning.clone());
    Value::Object(out)
}

pub(super) fn render(
    env: &Environment<'static>,
    tokens: &Map,
    input: &RenderInput,
    observe: bool,
) -> Result<(String, Reads), RenderError> {
    let log = observe.then(|| {
        Arc::new(Mutex::new(Reads {
            places: BTreeSet::new(),
            undefined: BTreeSet::new(),
        }))
    });
    let mut values = tokens.clone();
    values.extend(input.kwargs.clone());
    values.insert(
        "messages".to_owned(),
        Value::Array(input.messages.iter().map(alias_reasoning).collect()),
    );
    let list = |items: &Option<Vec<Value>>| items.clone().map_or(Value::Null, Value::Array);
    values.insert("tools".to_owned(), list(&input.tools));
    values.insert("documents".to_owned(), list(&input.documents));
    values.insert(
        "add_generation_prompt".to_owned(),
        Value::Bool(input.add_generation_prompt),
    );
    let context = minijinja::Value::from_object(Variables {
        values,
        clock: input.clock,
        log: log.clone(),
    });
    let text = env
        .get_template("chat")
        .and_then(|template| template.render(context))
        .map_err(|error| match error.kind() {
            ErrorKind::OutOfFuel => RenderError::Limit {
                which: Limit::Fuel,
                limit: FUEL,
            },
            ErrorKind::EvalBlock => RenderError::Raised {
                message: error.detail().unwrap_or_default().to_owned(),
            },
            _ => {
                let mut diagnostic = Diagnostic::error("chat-template-error", error.to_string());
                if let Some(span) = error.range() {
                    diagnostic = diagnostic.with_span(span);
                }
                RenderError::Template {
                    diagnostic: Box::new(diagnostic),
                }
            }
        })?;
    let reads = log
        .and_then(|log| log.lock().ok().map(|reads| reads.clone()))
        .unwrap_or_default();
    Ok((text, reads))
}
