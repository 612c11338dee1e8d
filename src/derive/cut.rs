//! Cutting a rendered turn where its calls are: what each call is made of, and the literals around them.

use std::ops::Range;

use super::arguments::{self, ArgumentTag, JsonDialect};
use super::choice::{About, Choices, Reading};
use super::json_shape::{self, Place};
use super::probe::Call;
use super::{slot, text};
use crate::value::{Value, json};

/// What a call is made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// Each call is a JSON object.
    Object(Members),
    /// All calls are the elements of one JSON array.
    Array(Members),
    /// The name stands in a tag and the arguments are a JSON object.
    Tagged {
        /// What stands between name and arguments.
        between: String,
    },
    /// The name stands in a tag and the arguments are an object in a dialect of JSON.
    Dialect {
        /// What stands between name and arguments.
        between: String,
        json: JsonDialect,
    },
    /// The name and each argument stand in tags of their own.
    Tags {
        /// What stands between name and arguments.
        between: String,
        argument: ArgumentTag,
    },
}

/// Where in a call's JSON object its parts are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Members {
    pub(super) name: Vec<String>,
    pub(super) arguments: Vec<String>,
    pub(super) id: Option<Vec<String>>,
    /// The object's own keys in order.
    pub(super) keys: Vec<String>,
    /// The object as text, when it is written in one go: before the name, between name and arguments, after them. The call's id
    /// is a slot.
    pub(super) literals: [String; 3],
}

/// One rendered turn with calls, cut where the calls are.
#[derive(Debug)]
pub(super) struct Cut {
    /// Before the first call, between the first and the second, ..., after the last. The calls' ids are slots.
    pub(super) literals: Vec<String>,
    pub(super) shape: Shape,
}

/// A form in which calls are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Array,
    Object,
    Tagged,
    Dialect,
    Tags,
}

impl Form {
    /// The forms, those first that take the most for the calls' own.
    pub(super) const ALL: [Self; 5] = [
        Self::Array,
        Self::Object,
        Self::Tagged,
        Self::Dialect,
        Self::Tags,
    ];

    /// The form in a few words.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Array => "one JSON array of all calls",
            Self::Object => "a JSON object for each call",
            Self::Tagged => "the name in a tag, the arguments as JSON",
            Self::Dialect => "the name in a tag, the arguments in a dialect of JSON",
            Self::Tags => "the name in a tag, each argument in tags",
        }
    }

    /// Finds the calls in a turn, if they are written in this form.
    pub(super) fn cut(self, said: &str, calls: &[Call], choices: &Choices) -> Option<Cut> {
        match self {
            Self::Array => array(said, calls, choices),
            Self::Object => each(said, calls, |rest, call| object(rest, call, choices)),
            Self::Tagged => each(said, calls, tagged),
            Self::Dialect => each(said, calls, dialect),
            Self::Tags => each(said, calls, tags),
        }
    }
}

/// Finds the calls in a turn.
pub(super) fn cut(said: &str, calls: &[Call], choices: &Choices) -> Option<Cut> {
    Form::ALL
        .into_iter()
        .find_map(|form| form.cut(said, calls, choices))
}

/// How often a call's name is looked for.
const MAX_NAMES: usize = 8;

/// The places where the call's name stands.
fn names<'t>(text: &'t str, call: &'t Call) -> impl Iterator<Item = Range<usize>> + 't {
    let found = text.match_indices(call.name.as_str());
    found.take(MAX_NAMES).map(|(at, name)| at..at + name.len())
}

/// The outermost array that is one of calls, wherever it stands: another value may wrap it, and the name may be said before.
fn array(said: &str, calls: &[Call], choices: &Choices) -> Option<Cut> {
    let mut arrays = names(said, &calls[0]).flat_map(|name| json_shape::around(said, name.start));
    arrays.find_map(|(span, value)| {
        let items = value.as_array()?;
        (items.len() == calls.len()).then_some(())?;
        let members = items
            .iter()
            .zip(calls)
            .map(|(item, call)| members(item, call, &said[span.clone()], choices))
            .collect::<Option<Vec<_>>>()?;
        Some(Cut {
            literals: vec![said[..span.start].to_owned(), said[span.end..].to_owned()],
            shape: Shape::Array(members.into_iter().next()?),
        })
    })
}

/// Cuts call by call. `find` says where in the rest of the turn the next call is, and what it is made of.
fn each(
    said: &str,
    calls: &[Call],
    find: impl Fn(&str, &Call) -> Option<(Range<usize>, Shape)>,
) -> Option<Cut> {
    let mut literals: Vec<String> = Vec::new();
    let mut shape: Option<Shape> = None;
    let mut rest = said;
    let mut before: Option<&Call> = None;
    for call in calls {
        let (span, found) = find(rest, call)?;
        let literal = slot::of_call(&rest[..span.start], call);
        literals.push(match before {
            Some(before) => slot::of_call(&literal, before),
            None => literal,
        });
        rest = &rest[span.end..];
        shape = Some(match shape {
            None => found,
            Some(first) => first.common_with(&found),
        });
        before = Some(call);
    }
    literals.push(slot::of_call(rest, before?));
    Some(Cut {
        literals,
        shape: shape?,
    })
}

/// The outermost object that is the call, wherever in it or before it the name is said.
fn object(rest: &str, call: &Call, choices: &Choices) -> Option<(Range<usize>, Shape)> {
    let mut values = names(rest, call).flat_map(|name| json_shape::around(rest, name.start));
    values.find_map(|(span, value)| {
        let members = members(&value, call, &rest[span.clone()], choices)?;
        Some((span, Shape::Object(members)))
    })
}

fn tagged(rest: &str, call: &Call) -> Option<(Range<usize>, Shape)> {
    let key = call.arguments.keys().next()?;
    named(rest, call).find_map(|name| {
        let said = &rest[name.end..];
        let (span, value) = json_shape::around(said, said.find(key.as_str())?).next()?;
        (value == Value::Object(call.arguments.clone())).then_some(())?;
        let between = slot::of_call(&said[..span.start], call);
        Some((name.start..name.end + span.end, Shape::Tagged { between }))
    })
}

fn dialect(rest: &str, call: &Call) -> Option<(Range<usize>, Shape)> {
    named(rest, call).find_map(|name| {
        let (json, span) = arguments::dialect(&rest[name.end..], &call.arguments)?;
        let between = slot::of_call(&rest[name.end..name.end + span.start], call);
        Some((
            name.start..name.end + span.end,
            Shape::Dialect { between, json },
        ))
    })
}

fn tags(rest: &str, call: &Call) -> Option<(Range<usize>, Shape)> {
    named(rest, call).find_map(|name| {
        let (tags, len) = arguments::tags(&rest[name.end..], &call.arguments)?;
        let shape = Shape::Tags {
            between: slot::of_call(&tags.before, call),
            argument: tags.argument,
        };
        Some((name.start..name.end + len, shape))
    })
}

/// Where the call's name is. With nothing before it the name could be any word, and says nothing.
fn named<'t>(rest: &'t str, call: &'t Call) -> impl Iterator<Item = Range<usize>> + 't {
    names(rest, call).filter(|name| !text::tokens(&rest[..name.start]).is_empty())
}

impl Shape {
    pub(super) fn form(&self) -> Form {
        match self {
            Self::Array(_) => Form::Array,
            Self::Object(_) => Form::Object,
            Self::Tagged { .. } => Form::Tagged,
            Self::Dialect { .. } => Form::Dialect,
            Self::Tags { .. } => Form::Tags,
        }
    }

    /// The same shape with a slot wherever another call has another number.
    fn common_with(self, other: &Self) -> Self {
        let common = |a: String, b: &str| {
            if a != b && slot::without_numbers(&a) == slot::without_numbers(b) {
                slot::without_numbers(&a)
            } else {
                a
            }
        };
        match (self, other) {
            (Self::Tagged { between }, Self::Tagged { between: b }) => Self::Tagged {
                between: common(between, b),
            },
            (Self::Tags { between, argument }, Self::Tags { between: b, .. }) => Self::Tags {
                between: common(between, b),
                argument,
            },
            (Self::Dialect { between, json }, Self::Dialect { between: b, .. }) => Self::Dialect {
                between: common(between, b),
                json,
            },
            (shape, _) => shape,
        }
    }
}

/// Where the parts of `call` are in its JSON object.
fn members(value: &Value, call: &Call, written: &str, choices: &Choices) -> Option<Members> {
    let whole = Value::Object(call.arguments.clone());
    let part = |question, wanted: &Value| {
        let places = json_shape::find(value, wanted).into_iter();
        let places = places.filter_map(keys_only);
        let readings = places.enumerate().map(|(rank, path)| {
            let way = path.join(".");
            let because = match rank {
                0 => "it stands there first",
                _ => "it stands there too",
            };
            let means = format!("at {}", json::quote(&way));
            Reading::new(way, means, because, path)
        });
        choices.choose(question, About::Calls, readings)
    };
    let name = part("place of the name", &Value::from(call.name.as_str()))?;
    let arguments = part("place of the arguments", &whole)?;
    let id = part("place of the id", &Value::from(call.id.as_str()));
    let literals = written
        .split_once(&json::quote(&call.name))
        .and_then(|(before, rest)| {
            let (between, after) = rest.split_once(&json::to_string(&whole))?;
            let literals = [before, between, after];
            Some(literals.map(|literal| literal.replace(&call.id, &slot::ID.to_string())))
        })
        .unwrap_or_default();
    Some(Members {
        name,
        arguments,
        id,
        keys: value.as_object()?.keys().map(ToString::to_string).collect(),
        literals,
    })
}

fn keys_only(path: Vec<Place>) -> Option<Vec<String>> {
    path.into_iter()
        .map(|place| match place {
            Place::Key(key) => Some(key),
            Place::Index(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::probe;
    use super::*;

    #[test]
    fn ids_and_numbers_become_slots() {
        let calls = [probe::call_with(0, 1), probe::call_with(1, 1)];
        let written: String = calls
            .iter()
            .enumerate()
            .map(|(index, call)| {
                let arguments = json::to_string(&Value::Object(call.arguments.clone()));
                format!(
                    "<call id={}>{}:{index}|{arguments}</call>",
                    call.id, call.name
                )
            })
            .collect();
        let found = cut(&written, &calls, &Choices::default()).unwrap();
        let open = format!("<call id={}>", slot::ID);
        assert_eq!(
            found.literals,
            [open.clone(), format!("</call>{open}"), "</call>".to_owned()]
        );
        let between = format!(":{}|", slot::NUMBER);
        assert_eq!(found.shape, Shape::Tagged { between });
    }
}
