//! Samples: the responses that can be looked at.

use std::path::PathBuf;

use crate::check::{Fixture, Prompt};
use crate::chunking::{Chunking, ChunkingError};
use crate::derive::{Case, Counterexample};
use crate::value::{Map, Value};

/// A response with what belongs to it.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// Its name.
    pub name: String,
    /// The response that the model wrote; as much as has arrived of it, when it is live.
    pub response: String,
    /// The prefix that the parser is given before it.
    pub prefix: String,
    /// The tools by whose schemas arguments are typed.
    pub tools: Vec<Value>,
    /// The byte offsets at which the chunks of the response end, when they were recorded.
    pub chunks: Vec<usize>,
    /// The message that it must parse to, when that is known.
    pub expected: Option<Value>,
    /// True if more of it is to come.
    pub live: bool,
    /// True if its fixture records events, too.
    pub records_events: bool,
    /// The folder of the fixture that it is.
    pub folder: Option<PathBuf>,
    /// The conversation that the prefix was rendered from.
    pub conversation: Option<Conversation>,
    /// A note that is told when it is shown.
    pub trouble: Option<String>,
    /// The response and the prefix as they were before they were edited; `None` when they were not.
    pub original: Option<(String, String)>,
}

/// A conversation, and the prefix that the chat template made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// As [`Prompt::Conversation`] has it.
    pub messages: Value,
    /// The prefix.
    pub rendered: String,
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

    /// A fixture of that name; `prefix` is its prompt as text.
    pub fn of_fixture(
        name: impl Into<String>,
        fixture: Fixture,
        prefix: impl Into<String>,
    ) -> Self {
        let prefix = prefix.into();
        let conversation = match fixture.prompt {
            Prompt::Conversation(messages) => Some(Conversation {
                messages,
                rendered: prefix.clone(),
            }),
            Prompt::Text(_) | Prompt::Untold => None,
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
            prefix,
            conversation,
            tools: fixture.tools,
            expected: fixture.expected,
            records_events: fixture.events.is_some(),
            ..Self::default()
        }
    }

    /// Remembers the texts as they are, before they are edited.
    pub(crate) fn keep_original(&mut self) {
        if self.original.is_none() {
            self.original = Some((self.response.clone(), self.prefix.clone()));
        }
    }

    /// Returns true if the texts are others than before they were edited.
    pub(crate) fn is_edited(&self) -> bool {
        self.original
            .as_ref()
            .is_some_and(|(response, prefix)| (response, prefix) != (&self.response, &self.prefix))
    }

    /// The prompt as a fixture keeps it: the conversation, as long as its render was not edited.
    pub(crate) fn prompt(&self) -> Prompt {
        match &self.conversation {
            Some(conversation) if conversation.rendered == self.prefix => {
                Prompt::Conversation(conversation.messages.clone())
            }
            _ if self.prefix.is_empty() => Prompt::Untold,
            _ => Prompt::Text(self.prefix.clone()),
        }
    }

    /// Where its chunks end. One that is live has the chunks in which it arrived; what cannot be cut as is asked is cut into
    /// words, and why is told.
    pub(crate) fn ends(&self, chunking: &Chunking) -> (Vec<usize>, Option<ChunkingError>) {
        let cut = |chunking: &Chunking| chunking.ends(&self.response, &self.chunks);
        if self.live {
            return (cut(&Chunking::Recorded).unwrap_or_default(), None);
        }
        match cut(chunking) {
            Ok(ends) => (ends, None),
            Err(error) => (cut(&Chunking::Words).unwrap_or_default(), Some(error)),
        }
    }

    /// A message that a derivation does not bring back, the `number`th.
    pub fn of_lost(number: usize, found: &Counterexample, tools: Vec<Value>) -> Self {
        Self {
            name: format!("does not come back {number}"),
            response: found.response.clone(),
            prefix: found.prefix.clone(),
            tools,
            expected: Some(found.expected.clone()),
            ..Self::default()
        }
    }

    /// A message by which a derivation was verified, the `number`th.
    pub fn of_case(number: usize, case: &Case) -> Self {
        let keys = case.message.as_object().into_iter().flat_map(Map::keys);
        let keys: Vec<&str> = keys
            .map(|key| &**key)
            .filter(|key| *key != "role")
            .collect();
        Self {
            name: format!("verified {number}: {}", keys.join(", ")),
            response: case.response.clone(),
            prefix: case.prefix.clone(),
            tools: case.tools.clone(),
            expected: Some(case.message.clone()),
            ..Self::default()
        }
    }
}
