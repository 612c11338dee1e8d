//! Making decisions between candidates by verification.
//!
//! The first derivation takes the candidate with the best evidence everywhere. Where a message does not come back, other candidates are
//! tried for the decisions that its counterexample touches, each by the messages that failed before it is verified in full, and one is kept
//! if more comes back with it. Where the first candidates come to nothing, or to a part of the format that is seen and not understood, any
//! other candidate that leads on will do.
//!
//! The search goes uphill, one decision at a time, since the candidates of all decisions together are a product that nobody could
//! verify. A candidate that comes to nothing and brings up decisions that were not made before is tried with the other candidates of those
//! as well, one by one, where nothing else is better. Where only two other changes at once would help, the search ends, and what does not
//! come back is reported. Its cost is the number of tries, which has a limit ([`driver::MAX_TRIES`]), times one analysis and one verification;
//! most candidates end at the few messages that failed before ([`MAX_FAILING`]), which is why those are tried first.

mod candidates;
mod driver;
#[cfg(test)]
mod tests;
mod uphill;

use crate::derive::evidence::decision::Decision;
use crate::derive::proof::Proof;
use crate::derive::read::analysis::Analysis;
use crate::derive::render::cost::Cost;
use crate::derive::render::renderer::Renderer;
use crate::derive::{DeriveError, Options};
use crate::judge::{Judge, RoundId, Scrutiny};
use candidates::{all, differing};
use driver::Driver;
use uphill::MAX_FAILING;

pub(in crate::derive) use driver::Proven;

/// A derivation with every decision made.
pub(in crate::derive) struct Settled {
    pub(in crate::derive) analysis: Analysis,
    pub(in crate::derive) decisions: Vec<Decision>,
    pub(in crate::derive) cost: Cost,
}

/// A search that has come to its end, and may be taken up again.
pub(in crate::derive) struct Search<'a> {
    driver: Driver<'a>,
    best: Proven,
}

impl<'a> Search<'a> {
    /// Derives a response template, and makes every decision by messages that come back under this scrutiny.
    ///
    /// # Errors
    ///
    /// When nothing comes of the first candidates nor of any other one: the chat template shows no turn, the renders exceed their limit, or
    /// the draft is not a valid response template.
    pub(in crate::derive) fn settle(
        renderer: &'a Renderer<'a>,
        judge: &'a Judge<'a>,
        options: &'a Options,
        scrutiny: Scrutiny,
    ) -> Result<Self, DeriveError> {
        let mut driver = Driver::new(renderer, judge, options, scrutiny)?;
        let first = driver.first()?;
        let first = driver.prove(first);
        let best = driver.search(first);
        if options.alternatives {
            driver.try_rest(&best);
        }
        Ok(Self { driver, best })
    }

    /// The best derivation.
    pub(in crate::derive) fn best(&self) -> &Proven {
        &self.best
    }

    /// Takes the search up again, where the best response template was amended and messages still do not come back.
    ///
    /// A candidate has to bring back one of the first messages that fail, and what the amendments mended stood before the rest. Each candidate
    /// that brings back one of those that fail now is amended as the best one was. The first of them by which more comes back, and nothing
    /// less, is the best from then on, and what `amend` made of it is returned; `proof` has the proof of that.
    pub(in crate::derive) fn resume<T>(
        &mut self,
        amended: &Proof,
        mut amend: impl FnMut(&Proven) -> Option<T>,
        proof: impl Fn(&T) -> &Proof,
    ) -> Option<T> {
        self.driver.resume();
        let failures = amended.failing();
        let shown = &failures.first()?.found;
        let few = failures.iter().take(MAX_FAILING);
        let few: Vec<RoundId> = few.map(|failure| failure.round).collect();
        let wrong = differing(shown);
        let mut asked = self.best.attempt.asked.clone();
        asked.retain(|asked| wrong.contains(&asked.decision.about()));
        for candidate in all(&asked) {
            let driver = &mut self.driver;
            if driver.is_preferred(&candidate) || !driver.may_try() {
                continue;
            }
            let Ok(attempt) = driver.attempt(self.best.attempt.wanting(&candidate)) else {
                continue;
            };
            let subject = driver.bench(&attempt).subject();
            let mut few = few.iter();
            if attempt.is_same(&self.best.attempt)
                || !few.any(|round| driver.judge.brings_back(subject, *round))
            {
                continue;
            }
            let proven = driver.prove(attempt);
            let Some(made) = amend(&proven) else { continue };
            let now = proof(&made);
            if now.failing().len() < failures.len() && now.lost_of(amended).is_empty() {
                let mut asked = asked.iter();
                if let Some(asked) = asked.find(|one| one.decision == candidate.decision) {
                    driver.replace(asked, None, Some(shown.clone()));
                }
                self.best = proven;
                return Some(made);
            }
        }
        None
    }

    /// Ends the search, and reports its decisions.
    pub(in crate::derive) fn end(mut self) -> Settled {
        let decisions = self.driver.decisions(&self.best.attempt.asked);
        // Later steps use the renderer as well, so it is set to the candidates that were settled.
        self.driver.renderer.begin(self.best.attempt.wanted);
        Settled {
            analysis: self.best.attempt.analysis,
            decisions,
            cost: self.driver.cost,
        }
    }
}
