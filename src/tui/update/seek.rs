//! Moving through a parse.

use crate::check::{Difference, differences};
use crate::replay::{Arrival, Entry, EntryKind, Timeline};
use crate::tui::action::{Direction, Unit};
use crate::tui::layout::Pane;
use crate::tui::state::{State, Trigger};
use crate::tui::text::line;
use crate::value::{Value, json};

/// Responses longer than this are not parsed again in single characters; what is stepped over are then chunks.
const FINE_BYTES: usize = 8 << 20;

/// Goes one step.
pub(super) fn step(state: &mut State, unit: Unit, direction: Direction) {
    match unit {
        Unit::Chunk => chunk(state, direction),
        Unit::Character => character(state, direction),
        Unit::Event => event(state, direction),
        Unit::Region => entry(state, direction, "no more regions", |_, entry| {
            matches!(entry.kind, EntryKind::Close | EntryKind::Error)
        }),
        Unit::Error => to_error(state, direction),
        Unit::Field => match state.field {
            None => state.warn("no field was asked for yet: f asks for one"),
            Some(field) => entry(
                state,
                direction,
                "no more regions of that field",
                |timeline, entry| {
                    entry.kind == EntryKind::Open && timeline.entry_field(entry) == Some(field)
                },
            ),
        },
        Unit::Break => to_break(state, direction),
        Unit::Found => to_found(state, direction),
    }
}

pub(super) fn go_to_start(state: &mut State) {
    go(state, state.timeline().place(0), None);
}

pub(super) fn go_to_end(state: &mut State) {
    go(state, last(state), None);
}

pub(super) fn is_at_end(state: &State) -> bool {
    state.place == last(state)
}

fn last(state: &State) -> Arrival {
    let timeline = state.timeline();
    timeline.place(timeline.len() - 1)
}

/// Goes to a place, with an entry chosen.
fn go(state: &mut State, place: Arrival, entry: Option<usize>) {
    state.place = place;
    state.entry = entry;
    state.grown = None;
    state.scrolled = false;
    state.follows = state.sample().live && place == last(state);
    state.settle();
    state.refresh();
}

/// The parse in which places are looked for: the one in characters, unless that is too much.
fn fine(state: &mut State) -> &Timeline {
    if state.sample().response.len() > FINE_BYTES || state.sample().live {
        state.timeline()
    } else {
        state.fine()
    }
}

fn chunk(state: &mut State, direction: Direction) {
    let timeline = state.timeline();
    let step = match (timeline.step_at(state.place), direction) {
        (Ok(step), Direction::Forward) => (step + 1).min(timeline.len() - 1),
        (Ok(step), Direction::Back) => step.saturating_sub(1),
        (Err(before), Direction::Forward) => (before + 1).min(timeline.len() - 1),
        (Err(before), Direction::Back) => before,
    };
    let place = timeline.place(step);
    go(state, place, None);
}

fn character(state: &mut State, direction: Direction) {
    let place = state.place;
    let timeline = fine(state);
    let step = match (timeline.step_at(place), direction) {
        (Ok(step) | Err(step), Direction::Forward) => (step + 1).min(timeline.len() - 1),
        (Ok(step), Direction::Back) => step.saturating_sub(1),
        (Err(before), Direction::Back) => before,
    };
    let place = timeline.place(step);
    go(state, place, None);
}

fn event(state: &mut State, direction: Direction) {
    let chosen = state.chosen();
    let known = state.entry.is_some() || direction == Direction::Forward;
    let target = match (chosen, direction) {
        (None, Direction::Forward) => Some(0),
        (Some(chosen), Direction::Forward) => Some(chosen + 1),
        // From a place between two events back to the last one that has happened. One that is under way has not.
        (Some(chosen), Direction::Back) if !known && is_before(state, chosen) => Some(chosen),
        (Some(chosen), Direction::Back) => chosen.checked_sub(1),
        (None, Direction::Back) => None,
    };
    match target {
        Some(entry) => go_to_entry(state, entry),
        None => go_to_start(state),
    }
}

/// Returns true if the entry was complete before the place.
fn is_before(state: &mut State, entry: usize) -> bool {
    let place = state.place;
    place_of(fine(state), entry).is_some_and(|complete| complete < place)
}

fn place_of(timeline: &Timeline, entry: usize) -> Option<Arrival> {
    let entry = timeline.entries().get(entry)?;
    Some(timeline.place(entry.last))
}

/// Goes to where an entry is complete.
pub(super) fn go_to_entry(state: &mut State, entry: usize) {
    match place_of(fine(state), entry) {
        Some(place) => go(state, place, Some(entry)),
        None => go_to_end(state),
    }
}

/// Goes to where the next step of the message's growth is told, or the last one before.
pub(super) fn growth(state: &mut State, direction: Direction) {
    let (place, chosen) = (state.place, state.grown);
    let found = find_growth(fine(state), place, chosen, direction);
    match (found, direction) {
        (Some((index, place)), _) => {
            go(state, place, None);
            state.grown = Some(index);
        }
        (None, Direction::Forward) => go_to_end(state),
        (None, Direction::Back) => go_to_start(state),
    }
}

fn find_growth(
    timeline: &Timeline,
    place: Arrival,
    chosen: Option<usize>,
    direction: Direction,
) -> Option<(usize, Arrival)> {
    let mut places = timeline.told_places().enumerate();
    match (direction, chosen) {
        (Direction::Forward, Some(chosen)) => places.nth(chosen + 1),
        (Direction::Forward, None) => places.find(|(_, at)| *at > place),
        (Direction::Back, Some(chosen)) => places.nth(chosen.checked_sub(1)?),
        (Direction::Back, None) => places.take_while(|(_, at)| *at < place).last(),
    }
}

/// Goes to where a step of the message's growth is told whole.
pub(super) fn go_to_growth(state: &mut State, index: usize) {
    let place = fine(state).told_places().nth(index);
    if let Some(place) = place {
        go(state, place, None);
        state.grown = Some(index);
    }
}

/// Goes to the next entry of a kind.
fn entry(
    state: &mut State,
    direction: Direction,
    none: &str,
    holds: impl Fn(&Timeline, &Entry) -> bool,
) {
    match find_entry(state, direction, holds) {
        Some(entry) => go_to_entry(state, entry),
        None => state.tell(none),
    }
}

/// Goes to the next thing that went wrong. Where nothing did, and the message is still not the one that is expected, that is seen at the
/// end.
fn to_error(state: &mut State, direction: Direction) {
    let found = find_entry(state, direction, |timeline, entry| {
        use EntryKind::{Error, Failure, Unclaimed};
        matches!(entry.kind, Error | Failure | Unclaimed)
            || entry.kind == EntryKind::Close && timeline.regions()[entry.region].replaces.is_some()
    });
    match found {
        Some(entry) => go_to_entry(state, entry),
        None if direction == Direction::Forward && state.is_unexpected => {
            go_to_end(state);
            let text = state.sample().expected.as_ref().and_then(|expected| {
                let message = Value::Object(state.now().message());
                let found = differences(expected, &message);
                found.first().map(in_words)
            });
            state.warn(text.unwrap_or_else(|| "the message is not what is expected".to_owned()));
        }
        None => state.tell("no more errors"),
    }
}

/// How many columns of a value are told.
const SHOWN: usize = 24;

/// A difference of two messages, on a line.
fn in_words(difference: &Difference) -> String {
    let shown = |value: &Option<Value>| match value {
        Some(value) => line(&json::to_string(value), SHOWN),
        None => "nothing".to_owned(),
    };
    let Difference {
        path,
        expected,
        found,
    } = difference;
    let place = line(&path.to_string(), 2 * SHOWN);
    format!(
        "expected {}, found {}, at {place}",
        shown(expected),
        shown(found)
    )
}

fn find_entry(
    state: &mut State,
    direction: Direction,
    holds: impl Fn(&Timeline, &Entry) -> bool,
) -> Option<usize> {
    let chosen = state.chosen();
    let place = state.place;
    let timeline = fine(state);
    let entries = timeline.entries();
    let found = |index: &usize| holds(timeline, &entries[*index]);
    match direction {
        Direction::Forward => (chosen.map_or(0, |chosen| chosen + 1)..entries.len()).find(found),
        Direction::Back => (0..chosen.map_or(0, |chosen| chosen + 1))
            .rev()
            .filter(|index| place_of(timeline, *index).is_some_and(|at| at < place))
            .find(found),
    }
}

/// Goes to the next breakpoint; without one, to the end.
fn to_break(state: &mut State, direction: Direction) {
    if !state
        .breakpoints
        .iter()
        .any(|breakpoint| breakpoint.enabled)
    {
        state.warn("no breakpoint is set: b sets one");
        return;
    }
    match find_break(state, direction) {
        Some((place, entry)) => {
            go(state, place, entry);
            state.tell("stopped at a breakpoint");
        }
        None => match direction {
            Direction::Forward => go_to_end(state),
            Direction::Back => go_to_start(state),
        },
    }
}

/// Where the next breakpoint is, and the entry that set it off.
fn find_break(state: &mut State, direction: Direction) -> Option<(Arrival, Option<usize>)> {
    let breakpoints = state
        .breakpoints
        .iter()
        .filter(|breakpoint| breakpoint.enabled);
    let triggers: Vec<Trigger> = breakpoints
        .map(|breakpoint| breakpoint.at.clone())
        .collect();
    let entry = find_entry(state, direction, |timeline, entry| {
        triggers
            .iter()
            .any(|trigger| trigger.holds(timeline, entry))
    });
    let mut best = entry.and_then(|entry| Some((place_of(fine(state), entry)?, Some(entry))));
    for trigger in &triggers {
        if let Trigger::Text(text) = trigger
            && let Some(end) = find_text(state, text, direction)
        {
            let place = place_of_text(state, end);
            let is_better = best.is_none_or(|(other, _)| match direction {
                Direction::Forward => place < other,
                Direction::Back => place > other,
            });
            if is_better {
                best = Some((place, None));
            }
        }
    }
    best
}

/// The end of the next occurrence of a text that has not arrived, or of the last one that ended before the place.
fn find_text(state: &State, wanted: &str, direction: Direction) -> Option<usize> {
    if wanted.is_empty() {
        return None;
    }
    let now = state.now();
    let (text, fed) = (now.timeline.text(), now.fed());
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    match direction {
        Direction::Forward => {
            // An occurrence may have begun already.
            let from = boundary((fed + 1).saturating_sub(wanted.len()));
            text[from..].find(wanted).map(|at| from + at + wanted.len())
        }
        Direction::Back => {
            let until = fed.checked_sub(1)?;
            text[..boundary(until)]
                .rfind(wanted)
                .map(|at| at + wanted.len())
        }
    }
}

/// The place at which the text up to a byte of it has arrived.
fn place_of_text(state: &mut State, end: usize) -> Arrival {
    let timeline = fine(state);
    let place = Arrival {
        byte: end.saturating_sub(timeline.prefix()),
        over: false,
    };
    match timeline.step_at(place) {
        Ok(_) => place,
        Err(before) => timeline.place((before + 1).min(timeline.len() - 1)),
    }
}

/// Goes to where a byte of the text is the next to arrive.
pub(super) fn go_to_text(state: &mut State, byte: usize) {
    let place = place_of_text(state, byte);
    go(state, place, None);
}

fn to_found(state: &mut State, direction: Direction) {
    let wanted = state.search.clone();
    if wanted.is_empty() {
        state.warn("nothing was searched for yet: / searches");
        return;
    }
    match find_text(state, &wanted, direction) {
        Some(end) => go_to_text(state, end),
        None => state.tell(match direction {
            Direction::Forward => "not found further on",
            Direction::Back => "not found further back",
        }),
    }
}

/// Goes so many chunks on, but not over a breakpoint.
pub(super) fn play(state: &mut State, steps: usize) {
    let timeline = state.timeline();
    let from = match timeline.step_at(state.place) {
        Ok(step) | Err(step) => step,
    };
    let to = timeline.place(from.saturating_add(steps).min(timeline.len() - 1));
    let has_breakpoints = state
        .breakpoints
        .iter()
        .any(|breakpoint| breakpoint.enabled);
    let stop = if has_breakpoints {
        find_break(state, Direction::Forward)
    } else {
        None
    };
    match stop {
        Some((place, entry)) if place <= to => {
            go(state, place, entry);
            state.play.on = false;
            state.tell("stopped at a breakpoint");
        }
        _ => {
            go(state, to, None);
            if is_at_end(state) && !state.sample().live {
                state.play.on = false;
            }
        }
    }
}

/// Goes from the chosen marker to the next place in the response where it stands, or to the next response that has it.
pub(super) fn next_place_of_marker(state: &mut State) {
    let row = state.scroll(Pane::Derivation).row;
    let marker = state
        .derivation
        .as_ref()
        .and_then(|found| found.markers.get(row));
    let marker = marker.map(|marker| marker.text.trim().to_owned());
    let Some(marker) = marker.filter(|marker| !marker.is_empty()) else {
        state.tell("the marker is white space: it may stand anywhere");
        return;
    };
    if let Some(end) = find_text(state, &marker, Direction::Forward) {
        return go_to_text(state, end);
    }
    // On through the other samples, and around to the beginning of this one.
    let count = state.samples.len();
    let following = (1..count).map(|by| (state.sample + by) % count);
    let mut following = following.chain([state.sample]);
    let has_it = |index: &usize| state.samples[*index].response.contains(&marker);
    match following.find(has_it) {
        Some(sample) => {
            if sample != state.sample {
                state.show_sample(sample);
            }
            let first = state.timeline().text().find(&marker);
            if let Some(at) = first {
                go_to_text(state, at + marker.len());
            }
        }
        None => state.tell("the marker is in none of the responses: it stands in prompts"),
    }
}

/// Goes from the place in the response to the marker that stands there.
pub(super) fn evidence_of_place(state: &mut State) {
    let Some(derivation) = &state.derivation else {
        state.warn(
            "no derivation: start on a chat template, or with its report beside the template",
        );
        return;
    };
    let now = state.now();
    let text = now.timeline.text();
    // The delimiter that the parse has just read or is about to read.
    let near = [now.fed().saturating_sub(1), now.fed()];
    let delimiter = near
        .iter()
        .find_map(|byte| now.timeline.delimiter_at(*byte));
    let marker = delimiter.map(|(span, ..)| text[span.clone()].trim());
    let found = marker.and_then(|marker| {
        let known = derivation.markers.iter().enumerate();
        let alike = known.filter_map(|(row, evidence)| {
            let known = evidence.text.trim();
            let is_alike = marker.contains(known) || known.contains(marker);
            // The less the two differ in length, the nearer they are.
            let apart = marker.len().abs_diff(known.len());
            (!known.is_empty() && is_alike).then_some((apart, row))
        });
        alike.min().map(|(_, row)| row)
    });
    match found {
        Some(row) => {
            state.focus = Pane::Derivation;
            let scroll = state.scroll_mut(Pane::Derivation);
            scroll.row = row;
            scroll.top = 0;
        }
        None => state.tell("no marker stands at the cursor"),
    }
}
