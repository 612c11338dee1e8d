//! The content parser `xml-inline`: an object from the matches of a pattern with the groups `key` and `value`.

use std::collections::HashSet;
use std::ops::Range;

use super::error::{ContentError, ContentErrorKind as Kind};
use super::{Around, Places, Tags, ValueParser};
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
    /// The words of the delimiter that opens a region. What closes it again says them, such as `</function>` where the region begins with
    /// `<tool_call><function=` and ends with `</tool_call>`.
    opening: Vec<String>,
    /// The fixed texts of a tag's pattern and of the delimiters. A response that is cut short may end with the beginning of one.
    texts: Vec<String>,
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
        let texts = tag.as_ref().map(fixed_texts).unwrap_or_default();
        let words = with_letters(&texts);
        Self {
            tag,
            words,
            opening: Vec::new(),
            texts,
            value_parser: ValueParser::compile(args),
            merge_duplicates: args.get("merge_duplicates").is_some_and(Value::is_truthy),
        }
    }

    pub(super) fn know_delimiters(&mut self, open: Option<&Pattern>, close: Option<&Pattern>) {
        let open = open.map(fixed_texts).unwrap_or_default();
        self.words.extend(with_letters(&open));
        let opening = open.iter().flat_map(|text| spoken(text));
        self.opening.extend(opening.map(str::to_owned));
        self.texts.extend(open);
        self.texts
            .extend(close.map(fixed_texts).unwrap_or_default());
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

    /// Parses the text. `pass_over` is told of text outside of tags that means something, of what is passed over within a value, and of
    /// values that a later one with the same key replaces.
    pub(super) fn parse(
        &self,
        text: &str,
        around: &Around<'_>,
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
                    .parse_noting(&text[span.clone()], &mut |within| {
                        pass_over(span.start + within.start..span.start + within.end);
                    })
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
        if self.is_lost_behind(&text[read..], around) {
            pass_over(read..text.len());
        }
        Ok(Value::Object(out))
    }

    /// Returns true if text behind the last tag means something: it has a word that is not one of the delimiter that opened the region, or a
    /// broken tag. Where the response ended before what closes the region, the beginning of a tag is none. The words of the delimiter close
    /// it again, where the region ends with what closes something around it.
    fn is_lost_behind(&self, text: &str, around: &Around<'_>) -> bool {
        if self.words.iter().any(|word| text.contains(word.as_str())) {
            return true;
        }
        let text = match around.is_cut {
            true => self.without_beginning(text),
            false => text,
        };
        if !has_letters(text) {
            return false;
        }
        let captured = around.captures.into_iter().flat_map(Map::values);
        let captured = captured.filter_map(Value::as_str).flat_map(spoken);
        let opening = self.opening.iter().map(String::as_str);
        let opening: HashSet<&str> = opening.chain(captured).collect();
        let says_them_alone = !text.contains(is_sign);
        says_them_alone || !spoken(text).all(|word| opening.contains(word))
    }

    /// The text without the beginning of a tag or a delimiter with which it ends. That the response is cut there is told of the region.
    fn without_beginning<'t>(&self, text: &'t str) -> &'t str {
        let beginnings = self.texts.iter().filter_map(|whole| {
            let mut ends = whole.char_indices().map(|(at, _)| at).rev();
            ends.find(|&end| text.ends_with(&whole[..end]))
        });
        &text[..text.len() - beginnings.max().unwrap_or(0)]
    }
}

/// Returns the words of a text: its runs of letters and digits.
fn spoken(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// Returns true if a character is neither a letter, a digit nor white space.
fn is_sign(c: char) -> bool {
    !c.is_alphanumeric() && !python::is_space(c)
}

/// Returns true if a text has a letter or a digit. Signs alone part the tags, such as a comma.
fn has_letters(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// The texts that have a letter or a digit.
fn with_letters(texts: &[String]) -> Vec<String> {
    let texts = texts.iter().filter(|text| has_letters(text));
    texts.cloned().collect()
}
