//! The document in plain form: to fill in and to write.

use indexmap::IndexMap;
use serde::{Serialize, Serializer};

use crate::text::escape;
use crate::value::json::Format;
use crate::value::{Map, Value};

/// A response template to be written. Its keys come out in one order, and those that are absent do not come out.
///
/// Nothing is checked here: [`super::ResponseTemplate::from_value`] of [`Document::to_value`] tells whether it is valid.
///
/// ```
/// use obverse::response_template::{Delimiter, Document, FieldDocument};
/// let mut document = Document::new(Delimiter::literal("<|im_start|>assistant\n"));
/// document.fields.insert("content".to_owned(), FieldDocument {
///     close: Some(Delimiter::literal("<|im_end|>")),
///     ..FieldDocument::default()
/// });
/// assert_eq!(document.to_json(), r#"{
///   "start_anchor": "<|im_start|>assistant\n",
///   "fields": {
///     "content": {
///       "close": "<|im_end|>"
///     }
///   }
/// }
/// "#);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The message before anything is parsed; absent when empty.
    pub defaults: Map,
    /// The delimiter that marks the start of the model's turn.
    pub start_anchor: Delimiter,
    /// The fields by the keys of the message that they fill.
    pub fields: IndexMap<String, FieldDocument>,
}

/// One field of a [`Document`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldDocument {
    /// The delimiter that opens its region.
    pub open: Option<Delimiter>,
    /// The delimiter that closes its region.
    pub close: Option<Delimiter>,
    /// True if its values make a list; absent when false.
    pub repeats: bool,
    /// The text to put between its values.
    pub join: Option<String>,
    /// True if a message without it is complete; absent means yes.
    pub optional: Option<bool>,
    /// The name of its content parser; absent means `text`.
    pub content: Option<String>,
    /// The arguments of its content parser; absent when empty.
    pub content_args: Map,
    /// The value to make of the parsed content and the captures.
    pub transform: Option<Value>,
    /// True if the transform is for each item of the value; absent when false.
    pub transform_each: bool,
}

/// A text that opens or closes a region: `open`, `close` or `start_anchor`, or one of these with `_pattern` behind its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delimiter {
    /// Any of these texts. One is written as a string, several as a list.
    Literals(Vec<String>),
    /// The texts that this pattern matches, in the syntax of Python's `regex` module.
    Pattern(String),
}

impl Delimiter {
    /// One literal.
    pub fn literal(text: impl Into<String>) -> Self {
        Self::Literals(vec![text.into()])
    }

    /// A pattern.
    pub fn pattern(source: impl Into<String>) -> Self {
        Self::Pattern(source.into())
    }

    /// The delimiter as a pattern: its own, or one for its literals.
    pub(crate) fn as_pattern(&self) -> String {
        match self {
            Self::Pattern(source) => source.clone(),
            Self::Literals(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| escape(text)).collect();
                match texts.as_slice() {
                    [one] => one.clone(),
                    several => format!("(?:{})", several.join("|")),
                }
            }
        }
    }

    /// The delimiter under one of its two keys.
    fn read(key: &str, members: &Map) -> Option<Self> {
        if let Some(source) = members.get(&format!("{key}_pattern")) {
            return source.as_str().map(Self::pattern);
        }
        match members.get(key)? {
            Value::String(text) => Some(Self::literal(text.as_str())),
            Value::Array(items) => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                texts.collect::<Option<_>>().map(Self::Literals)
            }
            _ => None,
        }
    }

    fn write(&self, key: &str, members: &mut Map) {
        let (key, value) = match self {
            Self::Pattern(source) => (format!("{key}_pattern"), Value::from(source.as_str())),
            Self::Literals(texts) => (
                key.to_owned(),
                match texts.as_slice() {
                    [text] => Value::from(text.as_str()),
                    texts => Value::Array(
                        texts
                            .iter()
                            .map(|text| Value::from(text.as_str()))
                            .collect(),
                    ),
                },
            ),
        };
        members.insert(key, value);
    }
}

impl Document {
    /// A document without fields.
    pub fn new(start_anchor: Delimiter) -> Self {
        Self {
            defaults: Map::new(),
            start_anchor,
            fields: IndexMap::new(),
        }
    }

    /// The plain form of a valid document; `None` for one that is not. What stands there only to say the default is left out.
    pub fn of(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        let defaults = members.get("defaults").and_then(Value::as_object);
        let fields = members.get("fields")?.as_object()?;
        Some(Self {
            defaults: defaults.cloned().unwrap_or_default(),
            start_anchor: Delimiter::read("start_anchor", members)?,
            fields: fields
                .iter()
                .map(|(name, field)| Some((name.to_string(), FieldDocument::of(field)?)))
                .collect::<Option<_>>()?,
        })
    }

    /// The document as a value: `defaults`, the anchor, `fields`.
    pub fn to_value(&self) -> Value {
        let mut members = Map::new();
        if !self.defaults.is_empty() {
            members.insert("defaults".to_owned(), Value::Object(self.defaults.clone()));
        }
        self.start_anchor.write("start_anchor", &mut members);
        let fields = self
            .fields
            .iter()
            .map(|(name, field)| (name.clone(), field.to_value()))
            .collect();
        members.insert("fields".to_owned(), Value::Object(fields));
        Value::Object(members)
    }

    /// The document as JSON, indented by two, with a line feed at the end.
    pub fn to_json(&self) -> String {
        Format::indented(2).write(&self.to_value()) + "\n"
    }
}

impl FieldDocument {
    /// The plain form of a valid field.
    fn of(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        let text = |key: &str| members.get(key).and_then(Value::as_str).map(str::to_owned);
        let is_on = |key: &str| members.get(key).is_some_and(Value::is_truthy);
        let arguments = members.get("content_args").and_then(Value::as_object);
        Some(Self {
            open: Delimiter::read("open", members),
            close: Delimiter::read("close", members),
            repeats: is_on("repeats"),
            join: text("join"),
            optional: members.get("optional").map(Value::is_truthy),
            content: text("content"),
            content_args: arguments.cloned().unwrap_or_default(),
            transform: members
                .get("transform")
                .filter(|transform| **transform != Value::Null)
                .cloned(),
            transform_each: is_on("transform_each"),
        })
    }

    /// The field as a value: delimiters, `repeats`, `join`, `optional`, `content`, `content_args`, `transform`,
    /// `transform_each`.
    pub fn to_value(&self) -> Value {
        let mut members = Map::new();
        if let Some(open) = &self.open {
            open.write("open", &mut members);
        }
        if let Some(close) = &self.close {
            close.write("close", &mut members);
        }
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                members.insert(key.to_owned(), value);
            }
        };
        put("repeats", self.repeats.then_some(Value::Bool(true)));
        put("join", self.join.as_deref().map(Value::from));
        put("optional", self.optional.map(Value::Bool));
        put("content", self.content.as_deref().map(Value::from));
        put(
            "content_args",
            (!self.content_args.is_empty()).then(|| Value::Object(self.content_args.clone())),
        );
        put("transform", self.transform.clone());
        put(
            "transform_each",
            self.transform_each.then_some(Value::Bool(true)),
        );
        Value::Object(members)
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl Serialize for FieldDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    #[test]
    fn a_document_is_read_as_it_was_written() {
        let text = r#"{"defaults": {"role": "assistant"}, "start_anchor": ["a", "b"], "fields": {
            "x": {"open": "<", "close_pattern": ">", "repeats": true, "join": ",", "optional": false},
            "y": {"content": "json", "content_args": {"strip": true}, "transform": [1], "transform_each": true}}}"#;
        let value = json::parse(text).expect("JSON");
        assert_eq!(Document::of(&value).expect("a document").to_value(), value);
        assert_eq!(Document::of(&Value::Null), None);
    }
}
