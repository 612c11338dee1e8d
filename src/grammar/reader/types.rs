//! Arguments in the types that the tools' schemas declare.
//!
//! A grammar that is made for given tools says of each argument how its values are written. One that reads calls of any tool takes an
//! argument for what it looks like: `5` between two tags is a number. Who knows the tools knows better.

use std::collections::HashMap;

use super::python;
use crate::grammar::parts::typed;
use crate::value::{Value, json};

/// The types of the arguments of tools, as JSON Schema calls them.
#[derive(Debug, Clone, Default)]
pub(super) struct Types(HashMap<String, HashMap<String, Vec<&'static str>>>);

/// The keywords of which one at least says what type a value has.
const TELLING: [&str; 8] = [
    "type",
    "anyOf",
    "oneOf",
    "enum",
    "const",
    "$ref",
    "properties",
    "items",
];

impl Types {
    /// Reads the schemas of tools as a chat template takes them. Of two tools of one name the later counts.
    pub(super) fn of(tools: &[Value]) -> Self {
        let tool = |tool: &Value| {
            let function = tool.get("function").unwrap_or(tool);
            let name = function.get("name").and_then(Value::as_str)?;
            let parameters = function.get("parameters")?;
            let properties = parameters.get("properties").and_then(Value::as_object)?;
            let told = properties
                .iter()
                .filter(|(_, schema)| TELLING.iter().any(|keyword| schema.get(keyword).is_some()));
            let types = told.map(|(key, schema)| {
                let types = typed(schema, parameters, 0).into_iter();
                (key.to_string(), types.map(|(of, _)| of).collect())
            });
            Some((name.to_owned(), types.collect()))
        };
        Self(tools.iter().filter_map(tool).collect())
    }

    /// The value of an argument, which stands in the response as `raw` where that is told.
    pub(super) fn fit(&self, tool: &str, argument: &str, value: Value, raw: Option<&str>) -> Value {
        let types = self.0.get(tool).and_then(|types| types.get(argument));
        let Some(types) = types else {
            return value;
        };
        let fits = |value: &Value| {
            let of = value.schema_type();
            types.contains(&of) || (of == "integer" && types.contains(&"number"))
        };
        if fits(&value) {
            return value;
        }
        if let (Some(raw), true) = (raw, types.contains(&"string")) {
            return Value::from(raw);
        }
        let read = value.as_str().and_then(|text| {
            let text = text.trim();
            json::parse(text).ok().or_else(|| python::parse(text).ok())
        });
        read.filter(fits).unwrap_or(value)
    }
}
