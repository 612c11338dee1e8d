//! Another message that renders to the very text of one that did not come back.
//!
//! Where another message came back that renders alike, the round says so. But a reading may lose such a message otherwise, or read it as nothing at all,
//! and it is for the same reason that no better one will be found. So another message is looked for that is made of the message's own texts: with the
//! reasoning as the content or the other way round, and with both as one text, with the white space that the render has between or behind them.
//!
//! Where reasoning and content are both written `<p>…</p>`, `{"thinking": "It rains."}` renders as `{"content": "It rains."}` does.
//!
//! Only parts that can be seen in the render are moved: of a part that is not written nothing can be told. That costs a dozen renders for a
//! message that is lost, and none for others.

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

/// The messages that are made of the texts of a round's message.
fn candidates(round: &Round) -> Vec<Assistant> {
    let message = &round.probe.message;
    let turn = round.full.get(round.first..).unwrap_or_default();
    let seen = |text: &Option<String>, is_seen: bool, from: usize| {
        let text = text.clone().filter(|text| is_seen && !text.is_empty())?;
        let at = turn[from..].find(&text).map(|at| from + at);
        let at = at.or_else(|| turn.find(&text))?;
        Some((text, at))
    };
    let reasoning = seen(&message.reasoning, round.expected.reasoning.is_some(), 0);
    let thought = reasoning.as_ref().map_or(0, |(text, at)| at + text.len());
    let content = seen(&message.content, round.expected.content.is_some(), thought);
    let with = |reasoning: Option<&str>, content: Option<&str>| Assistant {
        reasoning: reasoning.map(str::to_owned),
        // A message without calls has a content, if only an empty one.
        content: content
            .map(str::to_owned)
            .or_else(|| message.calls.is_empty().then(String::new)),
        calls: message.calls.clone(),
    };
    let as_either = |text: &str| [with(None, Some(text)), with(Some(text), None)];
    match (reasoning, content) {
        (Some((thought, at)), Some((said, behind))) => {
            let mut all = vec![with(Some(&said), Some(&thought))];
            let both = turn.get(at..behind + said.len());
            let between = turn.get(at + thought.len()..behind);
            if let Some(both) = both.filter(|_| between.is_some_and(is_blank)) {
                all.extend(as_either(both));
            }
            all
        }
        (Some((text, at)), None) | (None, Some((text, at))) => {
            let mut ends = vec![at + text.len()];
            for c in turn[at + text.len()..].chars().take(MAX_SPACE) {
                if !python::is_space(c) {
                    break;
                }
                ends.extend(ends.last().map(|end| end + c.len_utf8()));
            }
            let texts = ends.into_iter().map(|end| &turn[at..end]);
            texts.flat_map(as_either).collect()
        }
        (None, None) => Vec::new(),
    }
}

fn is_blank(text: &str) -> bool {
    text.chars().all(python::is_space)
}
