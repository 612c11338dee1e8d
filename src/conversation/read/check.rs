//! Readings checked by rendering them: the chat template renders the messages that were read, and the result is compared with the text.
//!
//! If the two differ, the place of the first difference says what to doubt. First the turn that stands there is read as another message
//! (`tries`). If none of these renders to the text, a step near the difference is ruled out, and the text is read again without it. For
//! example, `<user>Say <user>!<bot>Hi` is first read as two messages of a user. A chat template that refuses two of them in a row renders
//! nothing of it, the step to the second `<user>` is ruled out, and `Say <user>!` is read as one text.
//!
//! This is a best-first search: of the readings that wait, the one whose parent agreed with the text for the longest stretch is tried
//! first. A reading that renders to the text is right, since the chat template is the only authority; of several that do, the one counts
//! whose texts hide the fewest markers. Each reading costs at least one render, and [`tries`](super::tries) limits the renders
//! for one text, so that the work is bounded.

use super::chart::{Banned, Chart, Link};
use super::draft::Draft;
use super::tries::{Tries, plain_kwargs};
use super::{Conversation, ReadError, Reader, Reason};
use crate::value::{Map, Value};

/// How many of the steps before a difference are doubted.
const DOUBTED: usize = 4;

/// How many more conversations are rendered where one was found whose texts hold what else begins and ends messages, to find one of
/// which less is hidden so: a question may swallow the answer behind it, and render to the same text.
const MAX_BETTER: usize = 200;

/// How many readings wait to be tried.
const MAX_OPEN: usize = 4096;

/// Reads a text. That the texts of a turn speak of delimiters is tried later: it is rare, and there are many ways in which they may.
pub(super) fn read(reader: &Reader<'_>, text: &str) -> Result<Conversation, ReadError> {
    let mut search = Search {
        reader,
        chart: Chart::new(&reader.format, text),
        text,
        tries: Tries::new(),
    };
    // Definitions that can be read tell where they end; those that cannot may reach into anything behind them.
    let found = search.either(false);
    if reader.format.definitions.is_none() {
        return found;
    }
    let hidden = |conversation: &Conversation| reader.markers.hidden_in(&conversation.messages);
    match found {
        Err(first) => search.either(true).map_err(|_| first),
        Ok(found) if hidden(&found) == 0 || !found.tools.is_empty() => Ok(found),
        Ok(found) => match search.either(true) {
            Ok(other) if hidden(&other) < hidden(&found) => Ok(other),
            _ => Ok(found),
        },
    }
}

/// A text, and the search for a reading that renders to it.
struct Search<'r> {
    reader: &'r Reader<'r>,
    chart: Chart<'r>,
    text: &'r str,
    /// How many renders are left of all that are made for the text.
    tries: Tries,
}

/// A candidate for what a text says, which has not been rendered yet.
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

impl Search<'_> {
    /// Reads the text, first as if no text of a turn speaks of delimiters. With `keeps`, definitions of tools are kept as text.
    fn either(&mut self, keeps: bool) -> Result<Conversation, ReadError> {
        self.tries.begin(false);
        self.attempt(keeps).or_else(|first| match first.reason {
            Reason::Differs => {
                self.tries.begin(true);
                self.attempt(keeps).map_err(|_| first)
            }
            Reason::Unfit => Err(first),
        })
    }

    /// Reads the text, renders what was read, and doubts its steps one after the other until a reading renders to the text.
    fn attempt(&mut self, keeps: bool) -> Result<Conversation, ReadError> {
        let Self {
            reader,
            chart,
            text,
            tries,
        } = self;
        let (reader, text) = (*reader, *text);
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
            let mut found =
                tries.settle(reader, &renderer, &mut draft, text, current.kwargs.as_ref());
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
                let hidden =
                    reader.markers.hidden_in(&found.messages) + reader.markers.hidden_in(&[shown]);
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
}

fn ban(link: &Link, reader: &Reader<'_>) -> (Option<usize>, usize, usize, usize) {
    link.ban(&reader.format)
}
