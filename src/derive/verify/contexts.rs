//! Where the messages are tried: after which conversations, and under which settings of the kwargs.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::super::analysis::{Analysis, after_tool};
use super::super::lab::{Context, Lab};
use super::super::probe::{self, Assistant};
use super::super::reasoning;
use super::messages::Messages;
use super::round::Bench;

/// Visits every message in every context in which it is tried, until the visitor has seen enough.
///
/// Under the first setting of the kwargs all of them are tried after each conversation. Where, under another, the messages
/// of each kind are written as in a context before it, they stand for all, unless no time is to be spared. Says in how many
/// contexts that is so.
pub(super) fn each_message<T>(
    bench: &Bench<'_>,
    mut visit: impl FnMut(&Context, &str, &Assistant) -> ControlFlow<T>,
) -> ControlFlow<T, usize> {
    let analysis = bench.analysis;
    let messages = Messages::new(
        analysis.calls.is_some(),
        analysis.reasoning.is_some(),
        bench.thorough,
    );
    let compared = !bench.thorough && analysis.settings.len() > 1;
    let mut seen = vec![HashSet::new(); messages.kinds.len()];
    let mut alike = 0;
    for (plain, label) in conversations(bench.lab, analysis) {
        let mut known: Vec<Context> = Vec::new();
        for kwargs in &analysis.settings {
            let context = plain.under(kwargs);
            // A context that the template refuses says nothing; what it supports is reported apart.
            if known.contains(&context) || bench.lab.prompt(&context).is_err() {
                continue;
            }
            let takes = |message: &Assistant| message.calls.is_empty() || context.tools.is_some();
            let label = format!("{label} ({})", reasoning::describe(kwargs));
            let mut is_new = known.is_empty() || !compared;
            for (message, seen) in messages.kinds.iter().zip(&mut seen) {
                if takes(message) {
                    if compared {
                        for split in bench.written(&context, message) {
                            is_new |= seen.insert(split);
                        }
                    }
                    visit(&context, &label, message)?;
                }
            }
            if is_new {
                for message in messages.others.iter().filter(|message| takes(message)) {
                    visit(&context, &label, message)?;
                }
            } else {
                alike += 1;
            }
            known.push(context);
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
