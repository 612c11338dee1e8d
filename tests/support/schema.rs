//! JSON Schema, as far as the project's own schemas use it. A keyword that is not known here fails the test.

use serde_json::Value;

/// What keeps a value from being one of the schema's; `None` when nothing does.
pub(crate) fn mismatch(root: &Value, value: &Value) -> Option<String> {
    check(root, root, value, "$")
}

fn check(root: &Value, schema: &Value, value: &Value, path: &str) -> Option<String> {
    let members = match schema {
        Value::Bool(true) => return None,
        Value::Bool(false) => return Some(format!("{path}: nothing may stand there")),
        Value::Object(members) => members,
        _ => panic!("{path}: not a schema: {schema}"),
    };
    let object = value.as_object();
    let is = |schema: &Value| check(root, schema, value, path).is_none();
    for (keyword, of) in members {
        let wrong = match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" | "default" | "format"
            | "then" | "else" => None,
            "$ref" => {
                let pointer = of
                    .as_str()
                    .and_then(|of| of.strip_prefix('#'))
                    .expect("local");
                check(
                    root,
                    root.pointer(pointer).expect("a definition"),
                    value,
                    path,
                )
            }
            "type" => {
                let types: Vec<&str> = match of {
                    Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
                    of => of.as_str().into_iter().collect(),
                };
                let found = types.into_iter().any(|name| is_of(name, value));
                (!found).then(|| format!("{path}: not {of}"))
            }
            "const" => (value != of).then(|| format!("{path}: not {of}")),
            "enum" => {
                let found = of.as_array().expect("a list").contains(value);
                (!found).then(|| format!("{path}: none of {of}"))
            }
            "minLength" => value
                .as_str()
                .filter(|text| (text.chars().count() as u64) < of.as_u64().unwrap_or(0))
                .map(|_| format!("{path}: too short")),
            "minItems" => value
                .as_array()
                .filter(|items| (items.len() as u64) < of.as_u64().unwrap_or(0))
                .map(|_| format!("{path}: too few")),
            "maxItems" => value
                .as_array()
                .filter(|items| items.len() as u64 > of.as_u64().unwrap_or(0))
                .map(|_| format!("{path}: too many")),
            "minProperties" => object
                .filter(|object| (object.len() as u64) < of.as_u64().unwrap_or(0))
                .map(|_| format!("{path}: too few")),
            "minimum" => value
                .as_f64()
                .filter(|number| *number < of.as_f64().unwrap_or(0.0))
                .map(|_| format!("{path}: too small")),
            "items" => value.as_array().and_then(|items| {
                items
                    .iter()
                    .enumerate()
                    .find_map(|(at, item)| check(root, of, item, &format!("{path}[{at}]")))
            }),
            "properties" => object.and_then(|object| {
                of.as_object()
                    .expect("an object")
                    .iter()
                    .find_map(|(key, of)| {
                        check(root, of, object.get(key)?, &format!("{path}.{key}"))
                    })
            }),
            "additionalProperties" => object.and_then(|object| {
                let known = members.get("properties").and_then(Value::as_object);
                let known = |key: &str| known.is_some_and(|known| known.contains_key(key));
                object
                    .iter()
                    .filter(|(key, _)| !known(key))
                    .find_map(|(key, member)| check(root, of, member, &format!("{path}.{key}")))
            }),
            "required" => object.and_then(|object| {
                of.as_array()
                    .expect("a list")
                    .iter()
                    .filter_map(Value::as_str)
                    .find(|key| !object.contains_key(*key))
                    .map(|key| format!("{path}: {key} is missing"))
            }),
            "not" => is(of).then(|| format!("{path}: what must not be")),
            "allOf" => all(of).find_map(|of| check(root, of, value, path)),
            "anyOf" => (!all(of).any(is)).then(|| format!("{path}: none of several")),
            "oneOf" => (all(of).filter(|of| is(of)).count() != 1)
                .then(|| format!("{path}: not one of several")),
            "if" => {
                let branch = members.get(if is(of) { "then" } else { "else" });
                branch.and_then(|of| check(root, of, value, path))
            }
            other => panic!("{path}: the keyword {other} is not known"),
        };
        if wrong.is_some() {
            return wrong;
        }
    }
    None
}

fn all(schemas: &Value) -> impl Iterator<Item = &Value> {
    schemas.as_array().expect("a list").iter()
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("no type {other}"),
    }
}
