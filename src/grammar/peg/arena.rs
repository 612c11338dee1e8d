//! Grammars as data: expressions in an arena, which refer to each other by number.

use std::sync::Arc;

use smol_str::SmolStr;

use super::builtin::Builtin;
use super::class::CharClass;
use super::delimiters::Searches;
use crate::value::Value;

/// The number of an expression in its grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(pub(super) u32);

impl ExprId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The number of a rule in its grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub(super) u32);

/// An expression of a grammar. What each of them matches stands at the function of [`build`](super::build) that makes it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Expression {
    /// [`eps`](super::build::eps).
    Eps,
    /// [`start`](super::build::start).
    Start,
    /// [`end`](super::build::end).
    End,
    /// [`any`](super::build::any).
    Any,
    /// [`space`](super::build::space).
    Space,
    /// [`cut`](super::build::cut).
    Cut,
    /// [`literal`](super::build::literal).
    Literal(SmolStr),
    /// [`chars`](super::build::chars).
    Chars {
        /// The class.
        class: CharClass,
        /// The least count.
        min: u32,
        /// The greatest, if there is one.
        max: Option<u32>,
    },
    /// [`until_one_of`](super::build::until_one_of); with no delimiters it is [`rest`](super::build::rest).
    Until(Vec<SmolStr>),
    /// [`string_content`](super::build::string_content).
    Quoted(char),
    /// [`sequence`](super::build::sequence).
    Sequence(Vec<ExprId>),
    /// [`choice`](super::build::choice).
    Choice(Vec<ExprId>),
    /// [`repeat`](super::build::repeat), and what is made of it.
    Repeat {
        /// The expression that is repeated.
        of: ExprId,
        /// The least count.
        min: u32,
        /// The greatest, if there is one.
        max: Option<u32>,
    },
    /// [`peek`](super::build::peek).
    Peek(ExprId),
    /// [`negate`](super::build::negate).
    Negate(ExprId),
    /// [`atomic`](super::build::atomic).
    Atomic(ExprId),
    /// [`tag`](super::build::tag).
    Tag {
        /// The tag.
        tag: SmolStr,
        /// The expression that it is on.
        of: ExprId,
    },
    /// [`schema`](super::build::schema).
    Schema {
        /// The name of the schema.
        name: SmolStr,
        /// The schema.
        schema: Value,
        /// True if a text stands there as it is, without quotes and escapes.
        raw: bool,
        /// The expression that is read.
        of: ExprId,
    },
    /// A reference to a rule.
    Ref(RuleId),
}

/// A rule of a grammar.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rule {
    /// Its name.
    pub name: SmolStr,
    /// The expression that it matches.
    pub of: ExprId,
    /// True if a lazy grammar begins to constrain at it.
    pub trigger: bool,
    /// The value that it stands for, if the grammar did not define it but every grammar knows it.
    pub builtin: Option<Builtin>,
}

/// A parsing expression grammar: rules, and the root at which reading begins.
///
/// A grammar that was built has no left recursion, no repetition of nothing and no reference into the void, so reading with it ends.
/// It is cheap to clone.
#[derive(Debug, Clone)]
pub struct Grammar {
    pub(super) parts: Arc<Parts>,
    pub(super) searches: Arc<Searches>,
}

/// Grammars are equal when their rules and their roots are.
impl PartialEq for Grammar {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

/// The parts of a grammar.
#[derive(Debug, PartialEq)]
pub(super) struct Parts {
    pub(super) expressions: Vec<Expression>,
    pub(super) rules: Vec<Rule>,
    pub(super) root: ExprId,
}

impl Grammar {
    /// The root.
    pub fn root(&self) -> ExprId {
        self.parts.root
    }

    /// An expression.
    ///
    /// # Panics
    ///
    /// When the number is another grammar's.
    pub fn get(&self, id: ExprId) -> &Expression {
        self.parts.get(id)
    }

    /// A rule.
    ///
    /// # Panics
    ///
    /// When the number is another grammar's.
    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.parts.rules[id.0 as usize]
    }

    /// All rules in the order in which they were defined, and behind them those values of every grammar that are used.
    pub fn rules(&self) -> &[Rule] {
        &self.parts.rules
    }

    /// The rule of a name.
    pub fn rule_named(&self, name: &str) -> Option<&Rule> {
        self.parts.rules.iter().find(|rule| rule.name == name)
    }

    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.parts.expressions.len()
    }

    /// True if there are no expressions, which never happens.
    pub fn is_empty(&self) -> bool {
        self.parts.expressions.is_empty()
    }
}

impl Parts {
    pub(super) fn get(&self, id: ExprId) -> &Expression {
        &self.expressions[id.0 as usize]
    }
}

/// The name of the root in errors.
pub(super) const ROOT: &str = "root";
