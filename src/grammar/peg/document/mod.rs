//! Grammars as JSON documents.
//!
//! ```json
//! {
//!   "peg": 1,
//!   "root": {"sequence": [{"tag": "content", "of": {"until": "<call>"}}, {"zero_or_more": {"ref": "call"}}, "end"]},
//!   "rules": {
//!     "call": {"sequence": [
//!       {"literal": "<call>"}, {"tag": "name", "of": {"until": ":"}}, {"literal": ":"}, "json", {"literal": "</call>"}
//!     ]}
//!   }
//! }
//! ```
//!
//! An expression is an object whose member says what it is, such as `{"until": "<call>"}`. One that takes nothing is its name alone, a
//! string, such as `"end"`.
//!
//! [`Grammar`] is written and read as such a document by serde, too.

mod read;
mod write;

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::arena::Grammar;
use crate::diagnostic::Diagnostic;
use crate::value::json::{self, Places};
use crate::value::{Map, Path, Value};

/// The member that tells a document from others; its value is [`VERSION`].
pub const KEY: &str = "peg";

/// The version of the documents that are read and written.
pub const VERSION: i64 = 1;

/// The members of a document. `message` is not the grammar's: it says what a reader makes of the tags.
const MEMBERS: [&str; 6] = ["$schema", KEY, "root", "rules", "trigger_rules", "message"];

/// A document that is no grammar: everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    diagnostics: Vec<Diagnostic>,
}

impl Invalid {
    /// Returns all that is wrong; at least one, each of severity error.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns all that is wrong, by value.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    pub(in crate::grammar) fn of(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics }
    }
}

/// One line for each diagnostic.
impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.diagnostics.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Invalid {}

/// Says whether a value is meant to be a grammar.
pub fn is_grammar(value: &Value) -> bool {
    value.as_object().is_some_and(|map| map.contains_key(KEY))
}

impl Grammar {
    /// Reads a document.
    ///
    /// # Errors
    ///
    /// When it is not JSON, not a grammar's document, or the grammar cannot be built; with byte offsets into the text.
    ///
    /// ```
    /// use obverse::grammar::peg::Grammar;
    ///
    /// let text = r#"{"peg": 1, "root": {"sequence": [{"one_or_more": {"ref": "digit"}}, "end"]},
    ///     "rules": {"digit": {"chars": "[0-9]", "min": 1, "max": 1}}}"#;
    /// let grammar = Grammar::from_json(text)?;
    /// assert!(grammar.matches("42"));
    /// assert_eq!(Grammar::from_value(&grammar.to_value())?, grammar);
    ///
    /// let error = Grammar::from_json(r#"{"peg": 1, "root": {"ref": "x"}}"#).unwrap_err();
    /// assert_eq!(error.to_string(), "$.root: rule `root` refers to `x`, and there is no such rule");
    /// # Ok::<(), obverse::grammar::peg::document::Invalid>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self, Invalid> {
        let (value, places) = parse(text)?;
        read::grammar(&value, Some(&places)).map_err(Invalid::of)
    }

    /// Reads a document that is a value already.
    ///
    /// # Errors
    ///
    /// When it is not a grammar's document, or the grammar cannot be built.
    pub fn from_value(value: &Value) -> Result<Self, Invalid> {
        read::grammar(value, None).map_err(Invalid::of)
    }

    /// The grammar as a document.
    pub fn to_value(&self) -> Value {
        let mut document = Map::new();
        document.insert(KEY, Value::from(VERSION));
        write::write(&self.parts, &mut document);
        Value::Object(document)
    }
}

/// The value that a text is, with its places.
pub(in crate::grammar) fn parse(text: &str) -> Result<(Value, Places), Invalid> {
    json::parse_with_places(text).map_err(|error| {
        let at = error.offset();
        let message = format!("not JSON: {}", error.message());
        let found = Diagnostic::error("json-syntax", message).with_span(at..at);
        Invalid::of(vec![found])
    })
}

/// The diagnostic with its path and, if they are known, its place.
pub(in crate::grammar) fn at(
    path: &Path,
    places: Option<&Places>,
    mut found: Diagnostic,
) -> Diagnostic {
    found.place.path = Some(path.to_string());
    let spans = places.and_then(|places| places.get(path));
    found.place.span = spans.map(|spans| spans.value.clone());
    found
}

impl Serialize for Grammar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Grammar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::from_value(&value).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::peg::build::*;

    /// A grammar with everything in it.
    fn everything() -> Grammar {
        let root = sequence([
            eps(),
            start(),
            literal("a\n\"b\""),
            literal("json"),
            any(),
            chars("[a-z]", 1, None),
            chars("[^\\n]", 0, 4),
            space(),
            until("x"),
            until_one_of(["x", "y"]),
            rest(),
            repeat(any(), 2, 3),
            repeat(any(), 2, None),
            optional(literal("o")),
            zero_or_more(any()),
            one_or_more(any()),
            peek(literal("p")) | !literal("n"),
            string_content('\''),
            json_string_content(),
            sequence(crate::grammar::peg::Builtin::ALL.map(builtin)),
            json_member("k", json()),
            schema(
                json(),
                "s",
                json::parse(r#"{"type": "object"}"#).unwrap(),
                false,
            ),
            schema(until("x"), "t", Value::Null, true),
            atomic(tag("t", trigger_rule("r", literal("r")))),
            cut(),
            rule("own rule", reference("r") + "x"),
            end(),
        ]);
        Grammar::build(root).expect("a grammar")
    }

    #[test]
    fn a_grammar_is_what_its_document_says() {
        let grammar = everything();
        let value = grammar.to_value();
        let again = Grammar::from_value(&value).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again, grammar);
        assert_eq!(again.to_string(), grammar.to_string());
        assert_eq!(again.to_value(), value);
        let text = serde_json::to_string(&grammar).expect("JSON");
        assert_eq!(Grammar::from_json(&text), Ok(grammar.clone()));
        let read: Grammar = serde_json::from_str(&text).expect("a grammar");
        assert_eq!(read, grammar);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let cases = [
            ("[]", "$: a grammar must be an object, not a list"),
            (
                r#"{"root": "any"}"#,
                "$: there is no `peg`: 1, which says that this is a grammar",
            ),
            (
                r#"{"peg": 2, "root": "any"}"#,
                "$.peg: version 2 is not known, only 1",
            ),
            (
                r#"{"peg": 1}"#,
                "$: there is no `root`, at which reading begins",
            ),
            (
                r#"{"peg": 1, "root": "any", "rule": {}}"#,
                "$.rule: a grammar has no `rule`; it has `$schema`, `peg`, `root`, `rules`, `trigger_rules` and `message`",
            ),
            (
                r#"{"peg": 1, "root": {"sequence": ["any", {"untill": "x"}]}}"#,
                "$.root.sequence[1]: there is no expression `untill`; `until` is near",
            ),
            (
                r#"{"peg": 1, "root": "<x>"}"#,
                "$.root: there is no expression `<x>`; a text is `{\"literal\": …}`",
            ),
            (
                r#"{"peg": 1, "root": {"sequence": "a"}}"#,
                "$.root.sequence: this must be a list of expressions, not a string",
            ),
            (
                r#"{"peg": 1, "root": {"until": ["a"]}}"#,
                "$.root.until: this must be a string, not a list",
            ),
            (
                r#"{"peg": 1, "root": {"tag": "a"}}"#,
                "$.root: a `tag` needs `of`, the expression that it is on",
            ),
            (
                r#"{"peg": 1, "root": {"literal": "a", "until": "b"}}"#,
                "$.root: an expression is one thing, and this is `literal` and `until`",
            ),
            (
                r#"{"peg": 1, "root": {"literal": "a", "min": 2}}"#,
                "$.root.min: a `literal` has no `min`",
            ),
            (
                r#"{"peg": 1, "root": {"chars": "[a]", "min": -1}}"#,
                "$.root.min: this must be a count, not a number",
            ),
            (
                r#"{"peg": 1, "root": {}}"#,
                "$.root: this object is no expression; `{\"literal\": \"…\"}` is one",
            ),
            (
                r#"{"peg": 1, "root": {"string_content": "''"}}"#,
                "$.root.string_content: this must be one character",
            ),
            (
                r#"{"peg": 1, "root": "any", "trigger_rules": ["x"]}"#,
                "$.trigger_rules[0]: there is no rule `x`",
            ),
            (
                r#"{"peg": 1, "root": "any", "rules": {"a": {"zero_or_more": "space"}}}"#,
                "$.rules.a: rule `a` repeats what may match nothing: space",
            ),
            (
                r#"{"peg": 1, "root": "any", "rules": {"a": {"ref": "b"}, "b": {"ref": "a"}}}"#,
                "$.rules.a: left recursion: a → b → a",
            ),
        ];
        for (text, expected) in cases {
            let error = Grammar::from_json(text).expect_err(text);
            assert_eq!(error.to_string(), expected, "{text}");
            assert!(error.diagnostics()[0].place.span.is_some(), "{text}");
        }
        let error = Grammar::from_json("{").expect_err("no JSON");
        assert!(error.to_string().starts_with("not JSON"), "{error}");
    }
}
