//! Whole conversations: a rendered text read back into messages, and which of its characters the model wrote.
//!
//! - [`format`](ConversationFormat) is the document: what is needed to read a conversation;
//! - `find` derives it from a chat template;
//! - `read` reads texts with it, and [`Reader`] holds what it reads to the chat template where there is one;
//! - `render` renders conversations in the form that a chat template takes;
//! - [`spans::of_messages`] tells from the origins of a render's characters which message each belongs to, and which of them the model wrote;
//! - [`annotate`] puts marks for trainers around the same in a chat template's source.

pub mod annotate;
mod find;
mod format;
mod proof;
mod read;
mod render;
pub mod spans;

use crate::chat_template::{ChatTemplateSource, Clock, RenderError};
use crate::derive;
use crate::response_template::Document;
use render::Renderer;

pub use format::{
    Advance, ArgumentKind, Connection, ConnectionPart, ConversationFormat, DefinitionLayout,
    DefinitionStep, DefinitionText, Encoding, Handing, Holds, Hole, InputText, InvalidFormat,
    VERSION,
};
pub use proof::{Conversations, Example, Extent, Finding, Report, Verdict};
pub use read::{Added, Conversation, ReadError, ReadSpan, Reader, Reason};

/// A conversation format and what is known of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Derivation {
    /// The conversation format.
    pub format: ConversationFormat,
    /// The report of the proof.
    pub report: Report,
}

/// Why no conversation format could be derived.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeriveError {
    /// The chat template renders not even a single user message.
    #[error("the chat template does not render a single user message: {0}")]
    Render(#[from] RenderError),
}

/// Derives the conversation format of a chat template, and proves it by reading made-up conversations back.
///
/// # Errors
///
/// When the chat template renders not even a single user message. A format that is not proved is no error: the report says so.
///
/// ```
/// use obverse::{chat_template, conversation, derive};
///
/// let source = chat_template::from_text(
///     "example",
///     "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
/// )?;
/// let derived = conversation::derive(&source, &derive::Options::default(), conversation::Extent::default())?;
/// let reader = conversation::Reader::with_source(derived.format, &source, None);
/// let read = reader.read("<user>Hello</><assistant>")?;
/// assert_eq!(read.messages[0].get("content").and_then(|text| text.as_str()), Some("Hello"));
/// assert!(read.add_generation_prompt);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn derive(
    source: &ChatTemplateSource,
    options: &derive::Options,
    extent: Extent,
) -> Result<Derivation, DeriveError> {
    let response = derive::derive(source, options);
    let (document, error) = match &response {
        Ok(derived) => (Some(&derived.document), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let derivation = derive_with(source, document, options.clock, extent)?;
    Ok(derivation.telling(error))
}

/// [`derive()`] with a response template that was derived before, or written by hand; without one the assistant's turns are read as
/// content alone.
///
/// # Errors
///
/// As [`derive()`].
pub fn derive_with(
    source: &ChatTemplateSource,
    response: Option<&Document>,
    clock: Option<Clock>,
    extent: Extent,
) -> Result<Derivation, DeriveError> {
    let clock = clock.or_else(crate::derive::some_day);
    let found = find::find(source, response, clock)?;
    let reader = Reader::with_source(found.format.clone(), source, clock);
    let renderer = Renderer {
        source,
        clock,
        handing: found.format.handing,
    };
    let (conversations, mut findings) = proof::prove(&reader, &renderer, &found.reasoning, extent);
    // A layout reads what it was found from: where some conversation has definitions that it does not, they are kept.
    let keeps = conversations.kept > 0
        || (!found.format.reads_definitions()
            && found.format.keeps_definitions()
            && found.format.definitions.is_none());
    if keeps {
        findings.push(Finding {
            code: "definitions-kept".to_owned(),
            text: "definitions of tools could not be read everywhere: they are kept as text"
                .to_owned(),
            example: None,
        });
    }
    let report = Report {
        source: source.path.display().to_string(),
        verdict: proof::verdict(&reader, &conversations, keeps),
        conversations,
        findings,
    };
    Ok(Derivation {
        format: found.format,
        report,
    })
}

impl Derivation {
    /// The derivation, with why there is no response template in it.
    fn telling(mut self, error: Option<String>) -> Self {
        self.report.findings.extend(error.map(|error| Finding {
            code: "no-response-template".to_owned(),
            text: format!("the assistant's turns are read as content alone: {error}"),
            example: None,
        }));
        self
    }
}
