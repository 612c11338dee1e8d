//! Decisions, as reports have them: the candidates, the one that was taken, and the reasons why the others were not.

use std::fmt;

use serde::Serialize;

use super::finding::{Counterexample, Finding};

/// A decision between several candidates, as it was made.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Decision {
    /// The name of the decision, which is stable: `turn end`, `reasoning key`, `call form`, ...
    #[serde(rename = "question")]
    pub name: &'static str,
    /// The candidates, the one with the best evidence first. One of them was taken.
    #[serde(rename = "options")]
    pub candidates: Vec<ReportedCandidate>,
}

impl Decision {
    /// A decision of that name between candidates.
    pub fn new(name: &'static str, candidates: Vec<ReportedCandidate>) -> Self {
        Self { name, candidates }
    }

    /// A finding that says why the candidate with the best evidence was not taken; `None` where it was.
    pub(in crate::derive) fn corrected(&self) -> Option<Finding> {
        let first = self.candidates.first()?;
        let taken = self.candidates.iter().find(|one| one.fate == Fate::Taken)?;
        let why = first.why.iter().map(|why| format!(" ({why})"));
        let text = format!(
            "{}: the first candidate, \"{}\", loses messages{}; \"{}\" was taken instead, which brings them back",
            self.name,
            first.name,
            why.collect::<String>(),
            taken.name
        );
        (first.fate == Fate::Fails)
            .then(|| Finding::info("corrected", text).with(first.counterexample.clone()))
    }
}

/// A candidate of a decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReportedCandidate {
    /// The candidate's name among those of its decision.
    #[serde(rename = "way")]
    pub name: String,
    /// The delimiter or shape that the candidate makes of what was seen.
    pub means: String,
    /// The evidence for the candidate, or the reason for its rank among the others.
    pub because: String,
    /// The fate of the candidate: taken, or why not.
    pub fate: Fate,
    /// The reason why the candidate was not taken, where it was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The smallest message that does not come back, where the candidate was tried and fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Counterexample>,
}

impl ReportedCandidate {
    /// A candidate of that name: what it makes of what was seen, why, and what became of it.
    pub fn new(
        name: impl Into<String>,
        means: impl Into<String>,
        because: impl Into<String>,
        fate: Fate,
    ) -> Self {
        Self {
            name: name.into(),
            means: means.into(),
            because: because.into(),
            fate,
            why: None,
            counterexample: None,
        }
    }
}

/// The fate of a candidate of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fate {
    /// The candidate was taken.
    Taken,
    /// The candidate was tried, and some message does not come back that comes back with the one that was taken.
    Fails,
    /// The candidate was tried, and everything comes back as well; the one that was taken ranks higher.
    NoBetter,
    /// The candidate was tried, and leads to the same response template.
    Same,
    /// The candidate was not tried, since the one that ranks higher does.
    NotTried,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Taken => "taken",
            Self::Fails => "fails",
            Self::NoBetter => "no better",
            Self::Same => "the same",
            Self::NotTried => "not tried",
        })
    }
}
