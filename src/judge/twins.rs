//! Another message that renders to the very text of one that did not come back.
//!
//! Where another message came back that renders alike, the round says so. But a reading may lose such a message otherwise, or read it as nothing at all,
//! and it is for the same reason that no better one will be found. So another message is looked for that is made of the message's own texts: with the
//! reasoning as the content or the other way round, and with both as one text, with the white space that the render has between or behind them.
//!
//! Where reasoning and content are both written `<p>…</p>`, `{"thinking": "It rains."}` renders as `{"content": "It rains."}` does.
//!
//! White space at the end of a text may be cut off, which makes no other message: so no text that is moved stays in its part.
//!
//! Then another message is looked for that has one text otherwise, where the chat template writes that text in capitals, in part or not at all. Where a call is
//! written `F["Rome"]`, neither the function's name nor the argument's can be told from it: `f` and `F` render alike, and so do `{"city": "Rome"}` and
//! `{"cityx": "Rome"}`.
//!
//! That costs some dozen renders for a message that is lost, and none for others.

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
        let moved = moved(round).into_iter();
        let others = moved.chain(reworded(&round.probe.message));
        let mut others = others.map(|other| group.manner.write(&other, further));
        others.find(|other| {
            let rendered = self.renderer.answered(place, other, &group.manner);
            *other != round.written && rendered.is_ok_and(|text| text == round.rendered)
        })
    }
}

/// The messages that are made of the texts of a round's message, each with a text in another part.
fn moved(round: &Round) -> Vec<Assistant> {
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

/// How many texts of a message are tried otherwise.
const MAX_REWORDED: usize = 12;

/// The messages in which one text of this one is another: with its letters in the other case, and with a letter more.
fn reworded(message: &Assistant) -> impl Iterator<Item = Assistant> {
    let at = texts(message).take(MAX_REWORDED).collect::<Vec<_>>();
    at.into_iter().flat_map(move |(at, text)| {
        let others = [swapped_case(text), format!("{text}x")].into_iter();
        let others = others.filter(move |other| other != text);
        others.filter_map(move |other| with_text(message, at, other))
    })
}

/// Where a text of a message stands. Calls and arguments are counted from zero.
#[derive(Debug, Clone, Copy)]
enum Place {
    Reasoning,
    Content,
    Name(usize),
    Key(usize, usize),
    Value(usize, usize),
}

/// The texts of a message that are not empty, and where they stand.
fn texts(message: &Assistant) -> impl Iterator<Item = (Place, &str)> {
    let reasoning = message
        .reasoning
        .iter()
        .map(|text| (Place::Reasoning, text));
    let content = message.content.iter().map(|text| (Place::Content, text));
    let calls = message.calls.iter().enumerate().flat_map(|(at, call)| {
        let arguments = call.arguments.iter().enumerate();
        let arguments = arguments.flat_map(move |(argument, (key, value))| {
            let value = value
                .as_str()
                .map(|text| (Place::Value(at, argument), text));
            std::iter::once((Place::Key(at, argument), key.as_str())).chain(value)
        });
        std::iter::once((Place::Name(at), call.name.as_str())).chain(arguments)
    });
    let texts = reasoning
        .chain(content)
        .map(|(place, text)| (place, text.as_str()));
    texts.chain(calls).filter(|(_, text)| !text.is_empty())
}

/// The message with another text in this place; `None` where a call would have two arguments of a name by that.
fn with_text(message: &Assistant, place: Place, text: String) -> Option<Assistant> {
    let mut other = message.clone();
    match place {
        Place::Reasoning => other.reasoning = Some(text),
        Place::Content => other.content = Some(text),
        Place::Name(at) => other.calls.get_mut(at)?.name = text,
        Place::Value(at, argument) => {
            let mut values = other.calls.get_mut(at)?.arguments.values_mut();
            *values.nth(argument)? = Value::from(text);
        }
        Place::Key(at, argument) => {
            let arguments = &mut other.calls.get_mut(at)?.arguments;
            if arguments.contains_key(&text) {
                return None;
            }
            let key = arguments.keys().nth(argument)?.clone();
            let value = arguments.shift_remove(&key)?;
            arguments.shift_insert(argument, text, value);
        }
    }
    Some(other)
}

fn swapped_case(text: &str) -> String {
    let swapped = text.chars().flat_map(|c| -> Vec<char> {
        match c.is_uppercase() {
            true => c.to_lowercase().collect(),
            false => c.to_uppercase().collect(),
        }
    });
    swapped.collect()
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
