//! A draft: the response template that the search settles and the amendments change, at two prices.
//!
//! A response is believed to be read right only when it is read so whole and in pieces, by our parser and as transformers reads it. Reading
//! it in pieces costs five times as much as reading it whole, a search reads some hundred responses for each of its candidates, and hardly
//! ever do the pieces tell anything that the whole does not. So everything is first decided by whole responses. The outcome is then proved in
//! pieces, once: one character at a time, or of every size where that is asked for. Where that proof finds less than the cheap one did, everything is decided anew in pieces.
//! What is reported is always the proof in pieces.
//!
//! For example, a close of `</s>|end` reads `the end</s>` right as a whole text, and transformers, fed one character at a time, takes the
//! `end` in it. The draft by whole responses takes such a close, its proof in pieces fails, and the second draft takes another candidate.

use std::sync::Arc;

use super::amend::{self, Amended};
use super::evidence::decision::Decision;
use super::evidence::finding::Finding;
use super::read::analysis::Analysis;
use super::render::cost::{self, Cost, Stage};
use super::render::renderer::{MAX_STEPS, Renderer};
use super::search::{self, Search};
use super::{DeriveError, Options, emit, late, learn, proof};
use crate::chat_template::ChatTemplateSource;
use crate::judge::{Failure, Judge, Scrutiny};
use crate::response_template::ResponseTemplate;
use crate::value::Value;

/// The bench on which a draft is made.
pub(super) struct Bench<'a> {
    pub(super) source: &'a ChatTemplateSource,
    pub(super) renderer: &'a Renderer<'a>,
    pub(super) judge: &'a Judge<'a>,
    pub(super) options: &'a Options,
}

/// A response template with all that was decided for it, and its proof.
pub(super) struct Draft {
    pub(super) analysis: Analysis,
    pub(super) decisions: Vec<Decision>,
    pub(super) amended: Amended,
    pub(super) template: Arc<ResponseTemplate>,
    /// The scrutiny under which the template was proved.
    pub(super) scrutiny: Scrutiny,
    pub(super) cost: Cost,
}

/// Drafts a response template and proves it in pieces.
///
/// # Errors
///
/// When the search settles nothing, or an amendment is no valid response template.
pub(super) fn proved(bench: &Bench<'_>) -> Result<Draft, DeriveError> {
    let pieces = match bench.options.thorough {
        true => Scrutiny::EverySize,
        false => Scrutiny::Pieces,
    };
    // Where the outcome of every candidate is asked for, all of them are proved in pieces, as the chosen one has to be.
    let first = match bench.options.alternatives {
        true => Scrutiny::Pieces,
        false => Scrutiny::Whole,
    };
    let mut cheap = draft(bench, first)?;
    let mut draft = match first == pieces || cheap.holds(bench, pieces) {
        true => cheap,
        false => {
            let mut again = draft(bench, pieces)?;
            again.cost += cheap.cost;
            again
        }
    };
    let failing = draft.amended.proof.failing();
    if failing.iter().any(Failure::is_only_rendered_otherwise) {
        let before = failing.len();
        bench.judge.take_empty_for_none();
        // Nothing that came back is lost by that.
        draft.holds(bench, pieces);
        let amended = &mut draft.amended;
        if amended.proof.failing().len() < before {
            let told = "the chat template renders a message with an empty text otherwise than one without it, and no response template gives an empty text; so an empty text and none count as the same";
            amended
                .findings
                .push(Finding::info("empty-text", told.to_owned()));
        }
    }
    Ok(draft)
}

/// Drafts a response template. Where some prompts begin the turn with a mark of their own, all is read anew with the marks known: before they were, every other
/// decision was made by how much of them came back as text.
fn draft(bench: &Bench<'_>, scrutiny: Scrutiny) -> Result<Draft, DeriveError> {
    let first = drafted(bench, scrutiny)?;
    if !bench.renderer.know_marks(&first.amended.marks) {
        return Ok(first);
    }
    let wrong = |draft: &Draft| {
        let proof = &draft.amended.proof;
        (proof.errors().count(), proof.failing().len())
    };
    let mut again = drafted(bench, scrutiny)?;
    if wrong(&again) > wrong(&first) {
        bench.renderer.forget_marks();
        return Ok(first);
    }
    again.cost += first.cost;
    Ok(again)
}

fn drafted(bench: &Bench<'_>, scrutiny: Scrutiny) -> Result<Draft, DeriveError> {
    let (renderer, judge, options) = (bench.renderer, bench.judge, bench.options);
    let searched = late::searched(options);
    let settled = Search::settle(renderer, judge, &searched, scrutiny);
    let mut search = settled.map_err(late::beside)?;
    // Where somebody has chosen a delimiter, all stay as they are.
    let (mut amended, mending) = match searched.prefer.is_empty() {
        true => mended(bench, &mut search, scrutiny)?,
        false => (unamended(search.best()), Stage::default()),
    };
    let search::Settled {
        analysis,
        mut decisions,
        mut cost,
    } = search.end();
    let on = bench.for_amendments(&analysis, scrutiny);
    let done;
    (done, cost.amendments) = cost::measured(judge, || {
        amended.begin_behind_prompts(&on);
        amended.begin_with_reasoning(&on);
        amended.close_at_end_tokens(&on, bench.source, &options.engines);
        amended.read_made_ids(&on);
        let claimed_all = amended.claims_all_text();
        read_all_text(bench, &on, &mut amended)?;
        // What ends the turn may be a delimiter only now, so that a delimiter before it can be told by that.
        if amended.claims_all_text() != claimed_all && !amended.proof.failing().is_empty() {
            amended.narrow(&on, &options.engines)?;
        }
        amended.end_unclosed_calls(&on, &options.engines);
        amended.part_calls_from_text(&on, &options.engines)?;
        amended.close_calls_behind_bodies(&on, &options.engines);
        amended.end_without_the_turn(&on, &options.engines);
        amended.open_calls_at_their_body(&on, &options.engines);
        amended.read_again(&on, options)?;
        amended.open_as_prompts_do(&on);
        amended.pass_over_prompts(&on);
        amended.open_reasoning_with_parts(&on, options)?;
        amended.begin_answers_with_parts(&on, options)?;
        amended.spell_out(&on, options)?;
        amended.spare_ordinary_texts(&on, options)?;
        amended.stop_in_reasoning(&on, &options.engines)?;
        if !options.responses.is_empty() {
            let prompt = |tools: &[Value]| renderer.prompt_of_question(tools);
            amended.tell_responses(bench.source, options, &renderer.pieces, &prompt)?;
        }
        amended.template()
    });
    cost.amendments += mending;
    let template = done?;
    decisions.append(&mut amended.decisions);
    Ok(Draft {
        analysis,
        decisions,
        amended,
        template,
        scrutiny,
        cost,
    })
}

/// Learns from recorded responses, and lets a field take the text that goes to no field.
///
/// The text that no field takes is claimed last, since learning more of the markers leaves less of it. What is learnt may stand in the way of that: of
/// `<lane>notes to=NAME`, `to=NAME` may be learnt to open a call, and `<lane>notes` before it, which no field took, would then be content. So if text goes to
/// no field in the end, more is learnt of responses that are read right, and then text is claimed before anything is learnt.
///
/// # Errors
///
/// When an amendment is no valid response template.
fn read_all_text(
    bench: &Bench<'_>,
    on: &amend::Bench<'_>,
    amended: &mut Amended,
) -> Result<(), DeriveError> {
    let options = bench.options;
    if options.responses.is_empty() {
        return amended.claim_all_text(on, &options.engines);
    }
    // Proofs take renders, of which there is an end.
    let may_prove = || bench.renderer.steps_left() > MAX_STEPS / 5 * 4;
    let learn = |amended: &mut Amended, more: Option<&dyn Fn() -> bool>| {
        let pieces = &bench.renderer.pieces;
        let prompt = |tools: &[Value]| bench.renderer.prompt_of_question(tools);
        amended.learn_from_responses(on, bench.source, options, pieces, &prompt, more)
    };
    let unlearnt = amended.clone();
    learn(amended, None)?;
    amended.claim_all_text(on, &options.engines)?;
    if amended.claims_all_text() || !may_prove() {
        return Ok(());
    }
    let mut claimed = unlearnt.clone();
    claimed.claim_all_text(on, &options.engines)?;
    if !claimed.claims_all_text() {
        return Ok(());
    }
    for mut tried in [unlearnt, claimed] {
        learn(&mut tried, Some(&may_prove))?;
        tried.claim_all_text(on, &options.engines)?;
        if tried.claims_all_text() && tried.read.len() >= amended.read.len() {
            *amended = tried;
            break;
        }
    }
    Ok(())
}

/// The outcome of the search as it is.
fn unamended(best: &search::Proven) -> Amended {
    Amended::new(best.document().clone(), best.proof().clone())
}

/// The outcome of the search with amendments for messages that do not come back, and what the amendments took. Where some still do not, the
/// search goes on from there, as long as more comes back by it.
///
/// # Errors
///
/// When an amendment is no valid response template.
fn mended(
    bench: &Bench<'_>,
    search: &mut Search<'_>,
    scrutiny: Scrutiny,
) -> Result<(Amended, Stage), DeriveError> {
    let mut spent = Stage::default();
    let mut mend = |best: &search::Proven| -> Result<Amended, DeriveError> {
        let (made, stage) = cost::measured(bench.judge, || mend(bench, best, scrutiny));
        spent += stage;
        made
    };
    let mut amended = mend(search.best())?;
    // Where nothing was mended, the search has nothing new to go on from.
    while !amended.findings.is_empty() && !amended.proof.failing().is_empty() {
        let better = search.resume(&amended.proof, |best| mend(best).ok(), |made| &made.proof);
        match better {
            Some(better) => amended = better,
            None => break,
        }
    }
    Ok((amended, spent))
}

/// The response template of the search with amendments for messages that do not come back.
///
/// # Errors
///
/// When an amendment is no valid response template.
fn mend(
    bench: &Bench<'_>,
    best: &search::Proven,
    scrutiny: Scrutiny,
) -> Result<Amended, DeriveError> {
    let engines = &bench.options.engines;
    let on = bench.for_amendments(best.analysis(), scrutiny);
    let mut amended = unamended(best);
    amended.begin_behind_marks(&on, engines);
    amended.read_by_lines(&on, engines)?;
    let special = bench.source.tokens.special.clone();
    let constants = learn::Constants::new(&bench.renderer.pieces, special);
    amended.widen(&on, engines, constants)?;
    amended.narrow(&on, engines)?;
    Ok(amended)
}

impl Bench<'_> {
    /// Returns the bench for amendments of a response template with this analysis.
    fn for_amendments<'a>(
        &'a self,
        analysis: &'a Analysis,
        scrutiny: Scrutiny,
    ) -> amend::Bench<'a> {
        amend::Bench {
            judge: self.judge,
            analysis,
            target: emit::Target::of(&self.options.engines),
            scrutiny,
        }
    }
}

impl Draft {
    /// Returns the bench for the draft's template, as a proof takes it.
    pub(super) fn bench<'a>(&'a self, bench: &'a Bench<'_>) -> proof::Bench<'a> {
        proof::Bench {
            judge: bench.judge,
            analysis: &self.analysis,
            target: emit::Target::of(&bench.options.engines),
            template: &self.template,
            scrutiny: self.scrutiny,
        }
    }

    /// Proves the draft in such pieces, and keeps that proof. Returns false if it lacks something that the proof before had.
    fn holds(&mut self, bench: &Bench<'_>, pieces: Scrutiny) -> bool {
        self.scrutiny = pieces;
        let (proof, stage) = cost::measured(bench.judge, || proof::prove(self.bench(bench)));
        self.cost.verification += stage;
        let earlier = &self.amended.proof;
        let holds =
            proof.lost_of(earlier).is_empty() && proof.errors().count() <= earlier.errors().count();
        self.amended.proof = proof;
        holds
    }
}
