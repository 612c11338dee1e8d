//! Parts of a message as they are: within a call what stands there tells the way on.

use super::firsts::lead;
use super::text;
use super::walk::Writer;
use crate::grammar::avoid::{Avoid, Piece};
use crate::grammar::expr::{ANY_NAME, ANY_VALUE, Expr as Node, Id, JsonOf, OR_PYTHON};
use crate::grammar::peg::build::{
    Expr, any, chars, choice, cut, eps, json, json_array, json_object, literal, negate,
    one_or_more, peek, python, reference, repeat, schema, sequence, tag, until_one_of,
};
use crate::value::{Value, json as text_of_json};

/// The words that JSON and Python have for the value of a tag.
fn word(tag: &str) -> Option<[&'static str; 2]> {
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
                _ => name_before(choice(following.iter().map(literal))),
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

    /// A value of any type: each way to write one where something follows that can end it, and at last a text as it is.
    fn any_value(&mut self, id: Id, following: &[String]) -> Expr {
        let items = match self.arena.get(id) {
            Node::Choice(items) => items.clone(),
            _ => vec![id],
        };
        let stop = self.stop(following);
        let ending = |value: Expr| match &stop {
            Some(stop) => sequence([value, peek(stop.clone())]),
            None => value,
        };
        let mut ways: Vec<Expr> = Vec::new();
        for item in items {
            let (of, or_python) = match self.arena.get(item) {
                Node::Tag(name, of) if name == OR_PYTHON => (*of, true),
                _ => (item, false),
            };
            let value = self.part(of, false, following);
            let literal = tag("tool-arg-value", python());
            let more = match (or_python, self.quoted_before(of, following)) {
                (false, quoted) => quoted.into_iter().collect(),
                (true, Some(quoted)) => vec![literal, quoted],
                // A text in quotes is none of the other types.
                (true, None) => vec![sequence([negate(chars("[\"']", 1, Some(1))), literal])],
            };
            for way in std::iter::once(value).chain(more) {
                let way = match self.begins_free(of) && !or_python {
                    true => way,
                    false => ending(way),
                };
                if !ways.contains(&way) {
                    ways.push(way);
                }
            }
        }
        choice(ways)
    }

    /// A value of any type and what closes it: to the first close, where something follows that can; or a text to the first close behind
    /// which something does. `None` where nothing is known to follow, or another part stands behind.
    fn any_value_before(
        &mut self,
        id: Id,
        behind: &[Id],
        next: &[String],
        following: &[String],
    ) -> Option<Expr> {
        let (Node::Tag(name, of), [close]) = (self.arena.get(id), behind) else {
            return None;
        };
        let (true, Node::Text(close)) = (name == ANY_VALUE, self.arena.get(*close)) else {
            return None;
        };
        let (of, close) = (*of, close.clone());
        let ends: Vec<String> = following
            .iter()
            .chain(self.behind_part()?)
            .cloned()
            .collect();
        let raw = self.raw_text(of)?;
        let others = raw
            .pieces()
            .iter()
            .filter_map(|pieces| match pieces.as_slice() {
                [Piece::Text(text)] if text != close.trim() => Some(text.clone()),
                _ => None,
            });
        let others: Vec<String> = others.collect();
        let stop = self.stop(following)?;
        let value = self.any_value(of, next);
        let rule = self.begin("value");
        self.finish(&rule, value);
        let closed = sequence([reference(&rule), literal(&close)]);
        let ends = ends.iter().map(|text| format!("{close}{text}"));
        let text = tag("tool-arg-string-value", until_one_of(ends.chain(others)));
        Some(choice([
            sequence([closed.clone(), peek(stop)]),
            sequence([text, literal(&close)]),
            closed,
        ]))
    }

    /// What must not stand in a text as it is, if that is one of these ways to write a value.
    fn raw_text(&self, id: Id) -> Option<Avoid> {
        match self.arena.get(id) {
            Node::Choice(items) => items.iter().find_map(|item| self.raw_text(*item)),
            Node::Tag(name, of) if name == "tool-arg-string-value" => match self.arena.get(*of) {
                Node::Free(avoid) => Some(avoid.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// What follows something that these may follow, or else what follows its part, with white space before it; `None` where names are known
    /// and nothing has to be told by that.
    fn stop(&self, following: &[String]) -> Option<Expr> {
        let all = following.iter().chain(self.behind_part()?);
        let mut texts: Vec<&str> = all.map(String::as_str).collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        texts.dedup();
        let texts = choice(texts.into_iter().map(literal));
        Some(choice([texts.clone(), sequence([text::blanks(), texts])]))
    }

    /// Something with a name that is not known where what follows the part is not: the name may be anything, that as well.
    fn guarded(&self, id: Id, written: Expr) -> Expr {
        let Some(texts) = self.behind_part().filter(|_| self.has_any_name(id)) else {
            return written;
        };
        let lead = lead(&self.arena, id).unwrap_or_default();
        let texts = texts.iter().filter(|text| !lead.starts_with(text.as_str()));
        let texts: Vec<Expr> = texts.map(literal).collect();
        match texts.is_empty() {
            true => written,
            false => sequence([negate(choice(texts)), written]),
        }
    }

    /// A text between quotes that goes on to a quote behind which it can end.
    fn quoted_before(&self, id: Id, following: &[String]) -> Option<Expr> {
        let items = self.arena.items(id);
        let [open, value, end] = items.as_slice() else {
            return None;
        };
        let (Node::Text(open), Node::Tag(name, of), Node::Text(end)) = (
            self.arena.get(*open),
            self.arena.get(*value),
            self.arena.get(*end),
        ) else {
            return None;
        };
        if !matches!(self.arena.get(*of), Node::Free(_)) {
            return None;
        }
        let ends = following.iter().chain(self.behind_part()?);
        let ends = ends.map(|text| format!("{end}{text}"));
        let text = tag(&**name, until_one_of(ends));
        Some(sequence([literal(open), text, literal(end)]))
    }

    /// Returns true if a name that is not known stands in an expression, rules aside.
    fn has_any_name(&self, id: Id) -> bool {
        match self.arena.get(id) {
            Node::Tag(name, of) => name == ANY_NAME || self.has_any_name(*of),
            Node::Seq(items) | Node::Choice(items) => {
                items.iter().any(|item| self.has_any_name(*item))
            }
            Node::Repeat { item, .. } => self.has_any_name(*item),
            _ => false,
        }
    }

    /// A name that is not known, before these: it may have in it what separates it from its value, where no value begins behind that.
    fn any_name(&self, id: Id, behind: &[Id]) -> Option<Expr> {
        let Node::Tag(name, of) = self.arena.get(id) else {
            return None;
        };
        let [separator, value, ..] = behind else {
            return None;
        };
        match (self.arena.get(*of), self.arena.get(*separator)) {
            (Node::Tag(inner, _), Node::Text(text)) if inner == ANY_NAME => {
                let mut starts = Vec::new();
                self.starts(*value, &mut Vec::new(), &mut starts)?;
                let stop = sequence([literal(text), choice(starts)]);
                Some(tag(&**name, name_before(stop)))
            }
            _ => None,
        }
    }

    /// Gathers how an expression may begin; `None` where that may be anything. `within` are the rules that are being looked at.
    fn starts(&self, id: Id, within: &mut Vec<String>, found: &mut Vec<Expr>) -> Option<()> {
        let start = match self.arena.get(id) {
            Node::Text(text) => literal(text),
            Node::Run { chars, min, .. } if *min > 0 => text::run(chars, 1, Some(1)),
            Node::Choice(items) => {
                return items
                    .iter()
                    .try_for_each(|id| self.starts(*id, within, found));
            }
            Node::Seq(items) => {
                for item in items {
                    self.starts(*item, within, found)?;
                    if !self.arena.is_nullable(*item) {
                        return Some(());
                    }
                }
                return None;
            }
            Node::Repeat { item, .. } => return self.starts(*item, within, found),
            Node::Tag(tag, _) if tag == OR_PYTHON || tag == ANY_NAME => return None,
            Node::Tag(tag, of) => match (word(tag), self.arena.get(*of)) {
                (Some(words), Node::Text(_)) => choice(words.map(literal)),
                _ => return self.starts(*of, within, found),
            },
            Node::Rule(name) if within.contains(name) => return Some(()),
            Node::Rule(name) => {
                within.push(name.clone());
                return self.starts(self.arena.rule(name)?, within, found);
            }
            Node::Run { .. } | Node::Free(_) | Node::Json(_) => return None,
        };
        if !found.contains(&start) {
            found.push(start);
        }
        Some(())
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
    fn begins_free(&self, id: Id) -> bool {
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

/// A name that goes on to where this follows. It has a character at least.
fn name_before(stop: Expr) -> Expr {
    one_or_more(sequence([negate(stop), any()]))
}
