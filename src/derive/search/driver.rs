//! One attempt after the other: what a set of choices leads to, how it is proved, and what is noted of candidates that were tried.

use std::sync::Arc;

use super::candidates::all;
use crate::derive::choice::{DecisionId, MadeDecision, Preference};
use crate::derive::emit::{self, Target};
use crate::derive::evidence::decision::{Decision, Fate, ReportedCandidate};
use crate::derive::evidence::finding::{Counterexample, Finding};
use crate::derive::proof::{self, Bench, Proof};
use crate::derive::read::analysis::{self, Analysis};
use crate::derive::render::cost::{self, Cost};
use crate::derive::render::renderer::{self, Renderer};
use crate::derive::{DeriveError, Options};
use crate::diagnostic::Severity;
use crate::judge::{Judge, Scrutiny};
use crate::response_template::{Document, Engine, ResponseTemplate};

/// How many other candidates are tried in one derivation.
pub(super) const MAX_TRIES: usize = 72;

/// How many more are tried where none of these is left, of those that were better by themselves.
const SPARED_TRIES: usize = 8;

/// How many are tried at least where the search is taken up again behind amendments.
const RESUMED_TRIES: usize = 24;

/// The response template that one set of choices between candidates leads to.
pub(super) struct Attempt {
    pub(super) wanted: Vec<Preference>,
    pub(super) asked: Vec<MadeDecision>,
    pub(super) analysis: Analysis,
    pub(super) document: Document,
    template: Arc<ResponseTemplate>,
    /// How many faults the engines find in the response template, in all.
    pub(super) refused: usize,
}

/// An attempt with its proof.
pub(in crate::derive) struct Proven {
    pub(super) attempt: Attempt,
    pub(super) proof: Proof,
}

/// The shortcomings of a derivation, the worst first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lacking {
    pub(super) not_understood: usize,
    pub(super) failed: usize,
    /// How many findings say that a response loses something when it is cut short.
    pub(super) lost: usize,
    /// How many faults the engines find in the response template.
    pub(super) refused: usize,
    pub(super) inexpressible: usize,
}

/// A candidate that was tried and not taken.
pub(super) struct Lost {
    candidate: Preference,
    fate: Fate,
    why: Option<String>,
    counterexample: Option<Counterexample>,
    /// True if the candidate was taken until a better one was.
    pub(super) replaced: bool,
}

/// The driver of a search: it makes the attempts, and keeps account of them.
pub(super) struct Driver<'a> {
    pub(super) renderer: &'a Renderer<'a>,
    pub(super) judge: &'a Judge<'a>,
    /// The engines that the response template is for.
    engines: &'a [Engine],
    target: Target,
    scrutiny: Scrutiny,
    /// The decisions that somebody has made, which are not searched.
    preferred: Vec<Preference>,
    pub(super) cost: Cost,
    pub(super) lost: Vec<Lost>,
    /// How many candidates may still be tried.
    tries: usize,
}

impl Attempt {
    /// Returns true if both have the same response template and the same spelling of messages.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.document == other.document && self.analysis.dialect == other.analysis.dialect
    }

    /// Returns the findings about parts of the format that were seen and not understood.
    pub(super) fn obstacles(&self) -> impl Iterator<Item = &Finding> {
        let all = self.analysis.findings.iter();
        all.filter(|finding| finding.severity == Severity::Error)
    }

    /// Returns true if this attempt has no reasoning where `best` has one.
    pub(super) fn drops_reasoning(&self, best: &Proven) -> bool {
        self.analysis.reasoning.is_none() && best.attempt.analysis.reasoning.is_some()
    }

    /// Returns true if messages that come back from `best` may be given up for this attempt.
    pub(super) fn may_give_up(&self, best: &Proven, candidate: &Preference) -> bool {
        self.drops_reasoning(best) || candidate.decision == DecisionId::SeveralCalls
    }

    /// Returns the choices of the attempt, with another candidate for one decision.
    pub(super) fn wanting(&self, candidate: &Preference) -> Vec<Preference> {
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
    pub(super) fn is_better(&self, other: &Self) -> bool {
        let is_kept =
            self.proof.rounds.injected >= other.proof.rounds.injected || self.is_less_wrong(other);
        self.lacking() < other.lacking() && is_kept
    }

    /// Returns true if fewer of the rendered messages fail.
    pub(super) fn is_less_wrong(&self, other: &Self) -> bool {
        self.proof.rounds.failed < other.proof.rounds.failed
    }

    pub(super) fn lacking(&self) -> Lacking {
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
    pub(super) fn obstacle(&self) -> Option<&Finding> {
        self.attempt.obstacles().next()
    }

    pub(super) fn counterexample(&self) -> Option<&Counterexample> {
        self.proof
            .errors()
            .find_map(|finding| finding.counterexample.as_ref())
    }
}

impl<'a> Driver<'a> {
    /// Makes a driver that keeps to the decisions that somebody has made.
    ///
    /// # Errors
    ///
    /// When one of these is not asked for here, or has no such candidate.
    pub(super) fn new(
        renderer: &'a Renderer<'a>,
        judge: &'a Judge<'a>,
        options: &'a Options,
        scrutiny: Scrutiny,
    ) -> Result<Self, DeriveError> {
        let mut driver = Self {
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
        Ok(driver)
    }
}

impl Driver<'_> {
    pub(super) fn attempt(&mut self, wanted: Vec<Preference>) -> Result<Attempt, DeriveError> {
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
                let names = several.iter().map(|one| one.decision.name().to_owned());
                return Err(DeriveError::UnknownDecision {
                    name: name.clone(),
                    known: names.collect(),
                    late: Vec::new(),
                });
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

    /// Returns the attempt with the first candidate everywhere; where that fails, with the first other candidate that leads on, one that gives up the reasoning last:
    /// no later candidate can say how it is read.
    pub(super) fn first(&mut self) -> Result<Attempt, DeriveError> {
        let error = match self.attempt(self.preferred.clone()) {
            Err(error) if !matches!(error, DeriveError::Exhausted { .. }) => error,
            settled => return settled,
        };
        let asked = self.renderer.choices.asked();
        let mut last_resort = None;
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
                    let gives_up = attempt.analysis.reasoning.is_none();
                    if gives_up && candidate.decision == DecisionId::Reasoning {
                        last_resort.get_or_insert((candidate, attempt));
                        continue;
                    }
                    self.replace_first(&asked, &candidate, &error);
                    return Ok(attempt);
                }
                Err(error) => self.lose(candidate, Fate::Fails, Some(error.to_string()), None),
            }
        }
        let Some((candidate, attempt)) = last_resort else {
            return Err(error);
        };
        self.replace_first(&asked, &candidate, &error);
        Ok(attempt)
    }

    /// Notes that the first candidate of the decision failed for which this one was taken.
    fn replace_first(
        &mut self,
        asked: &[MadeDecision],
        candidate: &Preference,
        error: &DeriveError,
    ) {
        let mut asked = asked.iter();
        if let Some(first) = asked.find(|one| one.decision == candidate.decision) {
            self.replace(first, Some(error.to_string()), None);
        }
    }

    pub(super) fn bench<'a>(&'a self, attempt: &'a Attempt) -> Bench<'a> {
        Bench {
            judge: self.judge,
            analysis: &attempt.analysis,
            target: self.target,
            template: &attempt.template,
            scrutiny: self.scrutiny,
        }
    }

    pub(super) fn prove(&mut self, attempt: Attempt) -> Proven {
        let (proof, stage) = cost::measured(self.judge, || proof::prove(self.bench(&attempt)));
        self.cost.verification += stage;
        Proven { attempt, proof }
    }

    /// Returns the candidates that may be tried although no try is left: as many of these as are spared for that; none where tries are left.
    pub(super) fn spare(&mut self, mut candidates: Vec<Preference>) -> Vec<Preference> {
        if self.tries > 0 {
            return Vec::new();
        }
        candidates.truncate(SPARED_TRIES);
        self.tries = candidates.len();
        candidates
    }

    /// Leaves tries for a search that is taken up again, for which those of the first one may all be used up.
    pub(super) fn resume(&mut self) {
        self.tries = self.tries.max(RESUMED_TRIES);
    }

    /// Returns true if there are tries left, and steps for the renders after them; if so it uses up one try.
    pub(super) fn may_try(&mut self) -> bool {
        let may = self.tries > 0 && self.renderer.steps_left() > renderer::MAX_STEPS / 2;
        self.tries -= usize::from(may);
        may
    }

    /// Returns true if somebody has made the decision that the candidate belongs to.
    pub(super) fn is_preferred(&self, candidate: &Preference) -> bool {
        let mut preferred = self.preferred.iter();
        preferred.any(|one| one.decision == candidate.decision)
    }

    pub(super) fn is_known(&self, candidate: &Preference) -> bool {
        self.lost.iter().any(|lost| lost.candidate == *candidate)
    }

    pub(super) fn lose(
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
    pub(super) fn replace(
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
    pub(super) fn decisions(&mut self, asked: &[MadeDecision]) -> Vec<Decision> {
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
