//! From the text of a region to its value: content parsers, transforms, tool arguments.
//!
//! The rules are those of `transformers.utils.chat_parsing` 5.23, the reference. A document's `content_args` may hold
//! anything: what is wrong with them shows when a region is parsed, as there.
//!
//! Different on purpose:
//!
//! - Integers have any number of digits. Python refuses more than 4300 by default.
//! - JSON nests at most [`json::MAX_DEPTH`](crate::value::json::MAX_DEPTH) deep, where Python stops near 990, and a
//!   surrogate escape without its partner is U+FFFD.
//! - What a transform writes and what `string_delims` rewrites is limited in proportion to the region.
//! - Coercion changes arguments and nothing else. Where a transform puts one parsed object in two places, Python shares it,
//!   and the reference coerces both.
//! - An `anyOf` or `oneOf` that is not a list declares nothing. The reference fails for numbers and `true`.
//! - A delimiter of `string_delims` is a string. The reference also takes a list of characters.

mod coerce;
mod error;
mod json;
mod json_strings;
mod kv_lines;
mod scalar;
mod transform;
mod xml_inline;

pub use coerce::ToolSchemas;
pub(crate) use coerce::{Types, is_coerced};
pub use error::{ContentError, ContentErrorKind};
pub(crate) use json_strings::{JsonStrings, Whereabouts};
pub(crate) use transform::Node;
pub use transform::{MixedPlaceholder, Placeholder, Transform, placeholders};

use std::borrow::Cow;
use std::ops::Range;

use crate::pattern::Pattern;
use crate::value::{Map, Value};

use error::ContentErrorKind as Kind;

/// The arguments that a content parser of that name reads; others mean nothing to it. Empty for an unknown name.
pub fn arguments(name: &str) -> &'static [&'static str] {
    match name {
        "text" | "int" | "float" | "bool" => &["strip"],
        "json" => &["allow_non_json", "string_delims", "strip", "unquoted_keys"],
        "xml-inline" => &["tag_pattern", "value_parser", "merge_duplicates"],
        "kv-lines" => &["line_sep", "kv_sep", "strip", "value_parser"],
        _ => &[],
    }
}

/// The names of the content parsers, as a document's `content` spells them.
pub const PARSERS: [&str; 7] = [
    "text",
    "int",
    "float",
    "bool",
    "json",
    "xml-inline",
    "kv-lines",
];

/// A content parser with its arguments, ready to run.
///
/// ```
/// use obverse::content::ContentParser;
/// use obverse::value::{Map, Value, json};
/// let content = ContentParser::compile("kv-lines", &Value::Object(Map::new())).unwrap();
/// let value = content.parse("city: Paris\nunit: C").unwrap();
/// assert_eq!(json::to_string(&value), r#"{"city": "Paris", "unit": "C"}"#);
/// ```
#[derive(Debug, Clone)]
pub struct ContentParser {
    parser: Parser,
    /// The error of the arguments, with which every parse fails.
    broken: Option<ContentError>,
}

#[derive(Debug, Clone)]
enum Parser {
    Text(scalar::Strip),
    Int(scalar::Strip),
    Float(scalar::Strip),
    Bool(scalar::Strip),
    Json(Box<json::Json>),
    XmlInline(Box<xml_inline::XmlInline>),
    KvLines(Box<kv_lines::KvLines>),
}

impl ContentParser {
    /// The content parser `name` with the document's `content_args`; `None` when there is no parser of that name.
    ///
    /// Arguments that the parser cannot use are no error here: they are the error of every parse that needs them.
    pub fn compile(name: &str, args: &Value) -> Option<Self> {
        if !PARSERS.contains(&name) {
            return None;
        }
        let (members, mut broken) = match args {
            Value::Object(members) => (members, None),
            other => {
                let message = format!("content_args must be an object, not {}", other.type_name());
                (
                    &Map::new(),
                    Some(ContentError::new(Kind::Arguments, message)),
                )
            }
        };
        let strip = scalar::Strip::from_args(members);
        let mut note = |error: ContentError| broken = broken.take().or(Some(error));
        let parser = match name {
            "text" => Parser::Text(strip),
            "int" => Parser::Int(strip),
            "float" => Parser::Float(strip),
            "bool" => Parser::Bool(strip),
            "json" => Parser::Json(Box::new(json::Json::compile(members, &mut note))),
            "xml-inline" => {
                Parser::XmlInline(Box::new(xml_inline::XmlInline::compile(members, &mut note)))
            }
            _ => Parser::KvLines(Box::new(kv_lines::KvLines::compile(members, &mut note))),
        };
        Some(Self { parser, broken })
    }

    /// The value of a region's text.
    ///
    /// # Errors
    ///
    /// When the text is not what the parser reads, or the arguments are unusable.
    pub fn parse(&self, text: &str) -> Result<Value, ContentError> {
        self.parse_noting(text, &Around::default(), &mut |_| ())
    }

    /// As [`parse`](Self::parse) does, and tells of each stretch of the text, in bytes, that would be a part of the value if it were
    /// written as the parser reads it: a tag that is broken, a line without its separator, a value that a later one with its key replaces.
    fn parse_noting(
        &self,
        text: &str,
        around: &Around<'_>,
        pass_over: &mut dyn FnMut(Range<usize>),
    ) -> Result<Value, ContentError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        match &self.parser {
            Parser::Text(strip) => Ok(Value::from(strip.apply(text))),
            Parser::Int(strip) => scalar::int(strip.apply(text)),
            Parser::Float(strip) => scalar::float(strip.apply(text)),
            Parser::Bool(strip) => Ok(scalar::bool(strip.apply(text))),
            Parser::Json(json) => json.parse(text),
            Parser::XmlInline(xml) => xml.parse(text, around, pass_over),
            Parser::KvLines(lines) => lines.parse(text, pass_over),
        }
    }

    /// Tells the parser what opens and closes its regions. If what opens one stands inside of a region, the region was not closed before it.
    pub(crate) fn know_delimiters(&mut self, open: Option<&Pattern>, close: Option<&Pattern>) {
        if let Parser::XmlInline(xml) = &mut self.parser {
            xml.know_delimiters(open, close);
        }
    }

    /// The error of the arguments, with which every parse that needs them fails; `None` when they can be used.
    pub fn fault(&self) -> Option<&ContentError> {
        let values = match &self.parser {
            Parser::XmlInline(xml) => xml.values(),
            Parser::KvLines(lines) => {
                if let Some(error) = lines.fault() {
                    return Some(error);
                }
                lines.values()
            }
            _ => return self.broken.as_ref(),
        };
        self.broken.as_ref().or_else(|| match values {
            ValueParser::Raw => None,
            ValueParser::Content(content) => content.fault(),
            ValueParser::Broken(error) => Some(error),
        })
    }

    /// Returns true if the value is the text, with or without the white space around it.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.parser, Parser::Text(_)) && self.broken.is_none()
    }

    /// The value that [`parse`](Self::parse) gives for a text where [`is_text`](Self::is_text) holds, without copying it again,
    /// and how many bytes of white space stand before it.
    pub(crate) fn text(&self, text: Cow<'_, str>) -> (usize, Value) {
        let Parser::Text(strip) = self.parser else {
            return (0, Value::String(text.into_owned()));
        };
        let stripped = strip.apply(&text);
        // Where in the text the stripped text lies.
        let start = stripped.as_ptr().addr() - text.as_ptr().addr();
        let end = start + stripped.len();
        let value = match text {
            Cow::Borrowed(text) => text[start..end].to_owned(),
            Cow::Owned(mut text) => {
                text.truncate(end);
                text.drain(..start);
                text
            }
        };
        (start, Value::String(value))
    }

    /// Returns true if each piece of the text is, white space aside, a piece of the value: `text`, `int`, `float` and `bool`.
    /// The pieces of other regions are raw material; the reference marks them `dirty`.
    pub fn is_streamable(&self) -> bool {
        matches!(
            self.parser,
            Parser::Text(_) | Parser::Int(_) | Parser::Float(_) | Parser::Bool(_)
        )
    }

    /// For `json`, the pairs that open and close strings beside double quotes.
    pub(crate) fn string_delims(&self) -> Option<&[(String, String)]> {
        match &self.parser {
            Parser::Json(json) => Some(json.string_delims()),
            _ => None,
        }
    }

    /// For `xml-inline`, the pattern of a tag; `None` where it is unusable.
    pub(crate) fn tag_pattern(&self) -> Option<&Pattern> {
        match &self.parser {
            Parser::XmlInline(xml) => Some(xml.form()?.pattern),
            _ => None,
        }
    }

    /// For `xml-inline`, the places of the keys and values in a text; `None` where the pattern of a tag is unusable, and for other parsers.
    pub(crate) fn spans_of_tags(&self, text: &str) -> Option<Vec<Range<usize>>> {
        let found = self.tag_pattern()?.find_iter(text).map_while(Result::ok);
        let spans = found.flat_map(|found| found.groups.into_iter().filter_map(|(_, span)| span));
        Some(spans.collect())
    }

    /// For `json`, the strings that it takes; `None` where its arguments are unusable.
    pub(crate) fn string_forms(&self) -> Option<StringForms<'_>> {
        match &self.parser {
            Parser::Json(json) if self.fault().is_none() => Some(json.strings()),
            _ => None,
        }
    }

    /// How its text becomes a value, for callers that make the value while the text arrives; `None` where its arguments are unusable.
    pub(crate) fn form(&self) -> Option<Form<'_>> {
        if self.fault().is_some() {
            return None;
        }
        Some(match &self.parser {
            Parser::Text(strip) => Form::Text {
                strip: strip.is_on(),
            },
            Parser::Json(json) => json.form(),
            Parser::XmlInline(xml) => Form::Tags(xml.form()?),
            Parser::KvLines(lines) => Form::Lines(lines.form()?),
            Parser::Int(_) | Parser::Float(_) | Parser::Bool(_) => Form::Other,
        })
    }

    /// Returns true if each beginning of a text is as whole as the text: tags and lines, of which the last may not have arrived.
    pub(crate) fn is_in_parts(&self) -> bool {
        matches!(self.parser, Parser::XmlInline(_) | Parser::KvLines(_))
    }

    /// The parser's name.
    pub fn name(&self) -> &'static str {
        match self.parser {
            Parser::Text(_) => "text",
            Parser::Int(_) => "int",
            Parser::Float(_) => "float",
            Parser::Bool(_) => "bool",
            Parser::Json(_) => "json",
            Parser::XmlInline(_) => "xml-inline",
            Parser::KvLines(_) => "kv-lines",
        }
    }
}

/// The work of a content parser, in a form in which it can be done piece by piece.
#[derive(Debug, Clone)]
pub(crate) enum Form<'c> {
    /// The text, with or without the white space around it.
    Text {
        strip: bool,
    },
    /// JSON, of which the dialect has these strings and keys. What may be no JSON is not of this form.
    Json {
        string_delims: &'c [(String, String)],
        unquoted_keys: bool,
    },
    Tags(Tags<'c>),
    Lines(Lines<'c>),
    /// A parser whose text has a value only as a whole.
    Other,
}

/// The strings that `json` takes beside those in double quotes.
#[derive(Debug, Clone)]
pub(crate) struct StringForms<'c> {
    pub(crate) delims: &'c [(String, String)],
    /// Where text that is no JSON is a string: whether white space around it is stripped.
    pub(crate) bare: Option<bool>,
}

/// `xml-inline`.
#[derive(Debug, Clone)]
pub(crate) struct Tags<'c> {
    pub(crate) pattern: &'c Pattern,
    pub(crate) values: Values<'c>,
    pub(crate) merge_duplicates: bool,
}

/// `kv-lines`.
#[derive(Debug, Clone)]
pub(crate) struct Lines<'c> {
    /// `None` is any white space.
    pub(crate) line_sep: Option<&'c str>,
    pub(crate) kv_sep: &'c str,
    pub(crate) strip: bool,
    pub(crate) values: Values<'c>,
}

/// The parser that makes values of the pieces.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Values<'c> {
    /// They are their text.
    Text { strip: bool },
    /// A content parser that needs each of them whole.
    Whole(&'c ContentParser),
}

/// The `value_parser` of `xml-inline` and `kv-lines`: what makes a value of each piece of text.
#[derive(Debug, Clone)]
enum ValueParser {
    /// There is none: the text itself.
    Raw,
    Content(ContentParser),
    /// It cannot be used, which is the error of each value but not of a region without one.
    Broken(ContentError),
}

impl ValueParser {
    fn compile(args: &Map) -> Self {
        let members = match args.get("value_parser") {
            None | Some(Value::Null) => return Self::Raw,
            Some(Value::Object(members)) => members,
            Some(other) => {
                let message = format!("value_parser must be an object, not {}", other.type_name());
                return Self::Broken(ContentError::new(Kind::Arguments, message));
            }
        };
        let name = members
            .get("name")
            .cloned()
            .unwrap_or_else(|| Value::from("text"));
        let empty = Value::Object(Map::new());
        let content = name
            .as_str()
            .and_then(|name| ContentParser::compile(name, members.get("args").unwrap_or(&empty)));
        content.map_or_else(
            || {
                let name = crate::value::json::to_string(&name);
                let message = format!("value_parser names no content parser: {name}");
                let hint = format!("the content parsers are {}", PARSERS.join(", "));
                Self::Broken(ContentError::new(Kind::Arguments, message).with_hint(hint))
            },
            Self::Content,
        )
    }

    fn form(&self) -> Option<Values<'_>> {
        Some(match self {
            Self::Raw => Values::Text { strip: false },
            Self::Content(ContentParser {
                parser: Parser::Text(strip),
                broken: None,
            }) => Values::Text {
                strip: strip.is_on(),
            },
            Self::Content(content) => Values::Whole(content),
            Self::Broken(_) => return None,
        })
    }

    fn parse(&self, text: &str) -> Result<Value, ContentError> {
        match self {
            Self::Raw => Ok(Value::from(text)),
            Self::Content(content) => content.parse(text),
            Self::Broken(error) => Err(error.clone()),
        }
    }

    /// As [`parse`](Self::parse) does, and tells of what a content parser passes over.
    fn parse_noting(
        &self,
        text: &str,
        pass_over: &mut dyn FnMut(Range<usize>),
    ) -> Result<Value, ContentError> {
        match self {
            Self::Content(content) => content.parse_noting(text, &Around::default(), pass_over),
            Self::Raw | Self::Broken(_) => self.parse(text),
        }
    }

    /// The value where the text itself is missing: a group that took no part in a match.
    fn parse_missing(&self) -> Result<Value, ContentError> {
        match self {
            Self::Raw => Ok(Value::Null),
            Self::Content(ContentParser {
                parser: Parser::Text(strip),
                broken: None,
            }) if !strip.is_on() => Ok(Value::Null),
            Self::Content(content) => Err(content.broken.clone().unwrap_or_else(|| {
                let message = format!(
                    "there is no text for the value parser `{}` to read",
                    content.name()
                );
                ContentError::new(Kind::XmlInline, message)
            })),
            Self::Broken(error) => Err(error.clone()),
        }
    }
}

/// The surroundings of a region's text.
#[derive(Debug, Default)]
struct Around<'a> {
    /// The named groups of the delimiter that opened the region.
    captures: Option<&'a Map>,
    /// True if the response ended before what closes the region.
    is_cut: bool,
}

/// Where in a text the members of an object stand, by their index in it.
#[derive(Debug, Default)]
struct Places(Vec<Range<usize>>);

impl Places {
    /// Notes the place of a member that was just written, and tells of the place of the one that it took the place of.
    fn note(&mut self, index: usize, place: Range<usize>, pass_over: &mut dyn FnMut(Range<usize>)) {
        match self.0.get_mut(index) {
            Some(known) => pass_over(std::mem::replace(known, place)),
            None => self.0.push(place),
        }
    }
}

/// The value of a region: its text through the content parser, then through the transform.
///
/// `captures` are the named groups of the opening delimiter that took part in its match. With `each` the parsed text
/// must be a list of objects; the transform is applied to every one, with its members, and not `content`, in scope
/// beside the captures.
///
/// # Errors
///
/// Those of [`ContentParser::parse`] and [`Transform::apply`], and with `each` when the value is not a list of objects.
pub fn process(
    body: &str,
    content: &ContentParser,
    transform: Option<&Transform>,
    each: bool,
    captures: Map,
) -> Result<Value, ContentError> {
    process_noting(body, content, transform, each, captures, false, &mut |_| ())
}

/// As [`process`] does, and tells of each stretch of the text, in bytes, that the content parser passes over though it has a part of the value.
/// With `is_cut` the response ended before what closes the region.
pub(crate) fn process_noting(
    body: &str,
    content: &ContentParser,
    transform: Option<&Transform>,
    each: bool,
    mut captures: Map,
    is_cut: bool,
    pass_over: &mut dyn FnMut(Range<usize>),
) -> Result<Value, ContentError> {
    let around = Around {
        captures: Some(&captures),
        is_cut,
    };
    let mut value = content.parse_noting(body, &around, pass_over)?;
    let Some(transform) = transform else {
        return Ok(value);
    };
    let captured: usize = captures
        .values()
        .filter_map(Value::as_str)
        .map(str::len)
        .sum();
    let mut budget = transform::Budget::for_input(body.len() + captured);
    if !each {
        let mut scope = transform::Scope {
            outer: transform::Outer::Once(&mut captures),
            inner: transform::Inner::Content(&mut value),
        };
        return transform.apply_in(&mut scope, &mut budget);
    }
    let Value::Array(items) = value else {
        let message = format!(
            "transform_each needs a list, but the content is {}",
            value.type_name()
        );
        let hint = "leave transform_each out to transform the content as a whole";
        return Err(ContentError::new(Kind::TransformEach, message).with_hint(hint));
    };
    let transformed = items.into_iter().enumerate().map(|(index, item)| {
        let Value::Object(mut members) = item else {
            let message = format!(
                "transform_each needs a list of objects, but item {index} is {}",
                item.type_name()
            );
            return Err(ContentError::new(Kind::TransformEach, message));
        };
        let mut scope = transform::Scope {
            outer: transform::Outer::Often(&captures),
            inner: transform::Inner::Members(&mut members),
        };
        transform
            .apply_in(&mut scope, &mut budget)
            .map_err(|error| error.inside(&format!("item {index}"), None))
    });
    transformed.collect::<Result<_, _>>().map(Value::Array)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    fn error(name: &str, args: &str, text: &str) -> (&'static str, Option<usize>, String) {
        let content = ContentParser::compile(name, &json::parse(args).expect("JSON"))
            .expect("a content parser");
        let error = content.parse(text).expect_err("no value");
        (error.kind(), error.offset(), error.to_string())
    }

    #[test]
    fn errors_say_what_and_where() {
        let cases = [
            ("int", "{}", "4x", "int", None, r#""4x" is not an integer"#),
            ("float", "{}", "", "float", None, r#""" is not a number"#),
            ("json", "{}", "{\"a\": }", "json", Some(6), "allow_non_json"),
            (
                "json",
                r#"{"unquoted_keys": true}"#,
                "{a: }",
                "json",
                None,
                r#"before "}""#,
            ),
            (
                "json",
                r#"{"string_delims": [["'", "'"]]}"#,
                "['a\u{1}']",
                "json",
                Some(3),
                "reserves",
            ),
            (
                "json",
                "{\"string_delims\": [1]}",
                "[]",
                "content-args",
                None,
                "string_delims",
            ),
            (
                "json",
                "[]",
                "[]",
                "content-args",
                None,
                "must be an object",
            ),
            ("xml-inline", "{}", "", "content-args", None, "tag_pattern"),
            (
                "xml-inline",
                r#"{"tag_pattern": "("}"#,
                "",
                "content-args",
                None,
                "does not compile",
            ),
            (
                "xml-inline",
                r#"{"tag_pattern": "<x>"}"#,
                "a<x>",
                "xml-inline",
                Some(1),
                "group `key`",
            ),
            (
                "kv-lines",
                r#"{"value_parser": {"name": "int"}}"#,
                "a: 1\nb: x",
                "int",
                Some(8),
                "value of \"b\"",
            ),
            (
                "kv-lines",
                r#"{"value_parser": {"name": "json"}}"#,
                "a: [1 2]",
                "json",
                Some(6),
                "value of \"a\"",
            ),
            (
                "kv-lines",
                r#"{"kv_sep": ""}"#,
                "a",
                "content-args",
                None,
                "kv_sep",
            ),
        ];
        for (name, args, text, kind, offset, words) in cases {
            let (found, at, message) = error(name, args, text);
            assert_eq!((found, at), (kind, offset), "{message}");
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn a_long_region_is_not_quoted_whole() {
        let (.., message) = error("int", "{}", &"9x".repeat(100_000));
        assert!(message.len() < 200, "{message}");
    }

    #[test]
    fn what_grows_out_of_proportion_meets_a_limit() {
        let delimiters = vec![r#"["", ""]"#; 30].join(", ");
        let (kind, _, message) = error(
            "json",
            &format!(r#"{{"string_delims": [{delimiters}]}}"#),
            "[1]",
        );
        assert_eq!(kind, "limit", "{message}");

        let template = Value::Array(vec![Value::from("{content}"); 10_000]);
        let transform = Transform::compile(&template).expect("a transform");
        let text =
            ContentParser::compile("text", &Value::Object(Map::new())).expect("a content parser");
        let apply = |body: &str| process(body, &text, Some(&transform), false, Map::new());
        assert_eq!(
            apply(&"x".repeat(1_000_000)).expect_err("too much").kind(),
            "limit"
        );
        assert!(apply(&"x".repeat(100)).is_ok());
    }
}
