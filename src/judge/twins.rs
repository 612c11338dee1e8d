//! Another message that renders to the very text of one that did not come back.
//!
//! Where another message came back that renders alike, the round says so. But a reading may lose such a message otherwise, or read it as nothing at all,
//! and it is for the same reason that no better one will be found. So another message is looked for that is made of the message's own texts: with the
//! reasoning as the content or the other way round, and with both as one text, with the white space that the render has between or behind them.
//!
//! Where reasoning and content are both written `<p>…</p>`, `{"thinking": "It rains."}` renders as `{"content": "It rains."}` does.
//!
//! White space at the end of a text may be cut off, which makes no other message: so no text stays in its part. That costs a dozen renders for a message
//! that is lost, and none for others.

use super::Judge;
use super::message::Assistant;
use super::rounds::{Round, RoundId};
use crate::value::{Value, python};

/// How many characters of white space behind a text may belong to it.
const MAX_SPACE: usize = 4;

impl Judge<'_> {
    /// Returns another message that renders as that of the round does, as it is handed to the chat template; `None` where none is found.
    pub(crate) fn twin(&self, id: RoundId) -> Option<Value> {
        let (group, round) = self.round(id);
        let (place, further) = (&round.place.place, round.probe.further);
        let others = candidates(round).into_iter();
        let mut others = others.map(|other| group.manner.write(&other, further));
        others.find(|other| {
            let rendered = self.renderer.answered(place, other, &group.manner);
            *other != round.written && rendered.is_ok_and(|text| text == round.rendered)
        })
    }
}

/// The messages that are made of the texts of a round's message, each with a text in another part.
fn candidates(round: &Round) -> Vec<Assistant> {
    let message = &round.probe.message;
    let turn = round.full.get(round.first..).unwrap_or_default();
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let (thought, said) = (given(&message.reasoning), given(&message.content));
    let with = |reasoning: Option<&str>, content: Option<&str>| Assistant {
        reasoning: reasoning.map(str::to_owned),
        // A message without calls has a content, if only an empty one.
        content: content
            .map(str::to_owned)
            .or_else(|| message.calls.is_empty().then(String::new)),
        calls: message.calls.clone(),
    };
    match (thought, said) {
        (Some(thought), Some(said)) => {
            let mut all = vec![with(Some(&said), Some(&thought))];
            if let Some(both) = joined(turn, &thought, &said) {
                all.extend([with(None, Some(both)), with(Some(both), None)]);
            }
            all
        }
        (Some(thought), None) => {
            let texts = spaced(turn, &thought).into_iter();
            texts.map(|text| with(None, Some(text))).collect()
        }
        (None, Some(said)) => {
            let texts = spaced(turn, &said).into_iter();
            texts.map(|text| with(Some(text), None)).collect()
        }
        (None, None) => Vec::new(),
    }
}

/// A text as it stands in the turn, with none and with more and more of the white space behind it.
fn spaced<'t>(turn: &'t str, text: &str) -> Vec<&'t str> {
    let Some(at) = turn.find(text) else {
        return Vec::new();
    };
    let end = at + text.len();
    let space = turn[end..].char_indices().take(MAX_SPACE);
    let space = space.take_while(|(_, c)| python::is_space(*c));
    let ends = space.map(|(start, c)| end + start + c.len_utf8());
    let ends = std::iter::once(end).chain(ends);
    ends.map(|end| &turn[at..end]).collect()
}

/// Two texts as they stand in the turn with nothing but white space between; `None` where they do not.
fn joined<'t>(turn: &'t str, first: &str, second: &str) -> Option<&'t str> {
    let at = turn.find(first)?;
    let between = at + first.len();
    let second_at = between + turn[between..].find(second)?;
    is_blank(&turn[between..second_at]).then(|| &turn[at..second_at + second.len()])
}

fn is_blank(text: &str) -> bool {
    text.chars().all(python::is_space)
}
