//! The engines that a response template is written for: transformers, or servers that take less.

use crate::derive::evidence::finding::Finding;
use crate::derive::probe::REASONING_FIELD;
use crate::derive::read::analysis::Analysis;
use crate::judge::slot::Slot;
use crate::response_template::{Document, Engine};
use crate::value::Value;

/// The engines that a response template is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Target {
    /// True if it is for a server. Servers take three fields, stream them, and do not join texts.
    pub(in crate::derive) served: bool,
    /// How a pattern says that the text ends.
    pub(super) text_end: &'static str,
}

impl Target {
    /// The target that all of the engines take.
    pub(in super::super) fn of(engines: &[Engine]) -> Self {
        Self {
            served: engines.iter().any(|engine| engine.is_server()),
            // `$` also matches before a final line feed. That makes no difference where a pattern takes all white space before it.
            text_end: if engines.contains(&Engine::Vllm) {
                "$"
            } else {
                "\\Z"
            },
        }
    }
}

impl Target {
    /// How a pattern says that the text ends.
    pub(in super::super) fn text_end(self) -> &'static str {
        self.text_end
    }

    /// The field that reasoning has to go to, whichever key the chat template reads, where the engines take no other.
    pub(in super::super) fn reasoning_field(self) -> Option<&'static str> {
        self.served.then_some(REASONING_FIELD)
    }
}

/// The field that the reasoning goes to.
pub(in super::super) fn reasoning_field(analysis: &Analysis, target: Target) -> &str {
    let unopened = analysis
        .reasoning
        .as_ref()
        .and_then(|reasoning| reasoning.unopened.as_ref());
    field_of(analysis.dialect.reasoning.as_ref().or(unopened), target)
}

/// Returns the place in messages that the reasoning comes from: the one that was read or, where only an amendment reads it, the first of these
/// whose field the response template has.
pub(in super::super) fn reasoning_slot<'s>(
    analysis: &'s Analysis,
    slots: &'s [Slot],
    document: &Document,
    target: Target,
) -> Option<&'s Slot> {
    let has_field = |slot: &&Slot| document.fields.contains_key(field_of(Some(slot), target));
    let amended = match analysis.reasoning {
        Some(_) => None,
        None => slots.first().filter(has_field),
    };
    analysis.dialect.reasoning.as_ref().or(amended)
}

/// The field that a reasoning goes to which the chat template takes there.
pub(in super::super) fn field_of(slot: Option<&Slot>, target: Target) -> &str {
    match slot {
        Some(Slot::Key(keys)) if !target.served => {
            keys.first().map_or(REASONING_FIELD, String::as_str)
        }
        _ => REASONING_FIELD,
    }
}

/// Returns the content that a message without content must have so that the chat template can render it again; `None` where it needs no
/// such default or the target takes none.
pub(super) fn default_content(analysis: &Analysis, target: Target) -> Option<Value> {
    // Renderers that drop nulls would drop such a default as well, and whoever keeps nulls has to add it.
    let content = analysis.dialect.no_content.value();
    content.filter(|content| !target.served && *content != Value::Null)
}

/// Returns findings about the changes that a parsed message needs before it is appended to the conversation, and that a response template
/// for the target cannot make.
pub(in super::super) fn left_to_do(analysis: &Analysis, target: Target) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let (Some(key), Some(_)) = (analysis.dialect.reasoning_key(), &analysis.reasoning)
        && reasoning_field(analysis, target) != key
        && target.served
    {
        findings.push(Finding::info(
            "reasoning-renamed",
            format!(
                "the engines take no field {key}: the reasoning is parsed into {REASONING_FIELD}, and is to be renamed before the message is appended, since the chat template reads {key}"
            ),
        ));
    }
    if let (Some(Slot::Part { kind, key }), Some(_)) =
        (&analysis.dialect.reasoning, &analysis.reasoning)
    {
        findings.push(Finding::info(
            "reasoning-as-part",
            format!(
                "the chat template reads the reasoning under {key} of a part of type {kind}: it is parsed into {REASONING_FIELD}, and is to be made such a part of the content, before its text, before the message is appended"
            ),
        ));
    }
    let needed = analysis.dialect.no_content.value();
    if needed
        .as_ref()
        .is_some_and(|content| *content != Value::Null)
        && needed != default_content(analysis, target)
    {
        findings.push(Finding::info(
            "content-left-out",
            "the engines take no default for content: a message with calls alone is parsed without it, and is to be given an empty one before it is appended, which the chat template asks for",
        ));
    }
    findings
}
