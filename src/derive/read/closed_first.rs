//! Turns that begin with the end of a reasoning which nothing opened, such as `</think>` before an answer without reasoning.

use super::anchor::Anchor;
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::probe::{self, Assistant, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::value::Map;

/// Returns the anchors behind which a turn begins with the closing marker of a reasoning that nothing opened, with that marker appended.
/// Some templates write `</think>` in this way before an answer without reasoning.
pub(in crate::derive) fn with_closed_reasoning(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    settings: &[Map],
    close: &str,
) -> Vec<(String, Evidence)> {
    let answer = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
    let mut found: Vec<(String, Evidence)> = Vec::new();
    for kwargs in settings {
        let context = context.under(kwargs);
        let Ok(turn) = renderer.turn(&context, &answer) else {
            continue;
        };
        for render in [turn.full.as_str(), turn.prompt.as_str()] {
            let Some(tail) = anchor.after_last(render) else {
                continue;
            };
            let lead = tail.split(probe::CONTENT).next().unwrap_or_default();
            if lead.trim() != close {
                continue;
            }
            let begin = render.len() - tail.len();
            let Some(header) = anchor
                .literals
                .iter()
                .find(|literal| render[..begin].ends_with(*literal))
            else {
                continue;
            };
            let marker = format!("{header}{}", lead.trim_end());
            if found.iter().any(|(known, _)| *known == marker) {
                continue;
            }
            let evidence = Evidence {
                decision: "anchor",
                marker: marker.clone(),
                reading: "where there is no reasoning the turn begins with the end of one"
                    .to_owned(),
                left: RenderExcerpt::new("the prompt", turn.prompt.as_str()),
                right: RenderExcerpt::new("answered", turn.full.as_str()),
                places: Vec::new(),
            };
            found.push((marker, evidence));
        }
    }
    found
}

/// Returns the evidence for a closing marker of a reasoning with which an answer without reasoning begins, where the prompt has neither it
/// nor an opening one.
pub(in crate::derive) fn closing_first(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    settings: &[Map],
    (open, close): (&str, &str),
) -> Option<Evidence> {
    let answer = Dialect::standard().write(&Assistant::saying(probe::CONTENT));
    settings.iter().find_map(|kwargs| {
        let turn = renderer.turn(&context.under(kwargs), &answer).ok()?;
        let rest = turn.full.strip_prefix(&turn.prompt)?;
        let opened = anchor.after_last(&turn.prompt)?.contains(open);
        (!opened && rest.trim_start().starts_with(close)).then(|| Evidence {
            decision: "reasoning close",
            marker: close.to_owned(),
            reading: "an answer without reasoning begins with the end of one".to_owned(),
            left: RenderExcerpt::new("the prompt", turn.prompt.as_str()),
            right: RenderExcerpt::new("answered", turn.full.as_str()),
            places: Vec::new(),
        })
    })
}
