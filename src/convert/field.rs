//! The field of a property: the place of its text, and the content parser and transform that make a value of it.

use super::call::{call, members};
use super::carry::{Way, substitutions};
use super::take::{self, Region};
use super::{Finding, finding};
use crate::pattern::Pattern;
use crate::pattern::parts::{self, Part};
use crate::response_schema::node::{Additional, Kind, Node, Parser, Substitution};
use crate::response_template::FieldDocument;
use crate::value::{Map, Value};

type Carried = Result<(FieldDocument, Vec<Finding>), Box<Finding>>;

/// Returns the field of a property; `region` is the place of its text in the pattern of the root, where that has one.
pub(super) fn field(node: &Node, region: Option<Region>, way: Way) -> Carried {
    let mut findings = Vec::new();
    let own = node
        .regex
        .as_ref()
        .map(|pattern| single(node, pattern))
        .transpose()?;
    let mut region = match (region, own) {
        (Some(outer), Some(inner)) => Some(within(outer, inner)),
        (outer, inner) => outer.or(inner),
    };
    let mut document = FieldDocument::default();
    let mut item = node;
    if let Some(iterator) = &node.iterator {
        document.repeats = true;
        let children = node.items.as_deref();
        item = children.ok_or_else(|| {
            Box::new(finding(
                "convert-content",
                node,
                "the items of the list are not said one for one",
            ))
        })?;
        let regions = take::regions(iterator);
        let (Some(first), Some(last)) = (regions.first(), regions.last()) else {
            return Err(Box::new(finding(
                "convert-pattern",
                node,
                "the iterator has no group",
            )));
        };
        let called = regions.len() > 1 || !first.name.starts_with(|c: char| c.is_ascii_digit());
        if called {
            return members(item, &regions, document, way).map(|document| (document, findings));
        }
        let mut taken = last.clone();
        if !take::has_text(&taken.open) {
            // The delimiters stand within the group: what it begins and ends with are they.
            let (head, tail) = ends(&taken.body);
            taken.open = [taken.open, head].concat();
            taken.close = [tail, taken.close].concat();
        }
        region = Some(taken);
    }
    let region = region.unwrap_or(Region {
        name: String::new(),
        open: Vec::new(),
        close: Vec::new(),
        body: Vec::new(),
    });
    document.open = take::delimiter(&region.open, way.space && document.repeats);
    document.close = match document.open {
        Some(_) => take::delimiter(&region.close, way.space),
        None => take::delimiter(&region.close, false),
    };
    // What takes regions out of the text leaves what no region claims, which is what a field without an open takes.
    let takes_out = |substitution: &Substitution| substitution.replacement.as_text() == Some("");
    if document.open.is_some() && !node.substitutions.is_empty()
        || !node.substitutions.iter().all(takes_out)
    {
        findings.push(substitutions(node));
    }
    content(item, node, &region, &mut document, way)?;
    Ok((document, findings))
}

/// Returns the parts before the first one that is not text or white space, and the parts behind the last one.
fn ends(body: &[Part]) -> (Vec<Part>, Vec<Part>) {
    let is_text = |part: &&Part| matches!(part, Part::Text(_) | Part::Space(_));
    let head: Vec<Part> = body.iter().take_while(is_text).cloned().collect();
    let mut tail: Vec<Part> = body.iter().rev().take_while(is_text).cloned().collect();
    tail.reverse();
    if head.len() == body.len() {
        return (head, Vec::new());
    }
    (head, tail)
}

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

/// A region within the text of another.
fn within(outer: Region, inner: Region) -> Region {
    Region {
        name: outer.name,
        open: [outer.open, inner.open].concat(),
        close: [inner.close, outer.close].concat(),
        body: inner.body,
    }
}

/// Adds the content parser that makes a value of the text of a region, or of each item where the property is a list.
pub(super) fn content(
    item: &Node,
    property: &Node,
    region: &Region,
    document: &mut FieldDocument,
    way: Way,
) -> Result<(), Box<Finding>> {
    match (&item.parser, &item.kind) {
        (Some(parser), _) => json(item, parser, document),
        (None, Kind::String | Kind::Any) => {
            text(document, way);
            Ok(())
        }
        (None, Kind::Integer) => named(document, "int"),
        (None, Kind::Number) => named(document, "float"),
        (None, Kind::Boolean) => named(document, "bool"),
        (None, Kind::Object) if item.key_value.is_some() => pairs(item, document),
        (None, Kind::Object) => call(item, region, document, way),
        _ => Err(Box::new(finding(
            "convert-content",
            property,
            "nothing makes such a value of a region's text",
        ))),
    }
}

pub(super) fn text(document: &mut FieldDocument, way: Way) {
    let strip = match document.open {
        Some(_) => way.strip,
        None => way.strip_rest,
    };
    if !strip {
        document.content_args.insert("strip", Value::Bool(false));
    }
}

fn named(document: &mut FieldDocument, name: &str) -> Result<(), Box<Finding>> {
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
