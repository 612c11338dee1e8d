//! The values that messages, response templates and chat template inputs are made of: what Python's `json`
//! module reads and writes.
//!
//! `serde_json::Value` is not enough here: the reference keeps integers of any size exactly and reads and writes
//! `NaN` and `Infinity`, and both must come through unchanged. [`json`] reads and writes them as Python's `json` module
//! does; [`python`] holds what else of Python's spelling shows in results.
//!
//! A value that was read nests at most [`json::MAX_DEPTH`] deep, so walking it may recurse. Whoever builds values by hand
//! keeps to the same depth.

mod convert;
mod identity;
mod integer;
pub mod json;
mod map;
mod path;
pub mod python;
mod quote;
mod write;

pub use convert::ConversionError;
pub(crate) use identity::are_identical;
pub use integer::Integer;
pub use map::{Iter, IterMut, Key, Map};
pub use path::{Path, Step};

/// A JSON value as Python sees it.
#[derive(Debug, Clone, Default)]
pub enum Value {
    /// `null`, Python's `None`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of any size.
    Int(Integer),
    /// A double, `NaN` and the infinities included.
    Float(f64),
    /// A string.
    String(String),
    /// A list.
    Array(Vec<Value>),
    /// An object; keys keep their order.
    Object(Map),
}

/// Values are equal when Python would write the same JSON for them: an integer is never equal to a float, `NaN` is
/// equal to itself, and the order of an object's keys does not matter.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::Object(a), Self::Object(b)) => a == b,
            _ => false,
        }
    }
}

impl Value {
    /// The string, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The object, if this is one.
    pub fn as_object(&self) -> Option<&Map> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// The list, if this is one.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The member `key` of an object; `None` for a missing key and for anything that is not an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object().and_then(|map| map.get(key))
    }

    /// Returns true if Python takes the value for true.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => *value,
            Self::Int(value) => *value != Integer::from(0),
            Self::Float(value) => *value != 0.0,
            Self::String(text) => !text.is_empty(),
            Self::Array(items) => !items.is_empty(),
            Self::Object(map) => !map.is_empty(),
        }
    }

    /// A count or an offset.
    pub fn count(number: usize) -> Self {
        Self::from(i64::try_from(number).unwrap_or(i64::MAX))
    }

    /// The kind of JSON that the value is, with its article: `null`, `a list`, ...
    pub fn json_kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Float(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    /// The name of the value's type as JSON Schema spells it: `integer` for whole numbers, `object`, ...
    ///
    /// ```
    /// use obverse::value::Value;
    /// assert_eq!(Value::from(2).schema_type(), "integer");
    /// assert_eq!(Value::from(2.0).schema_type(), "number");
    /// ```
    pub fn schema_type(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Int(_) => "integer",
            Self::Float(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// The name of the value's type as Python spells it: `dict`, `str`, `NoneType`, ...
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::String(_) => "str",
            Self::Array(_) => "list",
            Self::Object(_) => "dict",
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(Integer::from(value))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::Array(items)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Object(map)
    }
}
