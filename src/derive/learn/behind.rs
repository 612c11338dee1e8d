//! What closes a call within the call's own texts.
//!
//! An argument may speak of what closes a call, as one does that has a line of a chat template in it: `{"text": "</call> ends it"}`. What closes a call so counts only where the body
//! of a call has ended: behind a closing bracket, where the body is JSON, or behind the end of an argument or what opens the call, where arguments stand in tags. For example,
//! `</call>` becomes `(?<=[\}\]]\s{0,64})</call>`.
//!
//! Whatever the renders have within their calls, what closes one stands behind its body, so that all of them are read as before; those responses in which the pattern finds
//! something else than before are parsed once to see to that. A body that is no JSON, or an argument whose own end is missing, is not closed any more. The former is an error
//! either way, and of the latter the argument was lost.

use super::unclosed::{JSON_ENDS, ends_of_arguments};
use super::{CALLS_KEY, reads_as_before, split};
use crate::derive::compare::pattern::{
    SPACE, alternatives, bounded, bounded_by, grouped, looks_around, optional_beginning,
    split_id_ahead, without_captures, without_references,
};
use crate::judge::{Case, Scrutiny};
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, FieldDocument};

/// How much white space may stand between the end of the body and what closes the call, in characters.
const MAX_SPACE: usize = 64;

/// Returns the response template with what closes a call counting only behind a body, where no response is read otherwise by that; `None` where it stays as it is.
pub(in crate::derive) fn closed_behind_bodies(
    engines: &[Engine],
    document: &Document,
    cases: &[Case],
    scrutiny: Scrutiny,
) -> Option<Document> {
    let field = document.fields.get(CALLS_KEY)?;
    let own = split::source(field.close.as_ref()?);
    let close = narrowed(&alternatives(&own), &ends(field)?)?;
    let (before, now) = (Pattern::regex(&own).ok()?, Pattern::regex(&close).ok()?);
    let found = |pattern: &Pattern, text: &str| {
        let found = pattern.find_iter(text);
        let spans = found.map(|found| found.map(|found| found.span).ok());
        spans.collect::<Option<Vec<_>>>()
    };
    let mut changed = document.clone();
    changed.fields.get_mut(CALLS_KEY)?.close = Some(Delimiter::pattern(close));
    let differs = |case: &&Case| {
        let of = |pattern| found(pattern, &case.response);
        of(&before).is_none() || of(&before) != of(&now)
    };
    let others = cases.iter().filter(differs);
    reads_as_before(engines, document, &changed, others, scrutiny).then_some(changed)
}

/// Returns the alternatives of what closes a call, put together, with those that take something of the text only behind what these patterns look for; `None` where there are
/// none.
fn narrowed(ways: &[String], behind: &str) -> Option<String> {
    let takes = |way: &&String| {
        !["(?<", "(?=", "(?!"]
            .iter()
            .any(|look| way.starts_with(look))
    };
    let (taking, others): (Vec<&String>, Vec<&String>) = ways.iter().partition(takes);
    let taking: Vec<&str> = taking.into_iter().map(String::as_str).collect();
    if taking.is_empty() || taking.contains(&"") {
        return None;
    }
    let taking = grouped(&taking.join("|"));
    let own = format!("(?<={behind}){taking}");
    let all: Vec<&str> = std::iter::once(own.as_str())
        .chain(others.into_iter().map(String::as_str))
        .collect();
    Some(match all.as_slice() {
        [own] => (*own).to_owned(),
        several => format!("(?:{})", several.join("|")),
    })
}

/// Returns a pattern for what stands before the close of a call: the end of its body, and white space.
fn ends(field: &FieldDocument) -> Option<String> {
    let space = bounded_by(SPACE, MAX_SPACE, MAX_SPACE);
    match field.content.as_deref()? {
        "json" => Some(format!("{JSON_ENDS}{space}")),
        "xml-inline" if field.repeats => {
            let ends = bounded(&ends_of_arguments(field)?);
            let own = field.open.as_ref()?.as_pattern();
            let (own, _) = split_id_ahead(&own);
            let open = without_captures(&without_references(own, own)?)?;
            let (_, open) = optional_beginning(&open);
            // What follows the opening is no part of what stands before the close.
            let open = match open.rfind("(?=") {
                Some(at) if open.ends_with(')') => &open[..at],
                _ => open,
            };
            let open = open.strip_suffix(SPACE).unwrap_or(open);
            let is_plain = !open.is_empty() && !looks_around(open);
            is_plain.then(|| format!("(?:{ends}|{}){space}", grouped(&bounded(open))))
        }
        _ => None,
    }
}
