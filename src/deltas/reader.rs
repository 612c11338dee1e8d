//! Reading JSON as it arrives: where its values begin and end, by the rules of [`crate::value::json::parse`].
//!
//! A push parser: an explicit stack of what is open, one pass over the text, and between two pieces nothing is kept but the number or
//! word that is under way, and an escape. It takes exactly the texts that `json::parse` takes, so that what is passed on of a
//! text that turns out to be JSON is what the parse of the whole gives.

use crate::value::json::{self, MAX_DEPTH};

/// A receiver of values.
pub(super) trait Visit {
    /// A value begins at this byte of the piece. Returns true if its text is wanted, where it is a string.
    fn begin(&mut self, at: usize, kind: Kind) -> bool;
    /// More of the text of a string that is wanted has come.
    fn text(&mut self, text: &str);
    /// The value that began last and has not ended ends before this byte of the piece.
    fn end(&mut self, at: usize);
    /// Returns true if the keys of the object that is open are wanted.
    fn wants_keys(&self) -> bool;
    /// The key of the member whose value comes next.
    fn key(&mut self, key: &str);
}

/// The kind of a value, by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    String,
    Other,
}

#[derive(Debug, Clone, Default)]
pub(super) struct JsonReader {
    state: State,
    /// For each list and object that is open, true if it is an object.
    open: Vec<bool>,
    /// The number or word under way.
    token: String,
    escape: Escape,
    /// The first half of a surrogate pair, which may be followed by the second.
    high: Option<u32>,
    /// True if the text of the string is wanted.
    wanted: bool,
    key: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// A value must come.
    #[default]
    Value,
    /// An item or the end of the list must come.
    FirstItem,
    /// A key or the end of the object must come.
    FirstKey,
    NextKey,
    Colon,
    /// A comma or the end of the list or object must come.
    Rest,
    Key,
    Text,
    Token,
    /// The value is whole.
    Over,
    /// The text is not JSON.
    Broken,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Backslash,
    Unit {
        digits: u8,
        unit: u32,
    },
}

impl JsonReader {
    /// Makes it as new, with the memory that it has.
    pub(super) fn reset(&mut self) {
        self.state = State::default();
        self.open.clear();
        self.token.clear();
        self.escape = Escape::default();
        self.high = None;
        self.wanted = false;
        self.key.clear();
    }

    /// Returns true if the text cannot be JSON any more.
    pub(super) fn is_broken(&self) -> bool {
        self.state == State::Broken
    }

    /// Returns true if the text so far is one value.
    pub(super) fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// Returns true if the piece is nothing but text of a string that is open and not wanted: reading it changes nothing.
    #[inline]
    pub(super) fn passes(&self, text: &str) -> bool {
        self.state == State::Text
            && !self.wanted
            && self.escape == Escape::None
            && self.high.is_none()
            && json::plain(text.as_bytes()) == text.len()
    }

    /// Reads a piece, and returns the byte up to which it was read: its end, unless the text cannot be JSON any more.
    pub(super) fn feed(&mut self, text: &str, visit: &mut dyn Visit) -> usize {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let before = at;
            match self.state {
                State::Broken => return before,
                State::Key | State::Text => at = self.string(text, at, visit),
                State::Token => {
                    let rest = &bytes[at..];
                    let length = rest.iter().take_while(|byte| is_token(**byte)).count();
                    self.token.push_str(&text[at..at + length]);
                    at += length;
                    if at < bytes.len() {
                        self.end_token(at, visit);
                        if self.state == State::Broken {
                            return at;
                        }
                    }
                }
                _ => {
                    if !matches!(bytes[at], b' ' | b'\t' | b'\n' | b'\r') {
                        self.structure(bytes[at], at, visit);
                        if self.state == State::Token {
                            continue;
                        }
                    }
                    at += 1;
                }
            }
            if self.state == State::Broken {
                return before;
            }
        }
        at
    }

    /// Ends the text.
    pub(super) fn finish(&mut self, visit: &mut dyn Visit) {
        if self.state == State::Token {
            self.end_token(0, visit);
        }
    }

    fn end_token(&mut self, at: usize, visit: &mut dyn Visit) {
        if json::parse(&self.token).is_err() {
            self.state = State::Broken;
            return;
        }
        self.token.clear();
        self.end_value(at, visit);
    }

    fn end_value(&mut self, at: usize, visit: &mut dyn Visit) {
        visit.end(at);
        self.state = if self.open.is_empty() {
            State::Over
        } else {
            State::Rest
        };
    }

    fn structure(&mut self, byte: u8, at: usize, visit: &mut dyn Visit) {
        let object = self.open.last().copied();
        self.state = match (self.state, byte) {
            (State::FirstItem | State::Rest, b']') if object == Some(false) => {
                return self.close(at, visit);
            }
            (State::FirstKey | State::Rest, b'}') if object == Some(true) => {
                return self.close(at, visit);
            }
            (State::Rest, b',') if object == Some(true) => State::NextKey,
            (State::Rest, b',') => State::Value,
            (State::FirstKey | State::NextKey, b'"') => {
                self.wanted = visit.wants_keys();
                State::Key
            }
            (State::Colon, b':') => State::Value,
            (State::Value | State::FirstItem, b'"') => {
                self.wanted = visit.begin(at, Kind::String);
                State::Text
            }
            (State::Value | State::FirstItem, b'{' | b'[') => {
                if self.open.len() >= MAX_DEPTH {
                    self.state = State::Broken;
                    return;
                }
                self.open.push(byte == b'{');
                if byte == b'{' {
                    visit.begin(at, Kind::Object);
                    State::FirstKey
                } else {
                    visit.begin(at, Kind::Array);
                    State::FirstItem
                }
            }
            (State::Value | State::FirstItem, byte) if is_token(byte) => {
                visit.begin(at, Kind::Other);
                State::Token
            }
            _ => State::Broken,
        };
    }

    fn close(&mut self, at: usize, visit: &mut dyn Visit) {
        self.open.pop();
        self.end_value(at + 1, visit);
    }

    /// Reads on in a string, and returns the byte at which to go on.
    fn string(&mut self, text: &str, at: usize, visit: &mut dyn Visit) -> usize {
        let bytes = text.as_bytes();
        if self.escape != Escape::None {
            self.escaped(bytes[at], visit);
            return at + 1;
        }
        let length = json::plain(&bytes[at..]);
        if length > 0 {
            self.lone_half(visit);
            if self.wanted {
                self.give(&text[at..at + length], visit);
            }
            return at + length;
        }
        match bytes[at] {
            b'"' => {
                self.lone_half(visit);
                if self.state == State::Key {
                    if self.wanted {
                        visit.key(&self.key);
                        self.key.clear();
                    }
                    self.state = State::Colon;
                } else {
                    self.end_value(at + 1, visit);
                }
            }
            b'\\' => self.escape = Escape::Backslash,
            _ => self.state = State::Broken,
        }
        at + 1
    }

    fn escaped(&mut self, byte: u8, visit: &mut dyn Visit) {
        match self.escape {
            Escape::None => {}
            Escape::Backslash => {
                let c = match byte {
                    b'u' => {
                        self.escape = Escape::Unit { digits: 0, unit: 0 };
                        return;
                    }
                    b'"' => '"',
                    b'\\' => '\\',
                    b'/' => '/',
                    b'b' => '\u{8}',
                    b'f' => '\u{c}',
                    b'n' => '\n',
                    b'r' => '\r',
                    b't' => '\t',
                    _ => {
                        self.state = State::Broken;
                        return;
                    }
                };
                self.escape = Escape::None;
                self.lone_half(visit);
                self.give_char(c, visit);
            }
            Escape::Unit { digits, unit } => {
                let Some(digit) = char::from(byte).to_digit(16) else {
                    self.state = State::Broken;
                    return;
                };
                let unit = unit * 16 + digit;
                if digits < 3 {
                    let digits = digits + 1;
                    self.escape = Escape::Unit { digits, unit };
                    return;
                }
                self.escape = Escape::None;
                if (0xdc00..0xe000).contains(&unit)
                    && let Some(high) = self.high.take()
                {
                    let pair = 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
                    let c = char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER);
                    return self.give_char(c, visit);
                }
                self.lone_half(visit);
                if (0xd800..0xdc00).contains(&unit) {
                    self.high = Some(unit);
                } else {
                    let c = char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER);
                    self.give_char(c, visit);
                }
            }
        }
    }

    /// Writes a first half of a surrogate pair that no second half follows.
    fn lone_half(&mut self, visit: &mut dyn Visit) {
        if self.high.take().is_some() {
            self.give_char(char::REPLACEMENT_CHARACTER, visit);
        }
    }

    fn give_char(&mut self, c: char, visit: &mut dyn Visit) {
        if self.wanted {
            self.give(c.encode_utf8(&mut [0; 4]), visit);
        }
    }

    fn give(&mut self, text: &str, visit: &mut dyn Visit) {
        if self.state == State::Key {
            self.key.push_str(text);
        } else {
            visit.text(text);
        }
    }
}

/// Returns true if the byte can be a part of a number or word, or of text that is neither and so cannot be JSON: any byte that has no other
/// meaning.
fn is_token(byte: u8) -> bool {
    !matches!(
        byte,
        b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' | b'"' | b'{' | b'}' | b'[' | b']'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    /// Writes down what it is told, with the strings' texts as they are.
    #[derive(Default)]
    struct Scribe(String);

    impl Visit for Scribe {
        fn begin(&mut self, _: usize, kind: Kind) -> bool {
            self.0.push_str(match kind {
                Kind::Object => "{",
                Kind::Array => "[",
                Kind::String => "'",
                Kind::Other => "#",
            });
            true
        }

        fn text(&mut self, text: &str) {
            self.0.push_str(text);
        }

        fn end(&mut self, _: usize) {
            self.0.push(';');
        }

        fn wants_keys(&self) -> bool {
            true
        }

        fn key(&mut self, key: &str) {
            self.0.push_str(&format!("<{key}>"));
        }
    }

    /// Writes a parsed value in the form in which the recorder writes what it is told.
    fn written(value: &Value) -> String {
        match value {
            Value::Object(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|(key, value)| format!("<{key}>{}", written(value)))
                    .collect();
                format!("{{{};", members.concat())
            }
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(written).collect();
                format!("[{};", items.concat())
            }
            Value::String(text) => format!("'{text};"),
            _ => "#;".to_owned(),
        }
    }

    #[test]
    fn it_takes_what_the_parser_takes_however_it_is_cut() {
        let texts = [
            r#"{"a": [1, -2.5e+3, true], "b": {"c": "d\n\u00e9"}, "": []}"#,
            " \n[NaN, -Infinity, null] ",
            r#""\ud83d\ude00 \ud83d \ud83dx \ude00 \ud83d\u0041 \ud83d\ud83d\ude00 \ud83d\n""#,
            "01",
            "[1,]",
            "{\"a\" 1}",
            "[1 2]",
            "{,}",
            "[tru]",
            "\"a\nb\"",
            r#""\x""#,
            r#""\u12g4""#,
            "\u{feff}1",
            "1 1",
            "-",
            "1.",
            "]",
            "{\"a\": 1]",
            "",
            "\"open",
            "[\u{e9}]",
        ];
        let deep = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
        let deeper = format!("[{deep}]");
        for text in texts.into_iter().chain([deep.as_str(), deeper.as_str()]) {
            for size in [1, 2, 3, 1000] {
                let (mut reader, mut scribe) = (JsonReader::default(), Scribe::default());
                let characters: Vec<char> = text.chars().collect();
                for piece in characters.chunks(size) {
                    reader.feed(&piece.iter().collect::<String>(), &mut scribe);
                }
                reader.finish(&mut scribe);
                match json::parse(text) {
                    Ok(value) => {
                        assert!(reader.is_over(), "{text:?} by {size}");
                        assert_eq!(scribe.0, written(&value), "{text:?} by {size}");
                    }
                    Err(error) => assert!(!reader.is_over(), "{text:?} by {size}: {error}"),
                }
            }
        }
    }
}
