//! Parts of a message as they are: within a call what stands there tells the way on.

use super::firsts::lead;
use super::text;
use super::walk::Writer;
use crate::grammar::expr::{ANY_NAME, ANY_VALUE, Expr as Node, Id, JsonOf, OR_PYTHON};
use crate::grammar::peg::build::{
    Expr, choice, cut, eps, json, json_array, json_object, literal, python, reference, repeat,
    schema, sequence, tag,
};
use crate::value::{Value, json as text_of_json};

/// The words that JSON and Python have for the value of a tag.
pub(super) fn word(tag: &str) -> Option<[&'static str; 2]> {
    match tag {
        "null" => Some(["null", "None"]),
        "true" => Some(["true", "True"]),
        "false" => Some(["false", "False"]),
        _ => None,
    }
}

impl Writer<'_> {
    /// An expression. `decided`: a cut stands behind the text that it begins with; `following` are texts that may follow it.
    pub(super) fn part(&mut self, id: Id, decided: bool, following: &[String]) -> Expr {
        if !decided && let Some(known) = self.shared.get(&id) {
            let mut known = known.iter();
            let known =
                known.find(|(behind, outer, _)| behind == following && *outer == self.outer);
            if let Some((.., name)) = known {
                return reference(name);
            }
            let name = self.begin("part");
            if let Some(known) = self.shared.get_mut(&id) {
                known.push((following.to_vec(), self.outer, name.clone()));
            }
            let of = self.part_as_it_is(id, decided, following);
            self.finish(&name, of);
            return reference(name);
        }
        self.part_as_it_is(id, decided, following)
    }

    fn part_as_it_is(&mut self, id: Id, decided: bool, following: &[String]) -> Expr {
        match self.arena.get(id).clone() {
            Node::Text(text) => literal(text),
            Node::Run { chars, min, max } => text::run(&chars, min, max),
            Node::Free(avoid) => text::until(&avoid, following),
            Node::Json(of) => self.json(id, &of),
            Node::Tag(name, of) if name == "tool" => {
                let key = (id, decided, self.outer);
                if let Some(name) = self.known_parts.get(&key) {
                    return reference(name);
                }
                let rule = self.call_name(id);
                let rule = self.begin(&rule);
                self.known_parts.insert(key, rule.clone());
                let of = tag(&*name, self.sequence(of, decided, following));
                self.finish(&rule, of);
                reference(rule)
            }
            Node::Tag(name, of) if name == OR_PYTHON => {
                // No cut stands in what has another way.
                let value = self.part(of, false, following);
                choice([value, tag("tool-arg-value", python())])
            }
            Node::Tag(name, of) if name == ANY_VALUE => self.any_value(of, following),
            Node::Tag(name, of) if name == "tool-arg" => {
                let written = self.part(of, decided, following);
                self.guarded(of, tag(&*name, written))
            }
            Node::Tag(name, of) if name == ANY_NAME => match following {
                [] => self.part(of, false, following),
                _ => text::name_before(choice(following.iter().map(literal))),
            },
            Node::Tag(name, of) => match (word(&name), self.arena.get(of)) {
                (Some(words), Node::Text(text)) => {
                    let others = words.iter().filter(|word| *word != text);
                    let words = std::iter::once(text.as_str()).chain(others.copied());
                    tag(&*name, choice(words.map(literal).collect::<Vec<_>>()))
                }
                _ => {
                    let of = self.part(of, decided, following);
                    tag(&*name, of)
                }
            },
            Node::Seq(_) => self.sequence(id, decided, following),
            Node::Choice(items) => {
                let mut items = items;
                // What is free takes what others would, and a text takes the beginning of a longer one.
                items.sort_by_key(|item| {
                    let lead = lead(&self.arena, *item).map(|text| text.len());
                    (self.begins_free(*item), std::cmp::Reverse(lead))
                });
                let items: Vec<Expr> = items
                    .iter()
                    .map(|item| self.part(*item, false, following))
                    .collect();
                choice(items)
            }
            Node::Repeat { item, min, max } => {
                let mut behind = following.to_vec();
                self.beginnings(item, &mut behind);
                let of = self.part(item, false, &behind);
                repeat(self.guarded(item, of), min, max)
            }
            Node::Rule(name) => self.named(&name),
        }
    }

    fn sequence(&mut self, id: Id, decided: bool, following: &[String]) -> Expr {
        let items = self.arena.items(id);
        let mut parts = Vec::new();
        let mut is_lead = decided;
        for (at, item) in items.iter().enumerate() {
            let behind = self.following(&items[at + 1..], following);
            let is_text = self.is_text(*item);
            if is_lead && !is_text {
                if at > 0 {
                    parts.push(cut());
                }
                is_lead = false;
            }
            if let Some(value) = self.any_value_before(*item, &items[at + 1..], &behind, following)
            {
                parts.push(value);
                break;
            }
            parts.push(match self.any_name(*item, &items[at + 1..]) {
                Some(name) => name,
                None => self.part(*item, false, &behind),
            });
        }
        match parts.len() {
            0 => eps(),
            _ => sequence(parts),
        }
    }

    fn is_text(&self, id: Id) -> bool {
        super::firsts::gather_lead(&self.arena, id, &mut String::new())
    }

    /// The texts with which these may begin, or what follows them where they may be nothing.
    fn following(&self, items: &[Id], following: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        for item in items {
            self.beginnings(*item, &mut found);
            if !self.arena.is_nullable(*item) {
                return found;
            }
        }
        found.extend(following.iter().cloned());
        found
    }

    fn beginnings(&self, id: Id, found: &mut Vec<String>) {
        match self.arena.get(id) {
            Node::Text(text) if found.contains(text) => {}
            Node::Text(text) => found.push(text.clone()),
            Node::Tag(_, of) => self.beginnings(*of, found),
            Node::Seq(items) => {
                for item in items {
                    self.beginnings(*item, found);
                    if !self.arena.is_nullable(*item) {
                        return;
                    }
                }
            }
            Node::Choice(items) => items.iter().for_each(|id| self.beginnings(*id, found)),
            Node::Repeat { item, .. } => self.beginnings(*item, found),
            _ => {}
        }
    }

    /// Returns true if the first that is not fixed in an expression is a text that may be anything.
    pub(super) fn begins_free(&self, id: Id) -> bool {
        match self.arena.get(id) {
            Node::Free(_) => true,
            Node::Tag(_, of) => self.begins_free(*of),
            Node::Seq(items) => items
                .iter()
                .find(|item| !self.is_text(**item))
                .is_some_and(|item| self.begins_free(*item)),
            Node::Choice(items) => items.iter().any(|id| self.begins_free(*id)),
            _ => false,
        }
    }

    /// A rule of the grammar, which leads back to itself.
    fn named(&mut self, name: &str) -> Expr {
        let Some(body) = self.arena.rule(name) else {
            return reference(name);
        };
        let key = (body, false, self.outer);
        if let Some(known) = self.known_parts.get(&key) {
            return reference(known);
        }
        let rule = self.begin(&format!("its-{name}"));
        self.known_parts.insert(key, rule.clone());
        let of = self.part(body, false, &[]);
        self.finish(&rule, of);
        reference(rule)
    }

    /// JSON of a schema, as a rule.
    fn json(&mut self, id: Id, of: &JsonOf) -> Expr {
        let key = (id, false, self.outer);
        if let Some(name) = self.known_parts.get(&key) {
            return reference(name);
        }
        let asked = text_of_json::parse(&of.schema).unwrap_or(Value::Bool(true));
        let value = match asked.get("type").and_then(Value::as_str) {
            Some("object") => json_object(),
            Some("array") => json_array(),
            _ => json(),
        };
        let rule = self.begin("schema");
        self.known_parts.insert(key, rule.clone());
        self.finish(&rule, schema(value, &rule, asked, false));
        reference(rule)
    }
}
