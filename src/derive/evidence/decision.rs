//! A question that could be answered in several ways, the answer that was taken, and why the others lost.

use std::fmt;

use serde::Serialize;

use super::finding::{Counterexample, Finding};

/// A question with more than one answer, as it was settled.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Decision {
    /// The question: `turn end`, `reasoning key`, `call shape`, ...; a stable name.
    pub question: &'static str,
    /// The ways to answer it, that with the best evidence first. One of them was taken.
    pub options: Vec<Alternative>,
}

impl Decision {
    /// What there is to say where the way with the best evidence was not the one.
    pub(in crate::derive) fn corrected(&self) -> Option<Finding> {
        let first = self.options.first()?;
        let taken = self.options.iter().find(|one| one.fate == Fate::Taken)?;
        let why = first.why.iter().map(|why| format!(" ({why})"));
        let text = format!(
            "{}: what has the best evidence, \"{}\", fails{}, and \"{}\" was taken instead",
            self.question,
            first.way,
            why.collect::<String>(),
            taken.way
        );
        (first.fate == Fate::Fails)
            .then(|| Finding::info("corrected", text).with(first.counterexample.clone()))
    }
}

/// One way to answer a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Alternative {
    /// Its name among the ways of its question.
    pub way: String,
    /// What it makes of what was seen: a delimiter, a shape.
    pub means: String,
    /// The evidence for it, or what ranks it where it stands.
    pub because: String,
    /// What became of it.
    pub fate: Fate,
    /// Why it lost, where it was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The smallest message that does not come back, where it was tried and fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Counterexample>,
}

/// What became of a way to answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It was taken.
    Taken,
    /// It was tried, and something does not come back that comes back otherwise.
    Fails,
    /// It was tried, and everything comes back as well; what was taken ranks higher.
    NoBetter,
    /// It was tried, and leads to the same response template.
    Same,
    /// It was not tried, since what ranks higher does.
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
