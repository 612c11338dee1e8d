//! Where the messages are tried: after which conversations, and under which settings of the kwargs.

use std::ops::ControlFlow;

use super::super::analysis::{Analysis, after_tool};
use super::super::lab::{Context, Lab};
use super::super::probe::{self, Assistant};
use super::super::reasoning;
use super::messages;
use super::round::{Bench, Split};

/// Visits every message in every context in which it is tried, until the visitor has seen enough.
///
/// Where messages of each kind are written, under one setting of the kwargs, as they are under another after the same
/// conversation, they stand for all, unless no time is to be spared. Says in how many contexts that is so.
pub(super) fn each_message<T>(
    bench: &Bench<'_>,
    mut visit: impl FnMut(&Context, &str, &Assistant) -> ControlFlow<T>,
) -> ControlFlow<T, usize> {
    let analysis = bench.analysis;
    let (calls, reasoning) = (analysis.calls.is_some(), analysis.reasoning.is_some());
    let all = messages::all(calls, reasoning, bench.thorough);
    let kinds = messages::of_each_kind(calls, reasoning);
    let mut alike = 0;
    for (plain, label) in conversations(bench.lab, analysis) {
        let mut known: Vec<(Context, Vec<Option<Split>>)> = Vec::new();
        for kwargs in &analysis.settings {
            let context = plain.under(kwargs);
            // A context that the template refuses says nothing; what it supports is reported apart.
            let new = known.iter().all(|(known, _)| *known != context);
            if !new || bench.lab.prompt(&context).is_err() {
                continue;
            }
            let takes = |message: &&Assistant| message.calls.is_empty() || context.tools.is_some();
            let mut tried: &[Assistant] = &all;
            let mut written = Vec::new();
            if !bench.thorough && analysis.settings.len() > 1 {
                let kinds_here = kinds.iter().filter(takes);
                written = kinds_here
                    .map(|message| bench.written(&context, message))
                    .collect();
                if known.iter().any(|(_, known)| *known == written) {
                    tried = &kinds;
                    alike += 1;
                }
            }
            let label = format!("{label} ({})", reasoning::describe(kwargs));
            for message in tried.iter().filter(takes) {
                visit(&context, &label, message)?;
            }
            known.push((context, written));
        }
    }
    ControlFlow::Continue(alike)
}

/// The conversations after which the messages are tried, each with words for it.
fn conversations(lab: &Lab<'_>, analysis: &Analysis) -> Vec<(Context, &'static str)> {
    let mut plain = vec![(lab.user(false), "after a user's message")];
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
    plain
}
