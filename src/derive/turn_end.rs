//! What ends the model's turn? What follows its last word both at the end of a conversation and before the next message.

use super::anchor::Anchor;
use super::evidence::{Evidence, Sample};
use super::lab::{Context, Lab};
use super::text;
use crate::value::Value;

/// What ends a turn, white space included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TurnEnd {
    /// After every turn; empty where nothing ends it.
    pub(super) marker: String,
    /// What follows only at the end of the conversation, and belongs to it rather than to the turn.
    pub(super) epilogue: String,
}

/// Reads what follows `last_probe` in a rendered turn; empty where nothing ends it.
///
/// `first_probe` is the first value in the turn, from which it is found.
pub(super) fn read(
    lab: &Lab<'_>,
    context: &Context,
    anchor: &Anchor,
    message: &Value,
    (first_probe, last_probe): (&str, &str),
) -> Option<(TurnEnd, Evidence)> {
    let turn = lab.turn(context, message).ok()?;
    let tail = |render: &str| -> Option<String> {
        let said = anchor.turn(render, first_probe)?;
        let at = said.rfind(last_probe)? + last_probe.len();
        Some(said[at..].to_owned())
    };
    let at_end = tail(&turn.full)?;
    let answered = lab.answered(context, message).ok().flatten();
    let in_middle = answered.as_deref().and_then(tail);
    let end = match &in_middle {
        Some(middle) => text::snap_back(&at_end, text::common_prefix(&at_end, middle)),
        None => at_end.len(),
    };
    let marker = at_end[..end].to_owned();
    let evidence = Evidence {
        question: "turn end",
        marker: marker.clone(),
        reading: "what follows the answer both at the end and before the next message".to_owned(),
        left: Sample::new("at the end", turn.full),
        right: Sample::new("before the next message", answered.unwrap_or_default()),
    };
    let epilogue = at_end[end..].to_owned();
    Some((TurnEnd { marker, epilogue }, evidence))
}
