//! The summary of a list for people: how many models and chat templates there are of each verdict, and of each format.

use std::collections::BTreeMap;

use super::state::State;
use crate::cli::color::{BOLD, DIM, paint};
use crate::cli::escape;

/// In the place of a verdict where nothing could be derived.
const FAILED: &str = "not derived";

/// The verdicts in the order in which they are told, and their words.
const VERDICTS: [(&str, &str); 4] = [
    ("proved", "proved"),
    ("proved_in_part", "proved in part"),
    ("inexpressible", "not wholly expressible"),
    ("not_proved", "not proved"),
];

/// A row of a table: its words, the models and the chat templates.
type Row = (String, usize, usize);

/// The summary.
pub(super) fn summary(state: &State) -> String {
    let mut verdicts: BTreeMap<usize, Row> = BTreeMap::new();
    let mut formats: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (name, template) in &state.templates {
        let models = state.models_of(name);
        // A list may have become shorter.
        if models == 0 {
            continue;
        }
        let (at, words) = match &template.outcome {
            Ok(format) => {
                let told = format!(
                    "reasoning {}, content {}, tools {}",
                    format.reasoning, format.content, format.tools
                );
                let row = formats.entry(told).or_default();
                *row = (row.0 + models, row.1 + 1);
                let at = VERDICTS
                    .iter()
                    .position(|(name, _)| *name == format.verdict);
                let at = at.unwrap_or(VERDICTS.len());
                (
                    at,
                    VERDICTS
                        .get(at)
                        .map_or(format.verdict.as_str(), |(_, words)| words),
                )
            }
            Err(_) => (VERDICTS.len() + 1, FAILED),
        };
        let row = verdicts
            .entry(at)
            .or_insert_with(|| (words.to_owned(), 0, 0));
        *row = (row.0.clone(), row.1 + models, row.2 + 1);
    }
    let mut failures: BTreeMap<&str, usize> = BTreeMap::new();
    for failure in state
        .models
        .values()
        .filter_map(|model| model.outcome.as_ref().err())
    {
        *failures.entry(&failure.code).or_default() += 1;
    }
    let mut formats: Vec<Row> = formats
        .into_iter()
        .map(|(words, (models, templates))| (words, models, templates))
        .collect();
    formats.sort_by_key(|(_, models, _)| std::cmp::Reverse(*models));
    let failures = failures.into_iter();
    let failures = failures.map(|(code, models)| (format!("{FAILED}: {code}"), models, 0));
    let mut out = String::from("\n");
    out.push_str(&table(
        "verdict",
        verdicts.into_values().chain(failures).collect(),
    ));
    if !formats.is_empty() {
        out.push('\n');
        out.push_str(&table("format", formats));
    }
    out
}

fn table(title: &str, rows: Vec<Row>) -> String {
    let longest = rows.iter().map(|(words, ..)| words.chars().count()).max();
    let width = longest.unwrap_or_default().max(title.len()) + 2;
    let mut out = paint(
        DIM,
        &format!("{title:width$}{:>8}{:>16}", "models", "chat templates"),
    ) + "\n";
    for (words, models, templates) in rows {
        let words = format!("{:width$}", escape::line(&words));
        let templates = match templates {
            0 => String::new(),
            count => format!("{count:>16}"),
        };
        let models = paint(BOLD, &format!("{models:>8}"));
        out.push_str(&format!("{words}{models}{templates}\n"));
    }
    out
}
