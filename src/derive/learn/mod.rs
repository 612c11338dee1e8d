//! Recorded responses as evidence: what models write otherwise than their chat template renders.
//!
//! A response template that is derived from renders reads renders. Models deviate: they write a header in another order, leave out
//! a marker or say one twice. Each recorded response is parsed with what was derived ([`appraise`]). Where it falls short, that is
//! where text goes to no field, a marker stays in a text, a region does not parse or a call is not read, the response is
//! taken apart around that place ([`spot`]), and what may have to be read as well is proposed as a widening of one delimiter
//! ([`widening`]): it may be written so as well, something may stand before or behind it, or it may be missing before what
//! opens the next part.
//!
//! A widening is kept if more of the responses come back, none is read worse, the engines refuse no more, and the judge loses nothing
//! of what the renders prove. Of several that do, the one is taken with which most responses are right, and of those the one that
//! says least; what several responses may have in common, one change at a time, comes before all that one of them has. That is greedy, and ends: every widening that is kept makes the sum of what falls short smaller.
//!
//! For `n` responses of which `k` fall short there are some ten proposals for each place that is not understood. Each costs `n`
//! parses; those that help are proved, one after the other, until one loses nothing.

mod again;
mod appraise;
mod begun;
mod behind;
mod between;
mod calls;
mod changes;
mod claim;
mod common;
mod constants;
mod ended;
mod gaps;
mod heads;
mod identity;
mod items;
mod lined;
mod opened;
mod outcome;
mod places;
mod propose;
mod quoted;
mod recorded;
mod report;
mod several;
mod spelled;
mod split;
mod spot;
mod stopped;
mod supposed;
#[cfg(test)]
mod tests;
mod twice;
mod unclosed;
mod unfinished;
mod unshown;
mod widening;
mod within;

use std::collections::HashSet;
use std::sync::Arc;

use crate::derive::evidence::sample::{Evidence, RenderExcerpt};
use crate::derive::probe::CALLS_KEY;
use crate::judge::{self, Case, Scrutiny};
use crate::response_template::{Document, Engine, ResponseTemplate};
use crate::value::{Map, Value, json, python};

pub(in crate::derive) use again::{Again, written_again};
use appraise::{Appraised, Shortfall, appraise};
pub(in crate::derive) use begun::begun_where_parts_begin;
pub(in crate::derive) use behind::closed_behind_bodies;
pub(in crate::derive) use between::parted_by_text;
pub(in crate::derive) use claim::claimed;
pub(in crate::derive) use constants::Constants;
pub(in crate::derive) use ended::{ended, ended_by_the_next};
pub(in crate::derive) use gaps::{Gap, known as known_gaps};
pub(in crate::derive) use lined::{lined, reads_many};
pub(in crate::derive) use opened::{beginning_of_tags, opened_at_their_body};
use quoted::Quoted;
pub use recorded::Recorded;
pub use report::{Addition, Responses, Short, Widening};
use spelled::Spelling;
pub(in crate::derive) use stopped::stopped_in_reasoning;
pub(in crate::derive) use twice::opened_twice;
pub(in crate::derive) use unclosed::ended_by_what_follows;
pub(in crate::derive) use unfinished::ended_without_the_turn;
pub(in crate::derive) use unshown::{Unshown, unshown};
use widening::Edit;
pub(in crate::derive) use widening::is_spoken_for as is_read;
pub(in crate::derive) use within::opened_where_parts_begin;

/// The field of the content.
pub(in crate::derive) const CONTENT_KEY: &str = "content";

/// How many widenings one derivation takes.
const MAX_WIDENINGS: usize = 24;

/// How many proposals are proved that only claim more of responses which are read right.
const MAX_SPARE: usize = 6;

/// How many proposals are proved for one widening.
const MAX_PROVED: usize = 8;

/// How many responses that are not read right are shown beside renders.
const MAX_SHOWN: usize = 8;

/// How many renders a response is compared with to find the nearest.
const MAX_COMPARED: usize = 64;

/// Returns true if a changed response template gives these responses their messages still, and no engine refuses it that took the other.
fn reads_as_before<'c>(
    engines: &[Engine],
    document: &Document,
    changed: &Document,
    mut cases: impl Iterator<Item = &'c Case>,
    scrutiny: Scrutiny,
) -> bool {
    let Ok(template) = ResponseTemplate::from_value(&changed.to_value()).map(Arc::new) else {
        return false;
    };
    Engine::refusals(engines, changed) <= Engine::refusals(engines, document)
        && cases.all(|case| {
            let (parsed, error) = judge::parse(&template, case, scrutiny);
            error.is_none() && parsed == case.message
        })
}

/// The recorded responses that are learnt from, and the facts that reading them needs.
pub(in crate::derive) struct Lessons<'a> {
    pub(in crate::derive) recorded: &'a [Recorded],
    /// The prompts that each of them may have followed; the first that reads it best is taken.
    pub(in crate::derive) prompts: Vec<Vec<String>>,
    pub(in crate::derive) constants: Constants<'a>,
    pub(in crate::derive) engines: &'a [Engine],
    /// How many changed response templates are tried for each widening.
    pub(in crate::derive) most: usize,
    /// The texts that renders have between the parts of messages.
    pub(in crate::derive) gaps: Vec<Gap>,
    /// True to learn, too, from text of responses that are read right which is no part of anything.
    pub(in crate::derive) all: bool,
}

/// The response template that was learnt, and the report on the responses.
pub(in crate::derive) struct Learnt<P> {
    pub(in crate::derive) document: Document,
    /// The proof of the document; `None` where nothing was learnt, and the document is the one that was given.
    pub(in crate::derive) proof: Option<P>,
    pub(in crate::derive) report: Responses,
    pub(in crate::derive) evidence: Vec<Evidence>,
    /// The responses that are read right.
    pub(in crate::derive) read: Vec<(String, Case)>,
}

/// The response template that was derived, with some widenings.
#[derive(Clone)]
struct Draft {
    document: Document,
    template: Arc<ResponseTemplate>,
    edits: Vec<Edit>,
}

/// A draft at work on the responses.
struct State {
    draft: Draft,
    /// How much of it the engines refuse.
    refused: usize,
    read: Vec<Appraised>,
}

/// The use of a widening that was taken.
struct Use {
    /// The responses that were read better by it.
    better: Vec<usize>,
    /// True if calls are read by it that were not, or that did not parse.
    finds: bool,
    /// How much evidence there was once it was taken.
    evidence: usize,
}

impl Use {
    /// Returns true if one of the responses is read right in the end, or calls of it are read.
    fn is_useful(&self, end: &State) -> bool {
        self.finds || self.better.iter().any(|at| end.read[*at].is_right())
    }
}

/// A proposal that helps.
struct Helpful {
    edit: Edit,
    state: State,
    better: Vec<usize>,
}

/// Widens what was derived by what the responses teach. `keeps` gives the proof of a response template that loses nothing that renders
/// prove. `shown` is the response template that was derived with the parts that no render shows, as the responses imply them.
pub(in crate::derive) fn learn<P>(
    lessons: &Lessons<'_>,
    mut document: Document,
    template: Arc<ResponseTemplate>,
    cases: &[Case],
    shown: Option<(Unshown, Document)>,
    mut keeps: impl FnMut(&Arc<ResponseTemplate>) -> Option<P>,
) -> Learnt<P> {
    let mut prompts = lessons.prompts_taken(&template);
    let first = Draft {
        document: document.clone(),
        template,
        edits: Vec::new(),
    };
    let mut state = lessons.state(first, &prompts, None);
    let mut report = Responses {
        given: lessons.recorded.len(),
        right_before: state.right(),
        ..Responses::default()
    };
    let mut evidence = Vec::new();
    let mut proved = None;
    if let Some((unshown, with)) = shown
        && let Some((better, taken)) = lessons.better(&with, &state)
        && let Some(proof) = keeps(&better.draft.template)
    {
        proved = Some(proof);
        prompts = taken;
        let added = unshown.keys.iter();
        report.added = added
            .map(|key| Addition {
                field: key.clone(),
                taught_by: unshown.taught_by.clone(),
            })
            .collect();
        document = with;
        state = better;
    }
    let begun = state.draft.clone();
    let mut quoted = lessons.quoted(&state, &prompts, cases);
    let mut uses: Vec<Use> = Vec::new();
    let mut spare = if lessons.all { MAX_SPARE } else { 0 };
    while report.widenings.len() < MAX_WIDENINGS {
        let mut helpful = lessons.helpful(&document, &state, &prompts, cases, false);
        // A response in which a call ends the reasoning says that calls do, also those that a reasoning quotes.
        let is_held = |one: &Helpful| one.edit.refers() || quoted.hold(&one.state.draft.template);
        helpful.retain(is_held);
        if helpful.is_empty() && spare > 0 {
            helpful = lessons.helpful(&document, &state, &prompts, cases, true);
            helpful.retain(is_held);
        }
        helpful.sort_by_cached_key(|one| {
            let lacking = one.state.total().without_constants();
            let wrong = lessons.recorded.len() - one.state.right();
            (
                one.edit.rank >= propose::LAST,
                // With what reads no other response right, less may be read afterwards than with what does, however far-fetched that is.
                one.state.right() <= state.right(),
                one.edit.rank >= propose::FAR,
                // Several changes at once are what one response has, and the next one need not.
                one.edit.spelling().is_some_and(Spelling::is_compound),
                wrong,
                lacking,
                one.edit.rank,
                one.edit.size(),
                one.edit.text.clone(),
            )
        });
        let kept = helpful
            .into_iter()
            .take(MAX_PROVED)
            .take_while(|one| {
                let is_spare = one.better.iter().all(|at| state.read[*at].is_right());
                spare -= usize::from(is_spare && spare > 0);
                !is_spare || spare > 0
            })
            .find_map(|one| Some((keeps(&one.state.draft.template)?, one)));
        let Some((proof, kept)) = kept else { break };
        proved = Some(proof);
        let widening = kept
            .edit
            .told(&state.draft.document, &kept.state.draft.document);
        let names = kept.better.iter().map(|at| &lessons.recorded[*at]);
        evidence.extend(kept.better.first().map(|at| {
            let of = &lessons.recorded[*at];
            let nearest = nearest(cases, of, &kept.state.read[*at].message);
            Evidence {
                decision: "response",
                marker: kept.edit.text.clone(),
                reading: format!("{}: {}", widening.field, widening.text),
                left: RenderExcerpt {
                    variant: "the nearest render".to_owned(),
                    text: nearest.to_owned(),
                },
                right: RenderExcerpt {
                    variant: of.name.clone(),
                    text: of.response.clone(),
                },
                places: Vec::new(),
            }
        }));
        report.widenings.push(Widening {
            taught_by: names.map(|one| one.name.clone()).collect(),
            ..widening
        });
        uses.push(Use {
            finds: kept.finds_calls(&state),
            better: kept.better,
            evidence: evidence.len(),
        });
        state = kept.state;
        quoted.count_again(&state.draft.template);
    }
    if let Some((without, proof)) =
        lessons.without_useless(&document, &begun, &uses, &state, &prompts, &mut keeps)
    {
        let is_useful = |at: usize| uses[at].is_useful(&state);
        let widenings = std::mem::take(&mut report.widenings)
            .into_iter()
            .enumerate();
        let useful = widenings.filter(|(at, _)| is_useful(*at));
        report.widenings = useful.map(|(_, widening)| widening).collect();
        let ends: Vec<usize> = uses.iter().map(|one| one.evidence).collect();
        let taught = |at: usize| ends.iter().position(|end| at < *end);
        let found = std::mem::take(&mut evidence).into_iter().enumerate();
        let useful = found.filter(|(at, _)| taught(*at).is_none_or(is_useful));
        evidence = useful.map(|(_, one)| one).collect();
        (state, proved) = (without, Some(proof));
    }
    Learnt {
        read: lessons.read_right(&state, &prompts),
        document: state.draft.document,
        proof: proved,
        report,
        evidence,
    }
}

/// Returns the response template with the ids that the chat template makes up for calls and writes again with their results, if `keeps`
/// says that nothing is lost by that; its proof; and the form in which the ids are written.
pub(in crate::derive) fn identified<P>(
    document: &Document,
    cases: &[Case],
    mut keeps: impl FnMut(&Arc<ResponseTemplate>) -> Option<P>,
) -> Option<(Document, P, String)> {
    let mut names: Vec<&str> = Vec::new();
    for case in cases {
        let calls = case.message.get(CALLS_KEY).and_then(Value::as_array);
        for call in calls.unwrap_or_default() {
            let name = call
                .get("function")
                .and_then(|call| call.get("name")?.as_str());
            names.extend(name.filter(|name| !names.contains(name)));
        }
    }
    // An answer to a tool's result stands in a conversation that has the call as well.
    let has_call = |case: &&Case| {
        let called = |name: &&str| case.prefix.matches(*name).nth(1).is_some();
        names.iter().any(called)
    };
    let conversation = cases
        .iter()
        .filter(has_call)
        .map(|case| case.prefix.as_str())
        .max_by_key(|prefix| prefix.len())?;
    let edits = identity::edits(conversation, &names);
    edits.into_iter().take(MAX_PROVED).find_map(|edit| {
        let next = edit.apply(document)?;
        let template = ResponseTemplate::from_value(&next.to_value()).ok()?;
        let proof = keeps(&Arc::new(template))?;
        let text = edit.told(document, &next).text;
        Some((next, proof, text))
    })
}

impl Lessons<'_> {
    /// Returns for each response the prompt behind which it is read best.
    fn prompts_taken(&self, template: &Arc<ResponseTemplate>) -> Vec<&str> {
        let both = self.recorded.iter().zip(&self.prompts);
        both.map(|(recorded, prompts)| {
            let best = prompts.iter().min_by_key(|prompt| {
                let read = appraise(template, recorded, prompt, &self.constants, &[]);
                // Of prompts behind which it is read equally well the first is taken, which is the one in the data.
                read.shortfall
            });
            best.map_or("", String::as_str)
        })
        .collect()
    }

    fn state(&self, draft: Draft, prompts: &[&str], before: Option<&State>) -> State {
        let both = self.recorded.iter().zip(prompts).enumerate();
        let read = both
            .map(|(at, (recorded, prompt))| {
                let wanted = before.map_or(&[][..], |before| &before.read[at].calls);
                appraise(&draft.template, recorded, prompt, &self.constants, wanted)
            })
            .collect();
        State {
            refused: Engine::refusals(self.engines, &draft.document),
            draft,
            read,
        }
    }

    /// The texts in which calls are only spoken of. Renders that do not come back teach nothing of what models say.
    fn quoted(&self, state: &State, prompts: &[&str], cases: &[Case]) -> Quoted {
        let cases = match self.gaps.is_empty() {
            true => &[],
            false => cases,
        };
        let responses = self.recorded.iter().zip(prompts).zip(&state.read);
        let responses = responses
            .filter(|_| !self.gaps.is_empty())
            .map(|((recorded, prompt), read)| (recorded, *prompt, read));
        Quoted::of(&state.draft.template, responses, cases)
    }

    /// Returns the state with another document, if that reads more of the responses, and still reads right each that was read right; and the
    /// prompts behind which it reads them best.
    fn better(&self, document: &Document, state: &State) -> Option<(State, Vec<&str>)> {
        let template = ResponseTemplate::from_value(&document.to_value()).ok()?;
        let template = Arc::new(template);
        let prompts = self.prompts_taken(&template);
        let draft = Draft {
            document: document.clone(),
            template,
            edits: Vec::new(),
        };
        let now = self.state(draft, &prompts, None);
        let mut both = now.read.iter().zip(&state.read);
        let is_kept = both.all(|(now, before)| now.is_right() || !before.is_right());
        let is_better = is_kept && now.right() > state.right() && now.refused <= state.refused;
        is_better.then_some((now, prompts))
    }

    /// Returns the state without the widenings that helped no response to be read right in the end, with its proof; `None` where all helped, or nothing else reads
    /// as many responses right.
    fn without_useless<P>(
        &self,
        base: &Document,
        begun: &Draft,
        uses: &[Use],
        end: &State,
        prompts: &[&str],
        keeps: &mut impl FnMut(&Arc<ResponseTemplate>) -> Option<P>,
    ) -> Option<(State, P)> {
        if uses.iter().all(|one| one.is_useful(end)) {
            return None;
        }
        let edits = end.draft.edits[begun.edits.len()..].iter().zip(uses);
        let useful = edits.filter(|(_, one)| one.is_useful(end));
        let draft = useful
            .map(|(edit, _)| edit)
            .try_fold(begun.clone(), |draft, edit| draft.with(base, edit))?;
        let state = self.state(draft, prompts, None);
        let mut both = state.read.iter().zip(&end.read);
        let is_kept = both.all(|(now, before)| now.is_right() || !before.is_right());
        if !is_kept || state.refused > end.refused {
            return None;
        }
        let proof = keeps(&state.draft.template)?;
        Some((state, proof))
    }

    /// The proposals with which more is read, and nothing worse: of responses that are not read right, or of `all` of which something is no part of anything.
    fn helpful(
        &self,
        base: &Document,
        state: &State,
        prompts: &[&str],
        cases: &[Case],
        all: bool,
    ) -> Vec<Helpful> {
        // The end of the turn opens nothing: text behind it would else be a reasoning, whatever it is.
        let ends_turn = |edit: &Edit| {
            let text = edit.text.trim_matches(python::is_space);
            edit.opens()
                && cases.iter().any(|case| {
                    let response = case.response.trim_end_matches(python::is_space);
                    response.ends_with(text)
                })
        };
        let mut found: Vec<Helpful> = Vec::new();
        let mut tried: HashSet<String> = HashSet::new();
        let short = self.recorded.iter().zip(&state.read);
        let short = short.filter(|(_, read)| !read.is_right());
        let heads: Vec<String> = short
            .flat_map(|(recorded, read)| propose::heads(recorded, read, &self.constants))
            .collect();
        for (at, recorded) in self.recorded.iter().enumerate() {
            let read = &state.read[at];
            if read.is_read_whole() || read.is_right() && !all {
                continue;
            }
            let with_constants = all.then(|| read.clone().with_constants());
            let evidence = propose::Seen {
                recorded,
                read: with_constants.as_ref().unwrap_or(read),
                constants: &self.constants,
                others: self.recorded,
                heads: &heads,
                gaps: &self.gaps,
            };
            for edit in evidence.edits(base, &state.draft.document) {
                if ends_turn(&edit) {
                    continue;
                }
                let Some((document, edits)) = state.draft.changed(base, &edit) else {
                    continue;
                };
                if tried.len() >= self.most {
                    return found;
                }
                if !tried.insert(json::to_string(&document.to_value())) {
                    continue;
                }
                let Some(draft) = state.draft.compiled(document, edits) else {
                    continue;
                };
                // Most proposals do not even help the response that they were made for.
                let wanted = &state.read[at].calls;
                let prompt = prompts[at];
                let own = appraise(&draft.template, recorded, prompt, &self.constants, wanted);
                let before = &state.read[at].shortfall;
                if own.shortfall >= *before || !own.shortfall.is_within(before) {
                    continue;
                }
                let now = self.state(draft, prompts, Some(state));
                let all = now.read.iter().zip(&state.read);
                let is_worse = all
                    .clone()
                    .any(|(now, before)| now.shortfall > before.shortfall);
                if is_worse || now.refused > state.refused {
                    continue;
                }
                let better = all
                    .enumerate()
                    .filter(|(_, (now, before))| now.shortfall < before.shortfall)
                    .map(|(at, _)| at)
                    .collect();
                found.push(Helpful {
                    edit,
                    state: now,
                    better,
                });
            }
        }
        found
    }
}

impl Helpful {
    /// Returns true if calls are read that were not before, or that did not parse.
    fn finds_calls(&self, before: &State) -> bool {
        self.better.iter().any(|at| {
            let (now, before) = (&self.state.read[*at], &before.read[*at]);
            now.lacks_calls() < before.lacks_calls()
        })
    }
}

impl Draft {
    /// Returns the draft with another widening of `base`; `None` where that changes nothing or cannot be written.
    fn with(&self, base: &Document, edit: &Edit) -> Option<Self> {
        let (document, edits) = self.changed(base, edit)?;
        self.compiled(document, edits)
    }

    /// Returns the draft with that document instead of its own; `None` where that is no response template.
    fn compiled(&self, document: Document, edits: Vec<Edit>) -> Option<Self> {
        let template = self.template.changed(&document.to_value()).ok()?;
        Some(Self {
            document,
            template: Arc::new(template),
            edits,
        })
    }

    /// Returns the document with another widening of `base`, and all widenings then.
    fn changed(&self, base: &Document, edit: &Edit) -> Option<(Document, Vec<Edit>)> {
        let edits: Vec<Edit> = self.edits.iter().chain([edit]).cloned().collect();
        let spellings: Vec<&Spelling> = edits.iter().filter_map(Edit::spelling).collect();
        let others = edits.iter().filter(|edit| edit.spelling().is_none());
        let (heads, others): (Vec<&Edit>, Vec<&Edit>) =
            others.partition(|edit| edit.head().is_some());
        let spelled = spelled::apply(base, &spellings);
        // Where the spellings leave no plain texts around a name, the heads come before them; and where they find no place then, one by one.
        let document = spelled
            .as_ref()
            .and_then(|spelled| one_by_one(&together(spelled, &heads)?, &others))
            .or_else(|| {
                let headed = together(base, &heads)?;
                one_by_one(&spelled::apply(&headed, &spellings)?, &others)
            })
            .or_else(|| one_by_one(spelled.as_ref()?, &[heads, others].concat()))?;
        (document != self.document).then_some((document, edits))
    }
}

/// The document with all these texts around a call's name taken together; `None` where there are none, or they are no parts of one sequence.
fn together(base: &Document, heads: &[&Edit]) -> Option<Document> {
    heads::apply(base, heads.first()?.field.as_str(), heads)
}

/// The document with one change after the other.
fn one_by_one(base: &Document, edits: &[&Edit]) -> Option<Document> {
    // A delimiter that refers to another one comes last, so that it refers to all that opens that one.
    let (last, first): (Vec<&Edit>, Vec<&Edit>) = edits.iter().partition(|one| one.refers());
    let mut all = first.into_iter().chain(last);
    all.try_fold(base.clone(), |document, one| one.apply(&document))
}

impl State {
    fn right(&self) -> usize {
        self.read.iter().filter(|read| read.is_right()).count()
    }

    fn total(&self) -> Shortfall {
        let all = self.read.iter().map(|read| read.shortfall);
        all.fold(Shortfall::default(), |sum, one| sum + one)
    }
}

/// The rendered response that is most like a recorded one: of those whose messages have the same parts, the one that shares most of
/// its words.
fn nearest<'c>(cases: &'c [Case], recorded: &Recorded, message: &Map) -> &'c str {
    let parts = |message: &Map| -> (Vec<String>, usize) {
        let filled = message
            .iter()
            .filter(|(_, value)| value.is_truthy())
            .map(|(key, _)| key.to_string());
        let calls = message.get(CALLS_KEY).and_then(Value::as_array);
        (filled.collect(), calls.map_or(0, <[Value]>::len))
    };
    let wanted = parts(message);
    let alike = cases
        .iter()
        .filter(|case| case.message.as_object().map(&parts).as_ref() == Some(&wanted));
    let distance = |case: &&Case| calls::changed(&case.response, &recorded.response);
    let best = alike.take(MAX_COMPARED).min_by_key(distance);
    best.or(cases.first())
        .map_or("", |case| case.response.as_str())
}
