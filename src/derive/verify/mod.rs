//! Verification by inversion: what the chat template renders, the response template must parse back.

mod alike;
mod channels;
mod compare;
mod contexts;
mod cuts;
mod earlier;
mod lookalikes;
mod messages;
mod round;
mod shrink;

use std::ops::ControlFlow;

use serde::Serialize;

use super::cut::Shape;
use super::finding::{Counterexample, Finding};
use super::lab::Context;
use super::probe::Assistant;
use super::reasoning::History;
use crate::diagnostic::Severity;
use crate::value::{Map, Value};
pub(super) use compare::{Comparison, compare};
use contexts::each_message;
pub(super) use round::{Bench, Proved};
use round::{Outcome, Reason};

/// The code of what a response loses that is cut short.
pub(super) const LOST_WHEN_CUT: &str = "lost-when-cut";

/// How many failures are shrunk and shown; the rest are counted.
const MAX_COUNTEREXAMPLES: usize = 3;

/// How many failures are kept, to be tried again with other response templates.
const MAX_FAILING: usize = 8;

/// How many rounds there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rounds {
    /// Messages that came back from their render.
    pub passed: usize,
    /// Messages that came back as something else, or not at all.
    pub failed: usize,
    /// Messages that did not come back because no response template could bring them back.
    pub inexpressible: usize,
    /// Messages that the chat template refuses or does not wholly render.
    pub skipped: usize,
    /// Reasoning that the chat template drops, written by hand into its turn where the markers say: that came back.
    pub spliced: usize,
    /// Responses cut short that lost nothing which was finished, and raised no error.
    pub cut: usize,
}

/// The result of a verification.
#[derive(Debug, Clone, Default)]
pub(super) struct Verification {
    pub(super) rounds: Rounds,
    pub(super) findings: Vec<Finding>,
    pub(super) cases: Vec<Case>,
    /// Messages that did not come back, for whatever reason, some of each.
    pub(super) failing: Vec<Failing>,
}

impl Verification {
    /// What is not proved.
    pub(super) fn errors(&self) -> impl Iterator<Item = &Finding> {
        let all = self.findings.iter();
        all.filter(|finding| finding.severity == Severity::Error)
    }
}

/// A message that did not come back, and where it stood.
#[derive(Debug, Clone)]
pub(super) struct Failing {
    pub(super) context: Context,
    pub(super) message: Assistant,
}

/// A response of the derived format and the message that it was seen to parse to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Case {
    /// What the parser is given before it.
    pub prefix: String,
    /// The response.
    pub response: String,
    /// The tools by whose schemas its arguments are typed.
    pub tools: Vec<Value>,
    /// The message.
    pub message: Value,
}

pub(super) fn verify(bench: Bench<'_>) -> Verification {
    let mut trial = Trial::new(bench);
    let visited = each_message(&bench, |context, label, message| {
        trial.run(context, label, message);
        ControlFlow::<()>::Continue(())
    });
    if let ControlFlow::Continue(alike) = visited {
        trial.alike = alike;
    }
    trial.cut_short();
    trial.finish()
}

/// The case whose message has the most.
fn most_to_lose(cases: &[Case]) -> Option<&Case> {
    cases.iter().max_by_key(|case| {
        let members = case.message.as_object().map_or(0, Map::len);
        (members, case.response.len())
    })
}

/// The rounds as they are run.
struct Trial<'a> {
    bench: Bench<'a>,
    verification: Verification,
    skipped: Vec<(Reason, usize)>,
    /// For each limit that the analysis names, what became of the messages that seemed to have it.
    limited: Vec<Limited>,
    /// The messages that are written as reasoning where they come last.
    as_reasoning: Limited,
    /// The contexts in which some messages stood for all.
    alike: usize,
}

/// The messages that did not come back because of one limit.
#[derive(Debug, Clone, Default)]
struct Limited {
    messages: Vec<Assistant>,
    count: usize,
    smallest: Option<Counterexample>,
}

impl Limited {
    /// Keeps a counterexample, if none is smaller.
    fn show(&mut self, found: Counterexample) {
        let size = |found: &Counterexample| found.response.len();
        if self
            .smallest
            .as_ref()
            .is_none_or(|known| size(&found) < size(known))
        {
            self.smallest = Some(found);
        }
    }
}

impl<'a> Trial<'a> {
    fn new(bench: Bench<'a>) -> Self {
        Self {
            limited: vec![Limited::default(); bench.analysis.limits.len()],
            bench,
            verification: Verification::default(),
            skipped: Vec::new(),
            as_reasoning: Limited::default(),
            alike: 0,
        }
    }

    fn run(&mut self, context: &Context, label: &str, message: &Assistant) {
        let bench = self.bench;
        match bench.run(context, message) {
            Outcome::Passed(cases) => {
                self.verification.rounds.passed += 1;
                self.verification.cases.extend(cases);
            }
            Outcome::Skipped(reason) => {
                let dropped = reason == Reason::NotRendered("reasoning");
                self.skip(reason);
                if dropped {
                    self.splice(context, label, message);
                }
            }
            Outcome::Failed(_) => self.fail(context, label, message, |candidate| {
                matches!(bench.run(context, candidate), Outcome::Failed(_))
            }),
            Outcome::AsReasoning(found) => {
                self.as_reasoning.count += 1;
                self.as_reasoning.show(*found);
                self.run_earlier(context, label, message);
            }
        }
    }

    /// Tries a message that cannot be told from reasoning where it comes last, as an earlier one.
    fn run_earlier(&mut self, context: &Context, label: &str, message: &Assistant) {
        let bench = self.bench;
        match bench.run_earlier(context, message) {
            Outcome::Passed(cases) => {
                self.verification.rounds.passed += 1;
                self.verification.cases.extend(cases);
            }
            Outcome::Skipped(reason) => self.skip(reason),
            Outcome::Failed(_) | Outcome::AsReasoning(_) => {
                self.fail(context, label, message, |candidate| {
                    matches!(bench.run_earlier(context, candidate), Outcome::Failed(_))
                });
            }
        }
    }

    fn skip(&mut self, reason: Reason) {
        self.verification.rounds.skipped += 1;
        match self.skipped.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => self.skipped.push((reason, 1)),
        }
    }

    /// Parses a dropped reasoning that is written into the turn by hand.
    fn splice(&mut self, context: &Context, label: &str, message: &Assistant) {
        let bench = self.bench;
        match bench.run_spliced(context, message) {
            Outcome::Passed(cases) => {
                self.verification.rounds.spliced += 1;
                self.verification.cases.extend(cases);
            }
            Outcome::Skipped(_) | Outcome::AsReasoning(_) => {}
            Outcome::Failed(_) => self.fail(context, label, message, |candidate| {
                matches!(bench.run_spliced(context, candidate), Outcome::Failed(_))
            }),
        }
    }

    /// Counts a failure as what it is, and shows the smallest message that fails the same way.
    fn fail(
        &mut self,
        context: &Context,
        label: &str,
        message: &Assistant,
        fails: impl Fn(&Assistant) -> bool,
    ) {
        let failing = &mut self.verification.failing;
        if failing.len() < MAX_FAILING && failing.iter().all(|known| known.message != *message) {
            failing.push(Failing {
                context: context.clone(),
                message: message.clone(),
            });
        }
        if self.is_limited(context, message, &fails) {
            self.verification.rounds.inexpressible += 1;
            return;
        }
        self.verification.rounds.failed += 1;
        if self.verification.rounds.failed > MAX_COUNTEREXAMPLES {
            return;
        }
        let smallest = shrink::shrink(message.clone(), fails);
        let finding = Finding::error(
            "not-inverted",
            format!("a message does not come back from its render, {label}"),
        );
        let shown = self.bench.failure(context, &smallest);
        self.verification.findings.push(finding.with(shown));
    }

    /// Whether a message fails because of a limit: it has it, and so does the smallest message that still fails.
    fn is_limited(
        &mut self,
        context: &Context,
        message: &Assistant,
        fails: impl Fn(&Assistant) -> bool,
    ) -> bool {
        let limits = &self.bench.analysis.limits;
        if !limits.iter().any(|limit| (limit.is_in)(message)) {
            return false;
        }
        let mut known = self.limited.iter_mut();
        if let Some(limited) = known.find(|limited| limited.messages.contains(message)) {
            limited.count += 1;
            return true;
        }
        let smallest = shrink::shrink(message.clone(), fails);
        let Some(index) = limits.iter().position(|limit| (limit.is_in)(&smallest)) else {
            return false;
        };
        let shown = self.bench.failure(context, &smallest);
        let limited = &mut self.limited[index];
        limited.count += 1;
        limited.messages.push(message.clone());
        if limited.smallest.is_none() {
            limited.smallest = shown;
        }
        true
    }

    /// Cuts responses short: all of them if there is time, else the one that has most to lose.
    fn cut_short(&mut self) {
        let cases = &self.verification.cases;
        let chosen: Vec<&Case> = if self.bench.thorough {
            cases.iter().collect()
        } else {
            most_to_lose(cases).into_iter().collect()
        };
        for case in chosen {
            match cuts::first_loss(self.bench.template, case) {
                None => self.verification.rounds.cut += cuts::count(case),
                Some(found) => {
                    let text =
                        "a response that is cut short raises an error or loses what was finished";
                    let finding = if self.bench.target.served {
                        // A marker that the cut leaves unfinished is text, which takes the place of the text before.
                        let why = "the engines put no texts together";
                        Finding::warning(LOST_WHEN_CUT, format!("{text}; {why}"))
                    } else {
                        Finding::error(LOST_WHEN_CUT, text)
                    };
                    self.verification.findings.push(finding.with(Some(found)));
                    return;
                }
            }
        }
    }

    fn finish(self) -> Verification {
        let Self {
            bench,
            mut verification,
            skipped,
            limited,
            as_reasoning,
            alike,
        } = self;
        let analysis = bench.analysis;
        for (limit, limited) in analysis.limits.iter().zip(limited) {
            if limited.count > 0 {
                let text = format!(
                    "{}; {} messages do not come back",
                    limit.text, limited.count
                );
                let finding = Finding::inexpressible(text, limited.smallest);
                verification.findings.push(finding);
            }
        }
        verification
            .findings
            .extend(skipped.into_iter().map(explain));
        verification.findings.extend(lookalikes::find(&bench));
        let in_channels = channels::find(&bench, &verification.cases);
        verification.findings.extend(in_channels);
        if alike > 0 {
            verification.findings.push(Finding::info(
                "read-alike",
                format!(
                    "in {alike} contexts a message of each kind is written as after another conversation or under another setting of the kwargs; the other messages were not tried there, `--thorough` tries them"
                ),
            ));
        }
        if as_reasoning.count > 0 {
            let text = format!(
                "{} messages are written, where they come last, as going on with a reasoning that the prompt opens and nothing closes, from which they cannot be told; they were tried as earlier turns, which are written otherwise",
                as_reasoning.count
            );
            let finding = Finding::warning("last-turn-as-reasoning", text);
            verification
                .findings
                .push(finding.with(as_reasoning.smallest));
        }
        if let Some(calls) = &analysis.calls
            && let Shape::Tags { argument, .. } = &calls.shape
        {
            let without = match argument.quotes {
                Some(_) => "without tools every argument that is not JSON comes back as a string",
                None => "without tools every argument comes back as a string",
            };
            verification.findings.push(Finding::info(
                "arguments-as-text",
                format!(
                    "arguments stand in tags, as text: the verification gave the parser the tools, whose schemas type them; {without}"
                ),
            ));
        }
        if let Some(reasoning) = &analysis.reasoning
            && reasoning.history == History::Dropped
        {
            verification.findings.push(Finding::info(
                "reasoning-not-rendered",
                format!(
                    "the chat template does not render reasoning, so no inversion can prove its markers; {} turns with reasoning written in by hand parsed as expected",
                    verification.rounds.spliced
                ),
            ));
        }
        verification
    }
}

fn explain((reason, count): (Reason, usize)) -> Finding {
    match reason {
        Reason::Refused(error) => Finding::info(
            "refused",
            format!("{count} messages are refused by the chat template: {error}"),
        ),
        Reason::SeveralTurns => Finding::info(
            "several-turns",
            format!("{count} messages are rendered as several turns, of which a response is one"),
        ),
        Reason::TypeNotTold => Finding::info(
            "type-not-told",
            format!(
                "in {count} messages an argument is written like one of another type (the text 7 like the number 7), so that no parser can tell which it was"
            ),
        ),
        Reason::FieldNotTold => Finding::info(
            "field-not-told",
            format!(
                "{count} messages are rendered like others with the same texts in other fields, so that no parser can tell which it was"
            ),
        ),
        Reason::Unmarked => Finding::info(
            "turn-not-marked",
            format!(
                "{count} messages are rendered with nothing before them that marks where the turn begins, unlike in the prompt"
            ),
        ),
        Reason::NotRendered(part) => Finding::info(
            "not-rendered",
            format!(
                "in {count} messages the chat template leaves out the {part}, which cannot come back"
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::emit::Target;
    use super::super::lab::Lab;
    use super::super::limit::Limit;
    use super::*;
    use crate::chat_template;
    use crate::response_template::ResponseTemplate;

    /// Verifies a template that loses quotes, with a limit for it.
    fn verify_lossy(is_in: fn(&Assistant) -> bool) -> Verification {
        let text = "{% for m in messages %}<{{ m.role }}>{{ m.content | replace('\"', '') }}<end>{% endfor %}\
                    {% if add_generation_prompt %}<assistant>{% endif %}";
        let source = chat_template::from_text("test", text).expect("a chat template");
        let lab = Lab::new(&source, None).expect("it renders");
        let mut analysis = super::super::analysis::analyse(&lab).expect("a turn");
        analysis.limits.push(Limit {
            text: "quotes are lost".to_owned(),
            is_in,
        });
        let target = Target::of(&[]);
        let document = super::super::emit::emit(&analysis, target, &lab.choices).to_value();
        let template = ResponseTemplate::from_value(&document).expect("a valid document");
        verify(Bench {
            lab: &lab,
            analysis: &analysis,
            target,
            template: &Arc::new(template),
            proved: &Proved::default(),
            thorough: false,
        })
    }

    #[test]
    fn what_a_limit_explains_is_inexpressible() {
        let found = verify_lossy(|message| {
            message
                .content
                .as_deref()
                .is_some_and(|text| text.contains('"'))
        });
        assert_eq!(found.rounds.failed, 0, "{:?}", found.findings);
        assert!(found.rounds.inexpressible > 2, "{:?}", found.rounds);
        let of_limit: Vec<&Finding> = found
            .findings
            .iter()
            .filter(|finding| finding.code == "inexpressible")
            .collect();
        let [finding] = of_limit.as_slice() else {
            panic!("one finding for one limit: {:?}", found.findings);
        };
        let smallest = finding.counterexample.as_ref().expect("the smallest");
        assert!(smallest.response.split_whitespace().count() <= 3);
    }

    #[test]
    fn a_limit_excuses_nothing_that_fails_without_it() {
        let found = verify_lossy(|message| {
            message
                .content
                .as_deref()
                .is_some_and(|text| text.contains('\''))
        });
        assert_eq!(found.rounds.inexpressible, 0, "{:?}", found.findings);
        assert!(found.rounds.failed > 0);
    }
}
