//! One response template beside another: whether what comes back from the one comes back from the other.

use std::ops::ControlFlow;

use super::super::finding::Counterexample;
use super::super::lab::Context;
use super::super::probe::Assistant;
use super::round::{Bench, Outcome, Reason};
use super::{Case, Failing, cuts, each_message, most_to_lose, shrink};

/// What comes of a response template beside a better one.
#[derive(Debug)]
pub(in super::super) enum Comparison {
    /// Something does not come back, the smallest of its kind.
    Fails(Box<Counterexample>),
    /// Nothing fails, but some messages do not come back, since they are not told from others.
    Less {
        /// So many.
        count: usize,
        /// Whether each of them has a reasoning.
        all_reasoned: bool,
    },
    /// As much comes back.
    AsGood,
}

/// What becomes of a message in whichever way it can be tried.
enum Tried {
    Back(Vec<Case>),
    Fails(Box<Counterexample>),
    Nothing,
}

/// Compares `other` with the `best` that there is, up to the first message that only the best brings back.
pub(in super::super) fn compare(other: Bench<'_>, best: Bench<'_>) -> Comparison {
    let (mut lacking, mut all_reasoned) = (0, true);
    let mut cases = Vec::new();
    let failed = each_message(&best, |context, _, message| {
        let Tried::Back(own) = best.tried(context, message) else {
            return ControlFlow::Continue(());
        };
        match other.tried(context, message) {
            Tried::Back(_) => cases.extend(own),
            Tried::Fails(_) => return ControlFlow::Break((context.clone(), message.clone())),
            Tried::Nothing => {
                lacking += 1;
                all_reasoned &= message.reasoning.is_some();
            }
        }
        ControlFlow::Continue(())
    });
    if let ControlFlow::Break((context, message)) = failed {
        let fails = |candidate: &Assistant| other.failure(&context, candidate).is_some();
        let smallest = shrink::shrink(message, fails);
        if let Some(shown) = other.failure(&context, &smallest) {
            return Comparison::Fails(Box::new(shown));
        }
    }
    if let Some(case) = most_to_lose(&cases)
        && let Some(loss) = cuts::first_loss(other.template, case)
        && cuts::first_loss(best.template, case).is_none()
    {
        return Comparison::Fails(Box::new(loss));
    }
    match lacking {
        0 => Comparison::AsGood,
        count => Comparison::Less {
            count,
            all_reasoned,
        },
    }
}

impl Bench<'_> {
    fn tried(&self, context: &Context, message: &Assistant) -> Tried {
        let outcome = match self.run(context, message) {
            Outcome::Skipped(Reason::NotRendered("reasoning")) => {
                self.run_spliced(context, message)
            }
            Outcome::AsReasoning(_) => self.run_earlier(context, message),
            outcome => outcome,
        };
        match outcome {
            Outcome::Passed(cases) => Tried::Back(cases),
            Outcome::Failed(found) => Tried::Fails(found),
            Outcome::Skipped(_) | Outcome::AsReasoning(_) => Tried::Nothing,
        }
    }

    /// Whether a message that failed comes back.
    pub(in super::super) fn brings_back(&self, failing: &Failing) -> bool {
        matches!(
            self.tried(&failing.context, &failing.message),
            Tried::Back(_)
        )
    }

    /// What becomes of a message that fails.
    pub(in super::super) fn failure(
        &self,
        context: &Context,
        message: &Assistant,
    ) -> Option<Counterexample> {
        match self.tried(context, message) {
            Tried::Fails(found) => Some(*found),
            _ => None,
        }
    }
}
