//! Equality and order of values: JMESPath's own, and Python's where its package leaves it to that.

use std::cmp::Ordering;

use super::{Comparator, Fault};
use crate::value::{Integer, Value};

/// Compares two values; null where they have no order.
pub(super) fn compare(comparator: Comparator, left: &Value, right: &Value) -> Result<Value, Fault> {
    let ordered = |wanted: fn(Ordering) -> bool| match (left, right) {
        (Value::String(a), Value::String(b)) => Ok(Value::Bool(wanted(a.cmp(b)))),
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            // Nothing has an order beside NaN.
            Ok(Value::Bool(order(left, right).is_some_and(wanted)))
        }
        (
            Value::Int(_) | Value::Float(_) | Value::String(_),
            Value::Int(_) | Value::Float(_) | Value::String(_),
        ) => Err(Fault::new("a text and a number have no order")),
        _ => Ok(Value::Null),
    };
    match comparator {
        Comparator::Equal => Ok(Value::Bool(equal(left, right))),
        Comparator::Unequal => Ok(Value::Bool(!equal(left, right))),
        Comparator::Less => ordered(Ordering::is_lt),
        Comparator::LessOrEqual => ordered(Ordering::is_le),
        Comparator::Greater => ordered(Ordering::is_gt),
        Comparator::GreaterOrEqual => ordered(Ordering::is_ge),
    }
}

/// Equality as JMESPath has it, to which a boolean is no number. Python's, below the first level, says otherwise.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Bool(_), Value::Int(_) | Value::Float(_))
        | (Value::Int(_) | Value::Float(_), Value::Bool(_)) => false,
        _ => equal_to_python(left, right),
    }
}

/// Python's `==`.
pub(super) fn equal_to_python(left: &Value, right: &Value) -> bool {
    let number = |value: &Value| match value {
        Value::Bool(value) => Value::from(i64::from(*value)),
        other => other.clone(),
    };
    match (left, right) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal_to_python(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| {
                    b.get(key)
                        .is_some_and(|other| equal_to_python(value, other))
                })
        }
        (
            Value::Bool(_) | Value::Int(_) | Value::Float(_),
            Value::Bool(_) | Value::Int(_) | Value::Float(_),
        ) => order(&number(left), &number(right)) == Some(Ordering::Equal),
        _ => left == right,
    }
}

/// Returns the order of two texts or two numbers; `None` for NaN and for values of other types.
pub(super) fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Int(a), Value::Int(b)) => Some(match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => order_of_digits(&a.to_string(), &b.to_string()),
        }),
        (Value::Int(integer), Value::Float(float)) => order_of_kinds(integer, *float),
        (Value::Float(float), Value::Int(integer)) => {
            order_of_kinds(integer, *float).map(Ordering::reverse)
        }
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        _ => None,
    }
}

/// An integer beside a double, exactly.
fn order_of_kinds(integer: &Integer, float: f64) -> Option<Ordering> {
    if !float.is_finite() {
        return 0f64.partial_cmp(&float);
    }
    let whole = Integer::from_float(float.floor())?;
    let order = order_of_digits(&integer.to_string(), &whole.to_string());
    Some(if order.is_eq() && float.fract() != 0.0 {
        Ordering::Less
    } else {
        order
    })
}

/// The order of two integers by their digits.
fn order_of_digits(a: &str, b: &str) -> Ordering {
    let sign = |text: &str| text.starts_with('-');
    match (sign(a), sign(b)) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
        (true, true) => b.len().cmp(&a.len()).then_with(|| b.cmp(a)),
    }
}
