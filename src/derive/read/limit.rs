//! Limits of the response template format: what a chat template writes and no response template reads.
//!
//! Where the format of a chat template can be expressed only in part, the analysis reports the part that can be expressed, together with
//! the limits: the values that are lost. Verification does not take a limit on its word. A message that does not come back counts as
//! inexpressible only if the smallest message that still does not come back has the limit.

use crate::derive::probe::Assistant;
use crate::value::Value;

/// A text of a chat template's format that the response template format cannot read.
#[derive(Debug, Clone)]
pub(in crate::derive) struct Limit {
    /// The values that are lost, and the reason why no response template reads them; in a sentence.
    pub(in crate::derive) text: String,
    /// The messages in which something is lost.
    pub(in crate::derive) lost: Lost,
}

/// The messages of which a limit loses a part.
#[derive(Debug, Clone)]
pub(in crate::derive) enum Lost {
    /// Those that have such a value, for which this returns true.
    Values(fn(&Assistant) -> bool),
    /// Those that have one of these characters in the texts of such a part.
    Signs(Part, String),
    /// Those that have an argument which is a text with this in it, and with white space at one of its ends.
    SpacedTexts(String),
}

/// A part of a message that has texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::derive) enum Part {
    Content,
    Reasoning,
    Arguments,
}

impl Limit {
    /// Returns true if the limit loses something of a message.
    pub(in crate::derive) fn is_in(&self, message: &Assistant) -> bool {
        match &self.lost {
            Lost::Values(is_in) => is_in(message),
            Lost::SpacedTexts(quote) => any_value(message, &|value| {
                let has_quote = |text: &&str| text.contains(quote.as_str());
                let text = value.as_str().filter(has_quote);
                text.is_some_and(|text| text.trim() != text)
            }),
            Lost::Signs(part, signs) => {
                let has_one = |text: &str| text.contains(|c| signs.contains(c));
                match part {
                    Part::Content => message.content.as_deref().is_some_and(has_one),
                    Part::Reasoning => message.reasoning.as_deref().is_some_and(has_one),
                    Part::Arguments => {
                        any_value(message, &|value| value.as_str().is_some_and(has_one))
                    }
                }
            }
        }
    }
}

/// Returns true if an argument of a call is such a value.
pub(in crate::derive) fn any_argument(message: &Assistant, is: fn(&Value) -> bool) -> bool {
    let mut calls = message.calls.iter();
    calls.any(|call| call.arguments.values().any(is))
}

/// Returns true if an argument of a call is such a value, or has one in it, however deep.
pub(in crate::derive) fn any_value(message: &Assistant, is: &dyn Fn(&Value) -> bool) -> bool {
    fn within(value: &Value, is: &dyn Fn(&Value) -> bool) -> bool {
        is(value)
            || match value {
                Value::Array(items) => items.iter().any(|item| within(item, is)),
                Value::Object(members) => members.values().any(|member| within(member, is)),
                _ => false,
            }
    }
    let mut calls = message.calls.iter();
    calls.any(|call| call.arguments.values().any(|value| within(value, is)))
}
