//! Limits of the response template format: what a chat template writes and no response template reads.
//!
//! A question that finds a format of which the response template format can express only a part answers with the part
//! that it can express, and with the limits of that. Verification believes no limit on its word: a message that does not
//! come back counts as inexpressible only if the smallest message that still does not come back has the limit.

use crate::derive::probe::Assistant;
use crate::value::Value;

/// Something that the response template format has no way to read.
#[derive(Debug, Clone)]
pub(in crate::derive) struct Limit {
    /// What is lost, and why no response template reads it; in a sentence.
    pub(in crate::derive) text: String,
    /// Whether a message has it.
    pub(in crate::derive) is_in: fn(&Assistant) -> bool,
}

/// Whether an argument of a call is such a value.
pub(in crate::derive) fn any_argument(message: &Assistant, is: fn(&Value) -> bool) -> bool {
    let mut calls = message.calls.iter();
    calls.any(|call| call.arguments.values().any(is))
}

/// Whether an argument of a call is such a value, or has one in it, however deep.
pub(in crate::derive) fn any_value(message: &Assistant, is: fn(&Value) -> bool) -> bool {
    fn within(value: &Value, is: fn(&Value) -> bool) -> bool {
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
