//! Reading JSON text.

use std::fmt;
use std::ops::Range;

use super::Places;
use crate::value::{Integer, Key, Map, Value};

/// How deep lists and objects may nest. Python stops near 990 by default; this limit keeps every later walk over the
/// value (comparing, cloning, dropping) within the smallest common thread stack.
pub const MAX_DEPTH: usize = 256;

/// Why a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// The text starts with a byte order mark.
    ByteOrderMark,
    /// A value should stand here.
    ExpectedValue,
    /// A key in double quotes should stand here.
    ExpectedKey,
    /// A `:` should stand here.
    ExpectedColon,
    /// A `,` or the closing bracket should stand here.
    ExpectedComma,
    /// The string that begins here does not end.
    UnterminatedString,
    /// A control character stands unescaped in a string.
    ControlCharacter,
    /// A backslash is followed by something that it cannot escape.
    InvalidEscape,
    /// `\u` is not followed by four hexadecimal digits and the rest of the string.
    InvalidUnicodeEscape,
    /// Something follows the value.
    ExtraData,
    /// Lists and objects nest deeper than [`MAX_DEPTH`].
    TooDeep,
}

/// A text is not JSON: why, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    kind: JsonErrorKind,
    offset: usize,
}

impl JsonError {
    /// Why.
    pub fn kind(&self) -> JsonErrorKind {
        self.kind
    }

    /// The byte offset of the place in the text; where Python names a place too, the same one.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The message, without the place.
    pub fn message(&self) -> String {
        match self.kind {
            JsonErrorKind::ByteOrderMark => "the text starts with a byte order mark".to_owned(),
            JsonErrorKind::ExpectedValue => "expected a value".to_owned(),
            JsonErrorKind::ExpectedKey => "expected a key in double quotes".to_owned(),
            JsonErrorKind::ExpectedColon => "expected `:` after the key".to_owned(),
            JsonErrorKind::ExpectedComma => "expected `,` or the closing bracket".to_owned(),
            JsonErrorKind::UnterminatedString => {
                "the string that begins here does not end".to_owned()
            }
            JsonErrorKind::ControlCharacter => {
                "a control character must be escaped in a string".to_owned()
            }
            JsonErrorKind::InvalidEscape => "this is not a JSON escape".to_owned(),
            JsonErrorKind::InvalidUnicodeEscape => "`\\u` needs four hexadecimal digits".to_owned(),
            JsonErrorKind::ExtraData => "something follows the end of the value".to_owned(),
            JsonErrorKind::TooDeep => {
                format!("lists and objects nest deeper than the limit of {MAX_DEPTH}")
            }
        }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {})", self.message(), self.offset)
    }
}

impl std::error::Error for JsonError {}

/// Reads one JSON value, with nothing but white space (`" \t\n\r"`) around it.
///
/// # Errors
///
/// Where Python's `json.loads` raises `JSONDecodeError`, and at a depth beyond [`MAX_DEPTH`].
///
/// ```
/// use obverse::value::json;
/// let value = json::parse("[123456789012345678901234567890, NaN]").unwrap();
/// assert_eq!(json::to_string(&value), "[123456789012345678901234567890, NaN]");
/// assert_eq!(json::parse("[1, ]").unwrap_err().offset(), 4);
/// ```
pub fn parse(text: &str) -> Result<Value, JsonError> {
    Reader::new(text, None)
        .read(Extent::Whole)
        .map(|(value, _)| value)
}

/// Reads the JSON value that `text` begins with, and says how many bytes it takes, as Python's `raw_decode` does.
///
/// # Errors
///
/// As [`parse`], but whatever follows the value is left alone.
///
/// ```
/// use obverse::value::json;
/// let (_, len) = json::parse_prefix("{\"a\": [1]} and more").unwrap();
/// assert_eq!(len, 10);
/// ```
pub fn parse_prefix(text: &str) -> Result<(Value, usize), JsonError> {
    Reader::new(text, None).read(Extent::Prefix)
}

/// Reads a document as [`parse`] does, and the place of each value in the text.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_with_places(text: &str) -> Result<(Value, Places), JsonError> {
    let mut places = Places::default();
    let (value, _) = Reader::new(text, Some(&mut places)).read(Extent::Whole)?;
    Ok((value, places))
}

/// How a text may go on behind its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Prefix,
}

/// Where in a JSON string literal, quotes included, the byte `offset` of the string that it spells is written: the way
/// from a place in a string's value to a place in the file.
///
/// ```
/// use obverse::value::json;
/// let literal = r#""a\n\u00e9(""#;
/// assert_eq!(json::parse(literal).unwrap().as_str().unwrap().find('('), Some(4));
/// assert_eq!(json::offset_in_literal(literal, 4), 10);
/// ```
pub fn offset_in_literal(literal: &str, offset: usize) -> usize {
    let mut reader = Reader::new(literal, None);
    reader.at = 1;
    let mut decoded = 0;
    while decoded < offset {
        let rest = literal.get(reader.at..).unwrap_or_default();
        if rest.starts_with("\\u") {
            let Ok(c) = reader.unicode_escape() else {
                break;
            };
            decoded += c.len_utf8();
        } else if rest.starts_with('\\') {
            reader.at += 2;
            decoded += 1;
        } else {
            let Some(c) = rest.chars().next() else { break };
            reader.at += c.len_utf8();
            decoded += c.len_utf8();
        }
    }
    reader.at.min(literal.len())
}

/// How many bytes stand before the next that means something in a string.
pub(crate) fn plain(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let mut at = 0;
    for word in bytes.as_chunks::<8>().0 {
        let word = u64::from_le_bytes(*word);
        // The high bit of each byte that is below 0x20, a quote or a backslash; a byte above a marked one may be
        // marked, too, but none below the first.
        let control = word.wrapping_sub(ONES * 0x20);
        let quote = (word ^ (ONES * 0x22)).wrapping_sub(ONES);
        let backslash = (word ^ (ONES * 0x5c)).wrapping_sub(ONES);
        let marked = (control | quote | backslash) & !word & HIGH;
        if marked != 0 {
            return at + marked.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes[at..]
        .iter()
        .take_while(|byte| !matches!(byte, 0..0x20 | b'"' | b'\\'))
        .count();
    at + rest
}

struct Reader<'a, 'p> {
    text: &'a str,
    at: usize,
    /// How many lists and objects are open.
    depth: usize,
    /// The last string in which something was escaped.
    unescaped: String,
    /// Where the values' places are noted, if they are asked for.
    places: Option<&'p mut Places>,
}

impl<'a, 'p> Reader<'a, 'p> {
    fn new(text: &'a str, places: Option<&'p mut Places>) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            unescaped: String::new(),
            places,
        }
    }

    /// The first value and where it ends.
    fn read(mut self, extent: Extent) -> Result<(Value, usize), JsonError> {
        if self.text.starts_with('\u{feff}') {
            return Err(self.error(JsonErrorKind::ByteOrderMark, 0));
        }
        self.skip_space();
        let value = self.value(None, None)?;
        let end = self.at;
        self.skip_space();
        if extent == Extent::Whole && self.at < self.text.len() {
            return Err(self.error(JsonErrorKind::ExtraData, self.at));
        }
        Ok((value, end))
    }

    /// The value here. `parent` is the number of the place of what encloses it.
    fn value(
        &mut self,
        parent: Option<usize>,
        key: Option<(&str, Range<usize>)>,
    ) -> Result<Value, JsonError> {
        let node = match &mut self.places {
            Some(places) => Some(places.begin(parent, key, self.at)),
            None => None,
        };
        let value = match self.peek() {
            Some(b'{') => Value::Object(self.members(node)?),
            Some(b'[') => Value::Array(self.items(node)?),
            _ => self.scalar()?,
        };
        if let (Some(places), Some(node)) = (&mut self.places, node) {
            places.end(node, self.at);
        }
        Ok(value)
    }

    fn members(&mut self, node: Option<usize>) -> Result<Map, JsonError> {
        let mut map = Map::new();
        let mut more = self.enter(b'}')?;
        while more {
            let (key, span) = self.key()?;
            let value = self.value(node, Some((&key, span)))?;
            map.insert(key, value);
            more = self.go_on(b'}')?;
        }
        Ok(map)
    }

    fn items(&mut self, node: Option<usize>) -> Result<Vec<Value>, JsonError> {
        let mut items = Vec::new();
        let mut more = self.enter(b']')?;
        while more {
            items.push(self.value(node, None)?);
            more = self.go_on(b']')?;
        }
        Ok(items)
    }

    /// Passes the bracket that opens a list or object; whether anything is in it.
    fn enter(&mut self, close: u8) -> Result<bool, JsonError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error(JsonErrorKind::TooDeep, self.at));
        }
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(false);
        }
        self.depth += 1;
        Ok(true)
    }

    /// Passes what stands behind a member or item; whether another follows.
    fn go_on(&mut self, close: u8) -> Result<bool, JsonError> {
        self.skip_space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.skip_space();
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                self.depth -= 1;
                Ok(false)
            }
            _ => Err(self.error(JsonErrorKind::ExpectedComma, self.at)),
        }
    }

    /// A key, its colon and the white space after both.
    #[inline(always)]
    fn key(&mut self) -> Result<(Key, Range<usize>), JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.error(JsonErrorKind::ExpectedKey, self.at));
        }
        let start = self.at;
        let key = match self.string()? {
            Some(text) => Key::new(text),
            None => Key::new(&self.unescaped),
        };
        let span = start..self.at;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.error(JsonErrorKind::ExpectedColon, self.at));
        }
        self.at += 1;
        self.skip_space();
        Ok((key, span))
    }

    #[inline(always)]
    fn scalar(&mut self) -> Result<Value, JsonError> {
        let (word, value) = match self.peek() {
            Some(b'"') => {
                let text = self.string()?;
                return Ok(Value::String(text.unwrap_or(&self.unescaped).to_owned()));
            }
            Some(b'n') => ("null", Value::Null),
            Some(b't') => ("true", Value::Bool(true)),
            Some(b'f') => ("false", Value::Bool(false)),
            Some(b'N') => ("NaN", Value::Float(f64::NAN)),
            Some(b'I') => ("Infinity", Value::Float(f64::INFINITY)),
            Some(b'-') => ("-Infinity", Value::Float(f64::NEG_INFINITY)),
            _ => ("", Value::Null),
        };
        if !word.is_empty() && self.text[self.at..].starts_with(word) {
            self.at += word.len();
            return Ok(value);
        }
        self.number()
            .ok_or_else(|| self.error(JsonErrorKind::ExpectedValue, self.at))
    }

    /// The longest number here. What could have continued it and does not is left for whoever reads on.
    fn number(&mut self) -> Option<Value> {
        let bytes = self.text.as_bytes();
        let digits = |from: usize| {
            bytes[from..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count()
        };
        let start = self.at;
        let mut end = start + usize::from(bytes.get(start) == Some(&b'-'));
        end += match bytes.get(end) {
            Some(b'0') => 1,
            Some(b'1'..=b'9') => digits(end),
            _ => return None,
        };
        let integer_end = end;
        if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits((end + 1 + sign).min(bytes.len()));
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        self.at = end;
        let text = &self.text[start..end];
        if end == integer_end {
            Integer::from_digits(text).map(Value::Int)
        } else {
            text.parse().ok().map(Value::Float)
        }
    }

    /// The string here, if it is a piece of the text; one in which something is escaped is put into `unescaped`.
    #[inline(always)]
    fn string(&mut self) -> Result<Option<&'a str>, JsonError> {
        let start = self.at + 1;
        let rest = &self.text.as_bytes()[start..];
        let end = plain(rest);
        if rest.get(end) == Some(&b'"') {
            self.at = start + end + 1;
            return Ok(Some(&self.text[start..start + end]));
        }
        self.unescape().map(|()| None)
    }

    #[inline(never)]
    fn unescape(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut copied = start + 1;
        self.at += 1;
        self.unescaped.clear();
        loop {
            match bytes.get(self.at) {
                None => return Err(self.error(JsonErrorKind::UnterminatedString, start)),
                Some(b'"') => {
                    self.unescaped.push_str(&self.text[copied..self.at]);
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    if self.unescaped.is_empty() {
                        self.unescaped.reserve(self.text.len() - start);
                    }
                    self.unescaped.push_str(&self.text[copied..self.at]);
                    let escaped = match bytes.get(self.at + 1) {
                        None => return Err(self.error(JsonErrorKind::UnterminatedString, start)),
                        Some(b'u') => None,
                        Some(b'"') => Some('"'),
                        Some(b'\\') => Some('\\'),
                        Some(b'/') => Some('/'),
                        Some(b'b') => Some('\u{8}'),
                        Some(b'f') => Some('\u{c}'),
                        Some(b'n') => Some('\n'),
                        Some(b'r') => Some('\r'),
                        Some(b't') => Some('\t'),
                        Some(_) => return Err(self.error(JsonErrorKind::InvalidEscape, self.at)),
                    };
                    let escaped = match escaped {
                        Some(c) => {
                            self.at += 2;
                            c
                        }
                        None => self.unicode_escape()?,
                    };
                    self.unescaped.push(escaped);
                    copied = self.at;
                }
                Some(0..0x20) => return Err(self.error(JsonErrorKind::ControlCharacter, self.at)),
                Some(_) => self.at += plain(&bytes[self.at..]).max(1),
            }
        }
    }

    /// The character of one `\uXXXX`, or of two that are a surrogate pair.
    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let unit = self.code_unit()?;
        if !(0xd800..0xdc00).contains(&unit) || !self.text[self.at..].starts_with("\\u") {
            return Ok(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let second = self.at;
        let low = self.code_unit()?;
        if (0xdc00..0xe000).contains(&low) {
            let pair = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            return Ok(char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.at = second;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    /// The number of the `\uXXXX` here.
    fn code_unit(&mut self) -> Result<u32, JsonError> {
        let digits = self.at + 2;
        let invalid = self.error(JsonErrorKind::InvalidUnicodeEscape, self.at + 1);
        let hex = self
            .text
            .as_bytes()
            .get(digits..digits + 4)
            .ok_or_else(|| invalid.clone())?;
        // A string cannot end right after its last digit: Python blames the escape, not the string.
        if digits + 4 >= self.text.len() {
            return Err(invalid);
        }
        let mut unit = 0;
        for byte in hex {
            unit = unit * 16
                + char::from(*byte)
                    .to_digit(16)
                    .ok_or_else(|| invalid.clone())?;
        }
        self.at = digits + 4;
        Ok(unit)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn error(&self, kind: JsonErrorKind, offset: usize) -> JsonError {
        JsonError { kind, offset }
    }
}
