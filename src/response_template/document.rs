//! The document in plain form: to fill in and to write.

use indexmap::IndexMap;
use serde::{Serialize, Serializer};

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
    /// What marks the start of the model's turn.
    pub start_anchor: Delimiter,
    /// The fields by the keys of the message that they fill.
    pub fields: IndexMap<String, FieldDocument>,
}

/// One field of a [`Document`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldDocument {
    /// What opens its region.
    pub open: Option<Delimiter>,
    /// What closes its region.
    pub close: Option<Delimiter>,
    /// Whether its values make a list; absent when false.
    pub repeats: bool,
    /// What to put between its values.
    pub join: Option<String>,
    /// Whether a message without it is complete; absent means yes.
    pub optional: Option<bool>,
    /// The name of its content parser; absent means `text`.
    pub content: Option<String>,
    /// The arguments of its content parser; absent when empty.
    pub content_args: Map,
    /// What to make of the value and the captures.
    pub transform: Option<Value>,
    /// Whether the transform is for each item of the value; absent when false.
    pub transform_each: bool,
}

/// What opens or closes a region: `open`, `close`, `start_anchor`, or the same with `_pattern`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delimiter {
    /// Any of these texts. One is written as a string, several as a list.
    Literals(Vec<String>),
    /// What this pattern matches, in the syntax of Python's `regex` module.
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
