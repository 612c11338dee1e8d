//! The form of the parts of a message that no render shows.

use crate::value::Value;

/// The form of the parts of a message that no render shows.
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
    /// The text before all of them.
    pub(super) open: String,
    /// The text before each.
    pub(super) head: String,
    pub(super) body: Body,
    /// The text behind each.
    pub(super) tail: String,
    /// The text between two.
    pub(super) between: String,
    /// The text behind all of them.
    pub(super) close: String,
}

/// How one call is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    /// As an object: its members in their order.
    Object(Vec<(String, Member)>),
    /// The name, the text behind it, and an object of arguments.
    Named(String),
    /// The name, and each argument by itself.
    Pairs(Pairs),
}

/// The value of a member.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Member {
    Name,
    Arguments,
    /// The arguments as a string of JSON.
    ArgumentsText,
    Id,
    /// A value that is equal in every call.
    Constant(Value),
}

/// Arguments that stand apart from each other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pairs {
    /// The text behind the name.
    pub(super) open: String,
    pub(super) before_key: String,
    pub(super) behind_key: String,
    pub(super) behind_value: String,
    pub(super) between: String,
    pub(super) texts: Quoting,
    /// True if values that are not texts are written as Python spells them.
    pub(super) is_python: bool,
}

/// The form of a text that is a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Quoting {
    Json,
    Plain,
    Quoted(char),
}
