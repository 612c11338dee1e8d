//! Deriving a response template from a chat template, on the differential method.
//!
//! A chat template is a function from messages to text. It is called with variants of one conversation (with and
//! without reasoning, tools, one call and two, other settings of its kwargs), and what the renders have in common and
//! where they differ tells how the model's turn is written. In the order in which it happens:
//!
//! - `probe` makes the messages; `render` says what the template cannot do without, renders the variants and keeps the renders;
//! - `compare` tells what two renders share, where a marker ends, and what of it varies;
//! - `read` reads the format off the renders, each part of it in a file of its own, and `read::analysis` puts them together;
//! - `emit` writes the response template;
//! - `proof` has it judged, which proves it by inversion;
//! - where the renders can be understood in several ways, `choice` keeps all candidates, and `search` tries others where a message does
//!   not come back;
//! - `learn` widens what was derived by what recorded responses show, as far as nothing that renders prove is lost;
//! - `deviate` tries deviations, in which models write otherwise than a chat template renders, and tells which of them are borne;
//! - `evidence` has the account that all of them give of what they saw, and `report` puts it together: what was found and proved, and
//!   where the chat template writes it, by the origins of the renders that it was read from;
//! - [`inspect`] tells which features a chat template supports, by the same renders.
//!
//! Nothing here knows a model or a marker.

mod choice;
mod compare;
mod deviate;
mod emit;
mod evidence;
pub mod inspect;
mod learn;
mod probe;
mod proof;
mod read;
mod render;
mod report;
mod search;

use std::collections::HashSet;
use std::sync::Arc;

use crate::chat_template::{ChatTemplateSource, Clock, RenderError, RenderInput};
use crate::judge::{self, Judge, RoundId};
use crate::response_template::{Document, Engine, Invalid, ResponseTemplate};
use crate::value::{Map, Value};

pub use crate::judge::{Case, Kind, KindVerdict, LeftOutCount, Rounds};
pub use deviate::{Deviation, DeviationVerdict, UnclaimedCount, UnclaimedCounts, UnclaimedExample};
pub use evidence::decision::{Decision, Fate, ReportedCandidate};
pub use evidence::finding::{Counterexample, Finding};
pub use evidence::place::Writer;
pub use evidence::sample::{Evidence, Piece, RenderExcerpt, Side, diff};
pub use inspect::Supports;
pub use learn::{Addition, Recorded, Responses, Short, Widening};
pub use read::analysis::Unreadable;
pub use read::thought::{History, Opener};
pub use render::cost::{Cost, Stage};
pub use report::summary::{
    ContentMode, ContentReport, ReasoningMode, ReasoningReport, Report, ToolsMode, ToolsReport,
    Verdict,
};

/// The options of a derivation.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// The time that the chat template is told; the system's when there is none.
    pub clock: Option<Clock>,
    /// The engines that the response template is for: it keeps to the features that all of these take. None means transformers alone.
    pub engines: Vec<Engine>,
    /// True to verify at length: more messages, every size of chunk, every response cut short everywhere.
    pub thorough: bool,
    /// True to try the candidates that were not needed as well, and to report what comes of them.
    pub alternatives: bool,
    /// Decisions that are to be made otherwise: the name of each and the candidate to take, as a report's `decisions` spell them.
    pub prefer: Vec<(String, String)>,
    /// Recorded responses of models. Where one is not written as the chat template renders it, it is read as well, if nothing that the
    /// renders prove is lost by that.
    pub responses: Vec<Recorded>,
}

impl Options {
    /// Sets the time that the chat template is told; none is the system's.
    pub fn clock(self, clock: Option<Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Sets the engines that the response template is for.
    pub fn engines(self, engines: Vec<Engine>) -> Self {
        Self { engines, ..self }
    }

    /// Sets [`Options::thorough`].
    pub fn thorough(self, thorough: bool) -> Self {
        Self { thorough, ..self }
    }

    /// Sets [`Options::alternatives`].
    pub fn alternatives(self, alternatives: bool) -> Self {
        Self {
            alternatives,
            ..self
        }
    }

    /// Sets the decisions that are to be made otherwise.
    pub fn prefer(self, prefer: Vec<(String, String)>) -> Self {
        Self { prefer, ..self }
    }

    /// Sets the recorded responses that are read as well.
    pub fn responses(self, responses: Vec<Recorded>) -> Self {
        Self { responses, ..self }
    }
}

/// A response template and what is known of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Derivation {
    /// The response template. When the report says that it is not verified, it is the closest draft.
    pub document: Document,
    /// The account of what was found and proved.
    pub report: Report,
    /// The responses by which it was proved.
    pub cases: Vec<Case>,
    /// The recorded responses that are read right, by their names.
    pub responses: Vec<(String, Case)>,
    /// The time and the renders that the derivation took.
    pub cost: Cost,
}

/// The reason why no response template could be derived.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeriveError {
    /// The chat template renders not even a single user message.
    #[error("the chat template does not render a single user message: {0}")]
    Render(#[from] RenderError),
    /// The render does not show what a response template needs.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The chat template takes so long to render that its limit was reached before everything was found out.
    #[error(
        "the renders of the chat template exceed the limit of {limit} steps in all; it renders too slowly to be derived from"
    )]
    Exhausted {
        /// The limit, in steps of the evaluator.
        limit: u64,
    },
    /// The options ask for a candidate that a decision does not have.
    #[error("{0}")]
    Preference(String),
    /// The response template that was derived is not valid.
    #[error("the derived response template is not valid: {0}")]
    Invalid(#[from] Invalid),
}

/// Derives a response template from a chat template and verifies it by inversion.
///
/// # Errors
///
/// When the chat template renders no conversation from which a turn of the model could be read. A response template
/// that does not verify is no error: the report says so.
///
/// ```
/// use obverse::{chat_template, derive};
///
/// let source = chat_template::from_text(
///     "example",
///     "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}\
///      {% if add_generation_prompt %}<assistant>{% endif %}",
/// )?;
/// let derivation = derive::derive(&source, &derive::Options::default())?;
/// assert!(derivation.report.verified);
/// assert_eq!(derivation.report.start_anchor, ["<assistant>"]);
/// assert_eq!(derivation.report.content.close, "</assistant>");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn derive(source: &ChatTemplateSource, options: &Options) -> Result<Derivation, DeriveError> {
    let mut renderer = render::open(source, options.clock)?;
    let target = emit::Target::of(&options.engines);
    let (requirements, steps) = (renderer.requirements.clone(), renderer.steps());
    let variables = |tools: &[Value]| requirements.given(tools);
    let setup = judge::Setup {
        clock: options.clock,
        steps: &steps,
        parts: requirements.parts,
        variables: &variables,
        thorough: options.thorough,
    };
    let judge = Judge::new(source, &setup);
    renderer.adopt(judge.rules());
    renderer.know(&judge.traced());
    renderer.slots = judge.slots().to_vec();
    renderer.read_quotes();
    let search::Settled {
        mut analysis,
        document,
        mut proof,
        decisions,
        mut cost,
    } = search::settle(&renderer, &judge, options)?;
    let mut document = document;
    let mut responses = None;
    let mut read = Vec::new();
    let bench = Taught {
        judge: &judge,
        analysis: &analysis,
        target,
        thorough: options.thorough,
    };
    let mut of_tokens = Vec::new();
    let mut taught = Vec::new();
    if let Some((ended, proved, tokens)) = learn::ended(
        &source.tokens.end,
        &options.engines,
        &document,
        bench.keeps(&proof),
    ) {
        (document, proof) = (ended, proved);
        of_tokens.push(Finding::info(
            "end-token",
            format!(
                "an engine stops at {}, as the generation configuration says, and no render has it there; it closes the content, too",
                quoted(&tokens)
            ),
        ));
    }
    let cases = &proof.judgement.cases;
    if let Some((with_ids, proved, text)) = learn::identified(&document, cases, bench.keeps(&proof))
    {
        (document, proof) = (with_ids, proved);
        of_tokens.push(Finding::info(
            "made-id",
            format!(
                "the chat template makes up the ids of calls, whatever ids messages have, and writes them again with the tools' results: {text}"
            ),
        ));
    }
    if !options.responses.is_empty() {
        let learnt = bench.teach(
            source,
            options,
            &renderer.pieces,
            &variables,
            document,
            &proof,
        )?;
        proof = learnt.proof.unwrap_or(proof);
        document = learnt.document;
        taught = learnt.evidence;
        responses = Some(learnt.report);
        read = learnt.read;
    }
    let template = Arc::new(ResponseTemplate::from_value(&document.to_value())?);
    let keeps_responses = |template: &Arc<ResponseTemplate>| {
        let mut all = read.iter().map(|(_, case): &(String, Case)| case);
        all.all(|case| judge::parse_whole(template, case) == case.message)
    };
    if let Some((claiming, proved, told)) = learn::claimed(
        &options.engines,
        &document,
        &template,
        &proof.judgement.cases,
        // The responses are tried first, since a proof takes longer.
        |template| {
            keeps_responses(template)
                .then(|| bench.keeps(&proof)(template))
                .flatten()
        },
    ) {
        (document, proof) = (claiming, proved);
        of_tokens.push(Finding::info(
            "claimed",
            format!(
                "the chat template wraps all that the model says, and text outside would go to no field; so {}",
                told.join("; ")
            ),
        ));
    }
    let template = Arc::new(ResponseTemplate::from_value(&document.to_value())?);
    proof
        .findings
        .extend(proof::spoken_of(bench.bench(&template)));
    of_tokens.extend(unread_tokens(source, &document, &proof));
    analysis.evidence.extend(taught);
    let supports;
    (supports, cost.supports) =
        render::cost::measured(&renderer, || inspect::supports::read(&renderer, &analysis));
    if renderer.is_exhausted() {
        return Err(DeriveError::Exhausted {
            limit: render::renderer::MAX_STEPS,
        });
    }
    let found = std::mem::take(&mut analysis.evidence);
    let evidence;
    (evidence, cost.places) = render::cost::measured(&renderer, || {
        report::places::tell(&renderer, &analysis.anchor, found)
    });
    let mut findings = analysis.findings.clone();
    findings.extend(source.assumed_tokens.iter().map(|name| {
        let token = source.special_tokens.get(name).and_then(Value::as_str);
        Finding::warning(
            "assumed-token",
            format!(
                "the chat template reads {name}, which nothing here names; '{}' was assumed: derive from the tokenizer_config.json, or give the token",
                token.unwrap_or_default()
            ),
        )
    }));
    findings.extend(of_tokens);
    findings.append(&mut proof.findings);
    findings.extend(emit::left_to_do(&analysis, target));
    findings.extend(decisions.iter().filter_map(Decision::corrected));
    findings.extend(refusals(&options.engines, &document));
    let is_in_part = !proof.judgement.unproved.is_empty();
    let verdict = Verdict::of(proof.rounds, &findings, is_in_part);
    let deviate::Tried {
        verdicts: deviations,
        unclaimed,
    } = deviate::tried(
        &Arc::new(ResponseTemplate::from_value(&document.to_value())?),
        &proof.judgement.cases,
        emit::reasoning_field(&analysis, target),
        &source.tokens.end,
    );
    findings.extend(unclaimed_text(&unclaimed));
    let report = Report {
        source: source.path.display().to_string(),
        verified: verdict == Verdict::Proved,
        verdict,
        rounds: proof.rounds,
        kinds: std::mem::take(&mut proof.judgement.kinds),
        start_anchor: analysis.anchor.literals.clone(),
        reasoning: ReasoningReport::of(&analysis),
        content: ContentReport::of(&analysis),
        tools: ToolsReport::of(&analysis),
        supports,
        findings,
        decisions,
        evidence,
        deviations,
        unclaimed,
        responses,
    };
    Ok(Derivation {
        document,
        report,
        cases: proof.into_cases(),
        responses: read,
        cost,
    })
}

/// The proof that recorded responses are held to: the judge, by the template that was derived from renders.
struct Taught<'a> {
    judge: &'a Judge<'a>,
    analysis: &'a read::analysis::Analysis,
    target: emit::Target,
    thorough: bool,
}

impl Taught<'_> {
    fn prove(&self, template: &Arc<ResponseTemplate>) -> proof::Proof {
        proof::prove(self.bench(template))
    }

    fn bench<'t>(&'t self, template: &'t Arc<ResponseTemplate>) -> proof::Bench<'t> {
        proof::Bench {
            judge: self.judge,
            analysis: self.analysis,
            target: self.target,
            template,
            thorough: self.thorough,
        }
    }

    /// Widens the response template by the responses, as far as nothing is lost that is proved.
    fn teach(
        &self,
        source: &ChatTemplateSource,
        options: &Options,
        pieces: &compare::pieces::Pieces,
        variables: &dyn Fn(&[Value]) -> Map,
        document: Document,
        proof: &proof::Proof,
    ) -> Result<learn::Learnt<proof::Proof>, DeriveError> {
        let recorded = &options.responses;
        let prompts = recorded.iter().map(|recorded| match &recorded.prefix {
            Some(prefix) => vec![prefix.clone()],
            None => {
                let prompt = prompt(source, options.clock, &recorded.tools, variables);
                prompt.into_iter().chain([String::new()]).collect()
            }
        });
        let lessons = learn::Lessons {
            recorded,
            prompts: prompts.collect(),
            constants: learn::Constants::new(pieces, source.tokens.special.clone()),
            engines: &options.engines,
        };
        let shown = learn::unshown(source, recorded, &document).and_then(|unshown| {
            let options = Options {
                responses: Vec::new(),
                prefer: Vec::new(),
                alternatives: false,
                ..options.clone()
            };
            let derived = derive(&unshown.source, &options).ok()?;
            Some((unshown, derived.document))
        });
        let template = Arc::new(ResponseTemplate::from_value(&document.to_value())?);
        let keeps = self.keeps(proof);
        let cases = &proof.judgement.cases;
        Ok(learn::learn(
            &lessons, document, template, cases, shown, keeps,
        ))
    }

    /// The proof of a response template that loses nothing of what a proof has; `None` of one that does.
    fn keeps(
        &self,
        proof: &proof::Proof,
    ) -> impl FnMut(&Arc<ResponseTemplate>) -> Option<proof::Proof> {
        let back: HashSet<RoundId> = proof.judgement.back.iter().copied().collect();
        let errors = proof.errors().count();
        move |template| {
            let now = self.prove(template);
            let kept: HashSet<RoundId> = now.judgement.back.iter().copied().collect();
            let is_kept = now.errors().count() <= errors && back.is_subset(&kept);
            is_kept.then_some(now)
        }
    }
}

/// A finding about the text that the response template may lose; `None` where none was lost.
fn unclaimed_text(unclaimed: &UnclaimedCounts) -> Option<Finding> {
    let example = unclaimed.example()?;
    let quote = crate::value::json::quote;
    Some(Finding::warning(
        "text-unclaimed",
        format!(
            "text that stands outside of what the model's parts are wrapped in goes to no field, in {} of {} responses as rendered, changed and cut short: {} in {}; \
             content that takes what is left would lose what renders prove",
            unclaimed.lost(),
            unclaimed.tried(),
            quote(&example.text),
            quote(&example.response),
        ),
    ))
}

/// The special tokens that the chat template writes somewhere, and that neither a delimiter nor any render has.
fn unread_tokens(
    source: &ChatTemplateSource,
    document: &Document,
    proof: &proof::Proof,
) -> Option<Finding> {
    let template = source.select(true).ok()?;
    let text = template.source();
    let cases = &proof.judgement.cases;
    let is_seen = |token: &str| {
        let has = |text: &str| text.contains(token);
        cases
            .iter()
            .any(|case| has(&case.prefix) || has(&case.response))
    };
    let tokens = source.tokens.special.iter();
    let unread = tokens.filter(|token| !learn::is_read(document, token) && !is_seen(token));
    let places: Vec<String> = unread
        .filter_map(|token| {
            let at = text.find(token.as_str())?;
            let line = text[..at].matches('\n').count() + 1;
            Some(format!(
                "{} in line {line}",
                crate::value::json::quote(token)
            ))
        })
        .collect();
    (!places.is_empty()).then(|| {
        Finding::info(
            "special-token-unread",
            format!(
                "special tokens of the tokenizer stand in the chat template, but in no render and no delimiter: {}",
                places.join(", ")
            ),
        )
    })
}

fn quoted(texts: &[String]) -> String {
    let quoted: Vec<String> = texts
        .iter()
        .map(|text| crate::value::json::quote(text))
        .collect();
    quoted.join(", ")
}

/// The prompt that the chat template renders for one question.
fn prompt(
    source: &ChatTemplateSource,
    clock: Option<Clock>,
    tools: &[Value],
    variables: &dyn Fn(&[Value]) -> Map,
) -> Option<String> {
    let message = [("role", "user"), ("content", probe::USER)];
    let message = message.map(|(key, text)| (key.to_owned(), Value::from(text)));
    let input = RenderInput {
        messages: vec![Value::Object(Map::from_iter(message))],
        tools: (!tools.is_empty()).then(|| tools.to_vec()),
        add_generation_prompt: true,
        kwargs: variables(tools),
        clock,
        ..RenderInput::default()
    };
    let template = source.select(!tools.is_empty()).ok()?;
    template.render(&input).ok()
}

/// Returns a finding for each engine that refuses the response template, which then is the closest that could be found.
fn refusals(engines: &[Engine], document: &Document) -> Vec<Finding> {
    let refused = |engine: &Engine| {
        let diagnostics = engine.check(document);
        let text = diagnostics
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n");
        (!text.is_empty()).then(|| Finding::error(evidence::finding::REFUSED_BY_ENGINE, text))
    };
    engines.iter().filter_map(refused).collect()
}
