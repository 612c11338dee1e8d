//! GBNF, the grammars of llama.cpp; xgrammar's EBNF is the same language as far as it is written here.
//!
//! They write tokens differently: `<[7]>` and `Token(7)`.
//!
//! GBNF knows no schemas and no complements: schemas are written out, and a text that must not contain something becomes the rules of
//! the automaton that looks for it, a rule for each of its states.

use std::fmt::Write;

use super::rules::Shared;
use super::tokens::{Cut, cut};
use super::{Finding, Text, extend, times};
use crate::grammar::avoid::Avoid;
use crate::grammar::chars::Chars;
use crate::grammar::expr::{Expr, Id};
use crate::grammar::{Grammar, SpecialToken};

/// Who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    LlamaCpp,
    Xgrammar,
}

/// The most times that llama.cpp repeats something (`MAX_REPETITION_THRESHOLD` of its `llama-grammar.cpp`).
const MOST_TIMES: u32 = 2000;

/// Writes a grammar.
pub(super) fn write(grammar: &Grammar, reader: Reader) -> Text {
    let expanded = grammar.expanded();
    let mut writer = Writer {
        shared: Shared::of(&expanded),
        grammar: &expanded,
        reader,
        free: Vec::new(),
        rules: Vec::new(),
        findings: Vec::new(),
    };
    let root = writer.choice(expanded.root);
    let mut shared: Vec<(Id, String)> = writer
        .shared
        .names
        .iter()
        .map(|(id, name)| (*id, name.clone()))
        .collect();
    shared.sort();
    let mut rules = vec![("root".to_owned(), root)];
    for (id, name) in shared {
        let body = writer.body(id);
        rules.push((name, body));
    }
    for (name, body) in expanded.arena.rules() {
        let body = writer.choice(*body);
        rules.push((name.clone(), body));
    }
    rules.append(&mut writer.rules);
    let mut text = String::new();
    for (name, body) in rules {
        let _ = writeln!(text, "{name} ::= {body}");
    }
    let mut findings = expanded.findings().to_vec();
    extend(&mut findings, &writer.findings);
    Text { text, findings }
}

/// The rule of one text that avoids, as a grammar of its own.
pub(super) fn free_alone(avoid: &Avoid) -> Option<String> {
    let rules = free_rules("root", avoid)?;
    let mut text = String::new();
    for (name, body) in rules {
        let _ = writeln!(text, "{name} ::= {body}");
    }
    Some(text)
}

struct Writer<'g> {
    grammar: &'g Grammar,
    reader: Reader,
    shared: Shared,
    free: Vec<Avoid>,
    rules: Vec<(String, String)>,
    findings: Vec<Finding>,
}

impl Writer<'_> {
    /// The expression as the body of a rule.
    fn choice(&mut self, id: Id) -> String {
        if self.shared.names.contains_key(&id) {
            return self.item(id);
        }
        self.body(id)
    }

    fn body(&mut self, id: Id) -> String {
        match self.grammar.arena.get(id).clone() {
            Expr::Choice(items) if !items.is_empty() => {
                let items: Vec<String> = items.iter().map(|id| self.sequence(*id)).collect();
                items.join(" | ")
            }
            _ => self.sequence_body(id),
        }
    }

    fn sequence(&mut self, id: Id) -> String {
        if self.shared.names.contains_key(&id) {
            return self.item(id);
        }
        self.sequence_body(id)
    }

    fn sequence_body(&mut self, id: Id) -> String {
        match self.grammar.arena.get(id).clone() {
            Expr::Seq(items) if !items.is_empty() => {
                let items: Vec<String> = items.iter().map(|id| self.item(*id)).collect();
                items.join(" ")
            }
            _ => self.item_body(id),
        }
    }

    fn item(&mut self, id: Id) -> String {
        match self.shared.names.get(&id) {
            Some(name) => name.clone(),
            None => self.item_body(id),
        }
    }

    fn item_body(&mut self, id: Id) -> String {
        match self.grammar.arena.get(id).clone() {
            Expr::Text(text) => self.text(&text),
            Expr::Run { chars, min, max } => {
                let (min, max) = self.repeated(min, max);
                format!("{}{}", set(&chars), times(min, max))
            }
            Expr::Free(avoid) => self.free(&avoid),
            // The grammar is expanded.
            Expr::Json(_) => "\"\"".to_owned(),
            Expr::Seq(items) if items.is_empty() => "\"\"".to_owned(),
            // GBNF has no expression that matches nothing; a rule that calls itself without end does the same.
            Expr::Choice(items) if items.is_empty() => {
                let never = ("never".to_owned(), "\"x\" never".to_owned());
                if !self.rules.contains(&never) {
                    self.rules.push(never);
                }
                "never".to_owned()
            }
            Expr::Seq(_) | Expr::Choice(_) => format!("({})", self.body(id)),
            Expr::Repeat { item, min, max } => {
                let (min, max) = self.repeated(min, max);
                let is_rule = self.shared.names.contains_key(&item)
                    || matches!(self.grammar.arena.get(item), Expr::Rule(_));
                let inner = match self.grammar.arena.get(item) {
                    // llama.cpp counts the rules that a repeated expression becomes, each time anew.
                    _ if !is_rule && max.unwrap_or(min) > 1 => {
                        let body = self.choice(item);
                        let at = self.rules.iter().position(|(_, known)| *known == body);
                        let at = at.unwrap_or_else(|| {
                            self.rules
                                .push((format!("many-{}", self.rules.len() + 1), body));
                            self.rules.len() - 1
                        });
                        self.rules[at].0.clone()
                    }
                    Expr::Text(_) | Expr::Repeat { .. } | Expr::Run { .. } if !is_rule => {
                        format!("({})", self.item(item))
                    }
                    _ => self.item(item),
                };
                format!("{inner}{}", times(min, max))
            }
            Expr::Rule(name) => name,
            // What is written has no tags.
            Expr::Tag(_, of) => self.item(of),
        }
    }

    /// How often something may stand, as far as the reader goes along.
    fn repeated(&mut self, min: u32, max: Option<u32>) -> (u32, Option<u32>) {
        let most = max.unwrap_or(min);
        if self.reader != Reader::LlamaCpp || most <= MOST_TIMES {
            return (min, max);
        }
        let finding = Finding {
            code: "repetition",
            text: format!(
                "llama.cpp repeats nothing more than {MOST_TIMES} times: of {most} times no more than that is asked for"
            ),
        };
        extend(&mut self.findings, &[finding]);
        (min.min(MOST_TIMES), None)
    }

    fn text(&self, text: &str) -> String {
        let parts =
            cut(text, &self.grammar.special)
                .into_iter()
                .map(|cut| match (cut, self.reader) {
                    (Cut::Text(text), _) => quoted(text),
                    (Cut::Token(SpecialToken { id, .. }), Reader::LlamaCpp) => format!("<[{id}]>"),
                    (Cut::Token(SpecialToken { id, .. }), Reader::Xgrammar) => {
                        format!("Token({id})")
                    }
                });
        let parts: Vec<String> = parts.collect();
        match parts.is_empty() {
            true => quoted(""),
            false => parts.join(" "),
        }
    }

    fn free(&mut self, avoid: &Avoid) -> String {
        let at = match self.free.iter().position(|known| known == avoid) {
            Some(at) => at,
            None => {
                self.free.push(avoid.clone());
                let at = self.free.len() - 1;
                match free_rules(&format!("text-{}", at + 1), avoid) {
                    Some(rules) => self.rules.extend(rules),
                    None => {
                        self.rules
                            .push((format!("text-{}", at + 1), "[^\\x00]*".to_owned()));
                        self.findings.push(Finding {
                            code: "free-text",
                            text: "what must not stand in a text is too much for GBNF: anything may stand there".to_owned(),
                        });
                    }
                }
                at
            }
        };
        format!("text-{}", at + 1)
    }
}

/// The rules of a text that avoids, the first of that name; `None` where they would be too many.
fn free_rules(name: &str, avoid: &Avoid) -> Option<Vec<(String, String)>> {
    let automaton = avoid.automaton()?;
    let of = |at: usize| match at {
        0 => name.to_owned(),
        at => format!("{name}-{at}"),
    };
    let rule = |(at, steps): (usize, &Vec<(Chars, usize)>)| {
        let steps = steps
            .iter()
            .map(|(chars, to)| format!("{} {}", set(chars), of(*to)));
        let ways: Vec<String> = std::iter::once("\"\"".to_owned()).chain(steps).collect();
        (of(at), ways.join(" | "))
    };
    Some(automaton.states.iter().enumerate().map(rule).collect())
}

/// A set of characters.
///
/// Where a token ends within a character, llama.cpp asks which characters it may become, and takes none for a set of what must not
/// stand there if one of them is in it: the first byte of `漢` is refused by `[^｜]`, as it may become `｜`. A set with characters beyond
/// ASCII that are left out is written as what it has.
fn set(chars: &Chars) -> String {
    let is_ascii = |set: &Chars| set.ranges().iter().all(|(_, last)| last.is_ascii());
    match is_ascii(&chars.negated()) {
        true => chars.bracketed(&in_brackets),
        false => format!("[{}]", chars.listed(&in_brackets)),
    }
}

/// A text between quotes.
fn quoted(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            c => shown(c),
        })
        .collect();
    format!("\"{escaped}\"")
}

fn in_brackets(c: char) -> String {
    match c {
        '\\' | ']' | '[' => format!("\\{c}"),
        '-' => "\\x2D".to_owned(),
        '^' => "\\x5E".to_owned(),
        c => shown(c),
    }
}

/// A character as it is where people can see it, as an escape elsewhere.
fn shown(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        c if c.is_control()
            || (c.is_whitespace() && c != ' ')
            || u32::from(c) > 0xffff
            || is_edge(c) =>
        {
            match u32::from(c) {
                code if code < 0x100 => format!("\\x{code:02X}"),
                code if code < 0x1_0000 => format!("\\u{code:04X}"),
                code => format!("\\U{code:08X}"),
            }
        }
        c => c.to_string(),
    }
}

/// Characters that show up as nothing, as the ends of ranges do.
fn is_edge(c: char) -> bool {
    matches!(u32::from(c), 0xd7ff | 0xe000..=0xf8ff | 0xfff0..=0xffff | 0x80..=0xa0)
}
