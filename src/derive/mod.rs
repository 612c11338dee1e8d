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
//! - `draft` has all of that done by whole responses first, and proves the outcome in pieces;
//! - `learn` widens what was derived by what recorded responses show, and `amend` takes that, and whatever else renders do not show, as far
//!   as nothing that they prove is lost;
//! - `narrow` is asked before that where a text of a message has the like of a delimiter in it, and makes that delimiter narrower;
//! - `deviate` tries deviations, in which models write otherwise than a chat template renders, and tells which of them are borne;
//! - `late` are decisions that come up with an amendment, such as how the white space of delimiters is written;
//! - `evidence` has the account that all of them give of what they saw, and `report` puts it together: what was found and proved, and
//!   where the chat template writes it, by the origins of the renders that it was read from;
//! - `remarks` are the findings about the whole: tokens that are not read, text that may be lost, engines that refuse;
//! - [`inspect`] tells which features a chat template supports, by the same renders.
//!
//! Nothing here knows a model or a marker.

mod amend;
mod choice;
mod compare;
mod deviate;
mod draft;
mod emit;
mod evidence;
pub mod inspect;
mod late;
mod learn;
mod narrow;
mod probe;
mod proof;
mod read;
mod remarks;
mod render;
mod report;
mod retaken;
mod search;
mod strict;

use web_time::Instant;

use crate::chat_template::{ChatTemplateSource, Clock, RenderError};
use crate::judge::slot::Slot;
use crate::judge::{self, Judge};
use crate::response_template::{Delimiter, Document, Engine, Invalid};
use crate::value::{Map, Value};
use amend::Amended;
use inspect::Lifetime;

pub use crate::judge::{Case, Kind, KindVerdict, LeftOutCount, Rounds};
pub use deviate::{Deviation, DeviationVerdict, UnclaimedCount, UnclaimedCounts, UnclaimedExample};
pub use evidence::decision::{Decision, Fate, ReportedCandidate};
pub use evidence::finding::{Counterexample, Finding};
pub use evidence::place::Writer;
pub use evidence::sample::{Evidence, Piece, RenderExcerpt, Side, diff};
pub use learn::{Addition, Recorded, Responses, Short, Widening};
pub use read::analysis::Unreadable;
pub use read::thought::Opener;
pub use render::cost::{Cost, Stage};
pub use report::summary::{
    ContentMode, ContentReport, History, ReasoningMode, ReasoningReport, Report, ToolsMode,
    ToolsReport, Verdict,
};

/// The day of all renders for which none is given. It is fixed, so that a derivation gives the same result every day.
pub(crate) fn some_day() -> Option<Clock> {
    Clock::date(2026, 7, 28)
}

/// The options of a derivation.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// The time that the chat template is told; that of a fixed day when there is none, so that the same comes of it every day.
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
    /// The time that the chat template is told.
    pub(in crate::derive) fn clock_or_some_day(&self) -> Option<Clock> {
        self.clock.or_else(some_day)
    }

    /// Sets the time that the chat template is told; none is that of a fixed day.
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
    /// The messages that do not come back from their renders, those of which two render alike left out: no parser could tell them.
    pub missed: Vec<Counterexample>,
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
    /// The options decide something that is not to be decided for this chat template.
    #[error(
        "nothing is to be decided here that is called `{name}`; the decisions are `{}`, and where they come up `{}`",
        known.join("`, `"),
        late.join("`, `")
    )]
    UnknownDecision {
        /// The name that was given.
        name: String,
        /// The names of the decisions of the search.
        known: Vec<String>,
        /// The names of those that may come up behind it.
        late: Vec<String>,
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
    let responses = options.responses.iter().cloned();
    let options = &Options {
        responses: responses.map(Recorded::without_given_ids).collect(),
        ..options.clone()
    };
    let first = derive_under(source, options, judge::Extent::ALL)?;
    let derive_with = |options: &Options| derive_under(source, options, judge::Extent::ALL).ok();
    let other = retaken::by_responses(options, &first, derive_with);
    let (mut best, doubtful) = other.unwrap_or(first);
    let mut findings = Vec::new();
    // A text that is given may be a marker of the chat template's, in whose place no response template takes any text. And few set two kwargs of which
    // only both together make a difference.
    let steps = [
        (judge::Extent::WITH_TEXTS, of_pairs(&doubtful.pairs)),
        (judge::Extent::ALONE, of_texts(&doubtful.texts)),
    ];
    for (less, told) in steps {
        if best.report.rounds.failed == 0 {
            break;
        }
        if told.is_empty() {
            continue;
        }
        let (without, _) = derive_under(source, options, less)?;
        if without.report.rounds.failed < best.report.rounds.failed {
            best = without;
            findings.extend(told);
        }
    }
    let report = &mut best.report;
    // What is proved is proved for the defaults alone.
    if report.verdict == Verdict::Proved && !findings.is_empty() {
        (report.verdict, report.verified) = (Verdict::ProvedInPart, false);
    }
    report.findings.extend(findings);
    Ok(best)
}

/// Findings about kwargs that may have any value.
fn of_texts(names: &[String]) -> Vec<Finding> {
    let told = names.iter().map(|name| {
        format!(
            "`{name}` may have any value, and messages are lost with one that was made up; so the response template is proved for its default alone"
        )
    });
    told.map(|text| Finding::warning("kwarg-not-proved", text))
        .collect()
}

/// A finding about kwargs that do together what neither of them does alone.
fn of_pairs(pairs: &[Map]) -> Vec<Finding> {
    if pairs.is_empty() {
        return Vec::new();
    }
    let names = pairs.iter().map(read::thought::describe);
    let text = format!(
        "messages are lost where kwargs come together, and not with each of them alone: {}; so the response template is proved for each alone",
        names.collect::<Vec<_>>().join("; or ")
    );
    vec![Finding::warning("kwarg-not-proved", text)]
}

/// Derives a response template under the kwargs of that extent, and returns those that are doubtful as well.
fn derive_under(
    source: &ChatTemplateSource,
    options: &Options,
    extent: judge::Extent,
) -> Result<(Derivation, judge::Doubtful), DeriveError> {
    let started = Instant::now();
    let clock = options.clock_or_some_day();
    let mut renderer = render::open(source, clock)?;
    let target = emit::Target::of(&options.engines);
    let (requirements, steps) = (renderer.requirements.clone(), renderer.steps());
    let variables = |tools: &[Value]| requirements.given(tools);
    let setup = judge::Setup {
        clock,
        steps: &steps,
        parts: requirements.parts,
        opening: requirements.opening,
        variables: &variables,
        thorough: options.thorough,
        extent,
    };
    let judge = Judge::new(source, &setup);
    renderer.adopt(judge.rules());
    renderer.unset = judge.unset().to_vec();
    renderer.text_arguments = judge.has_text_arguments();
    renderer.calls_followed = judge.has_followed_calls();
    renderer.calls_headless = judge.has_headless_calls();
    renderer.know(&judge.traced());
    renderer.slots = judge.slots().to_vec();
    renderer.slots_of_calls = judge.slots_of_calls().to_vec();
    renderer.read_quotes();
    let setup = render::cost::since(started, &judge);
    let bench = draft::Bench {
        source,
        renderer: &renderer,
        judge: &judge,
        options,
    };
    let draft = draft::proved(&bench)?;
    let spoken_of = proof::spoken_of(draft.bench(&bench));
    let draft::Draft {
        mut analysis,
        decisions,
        amended,
        template,
        mut cost,
        ..
    } = draft;
    let Amended {
        document,
        mut proof,
        findings: of_amendments,
        evidence: learnt,
        responses,
        read,
        ..
    } = amended;
    cost.setup = setup;
    proof.findings.extend(spoken_of);
    analysis.evidence.extend(learnt);
    let slot = emit::reasoning_slot(&analysis, judge.slots(), &document, target).cloned();
    let (supports, lifetime);
    ((supports, lifetime), cost.supports) = render::cost::measured(&renderer, || {
        let dialect = probe::Dialect {
            reasoning: slot.clone(),
            ..analysis.dialect.clone()
        };
        let subject =
            inspect::Subject::new(&renderer, dialect).calling_before_next(renderer.calls_followed);
        // Where no reasoning is read, none is reported, and a slow chat template needs its steps.
        let lifetime = slot.as_ref().map_or(Lifetime::Never, |_| {
            inspect::reasoning::lifetime_under(&subject, &analysis.settings)
        });
        (inspect::supports::read(&subject, &analysis), lifetime)
    });
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
    findings.extend(remarks::assumed_tokens(source));
    findings.extend(renderer.text_arguments.then(remarks::printed_arguments));
    findings.extend(renderer.calls_followed.then(remarks::calls_before_next));
    findings.extend(renderer.calls_headless.then(remarks::calls_without_header));
    findings.extend(remarks::unread_files(source));
    findings.extend(of_amendments);
    findings.extend(remarks::unread_tokens(source, &document, &proof));
    findings.extend(remarks::unread_partners(
        source, &template, &document, &proof,
    ));
    findings.append(&mut proof.findings);
    findings.extend(emit::left_to_do(&analysis, target));
    findings.extend(decisions.iter().filter_map(Decision::corrected));
    findings.extend(remarks::refusals(&options.engines, &document));
    let is_in_part = !proof.judgement.unproved.is_empty() || analysis.dialect.named_by_id;
    let verdict = Verdict::of(proof.rounds, &findings, is_in_part);
    let begins = analysis.turn_end.ending_answers().into_iter();
    let begins = begins.map(|[begin, _]| begin);
    let next = analysis.turn_end.before_next.iter().cloned();
    let next: Vec<String> = next.chain(begins).collect();
    let tried;
    (tried, cost.deviations) = render::cost::measured(&judge, || {
        deviate::tried(
            &template,
            proof.judgement.cases.iter().chain(&proof.by_hand),
            emit::reasoning_field(&analysis, target),
            deviate::Markers {
                ends: match source.tokens.end.as_slice() {
                    [] => &next,
                    known => known,
                },
                pieces: &analysis.pieces,
                behind_object: analysis
                    .object
                    .as_ref()
                    .and_then(read::object::AnswerObject::marker_behind),
            },
        )
    });
    let deviate::Tried {
        verdicts: deviations,
        unclaimed,
    } = tried;
    findings.extend(remarks::unclaimed_text(&unclaimed));
    let reads_calls = document.fields.contains_key(probe::CALLS_KEY);
    let is_told = supports.tools && !supports.tool_calls && !reads_calls;
    findings.extend(is_told.then(remarks::unread_calls));
    let report = Report {
        source: source.path.display().to_string(),
        verified: verdict == Verdict::Proved,
        verdict,
        rounds: proof.rounds,
        kinds: std::mem::take(&mut proof.judgement.kinds),
        start_anchor: shown_anchors(&document, &analysis),
        reasoning: ReasoningReport::of(
            &analysis,
            slot.as_ref().map(Slot::name),
            document.fields.get(emit::field_of(slot.as_ref(), target)),
            lifetime,
        ),
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
    let missed = proof.missed();
    let derivation = Derivation {
        document,
        report,
        cases: proof.into_cases(),
        missed,
        responses: read,
        cost,
    };
    Ok((derivation, judge.doubtful().clone()))
}

/// The texts that begin the model's turn, with the names of slots in their places.
fn shown_anchors(document: &Document, analysis: &read::analysis::Analysis) -> Vec<String> {
    if let Delimiter::Literals(literals) = &document.start_anchor {
        return literals.clone();
    }
    let literals = analysis.anchor.literals.iter();
    literals
        .map(|literal| compare::slot::show(literal))
        .collect()
}
