//! A call whose parts are found in its text: the names become captures of the open of a region, and one part becomes its content.

use super::decisions::Decisions;
use super::parsers::{json, named, pairs, single, text};
use super::take::{self, Region};
use super::{Finding, finding, substitutions};
use crate::pattern::parts::{self, Part};
use crate::response_schema::node::{Kind, Node};
use crate::response_template::{Delimiter, FieldDocument};
use crate::value::{Map, Value};

/// A call that is found part by part in its text: names by patterns of their own, which go into the open of the region, and one body.
struct Call<'a> {
    /// The captures and their patterns.
    headers: Vec<(String, Region)>,
    /// The part that makes the body, and the region around it.
    body: Option<(&'a Node, Option<Region>)>,
}

impl<'a> Call<'a> {
    /// The transform of a node that is given the call's text.
    fn transform(&mut self, key: &str, node: &'a Node) -> Result<Option<Value>, Box<Finding>> {
        if let Some(constant) = &node.constant {
            return Ok(Some(constant.clone()));
        }
        if !node.substitutions.is_empty() {
            return Err(Box::new(substitutions(node)));
        }
        let is_body = node.parser.is_some() || node.key_value.is_some();
        if is_body {
            if self.body.is_some() {
                let message =
                    "two parts of a call are made of its text, and a region has one content";
                return Err(Box::new(finding("convert-call", node, message)));
            }
            let region = node
                .regex
                .as_ref()
                .map(|pattern| single(node, pattern))
                .transpose()?;
            self.body = Some((node, region));
            return Ok(Some(Value::from("{content}")));
        }
        match (&node.kind, &node.regex, &node.properties) {
            (Kind::String, Some(pattern), _) => {
                self.headers.push((key.to_owned(), single(node, pattern)?));
                Ok(Some(Value::from(format!("{{{key}}}"))))
            }
            (Kind::Object, None, Some(properties)) => {
                let mut members = Map::new();
                for (key, child) in properties {
                    if let Some(value) = self.transform(key, child)? {
                        members.insert(key.as_str(), value);
                    }
                }
                Ok(Some(Value::Object(members)))
            }
            _ => {
                let message = "no capture and no content of a region makes this part of a call";
                Err(Box::new(finding("convert-call", node, message)))
            }
        }
    }
}

/// Adds the content parser that makes a value of the text of a region, or of each item where the property is a list.
pub(super) fn content(
    item: &Node,
    property: &Node,
    region: &Region,
    document: &mut FieldDocument,
    decisions: Decisions,
) -> Result<(), Box<Finding>> {
    match (&item.parser, &item.kind) {
        (Some(parser), _) => json(item, parser, document),
        (None, Kind::String | Kind::Any) => {
            text(document, decisions);
            Ok(())
        }
        (None, Kind::Integer) => named(document, "int"),
        (None, Kind::Number) => named(document, "float"),
        (None, Kind::Boolean) => named(document, "bool"),
        (None, Kind::Object) if item.key_value.is_some() => pairs(item, document),
        (None, Kind::Object) => call(item, region, document, decisions),
        _ => Err(Box::new(finding(
            "convert-content",
            property,
            "nothing makes such a value of a region's text",
        ))),
    }
}

fn call(
    item: &Node,
    region: &Region,
    document: &mut FieldDocument,
    decisions: Decisions,
) -> Result<(), Box<Finding>> {
    let mut call = Call {
        headers: Vec::new(),
        body: None,
    };
    document.transform = call.transform("", item)?;
    let unwritten = || {
        Box::new(finding(
            "convert-pattern",
            item,
            "a pattern cannot be written for `regex`",
        ))
    };
    let mut open = take::pattern(&region.open).ok_or_else(unwritten)?;
    // Text that ends the region's open and also begins a header stands in the response once.
    for (name, header) in &call.headers {
        let before = take::pattern(&header.open).ok_or_else(unwritten)?;
        let body = parts::source(&header.body, &|_| None).ok_or_else(unwritten)?;
        let behind = take::pattern(&closing_text(&header.close)).ok_or_else(unwritten)?;
        let before = if open.ends_with(&before) {
            String::new()
        } else {
            before
        };
        open = format!(r"{open}\s*{before}(?P<{name}>{body}){behind}");
    }
    match &call.body {
        None => text(document, decisions),
        Some((node, prefix)) => {
            if let (Some(prefix), true) = (prefix, decisions.header)
                && take::has_text(&prefix.open)
            {
                let prefix = take::pattern(&prefix.open).ok_or_else(unwritten)?;
                open = format!("{open}.*?{prefix}");
            }
            match (&node.parser, &node.key_value) {
                (Some(parser), _) => {
                    let transform = document.transform.take();
                    json(node, parser, document)?;
                    if document.transform.is_some() {
                        let message = "a transform within a transform";
                        return Err(Box::new(finding("convert-transform", node, message)));
                    }
                    document.transform = transform;
                }
                _ => pairs(node, document)?,
            }
        }
    }
    document.open = Some(Delimiter::pattern(open + r"\s*"));
    Ok(())
}

/// Returns the first text behind a name, which ends the name.
fn closing_text(close: &[Part]) -> Vec<Part> {
    close
        .iter()
        .take(1)
        .filter(|part| matches!(part, Part::Text(_)))
        .cloned()
        .collect()
}

/// Calls whose parts are the named groups of one pattern: the last group is the body, those before it are captures.
pub(super) fn members(
    item: &Node,
    regions: &[Region],
    mut document: FieldDocument,
    decisions: Decisions,
) -> Result<FieldDocument, Box<Finding>> {
    let unwritten = || {
        Box::new(finding(
            "convert-pattern",
            item,
            "a pattern cannot be written for `regex`",
        ))
    };
    let Some((last, headers)) = regions.split_last() else {
        return Err(unwritten());
    };
    let mut open = String::new();
    for (at, header) in headers.iter().enumerate() {
        let body = parts::source(&header.body, &|_| None).ok_or_else(unwritten)?;
        let before = take::pattern(&header.open).ok_or_else(unwritten)?;
        let is_shared = at > 0 && regions[at - 1].close.len() == header.open.len();
        let before = if is_shared { String::new() } else { before };
        let behind = take::pattern(&header.close).ok_or_else(unwritten)?;
        open.push_str(&format!("{before}(?P<{}>{body}){behind}", header.name));
    }
    let before = take::pattern(&last.open).ok_or_else(unwritten)?;
    if !open.ends_with(&before) {
        open.push_str(&before);
    }
    document.open = Some(Delimiter::pattern(open + r"\s*"));
    document.close = take::delimiter(&last.close, decisions.space);
    let mut transform = Map::new();
    let properties = item.properties.iter().flatten();
    for (key, child) in properties {
        if let Some(constant) = &child.constant {
            transform.insert(key.as_str(), constant.clone());
        }
    }
    let child = |name: &str| {
        item.properties
            .as_ref()
            .and_then(|properties| properties.get(name))
    };
    for header in headers {
        transform.insert(
            header.name.as_str(),
            Value::from(format!("{{{}}}", header.name)),
        );
    }
    transform.insert(last.name.as_str(), Value::from("{content}"));
    match child(&last.name) {
        None => text(&mut document, decisions),
        Some(body) => {
            content(body, item, last, &mut document, decisions)?;
            if document.transform.is_some() {
                return Err(Box::new(finding(
                    "convert-transform",
                    body,
                    "a transform within a transform",
                )));
            }
        }
    }
    document.transform = Some(Value::Object(transform));
    Ok(document)
}
