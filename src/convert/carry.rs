//! Response templates that might do what a schema does. One is written for each way in which a schema can be understood:
//! whether white space around a text counts, whether that behind a close belongs to it, where the body of a call begins.

use super::Finding;
use super::take::{self, Region};
use crate::pattern::Pattern;
use crate::pattern::parts::{self, Part};
use crate::response_schema::node::{Additional, Kind, Node, Parser, Substitution};
use crate::response_template::{Delimiter, Document, FieldDocument};
use crate::value::{Map, Value};

/// A response template that may be the one.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) document: Document,
    /// What of the schema is not in it.
    pub(super) findings: Vec<Finding>,
}

/// What a schema leaves open.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// White space around texts is dropped: of those that something opens, and of the one that nothing does.
    strip: bool,
    strip_rest: bool,
    /// A close takes the white space behind it.
    space: bool,
    /// What stands before the body of a call belongs to its opening.
    header: bool,
    /// What has no open and stands before something else is read from the start.
    begins: bool,
}

/// All drafts, each once; the plainest first.
pub(super) fn drafts(root: &Node, anchor: &Delimiter) -> Vec<Draft> {
    let mut found: Vec<Draft> = Vec::new();
    for begins in [false, true] {
        for header in [true, false] {
            for space in [true, false] {
                for (strip, strip_rest) in
                    [(true, true), (false, false), (true, false), (false, true)]
                {
                    let way = Way {
                        strip,
                        strip_rest,
                        space,
                        header,
                        begins,
                    };
                    let draft = draft(root, anchor, way);
                    if !draft.document.fields.is_empty()
                        && !found.iter().any(|known| known.document == draft.document)
                    {
                        found.push(draft);
                    }
                }
            }
        }
    }
    found
}

fn finding(code: &'static str, node: &Node, message: impl Into<String>) -> Finding {
    Finding {
        code,
        path: node.path.clone(),
        message: message.into(),
    }
}

fn draft(root: &Node, anchor: &Delimiter, way: Way) -> Draft {
    let mut draft = Draft {
        document: Document::new(anchor.clone()),
        findings: Vec::new(),
    };
    if root.kind != Kind::Object
        || root.constant.is_some()
        || root.parser.is_some()
        || root.key_value.is_some()
    {
        let message =
            "a message is an object, of which the schema says property by property how it is found";
        draft.findings.push(finding("convert-root", root, message));
        return draft;
    }
    if !root.substitutions.is_empty() {
        draft.findings.push(substitutions(root));
    }
    let regions = root.regex.as_ref().map(take::regions).unwrap_or_default();
    let mut implicit: Option<(String, FieldDocument)> = None;
    for (name, node) in root.properties.iter().flatten() {
        if let Some(constant) = &node.constant {
            if *constant != Value::Null {
                draft
                    .document
                    .defaults
                    .insert(name.as_str(), constant.clone());
            }
            continue;
        }
        let region = match &root.regex {
            None => None,
            Some(_) => match regions.iter().find(|region| region.name == *name) {
                Some(region) => Some(region.clone()),
                None => {
                    if let Some(default) = &node.default {
                        draft
                            .document
                            .defaults
                            .insert(name.as_str(), default.clone());
                    }
                    continue;
                }
            },
        };
        match field(node, region, way) {
            Ok((document, further)) => {
                draft.findings.extend(further);
                if document.open.is_some() {
                    draft.document.fields.insert(name.clone(), document);
                } else if implicit.is_none() {
                    implicit = Some((name.clone(), document));
                } else {
                    let message =
                        format!("{name} has nothing that opens it, and so has another property");
                    draft
                        .findings
                        .push(finding("convert-implicit", node, message));
                }
            }
            Err(why) => draft.findings.push(*why),
        }
    }
    if let Some((name, mut document)) = implicit {
        if document.close.is_none() {
            let node = root
                .properties
                .iter()
                .flatten()
                .find(|(key, _)| **key == name);
            document.close = node.and_then(|(_, node)| taken_out(node));
        }
        close_implicit(&mut document, &draft.document, way);
        draft.document.fields.insert(name, document);
    }
    if way.begins {
        begin_at_the_start(&mut draft.document);
    }
    draft
}

fn substitutions(node: &Node) -> Finding {
    let message = "a response template changes no text before it looks for delimiters";
    finding("convert-substitutions", node, message)
}

/// The texts with which a substitution takes out what follows them: they close a field that takes what is left.
fn taken_out(node: &Node) -> Option<Delimiter> {
    let empty = node
        .substitutions
        .iter()
        .filter(|substitution| substitution.replacement.as_text() == Some(""));
    let texts = empty.filter_map(|substitution| {
        let parts = parts::parts(&substitution.pattern);
        let first = parts
            .into_iter()
            .find(|part| !part.is_condition() && !matches!(part, Part::Space(_)));
        first.map(|part| take::texts(&part))
    });
    let texts: Vec<String> = texts.flatten().collect();
    (!texts.is_empty()).then_some(Delimiter::Literals(texts))
}

/// What closes the field without an open: nothing that opens or closes another, and with the white space behind it, since text there
/// would open the field again.
fn close_implicit(document: &mut FieldDocument, whole: &Document, way: Way) {
    if let Some(Delimiter::Literals(texts)) = &mut document.close {
        texts.retain(|text| {
            !whole.fields.values().any(|field| {
                let sides = [&field.open, &field.close];
                sides.into_iter().flatten().any(|side| match side {
                    Delimiter::Literals(known) => known.contains(text),
                    Delimiter::Pattern(source) => source.contains(&parts::escaped(text)),
                })
            })
        });
        if texts.is_empty() {
            document.close = None;
        } else if way.space {
            let written: Vec<String> = texts.iter().map(|text| parts::escaped(text)).collect();
            let source = match written.as_slice() {
                [only] => only.clone(),
                several => format!("(?:{})", several.join("|")),
            };
            document.close = Some(Delimiter::pattern(source + r"\s*"));
        }
    }
}

/// Lets the first field that is opened and closed by literals begin at the start too, where only its close stands: as when the prompt
/// has opened it.
fn begin_at_the_start(document: &mut Document) {
    let first = document.fields.values_mut().find(|field| !field.repeats);
    let Some(field) = first else { return };
    let (Some(Delimiter::Literals(open)), Some(close)) = (&field.open, &field.close) else {
        return;
    };
    let close = match close {
        Delimiter::Literals(texts) => match texts.as_slice() {
            [only] => parts::escaped(only),
            _ => return,
        },
        Delimiter::Pattern(source) => source.strip_suffix(r"\s*").unwrap_or(source).to_owned(),
    };
    let [open] = open.as_slice() else { return };
    let open = parts::escaped(open);
    field.open = Some(Delimiter::pattern(format!(
        r"{open}|\A(?!{open})(?=(?:(?!{open}).)*?{close})"
    )));
}

type Carried = Result<(FieldDocument, Vec<Finding>), Box<Finding>>;

/// The field of a property; `region` is where its text stands in the pattern of the root, where that has one.
fn field(node: &Node, region: Option<Region>, way: Way) -> Carried {
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

/// What the parts begin and end with, up to the first and from the last that says no text.
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
fn single(node: &Node, pattern: &Pattern) -> Result<Region, Box<Finding>> {
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

/// What makes a value of the text of a region: of each item, where the property is a list.
fn content(
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

fn text(document: &mut FieldDocument, way: Way) {
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
fn json(node: &Node, parser: &Parser, document: &mut FieldDocument) -> Result<(), Box<Finding>> {
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
fn pairs(node: &Node, document: &mut FieldDocument) -> Result<(), Box<Finding>> {
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

/// A call that is found part by part in its text: names by patterns of their own, which go into what opens the region, and one body.
struct Call<'a> {
    /// The captures and their patterns.
    headers: Vec<(String, Region)>,
    /// What makes the body, and what stands before it.
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

fn call(
    item: &Node,
    region: &Region,
    document: &mut FieldDocument,
    way: Way,
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
    // What is said both at the end of the region's open and at the beginning of a header stands there once.
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
        None => text(document, way),
        Some((node, prefix)) => {
            if let (Some(prefix), true) = (prefix, way.header)
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

/// Of what stands behind a name, the text that ends it.
fn closing_text(close: &[Part]) -> Vec<Part> {
    close
        .iter()
        .take(1)
        .filter(|part| matches!(part, Part::Text(_)))
        .cloned()
        .collect()
}

/// Calls whose parts are the named groups of one pattern: the last group is the body, those before it are captures.
fn members(
    item: &Node,
    regions: &[Region],
    mut document: FieldDocument,
    way: Way,
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
    document.close = take::delimiter(&last.close, way.space);
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
        None => text(&mut document, way),
        Some(body) => {
            content(body, item, last, &mut document, way)?;
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
