//! The tool that is called in made-up responses, and its arguments.

use super::TOOL;
use crate::value::{Map, Value, json};

/// The arguments: their names, types and values. The names are none that another begins with, and not in the order of the alphabet.
const ARGUMENTS: [(&str, &str, &str); 7] = [
    ("zetext", "string", "\"Quokka\""),
    ("yecount", "integer", "3"),
    ("xratio", "number", "1.5"),
    ("wflag", "boolean", "true"),
    ("vitems", "array", "[1, 2]"),
    ("utobject", "object", "{\"k\": 1}"),
    ("tnone", "null", "null"),
];

/// The tools, as a chat template takes them.
pub(super) fn tools() -> Vec<Value> {
    let properties = ARGUMENTS.iter().map(|(name, of, _)| {
        let schema = Map::from_iter([("type".to_owned(), Value::from(*of))]);
        ((*name).to_owned(), Value::Object(schema))
    });
    let properties = Value::Object(properties.collect());
    let parameters = Map::from_iter([
        ("type".to_owned(), Value::from("object")),
        ("properties".to_owned(), properties),
    ]);
    let function = Map::from_iter([
        ("name".to_owned(), Value::from(TOOL)),
        ("parameters".to_owned(), Value::Object(parameters)),
    ]);
    let function = [("function".to_owned(), Value::Object(function))];
    vec![Value::Object(Map::from_iter(function))]
}

/// All arguments.
pub(super) fn all() -> Map {
    let each = ARGUMENTS.iter().map(|(name, _, value)| {
        let value = json::parse(value).unwrap_or_default();
        ((*name).to_owned(), value)
    });
    each.collect()
}

/// The call with these arguments.
pub(super) fn call(arguments: &Map) -> Value {
    let function = Map::from_iter([
        ("name".to_owned(), Value::from(TOOL)),
        ("arguments".to_owned(), Value::Object(arguments.clone())),
    ]);
    Value::Object(Map::from_iter([(
        "function".to_owned(),
        Value::Object(function),
    )]))
}

/// The calls in a value: the value itself, or what is in the list, and in lists in it.
pub(super) fn flat(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        other => vec![other],
    }
}

/// Returns true if the value is the call of the tool with these arguments.
pub(super) fn is_call(value: &Value, arguments: &Map) -> bool {
    let Some(function) = value.get("function") else {
        return false;
    };
    let found = match function.get("arguments") {
        Some(Value::String(text)) => json::parse(text).ok(),
        other => other.cloned(),
    };
    function.get("name").and_then(Value::as_str) == Some(TOOL)
        && found == Some(Value::Object(arguments.clone()))
}
