//! Values, from the text of nodes.
//!
//! What a node holds is read as its own tag says (a text, or JSON), unless there is a node with one of these tags within it:
//!
//! | tag | value |
//! |---|---|
//! | `text` | the text as it is |
//! | `json` | JSON |
//! | `python` | a Python literal |
//! | `escaped` | a text with escapes, as between the quotes of a JSON or Python string |
//! | `object` | an object of its `member`s, each with a `key` and a value |
//! | `array` | a list of the values in it |
//! | `null`, `true`, `false` | what they say, however it is spelled |

use crate::content::ContentErrorKind;
use crate::grammar::peg::{Node, Parser, Tree};
use crate::parser::{ErrorKind, ParseError};
use crate::value::json::{self, MAX_DEPTH};
use crate::value::{Map, Value};

use super::python;

/// How a node is read in which no tag says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum As {
    Text,
    /// JSON, or else a Python literal.
    Json,
}

/// The nodes of a tree, and the text that they stand in.
pub(super) struct Values<'a> {
    tree: Tree<'a>,
    parser: &'a Parser,
}

impl<'a> Values<'a> {
    pub(super) fn new(tree: Tree<'a>, parser: &'a Parser) -> Self {
        Self { tree, parser }
    }

    pub(super) fn node(&self, index: usize) -> Option<Node<'a>> {
        self.tree.node(index)
    }

    /// True if a tag is within a node.
    pub(super) fn holds(&self, node: Node<'_>, tag: &str) -> bool {
        let mut inner = (node.index() + 1..node.behind()).filter_map(|at| self.tree.node(at));
        inner.any(|node| node.tag() == Some(tag))
    }

    /// The text of a node.
    pub(super) fn raw(&self, node: Node<'_>) -> String {
        let bytes = self.parser.between(node.start(), node.end());
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// The value of a region that is a text: that which a tag in it makes of it, if there is one.
    pub(super) fn text(&self, node: Node<'_>) -> Result<Value, ParseError> {
        match self.value(node, As::Text)? {
            text @ Value::String(_) => Ok(text),
            other => Ok(Value::from(json::to_string(&other))),
        }
    }

    /// The value of a node.
    pub(super) fn value(&self, node: Node<'_>, by: As) -> Result<Value, ParseError> {
        if let Some(inner) = node.children().find(is_value) {
            return self.tagged(inner, 0);
        }
        let text = self.raw(node);
        match by {
            As::Text => Ok(Value::from(text)),
            As::Json => json::parse(text.trim())
                .or_else(|error| python::parse(text.trim()).map_err(|_| not_json(&error))),
        }
    }

    /// The value of a node with a tag for values.
    fn tagged(&self, node: Node<'_>, depth: usize) -> Result<Value, ParseError> {
        if depth > MAX_DEPTH {
            let message = format!("values nest deeper than the limit of {MAX_DEPTH}");
            return Err(ParseError::new(
                ErrorKind::Content(ContentErrorKind::Limit),
                message,
            ));
        }
        let text = || self.raw(node);
        match node.tag() {
            Some("json") => json::parse(text().trim()).map_err(|error| not_json(&error)),
            Some("python") => python::parse(text().trim())
                .map_err(|what| failed(&format!("this is no Python literal: {what}"))),
            Some("escaped") => python::unescape(&text())
                .map(Value::from)
                .map_err(|what| failed(&format!("an escape is wrong: {what}"))),
            Some("object") => {
                let mut object = Map::new();
                for member in node.children().filter(|node| node.tag() == Some("member")) {
                    let (key, value) = self.member(member, depth)?;
                    object.insert(key, value);
                }
                Ok(Value::Object(object))
            }
            Some("array") => {
                let items = node.children().filter(is_value);
                let items = items.map(|item| self.tagged(item, depth + 1));
                items.collect::<Result<Vec<_>, _>>().map(Value::Array)
            }
            Some("null") => Ok(Value::Null),
            Some("true") => Ok(Value::from(true)),
            Some("false") => Ok(Value::from(false)),
            _ => Ok(Value::from(text())),
        }
    }

    fn member(&self, member: Node<'_>, depth: usize) -> Result<(String, Value), ParseError> {
        let key = member.children().find(|node| node.tag() == Some("key"));
        let key = key.map(|key| self.value(key, As::Text)).transpose()?;
        let value = member.children().find(is_value);
        match (key, value) {
            (Some(Value::String(key)), Some(value)) => Ok((key, self.tagged(value, depth + 1)?)),
            _ => Err(failed("a member of an object has no key or no value")),
        }
    }
}

fn is_value(node: &Node<'_>) -> bool {
    let tags = [
        "text", "json", "python", "escaped", "object", "array", "null", "true", "false",
    ];
    node.tag().is_some_and(|tag| tags.contains(&tag))
}

fn not_json(error: &json::JsonError) -> ParseError {
    let message = format!(
        "this is not JSON: {} at byte {}",
        error.message(),
        error.offset()
    );
    ParseError::new(ErrorKind::Content(ContentErrorKind::Json), message)
}

/// That the text matches the grammar, but what its tags hold is no value.
pub(super) fn failed(message: &str) -> ParseError {
    ParseError::new(ErrorKind::Value, message)
}
