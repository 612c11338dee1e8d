//! Schemas that say something by way of others: references, and schemas that hold together; and the names of the rules that are made of texts.

use crate::grammar::parts::referred;
use crate::value::{Map, Value};

/// A text as a part of a rule's name: its letters and digits, and a number that sets it apart.
pub(crate) fn named(text: &str) -> String {
    let word: String = text
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    let word: Vec<&str> = word.split('-').filter(|part| !part.is_empty()).collect();
    let sum = text.bytes().fold(0u32, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u32::from(byte))
    });
    let mut word = word.join("-");
    word.truncate(24);
    format!("{word}-{:x}", sum & 0xffff)
}

/// One of a union, with what stands beside the union.
pub(super) fn merged(schema: &Map, one: &Value, union: &str) -> Value {
    let mut beside = schema.clone();
    beside.shift_remove(union);
    match one {
        Value::Object(members) => {
            for (key, value) in members {
                beside.insert(key.clone(), value.clone());
            }
            Value::Object(beside)
        }
        other => other.clone(),
    }
}

/// Returns what two schemas ask for together, as far as members are concerned.
pub(super) fn both(all: Value, one: &Value, root: &Value) -> Value {
    let one = match one.get("$ref").and_then(Value::as_str) {
        Some(reference) => referred(root, reference).unwrap_or(one),
        None => one,
    };
    let (Value::Object(mut all), Value::Object(one)) = (all, one) else {
        return one.clone();
    };
    for (key, value) in one {
        match (all.get_mut(key.as_str()), value) {
            (Some(Value::Object(known)), Value::Object(more)) => {
                for (key, value) in more {
                    known.insert(key.clone(), value.clone());
                }
            }
            (Some(Value::Array(known)), Value::Array(more)) if key == "required" => {
                known.extend(more.iter().cloned());
            }
            _ => {
                all.insert(key.clone(), value.clone());
            }
        }
    }
    Value::Object(all)
}
