//! `parse --events --state`: what the parser is doing, on one line.

use obverse::parser::{OpenRegion, Passed, Snapshot, Waiting, Watched};
use obverse::pattern::Pattern;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Map, Value};

use crate::cli::wire::{object, span};

/// The members of the line; `passed` are the delimiters that were read since the last one.
pub(super) fn members(
    snapshot: &Snapshot<'_>,
    passed: &[Passed],
    template: &ResponseTemplate,
) -> Map {
    let limit = |used, most| {
        Value::from(object([
            ("used", Value::count(used)),
            ("most", Value::count(most)),
        ]))
    };
    let (usage, limits) = (&snapshot.usage, &snapshot.limits);
    object([
        ("type", Value::from("state")),
        ("status", Value::from(snapshot.status.name())),
        ("prefix_bytes", Value::count(snapshot.prefix_bytes)),
        ("fed", Value::count(snapshot.fed)),
        ("position", Value::count(snapshot.position)),
        ("held", Value::from(snapshot.held)),
        (
            "region",
            snapshot.region.as_ref().map_or(Value::Null, region),
        ),
        (
            "watched",
            snapshot
                .watched
                .iter()
                .map(watched)
                .collect::<Vec<_>>()
                .into(),
        ),
        (
            "delimiters",
            passed
                .iter()
                .map(|passed| delimiter(passed, template))
                .collect::<Vec<_>>()
                .into(),
        ),
        (
            "limits",
            Value::from(object([
                (
                    "region_bytes",
                    limit(usage.region_bytes, limits.region_bytes),
                ),
                ("held_bytes", limit(usage.held_bytes, limits.held_bytes)),
                ("regions", limit(usage.regions, limits.regions)),
            ])),
        ),
    ])
}

fn region(region: &OpenRegion<'_>) -> Value {
    Value::from(object([
        ("field", Value::from(region.name)),
        ("span", span(region.span.clone())),
        ("captures", Value::Object(region.captures.clone())),
    ]))
}

fn watched(watched: &Watched<'_>) -> Value {
    let mut members = object([
        ("field", Value::from(watched.name)),
        ("side", Value::from(watched.side.name())),
        ("engine", Value::from(watched.pattern.engine().name())),
        delimiter_text(watched.pattern),
    ]);
    let mut add = |key: &str, value| members.insert(key.to_owned(), value);
    match &watched.waiting {
        Waiting::Nothing => add("waiting", Value::from("nothing")),
        Waiting::UnderWay { from } => {
            add("waiting", Value::from("under_way"));
            add("from", Value::count(*from))
        }
        Waiting::Matched { span: matched, .. } => {
            add("waiting", Value::from("matched"));
            add("span", span(matched.clone()))
        }
    };
    if let Some(reason) = watched.reason() {
        add("reason", Value::from(reason));
    }
    Value::Object(members)
}

/// The delimiter as a response template has it.
fn delimiter_text(pattern: &Pattern) -> (&'static str, Value) {
    match pattern.as_literals() {
        None => ("pattern", Value::from(pattern.source())),
        Some(literals) => {
            let literals = literals.iter().map(|literal| Value::from(literal.as_str()));
            ("literals", Value::Array(literals.collect()))
        }
    }
}

fn delimiter(passed: &Passed, template: &ResponseTemplate) -> Value {
    let field = &template.fields()[passed.field];
    Value::from(object([
        ("field", Value::from(field.name.as_str())),
        ("side", Value::from(passed.side.name())),
        ("span", span(passed.span.clone())),
    ]))
}
