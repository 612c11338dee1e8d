//! Evaluation of an expression on a value. Values are borrowed for as long as they are parts of the input; each copy is paid for from a
//! budget, since an expression may ask for the whole value again and again.

use std::borrow::Cow;

use super::order::compare;
use super::{Ast, Fault, functions};
use crate::value::json::MAX_DEPTH;
use crate::value::{Map, Value};

/// How many values and bytes may be copied whatever the input; the other number is how many more for each of its values and bytes.
const FREE: usize = 1 << 20;
const PER_INPUT: usize = 64;

pub(super) fn search(ast: &Ast, value: &Value) -> Result<Value, Fault> {
    let mut evaluation = Evaluation {
        left: FREE + PER_INPUT.saturating_mul(weight(value)),
    };
    let result = evaluation.visit(ast, value)?.into_owned();
    if depth(&result) > MAX_DEPTH {
        let message = format!("the result nests deeper than the limit of {MAX_DEPTH}");
        return Err(Fault::limit(message));
    }
    Ok(result)
}

struct Evaluation {
    left: usize,
}

impl Evaluation {
    /// Pays for a copy of a value.
    fn pay(&mut self, weight: usize) -> Result<(), Fault> {
        match self.left.checked_sub(weight) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Fault::limit(
                "the expression copies more than is allowed for a value of this size",
            )),
        }
    }

    fn own(&mut self, value: Cow<'_, Value>) -> Result<Value, Fault> {
        self.pay(match &value {
            Cow::Borrowed(value) => weight(value),
            Cow::Owned(_) => 1,
        })?;
        Ok(value.into_owned())
    }

    fn visit<'v>(&mut self, ast: &'v Ast, value: &'v Value) -> Result<Cow<'v, Value>, Fault> {
        const NULL: Cow<'static, Value> = Cow::Owned(Value::Null);
        self.pay(1)?;
        Ok(match ast {
            Ast::Current => Cow::Borrowed(value),
            Ast::Literal(literal) => Cow::Borrowed(literal),
            Ast::Field(name) => value.get(name).map_or(NULL, Cow::Borrowed),
            Ast::Index(index) => {
                let items = value.as_array().unwrap_or_default();
                let at = match usize::try_from(*index) {
                    Ok(at) => Some(at),
                    Err(_) => usize::try_from(index.unsigned_abs())
                        .ok()
                        .and_then(|back| items.len().checked_sub(back)),
                };
                at.and_then(|at| items.get(at)).map_or(NULL, Cow::Borrowed)
            }
            Ast::Slice(parts) => match value {
                Value::Array(items) => Cow::Owned(self.slice(items, parts)?),
                _ => NULL,
            },
            Ast::Chain { nodes, .. } => self.chain(nodes, Cow::Borrowed(value))?,
            Ast::Pipe(nodes) => self.chain(&**nodes, Cow::Borrowed(value))?,
            Ast::Projection(nodes) => match self.visit(&nodes[0], value)?.as_ref() {
                Value::Array(items) => self.project(items.iter(), &nodes[1], None)?,
                _ => NULL,
            },
            Ast::ValueProjection(nodes) => match self.visit(&nodes[0], value)?.as_ref() {
                Value::Object(members) => self.project(members.values(), &nodes[1], None)?,
                _ => NULL,
            },
            Ast::Filter(nodes) => match self.visit(&nodes[0], value)?.as_ref() {
                Value::Array(items) => self.project(items.iter(), &nodes[1], Some(&nodes[2]))?,
                _ => NULL,
            },
            Ast::Flatten(inner) => match self.visit(inner, value)?.as_ref() {
                Value::Array(items) => {
                    let mut flat = Vec::new();
                    for item in items {
                        self.pay(weight(item))?;
                        match item {
                            Value::Array(inner) => flat.extend_from_slice(inner),
                            other => flat.push(other.clone()),
                        }
                    }
                    Cow::Owned(Value::Array(flat))
                }
                _ => NULL,
            },
            Ast::Comparison(comparator, nodes) => {
                let left = self.visit(&nodes[0], value)?;
                let right = self.visit(&nodes[1], value)?;
                Cow::Owned(compare(*comparator, &left, &right)?)
            }
            Ast::Or(nodes) => match self.visit(&nodes[0], value)? {
                found if is_false(&found) => self.visit(&nodes[1], value)?,
                found => found,
            },
            Ast::And(nodes) => match self.visit(&nodes[0], value)? {
                found if is_false(&found) => found,
                _ => self.visit(&nodes[1], value)?,
            },
            Ast::Not(inner) => {
                let found = self.visit(inner, value)?;
                let is_number = matches!(*found, Value::Int(_) | Value::Float(_));
                Cow::Owned(Value::Bool(!is_number && !found.is_truthy()))
            }
            Ast::List(_) | Ast::Hash(_) if *value == Value::Null => NULL,
            Ast::List(nodes) => {
                let mut items = Vec::with_capacity(nodes.len());
                for node in nodes {
                    let item = self.visit(node, value)?;
                    items.push(self.own(item)?);
                }
                Cow::Owned(Value::Array(items))
            }
            Ast::Hash(pairs) => {
                let mut members = Map::new();
                for (name, node) in pairs {
                    let member = self.visit(node, value)?;
                    members.insert(name.as_str(), self.own(member)?);
                }
                Cow::Owned(Value::Object(members))
            }
            Ast::Function(name, arguments) => {
                let mut evaluate =
                    |ast: &Ast, value: &Value| self.visit(ast, value).map(Cow::into_owned);
                Cow::Owned(functions::call(&mut evaluate, name, arguments, value)?)
            }
            Ast::Reference(_) => {
                return Err(Fault::new(
                    "`&` makes an argument of a function and is no value",
                ));
            }
        })
    }

    fn chain<'v>(
        &mut self,
        nodes: &'v [Ast],
        value: Cow<'v, Value>,
    ) -> Result<Cow<'v, Value>, Fault> {
        let mut value = value;
        for node in nodes {
            value = match value {
                Cow::Borrowed(value) => self.visit(node, value)?,
                Cow::Owned(value) => {
                    let found = self.visit(node, &value)?;
                    Cow::Owned(self.own(found)?)
                }
            };
        }
        Ok(value)
    }

    fn project<'a>(
        &mut self,
        items: impl Iterator<Item = &'a Value>,
        node: &Ast,
        condition: Option<&Ast>,
    ) -> Result<Cow<'static, Value>, Fault> {
        let mut collected = Vec::new();
        for item in items {
            if let Some(condition) = condition
                && is_false(&*self.visit(condition, item)?)
            {
                continue;
            }
            let found = self.visit(node, item)?;
            if *found != Value::Null {
                collected.push(self.own(found)?);
            }
        }
        Ok(Cow::Owned(Value::Array(collected)))
    }

    /// Python's `items[start:stop:step]`.
    fn slice(
        &mut self,
        items: &[Value],
        [start, stop, step]: &[Option<i64>; 3],
    ) -> Result<Value, Fault> {
        let step = i128::from(step.unwrap_or(1));
        if step == 0 {
            return Err(Fault::new("the step of a slice cannot be zero"));
        }
        let length = items.len() as i128;
        let (low, high) = if step > 0 {
            (0, length)
        } else {
            (-1, length - 1)
        };
        let bound = |part: &Option<i64>, missing: i128| match part {
            None => missing,
            Some(at) if *at < 0 => (i128::from(*at) + length).clamp(low, high),
            Some(at) => i128::from(*at).clamp(low, high),
        };
        let (first, last) = if step > 0 { (low, high) } else { (high, low) };
        let (mut at, stop) = (bound(start, first), bound(stop, last));
        let mut taken = Vec::new();
        while if step > 0 { at < stop } else { at > stop } {
            if let Some(item) = usize::try_from(at).ok().and_then(|at| items.get(at)) {
                self.pay(weight(item))?;
                taken.push(item.clone());
            }
            at += step;
        }
        Ok(Value::Array(taken))
    }
}

/// Returns true for values that count as false: empty text, lists and objects, null and false. Zero does not.
fn is_false(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::Float(_) => false,
        other => !other.is_truthy(),
    }
}

/// How much a value takes: values and bytes of text.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len(),
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => {
            1 + members
                .iter()
                .map(|(key, value)| key.len() + weight(value))
                .sum::<usize>()
        }
        _ => 1,
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
