//! Expressions as they are written in Rust: functions and operators that read like the grammar they build.
//!
//! | in Rust | matches |
//! |---|---|
//! | `a + b` | `a`, then `b` |
//! | `a << b` | `a`, then white space if there is any, then `b` |
//! | `a \| b` | `a`, or else `b` |
//! | `!a` | nothing, where `a` does not match |
//!
//! A `&str` on one side of an operator is a [`literal`].

use std::ops::{Add, BitOr, Not, Shl};

use smol_str::SmolStr;

use super::builtin::Builtin;
use crate::value::Value;

/// An expression that is being written; [`Grammar::build`](super::Grammar::build) makes a grammar of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr(pub(in crate::grammar) Kind);

/// The kind of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::grammar) enum Kind {
    Eps,
    Start,
    End,
    Any,
    Space,
    Cut,
    Literal(SmolStr),
    Chars {
        class: String,
        min: u32,
        max: Option<u32>,
    },
    Until(Vec<SmolStr>),
    Quoted(char),
    Builtin(Builtin),
    Sequence(Vec<Expr>),
    Choice(Vec<Expr>),
    Repeat {
        of: Box<Expr>,
        min: u32,
        max: Option<u32>,
    },
    Peek(Box<Expr>),
    Negate(Box<Expr>),
    Atomic(Box<Expr>),
    Tag(SmolStr, Box<Expr>),
    Schema(Box<Schema>),
    Ref(SmolStr),
    Rule {
        name: SmolStr,
        of: Box<Expr>,
        trigger: bool,
    },
}

/// An expression with the JSON schema of what it reads.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::grammar) struct Schema {
    pub(in crate::grammar) name: SmolStr,
    pub(in crate::grammar) schema: Value,
    pub(in crate::grammar) raw: bool,
    pub(in crate::grammar) of: Expr,
}

/// Matches nothing, everywhere.
pub fn eps() -> Expr {
    Expr(Kind::Eps)
}

/// Matches nothing, at the start of the text.
pub fn start() -> Expr {
    Expr(Kind::Start)
}

/// Matches nothing, at the end of the text. While more may come it waits.
pub fn end() -> Expr {
    Expr(Kind::End)
}

/// Matches exactly this text.
pub fn literal(text: impl AsRef<str>) -> Expr {
    Expr(Kind::Literal(text.as_ref().into()))
}

/// Matches any one character.
pub fn any() -> Expr {
    Expr(Kind::Any)
}

/// Matches as many spaces, tabs and line ends (ASCII white space) as there are, none included.
pub fn space() -> Expr {
    Expr(Kind::Space)
}

/// Matches one expression after the other; with none, nothing. A sequence within it is made part of it.
pub fn sequence(parts: impl IntoIterator<Item = Expr>) -> Expr {
    let mut flat = Vec::new();
    for part in parts {
        match part.0 {
            Kind::Sequence(inner) => flat.extend(inner),
            other => flat.push(Expr(other)),
        }
    }
    Expr(Kind::Sequence(flat))
}

/// Matches what the first of the alternatives that matches does; what stands behind the choice has no say in it.
pub fn choice(alternatives: impl IntoIterator<Item = Expr>) -> Expr {
    let mut flat = Vec::new();
    for alternative in alternatives {
        match alternative.0 {
            Kind::Choice(inner) => flat.extend(inner),
            other => flat.push(Expr(other)),
        }
    }
    Expr(Kind::Choice(flat))
}

/// Matches an expression between `min` and `max` times, as often as it can; without `max` any number of times.
pub fn repeat(of: Expr, min: u32, max: impl Into<Option<u32>>) -> Expr {
    Expr(Kind::Repeat {
        of: Box::new(of),
        min,
        max: max.into(),
    })
}

/// Matches an expression exactly `count` times.
pub fn repeat_exactly(of: Expr, count: u32) -> Expr {
    repeat(of, count, count)
}

/// Matches an expression once or more often.
pub fn one_or_more(of: Expr) -> Expr {
    repeat(of, 1, None)
}

/// Matches an expression as often as it can, perhaps never.
pub fn zero_or_more(of: Expr) -> Expr {
    repeat(of, 0, None)
}

/// Matches an expression, or nothing where it does not match.
pub fn optional(of: Expr) -> Expr {
    repeat(of, 0, 1)
}

/// Matches nothing, where the expression would match.
pub fn peek(of: Expr) -> Expr {
    Expr(Kind::Peek(Box::new(of)))
}

/// Matches nothing, where the expression would not match.
pub fn negate(of: Expr) -> Expr {
    Expr(Kind::Negate(Box::new(of)))
}

/// Matches between `min` and `max` characters of a [class](super::CharClass), as many as it can; without `max` any number.
pub fn chars(class: impl Into<String>, min: u32, max: impl Into<Option<u32>>) -> Expr {
    Expr(Kind::Chars {
        class: class.into(),
        min,
        max: max.into(),
    })
}

/// Matches the text before a delimiter, which it leaves; where there is none, the text to its end.
pub fn until(delimiter: impl AsRef<str>) -> Expr {
    until_one_of([delimiter])
}

/// Matches the text before the first place at which one of the delimiters stands; where none does, the text to its end.
pub fn until_one_of<T: AsRef<str>>(delimiters: impl IntoIterator<Item = T>) -> Expr {
    let delimiters = delimiters.into_iter().map(|text| text.as_ref().into());
    Expr(Kind::Until(delimiters.collect()))
}

/// Matches the text to its end.
pub fn rest() -> Expr {
    Expr(Kind::Until(Vec::new()))
}

/// Matches what stands between two quotes of a string, with escapes as JSON has them and the quote's own.
pub fn string_content(quote: char) -> Expr {
    Expr(Kind::Quoted(quote))
}

/// Matches what stands between the quotes of a JSON string.
pub fn json_string_content() -> Expr {
    string_content('"')
}

/// Matches a value of a language that every grammar knows, such as JSON.
pub fn builtin(value: Builtin) -> Expr {
    Expr(Kind::Builtin(value))
}

/// Matches a JSON value.
pub fn json() -> Expr {
    builtin(Builtin::Json)
}

/// Matches a JSON object.
pub fn json_object() -> Expr {
    builtin(Builtin::JsonObject)
}

/// Matches a JSON list.
pub fn json_array() -> Expr {
    builtin(Builtin::JsonArray)
}

/// Matches a JSON string with its quotes.
pub fn json_string() -> Expr {
    builtin(Builtin::JsonString)
}

/// Matches a JSON number that no further digit, sign, point or exponent follows.
pub fn json_number() -> Expr {
    builtin(Builtin::JsonNumber)
}

/// Matches `true` or `false`.
pub fn json_bool() -> Expr {
    builtin(Builtin::JsonBool)
}

/// Matches `null`.
pub fn json_null() -> Expr {
    builtin(Builtin::JsonNull)
}

/// Matches a member of a JSON object: the key in its quotes, a colon, and a value, with white space around the colon.
pub fn json_member(key: &str, value: Expr) -> Expr {
    let key = literal(crate::value::json::quote(key));
    sequence([key, space(), literal(":"), space(), value])
}

/// Matches a Python literal: a dict, list, tuple-free, string in either quotes, number, `True`, `False` or `None`.
pub fn python() -> Expr {
    builtin(Builtin::Python)
}

/// Refers to a rule, which may be defined later.
pub fn reference(name: impl AsRef<str>) -> Expr {
    Expr(Kind::Ref(name.as_ref().into()))
}

/// Defines a rule and refers to it.
pub fn rule(name: impl AsRef<str>, of: Expr) -> Expr {
    Expr(Kind::Rule {
        name: name.as_ref().into(),
        of: Box::new(of),
        trigger: false,
    })
}

/// Defines a rule at which a lazy grammar begins to constrain what is written, and refers to it.
pub fn trigger_rule(name: impl AsRef<str>, of: Expr) -> Expr {
    Expr(Kind::Rule {
        name: name.as_ref().into(),
        of: Box::new(of),
        trigger: true,
    })
}

/// Matches what the expression does, and says by which JSON schema a grammar for constrained decoding writes it. `raw`: a text
/// stands there as it is, without quotes and escapes.
pub fn schema(of: Expr, name: impl AsRef<str>, schema: Value, raw: bool) -> Expr {
    Expr(Kind::Schema(Box::new(Schema {
        name: name.as_ref().into(),
        schema,
        raw,
        of,
    })))
}

/// Matches what the expression does; as long as it is not matched whole, no nodes of it are shown.
pub fn atomic(of: Expr) -> Expr {
    Expr(Kind::Atomic(Box::new(of)))
}

/// Matches what the expression does, and makes a node of the tree of it. Many may have one tag.
pub fn tag(tag: impl AsRef<str>, of: Expr) -> Expr {
    Expr(Kind::Tag(tag.as_ref().into(), Box::new(of)))
}

/// Matches nothing, and decides: of the innermost choice, option or repetition under way the alternative in which it stands
/// is taken. If that does not match from there on, the whole choice does not.
///
/// Text before a cut is never read again, so it need not be kept, and what it means can be told at once.
pub fn cut() -> Expr {
    Expr(Kind::Cut)
}

impl From<&str> for Expr {
    fn from(text: &str) -> Self {
        literal(text)
    }
}

impl<T: Into<Expr>> Add<T> for Expr {
    type Output = Expr;

    fn add(self, other: T) -> Expr {
        sequence([self, other.into()])
    }
}

impl Add<Expr> for &str {
    type Output = Expr;

    fn add(self, other: Expr) -> Expr {
        literal(self) + other
    }
}

impl<T: Into<Expr>> Shl<T> for Expr {
    type Output = Expr;

    fn shl(self, other: T) -> Expr {
        sequence([self, space(), other.into()])
    }
}

impl Shl<Expr> for &str {
    type Output = Expr;

    fn shl(self, other: Expr) -> Expr {
        literal(self) << other
    }
}

impl<T: Into<Expr>> BitOr<T> for Expr {
    type Output = Expr;

    fn bitor(self, other: T) -> Expr {
        choice([self, other.into()])
    }
}

impl BitOr<Expr> for &str {
    type Output = Expr;

    fn bitor(self, other: Expr) -> Expr {
        literal(self) | other
    }
}

impl Not for Expr {
    type Output = Expr;

    fn not(self) -> Expr {
        negate(self)
    }
}
