//! A marker that closes the content before the turn ends, where there is a reasoning or a text under a further key.

use super::anchor::Anchor;
use super::turn_end::TurnEnd;
use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::probe::{self, Assistant, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;

/// Returns the text that ends a turn where a reasoning stands before the content, and a marker closes the content that nothing closes
/// elsewhere. `dialect` says which key counts as that of the reasoning, and `named` what the text under it is called.
pub(in crate::derive) fn beside(
    named: &str,
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    dialect: &Dialect,
    turn_end: &TurnEnd,
) -> Option<(String, Evidence)> {
    let written = |message: &Assistant| {
        let full = renderer.turn(context, &dialect.write(message)).ok()?.full;
        let turn = anchor.turn(&full, probe::CONTENT)?;
        let (before, end) = turn.split_once(probe::CONTENT)?;
        let reasons = before.contains(probe::REASONING);
        Some((end.to_owned(), reasons, full))
    };
    let plain = Assistant::saying(probe::CONTENT);
    let (end, _, without) = written(&plain)?;
    let (longer, true, with) = written(&plain.thinking(probe::REASONING))? else {
        return None;
    };
    let marker = match longer.strip_suffix(end.trim_start()) {
        Some(marker) => marker.trim(),
        // With a reasoning the turn itself ends otherwise, so that all of the text is taken.
        None => longer.trim(),
    };
    if marker.is_empty() {
        return None;
    }
    let evidence = Evidence {
        decision: "content close",
        marker: marker.to_owned(),
        reading: format!("what stands behind the content where there is a {named}"),
        left: RenderExcerpt::new(format!("without {named}"), without),
        right: RenderExcerpt::new(format!("with {named}"), with),
        places: Vec::new(),
    };
    let end = longer.trim();
    let end = end.strip_suffix(turn_end.epilogue.trim()).unwrap_or(end);
    Some((end.trim().to_owned(), evidence))
}
