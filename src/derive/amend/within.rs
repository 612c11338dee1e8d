//! Amendments for a reasoning that is never closed, and for texts that name what opens a reasoning, or what stands before an answer.

use super::{Amended, Bench};
use crate::derive::evidence::finding::Finding;
use crate::derive::{DeriveError, Options, emit, late, learn};
use crate::response_template::Engine;
use crate::value::json;

impl Amended {
    /// Lets a reasoning open only where a part of the message begins, unless it is preferred that it opens anywhere.
    ///
    /// The proof stays as it is: of the responses that came back those that could be read otherwise are read again.
    ///
    /// # Errors
    ///
    /// When an amendment is no valid response template, or something is preferred that is not to be decided.
    pub(in crate::derive) fn open_reasoning_with_parts(
        &mut self,
        bench: &Bench<'_>,
        options: &Options,
    ) -> Result<(), DeriveError> {
        let template = self.template()?;
        let cases = self.proof.judgement.cases.iter();
        let narrowed = learn::opened_where_parts_begin(
            &options.engines,
            &self.document,
            &template,
            // Where no render has a reasoning, turns have it that it was written into.
            cases.chain(&self.proof.by_hand),
            emit::reasoning_field(bench.analysis, bench.target),
            bench.scrutiny,
        );
        let narrowed = narrowed.filter(|(document, _)| self.reads_recorded(document));
        let Some((document, example)) = narrowed else {
            let why = ": no text can be taken for a reasoning, or renders have one behind a text";
            return late::REASONING_WITHIN.does_not_come_up(&options.prefer, why);
        };
        let opens = late::REASONING_WITHIN.takes_other(&options.prefer)?;
        let (response, own) = (
            json::quote(&example.response),
            json::quote(&example.delimiter),
        );
        let because = [
            format!("models speak of {own}: {response} is an answer, and no reasoning"),
            format!("a model may think again behind a text, and {response} is read so"),
        ];
        self.decisions
            .push(late::REASONING_WITHIN.made(because, opens));
        if !opens {
            self.document = document;
            let told = "a model may mention in a text what opens a reasoning; so a reasoning opens only where the turn begins, or behind what closes a part of it";
            self.findings
                .push(Finding::info("reasoning-opening", told.to_owned()));
        }
        Ok(())
    }

    /// Lets a reasoning end before what ends the turn, too, where the model stops in it. Nothing is changed where
    /// an answer that is lost looks like such a reasoning.
    ///
    /// The proof stays as it is: of the responses that came back those that could be read otherwise are read again.
    ///
    /// # Errors
    ///
    /// When an amendment is no valid response template.
    pub(in crate::derive) fn stop_in_reasoning(
        &mut self,
        bench: &Bench<'_>,
        engines: &[Engine],
    ) -> Result<(), DeriveError> {
        let template = self.template()?;
        let cases = self.proof.judgement.cases.iter();
        let stopped = learn::stopped_in_reasoning(
            engines,
            &self.document,
            &template,
            // Where no render has a reasoning, turns have it that it was written into.
            cases.chain(&self.proof.by_hand),
            emit::reasoning_field(bench.analysis, bench.target),
            bench.scrutiny,
        );
        let mut failing = self.proof.failing().iter();
        let stopped = stopped.filter(|(document, example)| {
            let is_alike = failing.any(|failure| failure.found.response.trim() == example.trim());
            !is_alike && self.reads_recorded(document)
        });
        if let Some((document, example)) = stopped {
            self.document = document;
            let told = format!(
                "a model may stop before it closes its reasoning; so a reasoning ends before what ends the turn, too, as in {}",
                json::quote(&example)
            );
            self.findings.push(Finding::info("reasoning-stopped", told));
        }
        Ok(())
    }

    /// Lets text that the chat template writes before an answer count only where a part of the message begins.
    ///
    /// # Errors
    ///
    /// When an amendment is no valid response template.
    pub(in crate::derive) fn begin_answers_with_parts(
        &mut self,
        bench: &Bench<'_>,
        options: &Options,
    ) -> Result<(), DeriveError> {
        // Several markers behind an answer are an end of its own and that of the turn.
        let pieces = &bench.analysis.pieces;
        if pieces.tokens(bench.analysis.turn_end.marker()).len() > 1 {
            return Ok(());
        }
        let template = self.template()?;
        let narrowed = learn::begun_where_parts_begin(
            &options.engines,
            &self.document,
            &template,
            &self.proof.judgement.cases,
            bench.scrutiny,
        );
        let narrowed = narrowed.filter(|(document, _)| self.reads_recorded(document));
        if let Some((document, example)) = narrowed {
            self.document = document;
            let told = format!(
                "a model may say in its answer what the chat template writes before one; so {} counts only where the turn begins, or behind what closes a part of it: {} is an answer",
                json::quote(&example.delimiter),
                json::quote(&example.response)
            );
            self.findings.push(Finding::info("answer-beginning", told));
        }
        Ok(())
    }
}
