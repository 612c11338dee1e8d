//! Strings and the names of members.
//!
//! Where some texts must not stand in a string, it is written as the automaton that looks for them: each state becomes a rule, each
//! character that leads on without finding one an alternative of it. The rules are as many as the states, which is the length of all the
//! texts together at most; the automaton is that of Aho and Corasick, and an escaped character is a step of it like any other.

use super::schema::named;
use super::{JsonWriter, LENGTHS, MAX_RULES};
use crate::grammar::avoid::{Avoid, Piece};
use crate::grammar::chars::Chars;
use crate::grammar::expr::{ANY_NAME, Expr, Id};
use crate::value::{Map, Value};

impl JsonWriter<'_> {
    /// The name of a member.
    pub(super) fn key(&mut self) -> Id {
        let key = match self.dialect {
            Some(dialect) if dialect.bare_keys => {
                let name = self.arena.add(Expr::Run {
                    chars: Chars::from_ranges(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]),
                    min: 1,
                    max: Some(64),
                });
                self.arena.tag(ANY_NAME, name)
            }
            _ => self.string(&Map::new()),
        };
        self.as_value("key", key)
    }

    /// A text of a dialect between its quotes.
    pub(super) fn in_quotes(&mut self, (open, close): &(String, String), text: Id) -> Id {
        let text = self.as_value("text", text);
        let (open, close) = (self.arena.text(open), self.arena.text(close));
        self.arena.seq([open, text, close])
    }

    /// A text between its quotes, as long as the schema asks.
    pub(super) fn string(&mut self, schema: &Map) -> Id {
        let number = |key: &str| match schema.get(key) {
            Some(Value::Int(number)) => number.to_string().parse::<u32>().ok(),
            _ => None,
        };
        if let Some(dialect) = self.dialect {
            let close = &dialect.quotes.1;
            let backslash = self.no_backslash.then(|| Piece::Text("\\".to_owned()));
            let avoid = self
                .avoid
                .iter()
                .map(|text| vec![Piece::Text(text.clone())]);
            let avoid = avoid.chain([vec![Piece::Text(close.clone())]]);
            let controls = Piece::Run(Chars::from_ranges(&[('\0', '\x1f')]), 1);
            let controls = dialect.is_printed.then_some(controls);
            let further = backslash.into_iter().chain(controls);
            let avoid = avoid.chain(further.map(|piece| vec![piece]));
            let text = self.arena.add(Expr::Free(Avoid::new(avoid)));
            let string = self.in_quotes(&dialect.quotes, text);
            self.ignore_lengths(schema);
            return string;
        }
        let quote = self.arena.text("\"");
        let (min, max) = (number("minLength").unwrap_or(0), number("maxLength"));
        if !self.avoid.is_empty() {
            let rest = self.string_without(min, max).unwrap_or_else(|| {
                self.ignore_lengths(schema);
                self.string_without(0, None)
                    .unwrap_or_else(|| self.arena.never())
            });
            return self.arena.seq([quote, rest]);
        }
        let rule = "character";
        if self.arena.rule(rule).is_none() {
            let plain = self.arena.add(Expr::Run {
                chars: plain(),
                min: 1,
                max: Some(1),
            });
            let escape = self.escape();
            let body = self.arena.choice([plain, escape]);
            self.arena.set_rule(rule, body);
        }
        let one = self.arena.rule_ref(rule);
        let many = self.arena.repeat(one, min, max);
        self.arena.seq([quote, many, quote])
    }

    /// Tells of the lengths that a schema asks for and the grammar does not.
    fn ignore_lengths(&mut self, schema: &Map) {
        for key in LENGTHS {
            if schema.get(key).is_some() {
                self.ignore(key);
            }
        }
    }

    /// A backslash in a string, and the letter or code that it escapes.
    fn escape(&mut self) -> Id {
        let backslash = self.arena.text("\\");
        let signs = self.arena.add(Expr::Run {
            chars: Chars::from_ranges(&"\"\\/bfnrt".chars().map(|c| (c, c)).collect::<Vec<_>>()),
            min: 1,
            max: Some(1),
        });
        let u = self.arena.text("u");
        let digits = self.arena.add(Expr::Run {
            chars: hexadecimal(),
            min: 4,
            max: Some(4),
        });
        let code = self.arena.seq([u, digits]);
        let either = self.arena.choice([signs, code]);
        self.arena.seq([backslash, either])
    }

    /// Returns what follows a string's first quote where something must not stand in it as it is written: a rule for each state of
    /// the automaton that looks for it, and for each number of characters that the length has to be known of. `None` where they would
    /// be too many.
    fn string_without(&mut self, min: u32, max: Option<u32>) -> Option<Id> {
        let avoid = Avoid::new(
            self.avoid
                .iter()
                .map(|text| vec![Piece::Text(text.clone())]),
        );
        let base = format!("string-without-{}", named(&self.avoid.join("-")));
        // What is known of the length is how many characters there are, up to where no more count.
        let most = max.unwrap_or(min);
        let bounds = match (min, max) {
            (0, None) => String::new(),
            (min, Some(max)) => format!("-{min}-to-{max}"),
            (min, None) => format!("-{min}"),
        };
        let rule = |at: usize, length: u32| match most {
            0 if bounds.is_empty() => format!("{base}-{at}"),
            _ => format!("{base}{bounds}-{at}-{length}"),
        };
        if self.arena.rule(&rule(0, 0)).is_some() {
            return Some(self.arena.rule_ref(&rule(0, 0)));
        }
        let automaton = avoid.automaton()?;
        let lengths = usize::try_from(most).ok()?.checked_add(1)?;
        if most > 0 && automaton.states.len().checked_mul(lengths)? > MAX_RULES {
            return None;
        }
        let never = self.arena.never();
        let rules = || {
            (0..automaton.states.len()).flat_map(|at| (0..=most).map(move |length| (at, length)))
        };
        for (at, length) in rules() {
            self.arena.set_rule(&rule(at, length), never);
        }
        let quote = self.arena.text("\"");
        for (at, length) in rules() {
            let mut ways = Vec::new();
            if length >= min {
                ways.push(quote);
            }
            let longer = (length + 1).min(most);
            let steps = match max {
                Some(max) if length == max => &[],
                _ => automaton.states[at].as_slice(),
            };
            for (chars, to) in steps {
                let chars = chars.and(&plain());
                if !chars.is_empty() {
                    let one = self.arena.add(Expr::Run {
                        chars,
                        min: 1,
                        max: Some(1),
                    });
                    let next = self.arena.rule_ref(&rule(*to, longer));
                    ways.push(self.arena.seq([one, next]));
                }
            }
            if let (Some(escaped), false) = (automaton.step(at, '\\'), steps.is_empty()) {
                for sign in "\"\\/bfnrt".chars() {
                    if let Some(to) = automaton.step(escaped, sign) {
                        let text = self.arena.text(&format!("\\{sign}"));
                        let next = self.arena.rule_ref(&rule(to, longer));
                        ways.push(self.arena.seq([text, next]));
                    }
                }
                let code = self.arena.text("\\u");
                let digits = self.arena.add(Expr::Run {
                    chars: hexadecimal(),
                    min: 4,
                    max: Some(4),
                });
                let next = self.arena.rule_ref(&rule(0, longer));
                ways.push(self.arena.seq([code, digits, next]));
            }
            let body = self.arena.choice(ways);
            self.arena.set_rule(&rule(at, length), body);
        }
        Some(self.arena.rule_ref(&rule(0, 0)))
    }
}

/// The characters that stand in a string of JSON as they are.
fn plain() -> Chars {
    Chars::from_ranges(&[('\0', '\x1f'), ('"', '"'), ('\\', '\\')]).negated()
}

fn hexadecimal() -> Chars {
    Chars::from_ranges(&[('0', '9'), ('a', 'f'), ('A', 'F')])
}
