//! Blocks with the place in the file, for people. Quiet when all is well.

use std::io::{self, Write};

use obverse::diagnostic::Severity;

use super::{Outcome, Reporter, Summary};
use crate::cli::problem::{Document, Problem};
use crate::cli::width;

/// Blocks, and last how many.
pub(super) struct Human {
    /// The kind of thing that a result is of, such as a file.
    pub(super) of: &'static str,
    /// The columns of the terminal, if it goes to one.
    pub(super) columns: Option<usize>,
    /// The results that are counted from some on instead of being shown; `None` where all of them are shown.
    pub(super) folded: Option<Vec<Fold>>,
}

/// Results that say the same.
pub(super) struct Fold {
    said: Said,
    /// How many of them were shown.
    shown: usize,
    /// The names of those that were not.
    others: Vec<String>,
}

/// How many names are told of results that are not shown.
const NAMED: usize = 4;

/// The part of a result that others may have in common with it.
#[derive(PartialEq, Eq)]
enum Said {
    /// A finding that speaks of no place.
    Finding { code: &'static str, message: String },
    /// The codes of findings that nobody has to do anything about.
    Notes(Vec<&'static str>),
}

impl Said {
    fn of(outcome: &Outcome) -> Option<Self> {
        let all = &outcome.diagnostics;
        if all.iter().all(|found| found.severity == Severity::Info) {
            return Some(Self::Notes(all.iter().map(|found| found.code).collect()));
        }
        match all.as_slice() {
            [found] if found.place.span.is_none() && found.labels.is_empty() => {
                Some(Self::Finding {
                    code: found.code,
                    message: found.message.clone(),
                })
            }
            _ => None,
        }
    }

    /// How many results that say it are shown.
    fn most(&self) -> usize {
        match self {
            Self::Finding { .. } => 2,
            Self::Notes(_) => 3,
        }
    }

    /// The codes that it has.
    fn codes(&self) -> String {
        let quoted = |code: &&str| format!("`{code}`");
        match self {
            Self::Finding { code, .. } => quoted(code),
            Self::Notes(codes) => codes.iter().map(quoted).collect::<Vec<_>>().join(", "),
        }
    }
}

impl Fold {
    /// One line about the results that were not shown.
    fn told(&self) -> Option<String> {
        let others = self.others.len();
        if others == 0 {
            return None;
        }
        let mut names = self
            .others
            .iter()
            .take(NAMED)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        if others > NAMED {
            names += &format!(" and {} more", others - NAMED);
        }
        let codes = self.said.codes();
        Some(format!(
            "{codes} is found for {names}, too; -v shows it for each"
        ))
    }
}

impl Human {
    /// Returns true if a result is counted with others and not shown.
    fn folds(&mut self, outcome: &Outcome) -> bool {
        let (Some(folded), Some(said)) = (&mut self.folded, Said::of(outcome)) else {
            return false;
        };
        match folded.iter_mut().find(|fold| fold.said == said) {
            Some(fold) if fold.shown == said.most() => {
                fold.others.push(outcome.name.clone());
                true
            }
            Some(fold) => {
                fold.shown += 1;
                false
            }
            None => {
                let (shown, others) = (1, Vec::new());
                folded.push(Fold {
                    said,
                    shown,
                    others,
                });
                false
            }
        }
    }
}

impl Reporter for Human {
    fn result(&mut self, outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
        if outcome.diagnostics.is_empty() {
            return Ok(());
        }
        if self.folds(outcome) {
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
        for fold in self.folded.iter().flatten() {
            if let Some(line) = fold.told() {
                writeln!(out, "{}\n", width::fit(&line, self.columns))?;
            }
        }
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
