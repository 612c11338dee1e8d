//! Texts under further keys of the message, beside its reasoning and its content: a plan, a verdict, sources.
//!
//! What stands before the content is read as a reasoning is. What stands behind it is not: of the text between the two, the part that
//! follows the content of a message without the further text as well closes the content. In `<say>…</say><from>…</from>#`, for example,
//! `</say>` does, since `</say>#` follows it elsewhere.

use super::anchor::Anchor;
use super::reasoning::{self, Shown};
use super::thought::{Opener, Reasoning};
use crate::derive::compare::text;
use crate::derive::probe::{self, Assistant, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::judge::slot::Slot;
use crate::value::Map;

/// A text under a further key of the message.
#[derive(Debug, Clone)]
pub(in crate::derive) struct Further {
    pub(in crate::derive) slot: Slot,
    /// The markers around the text.
    pub(in crate::derive) markers: Reasoning,
    /// True if the text is written as JSON, between quotes that are no part of the markers.
    pub(in crate::derive) is_json: bool,
    /// True if nothing closes the content before what opens the text.
    pub(in crate::derive) ends_content: bool,
}

/// Reads the markers around the text of a slot, which is rendered beside the content. `end` is what ends a turn with content.
pub(in crate::derive) fn read(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    settings: &[Map],
    slot: &Slot,
    end: &str,
) -> Option<Further> {
    let dialect = Dialect {
        reasoning: Some(slot.clone()),
        ..Dialect::standard()
    };
    let plain = Assistant::saying(probe::CONTENT);
    let message = plain.clone().thinking(probe::REASONING);
    let shown = settings.iter().find_map(|kwargs| {
        let context = context.under(kwargs);
        let full = renderer.turn(&context, &dialect.write(&message)).ok()?.full;
        let texts = [probe::CONTENT, probe::REASONING];
        let is_shown = texts.iter().all(|text| anchor.turn(&full, text).is_some());
        is_shown.then(|| Shown {
            dialect: dialect.clone(),
            context,
            plain: plain.clone(),
            next: probe::CONTENT.to_owned(),
            full,
        })
    })?;
    let thinking = |text: &str| plain.clone().thinking(text);
    let is_json = renderer.writes_as_json(&dialect, &thinking, probe::REASONING);
    let turn_text = anchor.turn(&shown.full, probe::REASONING)?;
    let (before, after) = turn_text.split_once(probe::REASONING)?;
    let (mut markers, ends_content) = match before.rsplit_once(probe::CONTENT) {
        Some((_, open)) => behind(renderer, &shown, (open, after), end)?,
        None => (
            reasoning::rendered(renderer, anchor, &shown, settings, end)?.0,
            false,
        ),
    };
    if is_json {
        markers.open = markers.open.strip_suffix('"')?.trim_end().to_owned();
        markers.close = markers.close.strip_prefix('"')?.trim_start().to_owned();
    }
    (!markers.open.is_empty()).then(|| Further {
        slot: slot.clone(),
        markers,
        is_json,
        ends_content,
    })
}

/// Reads the markers around a text that stands behind the content, from the texts before and behind it; and whether what opens it stands
/// right behind the content. If only the end of the turn follows it, that end closes it.
fn behind(
    renderer: &Renderer<'_>,
    shown: &Shown,
    (open, after): (&str, &str),
    end: &str,
) -> Option<(Reasoning, bool)> {
    let plain = shown.dialect.write(&shown.plain);
    let without = renderer.turn(&shown.context, &plain).ok()?.full;
    let (_, tail) = without.rsplit_once(&shown.next)?;
    let closes_content = renderer.pieces.shared_start(open, tail);
    let own = after.len() - renderer.pieces.shared_end(after, tail);
    let close = match after[..own].trim() {
        "" => end.trim(),
        own => own,
    };
    let markers = Reasoning {
        open: open[closes_content..].trim().to_owned(),
        close: close.to_owned(),
        opened_by: Opener::Model,
        opened_where: None,
        is_rendered: true,
        unopened: None,
        space: text::leading(after).to_owned(),
        spaced: true,
        parts: None,
        is_open_before_calls: false,
        filler: None,
    };
    Some((markers, open[..closes_content].trim().is_empty()))
}
