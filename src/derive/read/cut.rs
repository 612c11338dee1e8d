//! Cutting a rendered turn where its calls are: what each call is made of, and the literals around them.
//!
//! The calls that were rendered are known, and so is how each form writes one: as the elements of a JSON array, as an object each, as an
//! object of arguments beside a name, or argument by argument. For each form the turn is searched for values that are these calls; where
//! all are found, the texts between them are the literals, in which names and ids become slots. A form that does not account for every call
//! is none. JSON is parsed at the places where a bracket opens, the outermost first, so that a form costs the length of the turn times the
//! depth to which its brackets nest. Of several forms that fit, the one counts in which the calls take the most of the text; the others are
//! candidates.

use std::ops::Range;

use super::arguments::{self, Pairs};
use super::json_dialect::{self, JsonDialect};
use crate::derive::choice::{Candidate, Choices, DecisionId};
use crate::derive::compare::json_shape::{self, JsonStep};
use crate::derive::compare::pieces::Pieces;
use crate::derive::compare::slot;
use crate::derive::probe::Call;
use crate::value::{Value, json};

/// The part of a call that one content parser reads. The rest of the call, in most cases its name, stands in the markers around that.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::derive) enum Body {
    /// All calls, as the elements of one JSON array.
    Array(Members),
    /// The whole call, a JSON object.
    Object(Members),
    /// The arguments, a JSON object.
    Json,
    /// The arguments, a JSON string that is the text of an object.
    Text,
    /// The arguments, an object in a dialect of JSON.
    Dialect(JsonDialect),
    /// The arguments, each with its key and its value apart.
    Pairs(Box<Pairs>),
}

/// The paths to the parts of a call in its JSON object.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::derive) struct Members {
    pub(in crate::derive) name: Vec<String>,
    pub(in crate::derive) arguments: Vec<String>,
    /// True if the arguments are a text that is JSON in its turn.
    pub(in crate::derive) is_text: bool,
    pub(in crate::derive) id: Option<Vec<String>>,
    /// The object's own keys in order.
    pub(in crate::derive) keys: Vec<String>,
}

impl Members {
    /// Returns the object's own keys without which there is no call, in order: those of the name and of the arguments.
    pub(in crate::derive) fn needed(&self) -> impl Iterator<Item = &String> {
        let keys = self.keys.iter();
        keys.filter(|key| {
            [&self.name, &self.arguments]
                .iter()
                .any(|path| path.first() == Some(key))
        })
    }

    /// Returns true if the object is the call as a message has it.
    pub(in crate::derive) fn is_as_it_is(&self) -> bool {
        let is = |path: &[String], keys: &[&str]| {
            path.iter().map(String::as_str).eq(keys.iter().copied())
        };
        let known = ["type", "id", "function"];
        is(&self.name, &["function", "name"])
            && is(&self.arguments, &["function", "arguments"])
            && self.keys.iter().all(|key| known.contains(&key.as_str()))
    }
}

/// A rendered turn with calls, cut where their bodies are.
#[derive(Debug)]
pub(in crate::derive) struct Cut {
    /// The texts before the first body, between the first and the second, ..., and after the last. The calls' names and ids are slots.
    pub(in crate::derive) literals: Vec<String>,
    pub(in crate::derive) body: Body,
}

/// A form in which the bodies of calls are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::derive) enum Form {
    Array,
    Object,
    Json,
    Text,
    Dialect,
    Pairs,
}

impl Form {
    /// All forms. Those come first in which the bodies take the most of the text.
    pub(in crate::derive) const ALL: [Self; 6] = [
        Self::Array,
        Self::Object,
        Self::Json,
        Self::Text,
        Self::Dialect,
        Self::Pairs,
    ];

    /// The form in a few words.
    pub(in crate::derive) fn describe(self) -> &'static str {
        match self {
            Self::Array => "one JSON array of all calls",
            Self::Object => "a JSON object for each call",
            Self::Json => "the name in a marker, the arguments as JSON",
            Self::Text => "the name in a marker, the arguments as text of JSON",
            Self::Dialect => "the name in a marker, the arguments in a dialect of JSON",
            Self::Pairs => "the name in a marker, each argument with its key apart",
        }
    }

    /// Finds the calls in a turn, if they are written in this form.
    pub(in crate::derive) fn cut(
        self,
        pieces: &Pieces,
        turn: &str,
        calls: &[Call],
        choices: &Choices,
    ) -> Option<Cut> {
        match self {
            Self::Array => array(turn, calls, choices),
            Self::Object => each(turn, calls, |rest, call| object(rest, call, choices)),
            Self::Json => named(each(turn, calls, json), calls),
            Self::Text => named(each(turn, calls, text), calls),
            Self::Dialect => named(each(turn, calls, dialect), calls),
            Self::Pairs => named(
                each(turn, calls, |rest, call| {
                    let (pairs, span) =
                        arguments::pairs(pieces, rest, &call.name, &call.arguments, choices)?;
                    Some((span, Body::Pairs(Box::new(pairs))))
                }),
                calls,
            ),
        }
    }
}

/// Finds the calls in a turn.
pub(in crate::derive) fn cut(
    pieces: &Pieces,
    turn: &str,
    calls: &[Call],
    choices: &Choices,
) -> Option<Cut> {
    Form::ALL
        .into_iter()
        .find_map(|form| form.cut(pieces, turn, calls, choices))
}

/// The cut, if the name of every call stands beside its body.
fn named(cut: Option<Cut>, calls: &[Call]) -> Option<Cut> {
    let cut = cut?;
    let is_beside = |index: usize| {
        let beside = cut.literals.iter().skip(index).take(2);
        beside
            .into_iter()
            .any(|literal| literal.contains(slot::NAME))
    };
    (0..calls.len()).all(is_beside).then_some(cut)
}

/// How often a call's name is looked for.
const MAX_NAMES: usize = 8;

/// The places where the call's name stands.
fn names<'t>(text: &'t str, call: &'t Call) -> impl Iterator<Item = Range<usize>> + 't {
    let found = text.match_indices(call.name.as_str());
    found.take(MAX_NAMES).map(|(at, name)| at..at + name.len())
}

/// Returns the outermost array whose items are the calls. Another value may wrap it, and the first call's name may also stand in front of
/// it.
fn array(turn: &str, calls: &[Call], choices: &Choices) -> Option<Cut> {
    let mut arrays = names(turn, &calls[0]).flat_map(|name| json_shape::around(turn, name.start));
    arrays.find_map(|(span, value)| {
        let items = value.as_array()?;
        (items.len() == calls.len()).then_some(())?;
        let members = items
            .iter()
            .zip(calls)
            .map(|(item, call)| members(item, call, choices))
            .collect::<Option<Vec<_>>>()?;
        Some(Cut {
            literals: vec![turn[..span.start].to_owned(), turn[span.end..].to_owned()],
            body: Body::Array(members.into_iter().next()?),
        })
    })
}

/// Cuts call by call. `find` says where in the rest of the turn the body of the next call is, and what it is made of.
fn each(
    turn: &str,
    calls: &[Call],
    find: impl Fn(&str, &Call) -> Option<(Range<usize>, Body)>,
) -> Option<Cut> {
    let mut bodies: Vec<(Range<usize>, Body)> = Vec::new();
    let mut at = 0;
    for call in calls {
        let (span, body) = find(&turn[at..], call)?;
        let span = at + span.start..at + span.end;
        at = span.end;
        bodies.push((span, body));
    }
    as_the_last(turn, &mut bodies);
    let mut literals: Vec<String> = Vec::new();
    let mut rest_from = 0;
    let mut before: Option<&Call> = None;
    for ((span, _), call) in bodies.iter().zip(calls) {
        let literal = slot::of_call(&turn[rest_from..span.start], call);
        literals.push(match before {
            Some(before) => slot::of_call(&literal, before),
            None => literal,
        });
        rest_from = span.end;
        before = Some(call);
    }
    literals.push(slot::of_call(&turn[rest_from..], before?));
    let (_, body) = bodies.into_iter().next()?;
    Some(Cut { literals, body })
}

/// Moves white space that seems to end each argument to where it begins one, if that is how the last call has it.
///
/// In `f\n- a: 1\ng\n- b: 2` a line feed stands before each argument. Behind those of `f` another one follows, so that it might as well
/// end them; what follows those of the last call tells that it does not.
fn as_the_last(turn: &str, bodies: &mut [(Range<usize>, Body)]) {
    let Some(((_, Body::Pairs(last)), others)) = bodies.split_last_mut() else {
        return;
    };
    for (span, body) in others {
        let Body::Pairs(pairs) = body else { return };
        let Some(space) = last.open.strip_suffix(pairs.open.as_str()) else {
            return;
        };
        let is_moved = pairs.value.iter().all(|one| one.close.ends_with(space));
        let stands = turn[..span.start].ends_with(space) && turn[..span.end].ends_with(space);
        if space.is_empty() || !space.trim().is_empty() || !is_moved || !stands {
            continue;
        }
        *span = span.start - space.len()..span.end - space.len();
        *pairs = last.clone();
    }
}

/// Returns the outermost object that is the call. The call's name may also stand in front of it.
fn object(rest: &str, call: &Call, choices: &Choices) -> Option<(Range<usize>, Body)> {
    let mut values = names(rest, call).flat_map(|name| json_shape::around(rest, name.start));
    values.find_map(|(span, value)| {
        let members = members(&value, call, choices)?;
        Some((span, Body::Object(members)))
    })
}

/// Returns the object of the call's arguments, found by the name of the first argument.
fn json(rest: &str, call: &Call) -> Option<(Range<usize>, Body)> {
    let key = call.arguments.keys().next()?;
    let found = rest.match_indices(key.as_str()).take(MAX_NAMES);
    let mut objects = found.flat_map(|(at, _)| json_shape::around(rest, at));
    let whole = Value::Object(call.arguments.clone());
    objects.find_map(|(span, value)| (value == whole).then_some((span, Body::Json)))
}

/// Returns the string of JSON that is the text of the call's arguments, found by the name of the first argument.
fn text(rest: &str, call: &Call) -> Option<(Range<usize>, Body)> {
    let key = call.arguments.keys().next()?;
    let whole = Value::Object(call.arguments.clone());
    let found = rest.match_indices(key.as_str()).take(MAX_NAMES);
    let mut strings = found.flat_map(|(at, _)| json_shape::strings_around(rest, at));
    strings.find_map(|(span, value)| {
        let is_whole = json::parse(value.as_str()?).is_ok_and(|value| value == whole);
        is_whole.then_some((span, Body::Text))
    })
}

fn dialect(rest: &str, call: &Call) -> Option<(Range<usize>, Body)> {
    let (json, span) = json_dialect::dialect(rest, &call.arguments)?;
    Some((span, Body::Dialect(json)))
}

impl Body {
    pub(in crate::derive) fn form(&self) -> Form {
        match self {
            Self::Array(_) => Form::Array,
            Self::Object(_) => Form::Object,
            Self::Json => Form::Json,
            Self::Text => Form::Text,
            Self::Dialect(_) => Form::Dialect,
            Self::Pairs(_) => Form::Pairs,
        }
    }

    /// Returns true if the arguments come as JSON has them.
    pub(in crate::derive) fn is_json(&self) -> bool {
        match self {
            Self::Array(members) | Self::Object(members) => !members.is_text,
            Self::Json => true,
            Self::Text | Self::Dialect(_) | Self::Pairs(_) => false,
        }
    }

    /// The character with which every body of the form begins, if it is always the same.
    pub(in crate::derive) fn first_sign(&self) -> Option<char> {
        match self {
            Self::Array(_) => Some('['),
            Self::Object(_) | Self::Json | Self::Dialect(_) => Some('{'),
            Self::Text => Some('"'),
            Self::Pairs(_) => None,
        }
    }
}

/// Finds the paths to the parts of `call` in its JSON object.
pub(in crate::derive) fn members(value: &Value, call: &Call, choices: &Choices) -> Option<Members> {
    let whole = Value::Object(call.arguments.clone());
    let part = |decision, places: Vec<Vec<JsonStep>>| {
        let paths = places.into_iter().filter_map(keys_only);
        let candidates = paths.enumerate().map(|(rank, path)| {
            let name = path.join(".");
            let because = match rank {
                0 => "it stands there first",
                _ => "it stands there too",
            };
            let means = format!("at {}", crate::value::json::quote(&name));
            Candidate::new(name, means, because, path)
        });
        choices.choose(decision, candidates)
    };
    let [name, id] =
        [&call.name, &call.id].map(|text| json_shape::find(value, &Value::from(text.as_str())));
    let name = part(DecisionId::NamePlace, name)?;
    // A value that was encoded twice is a text, which may be all that the message has of it.
    let texts = json_shape::find_text(value, &whole);
    let found = [json_shape::find(value, &whole), texts.clone()].concat();
    let arguments = part(DecisionId::ArgumentsPlace, found)?;
    let id = part(DecisionId::IdPlace, id);
    let keys: Vec<JsonStep> = arguments.iter().cloned().map(JsonStep::Key).collect();
    Some(Members {
        name,
        arguments,
        is_text: texts.contains(&keys),
        id,
        keys: value.as_object()?.keys().map(ToString::to_string).collect(),
    })
}

fn keys_only(path: Vec<JsonStep>) -> Option<Vec<String>> {
    path.into_iter()
        .map(|place| match place {
            JsonStep::Key(key) => Some(key),
            JsonStep::Index(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::probe;

    fn written(write: impl Fn(usize, &Call, &str) -> String) -> (String, [Call; 2]) {
        let calls = [probe::call_with(0, 1), probe::call_with(1, 1)];
        let texts = calls.iter().enumerate().map(|(index, call)| {
            let arguments = json::to_string(&Value::Object(call.arguments.clone()));
            write(index, call, &arguments)
        });
        (texts.collect(), calls)
    }

    fn found(text: &str, calls: &[Call]) -> Cut {
        cut(&Pieces::default(), text, calls, &Choices::default()).unwrap()
    }

    #[test]
    fn names_and_ids_become_slots() {
        let (text, calls) = written(|index, call, arguments| {
            format!(
                "<call id={}>{}:{index}|{arguments}</call>",
                call.id, call.name
            )
        });
        let found = found(&text, &calls);
        let (id, name) = (slot::ID, slot::NAME);
        let open = |index| format!("<call id={id}>{name}:{index}|");
        assert_eq!(
            found.literals,
            [open(0), format!("</call>{}", open(1)), "</call>".to_owned()]
        );
        assert_eq!(found.body, Body::Json);
    }

    #[test]
    fn arguments_of_all_calls_are_cut_as_those_of_the_last() {
        let calls = [probe::call_with(0, 2), probe::call_with(1, 2)];
        let lines = calls.iter().map(|call| {
            let arguments = call.arguments.iter();
            let arguments =
                arguments.map(|(key, value)| format!("\n- {key}: {}", value.as_str().unwrap()));
            format!("\n# {}{}", call.name, arguments.collect::<String>())
        });
        let text = lines.collect::<String>() + "</s>";
        let pieces = Pieces::of([], ["\n# ", "\n- ", ": ", "</s>"]);
        let found = cut(&pieces, &text, &calls, &Choices::default()).unwrap();
        let before = format!("\n# {}", slot::NAME);
        assert_eq!(found.literals, [before.clone(), before, "</s>".to_owned()]);
    }

    #[test]
    fn arguments_may_be_the_text_of_an_object() {
        let (text, calls) = written(|_, call, arguments| {
            let arguments = json::quote(arguments);
            format!("{{\"call\": \"{}\", \"with\": {arguments}}}\n", call.name)
        });
        let found = Form::Text.cut(&Pieces::default(), &text, &calls, &Choices::default());
        let found = found.unwrap();
        let open = format!("{{\"call\": \"{}\", \"with\": ", slot::NAME);
        assert_eq!(
            found.literals,
            [open.clone(), format!("}}\n{open}"), "}\n".to_owned()]
        );
        assert_eq!(found.body, Body::Text);
    }

    #[test]
    fn a_name_may_stand_behind_the_arguments() {
        let (text, calls) =
            written(|_, call, arguments| format!("<call>{arguments}<to>{}</call>", call.name));
        let found = found(&text, &calls);
        assert_eq!(found.literals[0], "<call>");
        assert_eq!(found.literals[2], format!("<to>{}</call>", slot::NAME));
    }
}
