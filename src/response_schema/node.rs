//! The compiled form of a schema's nodes.

use indexmap::IndexMap;

use super::jmespath::Expression;
use super::substitute::Substitution;
use crate::pattern::Pattern;
use crate::value::{Path, Value};

/// The keys of a node that have a meaning for evaluation; all others are for people.
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

/// A node of a schema.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// The path to the node from the root of the document.
    pub(crate) path: Path,
    pub(crate) constant: Option<Value>,
    pub(crate) default: Option<Value>,
    pub(crate) kind: Kind,
    /// True if the node has a key for which its input must be text, even if the key is null.
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

/// The type of value that a node gives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// Any value: the node has no type, null or `any`.
    Any,
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    /// Another value, which is no type's name.
    Unknown(Value),
}

/// The parser that makes a value of text.
#[derive(Debug, Clone)]
pub(crate) enum Parser {
    /// The parser `json`; with `calls`, after the strings and keys of one family's calls were put in quotes.
    Json {
        calls: bool,
        allow_non_json: bool,
        transform: Option<Transform>,
    },
    /// Another value, which is no parser's name.
    Unknown(Value),
}

/// A JMESPath expression.
#[derive(Debug, Clone)]
pub(crate) struct Transform {
    pub(crate) source: String,
    pub(super) expression: Expression,
}

impl Transform {
    /// Returns the expression as a transform of a response template, and true if it is for each item of a list; else the reason why there
    /// is none.
    pub(crate) fn to_transform(&self) -> Result<(Option<Value>, bool), String> {
        self.expression.to_transform()
    }

    /// Returns the names of members that the expression asks for.
    pub(crate) fn fields(&self) -> Vec<String> {
        self.expression.fields()
    }
}

/// The treatment of members for which there is no property.
#[derive(Debug, Clone)]
pub(crate) enum Additional {
    /// The members are left out.
    Refused,
    /// The members are kept as they are.
    Kept,
    /// The members are read by this node.
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
