//! Text that looks like a marker: inside a string of an argument, inside a block of code, inside a thought.
//!
//! A delimiter that closes a region closes it wherever it stands, in the reference as here. A chat template writes such a text as it is, so
//! the response template alone does not decide if a message with it comes back. The outcome is reported and fails nothing.

use super::Bench;
use crate::derive::compare::slot;
use crate::derive::evidence::finding::{Counterexample, Finding};
use crate::derive::read::analysis::Analysis;
use crate::derive::read::cut::Body;
use crate::response_template::ResponseTemplate;
use crate::value::json;

/// Returns a finding with the markers that are taken for delimiters where a text only mentions them.
pub(super) fn find(bench: &Bench<'_>) -> Option<Finding> {
    let mut found: Vec<(&'static str, Vec<String>)> = Vec::new();
    let mut smallest: Option<Counterexample> = None;
    for marker in markers(bench.analysis, bench.template) {
        for (place, counterexample) in bench.judge.speaks_of(bench.subject(), &marker) {
            match found.iter_mut().find(|(known, _)| *known == place) {
                // A part of it that is read as a marker says all that it says.
                Some((_, markers)) if markers.iter().any(|part| marker.contains(part)) => continue,
                Some((_, markers)) => markers.push(marker.clone()),
                None => found.push((place, vec![marker.clone()])),
            }
            smallest.get_or_insert(counterexample);
        }
    }
    if found.is_empty() {
        return None;
    }
    let places: Vec<String> = found
        .iter()
        .map(|(place, markers)| {
            let quoted: Vec<String> = markers.iter().map(|marker| json::quote(marker)).collect();
            format!("in {place} {}", quoted.join(", "))
        })
        .collect();
    let text = format!(
        "text that looks like a marker is read as one, wherever it stands: {}",
        places.join("; ")
    );
    Some(Finding::info("marker-in-text", text).with(smallest))
}

/// The markers by which a response is cut, as they are written.
fn markers(analysis: &Analysis, template: &ResponseTemplate) -> Vec<String> {
    let mut markers: Vec<String> = Vec::new();
    let mut add = |marker: &str| {
        let marker = marker.trim();
        if !marker.is_empty() && !slot::any(marker) && !markers.iter().any(|known| known == marker)
        {
            markers.push(marker.to_owned());
        }
    };
    if let Some(reasoning) = &analysis.reasoning {
        add(&reasoning.open);
        add(&reasoning.close);
    }
    if let Some(calls) = &analysis.calls {
        for marker in [
            &calls.section.0,
            &calls.call.0,
            &calls.call.1,
            &calls.section.1,
        ] {
            add(marker);
        }
        // Where a call opens only before its body, its marker is read as one together with that.
        if let Some(first) = calls.body.first_sign() {
            let then = match calls.body {
                Body::Array(_) | Body::Text => "{",
                _ => "\"",
            };
            add(&format!("{}{first}{then}", calls.call.0.trim()));
        }
    }
    // Where the content is what is left, each of the markers around it counts by itself.
    if template.implicit().is_some() {
        add(analysis.content.open.as_deref().unwrap_or_default());
        let end = analysis.pieces.tokens(analysis.turn_end.marker());
        end.into_iter().for_each(&mut add);
    }
    add(analysis.turn_end.marker());
    markers
}
