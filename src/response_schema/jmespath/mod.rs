//! JMESPath, as Python's `jmespath` 1.1 reads and evaluates it: the language of `x-parser-args.transform`.
//!
//! The grammar is that of <https://jmespath.org>, read by a Pratt parser with the binding powers of that package; what it does beside
//! the specification is kept where it shows: an index or a slice that follows an index does not begin a projection, a literal that is no
//! JSON is text, strings have an order, `0` and `1` are never equal to a boolean. Values are Python's: integers of any size, `NaN`,
//! objects that keep the order of their keys.
//!
//! # Why the crate `jmespath` is not used
//!
//! Of 20 000 made-up expressions and values, `jmespath` 0.5 answered 18 536 as Python's package does, this module 19 999 (the last one, `merge`
//! with something that is no object, is mended). What the crate does otherwise, in the order in which it occurred:
//!
//! | what | cases | example | Python | crate |
//! |---|---:|---|---|---|
//! | the keys of objects are sorted, which shows in the message, and integers have 64 bits | 1128 | `{type: 'function', function: @}` | `type` first | `function` first |
//! | values, keys and texts of objects come in that order | 149 | `keys(@)` of `{"b": 1, "a": 2}` | `["b", "a"]` | `["a", "b"]` |
//! | refused: literals that are no JSON, a step of 0, `avg` of nothing | 132 | `` `text` `` | `"text"` | an error |
//! | taken: an order between what has none, `contains` of text and no text | 29 | ``[?@ > `1`]`` of `["x"]` | an error | `[]` |
//! | `sum`, `abs`, `ceil` and `floor` of integers are not integers | 26 | `sum(@)` of `[1]` | `1` | `1.0` |
//!
//! The first cannot be handled from outside, the crate's own values being sorted maps: a call would come back with other keys first.
//!
//! # Different on purpose
//!
//! - An expression is at most [`EXPRESSION_BYTES`] long and nests at most [`NESTING`] deep; what it copies is limited in proportion to
//!   the value that it is given, and its result nests at most as deep as JSON may.
//! - An expression reference (`&name`) that is no argument of a function is an error. Python gives an object of its own.
//! - `sum` and `avg` of integers end in an error beyond 127 bits.

mod carry;
mod evaluate;
mod functions;
mod lexer;
mod order;
mod parser;

use crate::value::Value;

/// How long an expression may be, in bytes.
pub(super) const EXPRESSION_BYTES: usize = 4096;

/// How deep an expression may nest.
pub(super) const NESTING: usize = 100;

/// A fault of an expression, or of the value that it is evaluated on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) message: String,
    /// True if the fault is that a limit of ours is exceeded.
    pub(super) limit: bool,
}

impl Fault {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            limit: false,
        }
    }

    fn limit(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            limit: true,
        }
    }
}

/// An expression that was read.
#[derive(Debug, Clone)]
pub(super) struct Expression(Ast);

impl Expression {
    /// Reads an expression.
    pub(super) fn new(source: &str) -> Result<Self, Fault> {
        if source.len() > EXPRESSION_BYTES {
            let message = format!("the expression is longer than {EXPRESSION_BYTES} bytes");
            return Err(Fault::limit(message));
        }
        parser::parse(source).map(Self)
    }

    /// Returns the expression as a transform of a response template, and true if it is for each item of a list; else the reason why there
    /// is none.
    pub(super) fn to_transform(&self) -> Result<(Option<Value>, bool), String> {
        carry::carry(&self.0)
    }

    /// Returns the names of members that the expression asks for.
    pub(super) fn fields(&self) -> Vec<String> {
        carry::fields(&self.0)
    }

    /// Evaluates the expression on a value.
    pub(super) fn search(&self, value: &Value) -> Result<Value, Fault> {
        evaluate::search(&self.0, value)
    }
}

/// An expression's tree.
#[derive(Debug, Clone, PartialEq)]
enum Ast {
    /// The value at hand: `@`, or an expression that asks for nothing.
    Current,
    Literal(Value),
    Field(String),
    Index(i64),
    Slice([Option<i64>; 3]),
    /// Expressions that are evaluated one after the other; with `indexed`, all of them indices.
    Chain {
        nodes: Vec<Ast>,
        indexed: bool,
    },
    /// The right expression of each item of the left one.
    Projection(Box<[Ast; 2]>),
    /// The right expression of each member of the left one.
    ValueProjection(Box<[Ast; 2]>),
    /// The second expression of each item of the first for which the third holds.
    Filter(Box<[Ast; 3]>),
    Flatten(Box<Ast>),
    Comparison(Comparator, Box<[Ast; 2]>),
    Or(Box<[Ast; 2]>),
    And(Box<[Ast; 2]>),
    Not(Box<Ast>),
    Pipe(Box<[Ast; 2]>),
    List(Vec<Ast>),
    Hash(Vec<(String, Ast)>),
    Function(String, Vec<Ast>),
    /// `&expression`.
    Reference(Box<Ast>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Ast {
    /// Returns the depth to which the expression nests.
    fn depth(&self) -> usize {
        fn most<'a>(nodes: impl IntoIterator<Item = &'a Ast>) -> usize {
            nodes.into_iter().map(Ast::depth).max().unwrap_or(0)
        }
        1 + match self {
            Self::Current | Self::Literal(_) | Self::Field(_) | Self::Index(_) | Self::Slice(_) => {
                0
            }
            Self::Chain { nodes, .. } | Self::List(nodes) | Self::Function(_, nodes) => most(nodes),
            Self::Projection(nodes)
            | Self::ValueProjection(nodes)
            | Self::Comparison(_, nodes)
            | Self::Or(nodes)
            | Self::And(nodes)
            | Self::Pipe(nodes) => most(nodes.iter()),
            Self::Filter(nodes) => most(nodes.iter()),
            Self::Flatten(node) | Self::Not(node) | Self::Reference(node) => node.depth(),
            Self::Hash(pairs) => most(pairs.iter().map(|(_, node)| node)),
        }
    }
}
