//! Workflow commands: GitHub shows each finding beside its line.

use std::io::{self, Write};

use obverse::diagnostic::Severity;

use super::place::FilePlace;
use super::{Outcome, Reporter, Summary};
use crate::cli::escape;

pub(super) struct Github;

impl Reporter for Github {
    fn result(&mut self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
        for diagnostic in &outcome.diagnostics {
            let command = match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "notice",
            };
            let place = FilePlace::of(diagnostic, outcome).map_or_else(String::new, |place| {
                let line = place.line;
                match place.columns {
                    // Columns are for places on one line only.
                    Some(columns) if columns.end_line == line => {
                        format!(
                            ",line={line},col={},endColumn={}",
                            columns.start, columns.end
                        )
                    }
                    Some(columns) => format!(",line={line},endLine={}", columns.end_line),
                    None => format!(",line={line}"),
                }
            });
            let mut message = escape::block(&diagnostic.message).into_owned();
            if let Some(hint) = &diagnostic.hint {
                message.push('\n');
                message.push_str(&escape::block(hint));
            }
            writeln!(
                out,
                "::{command} file={}{place},title={}::{}",
                property(&escape::line(&outcome.file)),
                diagnostic.code,
                data(&message),
            )?;
        }
        Ok(())
    }

    fn finish(&mut self, _: &Summary, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// The text as a command's message may hold it.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The text as a command's property may hold it.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
