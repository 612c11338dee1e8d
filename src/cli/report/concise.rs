//! One line for each finding.

use std::io::{self, Write};

use super::place::FilePlace;
use super::{Outcome, Reporter, Summary, severity};
use crate::cli::escape;

pub(super) struct Concise;

impl Reporter for Concise {
    fn result(&mut self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
        for diagnostic in &outcome.diagnostics {
            let place = FilePlace::of(diagnostic, outcome)
                .map(|place| format!("{}:", place.text()))
                .unwrap_or_default();
            writeln!(
                out,
                "{}:{place} {}[{}] {}",
                escape::line(&outcome.file),
                severity(diagnostic.severity),
                diagnostic.code,
                escape::line(&diagnostic.message),
            )?;
        }
        Ok(())
    }

    fn finish(&mut self, _: &Summary, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
