//! The functions of JMESPath.

use std::cmp::Ordering;

use super::order::{equal_to_python, order};
use super::{Ast, Fault};
use crate::value::json::Format;
use crate::value::{Integer, Value, python};

/// The functions: the name of each, how many arguments it takes at least, and true if it takes more.
const FUNCTIONS: [(&str, usize, bool); 26] = [
    ("abs", 1, false),
    ("avg", 1, false),
    ("ceil", 1, false),
    ("contains", 2, false),
    ("ends_with", 2, false),
    ("floor", 1, false),
    ("join", 2, false),
    ("keys", 1, false),
    ("length", 1, false),
    ("map", 2, false),
    ("max", 1, false),
    ("max_by", 2, false),
    ("merge", 1, true),
    ("min", 1, false),
    ("min_by", 2, false),
    ("not_null", 1, true),
    ("reverse", 1, false),
    ("sort", 1, false),
    ("sort_by", 2, false),
    ("starts_with", 2, false),
    ("sum", 1, false),
    ("to_array", 1, false),
    ("to_number", 1, false),
    ("to_string", 1, false),
    ("type", 1, false),
    ("values", 1, false),
];

/// An argument: a value, or an expression to be evaluated on values.
enum Argument<'a> {
    Value(Value),
    Expression(&'a Ast),
}

/// The evaluation of an expression on a value. Functions call back by it, since they evaluate their arguments and what `&` refers to.
pub(super) type Evaluate<'a> = dyn FnMut(&Ast, &Value) -> Result<Value, Fault> + 'a;

/// Calls a function with its arguments, which are evaluated on the value at hand.
pub(super) fn call(
    evaluate: &mut Evaluate<'_>,
    name: &str,
    arguments: &[Ast],
    value: &Value,
) -> Result<Value, Fault> {
    let mut given = Vec::with_capacity(arguments.len());
    for argument in arguments {
        given.push(match argument {
            Ast::Reference(inner) => Argument::Expression(inner),
            other => Argument::Value(evaluate(other, value)?),
        });
    }
    let Some((_, count, variadic)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
        return Err(Fault::new(format!("JMESPath has no function `{name}`")));
    };
    if given.len() < *count || given.len() > *count && !variadic {
        let message = format!("`{name}` takes {count} arguments and not {}", given.len());
        return Err(Fault::new(message));
    }
    let mut given = given.into_iter();
    let first = given.next();
    let second = given.next();
    let wrong = || Fault::new(format!("`{name}` cannot take what it is given"));
    let (first, expression) = match (first, second.as_ref()) {
        (Some(Argument::Expression(expression)), Some(Argument::Value(items))) if name == "map" => {
            (items.clone(), Some(expression))
        }
        (Some(Argument::Value(first)), Some(Argument::Expression(expression)))
            if name.ends_with("_by") =>
        {
            (first, Some(*expression))
        }
        (Some(Argument::Value(first)), _) => (first, None),
        _ => return Err(wrong()),
    };
    if let Some(expression) = expression {
        let Value::Array(items) = first else {
            return Err(wrong());
        };
        return by(evaluate, name, items, expression).map_err(|fault| fault.unwrap_or_else(wrong));
    }
    let second = match second {
        Some(Argument::Value(second)) => Some(second),
        Some(Argument::Expression(_)) => return Err(wrong()),
        None => None,
    };
    let rest = given.map(|argument| match argument {
        Argument::Value(value) => Some(value),
        Argument::Expression(_) => None,
    });
    let rest: Vec<Value> = rest.collect::<Option<_>>().ok_or_else(wrong)?;
    if *variadic {
        let all = std::iter::once(first).chain(second).chain(rest);
        return variable(name, all).ok_or_else(wrong);
    }
    match second {
        Some(second) => two(name, &first, &second).ok_or_else(wrong),
        None => one(name, first)?.ok_or_else(wrong),
    }
}

/// `not_null` and `merge`.
fn variable(name: &str, mut all: impl Iterator<Item = Value>) -> Option<Value> {
    if name == "not_null" {
        return Some(all.find(|value| *value != Value::Null).unwrap_or_default());
    }
    // Python's package looks at the type of the first alone, and hands the others to `dict.update`.
    let Value::Object(mut merged) = all.next()? else {
        return None;
    };
    for value in all {
        match value {
            Value::Object(members) => merged.extend(members),
            Value::Array(pairs) => {
                for pair in &pairs {
                    let (key, value) = as_pair(pair)?;
                    merged.insert(key, value);
                }
            }
            Value::String(text) if text.is_empty() => {}
            _ => return None,
        }
    }
    Some(Value::Object(merged))
}

/// Reads a value that Python takes for a key and a value: anything that has two parts, the first of them text.
fn as_pair(value: &Value) -> Option<(String, Value)> {
    let parts: Vec<Value> = match value {
        Value::Array(items) => items.clone(),
        Value::String(text) => text.chars().map(|c| Value::from(c.to_string())).collect(),
        Value::Object(members) => members
            .keys()
            .map(|key| Value::from(key.as_str()))
            .collect(),
        _ => return None,
    };
    match <[Value; 2]>::try_from(parts) {
        Ok([Value::String(key), value]) => Some((key.to_string(), value)),
        _ => None,
    }
}

/// Functions of two values; `None` where they do not take these.
fn two(name: &str, first: &Value, second: &Value) -> Option<Value> {
    Some(match (name, first, second) {
        ("contains", Value::Array(items), sought) => items
            .iter()
            .any(|item| equal_to_python(item, sought))
            .into(),
        ("contains", Value::String(text), Value::String(sought)) => text.contains(&**sought).into(),
        ("starts_with", Value::String(text), Value::String(sought)) => {
            text.starts_with(&**sought).into()
        }
        ("ends_with", Value::String(text), Value::String(sought)) => {
            text.ends_with(&**sought).into()
        }
        ("join", Value::String(separator), Value::Array(items)) => {
            let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            texts?.join(separator).into()
        }
        _ => return None,
    })
}

/// Functions of one value; `None` where they do not take it.
fn one(name: &str, value: Value) -> Result<Option<Value>, Fault> {
    Ok(Some(match (name, value) {
        ("type", value) => match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Int(_) | Value::Float(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
        .into(),
        ("to_array", value @ Value::Array(_)) => value,
        ("to_array", value) => Value::Array(vec![value]),
        ("to_string", value @ Value::String(_)) => value,
        ("to_string", value) => {
            let compact = Format {
                ensure_ascii: true,
                item_separator: ",".to_owned(),
                key_separator: ":".to_owned(),
                ..Format::compact()
            };
            compact.write(&value).into()
        }
        ("to_number", value @ (Value::Int(_) | Value::Float(_))) => value,
        ("to_number", Value::String(text)) => match (python::int(&text), python::float(&text)) {
            (Some(integer), _) => Value::Int(integer),
            (None, Some(float)) => Value::Float(float),
            (None, None) => Value::Null,
        },
        ("to_number", _) => Value::Null,
        ("abs", Value::Float(number)) => number.abs().into(),
        ("abs", Value::Int(number)) => {
            let digits = number.to_string();
            Integer::from_digits(digits.trim_start_matches('-')).map_or(Value::Null, Value::Int)
        }
        ("ceil" | "floor", value @ Value::Int(_)) => value,
        ("ceil" | "floor", Value::Float(number)) => {
            let whole = if name == "ceil" {
                number.ceil()
            } else {
                number.floor()
            };
            return Ok(Integer::from_float(whole).map(Value::Int));
        }
        ("length", Value::String(text)) => Value::count(text.chars().count()),
        ("length", Value::Array(items)) => Value::count(items.len()),
        ("length", Value::Object(members)) => Value::count(members.len()),
        ("reverse", Value::String(text)) => text.chars().rev().collect::<String>().into(),
        ("reverse", Value::Array(mut items)) => {
            items.reverse();
            items.into()
        }
        ("keys", Value::Object(members)) => Value::Array(
            members
                .keys()
                .map(|key| Value::from(key.as_str()))
                .collect(),
        ),
        ("values", Value::Object(members)) => Value::Array(members.into_values().collect()),
        ("sum", Value::Array(items)) if all_numbers(&items) => sum(&items)?,
        ("avg", Value::Array(items)) if all_numbers(&items) => {
            if items.is_empty() {
                return Ok(Some(Value::Null));
            }
            let count = items.len() as f64;
            match sum(&items)? {
                Value::Float(total) => (total / count).into(),
                total => (float(&total) / count).into(),
            }
        }
        ("max" | "min" | "sort", Value::Array(items)) => {
            let texts = items.iter().all(|item| matches!(item, Value::String(_)));
            if !texts && !all_numbers(&items) {
                return Ok(None);
            }
            if name == "sort" {
                return Ok(Some(sorted(
                    items.iter().cloned().zip(items.iter().cloned()).collect(),
                )));
            }
            extreme(name, items.iter().cloned().zip(items.iter().cloned()))
        }
        _ => return Ok(None),
    }))
}

/// `map`, `sort_by`, `min_by` and `max_by`.
fn by(
    evaluate: &mut Evaluate<'_>,
    name: &str,
    items: Vec<Value>,
    expression: &Ast,
) -> Result<Value, Option<Fault>> {
    let mut keyed = Vec::with_capacity(items.len());
    for item in items {
        let key = evaluate(expression, &item).map_err(Some)?;
        keyed.push((key, item));
    }
    if name == "map" {
        return Ok(Value::Array(
            keyed.into_iter().map(|(key, _)| key).collect(),
        ));
    }
    let texts = keyed.iter().all(|(key, _)| matches!(key, Value::String(_)));
    let numbers = keyed
        .iter()
        .all(|(key, _)| matches!(key, Value::Int(_) | Value::Float(_)));
    if !texts && !numbers {
        return Err(None);
    }
    Ok(match name {
        "sort_by" => sorted(keyed),
        _ => extreme(name, keyed.into_iter()),
    })
}

fn sorted(mut keyed: Vec<(Value, Value)>) -> Value {
    keyed.sort_by(|(a, _), (b, _)| order(a, b).unwrap_or(Ordering::Equal));
    Value::Array(keyed.into_iter().map(|(_, item)| item).collect())
}

/// The first of the greatest, or of the least; null where there is none.
fn extreme(name: &str, keyed: impl Iterator<Item = (Value, Value)>) -> Value {
    let wanted = if name.starts_with("max") {
        Ordering::Greater
    } else {
        Ordering::Less
    };
    let best = keyed.reduce(|best, next| {
        if order(&next.0, &best.0) == Some(wanted) {
            next
        } else {
            best
        }
    });
    best.map(|(_, item)| item).unwrap_or_default()
}

fn all_numbers(items: &[Value]) -> bool {
    items
        .iter()
        .all(|item| matches!(item, Value::Int(_) | Value::Float(_)))
}

/// Python's `sum`: of integers exact, of doubles from the first one on.
fn sum(items: &[Value]) -> Result<Value, Fault> {
    let too_large = || Fault::limit("the sum is of integers beyond 127 bits");
    let mut whole: i128 = 0;
    let mut float_total: Option<f64> = None;
    for item in items {
        match (item, float_total) {
            (item, Some(total)) => float_total = Some(total + float(item)),
            (Value::Int(integer), None) => {
                let next = integer.to_string().parse().ok();
                whole = next
                    .and_then(|next| whole.checked_add(next))
                    .ok_or_else(too_large)?;
            }
            (item, None) => float_total = Some(whole as f64 + float(item)),
        }
    }
    match float_total {
        Some(total) => Ok(total.into()),
        None => Ok(Integer::from_digits(&whole.to_string()).map_or(Value::Null, Value::Int)),
    }
}

fn float(value: &Value) -> f64 {
    match value {
        Value::Int(integer) => integer.to_string().parse().unwrap_or(f64::NAN),
        Value::Float(float) => *float,
        _ => f64::NAN,
    }
}
