//! Markdown, as for the summary of a workflow's step.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::place::FilePlace;
use super::{Outcome, Reporter, Summary, severity};
use crate::cli::escape;
use crate::cli::quoted::{block, code};

/// So many findings are written out; a summary on GitHub has an end, and nobody reads on.
const MANY: usize = 50;

pub(super) struct Markdown {
    title: String,
    /// The kind of thing that a result is of, such as a file.
    of: &'static str,
    found: String,
    count: usize,
}

impl Markdown {
    pub(super) fn new(verb: &str, of: &'static str) -> Self {
        Self {
            title: format!("obverse {verb}"),
            of,
            found: String::new(),
            count: 0,
        }
    }
}

impl Reporter for Markdown {
    fn result(&mut self, outcome: &Outcome, _: &mut dyn Write) -> io::Result<()> {
        for diagnostic in &outcome.diagnostics {
            self.count += 1;
            if self.count > MANY {
                continue;
            }
            let place = FilePlace::of(diagnostic, outcome)
                .map(|place| format!(":{}", place.text()))
                .unwrap_or_default();
            let mut text = escape::block(&diagnostic.message).into_owned();
            if let Some(hint) = &diagnostic.hint {
                let _ = write!(text, "\n\n{}", escape::block(hint));
            }
            let at = format!("{}{place}", escape::line(&outcome.file));
            let _ = write!(
                self.found,
                "\n**{}** {} in {}\n\n{}",
                severity(diagnostic.severity),
                code(diagnostic.code),
                code(&at),
                block("text", &text)
            );
        }
        Ok(())
    }

    fn finish(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let count = |number: usize, what: &str| {
            let plural = if number == 1 { "" } else { "s" };
            format!("{number} {what}{plural}")
        };
        let found = if self.count == 0 {
            "all well".to_owned()
        } else {
            let (errors, warnings) = (
                count(summary.errors, "error"),
                count(summary.warnings, "warning"),
            );
            format!("{errors}, {warnings}")
        };
        writeln!(out, "### {}\n", self.title)?;
        writeln!(out, "{}: {found}", count(summary.results, self.of))?;
        out.write_all(self.found.as_bytes())?;
        if self.count > MANY {
            writeln!(out, "\n... and {} more", self.count - MANY)?;
        }
        Ok(())
    }
}
