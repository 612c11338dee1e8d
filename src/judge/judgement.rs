//! The judgement: the sum of the rounds, by kind.

use serde::Serialize;

use super::kind::Kind;
use super::prompts;
use super::rounds::{Group, LeftOut, Round, RoundId};
use super::survey;
use super::trial::{Counterexample, Outcome, Tried};
use super::unproved::Unproved;
use super::{Case, Judge, Subject};
use crate::value::Map;

/// The reason for leaving out a message that makes no difference in the render.
pub(crate) const NOT_SHOWN: &str = "not shown";

/// The reason for leaving out a message whose turn cannot be cut from the render.
pub(crate) const UNMARKED: &str = "nothing marks where the turn begins";

/// How many rounds there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Rounds {
    /// Messages of which all that can be seen came back from their render.
    pub passed: usize,
    /// Messages that came back as something else, or not at all.
    pub failed: usize,
    /// Messages that did not come back because no response template could bring them back.
    pub inexpressible: usize,
    /// Messages with a text that is not made of plain words alone, and whose render is that of another message as well.
    pub alike: usize,
    /// Messages that the chat template refuses, or of which it leaves out the parts that make their kind.
    pub skipped: usize,
    /// Reasoning that the chat template drops and that came back when it was written by hand into the turn, between the markers.
    pub injected: usize,
    /// Responses cut short that lost nothing which was finished, and raised no error.
    pub cut: usize,
}

/// The verdict on the messages of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct KindVerdict {
    /// The kind.
    pub kind: Kind,
    /// True if the chat template renders messages of this kind.
    pub rendered: bool,
    /// How many messages were tried.
    pub tried: usize,
    /// How many of them came back.
    pub came_back: usize,
    /// How many could not be told from other messages because of a text that is not made of plain words alone.
    pub alike: usize,
    /// The manner in which they were handed to the chat template, in words.
    pub manner: String,
    /// Messages that were meant to be of this kind and were not, by reason.
    pub left_out: Vec<LeftOutCount>,
    /// The smallest message that did not come back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest: Option<Counterexample>,
}

/// Messages that were left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LeftOutCount {
    /// How many messages were left out.
    pub count: usize,
    /// The reason: `not shown`, or the words in which the chat template refuses them.
    pub why: String,
}

/// A round that failed.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) round: RoundId,
    pub(crate) found: Counterexample,
    /// The place of the message, in words.
    pub(crate) place: String,
    /// The kwargs of the place.
    pub(crate) kwargs: Map,
    /// True if two messages render to the same text.
    pub(crate) alike: bool,
    /// True if its texts are plain words.
    pub(crate) plain: bool,
}

impl Failure {
    /// Returns true if the message came back, and is rendered otherwise as it came back: without a text that is empty, for example.
    pub(crate) fn is_only_rendered_otherwise(&self) -> bool {
        self.found.error.is_some() && self.found.expected == self.found.parsed
    }
}

/// The judgement on a response template, as far as renders show it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Judgement {
    pub(crate) rounds: Rounds,
    pub(crate) kinds: Vec<KindVerdict>,
    pub(crate) cases: Vec<Case>,
    /// The rounds that came back.
    pub(crate) back: Vec<RoundId>,
    /// The rounds that did not come back since another message renders to the same text, which excuses them.
    pub(crate) alike: Vec<RoundId>,
    /// The rounds that did not come back, plain ones first and short ones before long ones.
    pub(crate) failures: Vec<Failure>,
    /// A message that cannot be told from another because of one of its texts.
    pub(crate) excused: Option<Counterexample>,
    /// A message that comes back as an earlier turn alone, and the message that comes back where it is the last.
    pub(crate) as_earlier: Option<Counterexample>,
    /// Things that no render shows, although the response template reads them or the chat template asks for them; in sentences.
    pub(crate) unproved: Vec<Unproved>,
    /// How many settings of the kwargs were not tried.
    pub(crate) settings_left_out: usize,
    /// The kwargs that were never set.
    pub(crate) unset: Vec<String>,
}

/// Tries everything, with calls in the manner in which least fails; with objects for arguments where most comes back with those.
pub(super) fn judge(judge: &Judge<'_>, subject: Subject<'_>) -> Judgement {
    let tried = judge.tried(subject);
    let mut judgement = Judgement {
        settings_left_out: judge.survey.settings_left_out,
        unset: judge.survey.unset.clone(),
        ..Judgement::default()
    };
    let plain = run(judge, &tried, None);
    let best = best_manner(judge, &tried);
    let mut table = Table::default();
    table.add(judge, None, plain, &mut judgement);
    if let Some((index, outcomes)) = best {
        table.add(judge, Some(index), outcomes, &mut judgement);
    }
    judgement
        .failures
        .sort_by_key(|failure| (!failure.plain, failure.found.response.len()));
    judgement.kinds = table.finish();
    judgement.shrink_first(judge, subject);
    judgement.unproved = unproved(judge, &tried, &judgement);
    judgement
}

/// Returns the manner of calls that counts, with its outcomes: that in which least fails, and of one with arguments as text that with
/// objects, if most comes back with those.
///
/// A chat template that is given arguments as text copies that text, which does not show how it writes objects.
fn best_manner(judge: &Judge<'_>, tried: &Tried<'_>) -> Option<(usize, Vec<Outcome>)> {
    let lost = |outcomes: &[Outcome]| {
        let failed = outcomes.iter().filter(|outcome| !outcome.is_back());
        failed.count()
    };
    let comes_back_mostly = |outcomes: &[Outcome]| lost(outcomes) * 2 < outcomes.len();
    let manners = &judge.survey.calling;
    let mut runs: Vec<(usize, Vec<Outcome>)> = Vec::new();
    for (index, manner) in manners.iter().enumerate() {
        // Its twin would be taken in its place, however much came back.
        let object = manner.with_objects();
        let twin = runs.iter().find(|(other, _)| manners[*other] == object);
        if twin.is_some_and(|(_, outcomes)| comes_back_mostly(outcomes)) {
            continue;
        }
        let outcomes = run(judge, tried, Some(index));
        let is_whole = lost(&outcomes) == 0;
        runs.push((index, outcomes));
        if is_whole {
            break;
        }
    }
    let least = runs.iter().min_by_key(|(_, outcomes)| lost(outcomes))?.0;
    let object = manners[least].with_objects();
    let of_objects = runs
        .iter()
        .position(|(index, outcomes)| manners[*index] == object && comes_back_mostly(outcomes));
    let best = of_objects.or_else(|| runs.iter().position(|(index, _)| *index == least))?;
    Some(runs.swap_remove(best))
}

fn run(judge: &Judge<'_>, tried: &Tried<'_>, calling: Option<usize>) -> Vec<Outcome> {
    let group = judge.group(calling);
    group
        .judged()
        .map(|round| tried.run(round, &group.manner, &judge.renderer))
        .collect()
}

/// The kinds as they are counted.
#[derive(Debug, Default)]
struct Table {
    rows: Vec<KindVerdict>,
}

impl Table {
    fn row(&mut self, kind: Kind, group: &Group) -> &mut KindVerdict {
        let at = match self.rows.iter().position(|row| row.kind == kind) {
            Some(at) => at,
            None => {
                self.rows.push(KindVerdict {
                    kind,
                    rendered: false,
                    tried: 0,
                    came_back: 0,
                    alike: 0,
                    manner: group.manner.to_string(),
                    left_out: Vec::new(),
                    smallest: None,
                });
                self.rows.len() - 1
            }
        };
        &mut self.rows[at]
    }

    fn add(
        &mut self,
        judge: &Judge<'_>,
        calling: Option<usize>,
        outcomes: Vec<Outcome>,
        judgement: &mut Judgement,
    ) {
        let group = judge.group(calling);
        for (index, (round, outcome)) in group.rounds.iter().zip(outcomes).enumerate() {
            let id = RoundId { calling, index };
            for kind in &round.kinds {
                let row = self.row(*kind, group);
                row.rendered = true;
                row.tried += 1;
            }
            match outcome {
                Outcome::Back(_) | Outcome::Earlier(..) => {
                    let cases = match outcome {
                        Outcome::Earlier(case, last) => {
                            judgement.as_earlier.get_or_insert(*last);
                            vec![case]
                        }
                        Outcome::Back(cases) => cases,
                        Outcome::Alike { .. } | Outcome::Lost(_) => Vec::new(),
                    };
                    judgement.rounds.passed += 1;
                    judgement.back.push(id);
                    judgement.cases.extend(cases);
                    for kind in &round.kinds {
                        self.row(*kind, group).came_back += 1;
                    }
                }
                Outcome::Alike {
                    found,
                    excused: true,
                } => {
                    judgement.rounds.alike += 1;
                    judgement.alike.push(id);
                    for kind in &round.kinds {
                        self.row(*kind, group).alike += 1;
                    }
                    let is_smaller =
                        |known: &Counterexample| found.response.len() < known.response.len();
                    if judgement.excused.as_ref().is_none_or(is_smaller) {
                        judgement.excused = Some(*found);
                    }
                }
                Outcome::Alike { found, .. } => {
                    judgement.rounds.inexpressible += 1;
                    self.fail(judgement, group, id, round, *found, true);
                }
                Outcome::Lost(found) => {
                    judgement.rounds.failed += 1;
                    self.fail(judgement, group, id, round, *found, false);
                }
            }
        }
        for (kind, why) in &group.left_out {
            judgement.rounds.skipped += 1;
            let why = match why {
                LeftOut::Refused(words) => words.as_str(),
                LeftOut::NotShown => NOT_SHOWN,
                LeftOut::Unmarked => UNMARKED,
            };
            let left_out = &mut self.row(*kind, group).left_out;
            match left_out.iter_mut().find(|known| known.why == why) {
                Some(known) => known.count += 1,
                None => left_out.push(LeftOutCount {
                    count: 1,
                    why: why.to_owned(),
                }),
            }
        }
    }

    fn fail(
        &mut self,
        judgement: &mut Judgement,
        group: &Group,
        id: RoundId,
        round: &Round,
        found: Counterexample,
        alike: bool,
    ) {
        for kind in &round.kinds {
            let row = self.row(*kind, group);
            let size = |found: &Counterexample| found.response.len();
            // Those that lead come first: a hostile text is shown only where no plain one fails.
            if row
                .smallest
                .as_ref()
                .is_none_or(|known| round.probe.plain && size(&found) < size(known))
            {
                row.smallest = Some(found.clone());
            }
        }
        judgement.failures.push(Failure {
            round: id,
            place: place(round),
            kwargs: round.place.place.kwargs.clone(),
            found,
            alike,
            plain: round.probe.plain,
        });
    }

    fn finish(mut self) -> Vec<KindVerdict> {
        self.rows.sort_by_key(|row| row.kind);
        self.rows
    }
}

/// Returns the place of a round's message, in words.
fn place(round: &Round) -> String {
    let place = &round.place.place;
    let kwargs: Vec<String> = place
        .kwargs
        .iter()
        .map(|(name, value)| format!("{name}={}", crate::value::json::to_string(value)))
        .collect();
    match kwargs.is_empty() {
        true => place.label.to_owned(),
        false => format!("{}, {}", place.label, kwargs.join(", ")),
    }
}

impl Judgement {
    /// Shrinks the message of the first failure to the parts without which it would come back, where its texts are more than plain words.
    fn shrink_first(&mut self, judge: &Judge<'_>, subject: Subject<'_>) {
        let Some(first) = self.failures.first_mut().filter(|first| !first.plain) else {
            return;
        };
        first.found = judge.smallest(subject, first.round, first.found.clone()).1;
    }
}

/// Returns the things that no render shows.
fn unproved(judge: &Judge<'_>, tried: &Tried<'_>, judgement: &Judgement) -> Vec<Unproved> {
    let mut unproved = Vec::new();
    let survey = &judge.survey;
    let fields = tried
        .template()
        .fields()
        .iter()
        .map(|field| field.name.as_str());
    for field in fields {
        let is_filled = |case: &Case| {
            case.message
                .get(field)
                .is_some_and(|value| value.is_truthy())
        };
        if !judgement.cases.iter().any(is_filled) {
            unproved.push(Unproved::Field(field.to_owned()));
        }
    }
    unproved.extend(prompts::unshown(judge, tried));
    // If a reasoning comes back, the text that the chat template cuts off an answer is that reasoning, which is proved.
    if survey.slots.distinct.is_empty() {
        let cut = judge
            .cut
            .get_or_init(|| survey::cut(&judge.renderer, &survey.plain));
        unproved.extend(cut.clone().map(Unproved::Cut));
    }
    for group in judge.calling.iter().filter_map(|group| group.get()) {
        for round in &group.rounds {
            let asked = round.probe.asked.clone().map(Unproved::Call);
            let is_lost = || tried.run(round, &group.manner, &judge.renderer).is_lost();
            let lost = asked.filter(|asked| !unproved.contains(asked) && is_lost());
            unproved.extend(lost);
        }
    }
    let groups =
        std::iter::once(&survey.plain).chain(judge.calling.iter().filter_map(|group| group.get()));
    let mut left_out = groups.flat_map(|group| &group.left_out);
    if left_out.any(|(_, why)| *why == LeftOut::Unmarked) {
        unproved.push(Unproved::Unmarked);
    }
    let mut behind_results = survey
        .unmeant
        .iter()
        .map(|at| &at.prompt[at.place.end_in(&at.prompt)..]);
    if behind_results.any(|behind| behind.trim().is_empty() && tried.after_anchor(behind).is_none())
    {
        unproved.push(Unproved::UnmarkedResult);
    }
    if survey.reads_calls && survey.calling.is_empty() {
        unproved.push(Unproved::Calls(survey.no_calls.clone()));
    }
    if let (Some(key), None) = (
        survey.slots.reasoning_asked.first(),
        survey.slots.distinct.first(),
    ) {
        unproved.push(Unproved::Reasoning(key.clone()));
    }
    unproved
}
