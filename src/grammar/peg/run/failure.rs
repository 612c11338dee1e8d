//! Where a parse failed, and what would have been right there.

use crate::grammar::peg::arena::{ExprId, Grammar, RuleId};

/// How many expectations are kept.
const MOST: usize = 64;

/// The furthest place at which expressions did not match, and which ones: where the mistake most likely is.
///
/// A parsing expression grammar fails by trying everything, so that the last thing it tried says little. That the furthest place says most
/// is an observation of Ford's ("Packrat parsing", 2002, section 3.2.4).
#[derive(Debug, Clone, Default)]
pub(super) struct Furthest {
    at: usize,
    found: Vec<Expectation>,
    more: bool,
}

/// An expression that would have been right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expectation {
    /// The expression that did not match.
    pub expression: ExprId,
    /// True if it must *not* match there, and did.
    pub negated: bool,
    /// The rule that it was tried for; `None` for the root.
    pub rule: Option<RuleId>,
}

/// Why a text does not match a grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The furthest place at which something did not match, in bytes.
    pub at: usize,
    /// The expressions that would have been right there, in the order in which they were tried.
    pub expected: Vec<Expectation>,
    /// True if there was more that would have been right than was noted.
    pub more: bool,
}

impl Furthest {
    pub(super) fn note(&mut self, at: usize, expectation: Expectation) {
        if at < self.at && !self.found.is_empty() {
            return;
        }
        if at > self.at {
            self.found.clear();
            self.more = false;
        }
        self.at = at;
        if self.found.contains(&expectation) {
        } else if self.found.len() < MOST {
            self.found.push(expectation);
        } else {
            self.more = true;
        }
    }

    pub(super) fn failure(&self) -> Failure {
        Failure {
            at: self.at,
            expected: self.found.clone(),
            more: self.more,
        }
    }
}

impl Failure {
    /// Returns what would have been right, as text: the expressions, each once, with the names of the rules in which they stand.
    pub fn expectations<'a>(&'a self, grammar: &'a Grammar) -> Vec<Expected> {
        let mut all: Vec<Expected> = Vec::new();
        for expectation in &self.expected {
            let printed = grammar.print(expectation.expression);
            let what = match expectation.negated {
                true => format!("anything but {printed}"),
                false => printed,
            };
            let rule = expectation
                .rule
                .map(|rule| grammar.rule(rule).name.to_string());
            match all.iter_mut().find(|expected| expected.what == what) {
                Some(expected) => {
                    if let Some(rule) = rule
                        && !expected.rules.contains(&rule)
                    {
                        expected.rules.push(rule);
                    }
                }
                None => all.push(Expected {
                    what,
                    rules: rule.into_iter().collect(),
                }),
            }
        }
        all
    }
}

/// Something that would have been right at the place of a [`Failure`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expected {
    /// The expression as it prints.
    pub what: String,
    /// The rules for which it was tried; none for the root.
    pub rules: Vec<String>,
}
