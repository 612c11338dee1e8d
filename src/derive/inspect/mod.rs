//! The features that a chat template supports, observed: it is rendered with conversations of every kind, and each part of them is looked
//! for in the text.
//!
//! One file for each question: `roles`, `orders`, `system`, `keys`, `content`, `tools`, `calls`, `results`, `reasoning`,
//! `kwargs`, `prompts`, `growth`; `outcome` and `change` are the forms of the answers, `subject` makes the conversations.
//! `supports` is the short form that stands in the report of a derivation.

mod calls;
mod change;
mod content;
mod growth;
mod keys;
mod kwargs;
mod orders;
mod outcome;
mod prompts;
pub(in crate::derive) mod reasoning;
mod results;
mod roles;
mod subject;
pub(super) mod supports;
mod system;
mod tools;

use serde::{Serialize, Serializer};

use crate::chat_template::{ChatTemplateSource, Clock, RenderError};
use crate::derive::probe::{self, Dialect};
use crate::derive::render::{self, renderer::MAX_STEPS};
use crate::judge::slot::Slot;
use crate::value::{Map, Value};

pub use calls::{CallDetails, Calls, ContentPlace, IdShape, Ids, Spelling};
pub use change::RenderChange;
pub use content::{Content, ContentPart, RoleContent};
pub use growth::{Break, Growth, GrowthUnder, Smallest};
pub use keys::{Effect, MessageKey, RoleKeys};
pub use kwargs::{Kwarg, KwargEffect, Situation};
pub use orders::{Order, Turn, refusals};
pub use outcome::Outcome;
pub use prompts::{After, GenerationPrompt, PromptPlace};
pub use reasoning::{Lifetime, Reasoning, ReasoningPlace, ReasoningSituation, ReasoningUnder};
pub use results::Results;
pub use roles::{Role, Roles};
pub use supports::Supports;
pub use system::{System, SystemPlace};
pub use tools::{ToolForm, Tools, ToolsPlace};

use crate::derive::Options;
use outcome::shorten;
use subject::FILLING;
pub(in crate::derive) use subject::Subject;

/// The features that the chat templates of a source support. Serialized, it is the JSON of `obverse inspect`, whose keys are stable.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Inspection {
    /// The path of the source that the chat templates came from.
    pub source: String,
    /// The inspection of each chat template of the source.
    pub templates: Vec<TemplateInspection>,
}

/// The features that one chat template supports.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TemplateInspection {
    /// The name of the chat template; `default` for the only one.
    pub name: String,
    /// The error that keeps the chat template from being inspected, where there is one; the rest is then absent.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "in_words")]
    pub error: Option<InspectError>,
    /// The results; absent where there is an error.
    #[serde(flatten)]
    pub answers: Option<Answers>,
}

/// The results of the inspection of one chat template.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answers {
    /// The roles that it knows.
    pub roles: Roles,
    /// The orders in which messages may stand, and those that it refuses.
    pub orders: Vec<Order>,
    /// The treatment of a system message.
    pub system: System,
    /// The keys of messages that it reads, by role.
    pub message_keys: Vec<RoleKeys>,
    /// The treatment of content.
    pub content: Content,
    /// The treatment of tools.
    pub tools: Tools,
    /// The treatment of tool calls.
    pub calls: Calls,
    /// The treatment of tools' results.
    pub results: Results,
    /// The treatment of reasoning.
    pub reasoning: Reasoning,
    /// The outcome of documents for retrieval.
    pub documents: Outcome,
    /// The variables beside the conversation that it reads.
    pub kwargs: Vec<Kwarg>,
    /// The special tokens that it prints.
    pub special_tokens: Map,
    /// True if the template prints the date.
    pub dated: bool,
    /// The generation prompts that ask the model to go on.
    pub generation_prompts: Vec<GenerationPrompt>,
    /// How the text before a message changes, or does not, when the message is appended.
    pub growth: Growth,
}

/// The reason why a chat template cannot be inspected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The chat template renders not even a single user message.
    #[error("the chat template does not render a single user message: {0}")]
    Render(#[from] RenderError),
    /// The chat template takes so long to render that not everything was found out.
    #[error(
        "the renders of the chat template exceed the limit of {limit} steps in all; it renders too slowly to be inspected"
    )]
    Exhausted {
        /// The limit, in steps of the evaluator.
        limit: u64,
    },
}

fn in_words<S: Serializer>(error: &Option<InspectError>, serializer: S) -> Result<S::Ok, S::Error> {
    let words = error.as_ref().map(|error| shorten(&error.to_string()));
    words.serialize(serializer)
}

/// Inspects each chat template of a source. One that cannot be inspected says so in its `error`.
///
/// ```
/// use obverse::{chat_template, derive::{Options, inspect::inspect}};
///
/// let source = chat_template::from_text(
///     "example",
///     "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}",
/// )?;
/// let inspection = inspect(&source, &Options::default());
/// let answers = inspection.templates[0].answers.as_ref().unwrap();
/// assert!(answers.system.outcome.is_rendered());
/// assert!(!answers.calls.outcome.is_rendered());
/// assert!(answers.growth.prefix_preserving);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn inspect(source: &ChatTemplateSource, options: &Options) -> Inspection {
    let templates = source
        .templates
        .iter()
        .map(|(name, template)| {
            let alone = ChatTemplateSource {
                templates: vec![("default".to_owned(), template.clone())],
                broken: Vec::new(),
                ..source.clone()
            };
            let answers = answers(&alone, options);
            TemplateInspection {
                name: name.clone(),
                error: answers.as_ref().err().cloned(),
                answers: answers.ok(),
            }
        })
        .collect();
    Inspection {
        source: source.path.display().to_string(),
        templates,
    }
}

/// Inspects the one chat template of a source.
fn answers(source: &ChatTemplateSource, options: &Options) -> Result<Answers, InspectError> {
    let renderer = render::open(source, options.clock_or_some_day())?.with_contents_as_they_are();
    // Under the name that transformers hands on under two, until the template's own is known.
    let standard = Dialect {
        reasoning: Some(Slot::key("reasoning_content")),
        ..Dialect::standard()
    };
    let mut subject = Subject::new(&renderer, standard);
    subject.in_parts = content::only_in_parts(&subject);
    let (mut spellings, mut dialect) = calls::spellings(&subject);
    if !spellings.iter().any(|one| one.outcome.is_in_text()) {
        let before_next = subject.clone().calling_before_next(true);
        let (found, spelled) = calls::spellings(&before_next);
        if found.iter().any(|one| one.outcome.is_in_text()) {
            (spellings, dialect, subject) = (found, spelled, before_next);
        }
    }
    subject.dialect = dialect;
    let roles = roles::read(&subject);
    let names: Vec<String> = roles.known.iter().map(|role| role.role.clone()).collect();
    let message_keys = keys::read(&subject, &names);
    let kwargs = kwargs::read(&subject);
    let settings = settings(&kwargs);
    let reasoning = reasoning::read(&subject, &message_keys, &settings);
    if let Some(key) = reasoning.keys.first() {
        subject.dialect.reasoning = Some(Slot::key(key));
    }
    let calls = calls::read(&subject, spellings);
    let called = calls.details.is_some();
    let answers = Answers {
        orders: orders::read(&subject, called),
        system: system::read(&subject),
        content: content::read(&subject),
        tools: tools::read(&subject),
        results: results::read(&subject),
        documents: documents(&subject),
        special_tokens: special_tokens(source),
        dated: dated(source, &subject),
        generation_prompts: prompts::read(&subject, &settings),
        growth: growth::read(&subject, called, &settings),
        roles,
        message_keys,
        calls,
        kwargs,
        reasoning,
    };
    if renderer.is_exhausted() {
        return Err(InspectError::Exhausted { limit: MAX_STEPS });
    }
    Ok(answers)
}

/// How many settings of kwargs are examined beside the default.
const MAX_SETTINGS: usize = 12;

/// The default, and a setting for each effect that a kwarg has.
fn settings(kwargs: &[Kwarg]) -> Vec<Map> {
    let effects = kwargs.iter().flat_map(|kwarg| {
        let rendered = kwarg
            .effects
            .iter()
            .filter(|effect| effect.outcome.is_rendered());
        rendered.filter_map(|effect| {
            let value = effect.values.first()?.clone();
            Some(Map::from_iter([(kwarg.name.clone(), value)]))
        })
    });
    std::iter::once(Map::new())
        .chain(effects.take(MAX_SETTINGS))
        .collect()
}

fn documents(subject: &Subject<'_>) -> Outcome {
    let document = probe::object([
        ("title", Value::from("Umber")),
        ("text", Value::from(FILLING)),
        ("content", Value::from(FILLING)),
    ]);
    let render = subject
        .renderer
        .with_documents(&subject.talk(false, [subject::user()]), &[document]);
    Outcome::of(&render, &[FILLING])
}

fn special_tokens(source: &ChatTemplateSource) -> Map {
    let read = |name: &str| {
        source
            .templates
            .iter()
            .any(|(_, template)| template.variables().iter().any(|known| known == name))
    };
    source
        .special_tokens
        .iter()
        .filter(|(name, _)| read(name))
        .map(|(name, token)| (name.clone(), token.clone()))
        .collect()
}

/// Returns true if the prompt changes with the day.
fn dated(source: &ChatTemplateSource, subject: &Subject<'_>) -> bool {
    let prompt = |clock| {
        let renderer = render::open(source, clock)
            .ok()?
            .with_contents_as_they_are();
        let prompt = |tools| {
            renderer
                .prompt(&subject.talk(tools, [subject::user()]))
                .ok()
        };
        Some((prompt(false), prompt(true)))
    };
    prompt(Clock::date(1987, 3, 14)) != prompt(Clock::date(2011, 11, 26))
}
