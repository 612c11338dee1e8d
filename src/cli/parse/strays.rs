//! Strays of a response: text that is in no field of the message, markers in the text of fields, and a call that nothing ended.

use std::ops::Range;

use obverse::diagnostic::Diagnostic;
use obverse::parser::{Leaked, ResponseParser, Unclaimed, UnclaimedCause, Unended};
use obverse::value::{Map, Value, python};

use crate::cli::escape;
use crate::cli::problem::{Document, Problem};

/// How many characters of a text are shown.
const SHOWN: usize = 80;

/// The parts of a response that are not where they should be.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// Text that is in no field. White space alone, which nobody misses, is left out.
    unclaimed: Vec<Unclaimed>,
    leaked: Vec<Leaked>,
    unended: Option<Unended>,
}

impl Strays {
    pub(super) fn of(parser: &ResponseParser) -> Self {
        let lost = parser.unclaimed().iter();
        Self {
            unclaimed: lost
                .filter(|lost| !lost.is_white_space())
                .cloned()
                .collect(),
            leaked: parser.leaked().to_vec(),
            unended: parser.unended().cloned(),
        }
    }

    /// Writes `unclaimed`, `leaked` and `unended`, each where there is some.
    pub(super) fn write(&self, out: &mut Map) {
        let mut add = |key: &str, items: Vec<Value>| {
            if !items.is_empty() {
                out.insert(key.to_owned(), Value::Array(items));
            }
        };
        let unclaimed = self.unclaimed.iter().map(Unclaimed::to_map);
        add("unclaimed", unclaimed.map(Value::Object).collect());
        let leaked = self.leaked.iter().map(Leaked::to_map);
        add("leaked", leaked.map(Value::Object).collect());
        if let Some(unended) = &self.unended {
            out.insert("unended".to_owned(), Value::Object(unended.to_map()));
        }
    }

    /// Tells people of them; without the `text`, which a stream no longer has, the byte ranges must do.
    pub(super) fn tell(&self, name: &str, text: Option<&str>) {
        let tell = |problem: Option<Problem>| {
            if let Some(problem) = problem {
                let document = Document {
                    name: name.to_owned(),
                    text: text.map(str::to_owned),
                };
                problem.about(document).show();
            }
        };
        tell(self.of_unclaimed());
        tell(self.of_leaked());
        tell(self.of_unended());
    }

    fn of_unended(&self) -> Option<Problem> {
        let Unended { field, span, .. } = self.unended.as_ref()?;
        let message = format!(
            "the response ends within the field `{field}`, whose value may be a part of what the model meant"
        );
        let hint = "if the response was cut short, do not act on it; if an engine keeps back what closes it, nothing is wrong";
        Some(warning("unended", message, span.clone()).with_hint(hint))
    }

    fn of_unclaimed(&self) -> Option<Problem> {
        let first = self.unclaimed.first()?;
        let message = match (self.unclaimed.len(), first.cause) {
            (1, UnclaimedCause::NoField) => {
                "no field takes a text of the response, so that it is not in the message".to_owned()
            }
            (1, _) => format!(
                "a text of the response is not in the message: {}",
                first.fate()
            ),
            (count, _)
                if self
                    .unclaimed
                    .iter()
                    .all(|lost| lost.cause == UnclaimedCause::NoField) =>
            {
                format!(
                    "no field takes {count} texts of the response, so that they are not in the message"
                )
            }
            (count, _) => format!(
                "{count} texts of the response are not in the message; the first: {}",
                first.fate()
            ),
        };
        let bytes: usize = self.unclaimed.iter().map(|lost| lost.text.len()).sum();
        let which = match self.unclaimed.len() {
            1 => String::new(),
            count => format!(", the first of {count} with {bytes} bytes in all"),
        };
        let span = first.visible_span();
        let note = format!("{}{which}", place(&span, python::strip(&first.text)));
        Some(
            warning("unclaimed", message, span)
                .with_hint(first.remedy())
                .with_note(note),
        )
    }

    fn of_leaked(&self) -> Option<Problem> {
        let first = self.leaked.first()?;
        let message = match self.leaked.len() {
            1 => format!("a marker stands in the text of the field `{}`", first.field),
            count => format!(
                "{count} markers stand in the text of fields, the first in the field `{}`",
                first.field
            ),
        };
        Some(
            warning("leaked", message, first.span.clone())
                .with_hint("unless the model speaks of it, a delimiter should have taken it")
                .with_note(place(&first.span, &first.text)),
        )
    }
}

fn warning(code: &'static str, message: String, span: Range<usize>) -> Problem {
    Problem::of(Diagnostic::warning(code, message).with_span(span))
}

fn place(span: &Range<usize>, text: &str) -> String {
    format!(
        "bytes {} to {}: {}",
        span.start,
        span.end,
        escape::short(text, SHOWN)
    )
}
