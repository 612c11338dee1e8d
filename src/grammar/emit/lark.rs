//! Lark, as llguidance reads it.
//!
//! llguidance splits a text into lexemes, the longest there is at a place, so a text that goes on to its delimiter is one lexeme with the
//! delimiter: were they two, the text would take the beginning of its delimiter. A text that may be followed by several things
//! is a lexeme for each of them. A delimiter that is a special token is no text to llguidance, and stands by itself.

use std::collections::HashMap;
use std::fmt::Write;

use super::tokens::{Cut, cut};
use super::{Finding, Text, extend, times};
use crate::grammar::avoid::{Avoid, Piece};
use crate::grammar::expr::{Expr, Id};
use crate::grammar::{Grammar, SpecialToken};

/// Writes a grammar.
pub(super) fn write(grammar: &Grammar) -> Text {
    let mut working = grammar.clone();
    let mut writer = Writer {
        special: grammar.special.clone(),
        grammar: &mut working,
        rules: Vec::new(),
        names: HashMap::new(),
        free: Vec::new(),
        terminals: Vec::new(),
        findings: Vec::new(),
    };
    let ways = writer.ways(grammar.root);
    let start = writer.told(ways);
    let mut rules = vec![("start".to_owned(), start)];
    for (name, body) in grammar.arena.rules() {
        let ways = writer.ways(*body);
        let body = writer.told(ways);
        rules.push((rule_name(name), body));
    }
    // Writing a rule may add further rules, for what comes behind its parts; the loop goes on until there are no new ones.
    let mut next = 0;
    while let Some((name, ways)) = writer.rules.get(next).cloned() {
        let body = writer.told(ways);
        rules.push((name, body));
        next += 1;
    }
    let mut text = String::new();
    for (name, body) in rules {
        let body = if body.is_empty() {
            "\"\""
        } else {
            body.as_str()
        };
        let _ = writeln!(text, "{name}: {body}");
    }
    for (at, avoid) in writer.free.iter().enumerate() {
        let _ = writeln!(text, "TEXT_{}: {}", at + 1, free_terminal(avoid));
    }
    for (name, body) in &writer.terminals {
        let _ = writeln!(text, "{name}: {body}");
    }
    let mut findings = grammar.findings().to_vec();
    extend(&mut findings, &writer.findings);
    Text { text, findings }
}

/// The beginning of a way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Head {
    /// Nothing: it is the empty text.
    End,
    Text(String),
    Free(Avoid),
    /// An expression that is written as it is.
    Item(Id),
}

/// A way in which something begins, and what comes behind.
type Beginning = (Head, Id);

struct Writer<'g> {
    grammar: &'g mut Grammar,
    special: Vec<SpecialToken>,
    /// The rules for what comes behind something.
    rules: Vec<(String, Vec<Beginning>)>,
    names: HashMap<Vec<Beginning>, String>,
    free: Vec<Avoid>,
    terminals: Vec<(String, String)>,
    findings: Vec<Finding>,
}

impl Writer<'_> {
    fn get(&self, id: Id) -> Expr {
        self.grammar.arena.get(id).clone()
    }

    /// The ways in which an expression begins.
    fn ways(&mut self, id: Id) -> Vec<Beginning> {
        let mut ways = Vec::new();
        self.extend_ways(id, &mut ways);
        ways
    }

    fn extend_ways(&mut self, id: Id, ways: &mut Vec<Beginning>) {
        let empty = self.grammar.arena.empty();
        let mut push = |way: Beginning| {
            if !ways.contains(&way) {
                ways.push(way);
            }
        };
        if self.is_pattern(id) {
            return push((Head::Item(id), empty));
        }
        match self.get(id) {
            Expr::Text(text) => push((Head::Text(text), empty)),
            Expr::Free(avoid) => push((Head::Free(avoid), empty)),
            Expr::Seq(items) if items.is_empty() => push((Head::End, empty)),
            Expr::Choice(items) => items.iter().for_each(|id| self.extend_ways(*id, ways)),
            Expr::Repeat { item, min, max } => {
                let rest = self.grammar.arena.repeat(
                    item,
                    min.saturating_sub(1),
                    max.map(|max| max.saturating_sub(1)),
                );
                let once = self.ways(item);
                let is_empty = once.iter().any(|(head, _)| *head == Head::End);
                // A repetition of something empty would add nothing, so the empty alternative is left out here.
                for (head, tail) in once.into_iter().filter(|(head, _)| *head != Head::End) {
                    let rest = self.grammar.arena.seq([tail, rest]);
                    if !ways.contains(&(head.clone(), rest)) {
                        ways.push((head, rest));
                    }
                }
                if (min == 0 || is_empty) && !ways.contains(&(Head::End, empty)) {
                    ways.push((Head::End, empty));
                }
            }
            Expr::Seq(items) => {
                let rest = self.grammar.arena.seq(items[1..].iter().copied());
                for (head, tail) in self.ways(items[0]) {
                    if head == Head::End {
                        self.extend_ways(rest, ways);
                    } else {
                        let rest = self.grammar.arena.seq([tail, rest]);
                        if !ways.contains(&(head.clone(), rest)) {
                            ways.push((head, rest));
                        }
                    }
                }
            }
            // What is written has no tags.
            Expr::Json(_) | Expr::Rule(_) | Expr::Run { .. } | Expr::Tag(..) => {
                push((Head::Item(id), empty));
            }
        }
    }

    /// Ways, written so that no lexeme is the beginning of another that may stand in its place: what several begin with in common is
    /// a lexeme of its own.
    fn told(&mut self, ways: Vec<Beginning>) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut texts: Vec<(String, Id)> = Vec::new();
        let mut frees: Vec<(Avoid, Vec<Beginning>)> = Vec::new();
        let mut may_end = false;
        for (head, rest) in ways {
            match head {
                Head::End => may_end = true,
                Head::Text(text) => texts.push((text, rest)),
                Head::Item(item) => {
                    let item = self.item(item);
                    parts.push(joined(&item, &self.behind(rest)));
                }
                Head::Free(avoid) => {
                    let further = self.ways(rest);
                    match frees.iter_mut().find(|(known, _)| *known == avoid) {
                        Some((_, ways)) => ways.extend(further),
                        None => frees.push((avoid, further)),
                    }
                }
            }
        }
        // Beside a free text, a delimiter is written as one terminal: otherwise the lexer could take its first characters for the text.
        let avoided = frees.first().map(|(avoid, _)| avoid.clone());
        self.tell_texts(texts, avoided.as_ref(), &mut parts);
        for (avoid, further) in frees {
            self.tell_free(&avoid, further, &mut parts);
        }
        let mut distinct: Vec<String> = Vec::new();
        for part in parts {
            if !distinct.contains(&part) {
                distinct.push(part);
            }
        }
        match (distinct.len(), may_end) {
            (0, _) if may_end => String::new(),
            (0, _) => "/[^\\x00-\\u{10FFFF}]/".to_owned(),
            (1, false) => distinct.remove(0),
            (_, false) => format!("({})", distinct.join(" | ")),
            (_, true) => format!("({})?", distinct.join(" | ")),
        }
    }

    /// The ways that begin with texts, those that begin alike together. A special token is never cut.
    fn tell_texts(
        &mut self,
        texts: Vec<(String, Id)>,
        beside: Option<&Avoid>,
        parts: &mut Vec<String>,
    ) {
        let mut groups: Vec<(First, Vec<(String, Id)>)> = Vec::new();
        for (text, rest) in texts {
            let first = match (First::of(&text, &self.special), beside) {
                (First::Char(_), Some(avoid)) => First::Whole(self.end_of_free(avoid, &text)),
                (first, _) => first,
            };
            match groups.iter_mut().find(|(known, _)| *known == first) {
                Some((_, group)) => group.push((text, rest)),
                None => groups.push((first, vec![(text, rest)])),
            }
        }
        for (first, group) in groups {
            let common = match &first {
                First::Token(token) => token.text.clone(),
                First::Char(_) => self.common(&group),
                First::Whole(text) => text.clone(),
            };
            let begun = match &first {
                First::Token(token) => special(token),
                _ => quoted(&common),
            };
            let ways = self.beyond(group, common.len());
            let rest = self.then(ways);
            parts.push(joined(&begun, &rest));
        }
    }

    /// The ways behind the first so many bytes of texts.
    fn beyond(&mut self, group: Vec<(String, Id)>, at: usize) -> Vec<Beginning> {
        let mut ways: Vec<Beginning> = Vec::new();
        for (text, rest) in group {
            let further = match &text[at..] {
                "" => self.ways(rest),
                text => vec![(Head::Text(text.to_owned()), rest)],
            };
            for way in further {
                if !ways.contains(&way) {
                    ways.push(way);
                }
            }
        }
        ways
    }

    /// Returns what texts begin with in common, up to where a special token begins in one of them.
    fn common(&self, group: &[(String, Id)]) -> String {
        let first = group.first().map_or("", |(text, _)| text.as_str());
        let common = group.iter().fold(first, |common, (text, _)| {
            let same = common.char_indices().zip(text.chars());
            let end = same.take_while(|((_, a), b)| a == b).last();
            end.map_or("", |((at, c), _)| &common[..at + c.len_utf8()])
        });
        let end = |text: &str| match cut(text, &self.special).first() {
            Some(Cut::Text(text)) => text.len(),
            _ => text.len(),
        };
        let ends = group.iter().map(|(text, _)| end(text));
        common[..ends.fold(common.len(), usize::min)].to_owned()
    }

    /// A free text, with what ends it.
    fn tell_free(&mut self, avoid: &Avoid, further: Vec<Beginning>, parts: &mut Vec<String>) {
        let at = match self.free.iter().position(|known| known == avoid) {
            Some(at) => at,
            None => {
                self.free.push(avoid.clone());
                self.free.len() - 1
            }
        };
        let free = format!("TEXT_{}", at + 1);
        let mut texts: Vec<(String, Vec<(String, Id)>)> = Vec::new();
        let mut others = Vec::new();
        for (head, rest) in further {
            match &head {
                Head::Text(text) if matches!(First::of(text, &self.special), First::Char(_)) => {
                    let end = self.end_of_free(avoid, text);
                    match texts.iter_mut().find(|(known, _)| *known == end) {
                        Some((_, group)) => group.push((text.clone(), rest)),
                        None => texts.push((end, vec![(text.clone(), rest)])),
                    }
                }
                _ => others.push((head, rest)),
            }
        }
        for (end, group) in texts {
            let lexeme = self.terminal(&free, &end);
            let ways = self.beyond(group, end.len());
            let rest = self.then(ways);
            parts.push(joined(&lexeme, &rest));
        }
        if !others.is_empty() {
            let rest = self.then(others);
            parts.push(joined(&format!("{free}?"), &rest));
        }
    }

    /// Returns what of a text ends the free text before it: up to the first special token, no more than the delimiter.
    fn end_of_free(&self, avoid: &Avoid, text: &str) -> String {
        match cut(text, &self.special).first() {
            Some(Cut::Text(text)) => delimiter(avoid, text).to_owned(),
            _ => text.to_owned(),
        }
    }

    /// Writes what comes behind something.
    fn behind(&mut self, id: Id) -> String {
        let ways = self.ways(id);
        self.then(ways)
    }

    /// Writes what goes on in one of these ways, as a rule of its own where it is more than a text: what leads back to itself ends there.
    fn then(&mut self, ways: Vec<Beginning>) -> String {
        match ways.as_slice() {
            [(Head::End, _)] => return String::new(),
            [(Head::Text(text), rest)] if self.grammar.arena.is_empty(*rest) => {
                return self.text(text);
            }
            _ => {}
        }
        if let Some(name) = self.names.get(&ways) {
            return name.clone();
        }
        let name = format!("then_{}", self.rules.len() + 1);
        self.names.insert(ways.clone(), name.clone());
        self.rules.push((name.clone(), ways));
        name
    }

    fn item(&mut self, id: Id) -> String {
        if self.is_pattern(id) {
            let pattern = self.pattern(id);
            return match self.grammar.arena.is_nullable(id) {
                // A lexeme is never empty.
                true => format!("(/{pattern}/)?"),
                false => format!("/{pattern}/"),
            };
        }
        match self.get(id) {
            Expr::Json(of) => {
                if !of.avoid.is_empty() {
                    let texts: Vec<String> = of.avoid.iter().map(|text| quoted(text)).collect();
                    let finding = Finding {
                        code: "close-in-string",
                        text: format!(
                            "Lark cannot keep {} out of the strings of JSON; where a model writes it there, the call is cut short",
                            texts.join(", ")
                        ),
                    };
                    extend(&mut self.findings, &[finding]);
                }
                format!("%json {}", of.schema)
            }
            Expr::Rule(name) => rule_name(&name),
            _ => String::new(),
        }
    }

    fn text(&self, text: &str) -> String {
        let parts = cut(text, &self.special).into_iter().map(|cut| match cut {
            Cut::Text(text) => quoted(text),
            Cut::Token(token) => special(token),
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    /// A lexeme of a text and its end.
    fn terminal(&mut self, free: &str, end: &str) -> String {
        let body = format!("{free} {}", quoted(end));
        if let Some((name, _)) = self.terminals.iter().find(|(_, known)| *known == body) {
            return name.clone();
        }
        let name = format!("{free}_TO_{}", self.terminals.len() + 1);
        self.terminals.push((name.clone(), body));
        name
    }

    /// Returns true if it is a regular expression, and more than a text.
    fn is_pattern(&self, id: Id) -> bool {
        self.is_regular(id) && self.has_run(id)
    }

    fn is_regular(&self, id: Id) -> bool {
        match self.grammar.arena.get(id) {
            Expr::Text(text) => cut(text, &self.grammar.special)
                .iter()
                .all(|cut| matches!(cut, Cut::Text(_))),
            Expr::Run { .. } => true,
            Expr::Seq(items) => items.iter().all(|id| self.is_regular(*id)),
            Expr::Choice(items) => !items.is_empty() && items.iter().all(|id| self.is_regular(*id)),
            Expr::Repeat { item, .. } => self.is_regular(*item),
            Expr::Free(_) | Expr::Json(_) | Expr::Rule(_) | Expr::Tag(..) => false,
        }
    }

    fn has_run(&self, id: Id) -> bool {
        match self.grammar.arena.get(id) {
            Expr::Run { .. } => true,
            Expr::Seq(items) | Expr::Choice(items) => items.iter().any(|id| self.has_run(*id)),
            Expr::Repeat { item, .. } => self.has_run(*item),
            _ => false,
        }
    }

    fn pattern(&self, id: Id) -> String {
        match self.grammar.arena.get(id) {
            Expr::Text(text) => text.chars().map(in_pattern).collect(),
            Expr::Run { chars, min, max } => {
                let set = chars.bracketed(&in_brackets);
                format!("{set}{}", times(*min, *max))
            }
            Expr::Seq(items) => items.iter().map(|id| self.pattern(*id)).collect(),
            Expr::Choice(items) => {
                let ways: Vec<String> = items.iter().map(|id| self.pattern(*id)).collect();
                format!("(?:{})", ways.join("|"))
            }
            Expr::Repeat { item, min, max } => {
                format!("(?:{}){}", self.pattern(*item), times(*min, *max))
            }
            _ => String::new(),
        }
    }
}

/// The first of a text: a special token, or a character.
#[derive(Debug, Clone, PartialEq, Eq)]
enum First {
    Token(SpecialToken),
    Char(Option<char>),
    /// A delimiter.
    Whole(String),
}

impl First {
    fn of(text: &str, tokens: &[SpecialToken]) -> Self {
        match cut(text, tokens).first() {
            Some(Cut::Token(token)) => Self::Token((*token).clone()),
            _ => Self::Char(text.chars().next()),
        }
    }
}

/// One after the other.
fn joined(first: &str, rest: &str) -> String {
    match (first, rest) {
        (first, "") => first.to_owned(),
        (first, rest) => format!("{first} {rest}"),
    }
}

/// Returns what of a text that comes behind a free one ends that: up to the end of the first that is avoided; all of it where it has
/// none.
fn delimiter<'t>(avoid: &Avoid, text: &'t str) -> &'t str {
    let texts = avoid
        .pieces()
        .iter()
        .filter_map(|pieces| match pieces.first() {
            Some(Piece::Text(first)) if pieces.len() == 1 => Some(first),
            _ => None,
        });
    let ends = texts.filter_map(|avoided| Some(text.find(avoided.as_str())? + avoided.len()));
    ends.min().map_or(text, |end| &text[..end])
}

/// A terminal of the texts in which nothing stands that is avoided.
fn free_terminal(avoid: &Avoid) -> String {
    let ways: Vec<String> = avoid
        .pieces()
        .iter()
        .map(|pieces| pieces.iter().map(piece).collect())
        .collect();
    if ways.is_empty() {
        return "/(?s:.*)/".to_owned();
    }
    format!("/(?s:.*)/ & ~/(?s:.*)(?:{})(?s:.*)/", ways.join("|"))
}

fn piece(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => text.chars().map(in_pattern).collect(),
        Piece::Space => "\\s*".to_owned(),
        Piece::Run(chars, min) => {
            format!("{}{}", chars.bracketed(&in_brackets), times(*min, None))
        }
    }
}

fn rule_name(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .collect();
    format!("r_{name}")
}

fn special(token: &SpecialToken) -> String {
    let inner = token
        .text
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
    let is_plain = |inner: &str| {
        !inner.is_empty()
            && !inner.contains(['<', '>', '[', ']', '"', '\\'])
            && inner.chars().all(|c| c.is_ascii_graphic())
    };
    match inner {
        Some(inner) if is_plain(inner) => token.text.clone(),
        _ => format!("<[{}]>", token.id),
    }
}

/// A text between quotes, as JSON has it.
fn quoted(text: &str) -> String {
    crate::value::json::quote(text)
}

fn in_pattern(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '/' => "\\/".to_owned(),
        c if c.is_ascii_punctuation() && !"_<>!\"%',:;=@`".contains(c) => format!("\\{c}"),
        c if c.is_control() => format!("\\x{:02x}", u32::from(c)),
        c => c.to_string(),
    }
}

fn in_brackets(c: char) -> String {
    match c {
        c if c.is_ascii_alphanumeric() => c.to_string(),
        '\n' | '\r' | '\t' => in_pattern(c),
        c if u32::from(c) < 0x80 => format!("\\x{:02x}", u32::from(c)),
        c => format!("\\u{{{:x}}}", u32::from(c)),
    }
}
