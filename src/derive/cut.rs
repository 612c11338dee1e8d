//! Cutting a rendered turn where its calls are: what each call is made of, and the literals around them.

use std::ops::Range;

use super::arguments::{self, ArgumentTag, JsonDialect};
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
    /// The object as text, when it is written in one go: before the name, between name and arguments, after them.
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
    pub(super) fn cut(self, said: &str, calls: &[Call]) -> Option<Cut> {
        match self {
            Self::Array => array(said, calls),
            Self::Object => each(said, calls, object),
            Self::Tagged => each(said, calls, tagged),
            Self::Dialect => each(said, calls, dialect),
            Self::Tags => each(said, calls, tags),
        }
    }
}

/// Finds the calls in a turn.
pub(super) fn cut(said: &str, calls: &[Call]) -> Option<Cut> {
    Form::ALL.into_iter().find_map(|form| form.cut(said, calls))
}

fn array(said: &str, calls: &[Call]) -> Option<Cut> {
    let (span, value) = json_shape::outermost(said, 0, said.find(&calls[0].name)?)?;
    let items = value.as_array()?;
    let members = items
        .iter()
        .zip(calls)
        .map(|(item, call)| members(item, call, &said[span.clone()]))
        .collect::<Option<Vec<_>>>()?;
    (items.len() == calls.len()).then_some(())?;
    Some(Cut {
        literals: vec![said[..span.start].to_owned(), said[span.end..].to_owned()],
        shape: Shape::Array(members.into_iter().next()?),
    })
}

/// Cuts call by call. `find` says where in the rest of the turn the next call is, and what it is made of.
fn each(
    said: &str,
    calls: &[Call],
    find: impl Fn(&str, &Call) -> Option<(Range<usize>, Shape)>,
) -> Option<Cut> {
    let mut literals = Vec::new();
    let mut shape: Option<Shape> = None;
    let mut rest = said;
    for call in calls {
        let (span, found) = find(rest, call)?;
        literals.push(rest[..span.start].replace(&call.id, &slot::ID.to_string()));
        rest = &rest[span.end..];
        shape = Some(match shape {
            None => found,
            Some(first) => first.common_with(&found),
        });
    }
    literals.push(rest.to_owned());
    Some(Cut {
        literals,
        shape: shape?,
    })
}

fn object(rest: &str, call: &Call) -> Option<(Range<usize>, Shape)> {
    let (span, value) = json_shape::outermost(rest, 0, rest.find(&call.name)?)?;
    let members = members(&value, call, &rest[span.clone()])?;
    Some((span, Shape::Object(members)))
}

fn tagged(rest: &str, call: &Call) -> Option<(Range<usize>, Shape)> {
    let name = named(rest, call)?;
    let key = call.arguments.keys().next()?;
    let key = name.end + rest[name.end..].find(key.as_str())?;
    let (span, value) = json_shape::outermost(rest, name.end, key)?;
    (value == Value::Object(call.arguments.clone())).then_some(())?;
    let between = slot::of_call(&rest[name.end..span.start], call);
    Some((name.start..span.end, Shape::Tagged { between }))
}

fn dialect(rest: &str, call: &Call) -> Option<(Range<usize>, Shape)> {
    let name = named(rest, call)?;
    let (json, span) = arguments::dialect(&rest[name.end..], &call.arguments)?;
    let between = slot::of_call(&rest[name.end..name.end + span.start], call);
    Some((
        name.start..name.end + span.end,
        Shape::Dialect { between, json },
    ))
}

fn tags(rest: &str, call: &Call) -> Option<(Range<usize>, Shape)> {
    let name = named(rest, call)?;
    let (tags, len) = arguments::tags(&rest[name.end..], &call.arguments)?;
    let shape = Shape::Tags {
        between: slot::of_call(&tags.before, call),
        argument: tags.argument,
    };
    Some((name.start..name.end + len, shape))
}

/// Where the call's name is. With nothing before it the name could be any word, and says nothing.
fn named(rest: &str, call: &Call) -> Option<Range<usize>> {
    let at = rest.find(&call.name)?;
    (!text::tokens(&rest[..at]).is_empty()).then_some(at..at + call.name.len())
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
fn members(value: &Value, call: &Call, written: &str) -> Option<Members> {
    let whole = Value::Object(call.arguments.clone());
    let name = json_shape::find(value, &Value::from(call.name.as_str()))?;
    let arguments = json_shape::find(value, &whole)?;
    let literals = written
        .split_once(&json::quote(&call.name))
        .and_then(|(before, rest)| {
            let (between, after) = rest.split_once(&json::to_string(&whole))?;
            Some([before.to_owned(), between.to_owned(), after.to_owned()])
        })
        .unwrap_or_default();
    Some(Members {
        name: keys_only(name)?,
        arguments: keys_only(arguments)?,
        id: json_shape::find(value, &Value::from(call.id.as_str())).and_then(keys_only),
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
        let found = cut(&written, &calls).unwrap();
        let open = format!("<call id={}>", slot::ID);
        assert_eq!(
            found.literals,
            [open.clone(), format!("</call>{open}"), "</call>".to_owned()]
        );
        let between = format!(":{}|", slot::NUMBER);
        assert_eq!(found.shape, Shape::Tagged { between });
    }
}
