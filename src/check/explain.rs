//! What a failure says to people: as diagnostics whose places lie in the response, with the likely cause.

use std::ops::Range;
use std::sync::Arc;

use super::compare::Difference;
use super::fixture::Fixture;
use super::laws::Broken;
use super::replay::{Replay, Setting};
use super::run::Failure;
use crate::chunking::Chunking;
use crate::diagnostic::{Diagnostic, Label};
use crate::parser::{Event, ParseError};
use crate::pattern::Pattern;
use crate::response_template::ResponseTemplate;
use crate::value::{Value, json};

/// How many differences of one message are told; after so many nobody reads on.
const MANY: usize = 10;

/// How many characters of a value are shown.
const SHOWN: usize = 160;

/// The failures of a fixture as diagnostics, each with its place in the response where it has one.
pub fn explain(
    fixture: &Fixture,
    template: &Arc<ResponseTemplate>,
    prefix: &str,
    failures: &[Failure],
) -> Vec<Diagnostic> {
    let setting = Setting {
        template,
        prefix,
        tools: &fixture.tools,
    };
    let mut all: Vec<Diagnostic> = failures.iter().flat_map(of_failure).collect();
    let is_other = |failure: &Failure| matches!(failure, Failure::Message(_) | Failure::Events(_));
    if failures.iter().any(is_other)
        && let Some(first) = all.iter_mut().find(|found| CAUSED.contains(&found.code))
    {
        let cause = Cause::find(&setting, fixture);
        first.place.span = cause.span;
        first.labels.extend(cause.label);
        first.hint = cause.hint;
    }
    all
}

/// The codes of what a delimiter that does not match can cause.
const CAUSED: [&str; 2] = ["other-message", "other-events"];

fn of_failure(failure: &Failure) -> Vec<Diagnostic> {
    match failure {
        Failure::NotRecorded => vec![
            Diagnostic::error("not-recorded", "no message is recorded for this response")
                .with_hint("record what the parser gives with --update, and read it"),
        ],
        Failure::Message(differences) => of_differences("other-message", "message", differences),
        Failure::Events(differences) => of_differences("other-events", "events", differences),
        Failure::Unexpected(error) => vec![of_error(error, &error.message)],
        Failure::OtherError { expected, found } => {
            let wanted = error_name(&expected.0, expected.1.as_deref());
            vec![match found {
                Some(found) => {
                    let name = error_name(found.kind.name(), found.field.as_deref());
                    of_error(
                        found,
                        &format!("the error is {name}, expected {wanted}: {}", found.message),
                    )
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

fn of_differences(code: &'static str, what: &str, differences: &[Difference]) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = differences
        .iter()
        .take(MANY)
        .map(|difference| {
            let path = &difference.path;
            let message = match (&difference.expected, &difference.found) {
                (Some(expected), Some(found)) => {
                    let (expected, found) = apart(expected, found);
                    format!("the {what} has another value at {path}\nexpected {expected}\nfound    {found}")
                }
                (Some(expected), None) => {
                    format!("the {what} has no {path}\nexpected {}", shown(expected))
                }
                (None, Some(found)) => {
                    format!("the {what} has {path}, which is not expected\nfound    {}", shown(found))
                }
                (None, None) => format!("the {what} has another value at {path}"),
            };
            Diagnostic::error(code, message).with_path(path.to_string())
        })
        .collect();
    if differences.len() > MANY {
        let more = differences.len() - MANY;
        all.push(Diagnostic::error(
            code,
            format!("{more} more differences in the {what}"),
        ));
    }
    all
}

/// A value on one line, of a long one the beginning.
fn shown(value: &Value) -> String {
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

fn in_words(chunking: &Chunking) -> String {
    match chunking {
        Chunking::Bytes(1) => "byte by byte".to_owned(),
        Chunking::Bytes(size) => format!("in chunks of {size} bytes"),
        other => format!("in other chunks (`--chunks {other}`)"),
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

/// A delimiter as the document has it: its literals, or the pattern.
fn spelled(delimiter: &Pattern) -> String {
    let literals = delimiter.quoted_literals();
    literals.unwrap_or_else(|| json::quote(delimiter.source()))
}

/// What may have caused another message: a region that nothing closed, or one that nothing opened.
#[derive(Debug, Default)]
struct Cause {
    span: Option<Range<usize>>,
    label: Option<Label>,
    hint: Option<String>,
}

impl Cause {
    fn find(setting: &Setting<'_>, fixture: &Fixture) -> Self {
        let Some(trace) = Trace::of(setting, &fixture.response) else {
            return Self::default();
        };
        if let Some((field, from)) = trace.unclosed
            && let Some(close) = setting
                .template
                .field(&field)
                .and_then(|field| field.close.as_ref())
        {
            let end = fixture.response.len();
            return Self {
                span: Some(from..end),
                label: Some(Label {
                    span: from..end,
                    text: format!("the region of `{field}` lasts to the end"),
                }),
                hint: Some(format!(
                    "nothing closes the region of `{field}`: its close, {}, does not match in what follows",
                    spelled(close)
                )),
            };
        }
        let expected = fixture.expected.as_ref().and_then(Value::as_object);
        let unopened = setting.template.fields().iter().find_map(|field| {
            let open = field.open.as_ref()?;
            let wanted = expected?.get(&field.name)?.is_truthy();
            (wanted && !trace.opened.contains(&field.name)).then_some((field, open))
        });
        match unopened {
            Some((field, open)) => Self {
                hint: Some(format!(
                    "no region of `{}` opens: its open, {}, does not match in the response",
                    field.name,
                    spelled(open)
                )),
                ..Self::default()
            },
            None => Self::default(),
        }
    }
}

/// Which regions there were.
#[derive(Debug, Default)]
struct Trace {
    opened: Vec<String>,
    /// The field whose region the end of the response closed, and how many bytes had been read when it was opened.
    unclosed: Option<(String, usize)>,
}

impl Trace {
    fn of(setting: &Setting<'_>, response: &str) -> Option<Self> {
        let mut parser = setting.parser().ok()?;
        let mut trace = Self::default();
        let mut note = |event: &Event<'_>, at: usize| match event {
            Event::RegionOpen { field } => {
                trace.opened.push(field.to_string());
                trace.unclosed = Some((field.to_string(), at));
            }
            Event::RegionChunk { .. } => {}
            Event::RegionClose { .. } | Event::RegionError { .. } => trace.unclosed = None,
        };
        for event in parser.initial_events() {
            note(event, 0);
        }
        for (at, c) in response.char_indices() {
            let end = at + c.len_utf8();
            parser
                .feed_with(&response[at..end], &mut |event| note(&event, end))
                .ok()?;
        }
        Some(trace)
    }
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
        explain(&fixture, &template, "", &failures)
    }

    const CALLS: &str = r#"{"start_anchor": "A:", "fields": {"content": {},
        "calls": {"open": "<c>", "close": "</d>", "content": "text"}}}"#;

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
        assert!(
            found[0].hint.as_deref().unwrap().contains("\"</d>\""),
            "{found:?}"
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
}
