//! One render taken apart by the origins of its characters: which stretches are places, which vary otherwise, which are constant.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use crate::chat_template::{InputPath, InputStep, Origin, Run, Traced};
use crate::conversation::format::{ConnectionPart, Encoding, Holds, Hole};
use crate::conversation::render::{Renderer, Talk};
use crate::value::{Value, json, python};

/// A place, however it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Spot {
    pub(super) holds: Holds,
    pub(super) role: Option<String>,
    pub(super) key: Option<String>,
}

/// A stretch of a render.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) range: Range<usize>,
    pub(super) what: What,
}

#[derive(Debug, Clone)]
pub(super) enum What {
    /// A place of a message or of tools, and the ways in which it can be written, as far as this render tells.
    InputText {
        spot: Spot,
        message: Option<usize>,
        written: BTreeSet<Encoding>,
    },
    /// A text that varies with the input, and is no place.
    Hole(ConnectionPart),
    /// A text that an expression of the chat template computes from no input; its place in the source tells it from others.
    Computed((usize, usize)),
}

/// A class of runs, by their origin.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Class {
    Constant,
    Computed((usize, usize)),
    Turn(usize, InputPath),
    Text(usize, String),
    Tools,
    Kwarg(String),
    Repeated,
}

/// The pieces of a render, in order and without overlap; what lies between is constant.
pub(super) fn pieces(traced: &Traced, talk: &Talk, renderer: &Renderer<'_>) -> Vec<Piece> {
    let mut runs: Vec<(Range<usize>, Class)> = traced
        .runs
        .iter()
        .map(|run| (run.start..run.end, class(run, talk)))
        .collect();
    mark_repeated(&mut runs, talk, renderer);
    let mut pieces = Vec::new();
    pieces.extend(turns(&runs, talk));
    pieces.extend(texts(&traced.text, &runs, talk));
    pieces.extend(definitions(&traced.text, &runs, &talk.tools));
    for (range, class) in &runs {
        let what = match class {
            Class::Computed(place) => What::Computed(*place),
            Class::Kwarg(name) => What::Hole(ConnectionPart::kwarg(name)),
            Class::Repeated => What::Hole(ConnectionPart::hole(Hole::Repeated)),
            _ => continue,
        };
        pieces.push(Piece {
            range: range.clone(),
            what,
        });
    }
    // Pieces are sorted by their start, the longer one first, so that a piece within another follows it and is dropped.
    pieces.sort_by_key(|piece| (piece.range.start, usize::MAX - piece.range.end));
    let mut end = 0;
    pieces.retain(|piece| {
        let is_free = piece.range.start >= end && !piece.range.is_empty();
        if is_free {
            end = piece.range.end;
        }
        is_free
    });
    pieces
}

fn class(run: &Run, talk: &Talk) -> Class {
    let path = match &run.origin {
        Origin::Source {
            start,
            end,
            from: (0, 0),
            derived: true,
        } => return Class::Computed((*start, *end)),
        Origin::Source { .. } => return Class::Constant,
        Origin::Input { path, .. } => path,
    };
    let variable = |step: Option<&InputStep>| match step {
        Some(InputStep::Key(key)) => key.clone(),
        _ => String::new(),
    };
    let first = variable(path.first());
    match (first.as_str(), path.get(1)) {
        ("messages", Some(InputStep::Index(index))) => {
            let key = variable(path.get(2));
            let role = role_of(talk, *index);
            match (role, key.as_str()) {
                (_, "role") => Class::Constant,
                ("assistant", _) => Class::Turn(*index, path.clone()),
                (_, "") => Class::Repeated,
                (_, key) => Class::Text(*index, key.to_owned()),
            }
        }
        ("messages", _) => Class::Repeated,
        // Of no tools nothing can be shown but that there are none.
        ("tools", _) if talk.tools.is_empty() => Class::Constant,
        ("tools", _) => Class::Tools,
        (name, _) if talk.kwargs.contains_key(name) => Class::Kwarg(name.to_owned()),
        _ => Class::Constant,
    }
}

fn role_of(talk: &Talk, index: usize) -> &str {
    let message = talk.messages.get(index);
    let role = message.and_then(|message| message.get("role"));
    role.and_then(Value::as_str).unwrap_or_default()
}

/// Marks what is written of a turn outside of it: behind the beginning of another message, or more often than where the turn is last.
fn mark_repeated(runs: &mut [(Range<usize>, Class)], talk: &Talk, renderer: &Renderer<'_>) {
    // Messages may be written in another order than they stand in, but each at one place.
    let mut current = None;
    let mut closed: BTreeSet<usize> = BTreeSet::new();
    let mut written: BTreeSet<InputPath> = BTreeSet::new();
    for (_, class) in runs.iter_mut() {
        let (Class::Turn(index, _) | Class::Text(index, _)) = &*class else {
            continue;
        };
        if let Class::Turn(_, path) = &*class {
            if closed.contains(index) {
                // A text that was not written before is the rest of the turn, which goes on behind other messages.
                *class = match path.as_ref() {
                    [_, _, InputStep::Key(key)] if !written.contains(path) => {
                        Class::Text(*index, key.clone())
                    }
                    _ => Class::Repeated,
                };
                continue;
            }
            written.insert(path.clone());
        }
        if current != Some(*index) {
            closed.extend(current);
            current = Some(*index);
        }
    }
    let mut counts: BTreeMap<usize, HashMap<InputPath, usize>> = BTreeMap::new();
    for (_, class) in runs.iter() {
        if let Class::Turn(index, path) = class {
            *counts
                .entry(*index)
                .or_default()
                .entry(path.clone())
                .or_default() += 1;
        }
    }
    for (index, counts) in counts {
        let is_followed = role_of(talk, index + 1) == "tool";
        if !is_followed || counts.values().all(|count| *count == 1) {
            continue;
        }
        let alone = Talk {
            messages: talk.messages[..=index].to_vec(),
            prompt: false,
            ..talk.clone()
        };
        let Ok(alone) = renderer.traced(&alone) else {
            continue;
        };
        let mut most: HashMap<InputPath, usize> = HashMap::new();
        for run in &alone.runs {
            if let Class::Turn(of, path) = class(run, talk)
                && of == index
            {
                *most.entry(path).or_default() += 1;
            }
        }
        for (_, class) in runs.iter_mut() {
            if let Class::Turn(of, path) = class
                && *of == index
            {
                match most.get_mut(path) {
                    Some(0) => *class = Class::Repeated,
                    Some(left) => *left -= 1,
                    // A text that the turn alone does not show may well be its own: a chat template may shorten the last turn.
                    None => {}
                }
            }
        }
    }
}

/// The assistant's turns: from the first to the last character of each.
fn turns(runs: &[(Range<usize>, Class)], talk: &Talk) -> Vec<Piece> {
    let mut found: BTreeMap<usize, Range<usize>> = BTreeMap::new();
    for (range, class) in runs {
        if let Class::Turn(index, _) = class {
            let turn = found.entry(*index).or_insert_with(|| range.clone());
            turn.end = turn.end.max(range.end);
        }
    }
    let turns = found.into_iter().map(|(message, range)| Piece {
        range,
        what: What::InputText {
            spot: Spot {
                holds: Holds::Turn,
                role: Some(role_of(talk, message).to_owned()),
                key: None,
            },
            message: Some(message),
            written: BTreeSet::from([Encoding::AsIs]),
        },
    });
    turns.collect()
}

/// The texts of other messages.
fn texts(text: &str, runs: &[(Range<usize>, Class)], talk: &Talk) -> Vec<Piece> {
    let mut groups: Vec<(Range<usize>, usize, &str)> = Vec::new();
    for (range, class) in runs {
        let Class::Text(index, key) = class else {
            continue;
        };
        match groups.last_mut() {
            Some((last, of, under)) if last.end == range.start && of == index && under == key => {
                last.end = range.end;
            }
            _ => groups.push((range.clone(), *index, key)),
        }
    }
    let mut seen: BTreeSet<(usize, &str)> = BTreeSet::new();
    let longest = |index: usize, key: &str| {
        let same = groups
            .iter()
            .filter(|(_, of, under)| *of == index && *under == key);
        same.map(|(range, ..)| range.len()).max().unwrap_or(0)
    };
    let mut pieces = Vec::new();
    for (range, index, key) in &groups {
        let value = talk.messages[*index].get(key);
        let encodings = encodings(&text[range.clone()], value);
        let is_place = !encodings.is_empty() || range.len() == longest(*index, key);
        let what = if is_place && seen.insert((*index, key)) {
            What::InputText {
                spot: Spot {
                    holds: Holds::Text,
                    role: Some(role_of(talk, *index).to_owned()),
                    key: Some((*key).to_owned()),
                },
                message: Some(*index),
                written: encodings,
            }
        } else {
            What::Hole(ConnectionPart::hole(Hole::Repeated))
        };
        pieces.push(Piece {
            range: range.clone(),
            what,
        });
    }
    pieces
}

/// The ways in which a text may have been written to look so.
pub(super) fn encodings(seen: &str, value: Option<&Value>) -> BTreeSet<Encoding> {
    let Some(text) = value.and_then(Value::as_str) else {
        return BTreeSet::new();
    };
    let stripped = python::strip(text);
    let mut encodings = BTreeSet::new();
    for text in [text, stripped] {
        let quoted = json::to_string(&Value::from(text));
        let spelled = json::parse(seen).ok();
        if seen == text && text.len() == stripped.len() {
            encodings.extend([Encoding::AsIs, Encoding::Trimmed]);
        } else if seen == text {
            encodings.insert(if text == stripped {
                Encoding::Trimmed
            } else {
                Encoding::AsIs
            });
        }
        if spelled.as_ref().and_then(Value::as_str) == Some(text) {
            encodings.insert(Encoding::Json);
        }
        if quoted.get(1..quoted.len() - 1) == Some(seen) {
            encodings.insert(Encoding::Escaped);
        }
    }
    let ends = [stripped, text.trim_start(), text.trim_end()];
    if ends.contains(&seen) {
        encodings.insert(Encoding::Trimmed);
    }
    encodings
}

/// Definitions of tools: those that are JSON are places, the others are kept as text.
fn definitions(text: &str, runs: &[(Range<usize>, Class)], tools: &[Value]) -> Vec<Piece> {
    let ranges: Vec<Range<usize>> = runs
        .iter()
        .filter(|(_, class)| *class == Class::Tools)
        .map(|(range, _)| range.clone())
        .collect();
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else {
        return Vec::new();
    };
    let mut pieces: Vec<Piece> = Vec::new();
    let from = (0..=first.start)
        .rev()
        .take(MAX_WRAPPED)
        .filter(|at| text.is_char_boundary(*at))
        .last()
        .unwrap_or(first.start);
    let mut next = 0;
    let mut at = from;
    while at < last.end {
        let opens = |c: char| matches!(c, '{' | '[');
        let Some(found) = text[at..last.end].find(opens) else {
            break;
        };
        at += found;
        let spelled = json::parse_prefix(&text[at..]).ok();
        let place = spelled.and_then(|(value, len)| {
            let (holds, written, count) = definition(&value, tools, next)?;
            Some((holds, written, count, len))
        });
        let Some((holds, written, count, len)) = place else {
            at += 1;
            continue;
        };
        next += count;
        pieces.push(Piece {
            range: at..at + len,
            what: What::InputText {
                spot: Spot {
                    holds,
                    role: None,
                    key: None,
                },
                message: None,
                written: BTreeSet::from([written]),
            },
        });
        at += len;
    }
    // The rest stays text, from the first to the last of each stretch without a place.
    let mut open: Option<Range<usize>> = None;
    let mut holes = Vec::new();
    for range in ranges {
        let holding = pieces
            .iter()
            .find(|piece| piece.range.start < range.end && range.start < piece.range.end);
        match (&mut open, holding) {
            (_, Some(_)) => holes.extend(open.take()),
            (Some(open), None) => open.end = range.end,
            (None, None) => open = Some(range),
        }
    }
    holes.extend(open);
    pieces.extend(holes.into_iter().map(|range| Piece {
        range,
        what: What::Hole(ConnectionPart::hole(Hole::Definitions)),
    }));
    pieces
}

/// How many bytes of JSON that a chat template writes itself may stand before the first that comes from a tool.
const MAX_WRAPPED: usize = 200;

/// Tells what a JSON value is: the next tool, its function, or all tools or functions; and how many tools that are.
fn definition(value: &Value, tools: &[Value], next: usize) -> Option<(Holds, Encoding, usize)> {
    let function = |tool: &Value| tool.get("function").cloned().unwrap_or_default();
    let tool = tools.get(next)?;
    if value == tool {
        return Some((Holds::Definition, Encoding::Json, 1));
    }
    if *value == function(tool) {
        return Some((Holds::Definition, Encoding::JsonFunction, 1));
    }
    let items = value.as_array().filter(|_| next == 0)?;
    if items == tools {
        return Some((Holds::Definitions, Encoding::Json, tools.len()));
    }
    let functions = tools.iter().map(function);
    items.iter().cloned().eq(functions).then_some((
        Holds::Definitions,
        Encoding::JsonFunction,
        tools.len(),
    ))
}
