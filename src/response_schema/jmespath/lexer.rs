//! The tokens of an expression.

use super::Fault;
use crate::value::{Value, json};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name, and true if it stands in quotes.
    Name(String, bool),
    Number(i64),
    Literal(Value),
    Dot,
    Star,
    Flatten,
    Filter,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    OpenParenthesis,
    CloseParenthesis,
    Comma,
    Colon,
    Current,
    Reference,
    And,
    Or,
    Pipe,
    Not,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    End,
}

/// Returns all tokens, each with its byte offset; the last one is [`Token::End`].
pub(super) fn tokens(source: &str) -> Result<Vec<(Token, usize)>, Fault> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let two = |second: char, long: Token, short: Token| {
            if rest[1..].starts_with(second) {
                (long, 2)
            } else {
                (short, 1)
            }
        };
        let (token, length) = match first {
            ' ' | '\t' | '\n' | '\r' => {
                at += 1;
                continue;
            }
            '.' => (Token::Dot, 1),
            '*' => (Token::Star, 1),
            ']' => (Token::CloseBracket, 1),
            ',' => (Token::Comma, 1),
            ':' => (Token::Colon, 1),
            '@' => (Token::Current, 1),
            '(' => (Token::OpenParenthesis, 1),
            ')' => (Token::CloseParenthesis, 1),
            '{' => (Token::OpenBrace, 1),
            '}' => (Token::CloseBrace, 1),
            '[' if rest.starts_with("[]") => (Token::Flatten, 2),
            '[' => two('?', Token::Filter, Token::OpenBracket),
            '|' => two('|', Token::Or, Token::Pipe),
            '&' => two('&', Token::And, Token::Reference),
            '<' => two('=', Token::LessOrEqual, Token::Less),
            '>' => two('=', Token::GreaterOrEqual, Token::Greater),
            '!' => two('=', Token::Unequal, Token::Not),
            '=' if rest.starts_with("==") => (Token::Equal, 2),
            '\'' => {
                let (text, length) = delimited(rest, at, '\'')?;
                (Token::Literal(text.replace("\\'", "'").into()), length)
            }
            '`' => {
                let (text, length) = delimited(rest, at, '`')?;
                (
                    Token::Literal(literal(&text.replace("\\`", "`"), at)?),
                    length,
                )
            }
            '"' => {
                let (text, length) = delimited(rest, at, '"')?;
                match json::parse(&format!("\"{text}\"")) {
                    Ok(Value::String(name)) => (Token::Name(name, true), length),
                    _ => return Err(unknown(text, at)),
                }
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                let name = &rest[..end.unwrap_or(rest.len())];
                (Token::Name(name.to_owned(), false), name.len())
            }
            c if c.is_ascii_digit() || c == '-' => {
                let end = rest[1..].find(|c: char| !c.is_ascii_digit());
                let digits = &rest[..end.map_or(rest.len(), |end| end + 1)];
                if digits == "-" {
                    return Err(unknown(digits, at));
                }
                // What an index beyond 64 bits asks for is not there, and so it is at their ends.
                let bound = if c == '-' { i64::MIN } else { i64::MAX };
                (Token::Number(digits.parse().unwrap_or(bound)), digits.len())
            }
            other => return Err(unknown(other.encode_utf8(&mut [0; 4]), at)),
        };
        found.push((token, at));
        at += length;
    }
    found.push((Token::End, at));
    Ok(found)
}

fn unknown(text: &str, at: usize) -> Fault {
    Fault::new(format!(
        "{} at byte {at} has no meaning in JMESPath",
        json::quote(text)
    ))
}

/// Returns the text between two delimiters, escapes and all, and the length of the whole in bytes.
fn delimited(rest: &str, at: usize, delimiter: char) -> Result<(&str, usize), Fault> {
    let mut escaped = false;
    for (offset, c) in rest[1..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == delimiter => return Ok((&rest[1..=offset], offset + 2)),
            _ => {}
        }
    }
    Err(Fault::new(format!(
        "what `{delimiter}` opens at byte {at} is not closed"
    )))
}

/// A value in back-quotes: JSON, or else text.
fn literal(text: &str, at: usize) -> Result<Value, Fault> {
    json::parse(text)
        .or_else(|_| {
            json::parse(&format!(
                "\"{}\"",
                text.trim_start_matches(crate::value::python::is_space)
            ))
        })
        .map_err(|_| unknown(text, at))
}
