//! Readings held to the chat template: what was read is rendered, and where the text differs something else is read.
//!
//! Where the render differs first tells what to read otherwise: the turn that stands there as another message, or, if no message does,
//! the step that was taken there. What a reading was found to be right in is kept by those that come of it. Each try costs a render;
//! there are at most [`MAX_TRIES`].

use super::chart::{Banned, Chart, Link};
use super::draft::{Draft, completed};
use super::{Conversation, ReadError, Reader, Reason, ids};
use crate::conversation::render::{Renderer, Talk};
use crate::text::common_prefix;
use crate::value::{Map, Value, json};

/// How many conversations are rendered to find the one that a text is the render of.
const MAX_TRIES: usize = 900;

/// How many of these are spent before the texts of turns may speak of delimiters.
const MAX_PLAIN_TRIES: usize = 300;

/// How many of the steps before a difference are doubted.
const DOUBTED: usize = 4;

/// How many more conversations are rendered where one was found whose texts hold what else begins and ends messages, to find one of
/// which less is hidden so: a question may swallow the answer behind it, and render to the same text.
const MAX_BETTER: usize = 200;

/// How many readings wait to be tried.
const MAX_OPEN: usize = 4096;

/// How many beginnings of a conversation are rendered to find the message that a chat template refuses.
const MAX_CUTS: usize = 6;

/// Reads a text. That the texts of a turn speak of delimiters is tried later: it is rare, and there are many ways in which they may.
pub(super) fn read(reader: &Reader<'_>, text: &str) -> Result<Conversation, ReadError> {
    let chart = Chart::new(&reader.format, text);
    let mut tries = Tries {
        left: 0,
        all: MAX_TRIES,
        speaks: false,
        is_found: false,
    };
    // Definitions that can be read tell where they end; those that cannot may reach into anything behind them.
    let found = either(reader, &chart, text, &mut tries, false);
    if reader.format.definitions.is_none() {
        return found;
    }
    let hidden = |conversation: &Conversation| reader.format.hidden_markers(&conversation.messages);
    match found {
        Err(first) => either(reader, &chart, text, &mut tries, true).map_err(|_| first),
        Ok(found) if hidden(&found) == 0 || !found.tools.is_empty() => Ok(found),
        Ok(found) => match either(reader, &chart, text, &mut tries, true) {
            Ok(other) if hidden(&other) < hidden(&found) => Ok(other),
            _ => Ok(found),
        },
    }
}

/// Reads a text, first as if no text of a turn speaks of delimiters.
fn either(
    reader: &Reader<'_>,
    chart: &Chart<'_>,
    text: &str,
    tries: &mut Tries,
    keeps: bool,
) -> Result<Conversation, ReadError> {
    tries.begin(false);
    attempt(reader, chart, text, tries, keeps).or_else(|first| match first.reason {
        Reason::Differs => {
            tries.begin(true);
            attempt(reader, chart, text, tries, keeps).map_err(|_| first)
        }
        Reason::Unfit => Err(first),
    })
}

/// A reading that waits to be tried.
#[derive(Debug, Clone, Default)]
struct Open {
    /// How far the reading that it comes of agreed with its render.
    worth: usize,
    banned: Banned,
    /// The readings that were taken of turns, by where they stand.
    chosen: Vec<((usize, usize), Map)>,
    /// The variables under which that reading agreed furthest.
    kwargs: Option<Map>,
}

fn attempt(
    reader: &Reader<'_>,
    chart: &Chart<'_>,
    text: &str,
    tries: &mut Tries,
    keeps: bool,
) -> Result<Conversation, ReadError> {
    let mut best: Option<(usize, Draft, Vec<Value>, Map)> = None;
    let mut right: Option<(usize, Conversation)> = None;
    let mut open: Vec<Open> = vec![Open::default()];
    let mut seen: Vec<Vec<Link>> = Vec::new();
    // The reading that agreed with the render for the longest stretch is tried first; once one was found, that of which the least is ruled
    // out.
    while let Some(at) = (0..open.len()).max_by_key(|at| {
        let Open { worth, banned, .. } = &open[*at];
        let few = match tries.is_found {
            true => usize::MAX - banned.len(),
            false => 0,
        };
        (few, *worth, std::cmp::Reverse(*at))
    }) {
        let current = open.remove(at);
        let links = match chart.run(&current.banned, keeps) {
            Ok(links) => links,
            Err(_) if best.is_some() || right.is_some() => continue,
            Err(stuck) => {
                let draft = Draft::new(reader, text, &stuck.links);
                let messages = draft.messages();
                let kwargs = draft.kwargs.clone();
                return Err(ReadError {
                    reason: Reason::Unfit,
                    at: stuck.at,
                    expected: stuck.expected,
                    read: Box::new(draft.conversation(messages, kwargs)),
                });
            }
        };
        if seen.contains(&links) {
            continue;
        }
        let mut draft = Draft::new(reader, text, &links);
        let Some(renderer) = reader.renderer else {
            let messages = draft.messages();
            let kwargs = plain_kwargs(reader, &draft);
            return Ok(draft.conversation(messages, kwargs));
        };
        draft.choose(&current.chosen);
        let mut found = tries.settle(reader, &renderer, &mut draft, text, current.kwargs.as_ref());
        if found.is_same {
            tries.show_turns(reader, &renderer, &mut draft, text, &mut found);
        }
        let (shared, is_same) = (found.shared, found.is_same);
        // Of a reading that is right the steps are doubted that lead to and from messages that hide others.
        let hiding = if is_same {
            draft.hiding(reader)
        } else {
            Vec::new()
        };
        let chosen = draft.chosen(shared);
        let kwargs = Some(found.kwargs.clone());
        if is_same {
            let shown = Value::Object(found.kwargs.clone());
            let hidden = reader.format.hidden_markers(&found.messages)
                + reader.format.hidden_markers(&[shown]);
            let is_better = right.as_ref().is_none_or(|(least, _)| hidden < *least);
            if is_better {
                let draft_is_whole = draft.kept().is_none();
                let conversation = Conversation {
                    exact: draft_is_whole.then_some(true),
                    ..draft.conversation(found.messages, found.kwargs)
                };
                if right.is_none() {
                    tries.left = tries.left.min(MAX_BETTER);
                    tries.is_found = true;
                }
                right = Some((hidden, conversation));
            }
            if hidden == 0 || tries.left == 0 {
                break;
            }
        } else if best.as_ref().is_none_or(|(most, ..)| shared > *most) {
            best = Some((shared, draft, found.messages, found.kwargs));
        }
        if tries.left == 0 {
            break;
        }
        // A chat template that refuses the messages does not say which of them is wrong, and a text near the beginning may be written from a
        // message near the end. So the links behind the first difference are doubted as well, after those before it.
        let until = if shared == 0 { text.len() } else { shared };
        let (before, behind): (Vec<&Link>, Vec<&Link>) =
            links.iter().partition(|link| link.at <= until);
        let nearest = before.iter().rev().take(DOUBTED).chain(behind.first());
        let others = before
            .iter()
            .rev()
            .skip(DOUBTED)
            .chain(behind.iter().skip(1));
        // How many steps lie between a step and the nearest message that hides another.
        let distance = |at: usize| {
            let hides = |link: &Link| {
                let mut ranges = hiding.iter();
                ranges.any(|range| range.start <= link.end && link.at <= range.end)
            };
            let near = links.iter().enumerate().filter(|(_, link)| hides(link));
            near.map(|(other, _)| at.abs_diff(other)).min()
        };
        let doubted: Vec<(usize, &Link)> = match is_same {
            true => {
                let all = links.iter().enumerate();
                let all = all.map(|(at, link)| (distance(at).unwrap_or(usize::MAX), link));
                all.map(|(far, link)| (shared.saturating_sub(far), link))
                    .collect()
            }
            false => {
                let nearest = nearest.map(|link| (shared, *link));
                nearest
                    .chain(others.map(|link| (shared / 2, *link)))
                    .collect()
            }
        };
        for (worth, link) in doubted {
            if open.len() >= MAX_OPEN {
                break;
            }
            let mut banned = current.banned.clone();
            banned.insert(ban(link, reader));
            open.push(Open {
                worth,
                banned,
                chosen: chosen.clone(),
                kwargs: kwargs.clone(),
            });
        }
        seen.push(links);
    }
    if let Some((_, conversation)) = right {
        return Ok(conversation);
    }
    let (at, draft, messages, kwargs) = best.unwrap_or_default();
    Err(ReadError {
        reason: Reason::Differs,
        at,
        expected: Vec::new(),
        read: Box::new(Conversation {
            exact: Some(false),
            ..draft.conversation(messages, kwargs)
        }),
    })
}

fn ban(link: &Link, reader: &Reader<'_>) -> (Option<usize>, usize, usize, usize) {
    link.ban(&reader.format)
}

/// The kwargs of a reading that nothing checks: of the settings under which all of its steps occur the first.
fn plain_kwargs(reader: &Reader<'_>, draft: &Draft) -> Map {
    let (settings, _) = settings(reader, draft);
    settings.into_iter().next().unwrap_or_default()
}

/// The settings under which a reading may have been rendered, the likeliest first, and how many of them its steps were seen under.
fn settings(reader: &Reader<'_>, draft: &Draft) -> (Vec<Map>, usize) {
    let all = &reader.format.settings;
    let common = |at: usize| draft.settings.iter().all(|some| some.contains(&at));
    let likely: Vec<usize> = if draft.settings.is_empty() {
        vec![0]
    } else {
        (0..all.len()).filter(|at| common(*at)).collect()
    };
    let others = (0..all.len()).filter(|at| !likely.contains(at));
    let mut found: Vec<Map> = Vec::new();
    let mut first = 0;
    for (number, at) in likely.iter().copied().chain(others).enumerate() {
        // What is printed may be a text, or the JSON of a value.
        for spelled in [false, true] {
            let mut setting = all.get(at).cloned().unwrap_or_default();
            for (name, value) in &draft.kwargs {
                let parsed = value
                    .as_str()
                    .filter(|_| spelled)
                    .and_then(|text| json::parse(text).ok());
                setting.insert(name.clone(), parsed.unwrap_or_else(|| value.clone()));
            }
            if !found.contains(&setting) {
                found.push(setting);
            }
        }
        if number < likely.len() {
            first = found.len();
        }
    }
    if found.is_empty() {
        found.push(draft.kwargs.clone());
    }
    (found, first.max(1))
}

/// A reading as it was rendered.
struct Rendered {
    /// The bytes that its render has in common with the text, from the beginning.
    shared: usize,
    /// True if its render is the text.
    is_same: bool,
    /// True if there is space where the two differ.
    at_space: bool,
    messages: Vec<Value>,
    kwargs: Map,
    /// True if names and ids were put in that the text does not show.
    is_complete: bool,
}

/// How many renders are left, and what is tried.
struct Tries {
    /// Of this attempt.
    left: usize,
    /// Of all attempts.
    all: usize,
    /// True if texts of turns may speak of delimiters.
    speaks: bool,
    /// True if a reading was found, and a better one is looked for.
    is_found: bool,
}

impl Tries {
    fn begin(&mut self, speaks: bool) {
        self.speaks = speaks;
        self.is_found = false;
        self.left = if speaks { self.all } else { MAX_PLAIN_TRIES }.min(self.all);
    }

    fn spend(&mut self) {
        self.left = self.left.saturating_sub(1);
        self.all = self.all.saturating_sub(1);
    }

    /// The messages and kwargs of a reading that render to most of the text. `known` are the kwargs under which a reading agreed that this
    /// one comes of: others are tried only where these do not lead on.
    fn settle(
        &mut self,
        reader: &Reader<'_>,
        renderer: &Renderer<'_>,
        draft: &mut Draft,
        text: &str,
        known: Option<&Map>,
    ) -> Rendered {
        let renderer = Renderer {
            clock: draft.clock.or(renderer.clock),
            ..*renderer
        };
        let (mut settings, likely) = settings(reader, draft);
        let place = known.and_then(|known| settings.iter().position(|one| one == known));
        if let Some(at) = place.filter(|at| draft.settings.is_empty() || *at < likely) {
            let first = settings.remove(at);
            settings.insert(0, first);
        }
        let mut best = self.render(&renderer, draft, &settings[0], text, None);
        if known.is_none() {
            self.other_settings(&renderer, draft, text, &settings[1..], &mut best);
        }
        self.other_turns(reader, &renderer, draft, text, &mut best);
        if known.is_some() && !best.is_same {
            let before = best.shared;
            // To find a better reading than one that is right is not worth a try of every variable.
            let others = match self.is_found {
                true => &settings[1..likely],
                false => &settings[1..],
            };
            self.other_settings(&renderer, draft, text, others, &mut best);
            if best.shared > before {
                self.other_turns(reader, &renderer, draft, text, &mut best);
            }
        }
        best
    }

    fn other_settings(
        &mut self,
        renderer: &Renderer<'_>,
        draft: &Draft,
        text: &str,
        settings: &[Map],
        best: &mut Rendered,
    ) {
        for kwargs in settings {
            if best.is_same || self.left == 0 {
                return;
            }
            let other = self.render(renderer, draft, kwargs, text, Some(best.is_complete));
            if other.is_same || other.shared > best.shared {
                *best = other;
            }
        }
    }

    /// Reads turns near the difference otherwise, as long as that makes it less.
    fn other_turns(
        &mut self,
        reader: &Reader<'_>,
        renderer: &Renderer<'_>,
        draft: &mut Draft,
        text: &str,
        best: &mut Rendered,
    ) {
        while !best.is_same && self.left > 0 {
            let shared = best.shared;
            let units = draft.turns.iter().enumerate().rev();
            let mut doubtful = units
                .filter(|(_, unit)| unit.range.start <= shared && !unit.written.is_empty())
                .map(|(at, _)| at)
                .take(2)
                .collect::<Vec<_>>();
            // A turn may be written otherwise because of one that follows.
            doubtful.extend((0..draft.turns.len()).filter(|at| {
                let unit = &draft.turns[*at];
                unit.range.start > shared && unit.readings.len() > 1
            }));
            let kwargs = best.kwargs.clone();
            if self.join_turns(renderer, draft, text, best) {
                continue;
            }
            let mut improved = None;
            for at in doubtful.into_iter().take(4) {
                let taken = draft.turns[at].taken;
                if draft.turns[at].range.start <= shared {
                    if best.at_space {
                        draft.space(at);
                    }
                    draft.type_arguments(at);
                    if self.speaks {
                        draft.speak(reader, text, at);
                    }
                }
                for other in 0..draft.turns[at].readings.len() {
                    if other == taken || self.left == 0 {
                        continue;
                    }
                    draft.turns[at].taken = other;
                    let complete = Some(best.is_complete);
                    let found = self.render(renderer, draft, &kwargs, text, complete);
                    let least = improved
                        .as_ref()
                        .map_or(shared, |(_, _, one): &(_, _, Rendered)| one.shared);
                    if found.is_same || found.shared > least {
                        improved = Some((at, other, found));
                    }
                }
                draft.turns[at].taken = taken;
                if improved.is_some() {
                    break;
                }
            }
            let Some((at, other, found)) = improved else {
                return;
            };
            draft.turns[at].taken = other;
            *best = found;
        }
    }

    /// Reads turns otherwise whose texts hold what begins and ends messages, if they render to the same.
    fn show_turns(
        &mut self,
        reader: &Reader<'_>,
        renderer: &Renderer<'_>,
        draft: &mut Draft,
        text: &str,
        best: &mut Rendered,
    ) {
        let hidden = |reading: &Map| {
            let message = Value::Object(reading.clone());
            reader.format.hidden_markers(&[message])
        };
        for at in 0..draft.turns.len() {
            let unit = &draft.turns[at];
            let taken = unit.taken;
            let counts: Vec<usize> = unit.readings.iter().map(hidden).collect();
            let least = counts.get(taken).copied().unwrap_or_default();
            for (other, count) in counts.iter().enumerate() {
                if *count >= least || self.left == 0 {
                    continue;
                }
                draft.turns[at].taken = other;
                let complete = Some(best.is_complete);
                let found = self.render(renderer, draft, &best.kwargs.clone(), text, complete);
                if found.is_same {
                    *best = found;
                    break;
                }
                draft.turns[at].taken = taken;
            }
        }
    }

    /// Reads turns side by side as one message, which a chat template may write as two; returns true if the render then agrees further.
    fn join_turns(
        &mut self,
        renderer: &Renderer<'_>,
        draft: &mut Draft,
        text: &str,
        best: &mut Rendered,
    ) -> bool {
        for at in draft.joinable(best.shared) {
            if self.left == 0 {
                return false;
            }
            draft.turns[at].joins ^= true;
            let complete = Some(best.is_complete);
            let found = self.render(renderer, draft, &best.kwargs.clone(), text, complete);
            if found.is_same || found.shared > best.shared {
                *best = found;
                return true;
            }
            draft.turns[at].joins ^= true;
        }
        false
    }

    /// A reading rendered, as it is and with the names and ids that it lacks, or in one of the two ways where it is known which.
    fn render(
        &mut self,
        renderer: &Renderer<'_>,
        draft: &Draft,
        kwargs: &Map,
        text: &str,
        complete: Option<bool>,
    ) -> Rendered {
        let bare = draft.messages();
        let completed = completed(&bare);
        let mut ways = vec![(false, bare)];
        if completed != ways[0].1 {
            ways.push((true, completed));
            if let Some(complete) = complete {
                ways.retain(|(is_complete, _)| *is_complete == complete);
            }
        }
        let mut best: Option<Rendered> = None;
        for (is_complete, messages) in ways {
            self.spend();
            let mut talk = Talk {
                messages,
                tools: match draft.kept() {
                    // One tool stands in for the tools whose definitions were kept as text.
                    Some(_) => vec![crate::conversation::find::talks::tool(0)],
                    None => draft.tools.clone(),
                },
                kwargs: kwargs.clone(),
                prompt: draft.prompt,
            };
            let mut compared = compare(renderer, &talk, draft, text);
            for _ in 0..ids::MOST {
                let (Some(rendered), false) = (&compared.rendered, compared.is_same) else {
                    break;
                };
                let Compared {
                    shared,
                    rendered_to,
                    ..
                } = compared;
                let found = ids::found(&talk.messages, (rendered, rendered_to), (text, shared));
                let Some(messages) = found else { break };
                talk.messages = messages;
                compared = compare(renderer, &talk, draft, text);
            }
            let at_space = compared.at_space(text);
            let Compared {
                shared, is_same, ..
            } = compared;
            if is_same || best.as_ref().is_none_or(|best| shared > best.shared) {
                best = Some(Rendered {
                    shared,
                    is_same,
                    at_space,
                    messages: talk.messages,
                    kwargs: talk.kwargs,
                    is_complete,
                });
            }
            if is_same {
                break;
            }
        }
        best.unwrap_or(Rendered {
            shared: 0,
            is_same: false,
            at_space: false,
            messages: Vec::new(),
            kwargs: Map::new(),
            is_complete: false,
        })
    }
}

/// A render beside the text that it is to be.
struct Compared {
    rendered: Option<String>,
    /// The bytes of the text that they have in common, from the beginning.
    shared: usize,
    /// Where the render has come by then: elsewhere, if the text has other definitions of tools.
    rendered_to: usize,
    is_same: bool,
}

impl Compared {
    /// Returns true if there is space on one side of the difference; of a render that was refused nothing is known.
    fn at_space(&self, text: &str) -> bool {
        let Some(rendered) = &self.rendered else {
            return true;
        };
        let is_space = |text: &str, at: usize| {
            let next = text.get(at..).and_then(|rest| rest.chars().next());
            next.is_none_or(char::is_whitespace)
        };
        is_space(text, self.shared) || is_space(rendered, self.rendered_to)
    }
}

fn compare(renderer: &Renderer<'_>, talk: &Talk, draft: &Draft, text: &str) -> Compared {
    let rendered = renderer.text(talk).ok();
    let (shared, rendered_to, is_same) = match (&rendered, draft.kept()) {
        (None, _) => (accepted(renderer, talk, text), 0, false),
        (Some(one), None) => {
            let shared = common_prefix(one, text);
            (shared, shared, one == text)
        }
        (Some(one), Some((hole, behind))) => around(one, text, hole, behind),
    };
    Compared {
        rendered,
        shared,
        rendered_to,
        is_same,
    }
}

/// How much of a text is shared by the render of the messages before the one that a chat template refuses.
fn accepted(renderer: &Renderer<'_>, talk: &Talk, text: &str) -> usize {
    let cuts = (1..talk.messages.len()).rev().take(MAX_CUTS);
    let rendered = cuts.into_iter().find_map(|count| {
        let beginning = Talk {
            messages: talk.messages[..count].to_vec(),
            prompt: false,
            ..talk.clone()
        };
        renderer.text(&beginning).ok()
    });
    rendered.map_or(0, |rendered| common_prefix(&rendered, text))
}

/// How much of a text a render shares that has other definitions of tools, where in the render that is, and whether it shares all but
/// these.
fn around(
    rendered: &str,
    text: &str,
    hole: &std::ops::Range<usize>,
    behind: &str,
) -> (usize, usize, bool) {
    let shared = common_prefix(rendered, text);
    if shared < hole.start {
        return (shared, shared, false);
    }
    let rest = rendered.get(hole.start..).unwrap_or_default();
    let Some(at) = (if behind.is_empty() {
        Some(rest.len())
    } else {
        rest.find(behind)
    }) else {
        return (hole.start, hole.start, false);
    };
    let (rest, wanted) = (&rest[at..], &text[hole.end..]);
    let shared = common_prefix(rest, wanted);
    (hole.end + shared, hole.start + at + shared, rest == wanted)
}
