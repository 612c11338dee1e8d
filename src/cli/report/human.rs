//! Blocks with the place in the file, for people. Quiet when all is well.

use std::io::{self, Write};

use super::{Outcome, Reporter, Summary};
use crate::cli::problem::{Document, Problem};
use crate::cli::width;

/// Blocks, and last how many.
pub(super) struct Human {
    /// The kind of thing that a result is of, such as a file.
    pub(super) of: &'static str,
    /// The columns of the terminal, if it goes to one.
    pub(super) columns: Option<usize>,
}

impl Reporter for Human {
    fn result(&mut self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
        if outcome.diagnostics.is_empty() {
            return Ok(());
        }
        // The lines that are shown of a response on a line of a file are its own.
        let name = match outcome.line {
            Some(_) if !outcome.text.is_empty() => format!("{}, response", outcome.name),
            Some(_) => outcome.name.clone(),
            None => outcome.file.clone(),
        };
        let problem = Problem::all(outcome.diagnostics.clone())
            .about(Document::new(name, outcome.text.as_str()));
        let text = problem.render(self.columns);
        writeln!(out, "{}", width::fit(&text, self.columns))
    }

    fn finish(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let count = |number: usize, what: &str| {
            let plural = if number == 1 { "" } else { "s" };
            (number > 0).then(|| format!("{number} {what}{plural}"))
        };
        let found: Vec<String> = [
            count(summary.errors, "error"),
            count(summary.warnings, "warning"),
            (summary.infos > 0).then(|| format!("{} to know", summary.infos)),
        ]
        .into_iter()
        .flatten()
        .collect();
        if found.is_empty() {
            return Ok(());
        }
        let allowed = count(summary.allowed, "allowed finding").unwrap_or_default();
        let allowed = if allowed.is_empty() {
            allowed
        } else {
            format!(", and {allowed}")
        };
        let files = count(summary.results, self.of).unwrap_or_default();
        let fixable = match summary.fixable {
            0 => "",
            1 => "; one can be fixed: --diff shows how, --fix does it",
            number => &format!("; {number} can be fixed: --diff shows how, --fix does it"),
        };
        let line = format!("{} in {files}{allowed}{fixable}", found.join(", "));
        writeln!(out, "{}", width::fit(&line, self.columns))
    }
}
