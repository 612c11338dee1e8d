//! The outcome of many derivations: a line for each, and at the end how many of each verdict there are.

use obverse::derive::{Report, Verdict};

use super::{human, verdict};
use crate::cli::color::{BOLD, DIM, RED, paint};
use crate::cli::escape;

/// The width of the column of verdicts.
const COLUMN: usize = 24;

/// How many sources of a verdict are named.
const NAMED: usize = 12;

/// In the place of a verdict where nothing could be derived.
const FAILED: &str = "NOT DERIVED";

/// The verdicts so far.
#[derive(Debug, Default)]
pub(super) struct Summary {
    told: Vec<(Option<Verdict>, String)>,
}

impl Summary {
    /// A line for one derivation, with the cause where it is not proved.
    pub(super) fn line(&mut self, report: &Report) -> String {
        self.told
            .push((Some(report.verdict), report.source.clone()));
        let (words, style) = human::verdict_words(report.verdict);
        let why = match report.verdict {
            Verdict::Proved => None,
            _ => verdict::cause(report),
        };
        let why = why.map_or(String::new(), |why| paint(DIM, &format!("  {why}")));
        let source = escape::line(&report.source);
        format!("{}{source}{why}\n", padded(&paint(style, words), words))
    }

    /// Notes a source from which nothing could be derived.
    pub(super) fn failed(&mut self, source: &str) -> String {
        self.told.push((None, source.to_owned()));
        let source = escape::line(source);
        format!("{}{source}\n", padded(&paint(RED.bold(), FAILED), FAILED))
    }

    /// How many there are of each verdict, and which are not proved.
    pub(super) fn table(&self) -> String {
        let mut out = String::from("\n");
        for verdict in [
            Some(Verdict::Proved),
            Some(Verdict::ProvedInPart),
            Some(Verdict::Inexpressible),
            Some(Verdict::NotProved),
            None,
        ] {
            let of = self.told.iter().filter(|(told, _)| *told == verdict);
            let sources: Vec<_> = of.map(|(_, source)| escape::line(source)).collect();
            if sources.is_empty() {
                continue;
            }
            let (words, style) = verdict.map_or((FAILED, RED.bold()), human::verdict_words);
            let label = padded(&paint(style, words), words);
            let count = paint(BOLD, &format!("{:>4}", sources.len()));
            let names = match verdict {
                Some(Verdict::Proved) => String::new(),
                _ => {
                    let more = sources.len().saturating_sub(NAMED);
                    let shown = sources[..sources.len() - more].join(", ");
                    let more = if more > 0 {
                        format!(", and {more} more")
                    } else {
                        String::new()
                    };
                    format!("  {shown}{more}")
                }
            };
            out.push_str(&format!("{label}{count}{names}\n"));
        }
        out
    }
}

/// A styled label in its column.
fn padded(label: &str, plain: &str) -> String {
    format!("{label}{}", " ".repeat(COLUMN.saturating_sub(plain.len())))
}
