//! Calls that a chat template renders only where another message follows.
//!
//! Some chat templates take the last message off the conversation when it is the assistant's, and write its content alone behind a generation prompt, so that an answer
//! can be gone on with. What such a template writes of calls is seen where a question follows, as calls are in every conversation that goes on. That render is cut where
//! the next message begins: behind an answer, that is what stands between the end that the answer has as the last message and the words of the user.

use super::manner::Manner;
use super::message::{Assistant, has_calls};
use super::probes;
use super::renderer::{Conversation, Renderer};
use crate::chat_template::{RenderError, Traced};
use crate::value::Value;

/// Returns the text with which the next message begins before its words `next`: `<user>` of an answer that is rendered as `Yes<end>` where it is the last one, and as
/// `Yes<end><user>Go on` where another one follows. `said` are the words of the answer.
pub(crate) fn next_header<'t>(
    last: &str,
    followed: &'t str,
    said: &str,
    next: &str,
) -> Option<&'t str> {
    let end = &last[last.rfind(said)? + said.len()..];
    let before = &followed[..followed.rfind(next)?];
    before[before.rfind(said)? + said.len()..].strip_prefix(end)
}

impl Renderer<'_> {
    /// Returns the conversation and the message with another one behind it, and the byte at which that begins.
    pub(super) fn followed(
        &self,
        place: &Conversation,
        message: &Value,
        manner: &Manner,
    ) -> Result<(String, usize), RenderError> {
        let next = || self.said("user", probes::USER_AGAIN);
        let full = self.history(&place.and([message.clone(), next()]), manner)?;
        let answer = manner.write(&Assistant::saying(probes::CONTENT), None);
        let alone = self.history(&place.and([answer.clone()]), manner)?;
        let answered = self.history(&place.and([answer, next()]), manner)?;
        let header = next_header(&alone, &answered, probes::CONTENT, probes::USER_AGAIN);
        let end = header
            .zip(full.rfind(probes::USER_AGAIN))
            .and_then(|(header, at)| full[..at].ends_with(header).then(|| at - header.len()));
        let end = end.unwrap_or(full.len());
        Ok((full, end))
    }

    /// Renders the conversation and further messages, the last one with calls, as where another message follows.
    pub(super) fn traced_followed(
        &self,
        place: &Conversation,
        further: &[Value],
        manner: &Manner,
        start: usize,
    ) -> Result<Option<Traced>, RenderError> {
        let Some((last, before)) = further.split_last() else {
            return Ok(None);
        };
        if !manner.is_followed || !has_calls(last) {
            return Ok(None);
        }
        let (_, end) = self.followed(&place.and(before.to_vec()), last, manner)?;
        let next = self.said("user", probes::USER_AGAIN);
        let further = [further, &[next]].concat();
        let mut traced = self.traced_behind(place, &further, manner, start)?;
        traced.truncate(end);
        Ok(Some(traced))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_message_begins_behind_the_end_of_the_answer() {
        let header = next_header("[u]Hi[a]Yes[e]", "[u]Hi[a]Yes[e][u]Go on", "Yes", "Go on");
        assert_eq!(header, Some("[u]"));
        let otherwise = next_header("[u]Hi[a]Yes[e]", "[u]Hi[a]Yes[u]Go on", "Yes", "Go on");
        assert_eq!(otherwise, None, "the end is another one there");
    }
}
