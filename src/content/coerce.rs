//! Tool arguments in the types that the tools' JSON schemas declare: formats that write every argument as text lose
//! them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::value::{Integer, Value, json, python};

/// The types that the tools of a conversation declare for their arguments.
#[derive(Debug, Clone, Default)]
pub struct ToolSchemas {
    /// For each tool its parameters, for each parameter its types in the order in which they are tried; nothing where no tool is named.
    tools: Option<Arc<HashMap<String, Types>>>,
}

/// A type of JSON Schema that text can be coerced to. `string` is none: text is one already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Integer,
    Number,
    Boolean,
    Null,
    Object,
    Array,
}

impl ToolSchemas {
    /// Reads the schemas from tools as a chat template takes them: objects with a `function`, or the function itself.
    /// A tool that is neither, or that has no name, declares nothing; of two tools of one name the later counts.
    pub fn from_tools(tools: &[Value]) -> Self {
        if tools.is_empty() {
            return Self::default();
        }
        let mut schemas = HashMap::new();
        for tool in tools.iter().filter_map(Value::as_object) {
            let function = match tool.get("function") {
                Some(function) => function.as_object(),
                None => Some(tool),
            };
            let Some(function) = function else { continue };
            let Some(name) = function.get("name").and_then(Value::as_str) else {
                continue;
            };
            let properties = function
                .get("parameters")
                .and_then(|parameters| parameters.get("properties"));
            let types = properties.and_then(Value::as_object).map(|properties| {
                let types = |schema| {
                    let mut types = Vec::new();
                    declared_types(schema, &mut types);
                    types
                };
                Types(
                    properties
                        .iter()
                        .map(|(name, schema)| (name.to_string(), types(schema)))
                        .collect(),
                )
            });
            schemas.insert(name.to_owned(), types.unwrap_or_default());
        }
        Self {
            tools: (!schemas.is_empty()).then(|| Arc::new(schemas)),
        }
    }

    /// Returns true if no tool was named.
    pub fn is_empty(&self) -> bool {
        self.tools.is_none()
    }

    /// The value of a region with the arguments of its tool calls in their declared types. A tool call is an object
    /// with a `function` that has a `name` and an object of `arguments`, alone or in lists; anything else stays as it is,
    /// and so does an argument whose text is of none of its types.
    ///
    /// ```
    /// use obverse::content::ToolSchemas;
    /// use obverse::value::json;
    /// let tools = json::parse(
    ///     r#"[{"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}}]"#,
    /// ).unwrap();
    /// let call = json::parse(r#"{"function": {"name": "f", "arguments": {"n": "3"}}}"#).unwrap();
    /// let coerced = ToolSchemas::from_tools(tools.as_array().unwrap()).coerce(call);
    /// assert_eq!(json::to_string(&coerced), r#"{"function": {"name": "f", "arguments": {"n": 3}}}"#);
    /// ```
    #[must_use]
    pub fn coerce(&self, mut value: Value) -> Value {
        self.coerce_in_place(&mut value);
        value
    }

    /// The types of the arguments of a tool; `None` where nothing is known of the tool.
    pub(crate) fn of_tool(&self, name: &str) -> Option<&Types> {
        self.tools.as_ref()?.get(name)
    }

    fn coerce_in_place(&self, value: &mut Value) {
        let members = match value {
            Value::Array(items) => {
                return items.iter_mut().for_each(|item| self.coerce_in_place(item));
            }
            Value::Object(members) => members,
            _ => return,
        };
        let Some(Value::Object(function)) = members.get_mut("function") else {
            return;
        };
        let Some(parameters) = function
            .get("name")
            .and_then(Value::as_str)
            .and_then(|name| self.of_tool(name))
        else {
            return;
        };
        let Some(Value::Object(arguments)) = function.get_mut("arguments") else {
            return;
        };
        for (name, argument) in arguments {
            parameters.coerce(name, argument);
        }
    }
}

/// The types of one tool's arguments.
#[derive(Debug, Clone, Default)]
pub(crate) struct Types(HashMap<String, Vec<Type>>);

impl Types {
    /// The types that text given for the argument may become, in the order in which they are tried; empty where it stays text.
    pub(crate) fn of(&self, name: &str) -> &[Type] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Gives an argument its type.
    pub(crate) fn coerce(&self, name: &str, argument: &mut Value) {
        let types = self.of(name);
        if types.is_empty() {
            return;
        }
        let coerce = |value: &mut Value| {
            if let Some(coerced) = value.as_str().and_then(|raw| coerce_text(raw, types)) {
                *value = coerced;
            }
        };
        match argument {
            Value::String(_) => coerce(argument),
            // Values that `merge_duplicates` gathered: each is one value of the declared type.
            Value::Array(items) if !types.contains(&Type::Array) => {
                items.iter_mut().for_each(coerce)
            }
            _ => {}
        }
    }
}

impl Type {
    /// Returns true if a text that begins so can still be of the type. It never says no of one that can, and may say yes of one that cannot.
    pub(crate) fn may_begin(self, beginning: &str) -> bool {
        let text = beginning.trim_start_matches(python::is_space);
        let Some(first) = text.chars().next() else {
            return true;
        };
        // White space behind the word does not count.
        let text = text.trim_end_matches(python::is_space);
        match self {
            // `int` and `float` take signs, digits of any script, `inf` and `nan`.
            Self::Integer | Self::Number => {
                !first.is_alphabetic() || matches!(first, 'i' | 'I' | 'n' | 'N')
            }
            Self::Boolean => {
                let text = text.to_ascii_lowercase();
                ["true", "false", "1", "0"]
                    .iter()
                    .any(|word| word.starts_with(&text))
            }
            Self::Null => ["null", "None"].iter().any(|word| word.starts_with(text)),
            Self::Object => first == '{',
            Self::Array => first == '[',
        }
    }
}

/// Adds the types that a JSON schema declares, each once, in the order in which the reference tries them: `type`, those
/// of `anyOf` and `oneOf`, and `null` for `nullable`.
fn declared_types(schema: &Value, types: &mut Vec<Type>) {
    let Value::Object(schema) = schema else {
        return;
    };
    let mut add = |name: &str| {
        let declared = match name {
            "integer" => Type::Integer,
            "number" => Type::Number,
            "boolean" => Type::Boolean,
            "null" => Type::Null,
            "object" => Type::Object,
            "array" => Type::Array,
            _ => return,
        };
        if !types.contains(&declared) {
            types.push(declared);
        }
    };
    match schema.get("type") {
        Some(Value::String(name)) => add(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).for_each(&mut add),
        _ => {}
    }
    for union in ["anyOf", "oneOf"] {
        for choice in schema
            .get(union)
            .and_then(Value::as_array)
            .unwrap_or_default()
        {
            declared_types(choice, types);
        }
    }
    if schema.get("nullable").is_some_and(Value::is_truthy) && !types.contains(&Type::Null) {
        types.push(Type::Null);
    }
}

/// Returns true if the text becomes this value, which is no text, where the tools declare its type.
pub(crate) fn is_coerced(raw: &str, value: &Value) -> bool {
    let declared = match value {
        Value::Null => Type::Null,
        Value::Bool(_) => Type::Boolean,
        Value::Int(_) => Type::Integer,
        Value::Float(_) => Type::Number,
        Value::Array(_) => Type::Array,
        Value::Object(_) => Type::Object,
        Value::String(_) => return false,
    };
    coerce_text(raw, &[declared]).as_ref() == Some(value)
}

/// The text as the first of the types that it can be; `None` when it stays text.
fn coerce_text(raw: &str, types: &[Type]) -> Option<Value> {
    types.iter().find_map(|declared| match declared {
        // JSON Schema's integers include whole numbers written with a fraction or an exponent.
        Type::Integer => python::int(raw)
            .or_else(|| python::float(raw).and_then(Integer::from_float))
            .map(Value::Int),
        Type::Number => {
            let number = python::float(raw).filter(|number| number.is_finite())?;
            // Through the double, as there: digits beyond its precision are lost even for whole numbers.
            let whole = if raw.contains('.') {
                None
            } else {
                Integer::from_float(number)
            };
            Some(whole.map_or(Value::Float(number), Value::Int))
        }
        Type::Boolean => match python::strip(raw).to_ascii_lowercase().as_str() {
            "true" | "1" => Some(Value::Bool(true)),
            "false" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        Type::Null => matches!(python::strip(raw), "null" | "None").then_some(Value::Null),
        Type::Object => json::parse(raw)
            .ok()
            .filter(|value| value.as_object().is_some()),
        Type::Array => json::parse(raw)
            .ok()
            .filter(|value| value.as_array().is_some()),
    })
}
