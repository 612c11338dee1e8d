//! What is told of recorded responses.

use serde::Serialize;

/// What came of recorded responses.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Responses {
    /// How many there were.
    pub given: usize,
    /// How many were read right by what the renders alone tell.
    pub right_before: usize,
    /// How many are read right now.
    pub right: usize,
    /// What was added that no render shows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Addition>,
    /// What was widened, in its order.
    pub widenings: Vec<Widening>,
    /// The responses that are not read right, each with the reason.
    pub short: Vec<Short>,
}

/// A field that no render shows: the chat template leaves it out, and responses show how the model writes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Addition {
    /// The field.
    pub field: String,
    /// The names of the responses that tell how it is written.
    pub taught_by: Vec<String>,
}

/// A field that was widened, most often by one of its delimiters.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Widening {
    /// The field.
    pub field: String,
    /// What of it: `open`, `close`, `content_args` or `transform`.
    pub side: &'static str,
    /// What may be written now, in a sentence.
    pub text: String,
    /// That as it was.
    pub was: String,
    /// That as it is.
    pub now: String,
    /// The names of the responses that are read better for it.
    pub taught_by: Vec<String>,
}

/// A response that is not read right.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Short {
    /// Its name.
    pub name: String,
    /// What is wrong, in a sentence.
    pub why: String,
}
