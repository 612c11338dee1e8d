//! The small language in which a grammar is held: expressions over text, shared where they are alike.
//!
//! An expression is a node in an arena, and equal expressions are one node: what comes after a call is one node however many
//! ways lead there, so that a grammar stays small and an emitter can see what to make a rule of. The builders keep a few
//! forms away (a sequence in a sequence, texts side by side, a choice of one), which is all the normal form there is.

use std::collections::HashSet;

use foldhash::HashMap;
use smol_str::SmolStr;

use super::avoid::Avoid;
use super::chars::Chars;

/// A node of a [`Grammar`](super::Grammar)'s arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(u32);

/// One expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Expr {
    /// Exactly this text, which is not empty.
    Text(String),
    /// So many characters of a set.
    Run {
        chars: Chars,
        min: u32,
        /// `None` is as many as there are.
        max: Option<u32>,
    },
    /// Any text, the empty one too, in which none of these stands.
    Free(Avoid),
    /// JSON of a schema.
    Json(JsonOf),
    /// One after the other; the empty text where there are none.
    Seq(Vec<Id>),
    /// One of these, the preferred one first; nothing at all where there are none.
    Choice(Vec<Id>),
    /// So many times.
    Repeat {
        item: Id,
        min: u32,
        max: Option<u32>,
    },
    /// A rule of the arena, which may lead back to itself.
    Rule(String),
    /// An expression, and the part of the message that its text is: for who reads with the grammar.
    Tag(SmolStr, Id),
}

/// JSON that a schema describes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct JsonOf {
    /// The schema as JSON.
    pub(crate) schema: String,
    /// The texts that must not stand in its strings, since they would end what the JSON stands in.
    pub(crate) avoid: Vec<String>,
}

/// Expressions, and the rules that lead back to themselves.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arena {
    nodes: Vec<Expr>,
    known: HashMap<Expr, Id>,
    rules: Vec<(String, Id)>,
}

/// The tag of a value that a reader may also take for a Python literal, which no writer is to write: a chat template that prints a
/// list or a text by Python's `repr` cannot be read otherwise.
pub(crate) const OR_PYTHON: &str = "or-python";

/// The tag of a name that is not known. Who reads takes it to what follows, whatever stands in it; who writes keeps to letters, digits
/// and a few characters of punctuation.
pub(crate) const ANY_NAME: &str = "any-name";

/// The tag of a value of any type. Who reads takes it for the first of these that ends where something follows.
pub(crate) const ANY_VALUE: &str = "any-value";

impl Arena {
    pub(crate) fn get(&self, id: Id) -> &Expr {
        &self.nodes[id.0 as usize]
    }

    /// All expressions.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Expr> {
        self.nodes.iter()
    }

    /// The rules in the order in which they were made.
    pub(crate) fn rules(&self) -> &[(String, Id)] {
        &self.rules
    }

    /// The names of the rules that an expression leads to.
    pub(crate) fn rules_of(&self, id: Id) -> HashSet<&str> {
        let mut names = HashSet::new();
        let mut seen = HashSet::new();
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.get(id) {
                Expr::Rule(name) => {
                    names.insert(name.as_str());
                    left.extend(self.rule(name));
                }
                Expr::Seq(items) | Expr::Choice(items) => left.extend(items),
                Expr::Repeat { item: of, .. } | Expr::Tag(_, of) => left.push(*of),
                Expr::Text(_) | Expr::Run { .. } | Expr::Free(_) | Expr::Json(_) => {}
            }
        }
        names
    }

    /// The body of a rule.
    pub(crate) fn rule(&self, name: &str) -> Option<Id> {
        self.rules
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, id)| *id)
    }

    /// Makes or changes a rule.
    pub(crate) fn set_rule(&mut self, name: &str, body: Id) {
        match self.rules.iter_mut().find(|(known, _)| known == name) {
            Some((_, id)) => *id = body,
            None => self.rules.push((name.to_owned(), body)),
        }
    }

    pub(crate) fn add(&mut self, expr: Expr) -> Id {
        if let Some(id) = self.known.get(&expr) {
            return *id;
        }
        let id = Id(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(expr.clone());
        self.known.insert(expr, id);
        id
    }

    /// The empty text.
    pub(crate) fn empty(&mut self) -> Id {
        self.add(Expr::Seq(Vec::new()))
    }

    pub(crate) fn is_empty(&self, id: Id) -> bool {
        matches!(self.get(id), Expr::Seq(items) if items.is_empty())
    }

    /// Adds an expression that no text matches.
    pub(crate) fn never(&mut self) -> Id {
        self.add(Expr::Choice(Vec::new()))
    }

    pub(crate) fn is_never(&self, id: Id) -> bool {
        matches!(self.get(id), Expr::Choice(items) if items.is_empty())
    }

    pub(crate) fn text(&mut self, text: &str) -> Id {
        if text.is_empty() {
            return self.empty();
        }
        self.add(Expr::Text(text.to_owned()))
    }

    pub(crate) fn rule_ref(&mut self, name: &str) -> Id {
        self.add(Expr::Rule(name.to_owned()))
    }

    pub(crate) fn seq(&mut self, items: impl IntoIterator<Item = Id>) -> Id {
        let mut flat: Vec<Id> = Vec::new();
        for id in items {
            match self.get(id).clone() {
                Expr::Seq(inner) => {
                    for id in inner {
                        self.push(&mut flat, id);
                    }
                }
                _ => self.push(&mut flat, id),
            }
        }
        if flat.iter().any(|id| self.is_never(*id)) {
            return self.never();
        }
        match flat.as_slice() {
            [one] => *one,
            _ => self.add(Expr::Seq(flat)),
        }
    }

    /// Puts an item behind others, to the text before it where both are texts.
    fn push(&mut self, flat: &mut Vec<Id>, id: Id) {
        if let (Some(Expr::Text(before)), Expr::Text(text)) =
            (flat.last().map(|last| self.get(*last)), self.get(id))
        {
            let joined = format!("{before}{text}");
            flat.pop();
            let joined = self.text(&joined);
            flat.push(joined);
            return;
        }
        flat.push(id);
    }

    pub(crate) fn choice(&mut self, items: impl IntoIterator<Item = Id>) -> Id {
        let mut flat: Vec<Id> = Vec::new();
        for id in items {
            let inner = match self.get(id) {
                Expr::Choice(inner) => inner.clone(),
                _ => vec![id],
            };
            for id in inner {
                if !flat.contains(&id) {
                    flat.push(id);
                }
            }
        }
        match flat.as_slice() {
            [one] => *one,
            _ => self.add(Expr::Choice(flat)),
        }
    }

    pub(crate) fn optional(&mut self, item: Id) -> Id {
        self.repeat(item, 0, Some(1))
    }

    pub(crate) fn repeat(&mut self, item: Id, min: u32, max: Option<u32>) -> Id {
        if self.is_empty(item) || max == Some(0) || (min == 0 && self.is_never(item)) {
            return self.empty();
        }
        if (min, max) == (1, Some(1)) {
            return item;
        }
        self.add(Expr::Repeat { item, min, max })
    }

    /// The expression as a part of the message.
    pub(crate) fn tag(&mut self, tag: &str, of: Id) -> Id {
        if self.is_never(of) {
            return of;
        }
        self.add(Expr::Tag(tag.into(), of))
    }

    /// Returns true if the expression matches the empty text. A rule is taken for one that does not.
    pub(crate) fn is_nullable(&self, id: Id) -> bool {
        match self.get(id) {
            Expr::Text(_) | Expr::Json(_) | Expr::Rule(_) => false,
            Expr::Free(_) => true,
            Expr::Run { min, .. } => *min == 0,
            Expr::Seq(items) => items.iter().all(|id| self.is_nullable(*id)),
            Expr::Choice(items) => items.iter().any(|id| self.is_nullable(*id)),
            Expr::Repeat { item, min, .. } => *min == 0 || self.is_nullable(*item),
            Expr::Tag(_, of) => self.is_nullable(*of),
        }
    }

    /// Makes of another arena's expression one of this, without its tags; `json` says what becomes of the JSON in it. `done` knows
    /// what was made already.
    pub(crate) fn copy(
        &mut self,
        from: &Self,
        id: Id,
        done: &mut HashMap<Id, Id>,
        json: &mut dyn FnMut(&mut Self, &JsonOf) -> Id,
    ) -> Id {
        if let Some(copy) = done.get(&id) {
            return *copy;
        }
        let mut each = |arena: &mut Self, items: &[Id]| -> Vec<Id> {
            let items = items.iter();
            items.map(|id| arena.copy(from, *id, done, json)).collect()
        };
        let copy = match from.get(id) {
            Expr::Seq(items) => {
                let items = each(self, items);
                self.seq(items)
            }
            Expr::Choice(items) => {
                let items = each(self, items);
                self.choice(items)
            }
            Expr::Repeat { item, min, max } => {
                let item = self.copy(from, *item, done, json);
                self.repeat(item, *min, *max)
            }
            Expr::Tag(_, of) => self.copy(from, *of, done, json),
            Expr::Json(of) => json(self, of),
            other => self.add(other.clone()),
        };
        done.insert(id, copy);
        copy
    }

    /// The items of a sequence; the expression itself where it is none.
    pub(crate) fn items(&self, id: Id) -> Vec<Id> {
        match self.get(id) {
            Expr::Seq(items) => items.clone(),
            _ => vec![id],
        }
    }
}
