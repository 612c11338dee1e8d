//! Python literals: what `repr` writes of values that JSON has, too.

use crate::value::json::{self, MAX_DEPTH};
use crate::value::{Map, Value};

/// The value of a literal: a dict with texts for keys, a list or tuple, a string, a number, `True`, `False` or `None`. What is wrong
/// with a text that is none is an error.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let mut reading = Reading { rest: text };
    let value = reading.value(0)?;
    reading.space();
    match reading.rest.is_empty() {
        true => Ok(value),
        false => Err(format!("{} follows it", reading.near())),
    }
}

/// A text in which a backslash and what follows it stand for something else, as in the strings of Python and of JSON.
pub(super) fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let escaped = rest.chars().next().ok_or("a backslash ends it")?;
        rest = &rest[escaped.len_utf8()..];
        match escaped {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'v' => out.push('\u{b}'),
            '\n' => {}
            '\\' | '\'' | '"' | '/' => out.push(escaped),
            '0'..='7' => {
                let more = rest
                    .bytes()
                    .take(2)
                    .take_while(|byte| matches!(byte, b'0'..=b'7'));
                let more = more.count();
                let digits = format!("{escaped}{}", &rest[..more]);
                rest = &rest[more..];
                let code = u32::from_str_radix(&digits, 8)
                    .ok()
                    .and_then(char::from_u32);
                out.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            'x' => out.push(character(code(&mut rest, 2)?)),
            'U' => out.push(character(code(&mut rest, 8)?)),
            'u' => {
                let first = code(&mut rest, 4)?;
                out.push(match rest.strip_prefix("\\u") {
                    Some(mut behind) if (0xD800..0xDC00).contains(&first) => {
                        match code(&mut behind, 4) {
                            Ok(second @ 0xDC00..0xE000) => {
                                rest = behind;
                                let low = second - 0xDC00;
                                character(0x10000 + ((first - 0xD800) << 10) + low)
                            }
                            _ => char::REPLACEMENT_CHARACTER,
                        }
                    }
                    _ => character(first),
                });
            }
            // Python leaves what it does not know as it is.
            other => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn code(rest: &mut &str, digits: usize) -> Result<u32, String> {
    let written = rest
        .get(..digits)
        .filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
    let code = written.and_then(|text| u32::from_str_radix(text, 16).ok());
    *rest = rest.get(digits..).unwrap_or_default();
    code.ok_or_else(|| format!("an escape wants {digits} hexadecimal digits"))
}

/// The character of a number; half of a surrogate pair, and what is beyond Unicode, is U+FFFD.
fn character(code: u32) -> char {
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

struct Reading<'a> {
    rest: &'a str,
}

impl<'a> Reading<'a> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn near(&self) -> String {
        let near: String = self.rest.chars().take(12).collect();
        match near.is_empty() {
            true => "the end".to_owned(),
            false => json::quote(&near),
        }
    }

    fn eat(&mut self, text: &str) -> bool {
        self.space();
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err(format!("it nests deeper than the limit of {MAX_DEPTH}"));
        }
        self.space();
        match self.rest.chars().next() {
            Some('{') => self.dict(depth),
            Some('[') => self.list("[", "]", depth),
            Some('(') => self.list("(", ")", depth),
            Some('\'' | '"') => self.string().map(Value::from),
            Some('-' | '0'..='9') => self.number(),
            _ => self.word(),
        }
    }

    fn dict(&mut self, depth: usize) -> Result<Value, String> {
        self.eat("{");
        let mut dict = Map::new();
        while !self.eat("}") {
            self.space();
            let key = match self.rest.chars().next() {
                Some('\'' | '"') => self.string()?,
                _ => return Err(format!("{} is no key", self.near())),
            };
            if !self.eat(":") {
                return Err(format!("{} stands for a colon", self.near()));
            }
            dict.insert(key, self.value(depth + 1)?);
            if !self.eat(",") && !self.rest.starts_with('}') {
                return Err(format!("{} stands for a comma or a brace", self.near()));
            }
        }
        Ok(Value::Object(dict))
    }

    fn list(&mut self, open: &str, close: &str, depth: usize) -> Result<Value, String> {
        self.eat(open);
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(self.value(depth + 1)?);
            if !self.eat(",") && !self.rest.starts_with(close) {
                return Err(format!("{} stands for a comma or a bracket", self.near()));
            }
        }
        Ok(Value::Array(items))
    }

    fn string(&mut self) -> Result<String, String> {
        let quote = self.rest.as_bytes()[0];
        let mut escaped = false;
        let end = self.rest.bytes().skip(1).position(|byte| {
            let ends = byte == quote && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let end = end.ok_or("a string is not closed")?;
        let inner = &self.rest[1..=end];
        self.rest = &self.rest[end + 2..];
        unescape(inner)
    }

    fn number(&mut self) -> Result<Value, String> {
        let ends = |c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E' | '_');
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        let (written, rest) = self.rest.split_at(end);
        self.rest = rest;
        json::parse(written).map_err(|_| format!("{} is no number", json::quote(written)))
    }

    fn word(&mut self) -> Result<Value, String> {
        let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        let value = match &self.rest[..end] {
            "True" | "true" => Value::from(true),
            "False" | "false" => Value::from(false),
            "None" | "null" => Value::Null,
            _ => return Err(format!("{} is no value", self.near())),
        };
        self.rest = &self.rest[end..];
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_what_python_evaluates_them_to() {
        let cases = [
            (
                "{'a': 1, \"b\": [True, None, -2.5]}",
                r#"{"a": 1, "b": [true, null, -2.5]}"#,
            ),
            ("'it\\'s \"x\"'", r#""it's \"x\"""#),
            ("\"it's\"", r#""it's""#),
            ("( 1, )", "[1]"),
            ("{}", "{}"),
            (
                "'\\x41\\u00e9\\U0001F600\\101\\ud83d\\ude00\\q\\\\'",
                "\"Aé😀A😀\\\\q\\\\\"",
            ),
            ("12345678901234567890", "12345678901234567890"),
        ];
        for (text, expected) in cases {
            let value = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let expected = json::parse(expected).expect("JSON");
            assert_eq!(value, expected, "{text}");
        }
        for text in [
            "", "{'a'}", "[1", "'x", "{1: 2}", "Nothing", "1 2", "'\\x4'", "--1",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        let deep = "[".repeat(10_000);
        assert!(parse(&deep).is_err_and(|error| error.contains("limit")));
    }
}
