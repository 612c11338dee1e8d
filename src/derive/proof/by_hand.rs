//! Reasoning that the chat template drops, written by hand into a turn that it renders.

use super::{Bench, Proof};
use crate::derive::evidence::finding::Finding;
use crate::derive::probe;
use crate::judge::Case;
use crate::value::{Map, Value};

/// A plain thought, and one with characters in it at which an answer may be cut.
const THOUGHTS: [&str; 2] = [
    probe::REASONING,
    "Brindle step one.\n\nStep \"two\": a < b, {x} oxbow",
];

/// Writes a reasoning, between its markers, into the turns that came back without one, as the model would write it, and parses the result.
pub(super) fn reasoning(bench: Bench<'_>, proof: &mut Proof) {
    let Some(reasoning) = &bench.analysis.reasoning else {
        return;
    };
    if reasoning.is_rendered {
        return;
    }
    let field = crate::derive::emit::reasoning_field(bench.analysis, bench.target);
    let turns = proof.judgement.cases.iter();
    let cases: Vec<Case> = turns
        .flat_map(|case| THOUGHTS.map(|thought| with_reasoning(bench, case, field, thought)))
        .flatten()
        .collect();
    let mut failed = None;
    for case in cases {
        match bench.parse(&case) {
            None => {
                proof.rounds.injected += 1;
                proof.by_hand.push(case);
            }
            Some(found) => {
                proof.rounds.failed += 1;
                failed.get_or_insert(found);
            }
        }
    }
    if let Some(found) = failed {
        let text = "a reasoning that is written into a turn by hand does not come back";
        proof
            .findings
            .push(Finding::error("not-inverted", text).with(Some(found)));
    }
    let how = match reasoning.unopened {
        Some(_) => "renders reasoning without what opens it, which the prompt has",
        None => "does not render reasoning",
    };
    proof.findings.push(Finding::info(
        "reasoning-not-rendered",
        format!(
            "the chat template {how}, so no inversion can prove its markers; {} turns with reasoning written in by hand parsed as expected",
            proof.rounds.injected
        ),
    ));
}

/// Returns the case with a reasoning. There is none where the prompt or the turn already has a reasoning, even an empty one.
fn with_reasoning(bench: Bench<'_>, case: &Case, field: &str, thought: &str) -> Option<Case> {
    let reasoning = bench.analysis.reasoning.as_ref()?;
    let content = &bench.analysis.content;
    let prompted = bench.analysis.anchor.after_last(&case.prefix)?;
    let is_begun = content
        .open
        .as_ref()
        .is_some_and(|open| prompted.contains(open));
    let has_one = case.response.contains(&reasoning.close) || prompted.contains(&reasoning.close);
    if is_begun || has_one || case.message.get(field).is_some() {
        return None;
    }
    let open = match prompted.contains(&reasoning.open) {
        true => "",
        false => reasoning.open.as_str(),
    };
    let members = case.message.as_object()?;
    let mut message = Map::new();
    for (key, value) in members {
        message.insert(key.clone(), value.clone());
    }
    message.insert(field, Value::from(thought));
    Some(Case {
        response: format!(
            "{open}\n{thought}\n{}\n\n{}",
            reasoning.close, case.response
        ),
        message: Value::Object(message),
        ..case.clone()
    })
}
