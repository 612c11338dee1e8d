//! Kinds: the parts that messages are made of. Verdicts are given by kind.

use serde::Serialize;

use super::message::Assistant;
use crate::value::Value;

/// One of the parts that a message is made of. A message can be of several kinds, such as a call whose argument is a list, after a tool's
/// result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// An answer, and nothing beside it.
    Content,
    /// Reasoning before an answer.
    Reasoning,
    /// One tool call in a message.
    Call,
    /// Several tool calls.
    Calls,
    /// An answer beside tool calls.
    ContentWithCalls,
    /// Reasoning before tool calls.
    ReasoningWithCalls,
    /// Reasoning, an answer and tool calls.
    ReasoningAndContentWithCalls,
    /// Texts under further keys of the message, beside reasoning and content.
    FurtherTexts,
    /// A call without arguments.
    NoArguments,
    /// An argument that is a text.
    StringArgument,
    /// An argument that is a whole number.
    IntegerArgument,
    /// An argument that is another number.
    NumberArgument,
    /// An argument that is true or false.
    BooleanArgument,
    /// An argument that is null.
    NullArgument,
    /// An argument that is a list.
    ArrayArgument,
    /// An argument that is an object.
    ObjectArgument,
    /// Names with a dash, a dot or a space in them.
    OddNames,
    /// The ids of calls.
    Ids,
    /// Any message after a tool's result.
    AfterToolResult,
}

impl Kind {
    /// All kinds, in the order of reports.
    pub const ALL: [Self; 19] = [
        Self::Content,
        Self::Reasoning,
        Self::Call,
        Self::Calls,
        Self::ContentWithCalls,
        Self::ReasoningWithCalls,
        Self::ReasoningAndContentWithCalls,
        Self::FurtherTexts,
        Self::NoArguments,
        Self::StringArgument,
        Self::IntegerArgument,
        Self::NumberArgument,
        Self::BooleanArgument,
        Self::NullArgument,
        Self::ArrayArgument,
        Self::ObjectArgument,
        Self::OddNames,
        Self::Ids,
        Self::AfterToolResult,
    ];

    /// The kind in words, as the report for people has it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Reasoning => "reasoning",
            Self::Call => "one call",
            Self::Calls => "several calls",
            Self::ContentWithCalls => "content with calls",
            Self::ReasoningWithCalls => "reasoning with calls",
            Self::ReasoningAndContentWithCalls => "reasoning and content with calls",
            Self::FurtherTexts => "texts under further keys",
            Self::NoArguments => "a call without arguments",
            Self::StringArgument => "arguments: text",
            Self::IntegerArgument => "arguments: whole numbers",
            Self::NumberArgument => "arguments: other numbers",
            Self::BooleanArgument => "arguments: true and false",
            Self::NullArgument => "arguments: null",
            Self::ArrayArgument => "arguments: lists",
            Self::ObjectArgument => "arguments: objects",
            Self::OddNames => "odd names",
            Self::Ids => "ids of calls",
            Self::AfterToolResult => "after a tool's result",
        }
    }

    /// The kind of the message by its parts.
    pub(super) fn of_parts(message: &Assistant) -> Option<Self> {
        let content = message.content.is_some();
        Some(match (message.reasoning.is_some(), message.calls.len()) {
            (false, 0) if content => Self::Content,
            (true, 0) => Self::Reasoning,
            (false, 0) => return None,
            (false, 1) if !content => Self::Call,
            (false, _) if !content => Self::Calls,
            (false, _) => Self::ContentWithCalls,
            (true, _) if !content => Self::ReasoningWithCalls,
            (true, _) => Self::ReasoningAndContentWithCalls,
        })
    }

    /// The kinds of the message by the types of its arguments and by its names. Arguments that are `like` one of the usual
    /// calls' say nothing of types: every call has texts.
    pub(super) fn of_calls(message: &Assistant) -> Vec<Self> {
        let mut kinds = Vec::new();
        let mut add = |kind| {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        };
        let is_odd = |name: &str| {
            let usual = |c: char| c.is_ascii_alphanumeric() || c == '_';
            !name.chars().all(usual)
        };
        for call in &message.calls {
            if call.arguments.is_empty() {
                add(Self::NoArguments);
            }
            if is_odd(&call.name) || call.arguments.keys().any(|key| is_odd(key)) {
                add(Self::OddNames);
            }
            for value in call.arguments.values() {
                add(match value {
                    Value::String(_) => Self::StringArgument,
                    Value::Int(_) => Self::IntegerArgument,
                    Value::Float(_) => Self::NumberArgument,
                    Value::Bool(_) => Self::BooleanArgument,
                    Value::Null => Self::NullArgument,
                    Value::Array(_) => Self::ArrayArgument,
                    Value::Object(_) => Self::ObjectArgument,
                });
            }
        }
        kinds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::probes;

    #[test]
    fn a_message_is_of_the_kind_of_its_parts() {
        let kind = |message: Assistant| Kind::of_parts(&message);
        assert_eq!(kind(Assistant::saying("a")), Some(Kind::Content));
        assert_eq!(
            kind(Assistant::saying("a").thinking("b")),
            Some(Kind::Reasoning)
        );
        let one = Assistant::calling([probes::call(0)]);
        assert_eq!(kind(one.clone()), Some(Kind::Call));
        assert_eq!(kind(one.with_content("a")), Some(Kind::ContentWithCalls));
        assert_eq!(kind(Assistant::default()), None);
    }

    #[test]
    fn all_names_every_kind_once() {
        let mut all = Kind::ALL.to_vec();
        all.sort();
        all.dedup();
        assert_eq!(all, Kind::ALL);
        assert_eq!(*all.last().unwrap(), Kind::AfterToolResult);
    }
}
