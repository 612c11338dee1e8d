//! The steps of a format: what stands between two places, cut into the end of one message, what is added, and the header of the next.
//!
//! A message's end is the text that follows it where it is the last message. Where none follows it there, the end is what all texts that
//! follow such a message have in common. The rest is the header of the next message. What precedes a known header at the beginning of a
//! render, and what stands around definitions of tools, belongs to no message.

use std::collections::{BTreeMap, BTreeSet};

use super::has_text;
use super::seams::{common_prefix, strip_prefix, strip_suffix};
use crate::conversation::format::{Connection, ConnectionPart, Holds, InputText, literal_len};

/// A way in which two places were seen to follow each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Between {
    pub(super) after: Option<usize>,
    pub(super) before: Option<usize>,
    pub(super) within: bool,
    pub(super) moved: bool,
    pub(super) resumes: bool,
    pub(super) prompt: bool,
    pub(super) parts: Vec<ConnectionPart>,
}

/// The steps; those that say nothing more than another are left out.
pub(super) fn steps(
    seen: &BTreeMap<Between, BTreeSet<usize>>,
    places: &[InputText],
) -> Vec<Connection> {
    let of_message = |at: Option<usize>| {
        let holds = at.and_then(|at| places.get(at)).map(|place| place.holds);
        matches!(holds, Some(Holds::Text | Holds::Turn | Holds::Nothing))
    };
    let is_silent = |at: Option<usize>| {
        let holds = at.and_then(|at| places.get(at)).map(|place| place.holds);
        holds == Some(Holds::Nothing)
    };
    let is_turn = |at: Option<usize>| {
        let holds = at.and_then(|at| places.get(at)).map(|place| place.holds);
        holds == Some(Holds::Turn)
    };
    let usable = seen.iter().filter(|(between, _)| {
        between.before.is_none()
            || !of_message(between.after)
            || is_silent(between.after)
            || has_text(&between.parts)
    });
    // The headers of messages that stand behind a message whose end is known.
    let mut known: BTreeMap<usize, BTreeSet<Vec<ConnectionPart>>> = BTreeMap::new();
    for between in seen
        .keys()
        .filter(|one| of_message(one.after) && !one.within)
    {
        if let (Some(before), Some((_, header))) = (between.before, cut_by_end(between, seen))
            && has_text(&header)
        {
            known.entry(before).or_default().insert(header);
        }
    }
    let mut steps: Vec<Connection> = usable
        .map(|(between, settings)| {
            let (end, rest) = if of_message(between.after) && !between.within {
                cut(between, seen, &known, is_turn(between.after))
            } else {
                (Vec::new(), between.parts.clone())
            };
            Connection {
                after: between.after,
                end,
                added: Vec::new(),
                header: rest,
                before: between.before,
                within: between.within,
                moved: between.moved,
                resumes: between.resumes,
                prompt: between.prompt,
                // Text that also occurs with no kwarg set does not depend on a setting.
                settings: if settings.contains(&0) {
                    Vec::new()
                } else {
                    settings.iter().copied().collect()
                },
            }
        })
        .collect();
    let headers: BTreeMap<Option<usize>, Vec<Vec<ConnectionPart>>> = steps
        .iter()
        .filter(|step| of_message(step.after) && !step.within)
        .fold(BTreeMap::new(), |mut all, step| {
            all.entry(step.before)
                .or_default()
                .push(step.header.clone());
            all
        });
    for step in &mut steps {
        if of_message(step.after) && (step.before.is_none() || of_message(step.before)) {
            continue;
        }
        let known = headers.get(&step.before).into_iter().flatten();
        let is_message = of_message(step.before) || step.prompt;
        let fits = known
            .filter(|_| is_message)
            .filter_map(|header| Some((header, strip_suffix(&step.header, header)?)));
        match fits.max_by_key(|(header, _)| literal_len(header)) {
            Some((header, added)) => {
                step.header = header.clone();
                step.added = added;
            }
            None if !is_message => step.added = std::mem::take(&mut step.header),
            None => {}
        }
    }
    let mut steps = without_repetitions(steps, places);
    // Two turns without a header between are written as one.
    let headers: Vec<String> = steps
        .iter()
        .filter(|step| is_turn(step.before) && !is_turn(step.after) && step.after.is_some())
        .map(|step| text(&step.header))
        .collect();
    let is_headed = |step: &Connection| {
        let own = text(&step.header);
        let known = headers.iter().map(|header| header.trim());
        headers.is_empty()
            || headers.iter().any(|header| header.trim().is_empty())
            || known.clone().any(|header| own.contains(header))
    };
    steps.retain(|step| !(is_turn(step.after) && is_turn(step.before)) || is_headed(step));
    steps
}

/// The constant text of parts.
fn text(parts: &[ConnectionPart]) -> String {
    parts.iter().filter_map(ConnectionPart::text).collect()
}

/// The beginnings of turns, behind what they all begin with: the openers of reasoning and calls that stand before the first text of a
/// turn, with the header.
pub(super) fn openers(
    seen: &BTreeMap<Between, BTreeSet<usize>>,
    places: &[InputText],
) -> Vec<String> {
    let is_turn = |at: Option<usize>| {
        let holds = at.and_then(|at| places.get(at)).map(|place| place.holds);
        holds == Some(Holds::Turn)
    };
    let turns = seen
        .keys()
        .filter(|between| is_turn(between.before) && !is_turn(between.after));
    let texts: BTreeSet<String> = turns
        .filter_map(|between| between.parts.last().and_then(ConnectionPart::text))
        .map(str::to_owned)
        .collect();
    texts.into_iter().take(MAX_OPENERS).collect()
}

/// How many openers are kept.
const MAX_OPENERS: usize = 16;

/// The end of the message before, and the rest.
fn cut(
    between: &Between,
    seen: &BTreeMap<Between, BTreeSet<usize>>,
    known: &BTreeMap<usize, BTreeSet<Vec<ConnectionPart>>>,
    is_turn: bool,
) -> (Vec<ConnectionPart>, Vec<ConnectionPart>) {
    if between.before.is_none() && !between.prompt {
        return (between.parts.clone(), Vec::new());
    }
    if let Some(found) = cut_by_end(between, seen) {
        return found;
    }
    // Where nothing stands behind a text that is the last, nothing ends it.
    let mut ends = seen.keys().filter(|other| {
        other.after == between.after && !other.within && other.before.is_none() && !other.prompt
    });
    if !is_turn && ends.any(|end| end.parts.is_empty()) {
        return (Vec::new(), between.parts.clone());
    }
    let headers = between.before.and_then(|before| known.get(&before));
    let fits = headers
        .into_iter()
        .flatten()
        .filter_map(|header| Some((strip_suffix(&between.parts, header)?, header.clone())));
    if let Some(found) = fits.max_by_key(|(_, header)| literal_len(header)) {
        return found;
    }
    let same = seen
        .keys()
        .filter(|other| other.after == between.after && !other.within);
    let same: Vec<&Between> = same.collect();
    let begins = |other: &&&Between| {
        let first = |parts: &[ConnectionPart]| {
            parts
                .first()
                .and_then(ConnectionPart::text)
                .map(str::to_owned)
        };
        let (a, b) = (first(&between.parts), first(&other.parts));
        a.zip(b)
            .is_some_and(|(a, b)| crate::text::common_prefix(&a, &b) > 0)
    };
    let others = same
        .iter()
        .filter(|other| (other.before, other.prompt) != (between.before, between.prompt));
    let alike: Vec<&[ConnectionPart]> = std::iter::once(between.parts.as_slice())
        .chain(others.filter(begins).map(|other| other.parts.as_slice()))
        .collect();
    if alike.len() > 1 {
        let mut end = common_prefix(&alike);
        // Headers may begin alike: what they begin with is no end.
        without_header(&mut end, known.values().flatten());
        if let Some(rest) = strip_prefix(&between.parts, &end) {
            return (end, rest);
        }
    }
    (Vec::new(), between.parts.clone())
}

/// Takes from an end the text with which one of the headers begins.
fn without_header<'h>(
    end: &mut Vec<ConnectionPart>,
    headers: impl Iterator<Item = &'h Vec<ConnectionPart>>,
) {
    let Some(ConnectionPart::Text(text)) = end.last_mut() else {
        return;
    };
    let shared = headers.filter_map(|header| {
        let header = header.first()?.text()?;
        let starts = text.char_indices().map(|(at, _)| at);
        let mut begun = starts.filter(|at| header.starts_with(&text[*at..]));
        begun.next()
    });
    if let Some(at) = shared.min() {
        text.truncate(at);
        if text.is_empty() {
            end.pop();
        }
    }
}

/// The end of the message before, as it is where that is the last, and the rest.
fn cut_by_end(
    between: &Between,
    seen: &BTreeMap<Between, BTreeSet<usize>>,
) -> Option<(Vec<ConnectionPart>, Vec<ConnectionPart>)> {
    let ends = seen.keys().filter(|other| {
        other.after == between.after && !other.within && other.before.is_none() && !other.prompt
    });
    let fits = ends.filter_map(|end| {
        let rest = strip_prefix(&between.parts, &end.parts)?;
        (!end.parts.is_empty()).then(|| (end.parts.clone(), rest))
    });
    fits.max_by_key(|(end, _)| literal_len(end))
}

/// Leaves out steps that say nothing more than others. A turn may begin and end with anything, so that of several headers of a turn the
/// shortest are enough, and of several ends as well.
fn without_repetitions(steps: Vec<Connection>, places: &[InputText]) -> Vec<Connection> {
    let is_turn = |at: Option<usize>| {
        let holds = at.and_then(|at| places.get(at)).map(|place| place.holds);
        holds == Some(Holds::Turn)
    };
    let all = |step: &Connection| -> Vec<ConnectionPart> {
        let mut parts = Vec::new();
        for part in step.parts() {
            crate::conversation::format::append(&mut parts, part.clone());
        }
        parts
    };
    let whole: Vec<Vec<ConnectionPart>> = steps.iter().map(all).collect();
    let says = |at: usize, other: usize| {
        let (a, b) = (&steps[at], &steps[other]);
        let key = |step: &Connection| {
            (
                step.after,
                step.before,
                step.prompt,
                step.within,
                (step.moved, step.resumes),
            )
        };
        if key(a) != key(b) {
            return false;
        }
        if !b.settings.is_empty() && b.settings != a.settings {
            return false;
        }
        let (long, short) = (&whole[at], &whole[other]);
        if long == short {
            return other < at;
        }
        let begins = is_turn(a.before)
            && has_text(short)
            && strip_prefix(long, short).is_some_and(|rest| !rest.is_empty());
        let ends = is_turn(a.after)
            && has_text(short)
            && a.header == b.header
            && !b.end.is_empty()
            && strip_suffix(&a.end, &b.end).is_some();
        begins || ends
    };
    let kept: Vec<bool> = (0..steps.len())
        .map(|at| !(0..steps.len()).any(|other| other != at && says(at, other)))
        .collect();
    let steps = steps.into_iter().zip(kept);
    steps
        .filter(|(_, kept)| *kept)
        .map(|(step, _)| step)
        .collect()
}
