//! Deriving a response template from a chat template, on the differential method.
//!
//! A chat template is a function from messages to text. It is called with variants of one conversation (with and
//! without reasoning, tools, one call and two, other settings of its kwargs), and what the renders have in common and
//! where they differ tells how the model's turn is written. In the order in which it happens:
//!
//! - `wants` says what the template cannot do without, `probe` and `lab` make and render the variants, `known` keeps the
//!   renders, `text`, `json_shape`, `cut` and `slot` compare them;
//! - one file for each question: `anchor`, `turn_end`, `reasoning`, `content`, `spelling`, `tool_calls`, `arguments`,
//!   `channels`, with what they ask first: `unasked`, `afterword`, `prompted`, `cutting`;
//! - `analysis` asks them, `emit` writes the response template;
//! - `limit` says what of it no response template can read;
//! - `proof` has it judged, which proves it by inversion;
//! - where something could be read in several ways, `choice` keeps them all, and `settle` tries others where a message does
//!   not come back;
//! - `places` says where the chat template writes what was found, by the origins of the renders that it was read from;
//! - `report` says what was found, and `decision` what else could have been;
//! - [`inspect`] says what the chat template can take, on the same bench.
//!
//! Nothing here knows a model or a marker.

mod afterword;
mod analysis;
mod anchor;
mod argument_values;
mod arguments;
mod call_evidence;
mod channels;
mod choice;
mod content;
mod content_close;
mod cost;
mod counters;
mod cut;
mod cutting;
mod decision;
mod emit;
mod evidence;
mod finding;
pub mod inspect;
mod json_shape;
mod known;
mod lab;
mod limit;
mod literals;
mod pieces;
mod place;
mod places;
mod probe;
mod prompted;
mod proof;
mod reasoning;
mod repeated;
mod report;
mod settle;
mod slot;
mod spelling;
mod text;
mod tool_calls;
mod turn_end;
mod unasked;
mod wants;

use crate::chat_template::{ChatTemplateSource, Clock, RenderError};
use crate::judge::{self, Judge};
use crate::response_template::{Document, Engine, Invalid};
use crate::value::Value;

pub use crate::judge::{Case, Kind, KindVerdict, LeftOutCount, Rounds};
pub use analysis::Unreadable;
pub use cost::{Cost, Stage};
pub use decision::{Alternative, Decision, Fate};
pub use evidence::{Evidence, Piece, Sample, Side, diff};
pub use finding::{Counterexample, Finding};
pub use inspect::Supports;
pub use place::Place;
pub use reasoning::{History, Opener};
pub use report::{
    ContentMode, ContentReport, ReasoningMode, ReasoningReport, Report, ToolsMode, ToolsReport,
    Verdict,
};

/// How to derive.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The time that the chat template is told; the system's when there is none.
    pub clock: Option<Clock>,
    /// What the response template must be good for: it keeps to what all of these take. None means transformers alone.
    pub engines: Vec<Engine>,
    /// Whether to verify at length: more messages, every size of chunk, every response cut short everywhere.
    pub thorough: bool,
    /// Whether to try what was not needed as well, and to tell what comes of it.
    pub alternatives: bool,
}

/// A response template and what is known of it.
#[derive(Debug, Clone)]
pub struct Derivation {
    /// The response template. When the report says that it is not verified, it is the closest draft.
    pub document: Document,
    /// What was found and proved.
    pub report: Report,
    /// The responses by which it was proved.
    pub cases: Vec<Case>,
    /// What it took.
    pub cost: Cost,
}

/// Why no response template could be derived.
#[derive(Debug, thiserror::Error)]
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
        /// The limit.
        limit: u64,
    },
    /// What was derived is not a valid response template.
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
    let mut lab = lab::Lab::new(source, options.clock)?;
    let target = emit::Target::of(&options.engines);
    let (wants, steps) = (lab.wants.clone(), lab.steps());
    let variables = |tools: &[Value]| wants.given(tools);
    let setup = judge::Setup {
        clock: options.clock,
        steps: &steps,
        parts: wants.parts,
        variables: &variables,
        thorough: options.thorough,
    };
    let judge = Judge::new(source, &setup);
    lab.adopt(judge.rules());
    lab.know(&judge.traced());
    lab.slots = judge.slots().to_vec();
    lab.read_quotes();
    let settle::Settled {
        mut analysis,
        document,
        mut proof,
        decisions,
        mut cost,
    } = settle::settle(
        &lab,
        &judge,
        &options.engines,
        options.thorough,
        options.alternatives,
    )?;
    let supports;
    (supports, cost.supports) = cost::measured(&lab, || inspect::supports::read(&lab, &analysis));
    if lab.is_exhausted() {
        return Err(DeriveError::Exhausted {
            limit: lab::MAX_STEPS,
        });
    }
    let found = std::mem::take(&mut analysis.evidence);
    let evidence;
    (evidence, cost.places) = cost::measured(&lab, || places::tell(&lab, &analysis.anchor, found));
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
    findings.append(&mut proof.findings);
    findings.extend(emit::left_to_do(&analysis, target));
    findings.extend(decisions.iter().filter_map(Decision::corrected));
    findings.extend(refusals(&options.engines, &document));
    let is_in_part = !proof.judgement.unproved.is_empty();
    let verdict = Verdict::of(proof.rounds, &findings, is_in_part);
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
    };
    Ok(Derivation {
        document,
        report,
        cases: proof.into_cases(),
        cost,
    })
}

/// What the engines have against the response template, which then is the closest that could be found.
fn refusals(engines: &[Engine], document: &Document) -> Vec<Finding> {
    let refused = |engine: &Engine| {
        let diagnostics = engine.check(document);
        let text = diagnostics
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n");
        (!text.is_empty()).then(|| Finding::error(finding::REFUSED_BY_ENGINE, text))
    };
    engines.iter().filter_map(refused).collect()
}
