//! Grammars as people read them: a line for each rule, in the notation in which parsing expression grammars are written.
//!
//! ```text
//! root ← @content(until("<call>")) call* end
//! call ← "<call>" @name([a-z]+) "</call>"
//! ```
//!
//! A tag is `@tag(…)`, `a / b` is an ordered choice, `&a` and `!a` look ahead, and `{2,3}` counts.

use std::fmt::{self, Write as _};

use super::arena::{ExprId, Expression, Grammar, Parts, ROOT};
use crate::value::json;

/// A line for the root and one for each rule that the grammar defines itself.
impl fmt::Display for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = &*self.parts;
        writeln!(f, "{ROOT} ← {}", expression(parts, parts.root))?;
        for rule in parts.rules.iter().filter(|rule| rule.builtin.is_none()) {
            let arrow = if rule.trigger { "⇐" } else { "←" };
            writeln!(f, "{} {arrow} {}", rule.name, expression(parts, rule.of))?;
        }
        Ok(())
    }
}

impl Grammar {
    /// An expression as [`Display`](fmt::Display) shows it.
    pub fn print(&self, id: ExprId) -> String {
        expression(&self.parts, id)
    }
}

/// One expression.
pub(super) fn expression(parts: &Parts, id: ExprId) -> String {
    let mut out = String::new();
    write(parts, id, Bound::Choice, &mut out);
    out
}

/// How tightly what stands around an expression binds it.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Bound {
    /// A choice may stand there as it is.
    Choice,
    /// A sequence may.
    Sequence,
    /// An expression with an operator before it may.
    Prefix,
    /// Only what needs no brackets whatever stands around it.
    Whole,
}

/// Writes an expression; they are nested at most [`NESTING`](super::NESTING) deep.
fn write(parts: &Parts, id: ExprId, around: Bound, out: &mut String) {
    let bracket = |needed: Bound, out: &mut String, inner: &mut dyn FnMut(&mut String)| {
        if around > needed {
            out.push('(');
            inner(out);
            out.push(')');
        } else {
            inner(out);
        }
    };
    match parts.get(id) {
        Expression::Eps => out.push_str("eps"),
        Expression::Start => out.push_str("start"),
        Expression::End => out.push_str("end"),
        Expression::Any => out.push_str("any"),
        Expression::Space => out.push_str("space"),
        Expression::Cut => out.push_str("cut"),
        Expression::Literal(text) => out.push_str(&json::quote(text)),
        Expression::Chars { class, min, max } => {
            let _ = write!(out, "{class}");
            if (*min, *max) != (1, Some(1)) {
                count(*min, *max, out);
            }
        }
        Expression::Until(delimiters) if delimiters.is_empty() => out.push_str("rest"),
        Expression::Until(delimiters) => {
            let quoted: Vec<String> = delimiters.iter().map(|text| json::quote(text)).collect();
            let _ = write!(out, "until({})", quoted.join(", "));
        }
        Expression::Quoted('"') => out.push_str("json_string_content"),
        Expression::Quoted(quote) => {
            let _ = write!(out, "string_content({quote:?})");
        }
        Expression::Sequence(inner) if inner.is_empty() => out.push_str("()"),
        Expression::Sequence(inner) if inner.len() == 1 => write(parts, inner[0], around, out),
        Expression::Sequence(inner) => bracket(Bound::Sequence, out, &mut |out| {
            joined(parts, inner, " ", Bound::Prefix, out);
        }),
        Expression::Choice(inner) if inner.len() == 1 => write(parts, inner[0], around, out),
        Expression::Choice(inner) => bracket(Bound::Choice, out, &mut |out| {
            joined(parts, inner, " / ", Bound::Sequence, out);
        }),
        Expression::Repeat { of, min, max } => bracket(Bound::Prefix, out, &mut |out| {
            // `[a-z]+*` would be one thing and `([a-z]+)*` another.
            let around = match parts.get(*of) {
                Expression::Chars {
                    min: 1,
                    max: Some(1),
                    ..
                } => Bound::Whole,
                Expression::Chars { .. } | Expression::Repeat { .. } => {
                    out.push('(');
                    write(parts, *of, Bound::Choice, out);
                    out.push(')');
                    return count(*min, *max, out);
                }
                _ => Bound::Whole,
            };
            write(parts, *of, around, out);
            count(*min, *max, out);
        }),
        Expression::Peek(of) => bracket(Bound::Prefix, out, &mut |out| {
            out.push('&');
            write(parts, *of, Bound::Whole, out);
        }),
        Expression::Negate(of) => bracket(Bound::Prefix, out, &mut |out| {
            out.push('!');
            write(parts, *of, Bound::Whole, out);
        }),
        Expression::Atomic(of) => call("atomic", parts, *of, out),
        Expression::Tag { tag, of } => call(&format!("@{tag}"), parts, *of, out),
        Expression::Schema { name, of, raw, .. } => {
            let kind = if *raw { "raw_schema" } else { "schema" };
            call(&format!("{kind}[{name}]"), parts, *of, out);
        }
        Expression::Ref(rule) => {
            let rule = &parts.rules[rule.0 as usize];
            out.push_str(match rule.builtin {
                Some(value) => value.name(),
                None => &rule.name,
            });
        }
    }
}

fn call(name: &str, parts: &Parts, of: ExprId, out: &mut String) {
    out.push_str(name);
    out.push('(');
    write(parts, of, Bound::Choice, out);
    out.push(')');
}

fn joined(parts: &Parts, inner: &[ExprId], between: &str, around: Bound, out: &mut String) {
    for (at, id) in inner.iter().enumerate() {
        if at > 0 {
            out.push_str(between);
        }
        write(parts, *id, around, out);
    }
}

fn count(min: u32, max: Option<u32>, out: &mut String) {
    let _ = match (min, max) {
        (0, None) => write!(out, "*"),
        (1, None) => write!(out, "+"),
        (0, Some(1)) => write!(out, "?"),
        (min, None) => write!(out, "{{{min},}}"),
        (min, Some(max)) if min == max => write!(out, "{{{min}}}"),
        (min, Some(max)) => write!(out, "{{{min},{max}}}"),
    };
}
