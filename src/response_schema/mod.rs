//! Response schemas: the older documents by which transformers 5.0 to 5.14 read a response, validated and run.
//!
//! A response schema is a JSON schema whose nodes say how their text is found: `x-regex`, `x-regex-iterator`, `x-regex-key-value`,
//! `x-regex-substitutions`, `x-parser`, `x-parser-args`. It is evaluated as `recursive_parse` of transformers 5.14.1 evaluates it,
//! which is the reference: from the root down, each node with the text or value that its parent gives it.
//!
//! 1. A node with `const` is that value; a node that is given nothing (null) is nothing.
//! 2. Substitutions change the text, one after the other; then `x-regex` takes a part of it, `x-regex-iterator` all parts, and
//!    `x-regex-key-value` makes an object of them. What is not found makes the node null. A pattern with named groups gives an object
//!    of those that took part, any other pattern the text of its one group.
//! 3. `x-parser` makes a value of the text: JSON, or the calls of one model family, then `transform`, a JMESPath expression, another.
//! 4. `type` says what becomes of it. An object that still has text gives all of it to each property and leaves out what is null;
//!    an object that has members gives each property its own, then `default`, and `additionalProperties` the others.
//!
//! Patterns are those of Python's `re` with `DOTALL`; see [`Pattern::re`](crate::pattern::Pattern::re). Work is linear in the text for each node where the
//! pattern allows it, and limited where it does not.
//!
//! # Different on purpose
//!
//! - A document with a pattern, a replacement or a JMESPath expression that cannot be read, or with a key of the wrong type, is refused
//!   before any text is read ([`Invalid`]). The reference finds out when it gets to that node.
//! - Limits have errors of their own ([`ErrorKind::Limit`]): patterns that take too many steps, substitutions that make a text more than
//!   sixteen times as long, what a JMESPath expression copies, and JSON that nests deeper than
//!   [`MAX_DEPTH`](crate::value::json::MAX_DEPTH). The reference goes on, or ends at Python's recursion limit.
//! - Integers have any number of digits, where Python refuses more than 4300; half of a surrogate pair in JSON is U+FFFD.
//! - JMESPath: what its own module says.
//!
//! ```
//! use obverse::response_schema::ResponseSchema;
//! let schema = ResponseSchema::from_json(r#"{
//!     "type": "object",
//!     "properties": {
//!         "role": {"const": "assistant"},
//!         "thinking": {"type": "string", "x-regex": "<think>(.*?)</think>"},
//!         "content": {"type": "string", "x-regex": "(?:</think>)?([^<]*)$"}
//!     }
//! }"#)?;
//! let message = schema.parse("<think>Hm.</think>Yes.")?;
//! assert_eq!(message.get("thinking").and_then(|text| text.as_str()), Some("Hm."));
//! assert_eq!(message.get("content").and_then(|text| text.as_str()), Some("Yes."));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calls;
mod config;
mod error;
mod evaluate;
mod given;
mod jmespath;
pub(crate) mod node;
mod substitute;
mod trace;
mod validate;

use crate::diagnostic::Diagnostic;
use crate::value::{Path, Value, json};

pub use config::{KEY, Loaded, Source, is_schema, load_any};
pub use error::{ErrorKind, SchemaError};
pub use node::KEYS;
pub(crate) use substitute::Substitution;
pub use trace::{Trace, TraceNode};
pub use validate::Invalid;

use node::Node;

/// The names of the parsers that `x-parser` knows.
pub const PARSERS: [&str; 2] = ["json", "gemma4-tool-call"];

/// A response schema, validated and compiled.
#[derive(Debug, Clone)]
pub struct ResponseSchema {
    root: Node,
}

/// The outcome of a response as a whole: the value as far as there is one, and the errors for which parts of it are missing.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The value that was parsed. When a property of the root has no value, the object without it.
    pub value: Value,
    /// The errors, in the order in which the reference would come to them; it stops at the first.
    pub errors: Vec<SchemaError>,
}

impl ResponseSchema {
    /// Compiles a document. The diagnostics of a failure have JSON paths but no byte offsets.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the document.
    pub fn from_value(value: &Value) -> Result<Self, Invalid> {
        validate::compile(value, None, &Path::default())
    }

    /// Reads and compiles a document.
    ///
    /// # Errors
    ///
    /// That the text is not JSON, or everything that is wrong with the document; with byte offsets into the text.
    pub fn from_json(text: &str) -> Result<Self, Invalid> {
        let (value, places) = json::parse_with_places(text).map_err(|error| {
            let at = error.offset();
            let message = format!("not JSON: {}", error.message());
            Invalid::new(vec![
                Diagnostic::error("json-syntax", message).with_span(at..at),
            ])
        })?;
        validate::compile(&value, Some(&places), &Path::default())
    }

    /// Evaluates the schema on a response, and returns the value: a message, when the root is an object.
    ///
    /// # Errors
    ///
    /// Where the reference raises, at the same node; and at a limit.
    pub fn parse(&self, text: &str) -> Result<Value, SchemaError> {
        evaluate::evaluate(&self.root, text)
    }

    /// Evaluates the schema as [`parse`](Self::parse) does, without stopping at the first error: the properties of a root that has no
    /// extractor of its own do without each other.
    pub fn parse_all(&self, text: &str) -> Outcome {
        evaluate::evaluate_all(&self.root, text)
    }

    /// Evaluates the schema on a response, and records the input and the result of each node.
    pub fn trace(&self, text: &str) -> Trace {
        trace::trace(&self.root, text)
    }

    /// The compiled root, for callers that take a schema apart.
    pub(crate) fn root(&self) -> &Node {
        &self.root
    }
}
