//! Expressions with all that may follow them.

use std::collections::HashMap;

use smol_str::{SmolStr, format_smolstr};

use super::super::rules;
use super::firsts::{First, are_told_apart, lead};
use super::text;
use crate::grammar::Grammar;
use crate::grammar::avoid::Avoid;
use crate::grammar::expr::{ANY_NAME, Arena, Expr as Node, Id};
use crate::grammar::json::named;
use crate::grammar::peg::build::{
    Expr, Kind, choice, cut, end, eps, literal, negate, reference, sequence, tag,
};

/// The way on behind an expression: the end, or another expression and the way on behind that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Then(u32);

/// Nothing follows.
const END: Then = Then(0);

/// Expressions with what follows each, and whether white space was passed over before them.
type At = (Vec<(Id, Then)>, bool);

/// The rule for white space.
const BLANKS: &str = "blanks";

/// How far a choice within a choice is made one with it.
const MAX_DEPTH: usize = 24;

/// The texts that may follow a part as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Outer(usize);

/// A rule for an expression that stands in several places: what follows it within its part, what follows the part, and the rule's name.
pub(super) type Shared = (Vec<String>, Outer, SmolStr);

/// Writes rules.
pub(super) struct Writer<'g> {
    pub(super) arena: Arena,
    pub(super) grammar: &'g Grammar,
    /// All that follows somewhere, each once; the first is the end.
    thens: Vec<Option<(Id, Then)>>,
    known_thens: HashMap<(Id, Then), Then>,
    /// The rules in the order in which they were begun; nothing is in them while they are being made.
    rules: Vec<(SmolStr, Option<Expr>)>,
    known: HashMap<At, SmolStr>,
    pub(super) known_parts: HashMap<(Id, bool, Outer), SmolStr>,
    /// The expressions that stand in several places, and what is made of them by what follows them there.
    pub(super) shared: HashMap<Id, Vec<Shared>>,
    /// True if names are read that are not known: what follows a part then tells where it ends.
    is_loose: bool,
    /// The texts that may follow a part, each list of them once; the first is empty.
    outers: Vec<Vec<String>>,
    /// Those that may follow the part that is being written.
    pub(super) outer: Outer,
    texts: HashMap<Avoid, SmolStr>,
}

impl<'g> Writer<'g> {
    pub(super) fn new(grammar: &'g Grammar) -> Self {
        Self {
            arena: grammar.arena.clone(),
            grammar,
            thens: vec![None],
            known_thens: HashMap::new(),
            rules: Vec::new(),
            known: HashMap::new(),
            known_parts: HashMap::new(),
            shared: rules::Shared::of(grammar)
                .names
                .into_keys()
                .map(|id| (id, Vec::new()))
                .collect(),
            is_loose: grammar.arena.nodes().any(|node| match node {
                Node::Tag(name, of) if name == "tool-name" || name == "tool-arg-name" => {
                    matches!(grammar.arena.get(*of), Node::Tag(inner, _) if inner == ANY_NAME)
                }
                _ => false,
            }),
            outers: vec![Vec::new()],
            outer: Outer::default(),
            texts: HashMap::new(),
        }
    }

    /// All of the grammar.
    pub(super) fn all(&mut self) -> Expr {
        self.expr(self.grammar.root, END, false)
    }

    /// The rules that were made.
    pub(super) fn rules(self) -> Vec<(SmolStr, Expr)> {
        let rules = self.rules.into_iter();
        rules.filter_map(|(name, of)| Some((name, of?))).collect()
    }

    /// These expressions, and then the rest.
    pub(super) fn behind(&mut self, items: &[Id], then: Then) -> Then {
        items.iter().rev().fold(then, |then, item| {
            let count = self.thens.len();
            let known = self.known_thens.entry((*item, then)).or_insert_with(|| {
                // There are fewer of them than expressions.
                Then(u32::try_from(count).unwrap_or(u32::MAX))
            });
            let known = *known;
            if known.0 as usize == count {
                self.thens.push(Some((*item, then)));
            }
            known
        })
    }

    /// The first that follows, and what follows that; `None` at the end.
    pub(super) fn next(&self, then: Then) -> Option<(Id, Then)> {
        self.thens[then.0 as usize]
    }

    /// Begins a rule: its name, made different from all others.
    pub(super) fn begin(&mut self, name: &str) -> SmolStr {
        let taken = |name: &str| {
            self.rules.iter().any(|(known, _)| known == name) || self.arena.rule(name).is_some()
        };
        let name = match taken(name) {
            false => SmolStr::from(name),
            true => (2..)
                .map(|number| format_smolstr!("{name}-{number}"))
                .find(|name| !taken(name))
                .unwrap_or_default(),
        };
        self.rules.push((name.clone(), None));
        name
    }

    /// Ends a rule.
    pub(super) fn finish(&mut self, name: &SmolStr, of: Expr) {
        if let Some((_, slot)) = self.rules.iter_mut().find(|(known, _)| known == name) {
            *slot = Some(of);
        }
    }

    /// An expression and what follows it. `blank`: white space before it was passed over.
    fn expr(&mut self, id: Id, then: Then, blank: bool) -> Expr {
        match self.arena.get(id).clone() {
            Node::Text(text) => match if blank { text.trim_start() } else { &text } {
                "" => self.on(then, blank),
                text => sequence([literal(text), self.on(then, false)]),
            },
            Node::Run { chars, min, max } => {
                sequence([text::run(&chars, min, max), self.on(then, false)])
            }
            Node::Free(avoid) => {
                let words = self.words(&avoid);
                self.around(words, then, blank)
            }
            Node::Tag(name, of) => {
                if let Node::Free(avoid) = self.arena.get(of).clone() {
                    let words = tag(&*name, self.words(&avoid));
                    return self.around(words, then, blank);
                }
                let part = self.before(then, |writer| writer.part(id, false, &[]));
                sequence([part, self.on(then, false)])
            }
            Node::Json(_) => sequence([self.part(id, false, &[]), self.on(then, false)]),
            Node::Seq(items) => match items.split_first() {
                None => self.on(then, blank),
                Some((first, rest)) => {
                    let then = self.behind(rest, then);
                    self.expr(*first, then, blank)
                }
            },
            Node::Choice(items) if self.are_calls(&items) => {
                let calls = self.before(then, |writer| writer.calls(id, &items));
                sequence([calls, self.on(then, false)])
            }
            Node::Choice(_) | Node::Repeat { .. } | Node::Rule(_) => {
                self.rule(vec![(id, then)], blank)
            }
        }
    }

    /// Writes a part with what follows it.
    fn before(&mut self, then: Then, write: impl FnOnce(&mut Self) -> Expr) -> Expr {
        let outer = match (self.is_loose, self.next(then)) {
            (true, Some((id, then))) => {
                let firsts = self.firsts(id, then, false);
                let texts = firsts.into_iter().map(|first| match first {
                    First::Text(text) => Some(text),
                    _ => None,
                });
                texts.collect::<Option<Vec<String>>>().unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let known = self.outers.iter().position(|known| *known == outer);
        let outer = Outer(known.unwrap_or_else(|| {
            self.outers.push(outer);
            self.outers.len() - 1
        }));
        let around = std::mem::replace(&mut self.outer, outer);
        let part = write(self);
        self.outer = around;
        part
    }

    /// Returns what follows the part that is being written; `None` where that is not known.
    pub(super) fn behind_part(&self) -> Option<&[String]> {
        let texts = self.outers.get(self.outer.0)?;
        (!texts.is_empty()).then_some(texts)
    }

    fn on(&mut self, then: Then, blank: bool) -> Expr {
        match self.next(then) {
            Some((id, then)) => self.expr(id, then, blank),
            None if blank => end(),
            None => sequence([self.blanks(), end()]),
        }
    }

    /// A text with the white space around it.
    fn around(&mut self, words: Expr, then: Then, blank: bool) -> Expr {
        let behind = self.on(then, true);
        let before = (!blank).then(|| self.blanks());
        let after = self.blanks();
        sequence(before.into_iter().chain([words, after, behind]))
    }

    /// White space.
    fn blanks(&mut self) -> Expr {
        if self.rules.iter().all(|(name, _)| name != BLANKS) {
            self.rules.push((BLANKS.into(), Some(text::blanks())));
        }
        reference(BLANKS)
    }

    fn words(&mut self, avoid: &Avoid) -> Expr {
        if let Some(name) = self.texts.get(avoid) {
            return reference(name);
        }
        let name = self.begin("text");
        self.texts.insert(avoid.clone(), name.clone());
        self.finish(&name, text::words(avoid));
        reference(name)
    }

    /// A rule for what has several ways to go on.
    fn rule(&mut self, ways: Vec<(Id, Then)>, blank: bool) -> Expr {
        let mut flat = Vec::new();
        for (id, then) in ways {
            self.flatten(id, then, blank, &mut flat, 0);
        }
        let key = (flat, blank);
        if let Some(name) = self.known.get(&key) {
            return reference(name);
        }
        let name = self.begin("next");
        self.known.insert(key.clone(), name.clone());
        let of = self.ways(&key.0, blank);
        self.finish(&name, of);
        reference(name)
    }

    /// The ways to go on, none of them a choice itself.
    fn flatten(
        &mut self,
        id: Id,
        then: Then,
        blank: bool,
        ways: &mut Vec<(Id, Then)>,
        depth: usize,
    ) {
        let mut add = |way: (Id, Then)| {
            if !ways.contains(&way) {
                ways.push(way);
            }
        };
        if depth > MAX_DEPTH {
            return add((id, then));
        }
        match self.arena.get(id).clone() {
            Node::Seq(items) => match items.split_first() {
                Some((first, rest)) => {
                    let then = self.behind(rest, then);
                    self.flatten(*first, then, blank, ways, depth + 1);
                }
                None => match self.next(then) {
                    Some((id, then)) => self.flatten(id, then, blank, ways, depth + 1),
                    None => add((id, then)),
                },
            },
            Node::Text(text) if blank && text.starts_with(char::is_whitespace) => {
                let text = self.arena.text(text.trim_start());
                self.flatten(text, then, blank, ways, depth + 1);
            }
            Node::Choice(items) if !self.are_calls(&items) => {
                for item in items {
                    self.flatten(item, then, blank, ways, depth + 1);
                }
            }
            Node::Repeat { item, min, max } => {
                for (id, then) in self.rounds(item, min, max, then) {
                    self.flatten(id, then, blank, ways, depth + 1);
                }
            }
            Node::Rule(name) if depth == 0 => match self.arena.rule(&name) {
                Some(body) => self.flatten(body, then, blank, ways, depth + 1),
                None => add((id, then)),
            },
            _ => add((id, then)),
        }
    }

    /// The ways to repeat something, or to go on.
    fn rounds(&mut self, item: Id, min: u32, max: Option<u32>, then: Then) -> Vec<(Id, Then)> {
        // Something that may be nothing need not come again: its text could as well be read at once.
        let again = if self.arena.is_nullable(item) {
            self.arena.empty()
        } else {
            let less = max.map(|max| max.saturating_sub(1));
            self.arena.repeat(item, min.saturating_sub(1), less)
        };
        let again = (item, self.behind(&[again], then));
        let empty = self.arena.empty();
        match min {
            0 => vec![again, (empty, then)],
            _ => vec![again],
        }
    }

    /// A choice of these, each with what follows it.
    fn ways(&mut self, ways: &[(Id, Then)], blank: bool) -> Expr {
        let mut groups: Vec<Group> = Vec::new();
        let mut free: Vec<Group> = Vec::new();
        for (id, then) in ways {
            let firsts = self.firsts(*id, *then, blank);
            match self.arena.get(*id).clone() {
                Node::Text(text) => Group::add(&mut groups, *id, &text, *then, firsts),
                _ => free.push(Group::other(*id, *then, firsts)),
            }
        }
        free.sort_by_key(|group| group.firsts.iter().map(rank).max());
        groups.extend(free);
        let mut exprs: Vec<Expr> = Vec::new();
        for (at, group) in groups.iter().enumerate() {
            let mut later = groups[at + 1..].iter().flat_map(|group| &group.firsts);
            let expr = match &group.text {
                Some(text) => {
                    let decides =
                        at + 1 < groups.len() && later.all(|first| first.is_told_from(text));
                    let rest: Vec<(Id, Then)> = group
                        .ways
                        .iter()
                        .map(|(rest, then)| (self.arena.text(rest), *then))
                        .collect();
                    let rest = match rest.as_slice() {
                        [(rest, then)] => self.expr(*rest, *then, false),
                        _ => self.rule(rest, false),
                    };
                    let cut = decides.then(cut);
                    sequence([literal(text)].into_iter().chain(cut).chain([rest]))
                }
                None => self.expr(group.id, group.then, blank),
            };
            if !exprs.contains(&expr) {
                exprs.push(expr);
            }
        }
        match exprs.len() {
            0 => negate(eps()),
            _ => choice_of(exprs),
        }
    }

    /// Returns true if all of these are calls, each told from the others by how it begins.
    fn are_calls(&self, items: &[Id]) -> bool {
        let is_call = |id: &Id| matches!(self.arena.get(*id), Node::Tag(name, _) if name == "tool");
        if items.is_empty() || !items.iter().all(is_call) {
            return false;
        }
        let leads: Option<Vec<String>> = items.iter().map(|id| lead(&self.arena, *id)).collect();
        leads.is_some_and(are_told_apart)
    }

    /// A rule for one of several calls.
    fn calls(&mut self, id: Id, items: &[Id]) -> Expr {
        let key = (id, true, self.outer);
        if let Some(name) = self.known_parts.get(&key) {
            return reference(name);
        }
        let name = self.begin("calls");
        self.known_parts.insert(key, name.clone());
        let items: Vec<Expr> = items
            .iter()
            .map(|item| self.part(*item, true, &[]))
            .collect();
        self.finish(&name, choice_of(items));
        reference(name)
    }

    /// The name of the rule for a call: that of its tool.
    pub(super) fn call_name(&self, id: Id) -> String {
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            match self.arena.get(id) {
                Node::Tag(tag, of) if tag == "tool-name" => {
                    if let Node::Text(name) = self.arena.get(*of) {
                        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
                        return match name.chars().all(plain) {
                            true => format!("call-{name}"),
                            false => format!("call-{}", named(name)),
                        };
                    }
                }
                Node::Tag(_, of) => left.push(*of),
                Node::Seq(items) => left.extend(items.iter().rev()),
                _ => {}
            }
        }
        "call".to_owned()
    }
}

/// A choice as it is: what its alternatives choose between stays their own, since a cut decides for one choice.
fn choice_of(mut items: Vec<Expr>) -> Expr {
    match items.len() {
        1 => items.remove(0),
        _ if items.iter().any(|item| matches!(item.0, Kind::Choice(_))) => {
            Expr(Kind::Choice(items))
        }
        _ => choice(items),
    }
}

/// Alternatives that begin with the same text, or one that begins with none.
struct Group {
    /// The text, and behind it what each begins with beyond it.
    text: Option<String>,
    ways: Vec<(String, Then)>,
    /// The expression that begins with no text, and what follows it.
    id: Id,
    then: Then,
    firsts: Vec<First>,
}

impl Group {
    fn other(id: Id, then: Then, firsts: Vec<First>) -> Self {
        Self {
            text: None,
            ways: Vec::new(),
            id,
            then,
            firsts,
        }
    }

    /// Puts an alternative to those that begin as it does.
    fn add(groups: &mut Vec<Self>, id: Id, text: &str, then: Then, firsts: Vec<First>) {
        for group in groups.iter_mut() {
            let known = group.text.clone().unwrap_or_default();
            let same = known.chars().zip(text.chars()).take_while(|(a, b)| a == b);
            let same: usize = same.map(|(c, _)| c.len_utf8()).sum();
            if same == 0 {
                continue;
            }
            for (rest, _) in &mut group.ways {
                rest.insert_str(0, &known[same..]);
            }
            group.ways.push((text[same..].to_owned(), then));
            group.text = Some(text[..same].to_owned());
            group.firsts.extend(firsts);
            return;
        }
        groups.push(Self {
            text: Some(text.to_owned()),
            ways: vec![(String::new(), then)],
            ..Self::other(id, then, firsts)
        });
    }
}

/// The order in which alternatives are tried: fixed text first, the longer before the shorter, and free text last.
fn rank(first: &First) -> (usize, std::cmp::Reverse<usize>) {
    let (rank, length) = match first {
        First::Text(text) => (0, text.len()),
        First::Other => (1, 0),
        First::End => (2, 0),
        First::Free(_) => (3, 0),
    };
    (rank, std::cmp::Reverse(length))
}
