//! The generation prompts with which a chat template asks the model to go on.

use serde::Serialize;

use super::outcome::shorten;
use super::subject::{self, Subject};
use crate::derive::probe;
use crate::derive::render::conversation::Context;
use crate::value::Map;

/// The text that `add_generation_prompt` adds to a conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GenerationPrompt {
    /// The text; empty where nothing is added, absent where the text before it changes too. At most 300 characters.
    pub text: Option<String>,
    /// The places where it is added.
    pub places: Vec<PromptPlace>,
}

/// A place where a generation prompt is added.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PromptPlace {
    /// After a message of this role.
    pub after: After,
    /// The kwargs under which it is added; none for the default.
    pub kwargs: Map,
}

/// The message that a generation prompt follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum After {
    /// A user's message.
    User,
    /// A tool's result.
    Tool,
    /// An assistant's message.
    Assistant,
}

pub(super) fn read(subject: &Subject<'_>, settings: &[Map]) -> Vec<GenerationPrompt> {
    let call = probe::call(0);
    let result = probe::tool_result(&call, probe::TOOL_RESULT);
    let contexts: [(After, Context); 3] = [
        (After::User, subject.talk(false, [subject::user()])),
        (
            After::Tool,
            subject.talk(true, [subject::user(), subject.calling([call]), result]),
        ),
        (
            After::Assistant,
            subject.talk(false, [subject::user(), subject.answer(probe::CONTENT)]),
        ),
    ];
    let mut found: Vec<GenerationPrompt> = Vec::new();
    for (after, context) in &contexts {
        for kwargs in settings {
            let context = context.under(kwargs);
            let (Ok(history), Ok(prompt)) = (
                subject.renderer.history(&context),
                subject.renderer.prompt(&context),
            ) else {
                continue;
            };
            let text = prompt.strip_prefix(history.as_str()).map(shorten);
            let place = PromptPlace {
                after: *after,
                kwargs: kwargs.clone(),
            };
            match found.iter_mut().find(|known| known.text == text) {
                Some(known) => known.places.push(place),
                None => found.push(GenerationPrompt {
                    text,
                    places: vec![place],
                }),
            }
        }
    }
    found
}
