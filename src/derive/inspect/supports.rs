//! The short answers that stand in the report of a derivation.

use serde::Serialize;

use super::subject::Subject;
use super::{calls, results, system, tools};
use crate::derive::read::analysis::Analysis;

/// The features that the chat template can take: each was rendered and looked for in the render.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Supports {
    /// True if it takes a system message.
    pub system: bool,
    /// True if it takes conversations without tools.
    pub without_tools: bool,
    /// True if it prints tools into the prompt.
    pub tools: bool,
    /// True if it takes messages with tool calls.
    pub tool_calls: bool,
    /// True if it takes more than one call in a message.
    pub parallel_calls: bool,
    /// True if it takes content beside tool calls.
    pub content_with_calls: bool,
    /// True if it takes tool results.
    pub tool_results: bool,
    /// The message key of the reasoning that is rendered; absent where none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Variables beside the conversation that change the model's turn.
    pub kwargs: Vec<String>,
}

pub(in crate::derive) fn read(subject: &Subject<'_>, analysis: &Analysis) -> Supports {
    let calls = analysis.calls.is_some();
    let mut kwargs: Vec<String> = analysis
        .settings
        .iter()
        .flat_map(|set| set.keys().map(ToString::to_string))
        .collect();
    kwargs.dedup();
    Supports {
        system: system::outcome(subject).is_rendered(),
        without_tools: subject.renderer.without_tools,
        tools: tools::outcome(subject).is_rendered(),
        tool_calls: calls,
        parallel_calls: calls && calls::parallel(subject).is_in_text(),
        content_with_calls: calls && calls::beside(subject).0.is_rendered(),
        tool_results: calls && results::outcome(subject).is_in_text(),
        reasoning: subject.dialect.reasoning_key(),
        kwargs,
    }
}
