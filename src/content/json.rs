//! The content parser `json`, with the dialects that models write.

use super::error::{ContentError, ContentErrorKind as Kind, excerpt};
use super::scalar::Strip;
use super::{Form, StringForms};
use crate::value::json::{self, JsonErrorKind};
use crate::value::{Map, Value, python};

/// Around the number of a string that was taken out of the text. The reference reserves the same two characters.
const OPEN: char = '\u{1}';
const CLOSE: char = '\u{2}';

/// How many times its length, and how many bytes beyond that, the text may grow while strings are taken out.
const GROWTH: usize = 16;
const FREE: usize = 1 << 16;

#[derive(Debug, Clone)]
pub(super) struct Json {
    /// Put bare words before a colon in quotes.
    unquoted_keys: bool,
    /// The pairs of texts that open and close strings, in the order in which they are looked for.
    string_delims: Vec<(String, String)>,
    /// True if text that is no JSON is taken as text.
    allow_non_json: bool,
    strip: Strip,
}

impl Json {
    pub(super) fn compile(args: &Map, note: &mut dyn FnMut(ContentError)) -> Self {
        let string_delims = args
            .get("string_delims")
            .map_or_else(|| Ok(Vec::new()), pairs);
        let is_on = |key| args.get(key).is_some_and(Value::is_truthy);
        Self {
            unquoted_keys: is_on("unquoted_keys"),
            string_delims: string_delims.unwrap_or_else(|found| {
                let message = format!(
                    "string_delims must be a list of [open, close] pairs of strings, not {found}"
                );
                note(ContentError::new(Kind::Arguments, message));
                Vec::new()
            }),
            allow_non_json: is_on("allow_non_json"),
            strip: Strip::from_args(args),
        }
    }

    pub(super) fn form(&self) -> Form<'_> {
        if self.allow_non_json {
            return Form::Other;
        }
        Form::Json {
            string_delims: &self.string_delims,
            unquoted_keys: self.unquoted_keys,
        }
    }

    pub(super) fn strings(&self) -> StringForms<'_> {
        StringForms {
            delims: &self.string_delims,
            bare: self.allow_non_json.then(|| self.strip.is_on()),
        }
    }

    pub(super) fn string_delims(&self) -> &[(String, String)] {
        &self.string_delims
    }

    pub(super) fn parse(&self, text: &str) -> Result<Value, ContentError> {
        let rewritten = self.rewrite(text)?;
        let error = match json::parse(rewritten.as_deref().unwrap_or(text)) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        if error.kind() == JsonErrorKind::TooDeep {
            return Err(ContentError::new(Kind::Limit, error.message()).at(error.offset()));
        }
        if self.allow_non_json {
            return Ok(Value::from(self.strip.apply(text)));
        }
        let hint = "where such a region may be plain text, content_args.allow_non_json takes it";
        Err(match rewritten.filter(|rewritten| rewritten != text) {
            None => {
                let message = format!("the region is not JSON: {}", error.message());
                ContentError::new(Kind::Json, message)
                    .at(error.offset())
                    .with_hint(hint)
            }
            // The offset is one of the rewritten text, so the place is shown instead of counted.
            Some(rewritten) => {
                let place = &rewritten[floor(&rewritten, error.offset())..];
                let message = format!(
                    "the region is not JSON even with its dialect's strings and keys in quotes: {} before {}",
                    error.message(),
                    excerpt(place)
                );
                ContentError::new(Kind::Json, message).with_hint(hint)
            }
        })
    }

    /// The text in plain JSON, as far as the dialect goes; `None` when there is no dialect.
    fn rewrite(&self, text: &str) -> Result<Option<String>, ContentError> {
        if self.string_delims.is_empty() && !self.unquoted_keys {
            return Ok(None);
        }
        if !self.string_delims.is_empty()
            && let Some(offset) = text.find([OPEN, CLOSE])
        {
            let message = "the region holds U+0001 or U+0002, which string_delims reserves";
            return Err(ContentError::new(Kind::Json, message).at(offset));
        }
        let mut strings = Vec::new();
        let mut working = text.to_owned();
        for (open, close) in &self.string_delims {
            working = take_strings(&working, open, close, &mut strings);
            // Delimiters that match nearly everywhere make the text grow with every pair.
            if working.len() > text.len().saturating_mul(GROWTH).saturating_add(FREE) {
                let message = format!(
                    "string_delims makes the region more than {GROWTH} times as long, which is the limit"
                );
                return Err(ContentError::new(Kind::Limit, message));
            }
        }
        if self.unquoted_keys {
            working = quote_keys(&working);
        }
        Ok(Some(put_strings(&working, &strings)))
    }
}

/// The pairs of `string_delims`, or what stands there instead. Python unpacks whatever it can iterate over, so a string
/// of two characters is a pair too.
fn pairs(value: &Value) -> Result<Vec<(String, String)>, String> {
    let describe = |value: &Value| excerpt(&json::to_string(value));
    let items: Vec<Value> = match value {
        Value::Array(items) => items.clone(),
        Value::Object(members) => members
            .keys()
            .map(|key| Value::from(key.as_str()))
            .collect(),
        Value::String(text) if text.is_empty() => Vec::new(),
        other => return Err(describe(other)),
    };
    let pair = |item: &Value| {
        let parts: Vec<String> = match item {
            Value::Array(parts) => parts
                .iter()
                .map(|part| part.as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
            Value::Object(members) => members.keys().map(ToString::to_string).collect(),
            Value::String(text) => text.chars().map(String::from).collect(),
            _ => return None,
        };
        <[String; 2]>::try_from(parts)
            .ok()
            .map(|[open, close]| (open, close))
    };
    items
        .iter()
        .map(|item| pair(item).ok_or_else(|| describe(item)))
        .collect()
}

/// Takes the strings between `open` and the nearest `close` out of the text and leaves their numbers.
fn take_strings(text: &str, open: &str, close: &str, strings: &mut Vec<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut take = |out: &mut String, string: &str| {
        out.push_str(&format!("{OPEN}{}{CLOSE}", strings.len()));
        strings.push(string.to_owned());
    };
    if open.is_empty() && close.is_empty() {
        for c in text.chars() {
            take(&mut out, "");
            out.push(c);
        }
        take(&mut out, "");
        return out;
    }
    let mut rest = text;
    while let Some(start) = rest.find(open) {
        let body = start + open.len();
        let Some(length) = rest[body..].find(close) else {
            break;
        };
        out.push_str(&rest[..start]);
        take(&mut out, &rest[body..body + length]);
        rest = &rest[body + length + close.len()..];
    }
    out.push_str(rest);
    out
}

/// Puts the taken strings back, as JSON.
fn put_strings(text: &str, strings: &[String]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(OPEN) {
        out.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let number = &after[..digits];
        let string = number
            .parse::<usize>()
            .ok()
            .filter(|index| index.to_string() == number);
        match string.and_then(|index| strings.get(index)) {
            Some(string) if after[digits..].starts_with(CLOSE) => {
                out.push_str(&json::quote(string));
                rest = &after[digits + 1..];
            }
            _ => {
                out.push(OPEN);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Puts words between `{` or `,` and `:` in quotes, wherever they stand.
fn quote_keys(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', ',']) {
        let (before, after) = rest.split_at(at + 1);
        out.push_str(before);
        let word = after.find(|c| !python::is_word(c)).unwrap_or(after.len());
        if word > 0 && after[word..].starts_with(':') {
            out.push_str(&format!("\"{}\":", &after[..word]));
            rest = &after[word + 1..];
        } else {
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// The nearest character boundary at or before `offset`.
fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}
