//! Samples: the responses that can be looked at.

use crate::check::{Fixture, Prompt};
use crate::derive::Case;
use crate::value::Value;

/// A response with what belongs to it.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// What it is called.
    pub name: String,
    /// What the model wrote; what has arrived of it, when it is live.
    pub response: String,
    /// What the parser is given before it.
    pub prefix: String,
    /// The tools by whose schemas arguments are typed.
    pub tools: Vec<Value>,
    /// The byte offsets at which the chunks of the response end, when they were recorded.
    pub chunks: Vec<usize>,
    /// What it must parse to, when that is known.
    pub expected: Option<Value>,
    /// Whether more of it is to come.
    pub live: bool,
}

impl Sample {
    /// A response of that name, without anything else.
    pub fn new(name: impl Into<String>, response: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            response: response.into(),
            ..Self::default()
        }
    }

    /// A fixture of that name.
    ///
    /// A prompt that is a conversation needs a chat template to be rendered; `prefix` is what it is rendered to.
    pub fn of_fixture(name: impl Into<String>, fixture: Fixture, prefix: Option<String>) -> Self {
        let told = match fixture.prompt {
            Prompt::Text(prefix) => prefix,
            Prompt::Untold | Prompt::Conversation(_) => String::new(),
        };
        let mut end = 0;
        let ends = fixture.chunks.iter().flatten().map(|chunk| {
            end += chunk.len();
            end
        });
        Self {
            chunks: ends.collect(),
            name: name.into(),
            response: fixture.response,
            prefix: prefix.unwrap_or(told),
            tools: fixture.tools,
            expected: fixture.expected,
            live: false,
        }
    }

    /// A message by which a derivation was verified, the `number`th.
    pub fn of_case(number: usize, case: &Case) -> Self {
        Self {
            name: format!("verified {number}"),
            response: case.response.clone(),
            prefix: case.prefix.clone(),
            tools: case.tools.clone(),
            expected: Some(case.message.clone()),
            ..Self::default()
        }
    }
}
