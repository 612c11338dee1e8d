//! Names and values of which nothing is known but where they end.
//!
//! A grammar of given tools has each name in it. One that reads calls of any tool takes a name to what separates it from its value, and a value
//! for the first of the types that it can be where something follows that can end it. What follows a part of the message is told by who
//! writes the part; so `5, x` is no number where a text ends at `)`.

use super::firsts::lead;
use super::parts::word;
use super::text;
use super::walk::Writer;
use crate::grammar::avoid::{Avoid, Piece};
use crate::grammar::expr::{ANY_NAME, ANY_VALUE, Expr as Node, Id, OR_PYTHON};
use crate::grammar::peg::build::{
    Expr, chars, choice, literal, negate, peek, python, reference, sequence, tag, until_one_of,
};

impl Writer<'_> {
    /// A value of any type: each way to write one where something follows that can end it, and at last a text as it is.
    pub(super) fn any_value(&mut self, id: Id, following: &[String]) -> Expr {
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
    pub(super) fn any_value_before(
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

    /// Returns what must not stand in a text as it is, if that is one of these ways to write a value.
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

    /// Returns what follows something that these may follow, or else what follows its part, with white space before it; `None` where names
    /// are known and nothing has to be told by that.
    fn stop(&self, following: &[String]) -> Option<Expr> {
        let all = following.iter().chain(self.behind_part()?);
        let mut texts: Vec<&str> = all.map(String::as_str).collect();
        texts.sort_unstable_by_key(|text| (std::cmp::Reverse(text.len()), *text));
        texts.dedup();
        let texts = choice(texts.into_iter().map(literal));
        Some(choice([texts.clone(), sequence([text::blanks(), texts])]))
    }

    /// Something with a name that is not known where what follows the part is not: the name may be anything, that as well.
    pub(super) fn guarded(&self, id: Id, written: Expr) -> Expr {
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
    pub(super) fn any_name(&self, id: Id, behind: &[Id]) -> Option<Expr> {
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
                Some(tag(&**name, text::name_before(stop)))
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
}
