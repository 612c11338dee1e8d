//! Parsing with a response schema: at once, as a whole.

use std::path::Path;

use obverse::diagnostic::Diagnostic;
use obverse::response_schema::{Outcome, ResponseSchema, SchemaError};
use obverse::value::{Map, Value};

use super::{Args, RAW};
use crate::cli::problem::{Document, Problem};
use crate::cli::progress::Progress;
use crate::cli::status::Status;
use crate::cli::stop::Stop;
use crate::cli::{escape, input, output, wire};

/// Parses a response.
pub(super) fn run(args: &Args, schema: &ResponseSchema, response: &Path) -> Result<Status, Stop> {
    let has_prefix = args
        .given
        .prefix()?
        .is_some_and(|prefix| !prefix.is_empty());
    let refused = [
        (args.events, "--events"),
        (args.deltas.is_some(), "--deltas"),
        (has_prefix, "a prefix"),
        (!args.given.tools()?.is_empty(), "--tools"),
        (args.skip_json_strings, "--skip-json-strings"),
        (args.max_regions.is_some(), "--max-regions"),
    ];
    if let Some((_, what)) = refused.iter().find(|(given, _)| *given) {
        let message =
            format!("{what} is for response templates, and TEMPLATE is a response schema");
        let problem = Problem::failed("usage", message);
        return Err(problem
            .with_hint("`obverse convert` makes a response template of it")
            .into());
    }
    let progress = Progress::of_input(response);
    let text = args.read_whole(input::open(response)?.as_mut(), response)?;
    let outcome = schema.parse_all(&text);
    drop(progress);
    let name = input::name(response);
    if outcome.errors.is_empty() {
        output::print_json(&wire::pretty(&outcome.value))?;
        return Ok(Status::Done);
    }
    let problems: Vec<Problem> = outcome
        .errors
        .iter()
        .map(|error| problem(error, &name))
        .collect();
    let tell = || problems.iter().for_each(Problem::show);
    let mut members = Map::new();
    write(outcome, &mut members);
    let written = wire::pretty(&Value::Object(members));
    output::told_beside(tell, || output::print_json(&written))?;
    Ok(Status::Found)
}

/// Writes what became of a response: `message` and, where there are any, `error` and `further_errors`.
pub(super) fn write(outcome: Outcome, out: &mut Map) {
    let mut errors = outcome
        .errors
        .iter()
        .map(|error| Value::Object(error.to_map()));
    out.extend(errors.next().map(|first| ("error", first)));
    let further: Vec<Value> = errors.collect();
    if !further.is_empty() {
        out.insert("further_errors", Value::Array(further));
    }
    out.insert("message", outcome.value);
}

/// Why a response has no value, for people.
fn problem(error: &SchemaError, name: &str) -> Problem {
    let mut diagnostic = Diagnostic::error(error.kind.name(), error.message.as_str());
    diagnostic.hint.clone_from(&error.hint);
    let mut problem = Problem::of(diagnostic).about(Document {
        name: name.to_owned(),
        text: None,
    });
    problem = problem.with_note(format!("at {} of the response schema", error.path));
    if let Some(raw) = &error.raw {
        problem = problem.with_note(format!("raw text: {}", escape::short(raw, RAW)));
    }
    problem
}
