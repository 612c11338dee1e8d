//! Conversion of a response template to the response schema that does the same, where a schema can express it.
//!
//! Each field becomes a property with a pattern of its own: its open, a group, and its close or the end. The implicit field has no such
//! pattern: it takes the text that is left when all regions are taken out, which `x-regex-substitutions` do.

use super::judge::{self, Difference, Tally};
use super::{Sample, SampleOrigin};
use crate::pattern::Pattern;
use crate::pattern::parts::escaped;
use crate::response_schema::ResponseSchema;
use crate::response_template::{Delimiter, Document, FieldDocument};
use crate::value::{Map, Value};

/// A response schema, and its agreement with the response template on samples.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Back {
    /// The response schema.
    pub document: Value,
    /// How many samples of each origin agree.
    pub samples: Vec<Tally>,
    /// The smallest responses on which the two differ.
    pub differences: Vec<Difference>,
}

/// The reason why a response template has no response schema that does the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the field `{field}`: {why}")]
#[non_exhaustive]
pub struct Refused {
    /// The field.
    pub field: String,
    /// The part of the template that a schema cannot express, in a sentence.
    pub why: String,
}

/// Writes the schema of a valid response template.
///
/// # Errors
///
/// The parts of the response template that a schema cannot express.
pub fn to_schema(template: &Document, given: &[Sample]) -> Result<Back, Refused> {
    let mut properties = Map::new();
    for (key, value) in &template.defaults {
        if !template.fields.contains_key(key.as_str()) {
            properties.insert(
                key.clone(),
                Value::Object(Map::from([("const", value.clone())])),
            );
        }
    }
    for (name, field) in &template.fields {
        let node = match &field.open {
            Some(_) => explicit(field),
            None => implicit(field, template),
        };
        let node = node.map_err(|why| Refused {
            field: name.clone(),
            why,
        })?;
        properties.insert(name.as_str(), Value::Object(node));
    }
    let document = Value::Object(Map::from([
        ("type", Value::from("object")),
        ("properties", Value::Object(properties)),
    ]));
    let refused = |why: String| Refused {
        field: template.fields.keys().next().cloned().unwrap_or_default(),
        why,
    };
    let schema = ResponseSchema::from_value(&document)
        .map_err(|invalid| refused(format!("Python's `re` has not its pattern: {invalid}")))?;
    let samples = judge::expected(&schema, super::samples::all(&schema, given));
    let samples: Vec<&judge::Expected> = samples.iter().collect();
    let judged = judge::judge(template, &samples)
        .ok_or_else(|| refused("the response template is not valid".to_owned()))?;
    Ok(Back {
        document,
        differences: judge::smallest(&schema, template, &judged),
        samples: judged.tallies,
    })
}

impl Back {
    /// Returns true if all samples that count agree, and there is at least one that agrees.
    pub fn is_proved(&self) -> bool {
        let mut counted = self
            .samples
            .iter()
            .filter(|tally| tally.origin != SampleOrigin::Beyond);
        self.samples.iter().any(|tally| tally.agree > 0)
            && counted.all(|tally| tally.agree == tally.tried)
    }
}

/// Returns a delimiter as a pattern. `re` has no `(?<name>`, and the pattern must have no groups that capture.
fn source(delimiter: &Delimiter) -> Result<String, String> {
    match delimiter {
        Delimiter::Literals(texts) => {
            let written: Vec<String> = texts.iter().map(|text| escaped(text)).collect();
            Ok(match written.as_slice() {
                [only] => only.clone(),
                several => format!("(?:{})", several.join("|")),
            })
        }
        Delimiter::Pattern(source) => {
            let pattern = Pattern::re(source).map_err(|error| {
                format!("Python's `re` has not the pattern {source:?}: {error}")
            })?;
            if !pattern.group_names().is_empty() {
                return Err(format!(
                    "the pattern {source:?} has groups, which a schema would read as its result"
                ));
            }
            Ok(format!("(?:{source})"))
        }
    }
}

fn explicit(field: &FieldDocument) -> Result<Map, String> {
    let Some(open) = &field.open else {
        return Ok(Map::new());
    };
    let open = source(open)?;
    let close = match &field.close {
        Some(close) => format!(r"(?:{}|\Z)", source(close)?),
        None => r"\Z".to_owned(),
    };
    if field.join.is_some() {
        return Err(
            "`join` makes one text of several regions, and a schema has nothing that does"
                .to_owned(),
        );
    }
    let strip = field.content_args.get("strip").is_none_or(Value::is_truthy);
    let is_text = field.content.as_deref().is_none_or(|name| name == "text");
    let space = if strip && is_text { r"\s*" } else { "" };
    let pattern = format!("{open}{space}(.*?){space}{close}");
    let mut item = content(field)?;
    if field.repeats {
        return Ok(Map::from([
            ("type", Value::from("array")),
            ("x-regex-iterator", Value::from(pattern)),
            ("items", Value::Object(item)),
        ]));
    }
    item.insert(
        "x-regex",
        Value::from(format!("(?:.*{open}|{open}){}", &pattern[open.len()..])),
    );
    Ok(item)
}

/// Returns the property of the implicit field: the text that is left when the regions are taken out, up to the field's close.
fn implicit(field: &FieldDocument, template: &Document) -> Result<Map, String> {
    let mut node = content(field)?;
    let mut pairs = Vec::new();
    for other in template.fields.values() {
        let Some(open) = &other.open else { continue };
        let close = match &other.close {
            Some(close) => format!(r"(?:{}|\Z)", source(close)?),
            None => r"\Z".to_owned(),
        };
        let whole = format!("{}.*?{close}", source(open)?);
        pairs.push(Value::Array(vec![Value::from(whole), Value::from("")]));
    }
    if let Some(close) = &field.close {
        let rest = Value::from(format!("{}.*", source(close)?));
        pairs.push(Value::Array(vec![rest, Value::from("")]));
    }
    if field.repeats || field.join.is_some() {
        return Err(
            "it takes several stretches of text, which a schema cannot tell apart".to_owned(),
        );
    }
    node.insert("x-regex-substitutions", Value::Array(pairs));
    let strip = field.content_args.get("strip").is_none_or(Value::is_truthy);
    let pattern = if strip { r"^\s*(.+?)\s*\Z" } else { r"^(.+)" };
    node.insert("x-regex", Value::from(pattern));
    Ok(node)
}

/// The keys that make a value of a region's text.
fn content(field: &FieldDocument) -> Result<Map, String> {
    let name = field.content.as_deref().unwrap_or("text");
    let mut node = Map::new();
    match name {
        "text" => {
            node.insert("type", Value::from("string"));
        }
        "int" => {
            node.insert("type", Value::from("integer"));
        }
        "float" => {
            node.insert("type", Value::from("number"));
        }
        "json" => {
            let is_on = |key: &str| field.content_args.get(key).is_some_and(Value::is_truthy);
            let is_dialect =
                field.content_args.contains_key("string_delims") || is_on("unquoted_keys");
            if is_dialect && super::parsers::calls_arguments() != dialect(&field.content_args) {
                return Err("its JSON is in a dialect that no parser of a schema reads".to_owned());
            }
            let parser = if is_dialect {
                "gemma4-tool-call"
            } else {
                "json"
            };
            node.insert("x-parser", Value::from(parser));
            let mut arguments = Map::new();
            if is_on("allow_non_json") {
                arguments.insert("allow_non_json", Value::Bool(true));
            }
            if let Some(transform) = &field.transform {
                let inner = expression(transform, field.transform_each)?;
                let whole = if field.transform_each {
                    format!("[*].{inner}")
                } else {
                    inner
                };
                arguments.insert("transform", Value::from(whole));
            }
            if !arguments.is_empty() {
                node.insert("x-parser-args", Value::Object(arguments));
            }
            return Ok(node);
        }
        other => {
            return Err(format!(
                "a schema has no parser that does what `{other}` does"
            ));
        }
    }
    if field.transform.is_some() {
        return Err("a schema transforms JSON alone".to_owned());
    }
    Ok(node)
}

fn dialect(arguments: &Map) -> Map {
    let keys = ["string_delims", "unquoted_keys"];
    let members = arguments
        .iter()
        .filter(|(key, _)| keys.contains(&key.as_str()));
    members
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// A transform as JMESPath.
fn expression(transform: &Value, each: bool) -> Result<String, String> {
    match transform {
        Value::String(text) => {
            let inner = text
                .strip_prefix('{')
                .and_then(|text| text.strip_suffix('}'));
            let Some(path) = inner.filter(|path| {
                path.split('.').all(|name| {
                    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
                })
            }) else {
                return Ok(raw(text));
            };
            if each {
                return Ok(path.to_owned());
            }
            match path.strip_prefix("content") {
                Some("") => Ok("@".to_owned()),
                Some(rest) if rest.starts_with('.') => Ok(rest[1..].to_owned()),
                _ => Err(format!(
                    "the capture `{path}` stands beside the content, and JMESPath sees the content alone"
                )),
            }
        }
        Value::Array(items) => {
            let items: Result<Vec<String>, String> =
                items.iter().map(|item| expression(item, each)).collect();
            Ok(format!("[{}]", items?.join(", ")))
        }
        Value::Object(members) => {
            let members: Result<Vec<String>, String> = members
                .iter()
                .map(|(key, value)| {
                    Ok(format!(
                        "{}: {}",
                        crate::value::json::quote(key),
                        expression(value, each)?
                    ))
                })
                .collect();
            Ok(format!("{{{}}}", members?.join(", ")))
        }
        other => Ok(format!("`{}`", crate::value::json::to_string(other))),
    }
}

/// A constant text.
fn raw(text: &str) -> String {
    format!("'{}'", text.replace('\'', "\\'"))
}
