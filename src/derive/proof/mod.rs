//! The proof of a derivation: the verdict of the judge, and trials by hand where no render shows anything.
//!
//! The judge knows nothing of the analysis and takes nothing on its word. The facts that the analysis knows beyond renders (a reasoning
//! that the history drops, a channel that no answer is written in) are tried here by writing them into a turn by hand; that proves nothing,
//! and is reported as such. Where a trial fails, the candidate is as bad as one that loses a rendered message.

mod by_hand;
mod channels;
mod lookalikes;
mod spoken;

use crate::derive::emit::Target;
use crate::derive::evidence::finding::{Counterexample, Finding};
use crate::derive::read::analysis::Analysis;
use crate::derive::read::arguments::Style;
use crate::derive::read::cut::Body;
use crate::diagnostic::Severity;
use crate::judge::{
    self, Asked, Case, Failure, Judge, Judgement, PromptTail, RoundId, Rounds, Scrutiny, Subject,
    Unproved,
};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// The code of findings about a response that loses something when it is cut short.
pub(super) const LOST_WHEN_CUT: &str = "lost-when-cut";

/// How many failures are shown; the rest are counted.
const MAX_COUNTEREXAMPLES: usize = 3;

/// The response template that is to be proved, with all that proving it needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bench<'a> {
    pub(super) judge: &'a Judge<'a>,
    pub(super) analysis: &'a Analysis,
    pub(super) target: Target,
    pub(super) template: &'a Arc<ResponseTemplate>,
    pub(super) scrutiny: Scrutiny,
}

impl<'a> Bench<'a> {
    pub(super) fn subject(&self) -> Subject<'a> {
        Subject {
            template: self.template,
            reasoning_field: self.target.reasoning_field(),
            scrutiny: self.scrutiny,
        }
    }

    /// The parsed message, and what went wrong.
    fn parse(&self, case: &Case) -> Option<Counterexample> {
        let (parsed, error) = self.judge.parse(self.subject(), case);
        (error.is_some() || parsed != case.message).then(|| Counterexample {
            message: case.message.clone(),
            prefix: case.prefix.clone(),
            response: case.response.clone(),
            expected: case.message.clone(),
            parsed,
            error,
        })
    }
}

/// The proof of a derivation: the judgement, and the findings beside it.
#[derive(Debug, Clone, Default)]
pub(super) struct Proof {
    pub(super) judgement: Judgement,
    pub(super) rounds: Rounds,
    pub(super) findings: Vec<Finding>,
    /// Responses with what was written into them by hand.
    pub(super) by_hand: Vec<Case>,
    /// The rounds of which no response template brings the message back: those that a limit loses, and those that render as others do.
    hopeless: HashSet<RoundId>,
}

impl Proof {
    /// Returns the findings that are errors: these messages are not proved to come back.
    pub(super) fn errors(&self) -> impl Iterator<Item = &Finding> {
        let all = self.findings.iter();
        all.filter(|finding| finding.severity == Severity::Error)
    }

    /// Returns true if a delimiter has a text of the messages that were tried.
    pub(super) fn has_text_in_delimiter(&self) -> bool {
        self.errors()
            .any(|finding| finding.code == spoken::TEXT_IN_DELIMITER)
    }

    /// The rounds whose message does not come back.
    pub(super) fn failing(&self) -> &[Failure] {
        &self.judgement.failures
    }

    /// The rounds whose message does not come back, those first that another response template may bring back.
    pub(super) fn to_mend(&self) -> Vec<RoundId> {
        let failures = self.failing().iter();
        let (hopeless, mut rounds): (Vec<RoundId>, Vec<RoundId>) = failures
            .map(|failure| failure.round)
            .partition(|round| self.hopeless.contains(round));
        rounds.extend(hopeless);
        rounds
    }

    /// The rounds that came back by the other proof and do not by this one, in the other's order.
    pub(super) fn lost_of(&self, other: &Self) -> Vec<RoundId> {
        let mine: HashSet<RoundId> = self.judgement.back.iter().copied().collect();
        let back = other.judgement.back.iter().copied();
        back.filter(|round| !mine.contains(round)).collect()
    }

    /// The messages that do not come back, but for those that no parser could tell from another.
    pub(super) fn missed(&self) -> Vec<Counterexample> {
        let failures = self.judgement.failures.iter();
        let told = failures.filter(|failure| !failure.alike);
        told.map(|failure| failure.found.clone()).collect()
    }

    /// The responses that parse as they must.
    pub(super) fn into_cases(self) -> Vec<Case> {
        let mut cases = self.judgement.cases;
        cases.extend(self.by_hand);
        cases
    }
}

/// Judges a response template, and tries by hand what the judge cannot see.
pub(super) fn prove(bench: Bench<'_>) -> Proof {
    let judgement = bench.judge.judge(bench.subject());
    let mut proof = Proof {
        rounds: judgement.rounds,
        judgement,
        ..Proof::default()
    };
    fail(bench, &mut proof);
    proof
        .findings
        .extend(proof.judgement.unproved.iter().map(unproved));
    leave_out(&mut proof);
    if let Some(last) = &proof.judgement.as_earlier {
        let text = "the last message of a conversation is rendered as if it went on with the reasoning that the prompt opened, so that the two look alike; such messages were read as earlier turns, which are rendered otherwise, and come back there";
        proof
            .findings
            .push(Finding::warning("last-turn-as-reasoning", text).with(Some(last.clone())));
    }
    if let Some(excused) = &proof.judgement.excused {
        proof.findings.push(marker_in_text(excused));
    }
    proof.findings.extend(spoken::find(&bench));
    by_hand::reasoning(bench, &mut proof);
    let channels = channels::find(&bench, &proof.judgement.cases);
    proof.findings.extend(channels);
    cut_short(bench, &mut proof);
    about_types(bench, &mut proof);
    proof
}

/// Tells what failed: what the format cannot say, each limit once with its smallest message, and the rest.
fn fail(bench: Bench<'_>, proof: &mut Proof) {
    let limits = &bench.analysis.limits;
    let mut limited: Vec<(usize, Option<Counterexample>)> = vec![(0, None); limits.len()];
    let mut alike: Vec<&Failure> = Vec::new();
    let mut twins: Vec<(&Failure, Value)> = Vec::new();
    let mut shown = 0;
    let failures = proof.judgement.failures.iter();
    for failure in failures {
        if failure.alike {
            proof.hopeless.insert(failure.round);
            alike.push(failure);
            continue;
        }
        let message = bench.judge.message(failure.round);
        if limits.iter().any(|limit| limit.is_in(message)) {
            let (smallest, found) =
                bench
                    .judge
                    .smallest(bench.subject(), failure.round, failure.found.clone());
            if let Some(at) = limits.iter().position(|limit| limit.is_in(&smallest)) {
                proof.rounds.failed -= 1;
                proof.rounds.inexpressible += 1;
                proof.hopeless.insert(failure.round);
                limited[at].0 += 1;
                limited[at].1.get_or_insert(found);
                continue;
            }
        }
        if let Some(twin) = bench.judge.twin(failure.round) {
            proof.rounds.failed -= 1;
            proof.rounds.inexpressible += 1;
            proof.hopeless.insert(failure.round);
            twins.push((failure, twin));
            continue;
        }
        shown += 1;
        if shown <= MAX_COUNTEREXAMPLES {
            let text = format!(
                "a message does not come back from its render, {}",
                failure.place
            );
            let found = match failure.plain {
                true => failure.found.clone(),
                false => {
                    bench
                        .judge
                        .smallest(bench.subject(), failure.round, failure.found.clone())
                        .1
                }
            };
            let why = found.why();
            let finding = Finding::error("not-inverted", text).because(why);
            proof.findings.push(finding.with(Some(found)));
        }
    }
    proof.findings.extend(only_under(&proof.judgement.failures));
    for (limit, (count, smallest)) in limits.iter().zip(limited) {
        if count > 0 {
            let lost = match count {
                1 => "one message does not come back".to_owned(),
                _ => format!("{count} messages do not come back"),
            };
            let text = format!("{}; {lost}", limit.text);
            let finding = Finding::inexpressible(text, smallest);
            proof.findings.push(finding.because(limit.text.as_str()));
        }
    }
    if let Some(first) = alike.first() {
        let (why, count) = (first.found.why(), alike.len());
        let what = match count {
            1 => "one message renders".to_owned(),
            _ => format!("{count} messages render"),
        };
        let text = format!("{what} to the very text that another message renders to: {why}");
        let finding = Finding::inexpressible(text, Some(first.found.clone()));
        proof.findings.push(finding.because(why));
    }
    if let Some((first, twin)) = twins.first() {
        let why = format!(
            "{} renders as {} does, so that no parser can tell the two apart",
            json::to_string(&first.found.message),
            json::to_string(twin)
        );
        let text = format!(
            "{why}; so it is with {} of the messages that are lost",
            twins.len()
        );
        let finding = Finding::inexpressible(text, Some(first.found.clone()));
        proof.findings.push(finding.because(why));
    }
}

/// Returns the finding for something that no render shows.
fn unproved(unproved: &Unproved) -> Finding {
    match unproved {
        Unproved::Field(field) => Finding::warning(
            "field-not-shown",
            format!(
                "no message that the chat template renders fills the field {field}, so that nothing proves how it is read"
            ),
        ),
        Unproved::PromptTail(PromptTail { tail, kwargs, .. }) => Finding::warning(
            "prompt-not-shown",
            format!(
                "{}the prompt ends with {}, and no message is rendered behind it, so that nothing proves how what the model writes there is read",
                under(kwargs),
                json::quote(tail)
            ),
        ),
        Unproved::Calls(refusal) => Finding::warning(
            "calls-not-rendered",
            match refusal {
                Some(words) => format!(
                    "the chat template asks for tool calls and renders none in any manner that was tried; {words}"
                ),
                None => "the chat template asks for tool calls and renders none in any manner that was tried".to_owned(),
            },
        ),
        Unproved::Call(Asked::Function(name)) => Finding::warning(
            "function-not-read",
            format!(
                "the chat template writes calls of `{name}` otherwise than calls of other functions, and they do not come back"
            ),
        ),
        Unproved::Call(Asked::Argument(name)) => Finding::warning(
            "argument-not-read",
            format!(
                "the chat template writes an argument `{name}` otherwise than other arguments, and calls with it do not come back"
            ),
        ),
        Unproved::Call(Asked::ArgumentOf { function, argument }) => Finding::warning(
            "argument-not-read",
            format!(
                "the chat template writes an argument `{argument}` of `{function}` otherwise than other arguments, and calls with it do not come back"
            ),
        ),
        Unproved::Call(Asked::Id(beginning)) => Finding::warning(
            "id-not-read",
            format!(
                "the chat template writes calls with ids that begin with {} otherwise than other calls, and they do not come back",
                json::quote(beginning)
            ),
        ),
        Unproved::Cut(constant) => Finding::warning(
            "answer-cut",
            format!(
                "the chat template drops what stands before {} in an answer, so that nothing proves how a model writes it",
                json::quote(constant)
            ),
        ),
        Unproved::Unmarked => Finding::warning(
            "turn-not-marked",
            "in some conversations the chat template renders an answer with nothing before it that marks where the turn begins, unlike in their prompt, so that nothing proves what the model writes there",
        ),
        Unproved::UnmarkedResult => Finding::warning(
            "turn-not-marked",
            "the chat template renders a tool's result, and nothing behind it marks where an answer begins, so that nothing proves how an answer there is read",
        ),
        Unproved::Reasoning(key) => Finding::warning(
            "reasoning-not-shown",
            format!(
                "the chat template asks for the reasoning of a message, under {key}, and in no conversation that was tried does it stand in the render as it is"
            ),
        ),
    }
}

fn under(kwargs: &Map) -> String {
    let settings: Vec<String> = kwargs
        .iter()
        .map(|(name, value)| format!("{name}={}", json::to_string(value)))
        .collect();
    match settings.is_empty() {
        true => String::new(),
        false => format!("under {} ", settings.join(", ")),
    }
}

/// Returns a finding for messages that are lost only where kwargs are set, so that the default has none of them; `None` where some are lost without.
fn only_under(failures: &[Failure]) -> Option<Finding> {
    let mut settings: Vec<String> = Vec::new();
    for failure in failures.iter().filter(|failure| !failure.alike) {
        let setting = under(&failure.kwargs);
        if setting.is_empty() {
            return None;
        }
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    let settings = settings.iter().map(|setting| setting.trim_end());
    let settings = settings.collect::<Vec<_>>().join(" or ");
    let text =
        format!("messages are lost only {settings}; with every kwarg at its default all come back");
    (!settings.is_empty()).then(|| Finding::warning("lost-under-kwargs", text))
}

/// Tells what was left out, by kind and reason.
fn leave_out(proof: &mut Proof) {
    let mut told: Vec<(String, usize, Vec<&'static str>)> = Vec::new();
    for row in &proof.judgement.kinds {
        for left_out in &row.left_out {
            let words = row.kind.words();
            match told.iter_mut().find(|(why, ..)| *why == left_out.why) {
                Some((_, count, kinds)) => {
                    *count += left_out.count;
                    kinds.push(words);
                }
                None => told.push((left_out.why.clone(), left_out.count, vec![words])),
            }
        }
    }
    for (why, count, kinds) in told {
        let kinds = kinds.join(", ");
        proof.findings.push(match why.as_str() {
            judge::NOT_SHOWN => Finding::info(
                "not-rendered",
                format!(
                    "{count} messages cannot be seen in their render as what they are ({kinds}), and so cannot come back"
                ),
            ),
            // The finding about what is not proved says this already.
            judge::UNMARKED => continue,
            why => Finding::info(
                "refused",
                format!("{count} messages are refused by the chat template ({kinds}): {why}"),
            ),
        });
    }
    let mut not_tried = Vec::new();
    if proof.judgement.settings_left_out > 0 {
        not_tried.push(format!(
            "{} more settings of the kwargs change the model's turn and were not tried",
            proof.judgement.settings_left_out
        ));
    }
    let unset = proof.judgement.unset.iter();
    not_tried.extend(unset.map(|name| {
        format!(
            "the chat template writes `{name}` in the model's turn where nothing of its own stands right before it or right behind it, so that it was left at its default"
        )
    }));
    let findings = not_tried
        .into_iter()
        .map(|text| Finding::info("settings-not-tried", text));
    proof.findings.extend(findings);
}

fn marker_in_text(excused: &Counterexample) -> Finding {
    let text = "what stands in a text is read as a marker, wherever it stands; the message and the one that was parsed render to the same text, so that nobody can tell them apart";
    Finding::info("marker-in-text", text).with(Some(excused.clone()))
}

/// Cuts responses short: all of them if there is time, else the one that has most to lose.
fn cut_short(bench: Bench<'_>, proof: &mut Proof) {
    let cases = &proof.judgement.cases;
    let chosen: Vec<&Case> = if bench.scrutiny == Scrutiny::EverySize {
        cases.iter().collect()
    } else {
        let size = |case: &&Case| {
            let members = case.message.as_object().map_or(0, Map::len);
            (members, case.response.len())
        };
        cases.iter().max_by_key(size).into_iter().collect()
    };
    for case in chosen {
        match judge::first_loss(bench.template, case) {
            None => proof.rounds.cut += judge::count_cuts(case),
            Some(found) => {
                let text =
                    "a response that is cut short raises an error or loses what was finished";
                let finding = if bench.target.served {
                    // A marker that the cut leaves unfinished is read as text, and that text replaces the text before it.
                    let why = "the engines put no texts together";
                    Finding::warning(LOST_WHEN_CUT, format!("{text}; {why}"))
                } else {
                    Finding::error(LOST_WHEN_CUT, text)
                };
                proof.findings.push(finding.with(Some(found)));
                return;
            }
        }
    }
}

fn about_types(bench: Bench<'_>, proof: &mut Proof) {
    if let Some(calls) = &bench.analysis.calls
        && let Body::Pairs(pairs) = &calls.body
    {
        let without = match pairs.style {
            Style::Json { is_whole: true, .. } => return,
            Style::Json { .. } | Style::Quoted(..) => {
                "without tools every argument that is not JSON comes back as a string"
            }
            Style::Text => "without tools every argument comes back as a string",
        };
        let text = format!(
            "arguments stand apart, as text: the parser was given the tools, whose schemas type them; {without}"
        );
        proof
            .findings
            .push(Finding::info("arguments-as-text", text));
    }
}

/// Tells which markers are taken for markers where they are only spoken of.
pub(super) fn spoken_of(bench: Bench<'_>) -> Option<Finding> {
    lookalikes::find(&bench)
}
