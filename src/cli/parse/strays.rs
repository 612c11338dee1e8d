//! Strays of a response: text that is in no field of the message, markers in the text of fields, and a call that nothing ended.

use std::ops::Range;

use obverse::diagnostic::Diagnostic;
use obverse::parser::{Leaked, ResponseParser, Unclaimed, UnclaimedCause, Unended};
use obverse::value::{Map, Value, python};

use crate::cli::escape;
use crate::cli::problem::{Document, Problem};
use crate::cli::wire::object;

/// How many characters of a text are shown.
const SHOWN: usize = 80;

/// How many strays of a kind are kept of a response that is parsed as it arrives, and how many bytes of text that is in no field. Of such a
/// response nobody knows how long it is; who reads as many has seen what is wrong.
const KEPT: usize = 1000;
const KEPT_BYTES: usize = 1 << 20;

/// The parts of a response that are not where they should be.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// Text that is in no field. White space alone, which nobody misses, is left out.
    unclaimed: Vec<Unclaimed>,
    /// How many bytes these have.
    bytes: usize,
    leaked: Vec<Leaked>,
    unended: Option<Unended>,
    /// The strays that are counted and not kept.
    further: Further,
}

/// Strays that are not kept.
#[derive(Debug, Default)]
struct Further {
    unclaimed: usize,
    bytes: usize,
    leaked: usize,
    /// True if a field took one of these texts and dropped it.
    dropped: bool,
}

impl Strays {
    /// Adds strays of a response that is still arriving, the first of them as they are.
    pub(super) fn add_some(&mut self, unclaimed: Vec<Unclaimed>, leaked: Vec<Leaked>) {
        for lost in unclaimed {
            if lost.is_white_space() {
                continue;
            }
            let is_kept = self.unclaimed.len() < KEPT && self.bytes < KEPT_BYTES;
            if is_kept && self.further.unclaimed == 0 {
                self.bytes += lost.text.len();
                self.unclaimed.push(lost);
            } else {
                self.further.unclaimed += 1;
                self.further.bytes += lost.text.len();
                self.further.dropped |= lost.cause != UnclaimedCause::NoField;
            }
        }
        let room = KEPT.saturating_sub(self.leaked.len());
        self.further.leaked += leaked.len().saturating_sub(room);
        self.leaked.extend(leaked.into_iter().take(room));
    }

    /// Adds all strays that the parser still has when the response has ended.
    pub(super) fn end(&mut self, parser: &ResponseParser) {
        let lost = parser.unclaimed().iter();
        let lost: Vec<Unclaimed> = lost
            .filter(|lost| !lost.is_white_space())
            .cloned()
            .collect();
        let leaked = parser.leaked().to_vec();
        if self.unclaimed.is_empty() && self.leaked.is_empty() {
            self.bytes = lost.iter().map(|lost| lost.text.len()).sum();
            self.unclaimed = lost;
            self.leaked = leaked;
        } else {
            self.add_some(lost, leaked);
        }
        self.unended = parser.unended().cloned();
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
        if self.further.unclaimed > 0 {
            let further = object([
                ("count", Value::count(self.further.unclaimed)),
                ("bytes", Value::count(self.further.bytes)),
            ]);
            out.insert("unclaimed_further".to_owned(), Value::Object(further));
        }
        if self.further.leaked > 0 {
            let further = object([("count", Value::count(self.further.leaked))]);
            out.insert("leaked_further".to_owned(), Value::Object(further));
        }
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
        let count = self.unclaimed.len() + self.further.unclaimed;
        let is_dropped = |lost: &Unclaimed| lost.cause != UnclaimedCause::NoField;
        let message = match (count, first.cause) {
            (1, UnclaimedCause::NoField) => {
                "no field takes a text of the response, so that it is not in the message".to_owned()
            }
            (1, _) => format!(
                "a text of the response is not in the message: {}",
                first.fate()
            ),
            (count, _) if !self.further.dropped && !self.unclaimed.iter().any(is_dropped) => {
                format!(
                    "no field takes {count} texts of the response, so that they are not in the message"
                )
            }
            (count, _) => format!(
                "{count} texts of the response are not in the message; the first: {}",
                first.fate()
            ),
        };
        let bytes = self.bytes + self.further.bytes;
        let which = match count {
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
        let message = match self.leaked.len() + self.further.leaked {
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
