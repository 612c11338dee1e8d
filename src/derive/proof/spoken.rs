//! Delimiters with a text of the messages that were tried.
//!
//! A chat template may write what was said before into the header of a turn, as `[bot re="{{ question }}"]` does. All renders of one conversation then have
//! the same constant there, which no other conversation has. The messages come back all the same, so that the proof needs to be told.

use super::Bench;
use crate::derive::evidence::finding::Finding;
use crate::derive::probe;
use crate::pattern::Pattern;
use crate::value::json;

/// The code of the finding.
pub(super) const TEXT_IN_DELIMITER: &str = "text-in-delimiter";

/// Returns a finding if a delimiter has a text of the messages in it which is none of the chat template's own.
pub(super) fn find(bench: &Bench<'_>) -> Option<Finding> {
    let fields = bench.template.fields().iter();
    let of_fields = fields.flat_map(|field| field.open.iter().chain(&field.close));
    let all = std::iter::once(bench.template.anchor()).chain(of_fields);
    let delimiters: Vec<&str> = all.map(Pattern::source).collect();
    let (delimiter, text) = bench.judge.spoken_by(&delimiters, probe::texts())?;
    let why = format!(
        "{} is a text of the messages that were tried, and not of the chat template; a delimiter with it is found in no other conversation: {}",
        json::quote(&text),
        json::quote(delimiter)
    );
    Some(Finding::error(TEXT_IN_DELIMITER, why.as_str()).because(why))
}
