//! Texts that a grammar allows, chosen by a seed: what is allowed is tried by reading it.

use super::avoid::Automaton;
use super::chars::Chars;
use super::expr::{Expr, Id};
use super::{Avoid, Grammar};

/// Words that free texts are made of: plain ones, and punctuation that formats are made of.
const WORDS: &[&str] = &[
    "a",
    "the",
    "weather",
    "in",
    "Paris",
    "is",
    "ok",
    " ",
    " ",
    " ",
    "\n",
    ". ",
    ", ",
    "7",
    "-1",
    "true",
    "null",
    "<",
    ">",
    "</",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "\\",
    ":",
    "|",
    "`",
    "```",
    "#",
    "=",
    "(",
    ")",
    "/",
    "<|",
    "|>",
    "\u{e9}",
    "\u{4f60}\u{597d}",
    "\u{1f600}",
    "<b>",
    "{\"a\": 1}",
    "e\u{301}",
    "\t",
    "*",
    "_",
    "~",
    "$",
    "%",
    "&",
    "@",
    "!",
    "?",
    ";",
];

/// The expressions within expressions after which the shortest way is taken.
const MAX_DEPTH: usize = 40;

/// Writes texts that a grammar allows.
#[derive(Debug)]
pub struct Sampler {
    grammar: Grammar,
    automata: std::collections::HashMap<Id, Option<Automaton>>,
    heights: std::collections::HashMap<Id, usize>,
}

impl Sampler {
    /// A sampler of the grammar.
    pub fn new(grammar: &Grammar) -> Self {
        Self {
            grammar: grammar.expanded(),
            automata: std::collections::HashMap::new(),
            heights: std::collections::HashMap::new(),
        }
    }

    /// A text that the grammar allows; the same seed gives the same text.
    pub fn sample(&mut self, seed: u64) -> String {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut text = String::new();
        self.write(self.grammar.root, &mut random, &mut text, 0);
        text
    }

    fn write(&mut self, id: Id, random: &mut fastrand::Rng, out: &mut String, depth: usize) {
        match self.grammar.arena.get(id).clone() {
            Expr::Text(text) => out.push_str(&text),
            Expr::Run { chars, min, max } => {
                let most = max.unwrap_or(min + 8).min(min + 8);
                for _ in 0..random.u32(min..=most.max(min)) {
                    out.push(one_of(&chars, random));
                }
            }
            Expr::Free(avoid) => self.free(id, &avoid, random, out),
            // The grammar is expanded.
            Expr::Json(_) => {}
            Expr::Seq(items) => {
                for item in items {
                    self.write(item, random, out, depth + 1);
                }
            }
            Expr::Choice(items) => {
                let item = if depth > MAX_DEPTH {
                    let heights: Vec<usize> = items.iter().map(|id| self.height(*id)).collect();
                    let least = heights.iter().min();
                    least.and_then(|least| {
                        let at = heights.iter().position(|height| height == least)?;
                        items.get(at).copied()
                    })
                } else {
                    random.choice(&items).copied()
                };
                if let Some(item) = item {
                    self.write(item, random, out, depth + 1);
                }
            }
            Expr::Repeat { item, min, max } => {
                let most = max.unwrap_or(min + 3).min(min + 3);
                let count = if depth > MAX_DEPTH {
                    min
                } else {
                    random.u32(min..=most)
                };
                for _ in 0..count {
                    self.write(item, random, out, depth + 1);
                }
            }
            Expr::Tag(_, of) => self.write(of, random, out, depth),
            Expr::Rule(name) => {
                // A string whose characters are rules of their own is not deep.
                let deeper = if name.starts_with("string-without") {
                    depth
                } else {
                    depth + 4
                };
                if let Some(body) = self.grammar.arena.rule(&name) {
                    self.write(body, random, out, deeper);
                }
            }
        }
    }

    /// A text that the automaton allows, of words that mean something here and there.
    fn free(&mut self, id: Id, avoid: &Avoid, random: &mut fastrand::Rng, out: &mut String) {
        let automaton = self.automata.entry(id).or_insert_with(|| avoid.automaton());
        let Some(automaton) = automaton else {
            return;
        };
        let mut at = 0;
        for _ in 0..random.usize(0..12) {
            let word = WORDS[random.usize(0..WORDS.len())];
            let end = word.chars().try_fold(at, |at, c| automaton.step(at, c));
            if let Some(end) = end {
                out.push_str(word);
                at = end;
            }
        }
    }

    /// How deep the shortest text of an expression nests.
    fn height(&mut self, id: Id) -> usize {
        if let Some(height) = self.heights.get(&id) {
            return *height;
        }
        // A rule that leads back to itself has no shortest text along that way.
        self.heights.insert(id, 1 << 20);
        let height = match self.grammar.arena.get(id).clone() {
            Expr::Text(_) | Expr::Run { .. } | Expr::Free(_) | Expr::Json(_) => 0,
            Expr::Seq(items) => {
                let all: Vec<usize> = items.iter().map(|id| self.height(*id)).collect();
                all.into_iter().max().map_or(0, |most| most + 1)
            }
            Expr::Choice(items) => {
                let all: Vec<usize> = items.iter().map(|id| self.height(*id)).collect();
                all.into_iter().min().map_or(1 << 20, |least| least + 1)
            }
            Expr::Repeat { min: 0, .. } => 0,
            Expr::Repeat { item, .. } => self.height(item) + 1,
            Expr::Tag(_, of) => self.height(of),
            Expr::Rule(name) => match self.grammar.arena.rule(&name) {
                Some(body) => self.height(body) + 1,
                None => 0,
            },
        };
        self.heights.insert(id, height);
        height
    }
}

/// A character of the set, mostly one that is often seen.
fn one_of(chars: &Chars, random: &mut fastrand::Rng) -> char {
    const COMMON: &str = "abcXYZ019 _-.,:/<>{}'";
    let common: Vec<char> = COMMON.chars().filter(|c| chars.has(*c)).collect();
    if let Some(c) = random.choice(&common)
        && random.u8(0..10) > 0
    {
        return *c;
    }
    let ranges = chars.ranges();
    let Some((from, to)) = random.choice(ranges) else {
        return ' ';
    };
    let to = (*to).min(char::from_u32(u32::from(*from) + 200).unwrap_or(*to));
    random.char(*from..=to)
}
