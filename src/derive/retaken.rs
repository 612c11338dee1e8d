//! Decisions that recorded responses make otherwise than renders do.
//!
//! Renders may be read in several forms. Of `[{"tool": "f", "input": {..}}]` all can be one array of JSON, or each name can stand in a marker
//! and the arguments be JSON. Both bring every render back, and the first one is taken, which bears more. But what is read as JSON as a whole
//! cannot be widened from within: a model that writes `"parameters"` for `"input"` is read in the second form alone. So where recorded
//! responses are not read right although what can be learnt of them was learnt, each other form is tried with them, and is taken if more
//! of them are read right, none is lost, and the renders prove no less.
//!
//! Each form that is tried costs a derivation. There are four forms at most.

use std::cmp::Reverse;

use super::choice::DecisionId;
use super::evidence::decision::Fate;
use super::evidence::finding::Finding;
use super::{Derivation, Options};

/// Returns a derivation with another form of calls if that reads more of the recorded responses than `first`. `derive` derives with other
/// options, and returns `None` where that fails.
pub(super) fn by_responses<T>(
    options: &Options,
    first: &(Derivation, T),
    derive: impl Fn(&Options) -> Option<(Derivation, T)>,
) -> Option<(Derivation, T)> {
    let name = DecisionId::CallForm.name();
    let before = first.0.report.responses.as_ref()?;
    let is_settled = options.prefer.iter().any(|(one, _)| one == name);
    if before.short.is_empty() || is_settled {
        return None;
    }
    let mut cost = first.0.cost;
    let mut decisions = first.0.report.decisions.iter();
    let decision = decisions.find(|decision| decision.name == name)?;
    let taken = decision.candidates.iter();
    let taken = taken.clone().find(|one| one.fate == Fate::Taken)?;
    let others = decision.candidates.iter();
    let others = others.filter(|one| one.fate != Fate::Taken && one.fate != Fate::Fails);
    let keeps = |found: &Derivation| {
        let (before, now) = (&first.0.report, &found.report);
        now.verdict == before.verdict
            && now.rounds.failed <= before.rounds.failed
            && now.rounds.inexpressible <= before.rounds.inexpressible
    };
    let better = others.filter_map(|other| {
        let mut options = options.clone();
        options.prefer.push((name.to_owned(), other.name.clone()));
        let unlearnt = Options {
            responses: Vec::new(),
            ..options.clone()
        };
        // Learning takes far longer than a derivation.
        let unlearnt = derive(&unlearnt).filter(|found| keeps(&found.0))?;
        cost += unlearnt.0.cost;
        let found = derive(&options)?;
        cost += found.0.cost;
        let right = found.0.report.responses.as_ref()?.right;
        (right > before.right && keeps(&found.0)).then(|| (right, other.name.clone(), found))
    });
    // Of several the one that ranks highest is taken.
    let (right, other, mut found) = better.min_by_key(|(right, ..)| Reverse(*right))?;
    found.0.cost = cost;
    let why = format!("{} of {}", before.right, before.given);
    let report = &mut found.0.report;
    let mut decisions = report.decisions.iter_mut();
    if let Some(decision) = decisions.find(|decision| decision.name == name) {
        let mut candidates = decision.candidates.iter_mut();
        if let Some(candidate) = candidates.find(|one| one.name == taken.name) {
            candidate.fate = Fate::Fails;
            candidate.why = Some(format!("{why} recorded responses are read right with it"));
        }
    }
    let text = format!(
        "{name}: with the first candidate, \"{}\", {why} recorded responses are read right; \"{other}\" was taken instead, with which {right} are",
        taken.name
    );
    report.findings.push(Finding::info("corrected", text));
    Some(found)
}

#[cfg(test)]
mod tests {
    use crate::chat_template;
    use crate::derive::{Derivation, Options, Recorded, derive};

    const CHAT: &str = r#"{%- for m in messages -%}{%- if m.role == "assistant" -%}[BOT] {{ m.content or "" }}{% if m.tool_calls %}[DO] [{% for c in m.tool_calls %}{"tool": {{ c.function.name | tojson }}, "input": {{ c.function.arguments | tojson }}}{% if not loop.last %}, {% endif %}{% endfor %}]{% endif %}[END]
{%- else -%}[{{ m.role | upper }}] {{ m.content }}[END]{%- endif -%}{%- endfor -%}{%- if add_generation_prompt -%}[BOT] {% endif -%}"#;

    fn taught(responses: &[&str]) -> Derivation {
        let source = chat_template::from_text("chat", CHAT).unwrap();
        let recorded = responses.iter().enumerate();
        let recorded = recorded.map(|(at, text)| Recorded {
            name: format!("r{at}"),
            response: (*text).to_owned(),
            ..Recorded::default()
        });
        let options = Options {
            responses: recorded.collect(),
            ..Options::default()
        };
        derive(&source, &options).unwrap()
    }

    fn has_finding(derivation: &Derivation) -> bool {
        let mut findings = derivation.report.findings.iter();
        findings.any(|one| one.code == "corrected" && one.text.starts_with("call form"))
    }

    #[test]
    fn a_member_that_is_called_otherwise_is_learnt_in_another_form() {
        let derivation = taught(&[
            r#"[DO] [{"tool": "f", "parameters": {"a": 1}}][END]"#,
            r#"[DO] [{"tool": "f", "input": {"a": 1}}][END]"#,
        ]);
        assert!(derivation.report.verified && has_finding(&derivation));
        let responses = derivation.report.responses.unwrap();
        assert_eq!((responses.right_before, responses.right), (1, 2));
    }

    #[test]
    fn the_first_form_stays_where_it_reads_all_responses() {
        let derivation = taught(&[r#"[DO] [{"tool": "f", "input": {"a": 1}}][END]"#]);
        assert!(!has_finding(&derivation));
        let fields = derivation.document.fields;
        assert!(fields["tool_calls"].transform_each, "one array");
    }
}
