//! Making decisions between candidates by verification.
//!
//! The first derivation takes the candidate with the best evidence everywhere. Where a message does not come back, other candidates are
//! tried for the decisions that its counterexample touches, each by the messages that failed before it is verified in full, and one is kept
//! if more comes back with it. Where the first candidates come to nothing, or to a part of the format that is seen and not understood, any
//! other candidate that leads on will do.
//!
//! The search goes uphill, one decision at a time, since the candidates of all decisions together are a product that nobody could
//! verify. So it may end where only two changes at once would help, and what does not come back is then reported. Its cost is the number
//! of tries, which has a limit ([`MAX_TRIES`]), times one analysis and one verification; most candidates end at the few
//! messages that failed before ([`MAX_FAILING`]), which is why those are tried first.

mod candidates;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::derive::choice::{About, DecisionId, MadeDecision, Preference};
use crate::derive::emit::{self, Target};
use crate::derive::evidence::decision::{Decision, Fate, ReportedCandidate};
use crate::derive::evidence::finding::{Counterexample, Finding};
use crate::derive::proof::{self, Bench, Proof};
use crate::derive::read::analysis::{self, Analysis};
use crate::derive::render::cost::{self, Cost};
use crate::derive::render::renderer::{self, Renderer};
use crate::derive::{DeriveError, Options};
use crate::diagnostic::Severity;
use crate::judge::{Judge, RoundId, Scrutiny};
use crate::response_template::{Document, Engine, ResponseTemplate};
use candidates::{all, differing};

/// How many of the messages that failed are tried before a candidate is judged by all.
const MAX_FAILING: usize = 8;

/// How many other candidates are tried in one derivation.
const MAX_TRIES: usize = 48;

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
        let mut driver = Driver {
            renderer,
            judge,
            engines: &options.engines,
            target: Target::of(&options.engines),
            scrutiny,
            preferred: Vec::new(),
            cost: Cost::default(),
            lost: Vec::new(),
            tries: MAX_TRIES,
        };
        driver.preferred = driver.preferences(&options.prefer)?;
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

/// The response template that one set of choices between candidates leads to.
struct Attempt {
    wanted: Vec<Preference>,
    asked: Vec<MadeDecision>,
    analysis: Analysis,
    document: Document,
    template: Arc<ResponseTemplate>,
    /// How many faults the engines find in the response template, in all.
    refused: usize,
}

/// An attempt with its proof.
pub(in crate::derive) struct Proven {
    attempt: Attempt,
    proof: Proof,
}

/// The shortcomings of a derivation, the worst first.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Lacking {
    not_understood: usize,
    failed: usize,
    /// How many findings say that a response loses something when it is cut short.
    lost: usize,
    /// How many faults the engines find in the response template.
    refused: usize,
    inexpressible: usize,
}

/// A candidate that was tried and not taken.
struct Lost {
    candidate: Preference,
    fate: Fate,
    why: Option<String>,
    counterexample: Option<Counterexample>,
    /// True if the candidate was taken until a better one was.
    replaced: bool,
}

struct Driver<'a> {
    renderer: &'a Renderer<'a>,
    judge: &'a Judge<'a>,
    /// The engines that the response template is for.
    engines: &'a [Engine],
    target: Target,
    scrutiny: Scrutiny,
    /// The decisions that somebody has made, which are not searched.
    preferred: Vec<Preference>,
    cost: Cost,
    lost: Vec<Lost>,
    /// How many candidates may still be tried.
    tries: usize,
}

impl Attempt {
    /// Returns true if both have the same response template and the same spelling of messages.
    fn is_same(&self, other: &Self) -> bool {
        self.document == other.document && self.analysis.dialect == other.analysis.dialect
    }

    /// Returns the findings about parts of the format that were seen and not understood.
    fn obstacles(&self) -> impl Iterator<Item = &Finding> {
        let all = self.analysis.findings.iter();
        all.filter(|finding| finding.severity == Severity::Error)
    }

    /// Returns true if this attempt has no reasoning where `best` has one.
    fn drops_reasoning(&self, best: &Proven) -> bool {
        self.analysis.reasoning.is_none() && best.attempt.analysis.reasoning.is_some()
    }

    /// Returns true if messages that come back from `best` may be given up for this attempt.
    fn may_give_up(&self, best: &Proven, candidate: &Preference) -> bool {
        self.drops_reasoning(best) || candidate.decision == DecisionId::SeveralCalls
    }

    /// Returns the choices of the attempt, with another candidate for one decision.
    fn wanting(&self, candidate: &Preference) -> Vec<Preference> {
        let others = self.wanted.iter();
        let others = others.filter(|wanted| wanted.decision != candidate.decision);
        others.chain([candidate]).cloned().collect()
    }
}

impl Proven {
    pub(in crate::derive) fn analysis(&self) -> &Analysis {
        &self.attempt.analysis
    }

    pub(in crate::derive) fn document(&self) -> &Document {
        &self.attempt.document
    }

    pub(in crate::derive) fn proof(&self) -> &Proof {
        &self.proof
    }

    /// Returns true if more is understood or comes back than from `other`, and nothing less, but for messages that may be given up for it.
    fn is_better(&self, other: &Self) -> bool {
        let is_kept =
            self.proof.rounds.injected >= other.proof.rounds.injected || self.is_less_wrong(other);
        self.lacking() < other.lacking() && is_kept
    }

    /// Returns true if fewer of the rendered messages fail.
    fn is_less_wrong(&self, other: &Self) -> bool {
        self.proof.rounds.failed < other.proof.rounds.failed
    }

    fn lacking(&self) -> Lacking {
        let rounds = &self.proof.rounds;
        Lacking {
            not_understood: self.attempt.obstacles().count(),
            failed: rounds.failed,
            lost: self
                .proof
                .errors()
                .filter(|finding| finding.code == proof::LOST_WHEN_CUT)
                .count(),
            refused: self.attempt.refused,
            inexpressible: rounds.inexpressible,
        }
    }

    /// Returns the first finding about a part of the format that was seen and not understood.
    fn obstacle(&self) -> Option<&Finding> {
        self.attempt.obstacles().next()
    }

    fn counterexample(&self) -> Option<&Counterexample> {
        self.proof
            .errors()
            .find_map(|finding| finding.counterexample.as_ref())
    }
}

impl Driver<'_> {
    fn attempt(&mut self, wanted: Vec<Preference>) -> Result<Attempt, DeriveError> {
        let (renderer, target) = (self.renderer, self.target);
        renderer.begin(wanted.clone());
        let (analysis, stage) = cost::measured(renderer, || analysis::analyse(renderer));
        self.cost.analysis += stage;
        if renderer.is_exhausted() {
            return Err(DeriveError::Exhausted {
                limit: renderer::MAX_STEPS,
            });
        }
        let analysis = analysis?;
        let document = emit::emit(&analysis, target, &renderer.choices);
        let template = Arc::new(ResponseTemplate::from_value(&document.to_value())?);
        Ok(Attempt {
            refused: Engine::refusals(self.engines, &document),
            wanted,
            asked: renderer.choices.asked(),
            analysis,
            document,
            template,
        })
    }

    /// The decisions that somebody has made, of those that this chat template asks for.
    fn preferences(&mut self, names: &[(String, String)]) -> Result<Vec<Preference>, DeriveError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        // Which decisions come up is known only after an analysis has made them, so one is run for that.
        let _ = self.attempt(Vec::new());
        let asked = self.renderer.choices.asked();
        let several: Vec<&MadeDecision> = asked
            .iter()
            .filter(|one| one.candidates.len() > 1)
            .collect();
        let wanted = names.iter().map(|(name, candidate)| {
            let known = |names: Vec<&str>| names.join("`, `");
            let Some(asked) = several.iter().find(|one| one.decision.name() == name) else {
                let names = several.iter().map(|one| one.decision.name()).collect();
                return Err(DeriveError::Preference(format!(
                    "nothing is to be decided here that is called `{name}`; the decisions are `{}`",
                    known(names)
                )));
            };
            if !asked
                .candidates
                .iter()
                .any(|description| description.name == *candidate)
            {
                let names = asked
                    .candidates
                    .iter()
                    .map(|description| description.name.as_str());
                return Err(DeriveError::Preference(format!(
                    "`{name}` has no candidate `{candidate}`; the candidates are `{}`",
                    known(names.collect())
                )));
            }
            Ok(Preference {
                decision: asked.decision,
                name: candidate.clone(),
            })
        });
        wanted.collect()
    }

    /// Returns the attempt with the first candidate everywhere; where that fails, with the first other candidate that leads on.
    fn first(&mut self) -> Result<Attempt, DeriveError> {
        let error = match self.attempt(self.preferred.clone()) {
            Err(error) if !matches!(error, DeriveError::Exhausted { .. }) => error,
            settled => return settled,
        };
        let asked = self.renderer.choices.asked();
        for candidate in all(&asked) {
            if !self.may_try() {
                break;
            }
            if self.is_preferred(&candidate) {
                continue;
            }
            let preferred = self.preferred.iter().cloned();
            match self.attempt(preferred.chain([candidate.clone()]).collect()) {
                Ok(attempt) => {
                    let mut asked = asked.iter();
                    if let Some(first) = asked.find(|one| one.decision == candidate.decision) {
                        self.replace(first, Some(error.to_string()), None);
                    }
                    return Ok(attempt);
                }
                Err(error) => self.lose(candidate, Fate::Fails, Some(error.to_string()), None),
            }
        }
        Err(error)
    }

    fn bench<'a>(&'a self, attempt: &'a Attempt) -> Bench<'a> {
        Bench {
            judge: self.judge,
            analysis: &attempt.analysis,
            target: self.target,
            template: &attempt.template,
            scrutiny: self.scrutiny,
        }
    }

    fn prove(&mut self, attempt: Attempt) -> Proven {
        let (proof, stage) = cost::measured(self.judge, || proof::prove(self.bench(&attempt)));
        self.cost.verification += stage;
        Proven { attempt, proof }
    }

    /// Tries other candidates until everything comes back, or nothing more does.
    fn search(&mut self, mut best: Proven) -> Proven {
        while let Some(better) = self.better(&best) {
            // Candidates that failed before are tried again, since they may succeed together with the new one. The candidates that were
            // replaced keep the counterexample that showed them wrong.
            self.lost.retain(|lost| lost.replaced);
            for asked in &best.attempt.asked {
                let now = |asked: &MadeDecision| asked.candidates[asked.taken].name.clone();
                let other = better
                    .attempt
                    .asked
                    .iter()
                    .find(|other| other.decision == asked.decision && now(other) != now(asked));
                if other.is_some() {
                    let obstacle = best.obstacle().map(|finding| finding.text.clone());
                    let is_taken = better.attempt.refused < best.attempt.refused;
                    let refused = is_taken.then(|| "an engine refuses it".to_owned());
                    let shown = best.counterexample().cloned();
                    self.replace(asked, obstacle.or(refused), shown);
                }
            }
            best = better;
        }
        best
    }

    /// Returns an attempt that is better than `best` and differs from it in one decision: the first that lacks nothing, else the one that
    /// lacks the least.
    fn better(&mut self, best: &Proven) -> Option<Proven> {
        let failing: Vec<RoundId> = best
            .proof
            .failing()
            .iter()
            .map(|failure| failure.round)
            .collect();
        let is_lossy = best.lacking().lost > 0;
        let has_failed = best.proof.rounds.failed + best.proof.rounds.inexpressible > 0;
        let may_mend = is_lossy || best.attempt.refused > 0 || best.obstacle().is_some();
        if !has_failed && !may_mend {
            return None;
        }
        let mut found: Option<Proven> = None;
        for candidate in touched(best) {
            let Some(attempt) = self.with(&candidate, best) else {
                continue;
            };
            let subject = self.bench(&attempt).subject();
            let understands = attempt.obstacles().count() < best.attempt.obstacles().count();
            let is_taken = attempt.refused < best.attempt.refused;
            let mends = understands || is_taken || is_lossy || failing.is_empty();
            let few = failing.iter().copied().take(MAX_FAILING);
            if !mends
                && !few
                    .clone()
                    .any(|round| self.judge.brings_back(subject, round))
            {
                let shown = few
                    .clone()
                    .find_map(|round| self.judge.failure(subject, round));
                let why = shown
                    .is_none()
                    .then(|| "what is lacking is lacking so as well".to_owned());
                self.lose(candidate, Fate::Fails, why, shown);
                continue;
            }
            if self.loses(&attempt, best, &candidate) {
                continue;
            }
            let proven = self.prove(attempt);
            if !self.keeps(&proven, best, &candidate) {
                continue;
            }
            if proven.is_better(best) {
                if proven.lacking() == Lacking::default() {
                    return Some(proven);
                }
                if found
                    .as_ref()
                    .is_none_or(|found| proven.lacking() < found.lacking())
                {
                    found = Some(proven);
                }
                continue;
            }
            let why = "no more comes back".to_owned();
            let shown = proven.counterexample().cloned();
            self.lose(candidate, Fate::Fails, Some(why), shown);
        }
        found
    }

    /// Returns true if a message comes back from `best` and is lost by the attempt, where nothing could be given up for it: then the rest need
    /// not be judged. The candidate is noted as lost.
    fn loses(&mut self, attempt: &Attempt, best: &Proven, candidate: &Preference) -> bool {
        if attempt.may_give_up(best, candidate) {
            return false;
        }
        let subject = self.bench(attempt).subject();
        let back = &best.proof.judgement.back;
        let Some(first) = self.judge.first_lost(subject, back) else {
            return false;
        };
        let shown = self.judge.failure(subject, first);
        self.lose(candidate.clone(), Fate::Fails, None, shown);
        true
    }

    /// Returns true if everything comes back that comes back from `best`. Where something does not, the candidate is noted as lost.
    ///
    /// Of two messages that render to the same text only one can come back. So one of them may come back instead of the other where fewer
    /// messages fail for it.
    fn keeps(&mut self, proven: &Proven, best: &Proven, candidate: &Preference) -> bool {
        let mut lost = proven.proof.lost_of(&best.proof);
        if proven.is_less_wrong(best) {
            lost.retain(|round| !proven.proof.judgement.alike.contains(round));
        }
        let Some(first) = lost.first() else {
            return true;
        };
        // To give up the reasoning is allowed if only messages with reasoning are lost and fewer messages fail: then the markers that
        // were taken for those of a reasoning probably are not.
        let gives_up_reasoning = proven.attempt.drops_reasoning(best)
            && lost
                .iter()
                .all(|round| self.judge.message(*round).reasoning.is_some())
            && proven.is_less_wrong(best);
        // If one call and several calls cannot both be read, either may be given up, whichever fails for fewer messages.
        let gives_up_calls =
            candidate.decision == DecisionId::SeveralCalls && proven.is_less_wrong(best);
        if !gives_up_reasoning && !gives_up_calls {
            let subject = self.bench(&proven.attempt).subject();
            let shown = self.judge.failure(subject, *first);
            self.lose(candidate.clone(), Fate::Fails, None, shown);
        }
        gives_up_reasoning || gives_up_calls
    }

    /// Returns the attempt that differs from `best` in another candidate, unless that is known, fails or changes nothing, or no try is
    /// left.
    fn with(&mut self, candidate: &Preference, best: &Proven) -> Option<Attempt> {
        if self.is_preferred(candidate) || self.is_known(candidate) || !self.may_try() {
            return None;
        }
        let (fate, why) = match self.attempt(best.attempt.wanting(candidate)) {
            Ok(attempt) if !attempt.is_same(&best.attempt) => return Some(attempt),
            Ok(_) => (Fate::Same, None),
            Err(error) => (Fate::Fails, Some(error.to_string())),
        };
        self.lose(candidate.clone(), fate, why, None);
        None
    }

    /// Tries the candidates that were not needed, and notes what comes of each.
    fn try_rest(&mut self, best: &Proven) {
        for candidate in all(&best.attempt.asked) {
            let Some(attempt) = self.with(&candidate, best) else {
                continue;
            };
            if self.loses(&attempt, best, &candidate) {
                continue;
            }
            let proven = self.prove(attempt);
            if self.keeps(&proven, best, &candidate) {
                self.lose(candidate, Fate::NoBetter, None, None);
            }
        }
    }

    /// Returns true if there are tries left, and steps for the renders after them; if so it uses up one try.
    fn may_try(&mut self) -> bool {
        let may = self.tries > 0 && self.renderer.steps_left() > renderer::MAX_STEPS / 2;
        self.tries -= usize::from(may);
        may
    }

    /// Returns true if somebody has made the decision that the candidate belongs to.
    fn is_preferred(&self, candidate: &Preference) -> bool {
        let mut preferred = self.preferred.iter();
        preferred.any(|one| one.decision == candidate.decision)
    }

    fn is_known(&self, candidate: &Preference) -> bool {
        self.lost.iter().any(|lost| lost.candidate == *candidate)
    }

    fn lose(
        &mut self,
        candidate: Preference,
        fate: Fate,
        why: Option<String>,
        counterexample: Option<Counterexample>,
    ) {
        if !self.is_known(&candidate) {
            self.lost.push(Lost {
                candidate,
                fate,
                why,
                counterexample,
                replaced: false,
            });
        }
    }

    /// Notes that the candidate that was taken was not the best one.
    fn replace(
        &mut self,
        asked: &MadeDecision,
        why: Option<String>,
        counterexample: Option<Counterexample>,
    ) {
        let candidate = Preference {
            decision: asked.decision,
            name: asked.candidates[asked.taken].name.clone(),
        };
        self.lost.retain(|lost| lost.candidate != candidate);
        self.lost.push(Lost {
            candidate,
            fate: Fate::Fails,
            why,
            counterexample,
            replaced: true,
        });
    }

    /// Returns every decision that has more than one candidate.
    fn decisions(&mut self, asked: &[MadeDecision]) -> Vec<Decision> {
        let decided = asked.iter().filter(|asked| asked.candidates.len() > 1);
        let decided: Vec<Decision> = decided
            .map(|asked| Decision {
                name: asked.decision.name(),
                candidates: (0..asked.candidates.len())
                    .map(|index| self.alternative(asked, index))
                    .collect(),
            })
            .collect();
        decided
    }

    fn alternative(&mut self, asked: &MadeDecision, index: usize) -> ReportedCandidate {
        let description = &asked.candidates[index];
        let is_this = |lost: &Lost| {
            lost.candidate.decision == asked.decision && lost.candidate.name == description.name
        };
        let lost = self.lost.iter().position(is_this);
        let lost = lost.filter(|_| index != asked.taken);
        let (fate, why, counterexample) = match lost.map(|at| self.lost.swap_remove(at)) {
            _ if index == asked.taken => (Fate::Taken, None, None),
            Some(lost) => (lost.fate, lost.why, lost.counterexample),
            None => (Fate::NotTried, None, None),
        };
        ReportedCandidate {
            name: description.name.clone(),
            means: description.means.clone(),
            because: description.because.clone(),
            fate,
            why,
            counterexample,
        }
    }
}

/// Returns the candidates to try: those of the parts that came back wrong, then, where something ought to have come back, the others.
fn touched(best: &Proven) -> Vec<Preference> {
    let wrong: Vec<About> = best.counterexample().map(differing).unwrap_or_default();
    let (near, far): (Vec<MadeDecision>, Vec<MadeDecision>) = best
        .attempt
        .asked
        .iter()
        .cloned()
        .partition(|asked| wrong.contains(&asked.decision.about()));
    let mut candidates = all(&near);
    let lacking = best.lacking();
    if lacking.failed + lacking.lost + lacking.refused + lacking.not_understood > 0 {
        candidates.extend(all(&far));
    }
    candidates
}
