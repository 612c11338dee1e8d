//! Amendments for texts of every day that have the like of a delimiter in them.
//!
//! Delimiters are read with less than renders have, since models write less. Where a text of every day is lost by that, no call may appear that the model did not make: so delimiters are
//! asked to be whole words, and those that open a field to begin where a line does, or with the markers before them that they have in all renders. Each change is taken that
//! saves more of those texts and loses no message that came back, that first which saves most.
//!
//! What closes a field is asked for less: a word that stands on a line of its own in all renders counts only there. Of other markers nothing more is asked. A reasoning that is closed only by the
//! white space of all renders would take the whole answer where a model writes other white space, and that is a greater loss than a text that is cut.
//!
//! No verdict depends on it. A marker that nobody writes in prose stays as it is. Other markers in its place may stand in prose, so that the same chat template with renamed markers
//! may be read more strictly: so this is a decision, and the law of renaming is held with its other candidate, by which nothing is changed.
//!
//! The cost: the texts are rendered and parsed once for each chat template, which is a twentieth of what the proof takes. Where some are lost, each proposal parses those, and
//! each that saves one is proved.

use std::sync::Arc;

use super::{Amended, Bench};
use crate::derive::evidence::finding::Finding;
use crate::derive::proof::Proof;
use crate::derive::{DeriveError, Options, late, narrow};
use crate::judge::{Counterexample, RoundId, Scrutiny};
use crate::response_template::{Document, Engine, ResponseTemplate};
use crate::value::json;

/// How many stricter response templates are proved.
const MAX_PROVED: usize = 8;

/// A response template by which fewer ordinary texts are lost.
struct Stricter {
    document: Document,
    proof: Proof,
    lost: Vec<RoundId>,
}

impl Amended {
    /// Reads delimiters more strictly where an ordinary text has their like in it, unless it is preferred that they are not.
    ///
    /// # Errors
    ///
    /// When an amendment is no valid response template, or a candidate is preferred that there is not.
    pub(in crate::derive) fn spare_ordinary_texts(
        &mut self,
        bench: &Bench<'_>,
        options: &Options,
    ) -> Result<(), DeriveError> {
        let is_other = late::ORDINARY.takes_other(&options.prefer)?;
        let template = self.template()?;
        let lost = bench.lost(&template);
        if lost.is_empty() {
            return Ok(());
        }
        let mut now = Stricter {
            document: self.document.clone(),
            proof: self.proof.clone(),
            lost: lost.clone(),
        };
        let mut told = Vec::new();
        let mut proofs = MAX_PROVED;
        while let Some(taken) = self.stricter(bench, &options.engines, &now, &mut proofs)? {
            let how;
            (now, how) = taken;
            told.push(how);
        }
        let saved = lost.iter().filter(|round| !now.lost.contains(round));
        let saved = saved.filter_map(|round| bench.found(&template, *round));
        let example = saved.min_by_key(|found| found.response.len());
        if let Some(example) = &example {
            let because = because(example);
            self.decisions.push(late::ORDINARY.made(because, is_other));
        }
        if example.is_none() || is_other {
            self.tell_lost(bench, &template, &lost);
            return Ok(());
        }
        let told = format!(
            "ordinary texts have something in them that looks like a delimiter, and where it stands the chat template never writes one; so {}",
            told.join("; ")
        );
        self.findings.push(Finding::info("narrowed", told));
        (self.document, self.proof) = (now.document, now.proof);
        self.tell_lost(bench, &self.template()?, &now.lost);
        Ok(())
    }

    /// Tells of ordinary texts that are lost all the same. Where messages are, those tell more.
    fn tell_lost(&mut self, bench: &Bench<'_>, template: &Arc<ResponseTemplate>, lost: &[RoundId]) {
        if lost.is_empty() || !self.proof.failing().is_empty() {
            return;
        }
        let found = lost
            .iter()
            .filter_map(|round| bench.found(template, *round));
        let smallest = found.min_by_key(|found| found.response.len());
        let text = format!(
            "ordinary texts are read as markers, {} of those that were tried; no verdict depends on them",
            lost.len()
        );
        self.findings
            .push(Finding::info("ordinary-text", text).with(smallest));
    }

    /// Returns the first of the stricter response templates, with the change in words, by which fewer ordinary texts are lost and no message that came back, those first that save most; `None` if
    /// there is none, or `proofs` are used up.
    fn stricter(
        &self,
        bench: &Bench<'_>,
        engines: &[Engine],
        now: &Stricter,
        proofs: &mut usize,
    ) -> Result<Option<(Stricter, String)>, DeriveError> {
        if now.lost.is_empty() || *proofs == 0 {
            return Ok(None);
        }
        let template = Arc::new(ResponseTemplate::from_value(&now.document.to_value())?);
        let cases = &now.proof.judgement.cases;
        let whole = narrow::at_whole_words(&now.document, &template, cases);
        let whole = whole.map(|document| narrow::Proposal {
            document,
            told: "a delimiter counts only where no longer word goes on beside it".to_owned(),
        });
        let beginnings = narrow::at_their_beginnings(&now.document, &template, cases);
        let proposals = whole.into_iter().chain(beginnings);
        let scrutiny = Scrutiny::Whole;
        let all = bench.bringing_back(proposals, &now.lost, scrutiny, engines, &now.document);
        let mut keeps = bench.keeps(&self.proof);
        for (_, read, proposal) in all {
            let lost = bench.lost(&read);
            // A recorded response says that the model does write it so.
            if lost.len() >= now.lost.len() || !self.reads_recorded_by(&read) {
                continue;
            }
            if *proofs == 0 {
                break;
            }
            *proofs -= 1;
            if let Some(proof) = keeps(&read) {
                let narrow::Proposal { document, told } = proposal;
                let stricter = Stricter {
                    document,
                    proof,
                    lost,
                };
                return Ok(Some((stricter, told)));
            }
        }
        Ok(None)
    }
}

/// The reasons for both candidates, with a text that is lost by the second.
fn because(example: &Counterexample) -> [String; 2] {
    let (response, parsed) = (
        json::quote(&example.response),
        json::to_string(&example.parsed),
    );
    [
        format!(
            "no call and no reasoning may appear that the model did not write: behind the prompt, {response} gives {parsed}"
        ),
        "models write delimiters within a line, and leave out the marker before them".to_owned(),
    ]
}

impl Bench<'_> {
    /// The ordinary texts that are lost.
    fn lost(&self, template: &Arc<ResponseTemplate>) -> Vec<RoundId> {
        let subject = self.subject(template, Scrutiny::Whole);
        self.judge.lost_beside(subject)
    }

    /// One that is lost, with its response and what comes back.
    fn found(&self, template: &Arc<ResponseTemplate>, round: RoundId) -> Option<Counterexample> {
        let subject = self.subject(template, Scrutiny::Whole);
        self.judge.failure(subject, round)
    }
}
