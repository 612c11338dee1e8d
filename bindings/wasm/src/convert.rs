//! Values on their way to JavaScript and back.

use js_sys::{Array, BigInt, JsString, Object, Reflect};
use obverse::value::json;
use obverse::value::{Map, Value};
use wasm_bindgen::prelude::*;

/// The largest integer up to which JavaScript's numbers are exact.
const SAFE: i64 = (1 << 53) - 1;

/// A value as JavaScript has it: an integer that its numbers cannot hold exactly is a `BigInt`.
pub(crate) fn to_js(value: &Value) -> JsValue {
    match value {
        Value::Null => JsValue::NULL,
        Value::Bool(value) => JsValue::from_bool(*value),
        Value::Int(integer) => match integer.as_i64() {
            Some(small) if (-SAFE..=SAFE).contains(&small) => JsValue::from_f64(small as f64),
            _ => {
                let digits = JsString::from(integer.to_string());
                BigInt::new(&digits).map_or(JsValue::NULL, JsValue::from)
            }
        },
        Value::Float(float) => JsValue::from_f64(*float),
        Value::String(text) => JsValue::from_str(text),
        Value::Array(items) => items.iter().map(to_js).collect::<Array>().into(),
        Value::Object(members) => object(members),
    }
}

/// An object with the members of a map. `__proto__` is a key like any other.
pub(crate) fn object(members: &Map) -> JsValue {
    let entries: Array = members
        .iter()
        .map(|(key, value)| Array::of2(&JsValue::from_str(key), &to_js(value)))
        .collect();
    Object::from_entries(&entries).map_or(JsValue::NULL, JsValue::from)
}

/// What serializes to JSON, as JavaScript has it.
pub(crate) fn written(value: &impl serde::Serialize) -> Result<JsValue, JsValue> {
    let text =
        serde_json::to_string(value).map_err(|error| failed("failed", &error.to_string()))?;
    let value = json::parse(&text).map_err(|error| failed("failed", &error.message()))?;
    Ok(to_js(&value))
}

/// An `Error` with a `kind`, and whatever else is known.
pub(crate) fn error(message: &str, members: &Map) -> JsValue {
    let error = js_sys::Error::new(message);
    error.set_name("ObverseError");
    for (key, value) in members {
        if !["message", "name", "stack", "__proto__"].contains(&&**key) {
            // An error takes members like any object.
            let _ = Reflect::set(&error, &JsValue::from_str(key), &to_js(value));
        }
    }
    error.into()
}

/// An `Error` of that kind.
pub(crate) fn failed(kind: &str, message: &str) -> JsValue {
    let mut members = Map::new();
    members.insert("kind", Value::from(kind));
    error(message, &members)
}
