//! The facts that a response template relies on and that no render shows.

use std::ops::Range;

use super::message::Asked;
use crate::value::Map;

/// A fact that no render shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Unproved {
    /// A field that no rendered message fills.
    Field(String),
    /// The end of a prompt that no rendered answer begins with.
    PromptTail(PromptTail),
    /// Calls that the chat template asks for and does not show in any manner; with its own words where it refuses them.
    Calls(Option<String>),
    /// Calls with a part that the chat template asks for, and writes otherwise than others, so that they do not come back.
    Call(Asked),
    /// A constant at which the chat template cuts an answer, dropping the text before it. A model may write both, and no render shows it.
    Cut(String),
    /// Messages before which no marker begins their turn in the render, although their prompt has one.
    Unmarked,
    /// Answers to a tool's result behind which nothing marks where the turn begins, in the prompt neither.
    UnmarkedResult,
    /// A reasoning that the chat template asks for under this key, and does not show.
    Reasoning(String),
}

/// The end of a prompt that no rendered answer begins with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PromptTail {
    /// The end of the prompt, from the first constant that no answer has there.
    pub(crate) tail: String,
    /// The kwargs of the prompt.
    pub(crate) kwargs: Map,
    /// The text that the prompt adds to the conversation.
    pub(crate) added: String,
    /// The bytes of that text that a kwarg writes: with another value something else stands there.
    pub(crate) given: Vec<Range<usize>>,
    /// The constants with which the prompt begins the turn, the longest text first: any may be what the turn begins behind. None where a text of the
    /// prompt itself is no part of the message.
    pub(crate) headers: Vec<String>,
}
