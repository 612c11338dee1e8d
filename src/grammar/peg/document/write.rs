//! From a grammar to a document, in the shortest of the ways in which it can be written.

use crate::grammar::peg::arena::{ExprId, Expression, Parts};
use crate::value::{Map, Value};

/// Adds the root and the rules that the grammar defines itself.
pub(super) fn write(parts: &Parts, document: &mut Map) {
    document.insert("root", expr(parts, parts.root));
    let rules = || parts.rules.iter().filter(|rule| rule.builtin.is_none());
    let written: Map = rules()
        .map(|rule| (rule.name.to_string(), expr(parts, rule.of)))
        .collect();
    if !written.is_empty() {
        document.insert("rules", Value::Object(written));
    }
    let triggers: Vec<Value> = rules()
        .filter(|rule| rule.trigger)
        .map(|rule| Value::from(rule.name.as_str()))
        .collect();
    if !triggers.is_empty() {
        document.insert("trigger_rules", Value::Array(triggers));
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let mut map = Map::new();
    for (key, value) in members {
        map.insert(key, value);
    }
    Value::Object(map)
}

fn expr(parts: &Parts, id: ExprId) -> Value {
    let of = |id: &ExprId| expr(parts, *id);
    let all = |ids: &[ExprId]| Value::Array(ids.iter().map(of).collect());
    match parts.get(id) {
        Expression::Eps => Value::from("eps"),
        Expression::Start => Value::from("start"),
        Expression::End => Value::from("end"),
        Expression::Any => Value::from("any"),
        Expression::Space => Value::from("space"),
        Expression::Cut => Value::from("cut"),
        Expression::Literal(text) => object([("literal", Value::from(text.as_str()))]),
        Expression::Chars { class, min, max } => {
            let class = ("chars", Value::from(class.source()));
            match (min, max) {
                (1, None) => object([class]),
                _ => with_counts(class, *min, *max),
            }
        }
        Expression::Until(delimiters) => match delimiters.as_slice() {
            [] => Value::from("rest"),
            [only] => object([("until", Value::from(only.as_str()))]),
            several => {
                let texts = several.iter().map(|text| Value::from(text.as_str()));
                object([("until_one_of", Value::Array(texts.collect()))])
            }
        },
        Expression::Quoted('"') => Value::from("json_string_content"),
        Expression::Quoted(quote) => object([("string_content", Value::from(quote.to_string()))]),
        Expression::Sequence(inner) => object([("sequence", all(inner))]),
        Expression::Choice(inner) => object([("choice", all(inner))]),
        Expression::Repeat {
            of: inner,
            min,
            max,
        } => match (min, max) {
            (0, None) => object([("zero_or_more", of(inner))]),
            (1, None) => object([("one_or_more", of(inner))]),
            (0, Some(1)) => object([("optional", of(inner))]),
            _ => with_counts(("repeat", of(inner)), *min, *max),
        },
        Expression::Peek(inner) => object([("peek", of(inner))]),
        Expression::Negate(inner) => object([("negate", of(inner))]),
        Expression::Atomic(inner) => object([("atomic", of(inner))]),
        Expression::Tag { tag, of: inner } => {
            object([("tag", Value::from(tag.as_str())), ("of", of(inner))])
        }
        Expression::Schema {
            name,
            schema,
            raw,
            of: inner,
        } => {
            let mut written = Map::new();
            written.insert("schema", schema.clone());
            written.insert("name", Value::from(name.as_str()));
            if *raw {
                written.insert("raw", Value::from(true));
            }
            written.insert("of", of(inner));
            Value::Object(written)
        }
        Expression::Ref(rule) => {
            let rule = &parts.rules[rule.0 as usize];
            match rule.builtin {
                Some(value) => Value::from(value.name()),
                None => object([("ref", Value::from(rule.name.as_str()))]),
            }
        }
    }
}

fn with_counts(what: (&str, Value), min: u32, max: Option<u32>) -> Value {
    let max = max.map_or(Value::Null, |max| Value::from(i64::from(max)));
    object([what, ("min", Value::from(i64::from(min))), ("max", max)])
}
