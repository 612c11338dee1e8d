//! A response that was recorded.

use crate::value::Value;

/// A response that a model wrote.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    /// The name by which reports call the response.
    pub name: String,
    /// The response, every character of it.
    pub response: String,
    /// The prompt that the model had been given. `None` where that is not told: then it is taken for the prompt that the chat template
    /// renders for one question.
    pub prefix: Option<String>,
    /// The tools that the model could call.
    pub tools: Vec<Value>,
    /// The message that it must parse to, where that is known.
    pub expected: Option<Value>,
}
