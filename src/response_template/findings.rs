//! The mistakes in a document, gathered with their places.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, Label};
use crate::pattern::{Pattern, PatternError};
use crate::value::json::{self, MemberSpans, Places, quote};
use crate::value::{Map, Path, Step, Value};

use super::nearest::nearest;

/// The text that a document was read from.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) places: &'a Places,
}

/// The diagnostics so far, and what gives them their places.
pub(super) struct Findings<'a> {
    pub(super) source: Option<&'a Source<'a>>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Patterns that are compiled already.
    pub(super) known: Vec<Pattern>,
}

impl Findings<'_> {
    /// The pattern of that source, which is compiled if it is not known.
    pub(super) fn regex(&self, source: &str) -> Result<Pattern, PatternError> {
        let mut known = self.known.iter();
        let known = known.find(|one| one.as_literals().is_none() && one.source() == source);
        known.cloned().map_or_else(|| Pattern::regex(source), Ok)
    }

    /// Adds a finding about the value at `path`.
    pub(super) fn value(&mut self, path: &Path, diagnostic: Diagnostic) {
        let span = self.spans(path).map(|spans| spans.value.clone());
        self.add(path, span, diagnostic);
    }

    /// Adds a finding about the key at `path`.
    pub(super) fn key(&mut self, path: &Path, diagnostic: Diagnostic) {
        let span = self.spans(path).and_then(|spans| spans.key.clone());
        self.add(path, span, diagnostic);
    }

    fn spans(&self, path: &Path) -> Option<&MemberSpans> {
        self.source.and_then(|source| source.places.get(path))
    }

    fn add(&mut self, path: &Path, span: Option<Range<usize>>, diagnostic: Diagnostic) {
        let mut diagnostic = diagnostic.with_path(path.to_string());
        diagnostic.place.span = span;
        self.diagnostics.push(diagnostic);
    }

    /// Adds a finding about the pattern at `path`, with the place inside it.
    pub(super) fn pattern(&mut self, path: &Path, error: PatternError) {
        let name = path
            .steps()
            .last()
            .map_or_else(String::new, |step| match step {
                Step::Key(key) => key.clone(),
                Step::Index(index) => index.to_string(),
            });
        let mut diagnostic = Diagnostic::error(
            "bad-pattern",
            format!("{name} does not compile: {}", error.message),
        );
        if let (Some(spans), Some(source)) = (self.spans(path), self.source) {
            let start = spans.value.start;
            let literal = &source.text[spans.value.clone()];
            let at = |offset| start + json::offset_in_literal(literal, offset);
            diagnostic.labels.push(Label {
                span: at(error.span.start)..at(error.span.end),
                text: error.message,
            });
        }
        diagnostic.hint = error.hint;
        self.value(path, diagnostic);
    }

    pub(super) fn wrong_type(&mut self, path: &Path, name: &str, expected: &str, found: &Value) {
        let message = format!("{name} must be {expected}, not {}", found.json_kind());
        self.value(path, Diagnostic::error("wrong-type", message));
    }

    pub(super) fn unknown_keys(&mut self, path: &Path, members: &Map, known: &[&str], what: &str) {
        for key in members.keys().filter(|key| !known.contains(&key.as_str())) {
            let mut diagnostic =
                Diagnostic::error("unknown-key", format!("{what} has no key {}", quote(key)));
            diagnostic.hint = Some(match nearest(key, known) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("its keys are {}", known.join(", ")),
            });
            self.key(&path.key(key), diagnostic);
        }
    }
}
