//! The origins of a render, for programs and for people.

use std::io::{self, IsTerminal as _};

use anstream::ColorChoice;
use obverse::chat_template::{ChatTemplate, InputPath, InputStep, Origin, Run, Traced};
use obverse::value::{Map, Value};

use super::Format;
use crate::cli::color::{DIM, GREEN, YELLOW, paint};
use crate::cli::{escape, output, wire};

/// Writes a traced render to standard output.
pub(super) fn print(
    template: &ChatTemplate,
    traced: &Traced,
    format: Option<Format>,
) -> io::Result<()> {
    let format = format.unwrap_or_else(|| {
        let is_seen = io::stdout().is_terminal()
            || matches!(
                ColorChoice::global(),
                ColorChoice::Always | ColorChoice::AlwaysAnsi
            );
        if is_seen { Format::Text } else { Format::Json }
    });
    match format {
        Format::Json => output::print_json(&wire::line(members(template, traced))),
        Format::Text => {
            output::tell(&format!(
                "origins: {}, {}, {}\n",
                paint(DIM, "the chat template"),
                paint(GREEN, "an input"),
                paint(YELLOW, "derived")
            ));
            output::print_styled(&coloured(traced))
        }
    }
}

/// The text, each run in the style of its origin.
fn coloured(traced: &Traced) -> String {
    let mut out = String::new();
    for run in &traced.runs {
        let style = match &run.origin {
            origin if origin.is_derived() => YELLOW,
            Origin::Source { .. } => DIM,
            Origin::Input { .. } => GREEN,
        };
        out += &paint(style, &escape::block(&traced.text[run.start..run.end]));
    }
    out
}

/// `text`, `origins` and `decided_by`.
pub(super) fn members(template: &ChatTemplate, traced: &Traced) -> Map {
    let lines = Lines::of(template.source());
    let runs = traced.runs.iter().map(|run| of_run(&lines, run)).collect();
    wire::object([
        ("text", Value::from(traced.text.as_str())),
        ("origins", Value::Array(runs)),
        (
            "decided_by",
            Value::Array(traced.decided_by.iter().map(of_path).collect()),
        ),
    ])
}

fn of_run(lines: &Lines<'_>, run: &Run) -> Value {
    let mut out = wire::object([
        ("start", Value::count(run.start)),
        ("end", Value::count(run.end)),
    ]);
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    match &run.origin {
        Origin::Source { start, end, .. } => {
            let (line, column) = lines.place(*start);
            let place = wire::object([
                ("line", Value::count(line)),
                ("column", Value::count(column)),
                ("start", Value::count(*start)),
                ("end", Value::count(*end)),
            ]);
            put("source", Value::Object(place));
        }
        Origin::Input {
            path,
            from,
            key,
            also,
            ..
        } => {
            put("input", of_path(path));
            if let Some((start, end)) = from {
                put(
                    "from",
                    Value::Array(vec![Value::count(*start), Value::count(*end)]),
                );
            }
            if *key {
                put("key", Value::Bool(true));
            }
            if !also.is_empty() {
                put("also", Value::Array(also.iter().map(of_path).collect()));
            }
        }
    }
    if run.origin.is_derived() {
        put("derived", Value::Bool(true));
    }
    Value::Object(out)
}

fn of_path(path: &InputPath) -> Value {
    let steps = path.iter().map(|step| match step {
        InputStep::Key(key) => Value::from(key.as_str()),
        InputStep::Index(index) => Value::count(*index),
    });
    Value::Array(steps.collect())
}

/// Where the lines of a source start.
struct Lines<'s> {
    source: &'s str,
    starts: Vec<usize>,
}

impl<'s> Lines<'s> {
    fn of(source: &'s str) -> Self {
        let starts = source.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            source,
            starts: std::iter::once(0).chain(starts).collect(),
        }
    }

    /// The line and the column of an offset, from 1 on, the column in characters.
    fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        let before = self.source.get(start..offset).unwrap_or_default();
        (line, before.chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn places_count_characters_from_one() {
        let lines = Lines::of("é{{ a }}\nb\n");
        assert_eq!(lines.place(0), (1, 1));
        assert_eq!(lines.place(2), (1, 2));
        assert_eq!(lines.place(10), (2, 1));
        assert_eq!(lines.place(12), (3, 1));
    }
}
