//! Strings among values that are JSON: what a value is, by its first characters, and what of it was passed on by a guess.

use super::super::reader::{Kind, Visit};
use super::super::shape::{Strings, ValueShape};
use crate::pattern::Window;
use crate::value::{json, python};

/// The form of a value that is JSON.
pub(super) enum Form {
    /// A string in double quotes, the first of which stands here.
    Json(usize),
    /// A string in delimiters, which begins here.
    Delimited(usize),
    /// Text that cannot be JSON.
    Bare(usize),
    Other,
}

/// Returns the form of the value that begins at a byte; `None` if more of it must come.
pub(super) fn form_of(strings: &Strings, window: &Window<'_>, at: usize) -> Option<Form> {
    let rest = &window.text[at - window.start..];
    let text = rest.trim_start_matches([' ', '\t', '\n', '\r']);
    let start = at + rest.len() - text.len();
    if let Some((open, _)) = &strings.delims {
        if text.starts_with(open.as_str()) {
            return Some(Form::Delimited(start + open.len()));
        }
        if open.starts_with(text) {
            return window.complete.then_some(Form::Other);
        }
    }
    Some(match text.chars().next() {
        None if window.complete => Form::Other,
        None => return None,
        Some('"') => Form::Json(start),
        // Constants, with those that Python's parser takes, and what is reserved.
        Some('{' | '[' | '-' | '0'..='9' | 't' | 'f' | 'n' | 'N' | 'I' | '\u{1}' | '\u{2}') => {
            Form::Other
        }
        Some(_) => Form::Bare(at),
    })
}

/// A string that is passed on before it is certain to be the value, with the places of it in the text.
#[derive(Debug, Clone)]
pub(super) struct Guess {
    /// The beginning of the tag. What comes behind it is kept.
    pub(super) tag: usize,
    /// The beginning of the string: behind its delimiter, or at its double quote.
    pub(super) start: usize,
    /// The end of what was passed on, where it is known.
    pub(super) end: Option<usize>,
    pub(super) form: Guessed,
}

#[derive(Debug, Clone)]
pub(super) enum Guessed {
    /// In double quotes.
    Json,
    /// In delimiters, or in none.
    Text(ValueShape),
}

/// The form of a string as its text is handed on.
pub(super) const TEXT: ValueShape = ValueShape::Text { strip: false };

impl Guess {
    /// The form in which the value is handed on.
    pub(super) fn values(&self) -> &ValueShape {
        match &self.form {
            Guessed::Json => &TEXT,
            Guessed::Text(values) => values,
        }
    }

    /// The string that was passed on.
    pub(super) fn told(&self, window: &Window<'_>) -> Option<String> {
        let text = window.slice(self.start..self.end?);
        match &self.form {
            Guessed::Json => json::parse(text).ok()?.as_str().map(str::to_owned),
            Guessed::Text(ValueShape::Text { strip: true }) => Some(python::strip(text).to_owned()),
            Guessed::Text(_) => Some(text.to_owned()),
        }
    }
}

/// The text of a string in double quotes that is being read.
#[derive(Default)]
pub(super) struct StringText {
    pub(super) text: String,
    /// Where the string ends, in bytes of the piece.
    pub(super) end: Option<usize>,
}

impl Visit for StringText {
    fn begin(&mut self, _: usize, kind: Kind) -> bool {
        kind == Kind::String
    }

    fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn end(&mut self, at: usize) {
        self.end.get_or_insert(at);
    }

    fn wants_keys(&self) -> bool {
        false
    }

    fn key(&mut self, _: &str) {}
}
