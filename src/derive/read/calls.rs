//! How calls are written: the texts around each, around all, and between two.

use super::cut::{Body, Members};
use super::limit::{Limit, Lost};
use super::no_arguments::NoArguments;
use super::unread;
use crate::derive::compare::{slot, text};
use crate::value::{Value, json};

/// How a chat template writes tool calls.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::derive) struct ToolCalls {
    pub(in crate::derive) body: Body,
    /// The text before and behind the body of each call, white space included, with slots for its name and its id.
    pub(in crate::derive) call: (String, String),
    /// The text before and behind all calls together.
    pub(in crate::derive) section: (String, String),
    /// The text between two calls that belongs to neither of them.
    pub(in crate::derive) separator: String,
    /// The text that ends a turn that ends with calls, as rendered.
    pub(in crate::derive) turn_end: String,
    /// True if the template renders more than one call in a message.
    pub(in crate::derive) parallel: bool,
    /// The form of a call without arguments, where it is another than that of one with arguments.
    pub(in crate::derive) no_arguments: Option<NoArguments>,
    /// The texts before and behind a call's id that a call without an id does not have either, where there are such.
    pub(in crate::derive) around_id: Option<(String, String)>,
    /// True if a call's id is taken from the text behind its body.
    pub(in crate::derive) id_behind: bool,
    /// True if a call's name is read from its id.
    pub(in crate::derive) named_by_id: bool,
    /// True if line separators in the texts of arguments are lost, since the chat template indents lines and takes the separators for line
    /// ends.
    pub(in crate::derive) breaks_lines: bool,
}

impl ToolCalls {
    /// Returns the white space between the body of a call and what follows it: its own close, or the next call and the end of the turn; `None`
    /// where that differs.
    pub(in crate::derive) fn space_behind(&self) -> Option<String> {
        let close = &self.call.1;
        let last = format!("{close}{}", self.ending());
        let next = format!("{close}{}", self.next_opening());
        let space = text::leading(&last);
        let is_same = !self.parallel || space == text::leading(&next);
        is_same.then(|| space.to_owned())
    }

    /// The text between the close of a call and the body of the next one.
    pub(in crate::derive) fn next_opening(&self) -> String {
        format!("{}{}", self.separator, self.call.0)
    }

    /// The text behind the close of the last call, up to the end of the turn.
    pub(in crate::derive) fn ending(&self) -> String {
        format!("{}{}", self.section.1, self.turn_end)
    }

    /// Returns the parts of calls written in this form that no response template reads.
    pub(in crate::derive) fn limits(&self) -> Vec<Limit> {
        let mut limits = match &self.body {
            Body::Object(_) | Body::Array(_) | Body::Json | Body::Text => Vec::new(),
            Body::Dialect(json) => json.limits(),
            Body::Pairs(pairs) => pairs.unread.limits(),
        };
        if self.breaks_lines {
            limits.push(Limit {
                text: "the chat template breaks the lines of arguments at line separators such as U+2028, which are lost".to_owned(),
                lost: Lost::Values(|message| {
                    let mut calls = message.calls.iter();
                    let has_one = |value: &Value| json::to_string(value).contains(unread::LINE_SEPARATORS);
                    calls.any(|call| call.arguments.values().any(has_one))
                }),
            });
        }
        limits
    }

    /// Returns true if the text carries the calls' ids.
    pub(in crate::derive) fn has_id(&self) -> bool {
        match &self.body {
            Body::Object(Members { id, .. }) | Body::Array(Members { id, .. }) => id.is_some(),
            _ => self.call.0.contains(slot::ID) || self.id_behind || self.named_by_id,
        }
    }
}
