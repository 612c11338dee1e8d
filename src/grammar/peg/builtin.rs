//! The values that every grammar knows: JSON's and Python's, as rules.
//!
//! A grammar that has a rule of one of these names means its own: with a `json-string` that takes either quote, `json` does so too.

/// A value that every grammar knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Builtin {
    /// A JSON value.
    Json,
    /// A JSON object.
    JsonObject,
    /// A JSON list.
    JsonArray,
    /// A JSON string.
    JsonString,
    /// A JSON number.
    JsonNumber,
    /// `true` or `false`.
    JsonBool,
    /// `null`.
    JsonNull,
    /// A Python literal.
    Python,
    /// A Python dict.
    PythonDict,
    /// A Python list or tuple.
    PythonList,
    /// A Python string in either quotes.
    PythonString,
    /// A Python number.
    PythonNumber,
    /// `True` or `False`.
    PythonBool,
    /// `None`.
    PythonNone,
}

impl Builtin {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Json,
        Self::JsonObject,
        Self::JsonArray,
        Self::JsonString,
        Self::JsonNumber,
        Self::JsonBool,
        Self::JsonNull,
        Self::Python,
        Self::PythonDict,
        Self::PythonList,
        Self::PythonString,
        Self::PythonNumber,
        Self::PythonBool,
        Self::PythonNone,
    ];

    /// The name in documents and prints, such as `json_object`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::JsonObject => "json_object",
            Self::JsonArray => "json_array",
            Self::JsonString => "json_string",
            Self::JsonNumber => "json_number",
            Self::JsonBool => "json_bool",
            Self::JsonNull => "json_null",
            Self::Python => "python",
            Self::PythonDict => "python_dict",
            Self::PythonList => "python_list",
            Self::PythonString => "python_string",
            Self::PythonNumber => "python_number",
            Self::PythonBool => "python_bool",
            Self::PythonNone => "python_none",
        }
    }

    /// The name of the rule, such as `json-object`; that of any JSON value is `json-value`.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Json => "json-value",
            Self::JsonObject => "json-object",
            Self::JsonArray => "json-array",
            Self::JsonString => "json-string",
            Self::JsonNumber => "json-number",
            Self::JsonBool => "json-bool",
            Self::JsonNull => "json-null",
            Self::Python => "python-value",
            Self::PythonDict => "python-dict",
            Self::PythonList => "python-list",
            Self::PythonString => "python-string",
            Self::PythonNumber => "python-number",
            Self::PythonBool => "python-bool",
            Self::PythonNone => "python-none",
        }
    }
}
