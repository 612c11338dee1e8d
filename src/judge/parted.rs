//! Messages with an argument whose text reads as two arguments.
//!
//! Where a chat template writes `f(a=1, b=2)` and puts no quotes around texts, the text `1, b=2` of the argument `a` renders as the arguments `a` and
//! `b` do, and the list `["1, b=2"]` as the texts `["1` and `2"]` of the two. No parser can tell the two messages apart, and it is no fault of the one that reads neither: a reading may take the text for more
//! arguments than two, or for two of the same name.
//!
//! What stands between two arguments, and between a name and its value, is taken from a render of two plain arguments. The text is cut
//! wherever the like of that stands in it, and the message with two arguments counts if it renders to the same text. That costs one render
//! for each argument and one for each cut, of a message that is lost alone.

use std::borrow::Cow;

use super::manner::Manner;
use super::message::Assistant;
use super::renderer::Renderer;
use super::rounds::Round;
use crate::value::{Map, Value, json};

/// At how many places a text is cut.
const MAX_CUTS: usize = 64;

/// The values of two arguments that are rendered to see what stands between two.
const PLAIN: [&str; 2] = ["opal", "drift"];

/// Returns true if a message that has two arguments in the place of one of this message's renders to the same text.
pub(super) fn is_another(round: &Round, manner: &Manner, renderer: &Renderer<'_>) -> bool {
    let (message, place) = (&round.probe.message, &round.place.place);
    let render = |message: &Assistant| {
        let written = manner.write(message, round.probe.further);
        renderer.answered(place, &written, manner).ok()
    };
    let calls = message.calls.iter().enumerate();
    let mut arguments = calls.flat_map(|(at, call)| {
        let texts = call.arguments.iter();
        texts.map(move |(key, value)| (at, key.as_str(), written(value)))
    });
    arguments.any(|(at, key, text)| {
        let other = format!("{key}z");
        let with = |arguments: Map| {
            let mut message = message.clone();
            message.calls[at].arguments = arguments;
            message
        };
        let plain = [(key, PLAIN[0]), (other.as_str(), PLAIN[1])];
        let plain = plain.map(|(key, value)| (key, Value::from(value)));
        let Some(shown) = render(&with(Map::from_iter(plain))) else {
            return false;
        };
        let Some((between, behind_name)) = constants(&shown, &other) else {
            return false;
        };
        cuts(&text, between, behind_name).any(|[before, name, value]| {
            let all = &message.calls[at].arguments;
            if all.contains_key(name) {
                return false;
            }
            let parted = all.iter().flat_map(|(known, value_of)| {
                let is_cut = known.as_str() == key;
                let first = match is_cut {
                    true => Value::from(before),
                    false => value_of.clone(),
                };
                let second = is_cut.then(|| (name.to_owned(), Value::from(value)));
                std::iter::once((known.to_string(), first)).chain(second)
            });
            render(&with(parted.collect())).is_some_and(|text| text == round.rendered)
        })
    })
}

/// The value of an argument as a text: a text as it is, and anything else as JSON, which most chat templates write.
fn written(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text.as_str()),
        other => Cow::Owned(json::to_string(other)),
    }
}

/// The texts before and behind the name of the second of two plain arguments; `None` where one of them is empty.
fn constants<'t>(shown: &'t str, name: &str) -> Option<(&'t str, &'t str)> {
    let (before, value) = shown.rsplit_once(PLAIN[1])?.0.rsplit_once(name)?;
    let (_, between) = before.rsplit_once(PLAIN[0])?;
    (!between.is_empty() && !value.is_empty()).then_some((between, value))
}

/// The three parts of a text that reads as two arguments, for each place where it does: the first value, and the second name and value.
fn cuts<'t>(
    text: &'t str,
    between: &'t str,
    behind_name: &'t str,
) -> impl Iterator<Item = [&'t str; 3]> {
    let places = text.match_indices(between).take(MAX_CUTS);
    places.filter_map(move |(at, _)| {
        let (name, value) = text[at + between.len()..].split_once(behind_name)?;
        (!name.is_empty()).then(|| [&text[..at], name, value])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_the_like_of_two_arguments_stands_in_it() {
        let shown = "<f>|az=opal; azz=drift|";
        assert_eq!(constants(shown, "azz"), Some(("; ", "=")));
        let all: Vec<_> = cuts("1; b=2; c=3; d", "; ", "=").collect();
        assert_eq!(all, [["1", "b", "2; c=3; d"], ["1; b=2", "c", "3; d"]]);
        assert_eq!(cuts("1; =2", "; ", "=").count(), 0);
        assert_eq!(constants("opaldrift", "azz"), None);
    }
}
