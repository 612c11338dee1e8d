//! Drafts: the conversation that one way through a text stands for. A draft has the messages, the other messages that each of them could be,
//! and the range of the text that each of them and each of its parts takes.

use std::ops::Range;

use super::chart::Link;
use super::{Added, Conversation, ReadSpan, Reader, date, definition, ids, turn};
use crate::chat_template::Clock;
use crate::conversation::format::{Connection, ConnectionPart, Encoding, Holds, Hole, InputText};
use crate::conversation::render::{CALLS, object};
use crate::value::{Map, Value, json};

/// A reading of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub(super) turns: Vec<Unit>,
    pub(super) tools: Vec<Value>,
    pub(super) added: Vec<Added>,
    pub(super) spans: Vec<ReadSpan>,
    pub(super) prompt: bool,
    /// The settings that steps were seen under, for each step that was seen under some alone.
    pub(super) settings: Vec<Vec<usize>>,
    /// The texts of variables that are printed.
    pub(super) kwargs: Map,
    pub(super) clock: Option<Clock>,
    /// Where definitions of tools stand that were kept as text, and the constant behind them.
    kept: Option<(Range<usize>, String)>,
}

/// A message of a reading.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// Where it stands, its header and end included.
    pub(super) range: Range<usize>,
    /// The messages that it may be, the likeliest first.
    pub(super) readings: Vec<Map>,
    /// Which of them is taken.
    pub(super) taken: usize,
    /// True if it stands before all others.
    pub(super) moved: bool,
    /// True if it is a part of the message before it.
    pub(super) joins: bool,
    /// True for all that an assistant writes at once.
    is_turn: bool,
    /// Texts of it that stand behind messages within it.
    rest: Map,
    /// The text that it was read from.
    pub(super) written: String,
    /// The ranges of the header, the text and the end of a turn that a response template reads, until other readings of the turn were
    /// looked for.
    turn: Option<[Range<usize>; 3]>,
}

impl Draft {
    /// Makes messages of a way through a text. A way that does not reach the end gives what was read whole.
    pub(super) fn new(reader: &Reader<'_>, text: &str, links: &[Link]) -> Self {
        let format = &reader.format;
        let mut draft = Self::default();
        let mut bodies: Vec<(usize, usize, Range<usize>)> = Vec::new();
        for (at, link) in links.iter().enumerate() {
            let step = &format.steps[link.step];
            draft.take_parts(reader, text, link, step);
            let next = links.get(at + 1);
            let Some((place, next)) = step.before.map(|at| &format.places[at]).zip(next) else {
                continue;
            };
            let range = link.end..next.at;
            match place.holds {
                Holds::Definition | Holds::Definitions => draft.define(place, &text[range]),
                Holds::Text | Holds::Turn | Holds::Nothing => {
                    draft.take_place(place, text, link, step, next, &format.steps[next.step]);
                    if place.holds == Holds::Turn {
                        bodies.push((draft.turns.len() - 1, at, range));
                    }
                }
            }
        }
        for (unit, at, body) in bodies {
            let next = &links[at + 1];
            let end = end_of(next, &format.steps[next.step]);
            let before = &text[links[at].at..body.start];
            draft.turns[unit].written = text[links[at].at..end].to_owned();
            draft.turns[unit].turn = Some([links[at].at..body.start, body.clone(), next.at..end]);
            draft.turns[unit].readings = turn::readings(
                reader,
                before,
                &text[body],
                &text[next.at..end],
                &draft.tools,
            );
        }
        draft
    }

    fn take_parts(&mut self, reader: &Reader<'_>, text: &str, link: &Link, step: &Connection) {
        if link.ranges.len() < step.parts().count() {
            // No more than the end of the message before it fits.
            return;
        }
        if !step.settings.is_empty() {
            self.settings.push(step.settings.clone());
        }
        self.prompt |= step.prompt;
        let added = step.end.len()..step.end.len() + step.added.len();
        // Definitions of tools are no part of what is added around them.
        let mut stretch: Option<Range<usize>> = None;
        let mut stretches = Vec::new();
        for (part, range) in step.added.iter().zip(&link.ranges[added]) {
            if part.is_definitions() {
                stretches.extend(stretch.take());
            } else {
                let start = stretch.map_or(range.start, |stretch| stretch.start);
                stretch = Some(start..range.end);
            }
        }
        stretches.extend(stretch);
        self.added.extend(stretches.into_iter().map(|range| Added {
            start: range.start,
            end: range.end,
            text: text[range].to_owned(),
        }));
        for (part, range) in step.parts().zip(&link.ranges) {
            let ConnectionPart::Hole { any, name } = part else {
                continue;
            };
            let shown = &text[range.clone()];
            match any {
                Hole::Date => {
                    self.clock = self
                        .clock
                        .or_else(|| date::parse(shown, &reader.format.dates));
                }
                Hole::Kwarg => {
                    let name = name.clone().unwrap_or_default();
                    self.kwargs.insert(name, Value::from(shown));
                }
                Hole::Definitions => {
                    let layout = reader.format.definitions.as_ref();
                    let read = layout.and_then(|one| definition::read(one, text, range.start));
                    if let Some((tools, _)) = read.filter(|_| self.kept.is_none()) {
                        if self.tools.is_empty() {
                            self.tools = tools;
                        }
                        continue;
                    }
                    let start = self
                        .kept
                        .as_ref()
                        .map_or(range.start, |(kept, _)| kept.start);
                    let all: Vec<&ConnectionPart> = step.parts().collect();
                    let at = all.iter().position(|one| std::ptr::eq(*one, part));
                    let behind = at.and_then(|at| all.get(at + 1)?.text());
                    self.kept = Some((start..range.end, behind.unwrap_or_default().to_owned()));
                    self.added.push(Added {
                        start: range.start,
                        end: range.end,
                        text: shown.to_owned(),
                    });
                }
                Hole::Repeated => {}
            }
        }
    }

    fn define(&mut self, place: &InputText, text: &str) {
        let Ok(value) = json::parse(text) else { return };
        let values = match value {
            Value::Array(items) if place.holds == Holds::Definitions => items,
            value => vec![value],
        };
        let whole = |value: Value| match place.written {
            Encoding::JsonFunction => {
                object([("type", Value::from("function")), ("function", value)])
            }
            _ => value,
        };
        self.tools.extend(values.into_iter().map(whole));
    }

    fn take_place(
        &mut self,
        place: &InputText,
        text: &str,
        link: &Link,
        step: &Connection,
        next: &Link,
        next_step: &Connection,
    ) {
        let role = place.role.as_deref().unwrap_or_default();
        let end = end_of(next, next_step);
        let header = step.end.len() + step.added.len();
        let start = link
            .ranges
            .get(header)
            .map_or(link.end, |range| range.start);
        if step.resumes
            && let Some(unit) = self.turns.iter_mut().rev().find(|unit| unit.is_turn)
            && let Some(key) = &place.key
        {
            let written = &text[link.end..next.at];
            let said = spelled(written, place.written);
            unit.rest.insert(key.as_str(), Value::from(said));
            return;
        }
        if !step.within || self.turns.is_empty() {
            let mut message = Map::new();
            message.insert("role", Value::from(role));
            if place.holds == Holds::Nothing {
                message.insert("content", Value::from(""));
            }
            self.turns.push(Unit {
                range: start..end,
                readings: vec![message],
                taken: 0,
                moved: step.moved,
                joins: false,
                is_turn: place.holds == Holds::Turn,
                rest: Map::new(),
                written: String::new(),
                turn: None,
            });
        }
        let message = self.turns.len() - 1;
        let mut span = |part: &str, range: Range<usize>| {
            if !range.is_empty() {
                self.spans.push(ReadSpan {
                    message,
                    role: role.to_owned(),
                    part: part.to_owned(),
                    start: range.start,
                    end: range.end,
                });
            }
        };
        span("header", start..link.end);
        span(place.key.as_deref().unwrap_or("turn"), link.end..next.at);
        span("end", next.at..end);
        let unit = &mut self.turns[message];
        unit.range.end = end;
        if let (Some(key), Some(reading)) = (&place.key, unit.readings.first_mut()) {
            let written = &text[link.end..next.at];
            reading.insert(key.as_str(), Value::from(spelled(written, place.written)));
        }
    }

    /// Adds readings of a turn that have more of the space around its texts.
    pub(super) fn space(&mut self, at: usize) {
        self.add(at, |unit, taken| turn::spaced(taken, &unit.written));
    }

    /// Adds readings of a turn in which arguments have other types.
    pub(super) fn type_arguments(&mut self, at: usize) {
        self.add(at, |_, taken| turn::typed(taken));
    }

    fn add(&mut self, at: usize, others: impl Fn(&Unit, &Map) -> Vec<Map>) {
        let Some(unit) = self.turns.get_mut(at) else {
            return;
        };
        let Some(taken) = unit.readings.get(unit.taken) else {
            return;
        };
        for other in others(unit, taken) {
            if !unit.readings.contains(&other) {
                unit.readings.push(other);
            }
        }
    }

    /// Adds readings of a turn in which its texts speak of delimiters.
    pub(super) fn speak(&mut self, reader: &Reader<'_>, text: &str, at: usize) {
        let Some(unit) = self.turns.get_mut(at) else {
            return;
        };
        let Some([before, body, end]) = unit.turn.take() else {
            return;
        };
        for other in turn::spoken(reader, &text[before], &text[body], &text[end], &self.tools) {
            if !unit.readings.contains(&other) {
                unit.readings.push(other);
            }
        }
    }

    /// Where messages stand whose texts hold what else begins and ends messages.
    pub(super) fn hiding(&self, reader: &Reader<'_>) -> Vec<Range<usize>> {
        let hides = |unit: &&Unit| {
            let taken = unit.readings.get(unit.taken);
            // A key of the rest goes before the same key of the reading.
            let read = taken.into_iter().flat_map(Map::iter);
            let read = read.filter(|(key, _)| !unit.rest.contains_key(key));
            let all = read.chain(unit.rest.iter()).map(|(_, value)| value);
            reader.markers.hidden_in(all) > 0
        };
        let hiding = self.turns.iter().filter(hides);
        hiding.map(|unit| unit.range.clone()).collect()
    }

    /// The turns that may be a part of the message before them, near a byte: those that stand behind a turn.
    pub(super) fn joinable(&self, at: usize) -> Vec<usize> {
        let pairs = self.turns.windows(2).enumerate();
        let both = pairs.filter(|(_, pair)| {
            let near = pair[0].range.start <= at && at <= pair[1].range.end;
            near && pair.iter().all(|unit| unit.is_turn)
        });
        both.map(|(before, _)| before + 1).collect()
    }

    /// Takes readings of turns that another reading of the text was right in.
    pub(super) fn choose(&mut self, chosen: &[((usize, usize), Map)]) {
        for unit in &mut self.turns {
            let place = (unit.range.start, unit.range.end);
            let Some((_, reading)) = chosen.iter().find(|(at, _)| *at == place) else {
                continue;
            };
            if unit.written.is_empty() {
                continue;
            }
            let known = unit.readings.iter().position(|one| one == reading);
            unit.taken = known.unwrap_or_else(|| {
                unit.readings.push(reading.clone());
                unit.readings.len() - 1
            });
        }
    }

    /// The readings that are taken of turns that end before a byte, if they are not the first; and where these stand.
    pub(super) fn chosen(&self, until: usize) -> Vec<((usize, usize), Map)> {
        let others = self
            .turns
            .iter()
            .filter(|unit| unit.taken > 0 && unit.range.end <= until);
        let readings = others.filter_map(|unit| {
            let reading = unit.readings.get(unit.taken)?;
            Some(((unit.range.start, unit.range.end), reading.clone()))
        });
        readings.collect()
    }

    /// Where definitions of tools stand that were kept as text, and the constant behind them; `None` where they are written as JSON
    /// as well.
    pub(super) fn kept(&self) -> Option<&(Range<usize>, String)> {
        self.kept.as_ref().filter(|_| self.tools.is_empty())
    }

    /// The messages as they were taken.
    pub(super) fn messages(&self) -> Vec<Value> {
        let (moved, others): (Vec<&Unit>, Vec<&Unit>) =
            self.turns.iter().partition(|unit| unit.moved);
        let all = moved.into_iter().chain(others);
        let mut messages: Vec<Value> = Vec::new();
        for unit in all {
            let Some(mut message) = unit.readings.get(unit.taken).cloned() else {
                continue;
            };
            message.extend(unit.rest.clone());
            match messages.last_mut() {
                Some(Value::Object(before)) if unit.joins => {
                    message.retain(|key, said| &**key != "role" && said.is_truthy());
                    before.extend(message);
                }
                _ => messages.push(Value::Object(message)),
            }
        }
        messages
    }

    /// The conversation as it was taken.
    pub(super) fn conversation(mut self, messages: Vec<Value>, kwargs: Map) -> Conversation {
        // Spans name messages by where they are written until here.
        let moved: Vec<bool> = self.turns.iter().map(|unit| unit.moved).collect();
        let count = moved.iter().filter(|moved| **moved).count();
        for span in &mut self.spans {
            let same = moved[..span.message]
                .iter()
                .filter(|one| **one == moved[span.message]);
            let rank = same.count();
            span.message = if moved[span.message] {
                rank
            } else {
                count + rank
            };
        }
        Conversation {
            messages,
            add_generation_prompt: self.prompt,
            kwargs,
            date: self.clock.map(|clock| clock.to_string()),
            exact: None,
            tools: self.tools,
            added: self.added,
            spans: self.spans,
        }
    }
}

/// Where the end of the message before a step ends.
fn end_of(link: &Link, step: &Connection) -> usize {
    match step.end.len() {
        0 => link.at,
        count => link.ranges[count - 1].end,
    }
}

/// Returns the text for which `written` stands in this encoding.
fn spelled(written: &str, encoding: Encoding) -> String {
    let parsed = match encoding {
        Encoding::Json => json::parse(written).ok(),
        Encoding::Escaped => json::parse(&format!("\"{written}\"")).ok(),
        _ => None,
    };
    match parsed {
        Some(Value::String(text)) => text,
        _ => written.to_owned(),
    }
}

/// Returns the messages with names and ids for the results and calls that lack them: a result gets those of its call, and a call those of
/// its result.
pub(crate) fn completed(messages: &[Value]) -> Vec<Value> {
    let mut all = messages.to_vec();
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let mut made = 0;
    for at in 0..all.len() {
        let results = all[at + 1..]
            .iter()
            .take_while(|message| text(message.get("role")).as_deref() == Some("tool"))
            .map(|result| text(result.get("tool_call_id")));
        let results: Vec<Option<String>> = results.collect();
        let mut called: Vec<(Option<String>, String)> = Vec::new();
        if let Value::Object(message) = &mut all[at]
            && let Some(Value::Array(calls)) = message.get_mut(CALLS)
        {
            for (index, call) in calls.iter_mut().enumerate() {
                let Value::Object(call) = call else { continue };
                let id = text(call.get("id"))
                    .or_else(|| results.get(index).cloned().flatten())
                    .unwrap_or_else(|| {
                        made += 1;
                        ids::made(made)
                    });
                if call.get("id").is_none() {
                    let place = call.get_index_of("function").unwrap_or(0);
                    call.shift_insert(place, "id", Value::from(id.as_str()));
                }
                let function = call.get("function");
                called.push((text(function.and_then(|one| one.get("name"))), id));
            }
        }
        let answers = all[at + 1..]
            .iter_mut()
            .take_while(|message| text(message.get("role")).as_deref() == Some("tool"));
        for (index, result) in answers.enumerate() {
            let Value::Object(result) = result else {
                continue;
            };
            let by_id = text(result.get("tool_call_id"));
            let call = by_id
                .and_then(|id| called.iter().find(|(_, known)| *known == id))
                .or_else(|| called.get(index));
            let Some((name, id)) = call else { continue };
            if let Some(name) = name
                && result.get("name").is_none()
            {
                result.shift_insert(1, "name", Value::from(name.as_str()));
            }
            if result.get("tool_call_id").is_none() {
                result.shift_insert(1, "tool_call_id", Value::from(id.as_str()));
            }
        }
    }
    all
}
