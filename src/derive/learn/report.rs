//! The report on recorded responses.

use serde::Serialize;

/// The report on recorded responses: how many are read right, and what was learnt from them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Responses {
    /// How many responses there were.
    pub given: usize,
    /// How many were read right by what the renders alone tell.
    pub right_before: usize,
    /// How many are read right now.
    pub right: usize,
    /// The fields that no render shows and that were added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Addition>,
    /// The fields that were widened, in that order.
    pub widenings: Vec<Widening>,
    /// The responses that are not read right, each with the reason.
    pub short: Vec<Short>,
}

/// A field that no render shows: the chat template leaves it out, and responses show how the model writes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Addition {
    /// The name of the field.
    pub field: String,
    /// The names of the responses that tell how it is written.
    pub taught_by: Vec<String>,
}

/// A field that was widened, most often by one of its delimiters.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Widening {
    /// The name of the field.
    pub field: String,
    /// The part of the field that was widened: `open`, `close`, `content_args` or `transform`.
    pub side: &'static str,
    /// The text that may be written now, in a sentence.
    pub text: String,
    /// That part as it was.
    pub was: String,
    /// That part as it is now.
    pub now: String,
    /// The names of the responses that are read better for it.
    pub taught_by: Vec<String>,
}

/// A response that is not read right.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Short {
    /// The name of the response.
    pub name: String,
    /// The reason why it is not read right, in a sentence.
    pub why: String,
}
