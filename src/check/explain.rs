//! Failures explained to people: diagnostics whose places lie in the response, with the likely cause.

use std::ops::Range;
use std::sync::Arc;

use super::cause::Cause;
use super::compare::Difference;
use super::cuts::in_words;
use super::fixture::Fixture;
use super::laws::Broken;
use super::replay::{Replay, Setting};
use super::run::Failure;
use crate::diagnostic::Diagnostic;
use crate::parser::{ParseError, Unclaimed, UnclaimedCause};
use crate::response_template::{ResponseTemplate, config};
use crate::value::{Path, Value, json};

/// How many differences of one message are told; after so many nobody reads on.
const MANY: usize = 10;

/// How many characters of a value are shown.
const SHOWN: usize = 160;

/// A response template as it is written.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DocumentText<'a> {
    /// The name of its file.
    pub name: &'a str,
    /// The file's text.
    pub text: &'a str,
}

impl<'a> DocumentText<'a> {
    /// The text of the file of that name.
    pub fn new(name: &'a str, text: &'a str) -> Self {
        Self { name, text }
    }

    /// Where the value at a path of the document stands in the text; `None` where it does not.
    pub fn span(&self, path: &Path) -> Option<Range<usize>> {
        let (value, places) = json::parse_with_places(self.text).ok()?;
        let root = match value.get(config::KEY) {
            Some(_) => Path::default().key(config::KEY),
            None => Path::default(),
        };
        let spans = places.get(&root.join(path))?;
        Some(spans.value.clone())
    }

    /// The file, the line and the column of the value at a path, as editors take them.
    fn place(&self, path: &Path) -> String {
        let Some(span) = self.span(path) else {
            return self.name.to_owned();
        };
        let before = &self.text[..span.start];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!("{}:{line}:{column}", self.name)
    }
}

/// The failures of a fixture as diagnostics, each with its place in the response where it has one. Of a message that is another
/// one the first diagnostic names the likely cause, with its place in the response template where that is at hand as it is `written`.
pub fn explain(
    fixture: &Fixture,
    template: &Arc<ResponseTemplate>,
    prefix: &str,
    failures: &[Failure],
    written: Option<&DocumentText<'_>>,
) -> Vec<Diagnostic> {
    let setting = Setting::new(template, prefix, &fixture.tools);
    let has_message = !failures.iter().any(|f| matches!(f, Failure::Message(_)));
    let mut all: Vec<Diagnostic> = failures
        .iter()
        // If the message is another one, events and deltas differ for that reason, and are not reported as well.
        .filter(|failure| {
            has_message || !matches!(failure, Failure::Events(_) | Failure::Deltas(_))
        })
        .flat_map(of_failure)
        .collect();
    // Text that nothing takes is often a delimiter that is spelled otherwise.
    if has_message
        && let Some(first) = all.iter_mut().find(|found| found.code == "unclaimed")
        && let Some(cause) = Cause::misspelt(&setting, &fixture.response)
    {
        let base = first.hint.take().unwrap_or_default();
        let place = cause.place(written);
        first.labels.extend(cause.label);
        first.hint = Some(format!("{}{place}\n{base}", cause.text));
    }
    let is_other = |failure: &Failure| matches!(failure, Failure::Message(_) | Failure::Events(_));
    if failures.iter().any(is_other)
        && let Some(first) = all.iter_mut().find(|found| CAUSED.contains(&found.code))
        && let Some(cause) = Cause::find(&setting, fixture)
    {
        let place = cause.place(written);
        first.place.span = cause.span;
        first.labels.extend(cause.label);
        first.hint = Some(format!("{}{place}", cause.text));
    }
    all
}

impl Cause {
    /// Where the delimiter stands, in brackets; nothing where it is none.
    fn place(&self, written: Option<&DocumentText<'_>>) -> String {
        match (&self.delimiter, written) {
            (Some(path), Some(written)) => format!(" ({} at {})", path, written.place(path)),
            (Some(path), None) => format!(" ({path})"),
            (None, _) => String::new(),
        }
    }
}

/// The codes of what a delimiter that does not match can cause.
const CAUSED: [&str; 2] = ["other-message", "other-events"];

fn of_failure(failure: &Failure) -> Vec<Diagnostic> {
    match failure {
        Failure::NotRecorded => vec![
            Diagnostic::error("not-recorded", "no message is recorded for this response")
                .with_hint("record what the parser gives with --update, and read it"),
        ],
        Failure::Message(differences) => {
            of_differences("other-message", "the message has", differences)
        }
        Failure::Events(differences) => {
            of_differences("other-events", "the events have", differences)
        }
        Failure::Deltas(differences) => {
            of_differences("other-growth", "the deltas have", differences)
        }
        Failure::Unclaimed {
            unexpected,
            missing,
        } => of_unclaimed(unexpected, missing),
        Failure::Unexpected(error) => vec![of_error(error, &error.message)],
        Failure::OtherError { expected, found } => {
            let wanted = error_name(&expected.0, expected.1.as_deref());
            vec![match found {
                Some(found) => {
                    let name = error_name(found.kind.name(), found.field.as_deref());
                    let message =
                        format!("the error is {name}, expected {wanted}: {}", found.message);
                    let mut diagnostic = of_error(found, &message);
                    diagnostic.code = "other-error";
                    diagnostic
                }
                None => Diagnostic::error(
                    "no-error",
                    format!("the response parses; expected {wanted}"),
                ),
            }]
        }
        Failure::Law(broken) => vec![of_law(broken)],
    }
}

fn error_name(kind: &str, field: Option<&str>) -> String {
    match field {
        Some(field) => format!("`{kind}` in field `{field}`"),
        None => format!("`{kind}`"),
    }
}

fn of_error(error: &ParseError, message: &str) -> Diagnostic {
    let mut diagnostic = Diagnostic::error("does-not-parse", message);
    diagnostic.place.span = error.span.clone();
    diagnostic.hint = error.hint.clone();
    diagnostic
}

fn of_unclaimed(unexpected: &[Unclaimed], missing: &[String]) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = unexpected
        .iter()
        .take(MANY)
        .map(|lost| {
            let text = shown(&Value::from(lost.text.as_str()));
            let message = match lost.cause {
                UnclaimedCause::NoField => {
                    format!("no field takes this text of the response: {text}")
                }
                _ => format!("this text of the response is lost, {}: {text}", lost.fate()),
            };
            Diagnostic::error("unclaimed", message)
                .with_span(lost.visible_span())
                .with_hint(lost.remedy())
        })
        .collect();
    if unexpected.len() > MANY {
        let more = unexpected.len() - MANY;
        let message = format!("{more} more texts of the response are in no field");
        all.push(Diagnostic::error("unclaimed", message));
    }
    all.extend(missing.iter().take(MANY).map(|text| {
        let text = shown(&Value::from(text.as_str()));
        let message = format!(
            "`unclaimed` lists {text}, which is no text of the response that is in no field"
        );
        Diagnostic::error("unclaimed", message)
    }));
    all
}

fn of_differences(code: &'static str, what: &str, differences: &[Difference]) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = differences
        .iter()
        .take(MANY)
        .map(|difference| {
            let path = &difference.path;
            let message = match (&difference.expected, &difference.found) {
                (Some(expected), Some(found)) => {
                    let (expected, found) = apart(expected, found);
                    format!("{what} another value at {path}\nexpected {expected}\nfound    {found}")
                }
                (Some(expected), None) => {
                    format!("{what} no {path}\nexpected {}", shown(expected))
                }
                (None, Some(found)) => {
                    format!(
                        "{what} {path}, which is not expected\nfound    {}",
                        shown(found)
                    )
                }
                (None, None) => format!("{what} another value at {path}"),
            };
            Diagnostic::error(code, message).with_path(path.to_string())
        })
        .collect();
    if differences.len() > MANY {
        let more = differences.len() - MANY;
        all.push(Diagnostic::error(
            code,
            format!("{what} {more} more differences"),
        ));
    }
    all
}

/// A value on one line, of a long one the beginning.
pub(super) fn shown(value: &Value) -> String {
    let text = json::to_string(value);
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}\u{2026}", &text[..at]),
        None => text,
    }
}

/// Two values on a line each; of long texts that begin alike, from shortly before they differ.
fn apart(expected: &Value, found: &Value) -> (String, String) {
    let (Value::String(a), Value::String(b)) = (expected, found) else {
        return (shown(expected), shown(found));
    };
    let alike: usize = a
        .chars()
        .zip(b.chars())
        .take_while(|(a, b)| a == b)
        .map(|(c, _)| c.len_utf8())
        .sum();
    let from = a[..alike]
        .char_indices()
        .rev()
        .nth(SHOWN / 4)
        .map_or(0, |(at, _)| at);
    let tail = |text: &str| {
        let written = shown(&Value::from(&text[from..]));
        if from == 0 {
            written
        } else {
            format!("\u{2026}{written}")
        }
    };
    (tail(a), tail(b))
}

fn of_law(broken: &Broken) -> Diagnostic {
    match broken {
        Broken::Recorded(replay) => of_chunks("in the recorded chunks", replay),
        Broken::Chunking { chunking, replay } => of_chunks(&in_words(chunking), replay),
        Broken::Deltas {
            chunking,
            difference,
        } => {
            let how = chunking.as_ref().map_or("whole".to_owned(), in_words);
            let message =
                format!("{how}, a client makes another message of the deltas: {difference}");
            Diagnostic::error("other-deltas", message).with_hint(
                "this is a fault of the parser, not of the response template; please report it",
            )
        }
        Broken::Split { at, replay } => {
            let given = json::to_string(&Value::Object(replay.message.clone()));
            let message = format!(
                "with the first {at} bytes of the response in the prompt, the rest gives something else: {given}"
            );
            Diagnostic::error("other-split", message).with_span(*at..*at)
        }
        Broken::Lost {
            at,
            field,
            finished,
            left,
        } => {
            let left = left.as_ref().map_or_else(|| "nothing".to_owned(), shown);
            let message = format!(
                "when the response ends here, the value of `{field}` is lost: {} was finished, {left} is left",
                shown(finished)
            );
            Diagnostic::error("lost-at-the-end", message)
                .with_span(*at..*at)
                .with_hint("what follows a region reopens the field: let the close take the white space after it, or let the field repeat")
        }
    }
}

fn of_chunks(how: &str, replay: &Replay) -> Diagnostic {
    let given = json::to_string(&Value::Object(replay.message.clone()));
    Diagnostic::error(
        "other-chunking",
        format!("{how} the response gives something else: {given}"),
    )
    .with_hint("this is a fault of the parser, not of the response template; please report it")
}

#[cfg(test)]
mod tests {
    use super::super::cuts::Effort;
    use super::super::run::check;
    use super::*;

    fn told(template: &str, response: &str, expected: &str) -> Vec<Diagnostic> {
        let template = Arc::new(ResponseTemplate::from_json(template).unwrap());
        let fixture = Fixture {
            response: response.to_owned(),
            expected: Some(json::parse(expected).unwrap()),
            ..Fixture::default()
        };
        let (_, failures) = check(&fixture, &template, "", &Effort::default());
        explain(&fixture, &template, "", &failures, None)
    }

    const CALLS: &str = r#"{"start_anchor": "A:", "fields": {"content": {},
        "calls": {"open": "<c>", "close": "</done>", "content": "text"}}}"#;

    #[test]
    fn a_close_that_does_not_match_is_named() {
        let found = told(CALLS, "Hi<c>x</c>", r#"{"content": "Hi", "calls": "x"}"#);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].message,
            "the message has another value at $.calls\nexpected \"x\"\nfound    \"x</c>\""
        );
        assert_eq!(found[0].place.path.as_deref(), Some("$.calls"));
        assert_eq!(found[0].place.span, Some(5..10));
        assert_eq!(
            found[0].hint.as_deref(),
            Some(
                "nothing closes the region of `calls`: its close, \"</done>\", does not match in what follows \
                 ($.fields.calls.close)"
            )
        );
    }

    #[test]
    fn an_open_that_does_not_match_is_named() {
        let found = told(CALLS, "Hi<call>x", r#"{"content": "Hi", "calls": "x"}"#);
        assert!(found.iter().all(|found| found.code == "other-message"));
        assert!(
            found[0]
                .hint
                .as_deref()
                .unwrap()
                .contains("`calls` opens: its open, \"<c>\""),
            "{found:?}"
        );
    }

    #[test]
    fn long_texts_are_shown_from_where_they_differ() {
        let long = "word ".repeat(100);
        let (expected, found) = apart(
            &Value::from(format!("{long}yes")),
            &Value::from(format!("{long}no")),
        );
        assert!(
            expected.starts_with('\u{2026}') && expected.ends_with("word yes\""),
            "{expected}"
        );
        assert!(found.chars().count() < 60, "{found}");
    }

    #[test]
    fn text_that_no_field_takes_names_the_delimiter_that_it_nearly_is() {
        let template = r#"{"start_anchor": "A:", "fields": {"content": {"open": "<say>", "close": "</say>"},
            "calls": {"open": "<call>", "close": "</call>", "content": "text"}}}"#;
        let found = told(
            template,
            "<say>Hi</say><cal>x</call>",
            r#"{"content": "Hi"}"#,
        );
        let [found] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(
            (found.code, &found.place.span),
            ("unclaimed", &Some(13..26))
        );
        assert!(found.message.ends_with("\"<cal>x</call>\""), "{found:?}");
        let hint = found.hint.as_deref().unwrap_or_default();
        assert!(
            hint.starts_with("the response has \"<cal>\" where the open of `calls`"),
            "{hint}"
        );
        assert!(
            hint.contains("$.fields.calls.open") && hint.contains("without an open"),
            "{hint}"
        );
    }
}
