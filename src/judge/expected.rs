//! The expectation of a round: all that can be seen of a message in its turn must come back, and nothing else.

use super::message::{Assistant, CALLS_KEY, Call};
use super::probes::Probe;
use super::shown;
use crate::chat_template::{InputPath, Traced};
use crate::value::{Map, Value, python};

/// The parts of a message that can be seen.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Expected {
    pub(super) reasoning: Option<String>,
    pub(super) further: Option<String>,
    pub(super) content: Option<String>,
    pub(super) calls: Vec<ExpectedCall>,
}

/// The parts of a call that can be seen.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExpectedCall {
    pub(super) name: Option<String>,
    pub(super) arguments: Map,
    pub(super) id: Option<String>,
    /// The whole call.
    pub(super) call: Call,
}

/// The render in which a message is looked for.
pub(super) struct Sight<'r> {
    /// The text that was rendered after the conversation.
    pub(super) turn: &'r str,
    /// The byte of the render at which the turn begins.
    pub(super) start: usize,
    /// The places of the reasoning, the further text and the content in the inputs.
    pub(super) places: [Option<InputPath>; 3],
    /// The message's place in the inputs.
    pub(super) message: &'r InputPath,
    /// The origins, where they can be had; they are asked for only where the text does not tell.
    pub(super) traced: &'r dyn Fn() -> Option<&'r Traced>,
}

impl Expected {
    /// Returns the parts of the message that can be seen in the text rendered after the conversation, and the byte at which the first of
    /// them begins; `None` if nothing can be seen.
    pub(super) fn of(probe: &Probe, sight: &Sight<'_>) -> Option<(Self, usize)> {
        let traced = sight.traced;
        let mut first: Option<usize> = None;
        let mut at = |place: usize| first = Some(first.map_or(place, |first| first.min(place)));
        let mut expected = Self::default();
        let message = &probe.message;
        let texts = [
            (message.reasoning.as_deref(), &mut expected.reasoning),
            (probe.further, &mut expected.further),
            (message.content.as_deref(), &mut expected.content),
        ];
        for ((text, slot), place) in texts.into_iter().zip(&sight.places) {
            let seen = text.and_then(|text| {
                found(text, sight.turn).or_else(|| {
                    let (at, seen) = shown::text(traced()?, sight.start, place.as_ref()?, text)?;
                    Some((at - sight.start, seen))
                })
            });
            // The content parser `text` strips white space from both ends, whoever wrote it, so none can be expected there.
            let seen = seen.map(|(at, seen)| (at, seen.trim_matches(python::is_space)));
            if let Some((place, seen)) = seen.filter(|(_, seen)| !seen.is_empty()) {
                at(place);
                *slot = Some(seen.to_owned());
            }
        }
        for (index, call) in message.calls.iter().enumerate() {
            let of_call = sight.message.then(CALLS_KEY).then(index);
            // A call before it may have the same name and the same texts.
            let of_others = &message.calls[..index];
            let alone = |text: &str| {
                let is_other = of_others.iter().any(|other| says(other, text));
                let (at, _) = found(text, sight.turn).filter(|_| !is_other)?;
                Some(at)
            };
            let name = alone(&call.name).or_else(|| {
                let place = of_call.then("function").then("name");
                Some(shown::text(traced()?, sight.start, &place, &call.name)?.0 - sight.start)
            });
            // A call that is seen by its arguments has its name, too, even where that is written for a call before it alone.
            let said_before = found(&call.name, sight.turn).map(|(at, _)| at);
            let texts = call.arguments.values().filter_map(Value::as_str);
            let argument = texts.filter_map(alone).min();
            let argument = argument.or_else(|| {
                let place = of_call.then("function").then("arguments");
                let written = shown::text(traced()?, sight.start, &place, "")?;
                Some(written.0 - sight.start)
            });
            // Of an id that the chat template cuts, the part that it writes is all that there is.
            let id = found(&call.id, sight.turn).or_else(|| {
                may_be_cut(&call.id, sight.turn).then_some(())?;
                let place = of_call.then("id");
                let (at, seen) = shown::text(traced()?, sight.start, &place, &call.id)?;
                (seen.len() < call.id.len()).then_some((at - sight.start, seen))
            });
            if name.is_none() && argument.is_none() {
                continue;
            }
            let id_at = id.map(|(at, _)| at);
            [name, argument, id_at]
                .into_iter()
                .flatten()
                .for_each(&mut at);
            expected.calls.push(ExpectedCall {
                name: name.or(said_before).map(|_| call.name.clone()),
                arguments: match argument {
                    Some(_) => call.arguments.clone(),
                    None => Map::new(),
                },
                id: id.map(|(_, seen)| seen.to_owned()),
                call: call.clone(),
            });
        }
        Some((expected, first?))
    }

    /// Leaves out the arguments that hold nothing and cannot be seen: `same` says whether a message without one of them renders
    /// the same.
    pub(super) fn forget_unseen(&mut self, same: impl Fn(&Assistant) -> bool) {
        for index in 0..self.calls.len() {
            let arguments = self.calls[index].arguments.clone();
            let empty = arguments.iter().filter(|(_, value)| holds_nothing(value));
            for (key, _) in empty {
                let mut without = self.shown();
                without.calls[index].arguments.shift_remove(key);
                if same(&without) {
                    self.calls[index].arguments.shift_remove(key);
                }
            }
        }
    }

    /// The message with nothing but what can be seen.
    pub(super) fn shown(&self) -> Assistant {
        Assistant {
            reasoning: self.reasoning.clone(),
            content: self.content.clone(),
            calls: self
                .calls
                .iter()
                .map(|expected| Call {
                    arguments: expected.arguments.clone(),
                    ..expected.call.clone()
                })
                .collect(),
        }
    }

    /// Returns true if the ids of all calls can be seen.
    pub(super) fn has_ids(&self) -> bool {
        !self.calls.is_empty() && self.calls.iter().all(|call| call.id.is_some())
    }
}

/// Returns true if the call has the text as its name or as the value of an argument.
fn says(call: &Call, text: &str) -> bool {
    let mut values = call.arguments.values().filter_map(Value::as_str);
    call.name == text || values.any(|value| value == text)
}

fn holds_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Returns the text and the byte at which it stands in a render as it is. A short one may stand there by chance, and is not looked for.
fn found<'t>(text: &'t str, turn: &str) -> Option<(usize, &'t str)> {
    let at = turn.find(text).filter(|_| text.chars().count() >= LEAST)?;
    Some((at, text))
}

/// Returns true if characters of an id stand in a turn one after the other, as they do of one that is cut. Where none do, its origins need not be asked for.
fn may_be_cut(id: &str, turn: &str) -> bool {
    let characters: Vec<char> = id.chars().collect();
    let mut parts = characters.windows(LEAST);
    parts.any(|part| turn.contains(&part.iter().collect::<String>()))
}

/// The characters that a text must have to be found by itself.
const LEAST: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json;

    #[test]
    fn what_has_something_in_it_holds_something() {
        for (value, nothing) in [
            ("null", true),
            (r#""""#, true),
            ("[]", true),
            ("{}", true),
            (r#"" ""#, false),
            (r#""a""#, false),
            ("[null]", false),
            (r#"{"a": null}"#, false),
            ("0", false),
            ("false", false),
        ] {
            let value = json::parse(value).unwrap();
            assert_eq!(holds_nothing(&value), nothing, "{value:?}");
        }
    }
}
