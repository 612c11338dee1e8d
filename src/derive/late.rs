//! Decisions that come up behind the search, when there is a response template that is proved.
//!
//! What is decided so, the renders do not tell: each candidate reads all of them, and they differ in what models write otherwise. Such a decision has two candidates.
//! The first is taken unless somebody prefers the other. For example, an engine that makes a grammar of a response template needs delimiters whose white space does not vary, and
//! whoever asks for them reads less of what a model writes otherwise.

use std::borrow::Cow;

use super::evidence::decision::{Decision, Fate, ReportedCandidate};
use super::{DeriveError, Options};

/// A decision between two candidates.
#[derive(Debug)]
pub(super) struct LateDecision {
    pub(super) name: &'static str,
    /// The one that is taken, and the one that may be preferred.
    pub(super) candidates: [LateCandidate; 2],
}

/// A candidate, and what it makes of the response template in words.
#[derive(Debug)]
pub(super) struct LateCandidate {
    pub(super) name: &'static str,
    means: &'static str,
}

/// How the white space of delimiters is written, for an engine that makes a grammar of them.
pub(super) const WHITE_SPACE: LateDecision = LateDecision {
    name: "white space of delimiters",
    candidates: [
        LateCandidate {
            name: "free",
            means: "delimiters in which white space may vary",
        },
        LateCandidate {
            name: "spelled out",
            means: "delimiters as the texts that were seen in their places, each with fewer line feeds and with one more as well",
        },
    ],
};

/// How a delimiter is read that the model writes twice in a row, or once more behind the prompt's.
pub(super) const WRITTEN_AGAIN: LateDecision = LateDecision {
    name: "delimiter written again",
    candidates: [
        LateCandidate {
            name: "counts once",
            means: "a delimiter of the reasoning, or what opens the calls, is no text where it stands right behind itself",
        },
        LateCandidate {
            name: "text",
            means: "a delimiter is text of the reasoning or of the answer where it stands beside itself",
        },
    ],
};

/// How what opens a reasoning is read behind a text.
pub(super) const REASONING_WITHIN: LateDecision = LateDecision {
    name: "reasoning behind text",
    candidates: [
        LateCandidate {
            name: "is text",
            means: "what opens a reasoning counts where the turn begins, and behind what closes a part of it",
        },
        LateCandidate {
            name: "is a reasoning",
            means: "what opens a reasoning counts wherever it stands",
        },
    ],
};

/// How a text of every day is read that has the like of a delimiter in it.
pub(super) const ORDINARY: LateDecision = LateDecision {
    name: "ordinary text",
    candidates: [
        LateCandidate {
            name: "is no marker",
            means: "delimiters that are whole words and begin where they begin in all renders, as far as an ordinary text has their like elsewhere",
        },
        LateCandidate {
            name: "may be a marker",
            means: "delimiters that count wherever they stand, within words and without the markers before them",
        },
    ],
};

const ALL: [&LateDecision; 4] = [&WHITE_SPACE, &WRITTEN_AGAIN, &REASONING_WITHIN, &ORDINARY];

impl LateDecision {
    /// The candidate that somebody prefers, if anybody does.
    fn wanted<'p>(&self, prefer: &'p [(String, String)]) -> Option<&'p str> {
        let mut own = prefer.iter().filter(|(name, _)| name == self.name);
        own.next().map(|(_, candidate)| candidate.as_str())
    }

    /// Returns true if the second candidate is preferred, where the decision comes up.
    ///
    /// # Errors
    ///
    /// When a candidate is preferred that it does not have.
    pub(super) fn takes_other(&self, prefer: &[(String, String)]) -> Result<bool, DeriveError> {
        let Some(wanted) = self.wanted(prefer) else {
            return Ok(false);
        };
        let [first, other] = &self.candidates;
        if ![first.name, other.name].contains(&wanted) {
            return Err(DeriveError::Preference(format!(
                "`{}` has no candidate `{wanted}`; the candidates are `{}`, `{}`",
                self.name, first.name, other.name
            )));
        }
        Ok(wanted == other.name)
    }

    /// Says that the decision does not come up, and why, if somebody prefers one of its candidates.
    ///
    /// # Errors
    ///
    /// When somebody does.
    pub(super) fn does_not_come_up(
        &self,
        prefer: &[(String, String)],
        why: &str,
    ) -> Result<(), DeriveError> {
        self.takes_other(prefer)?;
        match self.wanted(prefer) {
            None => Ok(()),
            Some(_) => Err(DeriveError::Preference(format!(
                "`{}` is not to be decided here{why}",
                self.name
            ))),
        }
    }

    /// The decision as reports have it, with the reason for each candidate.
    pub(super) fn made(&self, because: [String; 2], is_other: bool) -> Decision {
        let candidates = self.candidates.iter().zip(because).enumerate();
        let candidates = candidates.map(|(index, (candidate, because))| {
            let fate = match (index == 1) == is_other {
                true => Fate::Taken,
                false => Fate::NoBetter,
            };
            ReportedCandidate::new(candidate.name, candidate.means, because, fate)
        });
        Decision::new(self.name, candidates.collect())
    }
}

/// Returns the error of a search with the names of these decisions, where it knows none of a name. It does not know these either.
pub(super) fn beside(error: DeriveError) -> DeriveError {
    match error {
        DeriveError::UnknownDecision { name, known, .. } => DeriveError::UnknownDecision {
            name,
            known,
            late: ALL.iter().map(|late| late.name.to_owned()).collect(),
        },
        error => error,
    }
}

/// Returns the options of a search, which knows nothing of these decisions.
pub(super) fn searched(options: &Options) -> Cow<'_, Options> {
    let is_late = |(name, _): &(String, String)| ALL.iter().any(|late| late.name == name);
    if !options.prefer.iter().any(is_late) {
        return Cow::Borrowed(options);
    }
    let mut searched = options.clone();
    searched.prefer.retain(|one| !is_late(one));
    Cow::Owned(searched)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefer(candidate: &str) -> Vec<(String, String)> {
        vec![(WHITE_SPACE.name.to_owned(), candidate.to_owned())]
    }

    #[test]
    fn the_first_candidate_is_taken_unless_the_other_is_preferred() {
        assert!(!WHITE_SPACE.takes_other(&[]).unwrap());
        assert!(!WHITE_SPACE.takes_other(&prefer("free")).unwrap());
        assert!(WHITE_SPACE.takes_other(&prefer("spelled out")).unwrap());
        assert!(!WRITTEN_AGAIN.takes_other(&prefer("spelled out")).unwrap());
        let error = WHITE_SPACE.takes_other(&prefer("none")).unwrap_err();
        let told = "`white space of delimiters` has no candidate `none`; the candidates are `free`, `spelled out`";
        assert!(error.to_string().contains(told), "{error}");
        let made = |is_other| WHITE_SPACE.made(["a".to_owned(), "b".to_owned()], is_other);
        let fates = |decision: Decision| -> Vec<Fate> {
            decision.candidates.iter().map(|one| one.fate).collect()
        };
        assert_eq!(fates(made(false)), [Fate::Taken, Fate::NoBetter]);
        assert_eq!(fates(made(true)), [Fate::NoBetter, Fate::Taken]);
    }

    #[test]
    fn a_preference_for_what_does_not_come_up_is_an_error() {
        assert!(WHITE_SPACE.does_not_come_up(&[], "").is_ok());
        let error = WHITE_SPACE.does_not_come_up(&prefer("free"), ": no engine asks for it");
        let told = "`white space of delimiters` is not to be decided here: no engine asks for it";
        assert!(error.unwrap_err().to_string().contains(told));
    }

    #[test]
    fn the_search_is_asked_for_the_others_alone() {
        let other = ("turn end".to_owned(), "message".to_owned());
        let options = Options::default().prefer([prefer("free"), vec![other.clone()]].concat());
        assert_eq!(searched(&options).prefer, [other]);
    }
}
