//! Verification by inversion: what the chat template renders, the response template must parse back.

mod alike;
mod messages;
mod round;
mod shrink;

use std::sync::Arc;

use serde::Serialize;

use super::analysis::{Analysis, after_tool};
use super::cut::Shape;
use super::finding::Finding;
use super::lab::{Context, Lab};
use super::probe::{self, Assistant};
use super::reasoning::{self, History};
use crate::response_template::ResponseTemplate;
use crate::value::Value;
use round::{Bench, Outcome, Reason};

/// How many failures are shrunk and shown; the rest are counted.
const MAX_COUNTEREXAMPLES: usize = 3;

/// How many rounds there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Rounds {
    /// Messages that came back from their render.
    pub passed: usize,
    /// Messages that came back as something else, or not at all.
    pub failed: usize,
    /// Messages that the chat template refuses or does not wholly render.
    pub skipped: usize,
    /// Reasoning that the chat template drops, written by hand into its turn where the markers say: that came back.
    pub spliced: usize,
}

/// The result of a verification.
#[derive(Debug, Clone, Default)]
pub(super) struct Verification {
    pub(super) rounds: Rounds,
    pub(super) findings: Vec<Finding>,
    pub(super) cases: Vec<Case>,
}

/// A response of the derived format and the message that it was seen to parse to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Case {
    /// What the parser is given before it.
    pub prefix: String,
    /// The response.
    pub response: String,
    /// The tools by whose schemas its arguments are typed.
    pub tools: Vec<Value>,
    /// The message.
    pub message: Value,
}

impl Verification {
    /// Whether anything came back, and nothing came back wrong.
    pub(super) fn holds(&self) -> bool {
        self.rounds.failed == 0 && self.rounds.passed > 0
    }
}

pub(super) fn verify(
    lab: &Lab<'_>,
    analysis: &Analysis,
    template: &Arc<ResponseTemplate>,
) -> Verification {
    let bench = Bench {
        lab,
        analysis,
        template,
    };
    let mut verification = Verification::default();
    let mut skipped: Vec<(Reason, usize)> = Vec::new();
    let messages = messages::all(analysis.calls.is_some(), analysis.reasoning.is_some());
    for (context, label) in contexts(lab, analysis) {
        for message in &messages {
            if !message.calls.is_empty() && context.tools.is_none() {
                continue;
            }
            match bench.run(&context, message) {
                Outcome::Passed(cases) => {
                    verification.rounds.passed += 1;
                    verification.cases.extend(cases);
                }
                Outcome::Skipped(reason) => {
                    verification.rounds.skipped += 1;
                    match skipped.iter_mut().find(|(known, _)| *known == reason) {
                        Some((_, count)) => *count += 1,
                        None => skipped.push((reason.clone(), 1)),
                    }
                    if reason == Reason::NotRendered("reasoning") {
                        splice(&bench, &context, &label, message, &mut verification);
                    }
                }
                Outcome::Failed(_) => {
                    let fails = |candidate: &Assistant| {
                        matches!(bench.run(&context, candidate), Outcome::Failed(_))
                    };
                    report(&bench, &context, &label, message, fails, &mut verification);
                }
            }
        }
    }
    verification
        .findings
        .extend(skipped.into_iter().map(explain));
    if let Some(calls) = &analysis.calls
        && matches!(calls.shape, Shape::Tags { .. })
    {
        verification.findings.push(Finding::info(
            "arguments-as-text",
            "arguments stand in tags, as text: the verification gave the parser the tools, whose schemas type them; without tools every argument comes back as a string",
        ));
    }
    if let Some(reasoning) = &analysis.reasoning
        && reasoning.history == History::Dropped
    {
        verification.findings.push(Finding::info(
            "reasoning-not-rendered",
            format!(
                "the chat template does not render reasoning, so no inversion can prove its markers; {} turns with reasoning written in by hand parsed as expected",
                verification.rounds.spliced
            ),
        ));
    }
    verification
}

/// Parses a dropped reasoning that is written into the turn by hand.
fn splice(
    bench: &Bench<'_>,
    context: &Context,
    label: &str,
    message: &Assistant,
    verification: &mut Verification,
) {
    match bench.run_spliced(context, message) {
        Outcome::Passed(cases) => {
            verification.rounds.spliced += 1;
            verification.cases.extend(cases);
        }
        Outcome::Skipped(_) => {}
        Outcome::Failed(_) => {
            let fails = |candidate: &Assistant| {
                matches!(bench.run_spliced(context, candidate), Outcome::Failed(_))
            };
            report(bench, context, label, message, fails, verification);
        }
    }
}

/// Counts a failure and shows the smallest message that fails the same way.
fn report(
    bench: &Bench<'_>,
    context: &Context,
    label: &str,
    message: &Assistant,
    fails: impl Fn(&Assistant) -> bool,
    verification: &mut Verification,
) {
    verification.rounds.failed += 1;
    if verification.rounds.failed > MAX_COUNTEREXAMPLES {
        return;
    }
    let smallest = shrink::shrink(message.clone(), fails);
    let shown = match bench.run(context, &smallest) {
        Outcome::Failed(counterexample) => Some(*counterexample),
        _ => match bench.run_spliced(context, &smallest) {
            Outcome::Failed(counterexample) => Some(*counterexample),
            _ => None,
        },
    };
    let finding = Finding::error(
        "not-inverted",
        format!("a message does not come back from its render, {label}"),
    );
    verification.findings.push(finding.with(shown));
}

fn explain((reason, count): (Reason, usize)) -> Finding {
    match reason {
        Reason::Refused(error) => Finding::info(
            "refused",
            format!("{count} messages are refused by the chat template: {error}"),
        ),
        Reason::SeveralTurns => Finding::info(
            "several-turns",
            format!("{count} messages are rendered as several turns, of which a response is one"),
        ),
        Reason::TypeNotTold => Finding::info(
            "type-not-told",
            format!(
                "in {count} messages an argument is written like one of another type (the text 7 like the number 7), so that no parser can tell which it was"
            ),
        ),
        Reason::FieldNotTold => Finding::info(
            "field-not-told",
            format!(
                "{count} messages are rendered like others with the same texts in other fields, so that no parser can tell which it was"
            ),
        ),
        Reason::Unmarked => Finding::info(
            "turn-not-marked",
            format!(
                "{count} messages are rendered with nothing before them that marks where the turn begins, unlike in the prompt"
            ),
        ),
        Reason::NotRendered(part) => Finding::info(
            "not-rendered",
            format!(
                "in {count} messages the chat template leaves out the {part}, which cannot come back"
            ),
        ),
    }
}

/// The contexts in which the messages are rendered, each with words for it.
fn contexts(lab: &Lab<'_>, analysis: &Analysis) -> Vec<(Context, String)> {
    let mut plain: Vec<(Context, &str)> = vec![(lab.user(false), "after a user's message")];
    let tooled = lab.user(true);
    if analysis.calls.is_some() {
        plain.push((tooled.clone(), "with tools"));
        plain.push((
            after_tool(&tooled, &analysis.dialect),
            "after a tool's result",
        ));
    }
    let mut system = lab.user(false);
    system
        .history
        .insert(0, probe::message("system", probe::SYSTEM));
    plain.push((system, "with a system message"));
    let later = lab
        .user(false)
        .and(
            analysis
                .dialect
                .write(&Assistant::saying(probe::OTHER_CONTENT)),
        )
        .and(probe::message("user", probe::USER_AGAIN));
    plain.push((later, "in a later turn"));
    let mut contexts: Vec<(Context, String)> = Vec::new();
    for (context, label) in plain {
        for kwargs in &analysis.settings {
            let context = context.under(kwargs);
            // A context that the template refuses says nothing; what it supports is reported apart.
            let new = contexts.iter().all(|(known, _)| *known != context);
            if new && lab.prompt(&context).is_ok() {
                contexts.push((
                    context,
                    format!("{label} ({})", reasoning::describe(kwargs)),
                ));
            }
        }
    }
    contexts
}
