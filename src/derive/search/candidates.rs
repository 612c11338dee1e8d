//! The candidates that may be tried, and the parts of a message that are wrong.

use crate::derive::choice::{About, MadeDecision, Preference};
use crate::derive::evidence::finding::Counterexample;
use crate::derive::probe::CALLS_KEY;
use crate::value::Value;

/// Returns every candidate that was not taken; other spellings, which are other texts, come last.
pub(super) fn all(asked: &[MadeDecision]) -> Vec<Preference> {
    let others = |asked: &MadeDecision| {
        let others = asked.candidates.iter().enumerate();
        let others = others.filter(|(index, _)| *index != asked.taken);
        let wanted = others.map(|(_, description)| Preference {
            decision: asked.decision,
            name: description.name.clone(),
        });
        wanted.collect::<Vec<_>>()
    };
    let (spelling, candidate): (Vec<&MadeDecision>, Vec<&MadeDecision>) = asked
        .iter()
        .partition(|asked| asked.decision.about() == About::Spelling);
    let all = candidate.into_iter().chain(spelling);
    all.flat_map(others).collect()
}

/// The parts of a message in which what was parsed is not what was expected.
pub(super) fn differing(found: &Counterexample) -> Vec<About> {
    let empty = Default::default();
    let members = |value: &'_ Value| value.as_object().unwrap_or(&empty).clone();
    let (expected, parsed) = (members(&found.expected), members(&found.parsed));
    let mut parts = Vec::new();
    for key in expected.keys().chain(parsed.keys()) {
        if expected.get(key) == parsed.get(key) {
            continue;
        }
        let part = match key.as_str() {
            "content" => About::Content,
            CALLS_KEY => About::Calls,
            _ => About::Reasoning,
        };
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}
