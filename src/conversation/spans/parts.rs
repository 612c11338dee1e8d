//! The parts of a message, by the inputs that their characters come from.

use std::ops::Range;

use super::Part;
use super::owners::Owners;
use crate::chat_template::{
    InputPath, InputStep, Layout, Origin, REASONING_KEYS, Traced, message_of,
};

type PartAt = (Part, Option<usize>, Range<usize>);

/// The parts of a message, in order; `begun` is where the model begins to write, where it does.
pub(super) fn of(
    traced: &Traced,
    layout: &Layout,
    owners: &Owners,
    message: usize,
    begun: Option<usize>,
) -> Vec<PartAt> {
    let Some(whole) = owners.range(message) else {
        return Vec::new();
    };
    let mut found: Vec<PartAt> = Vec::new();
    for own in owners.stretches(message) {
        let first = traced.runs.partition_point(|run| run.end <= own.start);
        for run in &traced.runs[first..] {
            if run.start >= own.end {
                break;
            }
            let Origin::Input { path, .. } = &run.origin else {
                continue;
            };
            if message_of(path) != Some(message) {
                continue;
            }
            let Some((part, call)) = part_of(path) else {
                continue;
            };
            let range = run.start.max(own.start)..run.end.min(own.end);
            match found.last_mut() {
                // A text that is derived or escaped comes in several runs; whatever stands between the texts of a call belongs to the call.
                Some((last, last_call, known))
                    if (*last, *last_call) == (part, call)
                        && (known.end == range.start || part == Part::Call) =>
                {
                    known.end = range.end;
                }
                _ => found.push((part, call, range)),
            }
        }
    }
    widen_calls(&mut found, layout, message);
    if let Some(begun) = begun {
        for (_, _, range) in &mut found {
            range.start = range.start.max(begun);
        }
        found.retain(|(_, _, range)| range.start < range.end);
    }
    let start = found.first().map_or(whole.end, |first| first.2.start);
    let end = found.last().map_or(whole.start, |last| last.2.end);
    let header = whole.start..begun.unwrap_or(start);
    let end = end.max(header.end)..whole.end;
    if !header.is_empty() {
        found.insert(0, (Part::Header, None, header));
    }
    if !end.is_empty() {
        found.push((Part::End, None, end));
    }
    found
}

/// The part that the text at a path belongs to.
pub(super) fn part_of(path: &InputPath) -> Option<(Part, Option<usize>)> {
    let InputStep::Key(key) = path.get(2)? else {
        return None;
    };
    let is_reasoning = |step: &InputStep| matches!(step, InputStep::Key(key) if REASONING_KEYS.contains(&key.as_str()));
    match (key.as_str(), path.get(3)) {
        ("tool_calls", Some(InputStep::Index(index))) => Some((Part::Call, Some(*index))),
        ("content", _) if path.last().is_some_and(is_reasoning) => Some((Part::Reasoning, None)),
        ("content", _) => Some((Part::Content, None)),
        _ if is_reasoning(&path[2]) => Some((Part::Reasoning, None)),
        _ => None,
    }
}

/// To a call belongs all that a loop over the calls writes while it is at that call, but for other parts.
fn widen_calls(found: &mut [PartAt], layout: &Layout, message: usize) {
    for at in 0..found.len() {
        let (Part::Call, Some(call), _) = found[at] else {
            continue;
        };
        let is_its = |path: &InputPath| {
            message_of(path) == Some(message)
                && matches!(&path[2..], [InputStep::Key(key), InputStep::Index(index)] if key == "tool_calls" && *index == call)
        };
        let own = &found[at].2;
        let turns = layout.turns.iter().filter(|turn| {
            turn.start <= own.start && own.end <= turn.end && turn.items.first().is_some_and(is_its)
        });
        let Some((start, end)) = turns.map(|turn| (turn.start, turn.end)).next() else {
            continue;
        };
        let after = at.checked_sub(1).map_or(start, |last| found[last].2.end);
        let before = found.get(at + 1).map_or(end, |next| next.2.start);
        found[at].2 = start.max(after)..end.min(before.max(found[at].2.end));
    }
}
