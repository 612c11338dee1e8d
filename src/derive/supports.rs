//! What the chat template can take, tried out.

use serde::Serialize;

use super::analysis::{Analysis, after_tool};
use super::lab::{Context, Lab};
use super::probe::{self, Assistant};
use crate::value::Value;

/// What the chat template can take: each was rendered and looked for in the render.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Supports {
    /// A system message.
    pub system: bool,
    /// Conversations without tools.
    pub without_tools: bool,
    /// Tools, printed into the prompt.
    pub tools: bool,
    /// Messages with tool calls.
    pub tool_calls: bool,
    /// More than one call in a message.
    pub parallel_calls: bool,
    /// Content beside tool calls.
    pub content_with_calls: bool,
    /// Tool results.
    pub tool_results: bool,
    /// The message key of the reasoning that is rendered; absent where none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Variables beside the conversation that change the model's turn.
    pub kwargs: Vec<String>,
}

pub(super) fn read(lab: &Lab<'_>, analysis: &Analysis) -> Supports {
    let shows = |context: &Context, message: Option<&Assistant>, words: &[&str]| {
        let render = match message {
            Some(message) => lab
                .turn(context, &analysis.dialect.write(message))
                .map(|turn| turn.full),
            None => lab.prompt(context),
        };
        render.is_ok_and(|text| words.iter().all(|word| text.contains(word)))
    };
    let user = lab.user(false);
    let tooled = lab.user(true);
    let mut system = user.clone();
    system
        .history
        .insert(0, probe::message("system", probe::SYSTEM));
    let first = probe::call(0);
    let second = probe::call(1);
    let one = Assistant::calling([first.clone()]);
    let two = Assistant::calling([first.clone(), second.clone()]);
    let calls = analysis.calls.is_some();
    let mut kwargs: Vec<String> = analysis
        .settings
        .iter()
        .flat_map(|set| set.keys().map(ToString::to_string))
        .collect();
    kwargs.dedup();
    Supports {
        system: shows(&system, None, &[probe::SYSTEM]),
        without_tools: lab.without_tools,
        tools: tooled.tools.as_ref().is_some_and(|tools| {
            let name = tools
                .first()
                .and_then(|tool| tool.get("function")?.get("name"));
            name.and_then(Value::as_str)
                .is_some_and(|name| shows(&tooled, None, &[name]))
        }),
        tool_calls: calls,
        parallel_calls: calls && shows(&tooled, Some(&two), &[&first.name, &second.name]),
        content_with_calls: calls
            && shows(
                &tooled,
                Some(&one.with_content(probe::CONTENT)),
                &[&first.name, probe::CONTENT],
            ),
        tool_results: calls
            && shows(
                &after_tool(&tooled, &analysis.dialect),
                None,
                &[probe::TOOL_RESULT],
            ),
        reasoning: analysis.dialect.reasoning_key.clone(),
        kwargs,
    }
}
