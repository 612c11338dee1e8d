//! The proof of a conversation format by inversion, both ways: conversations that are made up from a seed are rendered, read, and what
//! was read is rendered again, to the very same text; and of those whose texts are plain words everything that the render shows must be
//! where it was.
//!
//! Two conversations that render to the same text are the same to every reader. Where another one came back than went in, and both
//! render alike, that is told with the smallest example, as is what the chat template drops and trims; it is no failure.

mod compare;
mod made;

use std::collections::BTreeMap;

use serde::Serialize;

use super::format::{Holds, markers};
use super::read::{Conversation, Reader, Reason};
use super::render::{Renderer, Talk};
use crate::value::{Map, Value};
use made::{Daring, Making};

/// How well a format is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every conversation came back.
    Proved,
    /// Every conversation came back but for definitions of tools, which are kept as text.
    ProvedInPart,
    /// Some conversations did not come back.
    NotProved,
}

/// The report of what was proved of a conversation format.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Report {
    /// Where the chat template came from.
    pub source: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The conversations that were tried.
    pub conversations: Conversations,
    /// The findings, with an example each.
    pub findings: Vec<Finding>,
}

/// How many conversations were tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Conversations {
    /// Rendered and read.
    pub tried: usize,
    /// Came back: what was read renders to the same text, and plain texts are where they were.
    pub back: usize,
    /// Of those, another conversation that renders to the same text came back.
    pub alike: usize,
    /// Of those, definitions of tools were kept as text.
    pub kept: usize,
    /// Refused by the chat template.
    pub refused: usize,
}

/// Something to know of a conversation format.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Finding {
    /// A stable name: `dropped`, `trimmed`, `alike`, `definitions-kept`, `no-response-template`, `lost`, `differs`, `unfit`.
    pub code: String,
    /// In a sentence.
    pub text: String,
    /// The smallest conversation that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Example>,
}

/// A conversation, its render, and what was read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Example {
    /// The messages.
    #[cfg_attr(test, schemars(with = "Vec<serde_json::Value>"))]
    pub messages: Vec<Value>,
    /// The variables beside them.
    #[cfg_attr(test, schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub kwargs: Map,
    /// The text.
    pub text: String,
    /// The messages as they were read.
    #[cfg_attr(test, schemars(with = "Vec<serde_json::Value>"))]
    pub read: Vec<Value>,
}

/// How long a proof is.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Extent {
    /// The conversations that are to be rendered and read.
    pub conversations: usize,
    /// The seed from which they are made.
    pub seed: u64,
}

impl Extent {
    /// Sets how many conversations are to be rendered and read.
    pub fn conversations(self, conversations: usize) -> Self {
        Self {
            conversations,
            ..self
        }
    }

    /// Sets the seed from which they are made.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}

impl Default for Extent {
    fn default() -> Self {
        Self {
            conversations: 60,
            seed: 17,
        }
    }
}

/// The outcome of the proof for one conversation.
enum Outcome {
    Back,
    Alike(String, Vec<Value>),
    Failed(&'static str, String, Vec<Value>),
}

/// Tries conversations with a reader that has its chat template at hand.
pub(crate) fn prove(
    reader: &Reader<'_>,
    renderer: &Renderer<'_>,
    reasoning: &str,
    extent: Extent,
) -> (Conversations, Vec<Finding>) {
    let constants = markers::constants(reader.format());
    let making = Making {
        reasoning,
        constants: &constants,
        settings: &reader.format().settings,
    };
    let mut counts = Conversations::default();
    let mut examples: BTreeMap<(String, String), (usize, Example)> = BTreeMap::new();
    let attempts = extent.conversations * 4;
    for attempt in 0..attempts {
        if counts.tried >= extent.conversations {
            break;
        }
        let daring = match attempt % 3 {
            0 => Daring::Plain,
            1 => Daring::Loose,
            _ => Daring::Hostile,
        };
        let talk = making.talk(extent.seed.wrapping_add(attempt as u64), daring);
        let Ok(text) = renderer.text(&talk) else {
            counts.refused += 1;
            continue;
        };
        counts.tried += 1;
        let (outcome, kept) = tried(reader, renderer, &talk, &text, daring, &constants);
        counts.kept += usize::from(kept);
        let mut found: Vec<(String, String, Vec<Value>)> = Vec::new();
        match outcome {
            Outcome::Back => counts.back += 1,
            Outcome::Alike(what, read) => {
                counts.back += 1;
                counts.alike += 1;
                found.push(("alike".to_owned(), what, read));
            }
            Outcome::Failed(code, what, read) => found.push((code.to_owned(), what, read)),
        }
        if daring != Daring::Hostile {
            let made = compare::made_by_render(&talk, &text).into_iter();
            found.extend(made.map(|one| (one.code.to_owned(), one.what, Vec::new())));
        }
        for (code, what, read) in found {
            let size = text.len();
            let is_smaller = examples
                .get(&(code.clone(), what.clone()))
                .is_none_or(|(least, _)| size < *least);
            if is_smaller {
                let example = Example {
                    messages: talk.messages.iter().map(compare::short).collect(),
                    kwargs: talk.kwargs.clone(),
                    text: text.clone(),
                    read,
                };
                examples.insert((code, what), (size, example));
            }
        }
    }
    let mut findings: Vec<Finding> = Vec::new();
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    let mut sorted: Vec<_> = examples.into_iter().collect();
    sorted.sort_by_key(|((code, _), (size, _))| (rank(code), *size));
    for ((code, what), (_, example)) in sorted {
        let count = told.entry(code.clone()).or_default();
        *count += 1;
        if *count <= MAX_EXAMPLES {
            findings.push(Finding {
                text: sentence(&code, &what),
                code,
                example: Some(example),
            });
        }
    }
    (counts, findings)
}

/// How many findings of one code are told.
const MAX_EXAMPLES: usize = 3;

fn rank(code: &str) -> usize {
    let order = ["lost", "differs", "unfit", "alike", "dropped", "trimmed"];
    order
        .iter()
        .position(|known| *known == code)
        .unwrap_or(order.len())
}

fn sentence(code: &str, what: &str) -> String {
    match code {
        "dropped" => format!("the chat template does not write {what} everywhere"),
        "trimmed" => format!("the chat template cuts the space off the ends of {what}"),
        "alike" => format!("another conversation renders to the same text: {what}"),
        "lost" => format!("a conversation did not come back: {what}"),
        _ => format!("a conversation could not be read: {what}"),
    }
}

fn tried(
    reader: &Reader<'_>,
    renderer: &Renderer<'_>,
    talk: &Talk,
    text: &str,
    daring: Daring,
    constants: &[String],
) -> (Outcome, bool) {
    match reader.read(text) {
        Ok(conversation) => {
            let kept = conversation.exact.is_none();
            let outcome = compared(renderer, talk, text, daring, constants, conversation);
            (outcome, kept)
        }
        Err(error) => {
            let code = match error.reason {
                Reason::Differs => "differs",
                _ => "unfit",
            };
            let failed = Outcome::Failed(code, error.to_string(), error.read.messages);
            (failed, false)
        }
    }
}

/// The outcome for a conversation that was read.
fn compared(
    renderer: &Renderer<'_>,
    talk: &Talk,
    text: &str,
    daring: Daring,
    constants: &[String],
    conversation: Conversation,
) -> Outcome {
    let kept = conversation.exact.is_none();
    if kept {
        // The definitions were kept as text: with those that went in the rest must render to the text.
        let again = [
            conversation.messages.clone(),
            super::read::completed(&conversation.messages),
        ];
        let is_same = again.into_iter().any(|messages| {
            let again = Talk {
                messages,
                tools: talk.tools.clone(),
                kwargs: talk.kwargs.clone(),
                prompt: conversation.add_generation_prompt,
            };
            renderer.text(&again).is_ok_and(|again| again == text)
        });
        if !is_same {
            let what = "what was read renders to another text".to_owned();
            return Outcome::Failed("differs", what, conversation.messages);
        }
    }
    if daring == Daring::Hostile {
        return Outcome::Back;
    }
    if let Some(marker) = compare::swallowed(&conversation.messages, constants) {
        let what = format!("{marker:?} was read as a part of a text");
        return Outcome::Failed("lost", what, conversation.messages);
    }
    if !kept && conversation.tools != talk.tools && !talk.tools.is_empty() {
        let shown = talk.tools.iter().all(|tool| {
            let said = tool.get("function").and_then(|one| one.get("description"));
            said.and_then(Value::as_str)
                .is_some_and(|said| text.contains(said))
        });
        if shown && conversation.tools.len() != talk.tools.len() {
            let what = "the definitions of tools are others".to_owned();
            return Outcome::Failed("lost", what, conversation.messages);
        }
    }
    match compare::lost(talk, &conversation.messages, text) {
        None => Outcome::Back,
        Some(what) => Outcome::Alike(what, conversation.messages),
    }
}

/// The verdict on what came back.
pub(crate) fn verdict(reader: &Reader<'_>, counts: &Conversations, keeps: bool) -> Verdict {
    let places = &reader.format().places;
    let has = |holds: Holds| places.iter().any(|place| place.holds == holds);
    if counts.tried == 0 || !has(Holds::Text) {
        return Verdict::NotProved;
    }
    if counts.back < counts.tried {
        return Verdict::NotProved;
    }
    if keeps {
        Verdict::ProvedInPart
    } else {
        Verdict::Proved
    }
}
