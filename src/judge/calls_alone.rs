//! Calls that a chat template renders as the model writes them only where another message follows, or an answer stands beside them.
//!
//! Some chat templates take the last message off the conversation when it is the assistant's, and write its content alone behind a generation prompt, so that an answer
//! can be gone on with. What such a template writes of calls is seen where a question follows, as calls are in every conversation that goes on. That render is cut where
//! the next message begins: behind an answer, that is what stands between the end that the answer has as the last message and the words of the user.
//!
//! Others write the header of a turn only before an answer, and calls beside which nothing is said without one, although the prompt ends with the header. Such calls are
//! rendered with an answer beside them, which is then taken out.

use super::manner::Manner;
use super::message::{Assistant, has_calls};
use super::probes;
use super::renderer::{Conversation, Renderer};
use crate::chat_template::{RenderError, Traced};
use crate::value::Value;

/// An answer that is taken out again.
const ANSWER: &str = "Foxglove loam";

/// An answer as it is rendered where it is the last message, and where another one follows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answered<'t> {
    pub(crate) last: &'t str,
    pub(crate) followed: &'t str,
    /// The words of the answer, and those of the message that follows it.
    pub(crate) said: &'t str,
    pub(crate) next: &'t str,
}

impl<'t> Answered<'t> {
    /// Returns the text with which the next message begins before its words: `<user>` of an answer that is rendered as `Yes<end>` where it is the last one, and as
    /// `Yes<end><user>Go on` where another one follows.
    fn header(&self) -> Option<&'t str> {
        let end = &self.last[self.last.rfind(self.said)? + self.said.len()..];
        let before = &self.followed[..self.followed.rfind(self.next)?];
        before[before.rfind(self.said)? + self.said.len()..].strip_prefix(end)
    }

    /// Returns the byte at which the next message begins in the render of another message that it follows; `None` where it does not begin there as behind the answer.
    pub(crate) fn next_in(&self, render: &str) -> Option<usize> {
        let before = &render[..render.rfind(self.next)?];
        before.strip_suffix(self.header()?).map(str::len)
    }
}

/// Returns the message with an answer beside its calls; `None` where it has an answer already, or no calls.
pub(crate) fn beside_answer(message: &Value) -> Option<Value> {
    let mut members = message.as_object()?.clone();
    let content = members.get("content");
    if !has_calls(message) || content.is_some_and(Value::is_truthy) {
        return None;
    }
    members.insert("content", Value::from(ANSWER));
    Some(Value::Object(members))
}

/// Returns the render without that answer.
pub(crate) fn without_answer(mut full: String) -> String {
    if let Some(at) = full.rfind(ANSWER) {
        full.replace_range(at..at + ANSWER.len(), "");
    }
    full
}

/// Returns true if the manner's calls alone are rendered without the header with which the prompt ends, and the very same with an answer beside them behind it, in one turn
/// with the answer.
pub(super) fn is_headless(renderer: &Renderer<'_>, place: &Conversation, manner: &Manner) -> bool {
    let rendered = || {
        let history = renderer.history(place, manner).ok()?;
        let prompt = renderer.prompt(place, manner).ok()?;
        let header = prompt.strip_prefix(&history)?.trim_end();
        let begun = format!("{history}{header}");
        let calls = manner.write(&Assistant::calling([probes::call(0)]), None);
        let alone = renderer.answered(place, &calls, manner).ok()?;
        let mut beside = beside_answer(&calls)?;
        manner.divide(&mut beside);
        let beside = renderer.answered(place, &beside, manner).ok()?;
        let answer = manner.write(&Assistant::saying(ANSWER), None);
        let answered = renderer.answered(place, &answer, manner).ok()?;
        let is_headless = !header.is_empty() && !alone.starts_with(&begun);
        // The same calls have to stand behind the answer, and in its turn.
        let written = alone.strip_prefix(&history)?.trim_start();
        let (before, behind) = beside.split_once(ANSWER)?;
        let between = behind.strip_suffix(written)?.trim();
        let (_, end) = answered.split_once(ANSWER)?;
        let end = end.trim();
        let is_within = between.is_empty() || !end.is_empty() && !between.starts_with(end);
        Some(is_headless && is_within && before.starts_with(&begun))
    };
    rendered().unwrap_or(false)
}

impl Renderer<'_> {
    /// The conversation and a message with calls, rendered with another message behind it, of which nothing is left, or with an answer beside the calls that is then
    /// taken out; `None` where the manner is to do neither.
    pub(super) fn calls_alone(
        &self,
        place: &Conversation,
        message: &Value,
        manner: &Manner,
    ) -> Result<Option<String>, RenderError> {
        if manner.is_followed && has_calls(message) {
            let followed = self.followed(place, message, manner)?;
            return Ok(followed.map(|(mut full, end)| {
                full.truncate(end);
                full
            }));
        }
        match manner.is_headless.then(|| beside_answer(message)) {
            Some(Some(mut beside)) => {
                manner.divide(&mut beside);
                let full = self.history(&place.and([beside]), manner)?;
                Ok(Some(without_answer(full)))
            }
            _ => Ok(None),
        }
    }

    /// Returns the conversation and the message with another one behind it, and the byte at which that begins; `None` where nothing tells it.
    fn followed(
        &self,
        place: &Conversation,
        message: &Value,
        manner: &Manner,
    ) -> Result<Option<(String, usize)>, RenderError> {
        let next = || self.said("user", probes::USER_AGAIN);
        let full = self.history(&place.and([message.clone(), next()]), manner)?;
        let answer = manner.write(&Assistant::saying(probes::CONTENT), None);
        let alone = self.history(&place.and([answer.clone()]), manner)?;
        let answered = self.history(&place.and([answer, next()]), manner)?;
        let answered = Answered {
            last: &alone,
            followed: &answered,
            said: probes::CONTENT,
            next: probes::USER_AGAIN,
        };
        Ok(answered.next_in(&full).map(|end| (full, end)))
    }

    /// Renders the conversation and further messages, the last one with calls, as where another message follows, or with an answer beside the calls that is then taken out;
    /// `None` where the manner is to do neither.
    pub(super) fn traced_alone(
        &self,
        place: &Conversation,
        further: &[Value],
        manner: &Manner,
        start: usize,
    ) -> Result<Option<Traced>, RenderError> {
        let Some((last, before)) = further.split_last() else {
            return Ok(None);
        };
        if manner.is_headless
            && let Some(mut beside) = beside_answer(last)
        {
            manner.divide(&mut beside);
            let further = [before, &[beside]].concat();
            let mut traced = self.traced_behind(place, &further, manner, start)?;
            if let Some(at) = traced.text.rfind(ANSWER) {
                traced.remove(at..at + ANSWER.len());
            }
            return Ok(Some(traced));
        }
        if !manner.is_followed || !has_calls(last) {
            return Ok(None);
        }
        let followed = self.followed(&place.and(before.to_vec()), last, manner)?;
        let Some((_, end)) = followed else {
            return Ok(None);
        };
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
        let answered = |followed| Answered {
            last: "[u]Hi[a]Yes[e]",
            followed,
            said: "Yes",
            next: "Go on",
        };
        let alike = answered("[u]Hi[a]Yes[e][u]Go on");
        assert_eq!(alike.header(), Some("[u]"));
        let called = "[u]Hi[a][c]f[/c][e]";
        assert_eq!(
            alike.next_in(&format!("{called}[u]Go on")),
            Some(called.len())
        );
        assert_eq!(alike.next_in(&format!("{called}[x]Go on")), None);
        let otherwise = answered("[u]Hi[a]Yes[u]Go on");
        assert_eq!(otherwise.header(), None, "the end is another one there");
        assert_eq!(otherwise.next_in(&format!("{called}[u]Go on")), None);
    }
}
