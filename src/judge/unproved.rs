//! The facts that a response template relies on and that no render shows.

use crate::value::Map;

/// A fact that no render shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Unproved {
    /// A field that no rendered message fills.
    Field(String),
    /// The end of a prompt, under these kwargs, that no rendered answer begins with.
    PromptTail { tail: String, kwargs: Map },
    /// Calls that the chat template asks for and does not show in any manner; with its own words where it refuses them.
    Calls(Option<String>),
    /// A constant at which the chat template cuts an answer, dropping the text before it. A model may write both, and no render shows it.
    Cut(String),
    /// Messages before which no marker begins their turn in the render, although their prompt has one.
    Unmarked,
    /// A reasoning that the chat template asks for under this key, and does not show.
    Reasoning(String),
}
