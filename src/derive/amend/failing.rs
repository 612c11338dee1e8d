//! Amendments for messages that do not come back: texts that are read line by line, delimiters that are written otherwise beside some parts of a
//! message, and narrower delimiters.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Amended, Bench};
use crate::derive::evidence::finding::Finding;
use crate::derive::learn::Recorded;
use crate::derive::proof::Proof;
use crate::derive::{DeriveError, emit, learn, narrow};
use crate::judge::{Case, Failure, RoundId};
use crate::response_template::{Document, Engine, ResponseTemplate};
use crate::value::Value;

/// How many narrower response templates are proved.
const MAX_NARROWED: usize = 12;

/// How many messages that do not come back each of them is first tried with.
const MAX_FAILING: usize = 40;

/// How many messages that do not come back are learnt from.
const MAX_TEACHING: usize = 24;

/// How many changed response templates are tried for each widening by messages that do not come back.
const MAX_WIDENED: usize = 200;

/// A response template with a narrower delimiter, its proof, and the change in words.
struct Narrowed {
    document: Document,
    proof: Proof,
    told: String,
}

impl Amended {
    /// Reads a text line by line, where messages of several lines do not come back because each line has a mark before it.
    ///
    /// # Errors
    ///
    /// When an amendment is no valid response template.
    pub(in crate::derive) fn read_by_lines(
        &mut self,
        bench: &Bench<'_>,
        engines: &[Engine],
    ) -> Result<(), DeriveError> {
        // A reasoning that is written so may have been seen by nothing that looks for two delimiters.
        let known = bench.analysis.dialect.reasoning.as_ref();
        let slot = known.or_else(|| bench.judge.slots().first());
        let reasoning = emit::field_of(slot, bench.target);
        for field in [reasoning, learn::CONTENT_KEY] {
            if self.proof.failing().is_empty() {
                return Ok(());
            }
            let template = self.template()?;
            let lost = self.proof.failing().iter().map(|failure| Case {
                prefix: failure.found.prefix.clone(),
                response: failure.found.response.clone(),
                tools: Vec::new(),
                message: failure.found.expected.clone(),
            });
            let lost: Vec<Case> = lost.collect();
            let cases = &self.proof.judgement.cases;
            let lined = learn::lined(engines, &self.document, &template, &lost, cases, field);
            let taken = {
                let mut proves = bench.brings_more_back(&self.proof);
                lined.into_iter().find_map(|document| {
                    let template = ResponseTemplate::from_value(&document.to_value()).ok()?;
                    let template = Arc::new(template);
                    let proof = proves(&template)?;
                    learn::reads_many(&template, &lost, field).then_some((document, proof))
                })
            };
            if let Some((document, proof)) = taken {
                let told = format!(
                    "the chat template writes a mark before each line of {field}; so each line is read by itself, and they are joined again"
                );
                self.take(document, proof, "line-marks", told);
            }
        }
        Ok(())
    }

    /// Reads delimiters that are others beside some parts of a message, and parts that end where the next one begins.
    ///
    /// What a delimiter looks like was read off a few renders. A chat template may end a reasoning with `[so I do]` where calls follow it, and with `[so I say]`
    /// where an answer does. The renders of messages that do not come back show it: they are responses of which the message is known, and are learnt from as
    /// recorded ones are. Messages of plain words are taken, since nothing in them is like a delimiter.
    ///
    /// # Errors
    ///
    /// When an amendment is no valid response template.
    pub(in crate::derive) fn widen(
        &mut self,
        bench: &Bench<'_>,
        engines: &[Engine],
        constants: learn::Constants<'_>,
    ) -> Result<(), DeriveError> {
        let failing = self.proof.failing().iter();
        let failing = failing.filter(|failure| failure.plain && may_come_back(bench, failure));
        let recorded = failing.take(MAX_TEACHING).map(|failure| Recorded {
            name: format!("a message that did not come back, {}", failure.place),
            response: failure.found.response.clone(),
            prefix: Some(failure.found.prefix.clone()),
            tools: bench.judge.tools(failure.round).to_vec(),
            expected: Some(failure.found.expected.clone()),
        });
        let recorded: Vec<Recorded> = recorded.collect();
        if recorded.is_empty() {
            return Ok(());
        }
        let prompts = recorded
            .iter()
            .map(|one| one.prefix.iter().cloned().collect());
        let lessons = learn::Lessons {
            most: MAX_WIDENED,
            all: false,
            prompts: prompts.collect(),
            recorded: &recorded,
            constants,
            engines,
            gaps: Vec::new(),
        };
        let (document, template) = (self.document.clone(), self.template()?);
        let cases = &self.proof.judgement.cases;
        let proves = bench.brings_more_back(&self.proof);
        let learnt = learn::learn(&lessons, document, template, cases, None, proves);
        let Some(proof) = learnt.proof else {
            return Ok(());
        };
        let widened = learnt.report.widenings.iter();
        let widened = widened.map(|widening| format!("for {}, {}", widening.field, widening.text));
        let widened: Vec<String> = widened.collect();
        let told = format!(
            "not every message is written in the same way; so, {}",
            widened.join("; ")
        );
        self.take(learnt.document, proof, "widened", told);
        self.evidence.extend(learnt.evidence);
        Ok(())
    }

    /// Makes delimiters narrower whose like stands in texts of messages that do not come back, as long as more messages come back by it.
    ///
    /// # Errors
    ///
    /// When an amendment is no valid response template.
    pub(in crate::derive) fn narrow(
        &mut self,
        bench: &Bench<'_>,
        engines: &[Engine],
    ) -> Result<(), DeriveError> {
        let mut told = Vec::new();
        let mut proofs = MAX_NARROWED;
        while let Some(taken) = self.narrowed(bench, engines, &mut proofs)? {
            if !self.reads_recorded(&taken.document) {
                break;
            }
            (self.document, self.proof) = (taken.document, taken.proof);
            told.push(taken.told);
        }
        if !told.is_empty() {
            let told = format!(
                "texts of messages have the like of a delimiter in them, as the chat template writes none; so {}",
                told.join("; ")
            );
            self.findings.push(Finding::info("narrowed", told));
        }
        Ok(())
    }

    /// Returns the first of the narrower response templates that brings more messages back than this one, those first that bring most of
    /// the failing ones back; `None` if there is none, or `proofs` are used up.
    fn narrowed(
        &self,
        bench: &Bench<'_>,
        engines: &[Engine],
        proofs: &mut usize,
    ) -> Result<Option<Narrowed>, DeriveError> {
        let failing = self.proof.failing().iter();
        let failing = failing.filter(|failure| may_come_back(bench, failure));
        let failing = some_of_each_kind(failing);
        if failing.is_empty() || *proofs == 0 {
            return Ok(None);
        }
        let cases = &self.proof.judgement.cases;
        let template = self.template()?;
        let end = narrow::End {
            pattern: bench.target.text_end(),
            markers: &bench.analysis.behind_messages,
        };
        let proposals = narrow::proposals(&self.document, &template, cases, end).into_iter();
        let scrutiny = bench.scrutiny;
        let all = bench.bringing_back(proposals, &failing, scrutiny, engines, &self.document);
        let mut proves = bench.brings_more_back(&self.proof);
        for (_, template, proposal) in all.into_iter().take(*proofs) {
            *proofs -= 1;
            if let Some(proof) = proves(&template) {
                let narrow::Proposal { document, told } = proposal;
                return Ok(Some(Narrowed {
                    document,
                    proof,
                    told,
                }));
            }
        }
        Ok(None)
    }
}

/// Returns at most [`MAX_FAILING`] of these messages, by turns of those that have the same parts: where no call at all comes back, a reasoning that does not
/// is tried as well.
fn some_of_each_kind<'f>(failing: impl Iterator<Item = &'f Failure>) -> Vec<RoundId> {
    let mut kinds: BTreeMap<String, Vec<RoundId>> = BTreeMap::new();
    for failure in failing {
        kinds
            .entry(parts(&failure.found.expected))
            .or_default()
            .push(failure.round);
    }
    let most = kinds.values().map(Vec::len).max().unwrap_or_default();
    let turns = (0..most).flat_map(|turn| kinds.values().filter_map(move |kind| kind.get(turn)));
    turns.copied().take(MAX_FAILING).collect()
}

/// The parts that a message has, where several calls are another part than one.
fn parts(message: &Value) -> String {
    let mut parts = String::new();
    for (key, value) in message
        .as_object()
        .into_iter()
        .flat_map(|message| message.iter())
    {
        let count = value.as_array().map_or(1, |all| all.len().min(2));
        parts.push_str(&format!("{key} {count} "));
    }
    parts
}

/// Returns false for a message that the format cannot say, or that is written as another one is: it comes back by no delimiter.
fn may_come_back(bench: &Bench<'_>, failure: &Failure) -> bool {
    let message = bench.judge.message(failure.round);
    let mut limits = bench.analysis.limits.iter();
    !failure.alike && !limits.any(|limit| limit.is_in(message))
}
