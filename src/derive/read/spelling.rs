//! The spelling that a message with calls must have so that the chat template renders them.

use super::anchor::{Anchor, end_of_words};
use super::cut::cut;
use crate::chat_template::RenderError;
use crate::derive::choice::{Candidate, DecisionId};
use crate::derive::evidence::finding::Finding;
use crate::derive::probe::{self, ArgumentsForm, Assistant, CALLS_KEY, Call, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;

/// A spelling in which the template renders a call, and its render.
pub(in crate::derive) struct Spelled {
    pub(in crate::derive) dialect: Dialect,
    pub(in crate::derive) full: String,
}

/// Finds a spelling in which a message with one call is rendered as one turn after which the conversation can go on; failing
/// that, one in which it is rendered. The error says why there is none, where the template ought to have one.
pub(in crate::derive) fn spell(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    standard: &Dialect,
    end: &str,
) -> Result<Spelled, Option<Box<Finding>>> {
    let one = Assistant::calling([probe::call(0)]);
    let mut found: Vec<(usize, Spelled)> = Vec::new();
    let mut not_understood = None;
    let mut elsewhere = None;
    let mut refusal = None;
    let mut nameless = false;
    let named_by_id = standard.naming_by_id();
    let spellings = standard.spellings().chain(named_by_id.spellings());
    let is_text = |dialect: &Dialect| dialect.arguments == ArgumentsForm::JsonText;
    for dialect in spellings.filter(|dialect| is_text(dialect) || !renderer.text_arguments) {
        // Whether the id is to be the name is asked only where calls are rendered without one.
        if dialect.named_by_id
            && (!nameless || found.iter().any(|(_, one)| !one.dialect.named_by_id))
        {
            break;
        }
        let full = match rendered(renderer, context, &dialect, &one) {
            Ok(Some(full)) => full,
            Ok(None) => {
                nameless |= renderer
                    .turn(context, &dialect.write(&one))
                    .is_ok_and(|turn| shows_arguments(&turn.full, &one.calls[0]));
                continue;
            }
            Err(error) => {
                refusal.get_or_insert(error);
                continue;
            }
        };
        let Some(turn_text) = anchor.turn(&full, &one.calls[0].name) else {
            elsewhere.get_or_insert_with(|| full[end_of_words(&full)..].to_owned());
            continue;
        };
        if cut(&renderer.pieces, turn_text, &one.calls, &renderer.choices).is_none() {
            not_understood.get_or_insert_with(|| turn_text.to_owned());
            continue;
        }
        let answer = probe::tool_result(&one.calls[0], probe::TOOL_RESULT);
        let goes_on = context.and(dialect.write(&one)).and(answer);
        let defects = usize::from(anchor.follows(turn_text, end))
            + usize::from(renderer.prompt(&goes_on).is_err());
        found.push((defects, Spelled { dialect, full }));
    }
    found.sort_by_key(|(defects, _)| *defects);
    let candidates = found.into_iter().map(|(defects, spelled)| {
        let name = spelled.dialect.describe_calls();
        let because = match defects {
            0 => "it is rendered as one turn, after which the conversation goes on",
            _ => "it is rendered, but as several turns, or nothing can follow it",
        };
        Candidate::new(name, name, because, spelled)
    });
    if let Some(spelled) = renderer
        .choices
        .choose(DecisionId::CallSpelling, candidates)
    {
        return Ok(spelled);
    }
    let finding = match (not_understood, refusal) {
        (None, _) if elsewhere.is_some() => Finding::error(
            "calls-not-understood",
            format!(
                "calls are rendered, but nothing before them is what begins a turn with content:\n{}",
                elsewhere.unwrap_or_default()
            ),
        ),
        (Some(said), _) => Finding::error(
            "calls-not-understood",
            format!(
                "calls are rendered, but not as JSON, nor as a name beside arguments that are JSON or stand in tags:\n{said}"
            ),
        ),
        (None, _) if nameless => Finding::error(
            "calls-without-name",
            "calls are rendered with their arguments but without their name, which can then only be told from the id that whoever appended the message gave them",
        ),
        (None, Some(error)) if renderer.constants().any(|constant| constant == CALLS_KEY) => {
            Finding::warning(
                "calls-not-rendered",
                format!(
                    "the chat template speaks of {CALLS_KEY}, but renders none in any spelling that was tried; {error}"
                ),
            )
        }
        _ => return Err(None),
    };
    Err(Some(Box::new(finding)))
}

/// The render of a message with calls, if every call is in it.
pub(in crate::derive) fn rendered(
    renderer: &Renderer<'_>,
    context: &Context,
    dialect: &Dialect,
    message: &Assistant,
) -> Result<Option<String>, RenderError> {
    let full = renderer.turn(context, &dialect.write(message))?.full;
    // The names of tools stand in the prompt as well.
    let turn = &full[end_of_words(&full)..];
    let shown = |call: &Call| turn.contains(&call.name) && shows_arguments(&full, call);
    Ok(message.calls.iter().all(shown).then_some(full))
}

fn shows_arguments(full: &str, call: &Call) -> bool {
    call.arguments
        .values()
        .all(|value| value.as_str().is_some_and(|text| full.contains(text)))
}
