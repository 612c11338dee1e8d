//! The way uphill: from a derivation to a better one that differs from it in one decision, or in one and those that come up with it.

use super::candidates::{all, differing};
use super::driver::{Attempt, Driver, Lacking, Proven};
use crate::derive::choice::{About, DecisionId, MadeDecision, Preference};
use crate::derive::evidence::decision::Fate;
use crate::judge::RoundId;

/// How many of the messages that failed are tried before a candidate is judged by all.
pub(super) const MAX_FAILING: usize = 8;

impl Driver<'_> {
    /// Tries other candidates until everything comes back, or nothing more does.
    pub(super) fn search(&mut self, mut best: Proven) -> Proven {
        let mut better_too = Vec::new();
        while let Some(Better { proven, others }) = self.better(&best) {
            best = self.taken(&best, proven);
            better_too = others;
        }
        // What was better by itself mostly is so together with what is better still, and may not have had its turn again.
        for candidate in self.spare(better_too) {
            if best.lacking() == Lacking::default() {
                break;
            }
            let failing = best.proof.to_mend();
            let attempt = self.with(&candidate, &best);
            let proven =
                attempt.and_then(|attempt| self.judged(attempt, &best, &candidate, &failing));
            if let Some(proven) = proven {
                best = self.taken(&best, proven);
            }
        }
        best
    }

    /// Takes the better one of two, and notes which candidates it replaces.
    fn taken(&mut self, best: &Proven, better: Proven) -> Proven {
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
        better
    }

    /// Returns an attempt that is better than `best` and differs from it in one decision: the first that lacks nothing and in which every part has
    /// what opens it, else the one that lacks the least, with the other candidates that are better than `best`.
    ///
    /// A candidate may bring up decisions that were not made before, and be right with another candidate for one of those alone: to say what
    /// closes a reasoning that nothing opens asks where that begins. Where no candidate is better by itself, these are tried.
    fn better(&mut self, best: &Proven) -> Option<Better> {
        let failing = best.proof.to_mend();
        let is_lossy = best.lacking().lost > 0;
        let has_failed = best.proof.rounds.failed + best.proof.rounds.inexpressible > 0;
        let may_mend = is_lossy || best.attempt.refused > 0 || best.obstacle().is_some();
        if !has_failed && !may_mend {
            return None;
        }
        let mut found = Found::default();
        let mut led_to = Vec::new();
        for candidate in touched(best) {
            let Some(attempt) = self.with(&candidate, best) else {
                continue;
            };
            let further = brought_up(&attempt, &candidate, best);
            match self.judged(attempt, best, &candidate, &failing) {
                Some(proven) => {
                    if found.add(candidate, proven, best) {
                        return found.better();
                    }
                }
                None => led_to.extend(further),
            }
        }
        if found.best.is_some() || best.proof.rounds.failed == 0 {
            return found.better();
        }
        for (wanted, candidate) in led_to {
            if self.is_preferred(&candidate) || !self.may_try() {
                continue;
            }
            let Ok(attempt) = self.attempt(wanted) else {
                continue;
            };
            // It comes with the candidate that brought it up, and is not tried alone.
            if let Some(proven) = self.judged(attempt, best, &candidate, &failing)
                && found.add(candidate, proven, best)
            {
                break;
            }
        }
        found.others.clear();
        found.better()
    }

    /// Proves an attempt, and returns that if it is better than `best`; `failing` are the messages that do not come back from `best`. Where it is
    /// not, the candidate is noted as lost.
    fn judged(
        &mut self,
        attempt: Attempt,
        best: &Proven,
        candidate: &Preference,
        failing: &[RoundId],
    ) -> Option<Proven> {
        let subject = self.bench(&attempt).subject();
        let understands = attempt.obstacles().count() < best.attempt.obstacles().count();
        let is_taken = attempt.refused < best.attempt.refused;
        let is_lossy = best.lacking().lost > 0;
        let mends = understands || is_taken || is_lossy || failing.is_empty();
        let few = &failing[..failing.len().min(MAX_FAILING)];
        let brings_back = |round: &RoundId| self.judge.brings_back(subject, *round);
        if !mends && !few.iter().any(brings_back) {
            let failure = |round: &RoundId| self.judge.failure(subject, *round);
            let shown = few.iter().find_map(failure);
            let why = shown
                .is_none()
                .then(|| "what is lacking is lacking so as well".to_owned());
            self.lose(candidate.clone(), Fate::Fails, why, shown);
            return None;
        }
        if self.loses(&attempt, best, candidate) {
            return None;
        }
        let proven = self.prove(attempt);
        if !self.keeps(&proven, best, candidate) {
            return None;
        }
        if proven.is_better(best) {
            return Some(proven);
        }
        let why = "no more comes back".to_owned();
        let shown = proven.counterexample().cloned();
        self.lose(candidate.clone(), Fate::Fails, Some(why), shown);
        None
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
    pub(super) fn try_rest(&mut self, best: &Proven) {
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
}

/// The attempts that were found to be better: the one that lacks least, the first of several; and the candidates of the others, with what each
/// lacks.
///
/// Two kinds are taken last, unless nothing is lacking then. With another place at which the turn begins, all that is in the turn would be read
/// anew, and what begins it is what renders show most plainly. And without a reasoning that was seen, no later candidate can say how it is read,
/// although it may be the second of two steps: for example, that the reasoning is what the response begins with, and then how the content
/// is closed.
///
/// Of two that lack nothing, the better one knows what opens the reasoning. It reads the response of a model that writes this although the prompt
/// has written it, and it can tell a call from a reasoning that nothing has closed.
#[derive(Default)]
struct Found {
    best: Option<FoundAttempt>,
    others: Vec<(Lacking, Preference)>,
}

/// An attempt that was found to be better.
struct FoundAttempt {
    candidate: Preference,
    proven: Proven,
    is_last_resort: bool,
    /// True if it lacks nothing but what opens the reasoning.
    is_unopened: bool,
}

/// A better attempt than another one, and the other candidates that are better than that, the best first.
struct Better {
    proven: Proven,
    others: Vec<Preference>,
}

impl Found {
    /// Adds an attempt that is better than `before`, and returns true if none can be better than it.
    fn add(&mut self, candidate: Preference, proven: Proven, before: &Proven) -> bool {
        let lacking = proven.lacking();
        let is_whole = lacking == Lacking::default();
        let found = FoundAttempt {
            is_last_resort: !is_whole
                && (is_read_anew(&candidate) || proven.attempt.drops_reasoning(before)),
            is_unopened: is_whole && has_unopened_reasoning(&proven),
            candidate,
            proven,
        };
        let is_best = is_whole && !found.is_unopened;
        match &mut self.best {
            Some(best) if best.rank() <= found.rank() => {
                self.others.push((lacking, found.candidate));
            }
            best => {
                let known = best.replace(found);
                let known = known.map(|known| (known.proven.lacking(), known.candidate));
                self.others.extend(known);
            }
        }
        is_best
    }

    fn better(mut self) -> Option<Better> {
        let FoundAttempt {
            candidate, proven, ..
        } = self.best?;
        self.others.sort_by_key(|(lacking, _)| *lacking);
        let others = self.others.into_iter().map(|(_, other)| other);
        let others = others.filter(|other| other.decision != candidate.decision);
        Some(Better {
            proven,
            others: others.collect(),
        })
    }
}

impl FoundAttempt {
    /// The better attempt has the lesser rank.
    fn rank(&self) -> (bool, Lacking, bool) {
        let lacking = self.proven.lacking();
        (self.is_last_resort, lacking, self.is_unopened)
    }
}

/// Returns true if there is a reasoning that nothing opens.
fn has_unopened_reasoning(proven: &Proven) -> bool {
    let reasoning = &proven.attempt.analysis.reasoning;
    reasoning.as_ref().is_some_and(|it| it.open.is_empty())
}

/// Returns the other candidates of the decisions that the attempt makes and `best` does not, each with the choices of the attempt and this one.
/// Where the candidate says where the turn begins, all that is in the turn is read anew: then a decision is another one where it is made between
/// other candidates.
fn brought_up(
    attempt: &Attempt,
    candidate: &Preference,
    best: &Proven,
) -> Vec<(Vec<Preference>, Preference)> {
    let is_anew = is_read_anew(candidate);
    let is_known = |one: &MadeDecision| {
        let is_same = |asked: &MadeDecision| {
            asked.decision == one.decision && (!is_anew || asked.candidates == one.candidates)
        };
        best.attempt.asked.iter().any(is_same)
    };
    let mut new = attempt.asked.clone();
    new.retain(|one| !is_known(one));
    let others = all(&new).into_iter();
    let others = others.map(|candidate| (attempt.wanting(&candidate), candidate));
    others.collect()
}

/// Returns true if the candidate says where the turn begins.
fn is_read_anew(candidate: &Preference) -> bool {
    candidate.decision == DecisionId::Anchor
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
