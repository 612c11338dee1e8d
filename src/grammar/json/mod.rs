//! JSON of a schema as expressions: for engines that know no schemas, for the sampler, and for formats that write JSON otherwise.
//!
//! Members stand in the order in which the schema declares them, those that are required all of them. What a schema asks for
//! and a context-free grammar of sensible size cannot say (a multiple of, unique items, bounds of numbers) is not asked for; it is
//! named.

mod number;
mod schema;
mod text;

use super::chars::Chars;
use super::expr::{Arena, Expr, Id};
use super::format::Dialect;
use super::parts::{referred, undeclared};
use crate::value::{Map, Value, json};
pub(crate) use schema::named;
use schema::{both, merged};

/// Keywords that are told by nothing that is written, or say nothing of a value.
const SILENT: &[&str] = &[
    "title",
    "description",
    "default",
    "examples",
    "example",
    "$schema",
    "$id",
    "$comment",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$defs",
    "definitions",
    "strict",
    "nullable",
    "discriminator",
];

/// Keywords that are written.
const WRITTEN: &[&str] = &[
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    "minLength",
    "maxLength",
];

/// Keywords of how long a text is.
pub(crate) const LENGTHS: [&str; 2] = ["minLength", "maxLength"];

/// Keywords of what stands in a text.
pub(crate) const OF_TEXTS: [&str; 6] = [
    "pattern",
    "format",
    "contentEncoding",
    "contentMediaType",
    "minLength",
    "maxLength",
];

/// The most rules of one string.
const MAX_RULES: usize = 1000;

/// How deep a schema without references may nest.
const MAX_DEPTH: usize = 40;

/// Writes JSON into an arena.
#[derive(Debug)]
pub(crate) struct JsonWriter<'a> {
    pub(crate) arena: &'a mut Arena,
    /// The document that references lead into.
    pub(crate) root: &'a Value,
    pub(crate) dialect: Option<&'a Dialect>,
    /// The texts that must not stand in a string.
    pub(crate) avoid: &'a [String],
    /// The keywords that are not asked for.
    pub(crate) ignored: &'a mut Vec<String>,
    /// True where members stand in the order of their names.
    pub(crate) sorted: bool,
    /// True if a text of a dialect must not have a backslash, since what stands escaped in it is not read back.
    pub(crate) no_backslash: bool,
    /// Sets this schema's rules apart from others'.
    pub(crate) scope: String,
}

/// Things one after the other with something between, of which some may be missing; `None` where there are none.
/// None at all is not one of the texts.
pub(crate) fn members(arena: &mut Arena, items: &[(Id, bool)], separator: Id) -> Option<Id> {
    let mut after = arena.empty();
    let mut first: Option<Id> = None;
    for (item, is_required) in items.iter().rev() {
        let begun = arena.seq([*item, after]);
        first = Some(match first {
            Some(later) if !is_required => arena.choice([begun, later]),
            _ => begun,
        });
        let further = arena.seq([separator, *item]);
        let further = match is_required {
            true => further,
            false => arena.optional(further),
        };
        after = arena.seq([further, after]);
    }
    first
}

/// [`members`], and behind them as many more of another kind as one likes.
pub(crate) fn members_and(
    arena: &mut Arena,
    items: &[(Id, bool)],
    further: Option<Id>,
    separator: Id,
) -> Option<Id> {
    let known = members(arena, items, separator);
    let Some(further) = further else {
        return known;
    };
    let next = arena.seq([separator, further]);
    let more = arena.repeat(next, 0, None);
    let alone = arena.seq([further, more]);
    let may_be_alone = items.iter().all(|(_, is_required)| !is_required);
    Some(match known {
        Some(known) if may_be_alone => {
            let with = arena.seq([known, more]);
            arena.choice([with, alone])
        }
        Some(known) => arena.seq([known, more]),
        None => alone,
    })
}

impl JsonWriter<'_> {
    pub(crate) fn value(&mut self, schema: &Value, depth: usize) -> Id {
        let schema = match schema {
            Value::Bool(false) => return self.arena.never(),
            Value::Object(members) if depth <= MAX_DEPTH => members,
            _ => return self.any(),
        };
        for key in schema.keys() {
            let name = key.as_str();
            if !SILENT.contains(&name) && !WRITTEN.contains(&name) {
                self.ignore(name);
            }
        }
        let written = self.written(schema, depth);
        if schema.get("nullable").is_some_and(Value::is_truthy) {
            let null = self.literal(&Value::Null);
            return self.arena.choice([written, null]);
        }
        written
    }

    /// Tells of a keyword that is not asked for.
    fn ignore(&mut self, keyword: &str) {
        if !self.ignored.iter().any(|known| known == keyword) {
            self.ignored.push(keyword.to_owned());
        }
    }

    fn written(&mut self, schema: &Map, depth: usize) -> Id {
        if let Some(Value::String(reference)) = schema.get("$ref") {
            return self.reference(reference, depth);
        }
        if let Some(value) = schema.get("const") {
            return self.literal(value);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let values: Vec<Id> = values.iter().map(|value| self.literal(value)).collect();
            return self.arena.choice(values);
        }
        for union in ["anyOf", "oneOf"] {
            if let Some(schemas) = schema.get(union).and_then(Value::as_array) {
                let all: Vec<Id> = schemas
                    .iter()
                    .map(|one| self.value(&merged(schema, one, union), depth + 1))
                    .collect();
                return self.arena.choice(all);
            }
        }
        if let Some(schemas) = schema.get("allOf").and_then(Value::as_array) {
            let mut all = schema.clone();
            all.shift_remove("allOf");
            let all = schemas
                .iter()
                .fold(Value::Object(all), |all, one| both(all, one, self.root));
            return self.value(&all, depth + 1);
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.typed(name, schema, depth),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                let all: Vec<Id> = names.map(|name| self.typed(name, schema, depth)).collect();
                self.arena.choice(all)
            }
            _ if schema.contains_key("properties") => self.typed("object", schema, depth),
            _ if schema.contains_key("items") => self.typed("array", schema, depth),
            _ => self.any(),
        }
    }

    fn reference(&mut self, reference: &str, depth: usize) -> Id {
        let rule = format!("{}{}", self.scope, named(reference));
        if self.arena.rule(&rule).is_none() {
            let Some(schema) = referred(self.root, reference) else {
                return self.any();
            };
            let schema = schema.clone();
            let never = self.arena.never();
            self.arena.set_rule(&rule, never);
            let body = self.value(&schema, depth.min(1));
            self.arena.set_rule(&rule, body);
        }
        self.arena.rule_ref(&rule)
    }

    fn typed(&mut self, name: &str, schema: &Map, depth: usize) -> Id {
        match name {
            "string" => self.string(schema),
            "integer" => {
                let number = self.integer();
                self.as_value("json", number)
            }
            "number" => {
                let number = self.number();
                self.as_value("json", number)
            }
            "boolean" => {
                let both = [true, false].map(|value| self.literal(&Value::Bool(value)));
                self.arena.choice(both)
            }
            "null" => self.literal(&Value::Null),
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            _ => {
                self.ignore(&format!("type: {name}"));
                self.any()
            }
        }
    }

    /// The value itself.
    pub(crate) fn literal(&mut self, value: &Value) -> Id {
        let Some(dialect) = self.dialect else {
            return self.arena.text(&json::to_string(value));
        };
        let plain = |writer: &mut Self, tag: &str| {
            let text = writer.arena.text(&dialect.write(value));
            writer.as_value(tag, text)
        };
        match value {
            Value::Null => plain(self, "null"),
            Value::Bool(true) => plain(self, "true"),
            Value::Bool(false) => plain(self, "false"),
            Value::String(text) => {
                let text = self.arena.text(text);
                self.in_quotes(&dialect.quotes, text)
            }
            Value::Array(items) => {
                let items: Vec<Id> = items.iter().map(|item| self.literal(item)).collect();
                let inner = self.separated(&items);
                let list = self.bracketed("[", inner, "]");
                self.as_value("array", list)
            }
            Value::Object(members) => {
                let each = members.iter();
                let items: Vec<Id> = each
                    .map(|(key, value)| {
                        let (name, value) = (self.name(key), self.literal(value));
                        self.member(name, value)
                    })
                    .collect();
                let inner = self.separated(&items);
                let object = self.bracketed("{", inner, "}");
                self.as_value("object", object)
            }
            _ => plain(self, "json"),
        }
    }

    /// All of these with what separates items between.
    fn separated(&mut self, items: &[Id]) -> Id {
        let comma = self.separator(0, ",");
        let items: Vec<(Id, bool)> = items.iter().map(|item| (*item, true)).collect();
        members(self.arena, &items, comma).unwrap_or_else(|| self.arena.empty())
    }

    /// The expression as a value of the message, where that must be said: what is JSON is read as JSON.
    pub(crate) fn as_value(&mut self, tag: &str, of: Id) -> Id {
        match self.dialect {
            Some(_) => self.arena.tag(tag, of),
            None => of,
        }
    }

    /// The name of a member that is known.
    fn name(&mut self, key: &str) -> Id {
        let Some(dialect) = self.dialect else {
            return self.arena.text(&json::quote(key));
        };
        let name = self.arena.text(key);
        let name = if dialect.bare_keys {
            name
        } else {
            self.in_quotes(&dialect.quotes, name)
        };
        self.as_value("key", name)
    }

    /// A member of an object.
    fn member(&mut self, name: Id, value: Id) -> Id {
        let colon = self.separator(1, ":");
        let member = self.arena.seq([name, colon, value]);
        self.as_value("member", member)
    }

    /// White space where JSON takes some: a little of it, so that nobody writes it for ever.
    fn space(&mut self) -> Id {
        if self.dialect.is_some() {
            return self.arena.empty();
        }
        let rule = "space";
        if self.arena.rule(rule).is_none() {
            let blank = self.arena.text(" ");
            let tabs = self.arena.add(Expr::Run {
                chars: Chars::from_ranges(&[(' ', ' '), ('\t', '\t')]),
                min: 0,
                max: Some(32),
            });
            let line = self.arena.text("\n");
            let lines = self.arena.seq([line, tabs]);
            let both = self.arena.choice([blank, lines]);
            let body = self.arena.optional(both);
            self.arena.set_rule(rule, body);
        }
        self.arena.rule_ref(rule)
    }

    fn separator(&mut self, at: usize, standard: &str) -> Id {
        if let Some(dialect) = self.dialect {
            let text = [&dialect.separators.0, &dialect.separators.1][at];
            return self.arena.text(text);
        }
        let space = self.space();
        let sign = self.arena.text(standard);
        self.arena.seq([space, sign, space])
    }

    fn bracketed(&mut self, open: &str, inner: Id, close: &str) -> Id {
        let space = self.space();
        let (open, close) = (self.arena.text(open), self.arena.text(close));
        let inner = if self.arena.is_empty(inner) {
            space
        } else {
            self.arena.seq([space, inner, space])
        };
        self.arena.seq([open, inner, close])
    }

    fn object(&mut self, schema: &Map, depth: usize) -> Id {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map_or_else(Vec::new, |keys| {
                keys.iter().filter_map(Value::as_str).collect()
            });
        let mut properties: Vec<(String, Value)> = schema
            .get("properties")
            .and_then(Value::as_object)
            .map_or_else(Vec::new, |properties| {
                let each = properties.iter();
                each.map(|(key, value)| (key.to_string(), value.clone()))
                    .collect()
            });
        if self.sorted {
            properties.sort_by(|a, b| a.0.cmp(&b.0));
        }
        let comma = self.separator(0, ",");
        let mut items = Vec::new();
        for (key, value) in &properties {
            let name = self.name(key);
            let value = self.value(value, depth + 1);
            let member = self.member(name, value);
            items.push((member, required.contains(&key.as_str())));
        }
        let further = undeclared(schema.get("additionalProperties"), !properties.is_empty())
            .map(|schema| self.value(&schema, depth + 1));
        let is_empty = items.iter().all(|(_, is_required)| !is_required);
        let further = further.map(|value| {
            let key = self.key();
            self.member(key, value)
        });
        let inner = members_and(self.arena, &items, further, comma);
        let empty = self.arena.empty();
        let none = self.bracketed("{", empty, "}");
        let object = match inner {
            Some(inner) => {
                let some = self.bracketed("{", inner, "}");
                if is_empty {
                    self.arena.choice([some, none])
                } else {
                    some
                }
            }
            None => none,
        };
        self.as_value("object", object)
    }

    fn array(&mut self, schema: &Map, depth: usize) -> Id {
        let number = |key: &str| match schema.get(key) {
            Some(Value::Int(number)) => number.to_string().parse::<u32>().ok(),
            _ => None,
        };
        let (min, max) = (number("minItems").unwrap_or(0), number("maxItems"));
        let comma = self.separator(0, ",");
        let first: Vec<Value> = schema
            .get("prefixItems")
            .and_then(Value::as_array)
            .map_or_else(Vec::new, <[Value]>::to_vec);
        if !first.is_empty() {
            let items: Vec<(Id, bool)> = first
                .iter()
                .map(|item| (self.value(item, depth + 1), true))
                .collect();
            let inner = members(self.arena, &items, comma).unwrap_or_else(|| self.arena.empty());
            let list = self.bracketed("[", inner, "]");
            return self.as_value("array", list);
        }
        let item = match schema.get("items") {
            Some(items) => self.value(items, depth + 1),
            None => self.any(),
        };
        let empty = self.arena.empty();
        let none = self.bracketed("[", empty, "]");
        if max == Some(0) {
            return self.as_value("array", none);
        }
        let next = self.arena.seq([comma, item]);
        let further = self
            .arena
            .repeat(next, min.saturating_sub(1), max.map(|max| max - 1));
        let inner = self.arena.seq([item, further]);
        let some = self.bracketed("[", inner, "]");
        let list = if min == 0 {
            self.arena.choice([some, none])
        } else {
            some
        };
        self.as_value("array", list)
    }

    /// Any value at all.
    fn any(&mut self) -> Id {
        let mark = match (self.dialect, self.avoid) {
            (None, []) => String::new(),
            (None, avoid) => format!("-{}", named(&avoid.join("-"))),
            (Some(_), avoid) => format!("-dialect-{}", named(&avoid.join("-"))),
        };
        let rule = format!("value{mark}");
        let reference = self.arena.rule_ref(&rule);
        if self.arena.rule(&rule).is_some() {
            return reference;
        }
        let never = self.arena.never();
        self.arena.set_rule(&rule, never);
        let comma = self.separator(0, ",");
        let key = self.key();
        let empty = self.arena.empty();
        let mut ways: Vec<Id> = [Value::Null, Value::Bool(true), Value::Bool(false)]
            .iter()
            .map(|value| self.literal(value))
            .collect();
        let number = self.number();
        ways.push(self.as_value("json", number));
        ways.push(self.string(&Map::new()));
        let brackets = [("[", "]", "array"), ("{", "}", "object")];
        for (open, close, tag) in brackets {
            let none = self.bracketed(open, empty, close);
            ways.push(self.as_value(tag, none));
        }
        let items = [reference, self.member(key, reference)];
        for ((open, close, tag), item) in brackets.into_iter().zip(items) {
            let next = self.arena.seq([comma, item]);
            let more = self.arena.repeat(next, 0, None);
            let inner = self.arena.seq([item, more]);
            let some = self.bracketed(open, inner, close);
            ways.push(self.as_value(tag, some));
        }
        let body = self.arena.choice(ways);
        self.arena.set_rule(&rule, body);
        reference
    }
}
