//! SARIF 2.1.0, for code scanning.

use std::io::{self, Write};

use obverse::diagnostic::{Diagnostic, Severity};
use obverse::lint;
use serde_sarif::sarif::{
    self, ArtifactLocation, Location, Message, MultiformatMessageString, PhysicalLocation, Region,
    ReportingDescriptor, ResultLevel, Run, Tool, ToolComponent,
};

use super::place::FilePlace;
use super::{Outcome, Reporter, Summary};
use crate::cli::{codes, escape};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

#[derive(Default)]
pub(super) struct Sarif {
    results: Vec<sarif::Result>,
    /// The codes of the results, in the order of their first.
    codes: Vec<&'static str>,
}

impl Reporter for Sarif {
    fn result(&mut self, outcome: &Outcome, _: &mut dyn Write) -> io::Result<()> {
        for diagnostic in &outcome.diagnostics {
            let index = self
                .codes
                .iter()
                .position(|code| *code == diagnostic.code)
                .unwrap_or_else(|| {
                    self.codes.push(diagnostic.code);
                    self.codes.len() - 1
                });
            self.results.push(result(outcome, diagnostic, index));
        }
        Ok(())
    }

    fn finish(&mut self, _: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let rules: Vec<ReportingDescriptor> =
            self.codes.iter().map(|code| descriptor(code)).collect();
        let driver = ToolComponent::builder()
            .name("obverse")
            .version(env!("CARGO_PKG_VERSION"))
            .rules(rules)
            .build();
        let run = Run::builder()
            .tool(Tool::builder().driver(driver).build())
            .results(std::mem::take(&mut self.results))
            .build();
        let document = sarif::Sarif::builder()
            .schema(SCHEMA)
            .version(serde_json::json!("2.1.0"))
            .runs(vec![run])
            .build();
        let text = serde_json::to_string_pretty(&document).map_err(io::Error::other)?;
        writeln!(out, "{}", escape::json(&text))
    }
}

fn result(outcome: &Outcome, diagnostic: &Diagnostic, index: usize) -> sarif::Result {
    let file = ArtifactLocation::builder().uri(uri(&outcome.file)).build();
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let region = |place: FilePlace| {
        let line = Region::builder().start_line(count(place.line));
        match place.columns {
            Some(columns) => line
                .start_column(count(columns.start))
                .end_line(count(columns.end_line))
                .end_column(count(columns.end))
                .build(),
            None => line.build(),
        }
    };
    let physical = match FilePlace::of(diagnostic, outcome) {
        Some(place) => PhysicalLocation::builder()
            .artifact_location(file)
            .region(region(place))
            .build(),
        None => PhysicalLocation::builder().artifact_location(file).build(),
    };
    let location = Location::builder().physical_location(physical).build();
    let mut text = diagnostic.message.clone();
    if let Some(hint) = &diagnostic.hint {
        text.push('\n');
        text.push_str(hint);
    }
    sarif::Result::builder()
        .rule_id(diagnostic.code)
        .rule_index(count(index))
        .level(level(diagnostic.severity))
        .message(Message::builder().text(text).build())
        .locations(vec![location])
        .build()
}

fn level(severity: Severity) -> ResultLevel {
    match severity {
        Severity::Error => ResultLevel::Error,
        Severity::Warning => ResultLevel::Warning,
        Severity::Info => ResultLevel::Note,
    }
}

fn descriptor(code: &str) -> ReportingDescriptor {
    let help = codes::page(code)
        .map(|page| page.text.into_owned())
        .unwrap_or_default();
    let text = |text: &str| MultiformatMessageString::builder().text(text).build();
    match lint::rules().iter().find(|rule| rule.code == code) {
        Some(rule) => ReportingDescriptor::builder()
            .id(code)
            .short_description(text(rule.summary))
            .full_description(text(rule.why))
            .help(
                MultiformatMessageString::builder()
                    .text(rule.remedy)
                    .markdown(help)
                    .build(),
            )
            .build(),
        None => ReportingDescriptor::builder()
            .id(code)
            .help(text(&help))
            .build(),
    }
}

/// The path as a relative reference: what a URI keeps for itself is escaped.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
