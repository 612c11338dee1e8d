//! The content parsers of a response template that do what a node of a schema does with its text, and what they take as arguments.

use super::decisions::Decisions;
use super::take::{self, Region};
use super::{Finding, finding};
use crate::pattern::Pattern;
use crate::pattern::parts;
use crate::response_schema::node::{Additional, Kind, Node, Parser};
use crate::response_template::FieldDocument;
use crate::value::{Map, Value};

/// The region of a pattern with one group.
pub(super) fn single(node: &Node, pattern: &Pattern) -> Result<Region, Box<Finding>> {
    let mut regions = take::regions(pattern);
    match (regions.pop(), regions.is_empty()) {
        (Some(region), true) => Ok(region),
        _ => Err(Box::new(finding(
            "convert-pattern",
            node,
            "the pattern has not one group that stands apart",
        ))),
    }
}

pub(super) fn text(document: &mut FieldDocument, decisions: Decisions) {
    let strip = match document.open {
        Some(_) => decisions.strip,
        None => decisions.strip_rest,
    };
    if !strip {
        document.content_args.insert("strip", Value::Bool(false));
    }
}

pub(super) fn named(document: &mut FieldDocument, name: &str) -> Result<(), Box<Finding>> {
    document.content = Some(name.to_owned());
    Ok(())
}

/// The content parser `json`, and the transform that a JMESPath expression is.
pub(super) fn json(
    node: &Node,
    parser: &Parser,
    document: &mut FieldDocument,
) -> Result<(), Box<Finding>> {
    let Parser::Json {
        calls,
        allow_non_json,
        transform,
    } = parser
    else {
        return Err(Box::new(finding(
            "convert-content",
            node,
            "the parser is unknown",
        )));
    };
    document.content = Some("json".to_owned());
    document.content_args = json_arguments(*calls, *allow_non_json);
    let Some(transform) = transform else {
        return Ok(());
    };
    let (template, each) = transform.to_transform().map_err(|why| {
        let message = format!(
            "the JMESPath expression {:?} is {why}, which no transform can say",
            transform.source
        );
        Box::new(finding("convert-transform", node, message))
    })?;
    document.transform = template;
    document.transform_each = each;
    Ok(())
}

fn json_arguments(calls: bool, allow_non_json: bool) -> Map {
    let mut arguments = Map::new();
    if calls {
        let mark = Value::from("<|\"|>");
        let pair = Value::Array(vec![mark.clone(), mark]);
        arguments.insert("string_delims", Value::Array(vec![pair]));
        arguments.insert("unquoted_keys", Value::Bool(true));
    }
    if allow_non_json {
        arguments.insert("allow_non_json", Value::Bool(true));
    }
    arguments
}

/// The arguments of `json` by which it reads what the parser of one family's calls reads.
pub(super) fn calls_arguments() -> Map {
    json_arguments(true, false)
}

/// The content parser `xml-inline`, whose pattern is that of `x-regex-key-value`.
pub(super) fn pairs(node: &Node, document: &mut FieldDocument) -> Result<(), Box<Finding>> {
    let Some(pattern) = &node.key_value else {
        return Ok(());
    };
    let source = parts::source(&parts::parts(pattern), &|name| {
        ["key", "value"].contains(&name).then(|| name.to_owned())
    });
    let source = source.ok_or_else(|| {
        Box::new(finding(
            "convert-pattern",
            node,
            "the pattern cannot be written for `regex`",
        ))
    })?;
    document.content = Some("xml-inline".to_owned());
    document
        .content_args
        .insert("tag_pattern", Value::from(source));
    let value = match &node.additional {
        Additional::Read(value) => &**value,
        _ => return Ok(()),
    };
    let (name, arguments) = match (&value.parser, &value.kind) {
        (
            Some(Parser::Json {
                calls,
                allow_non_json,
                transform: None,
            }),
            _,
        ) => ("json", json_arguments(*calls, *allow_non_json)),
        (None, Kind::String | Kind::Any) if !value.needs_text => {
            ("text", Map::from([("strip", Value::Bool(false))]))
        }
        (None, Kind::Integer) if !value.needs_text => ("int", Map::new()),
        (None, Kind::Number) if !value.needs_text => ("float", Map::new()),
        _ => {
            return Err(Box::new(finding(
                "convert-content",
                value,
                "no content parser makes such values",
            )));
        }
    };
    let mut parser = Map::from([("name", Value::from(name))]);
    if !arguments.is_empty() {
        parser.insert("args", Value::Object(arguments));
    }
    document
        .content_args
        .insert("value_parser", Value::Object(parser));
    Ok(())
}
