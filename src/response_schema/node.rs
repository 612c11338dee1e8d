//! The compiled form of a schema's nodes.

use indexmap::IndexMap;

use super::jmespath::Expression;
use super::substitute::Replacement;
use crate::pattern::Pattern;
use crate::value::{Path, Value};

/// The keys of a node that say what becomes of it; all others are for people.
pub const KEYS: [&str; 14] = [
    "type",
    "const",
    "default",
    "properties",
    "additionalProperties",
    "required",
    "items",
    "prefixItems",
    "x-regex",
    "x-regex-iterator",
    "x-regex-key-value",
    "x-regex-substitutions",
    "x-parser",
    "x-parser-args",
];

/// One node.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// The way to it from the root of the document.
    pub(crate) path: Path,
    pub(crate) constant: Option<Value>,
    pub(crate) default: Option<Value>,
    pub(crate) kind: Kind,
    /// Whether it has a key for which it must be given text, be it null.
    pub(crate) needs_text: bool,
    pub(crate) substitutions: Vec<Substitution>,
    pub(crate) regex: Option<Pattern>,
    pub(crate) iterator: Option<Pattern>,
    pub(crate) key_value: Option<Pattern>,
    pub(crate) parser: Option<Parser>,
    pub(crate) properties: Option<IndexMap<String, Node>>,
    pub(crate) additional: Additional,
    pub(crate) required: Vec<String>,
    pub(crate) items: Option<Box<Node>>,
    pub(crate) prefix_items: Option<Vec<Node>>,
}

/// What a node is to become.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// No type, null or `any`: whatever it is.
    Any,
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    /// What else stands there.
    Unknown(Value),
}

/// A pattern and what takes the place of its matches.
#[derive(Debug, Clone)]
pub(crate) struct Substitution {
    pub(crate) pattern: Pattern,
    pub(crate) replacement: Replacement,
}

/// What makes a value of text.
#[derive(Debug, Clone)]
pub(crate) enum Parser {
    /// JSON, where `calls` says after the strings and keys of one family's calls were put in quotes.
    Json {
        calls: bool,
        allow_non_json: bool,
        transform: Option<Transform>,
    },
    /// What stands there is no parser's name.
    Unknown(Value),
}

/// A JMESPath expression.
#[derive(Debug, Clone)]
pub(crate) struct Transform {
    pub(crate) source: String,
    pub(super) expression: Expression,
}

impl Transform {
    /// The same as a transform of a response template, and whether it is for each item of a list; else why there is none.
    pub(crate) fn to_transform(&self) -> Result<(Option<Value>, bool), String> {
        self.expression.to_transform()
    }

    /// The names of members that it asks for.
    pub(crate) fn fields(&self) -> Vec<String> {
        self.expression.fields()
    }
}

/// What becomes of members that no property is for.
#[derive(Debug, Clone)]
pub(crate) enum Additional {
    /// They are left out.
    Refused,
    /// They are kept as they are.
    Kept,
    /// They are read as this node says.
    Read(Box<Node>),
}

impl Node {
    /// The nodes directly below this one, in the order of evaluation.
    pub(crate) fn children(&self) -> impl Iterator<Item = &Node> {
        let properties = self.properties.iter().flat_map(IndexMap::values);
        let additional = match &self.additional {
            Additional::Read(node) => Some(&**node),
            Additional::Refused | Additional::Kept => None,
        };
        let prefix = self.prefix_items.iter().flatten();
        properties
            .chain(additional)
            .chain(self.items.as_deref())
            .chain(prefix)
    }
}
