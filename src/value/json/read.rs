//! Reading JSON text, with an explicit stack: the depth of a document costs no stack.

use std::borrow::Cow;
use std::cell::Cell;
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

    /// What is wrong, without the place.
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
    Reader { text, at: 0 }
        .read(None, Extent::Whole)
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
    Reader { text, at: 0 }.read(None, Extent::Prefix)
}

/// The same, and where each value stands in the text.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_with_places(text: &str) -> Result<(Value, Places), JsonError> {
    let mut places = Places::default();
    let (value, _) = Reader { text, at: 0 }.read(Some(&mut places), Extent::Whole)?;
    Ok((value, places))
}

/// Whether a value must be all there is.
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
    let mut reader = Reader {
        text: literal,
        at: 1,
    };
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

/// How many bytes, at least one, stand before the next that means something in a string.
fn plain(bytes: &[u8]) -> usize {
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
            return (at + marked.trailing_zeros() as usize / 8).max(1);
        }
        at += 8;
    }
    let rest = bytes[at..]
        .iter()
        .take_while(|byte| !matches!(byte, 0..0x20 | b'"' | b'\\'))
        .count();
    (at + rest).max(1)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

/// A list or object that is still open.
struct Frame {
    /// The number of its place.
    node: usize,
    /// How many finished values there were when it began: the later ones are its own.
    base: usize,
    /// For an object, where the key stands whose value is being read.
    key: Option<Range<usize>>,
}

/// What is open and what is finished while a text is read. Most texts are short, and their reader would spend a good part
/// of its time asking for this memory; so each thread keeps it from one text to the next.
#[derive(Default)]
struct Scratch {
    stack: Vec<Frame>,
    /// The finished values of all open lists and objects.
    values: Vec<Value>,
    /// The keys of all open objects.
    keys: Vec<Key>,
}

impl Scratch {
    /// More values than this are not kept room for.
    const KEPT: usize = 1024;

    fn take() -> Self {
        SCRATCH.try_with(Cell::take).unwrap_or_default()
    }

    fn keep(mut self) {
        if self.values.capacity() > Self::KEPT {
            return;
        }
        self.stack.clear();
        self.values.clear();
        self.keys.clear();
        // A thread that is ending keeps nothing.
        let _ = SCRATCH.try_with(|scratch| scratch.set(self));
    }
}

thread_local! {
    static SCRATCH: Cell<Scratch> = Cell::default();
}

impl<'a> Reader<'a> {
    /// The first value and where it ends.
    fn read(
        self,
        places: Option<&mut Places>,
        extent: Extent,
    ) -> Result<(Value, usize), JsonError> {
        let mut scratch = Scratch::take();
        let result = self.read_with(&mut scratch, places, extent);
        scratch.keep();
        result
    }

    fn read_with(
        mut self,
        scratch: &mut Scratch,
        mut places: Option<&mut Places>,
        extent: Extent,
    ) -> Result<(Value, usize), JsonError> {
        if self.text.starts_with('\u{feff}') {
            return Err(self.error(JsonErrorKind::ByteOrderMark, 0));
        }
        let Scratch {
            stack,
            values,
            keys,
        } = scratch;
        self.skip_space();
        loop {
            let mut node = match places.as_deref_mut() {
                Some(places) => {
                    let parent = stack.last();
                    let span = parent.and_then(|frame| frame.key.clone());
                    let key = span.and_then(|span| Some((keys.last()?.as_str(), span)));
                    places.begin(parent.map(|frame| frame.node), key, self.at)
                }
                None => 0,
            };
            let mut value = match self.peek() {
                Some(open @ (b'{' | b'[')) => {
                    if stack.len() >= MAX_DEPTH {
                        return Err(self.error(JsonErrorKind::TooDeep, self.at));
                    }
                    self.at += 1;
                    self.skip_space();
                    let close = if open == b'[' { b']' } else { b'}' };
                    if self.peek() != Some(close) {
                        let mut key = None;
                        if open == b'{' {
                            let (name, span) = self.key()?;
                            keys.push(name);
                            key = Some(span);
                        }
                        stack.push(Frame {
                            node,
                            base: values.len(),
                            key,
                        });
                        continue;
                    }
                    self.at += 1;
                    if open == b'[' {
                        Value::Array(Vec::new())
                    } else {
                        Value::Object(Map::new())
                    }
                }
                _ => self.scalar()?,
            };
            // The value is whole: hand it to what encloses it, which may thereby be whole too.
            loop {
                if let Some(places) = places.as_deref_mut() {
                    places.end(node, self.at);
                }
                let end = self.at;
                self.skip_space();
                let Some(frame) = stack.last_mut() else {
                    return if extent == Extent::Prefix || self.at == self.text.len() {
                        Ok((value, end))
                    } else {
                        Err(self.error(JsonErrorKind::ExtraData, self.at))
                    };
                };
                values.push(value);
                let close = if frame.key.is_some() { b'}' } else { b']' };
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        self.skip_space();
                        if let Some(span) = &mut frame.key {
                            let (name, place) = self.key()?;
                            keys.push(name);
                            *span = place;
                        }
                        break;
                    }
                    Some(byte) if byte == close => {
                        self.at += 1;
                        node = frame.node;
                        let members = values.drain(frame.base..);
                        value = if frame.key.is_some() {
                            let first = keys.len() - members.len();
                            let mut map = Map::with_capacity(members.len());
                            map.extend(keys.drain(first..).zip(members));
                            Value::Object(map)
                        } else {
                            Value::Array(members.collect())
                        };
                        stack.pop();
                    }
                    _ => return Err(self.error(JsonErrorKind::ExpectedComma, self.at)),
                }
            }
        }
    }

    /// A key, its colon and the white space after both.
    fn key(&mut self) -> Result<(Key, Range<usize>), JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.error(JsonErrorKind::ExpectedKey, self.at));
        }
        let start = self.at;
        let key = Key::new(self.string()?);
        let span = start..self.at;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.error(JsonErrorKind::ExpectedColon, self.at));
        }
        self.at += 1;
        self.skip_space();
        Ok((key, span))
    }

    fn scalar(&mut self) -> Result<Value, JsonError> {
        let (word, value) = match self.peek() {
            Some(b'"') => return Ok(Value::String(self.string()?.into_owned())),
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

    /// The string here: a piece of the text, unless something in it is escaped.
    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut out = String::new();
        let mut copied = start + 1;
        self.at += 1;
        loop {
            match bytes.get(self.at) {
                None => return Err(self.error(JsonErrorKind::UnterminatedString, start)),
                Some(b'"') if copied == start + 1 => {
                    let text = &self.text[copied..self.at];
                    self.at += 1;
                    return Ok(Cow::Borrowed(text));
                }
                Some(b'"') => {
                    out.push_str(&self.text[copied..self.at]);
                    self.at += 1;
                    return Ok(Cow::Owned(out));
                }
                Some(b'\\') => {
                    out.push_str(&self.text[copied..self.at]);
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
                    match escaped {
                        Some(c) => {
                            out.push(c);
                            self.at += 2;
                        }
                        None => out.push(self.unicode_escape()?),
                    }
                    copied = self.at;
                }
                Some(0..0x20) => return Err(self.error(JsonErrorKind::ControlCharacter, self.at)),
                Some(_) => self.at += plain(&bytes[self.at..]),
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
