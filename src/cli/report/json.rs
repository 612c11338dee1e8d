//! JSON, whole or line by line.

use std::io::{self, Write};
use std::ops::Range;

use obverse::diagnostic::Fix;
use serde::Serialize;

use super::place::FilePlace;
use super::{Outcome, Reporter, Summary, severity};
use crate::cli::escape;

/// One document.
#[derive(Default)]
pub(super) struct Json {
    results: Vec<ReportedOutcome>,
}

/// One object a line.
pub(super) struct Lines;

/// The report of `--format json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Whole {
    /// One for each thing that was looked at, in order.
    pub(super) results: Vec<ReportedOutcome>,
    /// All of them, counted.
    pub(super) summary: ReportedSummary,
}

/// The outcome of one thing that was looked at.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ReportedOutcome {
    /// The name of the thing: the file's path, as it was given, and for a line of a `.jsonl` suite its number and name.
    pub(super) name: String,
    /// The file in which the places are.
    pub(super) file: String,
    /// `passed`, or `failed` with an error among the findings.
    pub(super) status: &'static str,
    /// The findings, in the order of the text.
    pub(super) diagnostics: Vec<ReportedDiagnostic>,
    /// How many findings were allowed.
    pub(super) allowed: usize,
}

/// One finding.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ReportedDiagnostic {
    /// Its stable name; `obverse explain` tells about it.
    pub(super) code: String,
    /// `error`, `warning` or `info`.
    pub(super) severity: &'static str,
    /// The fault, in a sentence.
    pub(super) message: String,
    /// The JSON path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<String>,
    /// Byte offsets into the file; of a line of a `.jsonl` suite, into its response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) span: Option<Range<usize>>,
    /// The line, counted from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    /// The column, counted from one, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) column: Option<usize>,
    /// The line on which the place ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_line: Option<usize>,
    /// The column behind the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_column: Option<usize>,
    /// Advice on how to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
    /// The change that mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<ReportedFix>"))]
    pub(super) fix: Option<Fix>,
}

/// All results, counted.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ReportedSummary {
    /// How many there are.
    pub(super) results: usize,
    /// How many of them failed.
    pub(super) failed: usize,
    /// How many findings are errors.
    pub(super) errors: usize,
    /// How many are warnings.
    pub(super) warnings: usize,
    /// How many are worth knowing.
    pub(super) infos: usize,
    /// How many were allowed.
    pub(super) allowed: usize,
    /// How many findings have a fix.
    pub(super) fixable: usize,
}

impl ReportedOutcome {
    fn of(outcome: &Outcome) -> Self {
        let diagnostic = |diagnostic: &obverse::diagnostic::Diagnostic| {
            let place = FilePlace::of(diagnostic, outcome);
            let columns = place.and_then(|place| place.columns);
            ReportedDiagnostic {
                code: diagnostic.code.to_owned(),
                severity: severity(diagnostic.severity),
                message: diagnostic.message.clone(),
                path: diagnostic.place.path.clone(),
                span: diagnostic.place.span.clone(),
                line: place.map(|place| place.line),
                column: columns.map(|columns| columns.start),
                end_line: columns.map(|columns| columns.end_line),
                end_column: columns.map(|columns| columns.end),
                hint: diagnostic.hint.clone(),
                fix: diagnostic.fix.clone(),
            }
        };
        Self {
            name: outcome.name.clone(),
            file: outcome.file.clone(),
            status: if outcome.failed() { "failed" } else { "passed" },
            diagnostics: outcome.diagnostics.iter().map(diagnostic).collect(),
            allowed: outcome.allowed,
        }
    }
}

impl ReportedSummary {
    fn of(summary: &Summary) -> Self {
        let Summary {
            results,
            failed,
            errors,
            warnings,
            infos,
            allowed,
            fixable,
        } = *summary;
        Self {
            results,
            failed,
            errors,
            warnings,
            infos,
            allowed,
            fixable,
        }
    }
}

impl Reporter for Json {
    fn result(&mut self, outcome: &Outcome, _: &mut dyn Write) -> io::Result<()> {
        self.results.push(ReportedOutcome::of(outcome));
        Ok(())
    }

    fn finish(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let whole = Whole {
            results: std::mem::take(&mut self.results),
            summary: ReportedSummary::of(summary),
        };
        let text = serde_json::to_string_pretty(&whole).map_err(io::Error::other)?;
        writeln!(out, "{}", escape::json(&text))
    }
}

impl Reporter for Lines {
    fn result(&mut self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
        line(&ReportedOutcome::of(outcome), out)
    }

    fn finish(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        #[derive(Serialize)]
        struct Last {
            summary: ReportedSummary,
        }
        line(
            &Last {
                summary: ReportedSummary::of(summary),
            },
            out,
        )
    }
}

fn line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string(value).map_err(io::Error::other)?;
    writeln!(out, "{}", escape::json(&text))
}

/// The change that mends a finding: all edits or none, and none overlaps another.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "the shape of a fix, for the schema")]
struct ReportedFix {
    /// The action of the fix, as an instruction.
    message: String,
    /// The changes.
    edits: Vec<ReportedEdit>,
}

/// One stretch of the file and what to put there instead.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "the shape of an edit, for the schema")]
struct ReportedEdit {
    /// Byte offsets into the file.
    span: Range<usize>,
    /// The new text.
    text: String,
}

#[cfg(test)]
mod tests {
    use super::Whole;

    /// With `OBVERSE_UPDATE` set the file is written instead.
    #[test]
    fn the_schema_is_not_stale() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/report.json");
        let schema = schemars::schema_for!(Whole);
        let text = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
        if std::env::var_os("OBVERSE_UPDATE").is_some() {
            std::fs::write(path, &text).expect("a file");
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == text,
            "stale; run this test with OBVERSE_UPDATE=1"
        );
    }
}
