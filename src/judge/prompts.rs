//! The end of a prompt beyond the header of a turn, such as an opened reasoning: a render has to show the text that follows it.
//!
//! A prompt that an answer goes on from, byte by byte, is shown, and so is one whose end stands before an answer as well, with nothing left
//! out behind what begins a turn. Where the history leaves out the end of the prompt, one of two renders must show it:
//!
//! - another answer has the same text behind the header, as the model's own; the text that follows it there must then come back behind this
//!   prompt as well;
//! - an answer has it around one of its texts, or around two, as a prompt that closes an empty reasoning has; the answers without
//!   those texts must then come back behind this prompt, and so must the calls of such an answer.
//!
//! Otherwise no render proves anything about the text that a model writes behind the prompt.

use super::Judge;
use super::expected::Expected;
use super::places::{Prompted, is_given};
use super::rounds::{Round, RoundId};
use super::trial::Tried;
use super::unproved::{PromptTail, Unproved};
use crate::chat_template::{Origin, Run};
use crate::text::{behind, common_prefix, common_suffix, ends_alike};
use crate::value::{Map, Value, python};

/// The ends of prompts that no render shows, each once.
pub(super) fn unshown(judge: &Judge<'_>, tried: &Tried<'_>) -> Vec<Unproved> {
    let rounds = all(judge);
    let mut found: Vec<PromptTail> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (_, round) in &rounds {
        // Messages with calls have places of their own. A model sees no more of a place than its prompt, so that places with the same prompt are one.
        let prompt = round.place.prompt.as_str();
        if seen.contains(&prompt) {
            continue;
        }
        seen.push(prompt);
        let here: Vec<&Round> = rounds
            .iter()
            .map(|(_, round)| *round)
            .filter(|other| other.place.prompt == prompt)
            .collect();
        let header = judge.survey.plain.header.as_str();
        let Some(tail) = tail(&here, header) else {
            continue;
        };
        // One tail may be found with a character more or less, where the header before it goes on with the same characters.
        let is_known =
            |known: &PromptTail| known.tail.ends_with(tail) || tail.ends_with(known.tail.as_str());
        if !found.iter().any(is_known)
            && !is_shown_elsewhere(judge, tried, &rounds, prompt, tail)
            && !is_around_nothing(judge, tried, &here)
        {
            let begin = begin(judge, &round.place);
            let traced = judge
                .renderer
                .traced_prompt(&round.place.place, &judge.survey.plain.manner);
            let runs = traced.map(|traced| traced.runs).unwrap_or_default();
            found.push(PromptTail {
                tail: whole_constant(&runs, begin, prompt, tail).to_owned(),
                kwargs: round.place.place.kwargs.clone(),
                added: prompt[begin..].to_owned(),
                given: given(&runs, &round.place.place.kwargs)
                    .filter(|run| run.start >= begin)
                    .map(|run| run.start - begin..run.end - begin)
                    .collect(),
                headers: headers(judge, tried, &here, &runs, begin),
            });
        }
    }
    found.into_iter().map(Unproved::PromptTail).collect()
}

/// The runs that show the value of a kwarg, and nothing else.
fn given<'r>(runs: &'r [Run], kwargs: &Map) -> impl Iterator<Item = &'r Run> {
    runs.iter().filter(|run| {
        let name = run.origin.variable();
        name.is_some_and(|name| kwargs.contains_key(name))
    })
}

/// Returns the byte at which a prompt goes on behind the conversation; behind its last message where the prompt is written unasked.
fn begin(judge: &Judge<'_>, at: &Prompted) -> usize {
    if at.unasked {
        return at.place.end_in(&at.prompt);
    }
    let history = judge
        .renderer
        .history(&at.place, &judge.survey.plain.manner);
    match history {
        Ok(history) if at.prompt.starts_with(&history) => history.len(),
        _ => at.place.end_in(&at.prompt),
    }
}

/// Returns the texts behind which the turn may begin in a prompt that no answer goes on from, the longest first: the constants that the prompt ends with, the
/// first of them left out one by one. There are none if the answers of the history come back behind the prompt, or if the prompt has
/// no text of its own that would be read as a part of the message, as one that opens a reasoning has none.
fn headers(
    judge: &Judge<'_>,
    tried: &Tried<'_>,
    here: &[&Round],
    runs: &[Run],
    begin: usize,
) -> Vec<String> {
    let Some(first) = here.first() else {
        return Vec::new();
    };
    let prompt = first.place.prompt.as_str();
    let (read, _) = tried.parse(prompt, "", &first.tools);
    let is_text = |(key, value): (&_, &Value)| key != "role" && value.is_truthy();
    if !read.iter().any(is_text) || reads_as_elsewhere(judge, tried, here, prompt) {
        return Vec::new();
    }
    let given: Vec<&Run> = given(runs, &first.place.place.kwargs).collect();
    let is_constant = |run: &Run| matches!(run.origin, Origin::Source { .. });
    let own = runs.iter().rev().take_while(|run| {
        let is_own = is_constant(run) || given.contains(run);
        run.end > begin && is_own && run.start < run.end
    });
    let constants = own.filter(|run| is_constant(run));
    let begins = constants.map(|run| run.start.max(begin));
    let headers = begins.map(|begin| prompt[begin..].to_owned());
    let mut headers: Vec<String> = headers.filter(|header| !header.trim().is_empty()).collect();
    headers.reverse();
    headers
}

/// Returns the end of a prompt with the rest of the constant that it begins amid, as far as the prompt adds that to the conversation.
fn whole_constant<'p>(runs: &[Run], begin: usize, prompt: &'p str, tail: &str) -> &'p str {
    let start = prompt.len() - tail.len();
    let amid = runs.iter().find(|run| run.start < start && start < run.end);
    &prompt[amid.map_or(start, |run| run.start.max(begin).min(start))..]
}

/// Returns true if the answers of prose, as they stand behind the anchor in the history, come back behind this prompt.
fn reads_as_elsewhere(judge: &Judge<'_>, tried: &Tried<'_>, here: &[&Round], prompt: &str) -> bool {
    let manner = &judge.survey.plain.manner;
    let mut plain = here
        .iter()
        .filter(|round| round.probe.plain && round.expected.calls.is_empty());
    plain.all(|round| {
        let Some(after) = tried.after_anchor(&round.full[..round.first]) else {
            return false;
        };
        let response = &round.full[round.first - after.len()..];
        tried.comes_back(
            prompt,
            response,
            &round.expected,
            round,
            manner,
            &judge.renderer,
        )
    })
}

/// Returns the end of a place's prompt that no answer there has before its message. It does not count if it is white space or the value of
/// a kwarg. Only messages of prose are looked at, since another text may begin with the same characters by chance.
fn tail<'r>(here: &[&'r Round], header: &str) -> Option<&'r str> {
    let here: Vec<&Round> = here
        .iter()
        .copied()
        .filter(|round| round.probe.plain)
        .collect();
    let place = &here.first()?.place;
    let prompt = place.prompt.as_str();
    let end_of_messages = place.place.end_in(prompt);
    let unshown = |round: &'r Round| {
        // A prompt that has other white space than the render is shown as well.
        if behind(&round.full[..round.first], prompt).is_some() {
            return "";
        }
        let start = common_prefix(prompt, &round.full);
        let tail = prompt[start..].trim_end_matches(python::is_space);
        if ends_alike(&round.full[..round.first], prompt) {
            return "";
        }
        // After a difference, the prompt and the render may agree again in the text right before the message, but for white space that the
        // prompt leaves to the model.
        let before = &round.full[..round.first];
        let ends = [before, before.trim_end_matches(python::is_space)];
        let again = ends.map(|end| common_suffix(tail, end));
        let again = again.into_iter().max().unwrap_or_default();
        // An end that is all there, and yet not alike, is the end of another marker, as `think>` is in `</think>`.
        let again = if again == tail.len() { 0 } else { again };
        let (unshown, again) = tail.split_at(tail.len() - again);
        // A difference before the header of the turn does not concern the end of the prompt, nor does one before the end of the last message where no prompt is
        // asked for: the system message may stand in the last question as long as no answer follows it.
        let is_of_messages = place.unasked && prompt.len() - again.len() <= end_of_messages;
        let is_before = is_of_messages || !header.is_empty() && again.contains(header);
        if is_before { "" } else { unshown }
    };
    let least = here
        .iter()
        .copied()
        .map(unshown)
        .min_by_key(|tail| tail.len())?;
    let bare = least.trim_matches(python::is_space);
    let is_kwarg = is_given(bare, &place.place.kwargs);
    let start = prompt.len()
        - here
            .iter()
            .map(|round| prompt.len() - common_prefix(prompt, &round.full))
            .min()?;
    (!bare.is_empty() && !is_kwarg).then(|| &prompt[start..])
}

/// Returns all rounds that were rendered.
fn all<'j>(judge: &'j Judge<'_>) -> Vec<(RoundId, &'j Round)> {
    let groups = std::iter::once(None).chain((0..judge.calling.len()).map(Some));
    let rendered =
        groups.filter(|group| group.is_none_or(|index| judge.calling[index].get().is_some()));
    rendered
        .flat_map(|calling| {
            let rounds = judge.group(calling).judged().enumerate();
            rounds.map(move |(index, round)| (RoundId { calling, index }, round))
        })
        .collect()
}

/// Returns true if another answer has the end of the prompt in front of its message, and comes back where the prompt has it.
fn is_shown_elsewhere(
    judge: &Judge<'_>,
    tried: &Tried<'_>,
    rounds: &[(RoundId, &Round)],
    prompt: &str,
    tail: &str,
) -> bool {
    let before = prompt[..prompt.len() - tail.len()].chars().next_back();
    let mut is_tried = false;
    for (id, other) in rounds {
        let header = &other.full[other.history_end..other.first];
        let at = header.rfind(tail);
        let at = at.filter(|at| header[..*at].chars().next_back() == before);
        let Some(response) = at.map(|at| &other.full[other.history_end + at + tail.len()..]) else {
            continue;
        };
        is_tried = true;
        let manner = &judge.group(id.calling).manner;
        let expected = &other.expected;
        if !tried.comes_back(prompt, response, expected, other, manner, &judge.renderer) {
            return false;
        }
    }
    is_tried
}

/// Returns true if an answer here has a text between the parts of this prompt, as where the prompt closes an empty reasoning, or two such texts, and
/// the answers without them come back behind the prompt.
fn is_around_nothing(judge: &Judge<'_>, tried: &Tried<'_>, here: &[&Round]) -> bool {
    let Some(prompt) = here.first().map(|round| round.place.prompt.as_str()) else {
        return false;
    };
    let around = here.iter().filter_map(|round| without_texts(round, prompt));
    let around: Vec<Without<'_>> = around.collect();
    // A marker that stands before the content then is one that the model writes.
    let opening = around.iter().find_map(|without| {
        let content = without.expected.content.as_deref();
        let content = content.filter(|_| without.round.probe.plain)?;
        let opening = without.response.split_once(content)?.0;
        let mut texts = beside_content(&without.round.expected).into_iter();
        (!texts.any(|text| opening.contains(text))).then_some(opening)
    });
    let opening = opening.unwrap_or_default();
    let is_call = |round: &Round| !round.expected.calls.is_empty();
    let mut answers = here.iter().filter(|round| {
        round.probe.plain && !is_call(round) && beside_content(&round.expected).is_empty()
    });
    let manner = &judge.group(None).manner;
    let answer_comes_back = |round: &&Round| {
        let response = format!("{opening}{}", &round.full[round.first..]);
        tried.comes_back(
            prompt,
            &response,
            &round.expected,
            round,
            manner,
            &judge.renderer,
        )
    };
    // What opens calls is known only where it stands behind such a text.
    let mut calls = around
        .iter()
        .filter(|without| without.round.probe.plain && is_call(without.round));
    let manner = judge.survey.calling.first().unwrap_or(manner);
    let call_comes_back = |without: &Without<'_>| {
        let Without {
            round,
            response,
            expected,
        } = without;
        tried.comes_back(prompt, response, expected, round, manner, &judge.renderer)
    };
    !around.is_empty() && answers.all(answer_comes_back) && calls.all(call_comes_back)
}

/// An answer without texts that it has, as it would follow a prompt that has what stands around them.
struct Without<'r> {
    round: &'r Round,
    /// The text behind the prompt, without the white space that it begins with.
    response: String,
    /// The parts of the message that are left.
    expected: Expected,
}

/// Returns the answer without its reasoning, without its further text, or without both; the first that begins as the prompt does.
fn without_texts<'r>(round: &'r Round, prompt: &str) -> Option<Without<'r>> {
    let texts = beside_content(&round.expected);
    let all = Some(texts.as_slice()).filter(|texts| texts.len() > 1);
    texts.chunks(1).chain(all).find_map(|texts| {
        let without = |full: String, text: &&str| full.replacen(text, "", 1);
        let render = texts.iter().fold(round.full.clone(), without);
        let response = behind(&render, prompt)?.trim_start().to_owned();
        let mut expected = round.expected.clone();
        for part in [&mut expected.reasoning, &mut expected.further] {
            part.take_if(|text| texts.contains(&text.as_str()));
        }
        Some(Without {
            round,
            response,
            expected,
        })
    })
}

/// The texts of a message that can be seen beside its content: its reasoning and its further text.
fn beside_content(expected: &Expected) -> Vec<&str> {
    let texts = [&expected.reasoning, &expected.further].into_iter();
    texts.flatten().map(String::as_str).collect()
}
