//! Structural tags, the grammars of xgrammar as JSON.
//!
//! A structural tag has no rules, so what stands in several places is written in each: a choice whose ways all end alike is
//! written with that end behind it. What leads back to itself, and a text in which more than plain texts must not stand, are written
//! as the grammars that structural tags take within them.

use super::tokens::{Cut, cut};
use super::{Finding, Text, extend, gbnf};
use crate::grammar::Grammar;
use crate::grammar::avoid::Avoid;
use crate::grammar::expr::{Arena, Expr, Id};
use crate::grammar::json::LENGTHS;
use crate::value::{Map, Value, json};

/// Writes a grammar.
pub(super) fn write(grammar: &Grammar) -> Text {
    let mut writer = Writer {
        grammar: grammar.clone(),
        findings: Vec::new(),
        embeds: false,
    };
    let format = writer.format(grammar.root);
    let mut tag = Map::new();
    tag.insert("type", Value::from("structural_tag"));
    tag.insert("format", format);
    let mut findings = grammar.findings().to_vec();
    writer.findings.push(Finding {
        code: "xgrammar-alone",
        text: "xgrammar takes such a structural tag; vLLM's guidance backend takes the older form alone, with `triggers` and `structures`, \
               and llguidance reads Lark"
            .to_owned(),
    });
    if writer.embeds {
        writer.findings.push(Finding {
            code: "embedded-grammar",
            text: "a part of it is written as a grammar within the structural tag, which xgrammar takes and other backends of \
                   structural tags may not"
                .to_owned(),
        });
    }
    extend(&mut findings, &writer.findings);
    Text {
        text: json::to_string(&Value::Object(tag)),
        findings,
    }
}

struct Writer {
    grammar: Grammar,
    findings: Vec<Finding>,
    embeds: bool,
}

fn object<const N: usize>(kind: &str, members: [(&str, Value); N]) -> Value {
    let mut object = Map::new();
    object.insert("type", Value::from(kind));
    for (key, value) in members {
        object.insert(key, value);
    }
    Value::Object(object)
}

impl Writer {
    fn format(&mut self, id: Id) -> Value {
        match self.grammar.arena.get(id).clone() {
            Expr::Text(text) => self.text(&text),
            Expr::Run { chars, min, max } => {
                let set = chars.class_with(|code| format!("\\u{{{code:x}}}"));
                let times = match max {
                    Some(max) => format!("{{{min},{max}}}"),
                    None if min == 0 => "*".to_owned(),
                    None if min == 1 => "+".to_owned(),
                    None => format!("{{{min},}}"),
                };
                object("regex", [("pattern", Value::from(format!("{set}{times}")))])
            }
            Expr::Free(avoid) => self.free(&avoid),
            Expr::Json(of) => {
                let schema = json::parse(&of.schema).unwrap_or(Value::Bool(true));
                if !of.avoid.is_empty() && has_length(&schema) {
                    let finding = Finding {
                        code: "schema-keyword",
                        text: "a structural tag does not ask for `minLength` and `maxLength` of strings that must not have the end of their call in them"
                            .to_owned(),
                    };
                    extend(&mut self.findings, &[finding]);
                }
                let mut format = object("json_schema", [("json_schema", schema)]);
                if let Value::Object(members) = &mut format
                    && !of.avoid.is_empty()
                {
                    let avoid = of.avoid.iter().map(|text| Value::from(text.as_str()));
                    members.insert("excludes", Value::Array(avoid.collect()));
                }
                format
            }
            Expr::Seq(items) => {
                let items: Vec<Value> = items.iter().map(|id| self.format(*id)).collect();
                sequence(items)
            }
            Expr::Choice(items) if items.is_empty() => {
                object("regex", [("pattern", Value::from("[]"))])
            }
            Expr::Choice(items) => self.choice(&items),
            Expr::Repeat { item, min, max } => {
                let content = self.format(item);
                match (min, max) {
                    (0, Some(1)) => object("optional", [("content", content)]),
                    (0, None) => object("star", [("content", content)]),
                    (1, None) => object("plus", [("content", content)]),
                    (min, max) => {
                        let max = max.map_or(Value::from(-1), |max| Value::from(i64::from(max)));
                        let min = Value::from(i64::from(min));
                        object("repeat", [("min", min), ("max", max), ("content", content)])
                    }
                }
            }
            // What is written has no tags.
            Expr::Tag(_, of) => self.format(of),
            Expr::Rule(_) => {
                self.embeds = true;
                let mut part = self.grammar.clone();
                part.root = id;
                let written = gbnf::write(&part, gbnf::Reader::Xgrammar);
                object("grammar", [("grammar", Value::from(written.text))])
            }
        }
    }

    fn free(&mut self, avoid: &Avoid) -> Value {
        // xgrammar 0.2.8 loses its place where the bytes of a token may be text and the token may be a marker.
        let tokens = self.grammar.special.iter().map(|token| token.text.as_str());
        let avoid = avoid.up_to_tokens(tokens);
        if let Some(texts) = avoid.literals() {
            let texts: Vec<Value> = texts.into_iter().map(Value::from).collect();
            return object("any_text", [("excludes", Value::Array(texts))]);
        }
        match gbnf::free_alone(&avoid) {
            Some(grammar) => {
                self.embeds = true;
                object("grammar", [("grammar", Value::from(grammar))])
            }
            None => object("any_text", []),
        }
    }

    fn text(&self, text: &str) -> Value {
        let parts = cut(text, &self.grammar.special);
        let part = |cut: Cut<'_>| match cut {
            Cut::Text(text) => object("const_string", [("value", Value::from(text))]),
            Cut::Token(token) => object("token", [("token", Value::from(token.text.as_str()))]),
        };
        sequence(parts.into_iter().map(part).collect())
    }

    /// A choice, with what its ways begin and end with in common around it.
    fn choice(&mut self, items: &[Id]) -> Value {
        let (before, items, after) = factored(&mut self.grammar.arena, items);
        let ways: Vec<Value> = items.iter().map(|id| self.format(*id)).collect();
        let choice = match ways.len() {
            1 => ways.into_iter().next().unwrap_or_default(),
            _ => object("or", [("elements", Value::Array(ways))]),
        };
        let before: Vec<Value> = before.iter().map(|id| self.format(*id)).collect();
        let after: Vec<Value> = after.iter().map(|id| self.format(*id)).collect();
        sequence(before.into_iter().chain([choice]).chain(after).collect())
    }
}

/// Returns true if a schema says anywhere how long a string is.
fn has_length(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(key, value)| {
            let is_length = LENGTHS.contains(&key.as_str()) && matches!(value, Value::Int(_));
            is_length || has_length(value)
        }),
        Value::Array(items) => items.iter().any(has_length),
        _ => false,
    }
}

/// One format or several, one after the other.
fn sequence(items: Vec<Value>) -> Value {
    let mut flat = Vec::new();
    for item in items {
        let inner = match (&item, item.get("type").and_then(Value::as_str)) {
            (Value::Object(_), Some("sequence")) => item.get("elements").and_then(Value::as_array),
            _ => None,
        };
        match inner {
            Some(inner) => flat.extend(inner.to_vec()),
            None => flat.push(item),
        }
    }
    match flat.len() {
        0 => object("const_string", [("value", Value::from(""))]),
        1 => flat.into_iter().next().unwrap_or_default(),
        _ => object("sequence", [("elements", Value::Array(flat))]),
    }
}

/// The ways of a choice without what they begin and end with in common; and both of that.
pub(super) fn factored(arena: &mut Arena, items: &[Id]) -> (Vec<Id>, Vec<Id>, Vec<Id>) {
    let mut ways: Vec<Vec<Id>> = items.iter().map(|id| arena.items(*id)).collect();
    let mut before = Vec::new();
    let same = |ways: &[Vec<Id>], of: &dyn Fn(&Vec<Id>) -> Option<Id>| {
        let first = ways.first().and_then(of)?;
        ways.iter()
            .all(|way| of(way) == Some(first))
            .then_some(first)
    };
    while let Some(id) = same(&ways, &|way| way.first().copied()) {
        before.push(id);
        ways.iter_mut().for_each(|way| {
            way.remove(0);
        });
    }
    let mut after = Vec::new();
    while let Some(id) = same(&ways, &|way| way.last().copied()) {
        after.insert(0, id);
        ways.iter_mut().for_each(|way| {
            way.pop();
        });
    }
    let mut items: Vec<Id> = Vec::new();
    for way in ways {
        let id = arena.seq(way);
        if !items.contains(&id) {
            items.push(id);
        }
    }
    (before, items, after)
}
