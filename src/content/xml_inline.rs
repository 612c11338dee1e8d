//! The content parser `xml-inline`: an object from the matches of a pattern with the groups `key` and `value`.

use std::ops::Range;

use super::error::{ContentError, ContentErrorKind as Kind};
use super::{Places, Tags, ValueParser};
use crate::pattern::{Pattern, fixed_texts};
use crate::value::{Map, Value, json, python};

#[derive(Debug, Clone)]
pub(super) struct XmlInline {
    /// `None` only when it is unusable, which `note` was told.
    tag: Option<Pattern>,
    /// The words by which broken tags are found behind the last tag: the fixed texts of a tag's pattern, and of the delimiter that opens a
    /// region, that have a letter or a digit. Text there with such a word in it is a broken tag, or opens the next region behind a close
    /// that is missing.
    words: Vec<String>,
    value_parser: ValueParser,
    /// Make a list of the values of a key that comes again.
    merge_duplicates: bool,
}

impl XmlInline {
    pub(super) fn compile(args: &Map, note: &mut dyn FnMut(ContentError)) -> Self {
        let tag = match args.get("tag_pattern") {
            None | Some(Value::Null) => Err("xml-inline needs the argument tag_pattern".to_owned()),
            Some(Value::String(source)) => Pattern::regex(source)
                .map_err(|error| format!("tag_pattern does not compile: {error}")),
            Some(other) => Err(format!(
                "tag_pattern must be a string, not {}",
                other.type_name()
            )),
        };
        let tag = tag.map_err(|message| {
            let hint =
                r"give it as a pattern with two groups, such as <(?P<key>\w+)>(?P<value>.*?)</\w+>";
            note(ContentError::new(Kind::Arguments, message).with_hint(hint));
        });
        let tag = tag.ok();
        let words = tag.as_ref().map(words).unwrap_or_default();
        Self {
            tag,
            words,
            value_parser: ValueParser::compile(args),
            merge_duplicates: args.get("merge_duplicates").is_some_and(Value::is_truthy),
        }
    }

    pub(super) fn know_open(&mut self, open: &Pattern) {
        self.words.extend(words(open));
    }

    pub(super) fn form(&self) -> Option<Tags<'_>> {
        Some(Tags {
            pattern: self.tag.as_ref()?,
            values: self.value_parser.form()?,
            merge_duplicates: self.merge_duplicates,
        })
    }

    /// The parser that makes values of the pieces.
    pub(super) fn values(&self) -> &ValueParser {
        &self.value_parser
    }

    /// Parses the text. `pass_over` is told of text outside of tags that means something, and of values that a later one with the same key
    /// replaces.
    pub(super) fn parse(
        &self,
        text: &str,
        pass_over: &mut dyn FnMut(Range<usize>),
    ) -> Result<Value, ContentError> {
        let mut out = Map::new();
        let mut places = Places::default();
        let mut read = 0;
        let Some(tag) = &self.tag else {
            return Ok(Value::Object(out));
        };
        for found in tag.find_iter(text) {
            let found = found
                .map_err(|error| ContentError::new(Kind::Limit, format!("tag_pattern: {error}")))?;
            let before = read..found.span.start;
            if has_letters(&text[before.clone()]) {
                pass_over(before);
            }
            read = found.span.end;
            let group = |name: &str| {
                found
                    .groups
                    .iter()
                    .find(|(group, _)| group == name)
                    .map(|(_, span)| span.clone())
            };
            let Some(key) = group("key").flatten() else {
                let message = "tag_pattern matched without its group `key`";
                let hint = "the pattern needs a group (?P<key>...) that takes part in every match";
                return Err(ContentError::new(Kind::XmlInline, message)
                    .at(found.span.start)
                    .with_hint(hint));
            };
            let key = &text[key];
            let place = |error: ContentError, start| {
                error.inside(&format!("value of {}", json::quote(key)), start)
            };
            let value = match group("value") {
                None => self
                    .value_parser
                    .parse("")
                    .map_err(|error| place(error, Some(found.span.start)))?,
                Some(None) => self
                    .value_parser
                    .parse_missing()
                    .map_err(|error| place(error, Some(found.span.start)))?,
                Some(Some(span)) => self
                    .value_parser
                    .parse(&text[span.clone()])
                    .map_err(|error| place(error, Some(span.start)))?,
            };
            match out.get_mut(key) {
                Some(Value::Array(values)) if self.merge_duplicates => values.push(value),
                Some(first) if self.merge_duplicates => {
                    *first = Value::Array(vec![std::mem::take(first), value])
                }
                _ => {
                    let (index, _) = out.insert_full(key, value);
                    places.note(index, found.span, pass_over);
                }
            }
        }
        if self.is_lost_behind(&text[read..]) {
            pass_over(read..text.len());
        }
        Ok(Value::Object(out))
    }

    /// Returns true if text behind the last tag means something: it has several words, or a word of the delimiters. A single other word
    /// closes something around the tags, such as `</function>` where the region ends with `</tool_call>`.
    fn is_lost_behind(&self, text: &str) -> bool {
        let mut words = text
            .split(python::is_space)
            .filter(|word| has_letters(word));
        words.nth(1).is_some() || self.words.iter().any(|word| text.contains(word.as_str()))
    }
}

/// Returns true if a text has a letter or a digit. Signs alone part the tags, such as a comma.
fn has_letters(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// The fixed texts of a pattern that have a letter or a digit.
fn words(pattern: &Pattern) -> Vec<String> {
    let mut words = fixed_texts(pattern);
    words.retain(|word| has_letters(word));
    words
}
