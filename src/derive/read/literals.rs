//! How values that are not texts are written: as JSON writes them, or in words that no content parser reads.

use super::anchor::Anchor;
use super::limit::{Limit, Lost, any_value};
use crate::derive::probe::{self, Assistant, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::value::{Value, json};

/// The kinds of value that JSON writes as a bare word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::derive) enum Kind {
    Null,
    Bool,
    Int,
    Float,
}

/// A kind of value that is not written as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::derive) struct Foreign {
    pub(in crate::derive) kind: Kind,
    /// A value of that kind as JSON writes it, and as the chat template does.
    pub(in crate::derive) json: String,
    pub(in crate::derive) written: String,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Null, Self::Bool, Self::Int, Self::Float];

    fn probe(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool => Value::Bool(true),
            Self::Int => Value::from(8_675_309),
            Self::Float => Value::from(867.5309),
        }
    }

    /// Returns a test for messages of which an argument is or holds such a value.
    fn is_in(self) -> fn(&Assistant) -> bool {
        match self {
            Self::Null => |message| any_value(message, &|value| matches!(value, Value::Null)),
            Self::Bool => |message| any_value(message, &|value| matches!(value, Value::Bool(_))),
            Self::Int => |message| any_value(message, &|value| matches!(value, Value::Int(_))),
            Self::Float => |message| any_value(message, &|value| matches!(value, Value::Float(_))),
        }
    }
}

impl Foreign {
    pub(in crate::derive) fn limit(&self) -> Limit {
        let Self { json, written, .. } = self;
        Limit {
            text: format!(
                "{json} is written as the bare word {written} among arguments that are otherwise JSON, and no content parser reads that word"
            ),
            lost: Lost::Values(self.kind.is_in()),
        }
    }
}

/// The kinds of value that the template writes, as an argument of a call, otherwise than JSON does.
pub(in crate::derive) fn foreign(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    dialect: &Dialect,
) -> Vec<Foreign> {
    let written = |value: &Value| -> Option<String> {
        let mut call = probe::call_with(0, 1);
        let (_, argument) = call.arguments.iter_mut().next()?;
        *argument = value.clone();
        anchor.turn_calling(renderer, context, dialect, call)
    };
    // The text around an empty list is the text around every value, and no part of it can be taken for the value.
    let Some(empty) = written(&Value::Array(Vec::new())) else {
        return Vec::new();
    };
    let Some((before, after)) = empty.split_once("[]") else {
        return Vec::new();
    };
    let found = Kind::ALL.into_iter().filter_map(|kind| {
        let value = kind.probe();
        let text = written(&value)?;
        let word = text.strip_prefix(before)?.strip_suffix(after)?.trim();
        (json::parse(word).ok().as_ref() != Some(&value)).then(|| Foreign {
            kind,
            json: json::to_string(&value),
            written: word.to_owned(),
        })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_found_however_deep() {
        let mut call = probe::call(0);
        let deep = json::parse(r#"{"a": [1, {"b": null}]}"#).unwrap();
        call.arguments.insert("deep".to_owned(), deep);
        let message = Assistant::calling([call]);
        assert!((Kind::Null.is_in())(&message));
        assert!((Kind::Int.is_in())(&message));
        assert!(!(Kind::Bool.is_in())(&message));
    }
}
