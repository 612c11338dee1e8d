//! Amendments: what is changed of a response template after the renders have proved it.
//!
//! Renders do not show everything: an engine stops at tokens that no render ends with, a chat template makes up ids, models write otherwise
//! than they are rendered, and text outside of all regions would be lost. For each of these a change is proposed, the whole is proved anew, and
//! the change is taken if every message that came back still does and no error comes up that was not there before. So an amendment can
//! add to what is proved and never take away from it, whatever it was proposed for; and they can be made one after the other. Each costs at
//! least one proof. Those of `failing` are for messages that do not come back, those of `ordinary` for texts of every day on which no verdict is given.

mod failing;
mod headers;
mod ordinary;
mod unopened;
mod within;

use std::sync::Arc;

use crate::chat_template::ChatTemplateSource;
use crate::derive::compare::pattern::alternatives;
use crate::derive::emit::{self, Target};
use crate::derive::evidence::decision::Decision;
use crate::derive::evidence::finding::Finding;
use crate::derive::evidence::sample::Evidence;
use crate::derive::late;
use crate::derive::learn::{self, Responses};
use crate::derive::narrow::Proposal;
use crate::derive::probe::CALLS_KEY;
use crate::derive::proof::{self, Proof};
use crate::derive::read::analysis::Analysis;
use crate::derive::strict::{self, StrictCalls};
use crate::derive::{DeriveError, Options, compare};
use crate::judge::{self, Case, Judge, RoundId, Scrutiny, Subject};
use crate::response_template::{Document, Engine, ResponseTemplate};
use crate::value::{Value, json};

/// How many changed response templates are tried for each widening by recorded responses.
const MAX_LEARNT: usize = 4096;

/// The bench on which amendments are proved: the judge, and the analysis of the renders.
pub(super) struct Bench<'a> {
    pub(super) judge: &'a Judge<'a>,
    pub(super) analysis: &'a Analysis,
    pub(super) target: Target,
    pub(super) scrutiny: Scrutiny,
}

impl Bench<'_> {
    fn prove(&self, template: &Arc<ResponseTemplate>) -> Proof {
        proof::prove(self.for_proof(template))
    }

    /// Returns the bench for one response template, as a proof takes it.
    pub(super) fn for_proof<'t>(&'t self, template: &'t Arc<ResponseTemplate>) -> proof::Bench<'t> {
        proof::Bench {
            judge: self.judge,
            analysis: self.analysis,
            target: self.target,
            template,
            scrutiny: self.scrutiny,
        }
    }

    /// Returns a function that proves a response template. It returns the new proof if that loses nothing of the old one: every message
    /// that came back still does, there are no more errors, and no delimiter has a text of the messages that had none. Otherwise it returns `None`.
    fn keeps(&self, proof: &Proof) -> impl FnMut(&Arc<ResponseTemplate>) -> Option<Proof> {
        let errors = proof.errors().count();
        let speaks = proof.has_text_in_delimiter();
        move |template| {
            let now = self.prove(template);
            let is_kept = now.errors().count() <= errors
                && (speaks || !now.has_text_in_delimiter())
                && now.lost_of(proof).is_empty();
            is_kept.then_some(now)
        }
    }

    /// Returns the response template for the judge, with responses that are read with that scrutiny.
    fn subject<'t>(
        &'t self,
        template: &'t Arc<ResponseTemplate>,
        scrutiny: Scrutiny,
    ) -> Subject<'t> {
        Subject {
            scrutiny,
            ..self.for_proof(template).subject()
        }
    }

    /// Returns those of the proposals that bring some of these messages back and that no engine refuses for more than it does `document`, with how many come back, those
    /// first that bring back most. Responses are read with that scrutiny.
    fn bringing_back(
        &self,
        proposals: impl Iterator<Item = Proposal>,
        lost: &[RoundId],
        scrutiny: Scrutiny,
        engines: &[Engine],
        document: &Document,
    ) -> Vec<(usize, Arc<ResponseTemplate>, Proposal)> {
        let refused = Engine::refusals(engines, document);
        let mut all = Vec::new();
        for proposal in proposals {
            if Engine::refusals(engines, &proposal.document) > refused {
                continue;
            }
            let Ok(template) = ResponseTemplate::from_value(&proposal.document.to_value()) else {
                continue;
            };
            let template = Arc::new(template);
            let subject = self.subject(&template, scrutiny);
            let back = lost.iter();
            let back = back.filter(|round| self.judge.brings_back(subject, **round));
            match back.count() {
                0 => {}
                count => all.push((count, template, proposal)),
            }
        }
        all.sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
        all
    }

    /// Returns a function as [`Bench::keeps`] does, that also asks for more messages than came back before, and than with the last response
    /// template of which it returned a proof.
    fn brings_more_back(
        &self,
        proof: &Proof,
    ) -> impl FnMut(&Arc<ResponseTemplate>) -> Option<Proof> {
        let mut keeps = self.keeps(proof);
        let mut failing = proof.failing().len();
        move |template| {
            let now = keeps(template).filter(|now| now.failing().len() < failing)?;
            failing = now.failing().len();
            Some(now)
        }
    }
}

/// A response template with the amendments that were taken.
#[derive(Clone)]
pub(super) struct Amended {
    pub(super) document: Document,
    pub(super) proof: Proof,
    /// A finding for each amendment.
    pub(super) findings: Vec<Finding>,
    /// The beginnings of turns in prompts that have a mark of their own behind the start anchor.
    pub(super) marks: Vec<String>,
    /// The texts that begin a turn, with slots for what kwargs write, where prompts were found to begin it otherwise than answers do.
    anchors: Option<Vec<String>>,
    /// The decisions that came up with them.
    pub(super) decisions: Vec<Decision>,
    /// The evidence of recorded responses, and the report of them, where there are any.
    pub(super) evidence: Vec<Evidence>,
    pub(super) responses: Option<Responses>,
    /// The recorded responses that are read right, by their names.
    pub(super) read: Vec<(String, Case)>,
}

impl Amended {
    /// The response template that the search found, with no amendments.
    pub(super) fn new(document: Document, proof: Proof) -> Self {
        Self {
            document,
            proof,
            findings: Vec::new(),
            marks: Vec::new(),
            anchors: None,
            decisions: Vec::new(),
            evidence: Vec::new(),
            responses: None,
            read: Vec::new(),
        }
    }

    /// Returns true if some field takes what no other one does.
    pub(super) fn claims_all_text(&self) -> bool {
        let mut fields = self.document.fields.values();
        fields.any(|field| field.open.is_none())
    }

    /// Returns true if a response template gives the recorded responses that are read right their messages still.
    fn reads_recorded(&self, document: &Document) -> bool {
        let template = ResponseTemplate::from_value(&document.to_value());
        template.is_ok_and(|template| self.reads_recorded_by(&Arc::new(template)))
    }

    fn reads_recorded_by(&self, template: &Arc<ResponseTemplate>) -> bool {
        let mut read = self.read.iter().map(|(_, case)| case);
        read.all(|case| judge::parse_whole(template, case) == case.message)
    }

    /// Returns the proof of a response template that `keeps` accepts and that reads the recorded responses still. Those are tried first, since a proof takes longer.
    fn proved(
        &self,
        document: &Document,
        keeps: impl FnOnce(&Arc<ResponseTemplate>) -> Option<Proof>,
    ) -> Option<Proof> {
        let template = ResponseTemplate::from_value(&document.to_value()).ok()?;
        let template = Arc::new(template);
        let reads_recorded = self.reads_recorded_by(&template);
        reads_recorded.then(|| keeps(&template)).flatten()
    }

    fn take(&mut self, document: Document, proof: Proof, code: &'static str, told: String) {
        (self.document, self.proof) = (document, proof);
        self.findings.push(Finding::info(code, told));
    }

    /// Returns the amended response template.
    ///
    /// # Errors
    ///
    /// When an amendment is no valid response template.
    pub(super) fn template(&self) -> Result<Arc<ResponseTemplate>, DeriveError> {
        let template = ResponseTemplate::from_value(&self.document.to_value())?;
        Ok(Arc::new(template))
    }

    /// Lets the tokens at which an engine stops close the content. Where the last answer of a conversation ends with nothing, so do the tokenizer's own end,
    /// if it is known, and what stands behind answers that another message follows.
    pub(super) fn close_at_end_tokens(
        &mut self,
        bench: &Bench<'_>,
        source: &ChatTemplateSource,
        engines: &[Engine],
    ) {
        let content = self.document.fields.get(learn::CONTENT_KEY);
        let is_never_closed = content.is_some_and(|content| content.close.is_none());
        let is_assumed = source.assumed_tokens.iter().any(|name| name == "eos_token");
        // The model stops at these whatever token the tokenizer names, which is often that of another kind of text.
        if is_never_closed {
            let told = |tokens: &str| {
                format!(
                    "{tokens} stands behind answers that another message follows, and nothing behind the last one; it closes the content, too"
                )
            };
            self.close_at(bench, &bench.analysis.turn_end.before_next, engines, told);
            self.close_at_the_next(bench, engines);
        }
        let told = |tokens: &str| {
            format!(
                "an engine stops at {tokens}, as the tokenizer or its generation configuration says, and no render has it there; it closes the content, too"
            )
        };
        let tokens = match is_never_closed && !is_assumed {
            true => source.end_tokens(),
            false => source.tokens.end.clone(),
        };
        self.close_at(bench, &tokens, engines, told);
        let told = |token: &str| {
            format!(
                "{token} stands behind the shorter ones of several responses that are made at once; it closes the content, too"
            )
        };
        let pad = source.special_tokens.get("pad_token");
        let pad = pad.and_then(Value::as_str).map(str::to_owned);
        self.close_at(bench, &pad.into_iter().collect::<Vec<_>>(), engines, told);
        let told = |tokens: &str| {
            format!(
                "a turn of calls ends with {tokens} where a tool's result follows, and otherwise at the end of a conversation; it closes the content, too"
            )
        };
        self.close_at(
            bench,
            &bench.analysis.turn_end.before_results,
            engines,
            told,
        );
    }

    /// Lets what begins the next message close the content where the response ends with it, and where nothing else closes it.
    fn close_at_the_next(&mut self, bench: &Bench<'_>, engines: &[Engine]) {
        let begins = bench.analysis.turn_end.ending_answers();
        let keeps = bench.keeps(&self.proof);
        let ended = learn::ended_by_the_next(&begins, engines, &self.document, keeps);
        if let Some((document, proof)) = ended {
            let quoted = begins
                .iter()
                .map(|[begin, _]| json::quote(begin.trim_start()));
            let quoted: Vec<String> = quoted.collect();
            let told = format!(
                "nothing ends a turn, and the next message begins with {}; a response that ends with it ends there",
                quoted.join(" or ")
            );
            self.take(document, proof, "end-token", told);
        }
    }

    /// Lets these tokens close the content, as far as nothing is lost by that; `told` says so of those that do, which it is given in quotes.
    fn close_at(
        &mut self,
        bench: &Bench<'_>,
        tokens: &[String],
        engines: &[Engine],
        told: impl Fn(&str) -> String,
    ) {
        let keeps = bench.keeps(&self.proof);
        let turn_end = &bench.analysis.turn_end;
        let ends: Vec<&str> = match turn_end.markers.as_slice() {
            [] => turn_end.nexts(),
            ends => ends.iter().map(|end| end.trim()).collect(),
        };
        if let Some((document, proof, tokens)) =
            learn::ended(tokens, &ends, engines, &self.document, keeps)
        {
            let tokens: Vec<String> = tokens.iter().map(|token| json::quote(token)).collect();
            self.take(document, proof, "end-token", told(&tokens.join(", ")));
        }
    }

    /// Reads ids of calls that the chat template makes up.
    pub(super) fn read_made_ids(&mut self, bench: &Bench<'_>) {
        let keeps = bench.keeps(&self.proof);
        let cases = &self.proof.judgement.cases;
        let Some((document, proof, text)) = learn::identified(&self.document, cases, keeps) else {
            return;
        };
        let told = format!(
            "the chat template makes up the ids of calls, whatever ids messages have, and writes them again with the tools' results: {text}"
        );
        self.take(document, proof, "made-id", told);
    }

    /// Tells which of the recorded responses the response template reads right, after all that was done to it since they were learnt from.
    ///
    /// # Errors
    ///
    /// When an amendment is no valid response template.
    pub(super) fn tell_responses(
        &mut self,
        source: &ChatTemplateSource,
        options: &Options,
        pieces: &compare::pieces::Pieces,
        prompt: &dyn Fn(&[Value]) -> Option<String>,
    ) -> Result<(), DeriveError> {
        let template = self.template()?;
        let lessons = self.lessons(source, options, pieces, prompt, false);
        let outcome = lessons.outcome(&self.document, template, &self.proof.judgement.cases);
        if let Some(report) = &mut self.responses {
            (report.right, report.short) = (outcome.right, outcome.short);
        }
        self.read = outcome.read;
        self.evidence.extend(outcome.evidence);
        Ok(())
    }

    /// The recorded responses, and what is needed to read them.
    fn lessons<'a>(
        &self,
        source: &ChatTemplateSource,
        options: &'a Options,
        pieces: &'a compare::pieces::Pieces,
        prompt: &dyn Fn(&[Value]) -> Option<String>,
        all: bool,
    ) -> learn::Lessons<'a> {
        let recorded = &options.responses;
        let prompts = recorded.iter().map(|recorded| match &recorded.prefix {
            Some(prefix) => vec![prefix.clone()],
            None => {
                let prompt = prompt(&recorded.tools);
                prompt.into_iter().chain([String::new()]).collect()
            }
        });
        learn::Lessons {
            most: MAX_LEARNT,
            all,
            recorded,
            prompts: prompts.collect(),
            constants: learn::Constants::new(pieces, source.tokens.special.clone()),
            engines: &options.engines,
            gaps: learn::known_gaps(&self.proof.judgement.cases),
        }
    }

    /// Widens the response template by what recorded responses show; with `more`, as long as it is true, also by text of those that are read
    /// right which is no part of anything.
    pub(super) fn learn_from_responses(
        &mut self,
        bench: &Bench<'_>,
        source: &ChatTemplateSource,
        options: &Options,
        pieces: &compare::pieces::Pieces,
        prompt: &dyn Fn(&[Value]) -> Option<String>,
        more: Option<&dyn Fn() -> bool>,
    ) -> Result<(), DeriveError> {
        let recorded = &options.responses;
        let lessons = self.lessons(source, options, pieces, prompt, more.is_some());
        let template = self.template()?;
        let first = lessons.prompts.first().and_then(|prompts| prompts.first());
        let opened = first.and_then(|prompt| {
            let anchor = template.anchor().find_iter(prompt).last()?.ok()?;
            prompt.get(anchor.span.end..)
        });
        let opened = opened.unwrap_or_default();
        let shown = learn::unshown(source, recorded, &self.document, opened).and_then(|unshown| {
            let options = Options {
                responses: Vec::new(),
                prefer: Vec::new(),
                alternatives: false,
                ..options.clone()
            };
            let derived = crate::derive::derive(&unshown.source, &options).ok()?;
            Some((unshown, derived.document))
        });
        let mut keeps = bench.keeps(&self.proof);
        let keeps = move |template: &Arc<ResponseTemplate>| match more {
            Some(may_prove) if !may_prove() => None,
            _ => keeps(template),
        };
        let cases = &self.proof.judgement.cases;
        let document = self.document.clone();
        let learnt = learn::learn(&lessons, document, template, cases, shown, keeps);
        if let Some(proof) = learnt.proof {
            self.proof = proof;
        }
        self.document = learnt.document;
        self.evidence.extend(learnt.evidence);
        self.responses = Some(learnt.report);
        self.read = learnt.read;
        Ok(())
    }

    /// Lets a field take the text that goes to no field. There is such text where the chat template wraps all that the model says in
    /// markers.
    pub(super) fn claim_all_text(
        &mut self,
        bench: &Bench<'_>,
        engines: &[Engine],
    ) -> Result<(), DeriveError> {
        let template = self.template()?;
        // The responses are tried first, since a proof takes longer.
        let keeps = |template: &Arc<ResponseTemplate>| {
            self.reads_recorded_by(template)
                .then(|| bench.keeps(&self.proof)(template))
                .flatten()
        };
        let cases = &self.proof.judgement.cases;
        let pieces = &bench.analysis.pieces;
        let claimed = learn::claimed(engines, &self.document, &template, cases, pieces, keeps);
        if let Some((document, proof, told)) = claimed {
            let told = format!(
                "the chat template wraps all that the model says, and text outside would go to no field; so {}",
                told.join("; ")
            );
            self.take(document, proof, "claimed", told);
        }
        Ok(())
    }

    /// Lets a call whose arguments stand in tags or whose body is JSON end where the next one begins, too, or the turn ends.
    ///
    /// The proof stays as it is: of the responses that came back those that could be read otherwise are read again.
    pub(super) fn end_unclosed_calls(&mut self, bench: &Bench<'_>, engines: &[Engine]) {
        let cases = &self.proof.judgement.cases;
        let ended = learn::ended_by_what_follows(engines, &self.document, cases, bench.scrutiny);
        let ended = ended.filter(|(document, _)| self.reads_recorded(document));
        if let Some((document, told)) = ended {
            self.document = document;
            let told = format!("models leave out what closes a call; so it also ends {told}");
            self.findings.push(Finding::info("unclosed-call", told));
        }
    }

    /// Lets a call that nothing closes end before a text that stands between it and the next one.
    ///
    /// The proof stays as it is: of the responses that came back those with several calls are read again.
    ///
    /// # Errors
    ///
    /// When an amendment is no valid response template.
    pub(super) fn part_calls_from_text(
        &mut self,
        bench: &Bench<'_>,
        engines: &[Engine],
    ) -> Result<(), DeriveError> {
        let template = self.template()?;
        let cases = &self.proof.judgement.cases;
        let parted =
            learn::parted_by_text(engines, &self.document, &template, cases, bench.scrutiny);
        if let Some(document) = parted {
            self.document = document;
            let told = "nothing closes a call before the next one, and models write text between two; so a call also ends behind its bracket, where a text and the next one follow";
            self.findings
                .push(Finding::info("unclosed-call", told.to_owned()));
        }
        Ok(())
    }

    /// Lets what closes a call count only behind the end of its body.
    ///
    /// The proof stays as it is: of the responses that came back those that could be read otherwise are read again.
    pub(super) fn close_calls_behind_bodies(&mut self, bench: &Bench<'_>, engines: &[Engine]) {
        let cases = &self.proof.judgement.cases;
        let closed = learn::closed_behind_bodies(engines, &self.document, cases, bench.scrutiny);
        let closed = closed.filter(|(document, _)| self.reads_recorded(document));
        if let Some((document, is_followed)) = closed {
            self.document = document;
            let also = match is_followed {
                true => ", or where another call or the end of the turn follows",
                false => "",
            };
            let told = format!(
                "an argument may mention what closes a call; so that counts only behind the end of a call's body{also}"
            );
            self.findings.push(Finding::info("call-closing", told));
        }
    }

    /// Lets parts of a message end with the response, where what ends the turn is a part of what closes them.
    ///
    /// The proof stays as it is: of the responses that came back all are read again.
    pub(super) fn end_without_the_turn(&mut self, bench: &Bench<'_>, engines: &[Engine]) {
        let cases = &self.proof.judgement.cases;
        let end = bench.analysis.turn_end.marker();
        let ended =
            learn::ended_without_the_turn(engines, &self.document, end, cases, bench.scrutiny);
        let Some((document, names)) = ended.filter(|(document, _)| self.reads_recorded(document))
        else {
            return;
        };
        self.document = document;
        let told = format!(
            "engines keep to themselves what ends the turn, which is a part of what closes {}; so that counts without it where the response ends",
            names.join(" and ")
        );
        self.findings.push(Finding::info("end-left-out", told));
    }

    /// Lets a call open only where its body begins.
    ///
    /// The proof stays as it is: of the responses that came back those in which a call opens are read again.
    pub(super) fn open_calls_at_their_body(&mut self, bench: &Bench<'_>, engines: &[Engine]) {
        let calls = bench.analysis.calls.as_ref();
        let body = calls.and_then(|calls| emit::beginning_of_bodies(bench.analysis, calls));
        let Some(body) = body else {
            return;
        };
        let cases = &self.proof.judgement.cases;
        // Where models were seen to write other tags, a body may begin with one of these as well.
        let tags = self.document.fields.get(CALLS_KEY);
        let tags = tags.and_then(learn::beginning_of_tags);
        let with_tags = tags.map(|tags| {
            let known = alternatives(&body);
            let further = alternatives(&tags).into_iter();
            let further = further.filter(|tag| !known.contains(tag));
            let all: Vec<String> = std::iter::once(body.clone()).chain(further).collect();
            all.join("|")
        });
        let opened = [Some(body), with_tags].into_iter().flatten();
        let mut opened = opened.filter_map(|body| {
            learn::opened_at_their_body(engines, &self.document, &body, cases, bench.scrutiny)
        });
        if let Some(document) = opened.find(|document| self.reads_recorded(document)) {
            self.document = document;
            let told = "a model may mention in a text what opens a call; so a call opens only where its body begins";
            self.findings
                .push(Finding::info("call-opening", told.to_owned()));
        }
    }

    /// Reads a delimiter that the model writes twice in a row, or once more behind the prompt, unless it is preferred that such a one is text.
    ///
    /// The proof stays as it is: of the responses that came back those that could be read otherwise are read again.
    ///
    /// # Errors
    ///
    /// When an amendment is no valid response template, or something is preferred that is not to be decided.
    pub(super) fn read_again(
        &mut self,
        bench: &Bench<'_>,
        options: &Options,
    ) -> Result<(), DeriveError> {
        let template = self.template()?;
        let engines = &options.engines;
        let reasoning = emit::reasoning_field(bench.analysis, bench.target);
        let (cases, scrutiny) = (&self.proof.judgement.cases, bench.scrutiny);
        let spares = !late::ORDINARY.takes_other(&options.prefer)?;
        // Where no render has a reasoning, turns have it that it was written into.
        let thought = learn::written_again(
            engines,
            &self.document,
            &template,
            cases.iter().chain(&self.proof.by_hand),
            reasoning,
            scrutiny,
            spares,
        );
        let calls = bench.analysis.calls.as_ref();
        let opened = calls.and_then(|calls| {
            let markers = [calls.section.0.as_str(), &calls.call.0];
            let so_far = thought.as_ref().map(|again| &again.document);
            let so_far = so_far.unwrap_or(&self.document);
            learn::opened_twice(engines, so_far, &template, cases, markers, scrutiny, spares)
        });
        let read: Vec<learn::Again> = thought.into_iter().chain(opened).collect();
        let example = read.iter().map(|again| &again.example);
        let example = example.min_by_key(|example| example.response.len());
        let (Some(last), Some(example)) = (read.last(), example) else {
            let why = ": there is no delimiter that may be written again";
            return late::WRITTEN_AGAIN.does_not_come_up(&options.prefer, why);
        };
        let is_text = late::WRITTEN_AGAIN.takes_other(&options.prefer)?;
        let (response, own) = (
            json::quote(&example.response),
            json::quote(&example.delimiter),
        );
        let because = [
            format!(
                "models write again what they or the prompt have written: {response} is read as if {own} stood there once"
            ),
            format!(
                "a text may speak of {own} right beside it: {response} is then read with {own} as text"
            ),
        ];
        self.decisions
            .push(late::WRITTEN_AGAIN.made(because, is_text));
        if !is_text {
            self.document = last.document.clone();
            let told: Vec<&str> = read.iter().flat_map(|again| again.told.clone()).collect();
            let told = format!(
                "some models repeat a delimiter that they or the prompt have written already; so what {} counts as one where it stands twice in a row",
                told.join(" or ")
            );
            self.findings.push(Finding::info("written-again", told));
        }
        Ok(())
    }

    /// Says where an engine cannot hold a model to the calls, and spells the delimiters out where that is preferred.
    ///
    /// # Errors
    ///
    /// When that is preferred where it cannot be had.
    pub(super) fn spell_out(
        &mut self,
        bench: &Bench<'_>,
        options: &Options,
    ) -> Result<(), DeriveError> {
        if options.engines.is_empty() {
            let why = ": no engine was named that asks for it";
            return late::WHITE_SPACE.does_not_come_up(&options.prefer, why);
        }
        let template = self.template()?;
        let cases = &self.proof.judgement.cases;
        // Whole responses do not decide if it is a candidate: literals of which one begins with another show in pieces what they lose.
        let in_pieces = Bench {
            scrutiny: bench.scrutiny.max(Scrutiny::Pieces),
            ..*bench
        };
        let keeps = in_pieces.keeps(&self.proof);
        let calls = StrictCalls::of(&options.engines, &self.document, &template, cases, keeps);
        let is_preferred = strict::is_preferred(&options.prefer, &calls)?;
        match calls {
            StrictCalls::Had => {}
            StrictCalls::NotHad(finding) => self.findings.push(finding),
            StrictCalls::IfSpelledOut { finding, spelled } => {
                self.decisions.push(strict::decision(is_preferred));
                if is_preferred {
                    (self.document, self.proof) = *spelled;
                } else {
                    self.findings.push(finding);
                }
            }
        }
        Ok(())
    }
}
