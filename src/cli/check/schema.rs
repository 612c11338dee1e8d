//! Fixtures of response schemas: each response is evaluated as a whole, and what it comes to is what is recorded.

use obverse::check::{self, ExpectedError, Fixture};
use obverse::diagnostic::Diagnostic;
use obverse::response_schema::{ResponseSchema, SchemaError};
use obverse::value::{Value, json};

/// Checks a fixture of a response schema: the findings, and the fixture as it would hold. Of what it records, the message and the error count; a schema knows
/// no chunks, no events and no prompt. The `field` of a recorded error is the path of the node.
pub(super) fn of_fixture(
    schema: &ResponseSchema,
    fixture: &Fixture,
) -> (Vec<Diagnostic>, Option<Fixture>) {
    let outcome = schema.parse_all(&fixture.response);
    let error = outcome.errors.first();
    let mut found = Vec::new();
    found.extend(wrong_error(fixture.error.as_ref(), error));
    match &fixture.expected {
        None => {
            let message = "no message is recorded for this response";
            let hint = "record what the schema gives with --update, and read it";
            found.push(Diagnostic::error("not-recorded", message).with_hint(hint));
        }
        Some(expected) => {
            let differences = check::differences(expected, &outcome.value);
            found.extend(differences.iter().map(|difference| {
                let spelled = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), json::to_string);
                let message = format!(
                    "the message has another value at {}\nexpected {}\nfound    {}",
                    difference.path,
                    spelled(&difference.expected),
                    spelled(&difference.found)
                );
                let hint = "mend the response schema, or, if this is what the response is to give from now on, record it with --update";
                Diagnostic::error("other-message", message)
                    .with_path(difference.path.to_string())
                    .with_hint(hint)
            }));
        }
    }
    if found.is_empty() {
        return (found, None);
    }
    let changed = Fixture {
        expected: Some(outcome.value),
        error: error.map(|error| ExpectedError {
            kind: error.kind.name().to_owned(),
            field: Some(error.path.to_string()),
        }),
        ..fixture.clone()
    };
    (found, Some(changed))
}

fn wrong_error(
    expected: Option<&ExpectedError>,
    found: Option<&SchemaError>,
) -> Option<Diagnostic> {
    match (expected, found) {
        (None, None) => None,
        (None, Some(found)) => {
            let mut diagnostic = Diagnostic::error("does-not-parse", found.to_string());
            diagnostic.hint.clone_from(&found.hint);
            Some(diagnostic)
        }
        (Some(expected), Some(found))
            if expected.kind == found.kind.name()
                && expected
                    .field
                    .as_ref()
                    .is_none_or(|field| *field == found.path.to_string()) =>
        {
            None
        }
        (Some(expected), Some(found)) => {
            let message = format!(
                "the response must end in the error `{}`, and ends in `{}`: {found}",
                expected.kind,
                found.kind.name()
            );
            Some(Diagnostic::error("other-error", message))
        }
        (Some(expected), None) => {
            let message = format!(
                "the response must end in the error `{}`, and parses",
                expected.kind
            );
            Some(Diagnostic::error("no-error", message))
        }
    }
}
