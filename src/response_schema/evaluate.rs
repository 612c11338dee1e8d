//! Evaluation: `recursive_parse` of transformers, node by node.
//!
//! A node is given text or a value. Its steps are taken in the order of transformers: substitutions, the pattern or the iterator, keys and
//! values, the parser; then the type says what becomes of the result, and properties and items are evaluated on it in turn. Each node may
//! be given all of the text above it, so that the work is at most the number of nodes times the text, times what their patterns cost; how
//! much longer a text may become by substitutions is limited.

use std::borrow::Cow;

use super::error::{ErrorKind, SchemaError, excerpt};
use super::given::Given;
use super::node::{Additional, Kind, Node, Parser};
use super::substitute::{Failure, GROWTH, longest};
use super::{Outcome, calls};
use crate::pattern::{Captures, MatchError, Pattern};
use crate::value::json::JsonErrorKind;
use crate::value::{Key, Map, Value, json, python};

/// An observer of an evaluation: it is told the input of each node, and the result.
pub(super) trait Observer {
    /// A node was reached.
    fn enter(&mut self, node: &Node, given: &Given<'_>);
    /// A step of the node left this value.
    fn step(&mut self, what: &'static str, given: &Given<'_>);
    /// The node is done.
    fn leave(&mut self, result: &Result<Value, SchemaError>);
}

/// The observer that ignores everything.
struct Unobserved;

impl Observer for Unobserved {
    fn enter(&mut self, _: &Node, _: &Given<'_>) {}
    fn step(&mut self, _: &'static str, _: &Given<'_>) {}
    fn leave(&mut self, _: &Result<Value, SchemaError>) {}
}

type Evaluated = Result<Value, SchemaError>;

pub(super) fn evaluate(root: &Node, text: &str) -> Evaluated {
    visit(root, Given::Text(Cow::Borrowed(text)), &mut Unobserved)
}

/// Evaluates as [`evaluate`] does, but an object that is given text goes on with its other properties after an error.
pub(super) fn evaluate_all(root: &Node, text: &str) -> Outcome {
    let mut errors = Vec::new();
    let given = Given::Text(Cow::Borrowed(text));
    let is_plain = root.kind == Kind::Object
        && root.constant.is_none()
        && root.parser.is_none()
        && root.properties.is_some();
    if !is_plain {
        return one(evaluate(root, text));
    }
    let extracted = match extract(root, given, &mut Unobserved) {
        Ok(Some(Given::Text(text))) => text,
        Ok(_) => return one(evaluate(root, text)),
        Err(error) => return one(Err(error)),
    };
    let mut members = Map::new();
    for (key, node) in root.properties.iter().flatten() {
        match visit(
            node,
            Given::Text(Cow::Borrowed(&extracted)),
            &mut Unobserved,
        ) {
            Ok(Value::Null) => {}
            Ok(value) => {
                members.insert(key.as_str(), value);
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        return one(complete(root, members, &Given::Text(extracted)));
    }
    Outcome {
        value: Value::Object(members),
        errors,
    }
}

fn one(evaluated: Evaluated) -> Outcome {
    match evaluated {
        Ok(value) => Outcome {
            value,
            errors: Vec::new(),
        },
        Err(error) => Outcome {
            value: Value::Null,
            errors: vec![error],
        },
    }
}

/// Evaluates a node on its input, and reports both ends to the observer.
pub(super) fn visit(node: &Node, given: Given<'_>, observer: &mut impl Observer) -> Evaluated {
    observer.enter(node, &given);
    let result = value_of(node, given, observer);
    observer.leave(&result);
    result
}

fn value_of(node: &Node, given: Given<'_>, observer: &mut impl Observer) -> Evaluated {
    if let Some(constant) = &node.constant {
        return Ok(constant.clone());
    }
    if matches!(given, Given::Value(Value::Null)) {
        return Ok(Value::Null);
    }
    let Some(extracted) = extract(node, given, observer)? else {
        return Ok(Value::Null);
    };
    let parsed = match &node.parser {
        None => extracted,
        Some(parser) => {
            let parsed = Given::of(parse(node, parser, extracted)?);
            observer.step("x-parser", &parsed);
            parsed
        }
    };
    match &node.kind {
        Kind::Any => Ok(parsed.into_value()),
        Kind::Object => object(node, parsed, observer),
        Kind::Array => array(node, parsed, observer),
        Kind::String => match parsed {
            Given::Text(text) => Ok(Value::String(text.into_owned())),
            other => Err(wrong_value(node, "text", &other)),
        },
        Kind::Integer => integer(node, parsed),
        Kind::Number => number(node, parsed),
        Kind::Boolean => boolean(node, parsed),
        Kind::Unknown(kind) => {
            let message = format!("there is no type {}", in_quotes(kind));
            Err(
                SchemaError::new(ErrorKind::UnknownType, &node.path, message)
                    .with_raw(parsed.raw()),
            )
        }
    }
}

/// The node's patterns; `None` where one of them found nothing.
fn extract<'t>(
    node: &Node,
    given: Given<'t>,
    observer: &mut impl Observer,
) -> Result<Option<Given<'t>>, SchemaError> {
    if !node.needs_text {
        return Ok(Some(given));
    }
    let error = |kind, message: String| SchemaError::new(kind, &node.path, message);
    let Given::Text(mut text) = given else {
        let message = format!("the node has a pattern and was given {}", given.kind());
        return Err(error(ErrorKind::NotText, message).with_raw(given.raw()));
    };
    let most = longest(text.len());
    for substitution in &node.substitutions {
        text = Cow::Owned(substitution.apply(&text, most).map_err(|failure| match failure {
            Failure::Match(limit) => too_long(node, &limit),
            Failure::Growth => error(
                ErrorKind::Limit,
                format!("substitutions make the text more than {GROWTH} times as long, which is the limit"),
            ),
        })?);
    }
    if !node.substitutions.is_empty() {
        observer.step("x-regex-substitutions", &Given::Text(Cow::Borrowed(&text)));
    }
    let mut given = Given::Text(text);
    if let Some(pattern) = &node.regex {
        let Given::Text(text) = given else {
            unreachable!("it was text until here")
        };
        let Some(found) = pattern
            .search(&text, 0)
            .map_err(|limit| too_long(node, &limit))?
        else {
            return Ok(None);
        };
        given = match single(node, pattern, &found)? {
            Some(None) => Given::Value(Value::Null),
            Some(Some(range)) => Given::Text(match text {
                Cow::Borrowed(text) => Cow::Borrowed(&text[range]),
                Cow::Owned(text) => Cow::Owned(text[range].to_owned()),
            }),
            None => Given::Value(Value::Object(named(&text, &found))),
        };
        observer.step("x-regex", &given);
    }
    let second = |given: &Given<'_>, kind: ErrorKind, key: &str, wanted: &str| match given {
        _ if node.kind != kind_named(wanted) => Err(error(
            kind,
            format!("`{key}` makes an {wanted}, and the node's type is another"),
        )),
        Given::Text(text) => Ok(text.clone().into_owned()),
        other => {
            let message = format!(
                "`x-regex` found {}, in which `{key}` cannot search",
                other.kind()
            );
            let hint = "an unnamed group that always takes part gives text";
            Err(error(ErrorKind::ExtractedNotText, message)
                .with_hint(hint)
                .with_raw(other.raw()))
        }
    };
    if let Some(pattern) = &node.iterator {
        let text = second(&given, ErrorKind::IteratorType, "x-regex-iterator", "array")?;
        let mut items = Vec::new();
        for found in pattern.find_iter_bounded(&text) {
            let found = found.map_err(|limit| too_long(node, &limit))?;
            items.push(match single(node, pattern, &found)? {
                Some(None) => Value::Null,
                Some(Some(range)) => Value::from(&text[range]),
                None => Value::Object(named(&text, &found)),
            });
        }
        if items.is_empty() {
            return Ok(None);
        }
        given = Given::Value(Value::Array(items));
        observer.step("x-regex-iterator", &given);
    }
    if let Some(pattern) = &node.key_value {
        let text = second(
            &given,
            ErrorKind::KeyValueType,
            "x-regex-key-value",
            "object",
        )?;
        let mut members = Map::new();
        for found in pattern.find_iter_bounded(&text) {
            let found = found.map_err(|limit| too_long(node, &limit))?;
            single(node, pattern, &found)?;
            let (Some(key), Some(value)) = (found.group("key"), found.group("value")) else {
                let message = "a match lacks its group `key` or its group `value`";
                let raw = &text[found.span];
                return Err(error(ErrorKind::KeyValueGroups, message.to_owned()).with_raw(raw));
            };
            members.insert(&text[key], Value::from(&text[value]));
        }
        if members.is_empty() {
            return Ok(None);
        }
        given = Given::Value(Value::Object(members));
        observer.step("x-regex-key-value", &given);
    }
    Ok(Some(given))
}

fn kind_named(name: &str) -> Kind {
    match name {
        "array" => Kind::Array,
        _ => Kind::Object,
    }
}

/// Returns the bytes that the one unnamed group of a pattern matched, or that the group took no part; `None` for a pattern with named
/// groups.
fn single(
    node: &Node,
    pattern: &Pattern,
    found: &Captures,
) -> Result<Option<Option<std::ops::Range<usize>>>, SchemaError> {
    if has_names(pattern) {
        return Ok(None);
    }
    let error = |kind, message: &str, hint: &str| {
        Err(SchemaError::new(kind, &node.path, message).with_hint(hint))
    };
    match found.groups.as_slice() {
        [(_, range)] => Ok(Some(range.clone())),
        [] => error(
            ErrorKind::NoGroup,
            "the pattern has no group to say what is taken",
            "put what is to be taken into parentheses",
        ),
        _ => error(
            ErrorKind::ManyGroups,
            "the pattern has several unnamed groups",
            "write `(?:...)` for all but one, or give them names",
        ),
    }
}

/// Returns true if a pattern of `re` has a group with a name.
pub(super) fn has_names(pattern: &Pattern) -> bool {
    pattern.group_names().iter().any(|name| is_name(name))
}

/// Returns true for names of named groups. Unnamed groups have their numbers for names, and no name begins with a digit.
pub(super) fn is_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
}

/// The named groups that took part.
fn named(text: &str, found: &Captures) -> Map {
    let groups = found.groups.iter().filter(|(name, _)| is_name(name));
    let members = groups.filter_map(|(name, range)| {
        let value = Value::from(&text[range.clone()?]);
        Some((Key::clone(name), value))
    });
    members.collect()
}

fn too_long(node: &Node, limit: &MatchError) -> SchemaError {
    SchemaError::new(ErrorKind::Limit, &node.path, limit.to_string())
}

fn parse(node: &Node, parser: &Parser, given: Given<'_>) -> Evaluated {
    let error = |kind, message: String| SchemaError::new(kind, &node.path, message);
    let (calls, allow_non_json, transform) = match parser {
        Parser::Json {
            calls,
            allow_non_json,
            transform,
        } => (*calls, *allow_non_json, transform),
        Parser::Unknown(name) => {
            let message = format!("there is no parser {}", in_quotes(name));
            let hint = format!("the parsers are {}", super::PARSERS.join(" and "));
            return Err(error(ErrorKind::UnknownParser, message).with_hint(&hint));
        }
    };
    let Given::Text(text) = given else {
        let message = format!("the parser was given {}", given.kind());
        return Err(error(ErrorKind::ParserNotText, message).with_raw(given.raw()));
    };
    let text = if calls {
        let rewritten = calls::to_json(&text).ok_or_else(|| {
            let message = "putting the strings of the calls in quotes takes too long".to_owned();
            error(ErrorKind::Limit, message)
        })?;
        Cow::Owned(rewritten)
    } else {
        text
    };
    let value = match json::parse(&text) {
        Ok(value) => value,
        Err(found) if found.kind() == JsonErrorKind::TooDeep => {
            return Err(error(ErrorKind::Limit, found.message()).with_raw(text));
        }
        Err(_) if allow_non_json => Value::String(text.into_owned()),
        Err(found) => {
            let message = format!(
                "the text is not JSON: {} at byte {}",
                found.message(),
                found.offset()
            );
            let hint = "where it may be plain text, x-parser-args.allow_non_json takes it";
            return Err(error(ErrorKind::Json, message)
                .with_hint(hint)
                .with_raw(text));
        }
    };
    let Some(transform) = transform else {
        return Ok(value);
    };
    transform.expression.search(&value).map_err(|fault| {
        let kind = if fault.limit {
            ErrorKind::Limit
        } else {
            ErrorKind::Transform
        };
        error(
            kind,
            format!(
                "the transform {}: {}",
                excerpt(&transform.source),
                fault.message
            ),
        )
        .with_raw(json::to_string(&value))
    })
}

fn object(node: &Node, given: Given<'_>, observer: &mut impl Observer) -> Evaluated {
    let mut members = Map::new();
    match &given {
        Given::Text(text) => {
            let Some(properties) = &node.properties else {
                let message = "the object was given text and has no properties to give it to";
                return Err(SchemaError::new(ErrorKind::ObjectText, &node.path, message)
                    .with_hint("an x-regex with named groups, x-regex-key-value or x-parser makes members of text")
                    .with_raw(&**text));
            };
            for (key, child) in properties {
                match visit(child, Given::Text(Cow::Borrowed(text)), observer)? {
                    Value::Null => {}
                    value => {
                        members.insert(key.as_str(), value);
                    }
                }
            }
        }
        Given::Value(Value::Object(has)) => {
            for (key, child) in node.properties.iter().flatten() {
                let value = match (&child.constant, has.get(key), &child.default) {
                    (Some(constant), ..) => constant.clone(),
                    (None, Some(value), _) => visit(child, Given::of(value.clone()), observer)?,
                    (None, None, Some(default)) => default.clone(),
                    (None, None, None) => continue,
                };
                members.insert(key.as_str(), value);
            }
            let is_other = |key: &Key| {
                let properties = node.properties.as_ref();
                properties.is_none_or(|properties| !properties.contains_key(key.as_str()))
            };
            for (key, value) in has.iter().filter(|(key, _)| is_other(key)) {
                let value = match &node.additional {
                    Additional::Refused => continue,
                    Additional::Kept => value.clone(),
                    Additional::Read(child) => visit(child, Given::of(value.clone()), observer)?,
                };
                members.insert(key.clone(), value);
            }
        }
        Given::Value(_) => {
            let message = format!(
                "an object is made of text or of an object, and was given {}",
                given.kind()
            );
            return Err(
                SchemaError::new(ErrorKind::NotObject, &node.path, message).with_raw(given.raw())
            );
        }
    }
    complete(node, members, &given)
}

/// The object of these members, if none is missing.
fn complete(node: &Node, members: Map, given: &Given<'_>) -> Evaluated {
    let missing: Vec<&str> = node
        .required
        .iter()
        .filter(|key| !members.contains_key(key))
        .map(String::as_str)
        .collect();
    if missing.is_empty() {
        return Ok(Value::Object(members));
    }
    let message = format!("required and missing: {}", missing.join(", "));
    Err(SchemaError::new(ErrorKind::Required, &node.path, message).with_raw(given.raw()))
}

fn array(node: &Node, given: Given<'_>, observer: &mut impl Observer) -> Evaluated {
    let is_empty = match &given {
        Given::Text(text) => text.is_empty(),
        Given::Value(value) => !value.is_truthy(),
    };
    if is_empty {
        return Ok(Value::Array(Vec::new()));
    }
    let error = |kind, message: String| SchemaError::new(kind, &node.path, message);
    let not_list = |kind, given: &Given<'_>| {
        let message = format!("an array is made of a list, and was given {}", given.kind());
        let hint = "x-regex-iterator makes a list of text";
        Err(error(kind, message).with_hint(hint).with_raw(given.raw()))
    };
    if let Some(child) = &node.items {
        let Given::Value(Value::Array(items)) = given else {
            return not_list(ErrorKind::NotList, &given);
        };
        let items = items
            .into_iter()
            .map(|item| visit(child, Given::of(item), observer));
        return items.collect::<Result<_, _>>().map(Value::Array);
    }
    let Some(children) = &node.prefix_items else {
        let message = "the array has neither items nor prefixItems".to_owned();
        return Err(error(ErrorKind::NoItems, message).with_raw(given.raw()));
    };
    let items = match given {
        Given::Value(Value::Array(items)) => items,
        given if children.len() == 1 => vec![given.into_value()],
        given => return not_list(ErrorKind::PrefixNotList, &given),
    };
    if items.len() != children.len() {
        let message = format!(
            "the list has {} items, and prefixItems {}",
            items.len(),
            children.len()
        );
        let raw = json::to_string(&Value::Array(items));
        return Err(error(ErrorKind::PrefixLength, message).with_raw(raw));
    }
    let items = items.into_iter().zip(children);
    items
        .map(|(item, child)| visit(child, Given::of(item), observer))
        .collect::<Result<_, _>>()
        .map(Value::Array)
}

fn wrong_value(node: &Node, wanted: &str, given: &Given<'_>) -> SchemaError {
    let message = format!("the node takes {wanted}, and was given {}", given.kind());
    SchemaError::new(ErrorKind::WrongValue, &node.path, message).with_raw(given.raw())
}

/// Python counts booleans as integers and leaves them as they are.
fn integer(node: &Node, given: Given<'_>) -> Evaluated {
    match given {
        Given::Value(value @ (Value::Int(_) | Value::Bool(_))) => Ok(value),
        Given::Text(text) => python::int(&text).map(Value::Int).ok_or_else(|| {
            let message = format!("{} is not an integer", excerpt(&text));
            SchemaError::new(ErrorKind::Integer, &node.path, message).with_raw(&*text)
        }),
        other => Err(wrong_value(node, "text or an integer", &other)),
    }
}

fn number(node: &Node, given: Given<'_>) -> Evaluated {
    let error = |message: String, raw: &str| {
        SchemaError::new(ErrorKind::Number, &node.path, message).with_raw(raw)
    };
    match given {
        Given::Value(Value::Float(number)) => Ok(Value::Float(number)),
        Given::Value(Value::Bool(value)) => Ok(Value::Float(f64::from(u8::from(value)))),
        Given::Value(Value::Int(integer)) => {
            let digits = integer.to_string();
            let float: f64 = digits.parse().unwrap_or(f64::INFINITY);
            if float.is_finite() {
                return Ok(Value::Float(float));
            }
            Err(error(
                "the integer is too large for a number".to_owned(),
                &digits,
            ))
        }
        Given::Text(text) => python::float(&text)
            .map(Value::Float)
            .ok_or_else(|| error(format!("{} is not a number", excerpt(&text)), &text)),
        other => Err(wrong_value(node, "text or a number", &other)),
    }
}

fn boolean(node: &Node, given: Given<'_>) -> Evaluated {
    match given {
        Given::Value(Value::Bool(value)) => Ok(Value::Bool(value)),
        Given::Text(text) if text == "1" || text.eq_ignore_ascii_case("true") => {
            Ok(Value::Bool(true))
        }
        Given::Text(text) if text == "0" || text.eq_ignore_ascii_case("false") => {
            Ok(Value::Bool(false))
        }
        Given::Text(text) => {
            let message = format!("{} is none of true, false, 1 and 0", excerpt(&text));
            Err(SchemaError::new(ErrorKind::Boolean, &node.path, message).with_raw(&*text))
        }
        other => Err(wrong_value(node, "text or a boolean", &other)),
    }
}

/// The name of something that there is not, in quotes; what is no text as JSON.
fn in_quotes(name: &Value) -> String {
    match name {
        Value::String(name) => excerpt(name),
        other => excerpt(&json::to_string(other)),
    }
}
