//! How the parts of a message are written that no render shows.

use crate::value::Value;

/// How the parts of a message are written that no render shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parts {
    pub(super) texts: Vec<Text>,
    pub(super) calls: Option<Calls>,
    pub(super) taught_by: Vec<String>,
}

/// A text beside the content.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    pub(super) key: String,
    pub(super) before: String,
    pub(super) behind: String,
}

/// The calls, behind the texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Calls {
    /// Before all of them.
    pub(super) open: String,
    /// Before each.
    pub(super) head: String,
    pub(super) body: Body,
    /// Behind each.
    pub(super) tail: String,
    /// Between two.
    pub(super) between: String,
    /// Behind all of them.
    pub(super) close: String,
}

/// How one call is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    /// As an object: its members in their order.
    Object(Vec<(String, Member)>),
    /// The name, what stands between, and an object of arguments.
    Named(String),
    /// The name, and each argument by itself.
    Pairs(Pairs),
}

/// The value of a member.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Member {
    Name,
    Arguments,
    /// The arguments as a string with JSON in it.
    ArgumentsText,
    Id,
    /// Always this.
    Constant(Value),
}

/// Arguments by themselves.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pairs {
    /// Behind the name.
    pub(super) open: String,
    pub(super) before_key: String,
    pub(super) behind_key: String,
    pub(super) behind_value: String,
    pub(super) between: String,
    pub(super) texts: Quoting,
    /// Whether what is no text is written as Python spells it.
    pub(super) is_python: bool,
}

/// How a text is written that is a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Quoting {
    Json,
    Plain,
    Quoted(char),
}
