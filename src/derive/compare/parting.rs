//! Two markers that stand together in one constant, told by where each of them stands elsewhere.

use std::collections::BTreeSet;

use super::text;
use crate::value::python;

/// The fewest characters that a constant has at which another one is cut, and that each part of the cut has. Characters are counted and not
/// bytes, since those of many scripts take several bytes each.
pub(super) const SHORTEST: usize = 3;

/// How many characters within the end of a text may differ from a mark if the end is to count as like it. For example, `</end>` differs
/// from `<end>` by one.
const MAX_UNLIKE: usize = 2;

/// How many constants are searched for two markers that stand together in one.
const MAX_PARTED: usize = 4096;

/// Cuts constants in which two markers stand together. A constant is cut where another of the `markers` begins or ends it, if that is one
/// of the `marks` or the rest is seen elsewhere, at the beginning or end of a third constant. It is also cut before an end that is like one
/// of the marks, since a closing marker often differs little from the opening one: `x</end>` is cut before `</end>` where `<end>` is a
/// mark.
pub(super) fn part(
    known: &mut BTreeSet<String>,
    mut markers: BTreeSet<String>,
    marks: BTreeSet<String>,
) {
    let mut left: Vec<String> = known.iter().cloned().collect();
    let mut steps = MAX_PARTED;
    while let Some(whole) = left.pop().filter(|_| steps > 0) {
        steps -= 1;
        let mut rests: BTreeSet<String> = markers
            .iter()
            .filter(|one| length(one) >= SHORTEST && **one != whole)
            .flat_map(|one| {
                let rests = [
                    whole.strip_prefix(one.as_str()),
                    whole.strip_suffix(one.as_str()),
                ];
                rests.into_iter().flatten().map(move |rest| (one, rest))
            })
            .flat_map(|(one, rest)| {
                let rest = rest.trim_matches(python::is_space);
                // The text beside it in a third constant is then a marker as well.
                let others = known.iter().filter(|other| **other != whole);
                let beside = others.filter_map(|other| {
                    let beside = other
                        .strip_prefix(rest)
                        .or_else(|| other.strip_suffix(rest))?;
                    Some(beside.trim_matches(python::is_space).to_owned())
                });
                let mut parts: Vec<String> = if length(rest) < SHORTEST {
                    Vec::new()
                } else {
                    beside.collect()
                };
                if !parts.is_empty() || (length(rest) >= SHORTEST && marks.contains(one)) {
                    parts.push(rest.to_owned());
                }
                parts.retain(|part| length(part) >= SHORTEST);
                parts
            })
            .collect();
        let alike = marks.iter().filter_map(|mark| ends_like(&whole, mark));
        for start in alike {
            rests.extend([whole[..start].trim_end(), &whole[start..]].map(str::to_owned));
        }
        rests.retain(|rest| !known.contains(rest));
        if !rests.is_empty() {
            // Only what begins or ends with something new may come apart now.
            let may_part = |one: &&String| {
                rests
                    .iter()
                    .any(|rest| one.starts_with(rest.as_str()) || one.ends_with(rest.as_str()))
            };
            left.extend(known.iter().filter(may_part).cloned());
            left.extend(rests.iter().cloned());
            markers.extend(rests.iter().cloned());
            known.extend(rests);
        }
    }
}

/// Returns the byte at which an end of the text begins that is like the mark but for a few characters within it: 1 for `x</end>` and the
/// mark `<end>`. `None` where no text stands before that end.
fn ends_like(text: &str, mark: &str) -> Option<usize> {
    let tail = text::common_suffix(text, mark);
    if length(&text[text.len() - tail..]) < SHORTEST || tail >= mark.len() {
        return None;
    }
    let (before, within) = (&text[..text.len() - tail], &mark[..mark.len() - tail]);
    let starts = before.char_indices().map(|(at, _)| at).rev();
    starts
        .take(MAX_UNLIKE + 1)
        .filter(|start| *start > 0)
        .find(|start| {
            let head = text::common_prefix(&text[*start..], mark).min(within.len());
            let own = &before[*start..];
            let unlike = length(&within[head..]).max(length(own.get(head..).unwrap_or_default()));
            head > 0 && unlike <= MAX_UNLIKE
        })
}

/// How many characters a text has.
pub(super) fn length(text: &str) -> usize {
    text.chars().count()
}
