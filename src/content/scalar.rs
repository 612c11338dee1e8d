//! The content parsers `text`, `int`, `float` and `bool`.

use super::error::{ContentError, ContentErrorKind as Kind, excerpt};
use crate::value::{Map, Value, python};

/// The argument `strip`: whether white space around the text counts; on unless it is given and false to Python.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strip(bool);

impl Strip {
    pub(super) fn from_args(args: &Map) -> Self {
        Self(args.get("strip").is_none_or(Value::is_truthy))
    }

    pub(super) fn is_on(self) -> bool {
        self.0
    }

    pub(super) fn apply(self, text: &str) -> &str {
        if self.0 { python::strip(text) } else { text }
    }
}

pub(super) fn int(text: &str) -> Result<Value, ContentError> {
    python::int(text)
        .map(Value::Int)
        .ok_or_else(|| ContentError::new(Kind::Int, format!("{} is not an integer", excerpt(text))))
}

pub(super) fn float(text: &str) -> Result<Value, ContentError> {
    python::float(text)
        .map(Value::Float)
        .ok_or_else(|| ContentError::new(Kind::Float, format!("{} is not a number", excerpt(text))))
}

/// `true` and `1` are true, in any case; all else is false.
pub(super) fn bool(text: &str) -> Value {
    Value::Bool(text == "1" || text.eq_ignore_ascii_case("true"))
}
