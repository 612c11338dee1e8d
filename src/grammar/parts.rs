//! The schema of a tool's arguments, taken apart for formats that write one argument at a time.

use crate::value::{Map, Value};

/// The values that a schema lists; `None` where it lists none.
pub(super) fn literals(schema: &Value) -> Option<Vec<Value>> {
    match (
        schema.get("const"),
        schema.get("enum").and_then(Value::as_array),
    ) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(values)) => Some(values.to_vec()),
        (None, None) => None,
    }
}

/// The schema of the members that an object's schema does not declare, by its `additionalProperties` and whether it declares any at all;
/// `None` where there may be none.
pub(super) fn undeclared(additional: Option<&Value>, declares: bool) -> Option<Value> {
    match additional {
        Some(allowed @ (Value::Bool(true) | Value::Object(_))) => Some(allowed.clone()),
        None if !declares => Some(Value::Bool(true)),
        _ => None,
    }
}

/// A part of a schema as a schema of its own, with what its references lead into.
pub(super) fn standing_alone(schema: &Value, root: &Value) -> Value {
    let (Value::Object(part), Value::Object(root)) = (schema, root) else {
        return schema.clone();
    };
    let mut whole = part.clone();
    for key in ["$defs", "definitions"] {
        if let Some(definitions) = root.get(key) {
            whole.insert(key, definitions.clone());
        }
    }
    Value::Object(whole)
}

/// Returns what a reference within a document leads to.
pub(crate) fn referred<'v>(root: &'v Value, reference: &str) -> Option<&'v Value> {
    let path = reference.strip_prefix('#')?;
    path.split('/').skip(1).try_fold(root, |value, step| {
        let step = step.replace("~1", "/").replace("~0", "~");
        match value {
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            value => value.get(&step),
        }
    })
}

/// The types that a schema takes, each with what it asks of a value of that type.
pub(super) fn typed(schema: &Value, root: &Value, depth: usize) -> Vec<(&'static str, Value)> {
    const TYPES: [&str; 7] = [
        "string", "integer", "number", "boolean", "null", "array", "object",
    ];
    let known = |name: &str| TYPES.into_iter().find(|known| *known == name);
    if depth > 8 {
        return vec![("string", schema.clone())];
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str)
        && let Some(found) = referred(root, reference)
    {
        return typed(found, root, depth + 1);
    }
    for union in ["anyOf", "oneOf"] {
        if let Some(schemas) = schema.get(union).and_then(Value::as_array) {
            let all = schemas.iter().flat_map(|one| typed(one, root, depth + 1));
            return all.collect();
        }
    }
    if let Some(values) = literals(schema) {
        let mut all: Vec<(&'static str, Value)> = Vec::new();
        for value in values {
            let of = value.schema_type();
            let one = Value::Object(Map::from_iter([("const".to_owned(), value)]));
            all.push((of, one));
        }
        return all;
    }
    let null = schema.get("nullable").is_some_and(Value::is_truthy);
    let null = null.then(|| ("null", Value::Object(Map::new())));
    let each = |name: &str| known(name).map(|name| (name, with_type(schema, name)));
    let named: Vec<(&'static str, Value)> = match schema.get("type") {
        Some(Value::String(name)) => each(name).into_iter().collect(),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .filter_map(each)
            .collect(),
        _ if schema.get("properties").is_some() => vec![("object", schema.clone())],
        _ if schema.get("items").is_some() => vec![("array", schema.clone())],
        _ => vec![("string", schema.clone())],
    };
    named.into_iter().chain(null).collect()
}

fn with_type(schema: &Value, name: &str) -> Value {
    let Value::Object(members) = schema else {
        return schema.clone();
    };
    let mut members = members.clone();
    members.insert("type", Value::from(name));
    Value::Object(members)
}

/// The schema with the members of objects in the order of their names.
pub(super) fn sorted(schema: Value) -> Value {
    match schema {
        Value::Object(members) => {
            let members = members.into_iter().map(|(key, value)| {
                let value = match (key.as_str(), value) {
                    ("properties", Value::Object(properties)) => {
                        let each = properties.into_iter();
                        let mut properties: Map = each
                            .map(|(key, value)| (key.to_string(), sorted(value)))
                            .collect();
                        properties.sort_keys();
                        Value::Object(properties)
                    }
                    ("enum" | "const", value) => value,
                    (_, value) => sorted(value),
                };
                (key.to_string(), value)
            });
            Value::Object(members.collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}
