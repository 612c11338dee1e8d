//! Validation: the way from a document to its compiled form, with all its faults.

use std::fmt;

use indexmap::IndexMap;

use super::PARSERS;
use super::ResponseSchema;
use super::jmespath::Expression;
use super::node::{Additional, Kind, Node, Parser, Transform};
use super::substitute::{Replacement, Substitution};
use crate::diagnostic::Diagnostic;
use crate::pattern::{Pattern, PatternError};
use crate::value::json::{self, Places};
use crate::value::{Map, Path, Value};

/// A response schema that cannot be used: everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    diagnostics: Vec<Diagnostic>,
}

impl Invalid {
    pub(super) fn new(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics }
    }

    /// Returns the faults, in the order of the document; at least one, each of severity error.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the faults as [`diagnostics`](Self::diagnostics) does, by value.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
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

/// Compiles the document at `path` of a text, whose values stand at `places`.
pub(super) fn compile(
    value: &Value,
    places: Option<&Places>,
    path: &Path,
) -> Result<ResponseSchema, Invalid> {
    let mut reading = Reading {
        places,
        found: Vec::new(),
    };
    match reading.node(value, path) {
        Some(root) if reading.found.is_empty() => Ok(ResponseSchema { root }),
        _ => Err(Invalid::new(reading.found)),
    }
}

struct Reading<'a> {
    places: Option<&'a Places>,
    found: Vec<Diagnostic>,
}

impl Reading<'_> {
    fn add(&mut self, path: &Path, mut diagnostic: Diagnostic) {
        diagnostic.place.path = Some(path.to_string());
        let spans = self.places.and_then(|places| places.get(path));
        diagnostic.place.span = spans.map(|spans| spans.value.clone());
        self.found.push(diagnostic);
    }

    fn wrong_type(&mut self, path: &Path, wanted: &str, value: &Value) {
        let message = format!("this must be {wanted}, not {}", value.json_kind());
        self.add(path, Diagnostic::error("wrong-type", message));
    }

    /// Compiles a node and notes its faults; `None` for a value that is not an object.
    fn node(&mut self, value: &Value, path: &Path) -> Option<Node> {
        let Value::Object(members) = value else {
            self.wrong_type(path, "an object", value);
            return None;
        };
        let needs_text = members
            .keys()
            .any(|key| key.starts_with("x-regex") && super::KEYS.contains(&key.as_str()));
        let node = Node {
            path: path.clone(),
            constant: members.get("const").cloned(),
            default: members.get("default").cloned(),
            kind: kind(members.get("type")),
            needs_text,
            substitutions: self.substitutions(members, path),
            regex: self.pattern(members, "x-regex", path),
            iterator: self.pattern(members, "x-regex-iterator", path),
            key_value: self.pattern(members, "x-regex-key-value", path),
            parser: self.parser(members, path),
            properties: self.properties(members, path),
            additional: match members.get("additionalProperties") {
                Some(Value::Bool(false)) => Additional::Refused,
                Some(value @ Value::Object(_)) => self
                    .node(value, &path.key("additionalProperties"))
                    .map_or(Additional::Kept, |node| Additional::Read(Box::new(node))),
                _ => Additional::Kept,
            },
            required: self.required(members, path),
            items: members
                .get("items")
                .and_then(|items| self.node(items, &path.key("items")))
                .map(Box::new),
            prefix_items: self.prefix_items(members, path),
        };
        Some(node)
    }

    fn properties(&mut self, members: &Map, path: &Path) -> Option<IndexMap<String, Node>> {
        let value = members.get("properties")?;
        let path = path.key("properties");
        let Value::Object(properties) = value else {
            self.wrong_type(&path, "an object", value);
            return None;
        };
        let mut nodes = IndexMap::with_capacity(properties.len());
        for (key, value) in properties {
            if let Some(node) = self.node(value, &path.key(key)) {
                nodes.insert(key.to_string(), node);
            }
        }
        Some(nodes)
    }

    fn prefix_items(&mut self, members: &Map, path: &Path) -> Option<Vec<Node>> {
        let value = members.get("prefixItems")?;
        let path = path.key("prefixItems");
        let Value::Array(items) = value else {
            self.wrong_type(&path, "a list", value);
            return None;
        };
        let nodes = items.iter().enumerate();
        Some(
            nodes
                .filter_map(|(index, item)| self.node(item, &path.index(index)))
                .collect(),
        )
    }

    fn required(&mut self, members: &Map, path: &Path) -> Vec<String> {
        let Some(value) = members.get("required") else {
            return Vec::new();
        };
        let names = value.as_array().and_then(|items| {
            let names = items.iter().map(|item| item.as_str().map(str::to_owned));
            names.collect::<Option<Vec<_>>>()
        });
        names.unwrap_or_else(|| {
            self.wrong_type(&path.key("required"), "a list of names", value);
            Vec::new()
        })
    }

    /// Compiles a pattern under a key; a null is no pattern.
    fn pattern(&mut self, members: &Map, key: &str, path: &Path) -> Option<Pattern> {
        let path = path.key(key);
        match members.get(key)? {
            Value::Null => None,
            Value::String(source) => self.compiled(source, &path),
            other => {
                self.wrong_type(&path, "a pattern", other);
                None
            }
        }
    }

    fn compiled(&mut self, source: &str, path: &Path) -> Option<Pattern> {
        match Pattern::re(source) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                self.bad_pattern(source, &error, path);
                None
            }
        }
    }

    fn bad_pattern(&mut self, source: &str, error: &PatternError, path: &Path) {
        let place = source
            .get(error.span.clone())
            .filter(|place| !place.is_empty());
        let at = place.map_or_else(String::new, |place| format!(", at {}", json::quote(place)));
        let message = format!("the pattern does not compile: {}{at}", error.message);
        let mut diagnostic = Diagnostic::error("bad-pattern", message);
        diagnostic.hint.clone_from(&error.hint);
        self.add(path, diagnostic);
    }

    fn substitutions(&mut self, members: &Map, path: &Path) -> Vec<Substitution> {
        let key = "x-regex-substitutions";
        let Some(value) = members.get(key) else {
            return Vec::new();
        };
        let path = path.key(key);
        let Value::Array(pairs) = value else {
            self.wrong_type(&path, "a list of [pattern, replacement] pairs", value);
            return Vec::new();
        };
        let mut substitutions = Vec::new();
        for (index, pair) in pairs.iter().enumerate() {
            let path = path.index(index);
            // What follows the first two is not looked at.
            let (Some(Value::String(pattern)), Some(Value::String(replacement))) = (
                pair.as_array().and_then(|pair| pair.first()),
                pair.as_array().and_then(|pair| pair.get(1)),
            ) else {
                self.wrong_type(&path, "a [pattern, replacement] pair of strings", pair);
                continue;
            };
            let Some(pattern) = self.compiled(pattern, &path.index(0)) else {
                continue;
            };
            match Replacement::new(replacement, &pattern) {
                Ok(replacement) => substitutions.push(Substitution {
                    pattern,
                    replacement,
                }),
                Err((message, _)) => {
                    let diagnostic = Diagnostic::error("bad-replacement", message);
                    self.add(&path.index(1), diagnostic);
                }
            }
        }
        substitutions
    }

    fn parser(&mut self, members: &Map, path: &Path) -> Option<Parser> {
        let name = members.get("x-parser")?;
        let Some(name) = name.as_str().filter(|name| PARSERS.contains(name)) else {
            return Some(Parser::Unknown(name.clone()));
        };
        let path = path.key("x-parser-args");
        let none = Map::new();
        let arguments = match members.get("x-parser-args") {
            None => &none,
            Some(Value::Object(arguments)) => arguments,
            Some(other) => {
                self.wrong_type(&path, "an object", other);
                &none
            }
        };
        let transform = match arguments.get("transform") {
            None | Some(Value::Null) => None,
            Some(Value::String(source)) => match Expression::new(source) {
                Ok(expression) => Some(Transform {
                    source: source.clone(),
                    expression,
                }),
                Err(fault) => {
                    let message =
                        format!("the JMESPath expression cannot be read: {}", fault.message);
                    self.add(
                        &path.key("transform"),
                        Diagnostic::error("bad-expression", message),
                    );
                    None
                }
            },
            Some(other) => {
                self.wrong_type(&path.key("transform"), "a JMESPath expression", other);
                None
            }
        };
        Some(Parser::Json {
            calls: name != "json",
            allow_non_json: arguments
                .get("allow_non_json")
                .is_some_and(Value::is_truthy),
            transform,
        })
    }
}

fn kind(value: Option<&Value>) -> Kind {
    let Some(value) = value else {
        return Kind::Any;
    };
    match value.as_str() {
        Some("any") => Kind::Any,
        Some("object") => Kind::Object,
        Some("array") => Kind::Array,
        Some("string") => Kind::String,
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Boolean,
        _ if *value == Value::Null => Kind::Any,
        _ => Kind::Unknown(value.clone()),
    }
}
