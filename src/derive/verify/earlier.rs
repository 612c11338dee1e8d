//! Rounds with a message that is not the last of its conversation.
//!
//! Some templates write the last message as if their own prompt went on with it. Where that prompt has opened a reasoning,
//! an answer without one is then written as reasoning that nothing closes. How the model writes an answer, such a template
//! shows in earlier turns.

use super::super::lab::{Context, Turn};
use super::super::probe::Assistant;
use super::round::{self, Bench, Outcome, Reason, Split};
use crate::value::Value;

impl Bench<'_> {
    /// Whether the turn goes on from a prompt that opens a reasoning and never closes it, the message having none.
    pub(super) fn is_written_as_reasoning(&self, message: &Assistant, turn: &Turn) -> bool {
        let (Some(reasoning), Some(said), Some(prompted)) = (
            &self.analysis.reasoning,
            turn.full.strip_prefix(&turn.prompt),
            self.analysis.anchor.after_last(&turn.prompt),
        ) else {
            return false;
        };
        message.reasoning.is_none()
            && prompted.trim() == reasoning.open
            && !said.contains(&reasoning.close)
    }

    /// Renders `message` in `context` with another message after it, parses its turn, and compares.
    pub(super) fn run_earlier(&self, context: &Context, message: &Assistant) -> Outcome {
        let (written, split) = match self.earlier(context, message) {
            Ok(found) => found,
            Err(reason) => return Outcome::Skipped(reason),
        };
        if let Some(part) = round::missing(message, &split.1) {
            return Outcome::Skipped(Reason::NotRendered(part));
        }
        self.compare(&[split], message, &written)
    }

    /// The message as written and its turn where another message follows it: the text before it and its own.
    pub(super) fn earlier(
        &self,
        context: &Context,
        message: &Assistant,
    ) -> Result<(Value, Split), Reason> {
        let written = self.analysis.dialect.write(message);
        let full = self
            .lab
            .answered(context, &written)
            .map_err(|error| Reason::Refused(error.to_string()))?
            .ok_or(Reason::NotRendered("message"))?;
        let said = round::end_of_context(context, &full);
        let first = round::first_visible(&full[said..], message)
            .map(|at| said + at)
            .ok_or(Reason::NotRendered("message"))?;
        let anchor = &self.analysis.anchor;
        let start = anchor
            .after_last(&full[..first])
            .map(|rest| first - rest.len())
            .filter(|start| *start >= said)
            .ok_or(Reason::Unmarked)?;
        let turn_end = &self.analysis.turn_end;
        let calls = self.analysis.calls.iter().map(|calls| &calls.turn_end);
        let ends = turn_end.markers.iter().chain(calls);
        let end = ends
            .map(|marker| marker.trim())
            .filter(|marker| !marker.is_empty())
            .filter_map(|marker| Some(full[first..].rfind(marker)? + first + marker.len()))
            .max()
            .ok_or(Reason::Unmarked)?;
        let response = &full[start..end];
        if anchor.follows(response, turn_end.marker()) {
            return Err(Reason::SeveralTurns);
        }
        Ok((written, (full[..start].to_owned(), response.to_owned())))
    }
}
