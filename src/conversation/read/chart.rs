//! Where the places of a text are: the search for a way through the steps of a format.
//!
//! The search goes depth first. It ends each text at the first position where a step fits, and of several steps that fit there it takes the
//! one with the most constant text. It remembers from where no way leads on, so that no place is tried twice at one position: the work is
//! bounded by the number of positions at which a step's constant text occurs, times the number of steps. Readings that were found wrong by
//! rendering them are ruled out by the steps that are banned.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::definition;
use crate::conversation::format::{
    ConnectionPart, ConversationFormat, Encoding, Holds, literal_len, ranges_with,
};
use crate::value::json;

/// A step that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    /// The index of the step.
    pub(super) step: usize,
    /// Where each of its parts stands.
    pub(super) ranges: Vec<Range<usize>>,
    /// Where it begins, and the place before it ends.
    pub(super) at: usize,
    /// Where it ends, and the place behind it begins.
    pub(super) end: usize,
    /// Where the place before it begins.
    from: usize,
}

/// Which steps are not to be taken: the place before, where that begins, the step, and where it begins.
pub(super) type Banned = HashSet<(Option<usize>, usize, usize, usize)>;

impl Link {
    pub(super) fn ban(&self, format: &ConversationFormat) -> (Option<usize>, usize, usize, usize) {
        (format.steps[self.step].after, self.from, self.step, self.at)
    }
}

/// Where no way goes on.
#[derive(Debug, Clone)]
pub(super) struct Stuck {
    /// The first byte that does not fit.
    pub(super) at: usize,
    /// The texts that were expected there.
    pub(super) expected: Vec<String>,
    /// How far it went. The last link may have the ranges of its step's end alone: a message that ends there is whole, though nothing that
    /// may stand behind it does.
    pub(super) links: Vec<Link>,
}

/// A text, and where the steps of a format may begin in it.
pub(super) struct Chart<'a> {
    format: &'a ConversationFormat,
    text: &'a str,
    parts: Vec<Vec<ConnectionPart>>,
    /// How many bytes of constant text each step has.
    says: Vec<usize>,
    /// Which of the steps show a variable, and so take any text for its value.
    shows: Vec<bool>,
    /// The steps from each place, those first that say most.
    from: HashMap<Option<usize>, Vec<usize>>,
    /// Where the first text of each step occurs.
    occurrences: HashMap<&'a str, Vec<usize>>,
    /// Where definitions of tools that begin at a place end, if they can be read there.
    defined: RefCell<HashMap<usize, Option<usize>>>,
}

struct Frame {
    state: Option<usize>,
    pos: usize,
    steps: Vec<usize>,
    /// For each of the steps where its next occurrence is to be looked for.
    cursors: Vec<usize>,
    /// Where the place ends, if that is known.
    fixed: Option<usize>,
}

impl<'a> Chart<'a> {
    pub(super) fn new(format: &'a ConversationFormat, text: &'a str) -> Self {
        let parts: Vec<Vec<ConnectionPart>> = format
            .steps
            .iter()
            .map(|step| step.parts().cloned().collect())
            .collect();
        let mut from: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        for (at, step) in format.steps.iter().enumerate() {
            from.entry(step.after).or_default().push(at);
        }
        let rank = |step: usize| {
            let before = format.steps[step].before;
            let role = before.and_then(|at| format.places[at].role.as_deref());
            let rank = match role {
                None => 0,
                Some("system") => 1,
                Some("user") => 2,
                Some("assistant") => 3,
                Some("tool") => 4,
                Some(_) => 5,
            };
            (usize::MAX - literal_len(&parts[step]), rank, step)
        };
        from.values_mut()
            .for_each(|steps| steps.sort_by_key(|step| rank(*step)));
        let mut occurrences: HashMap<&str, Vec<usize>> = HashMap::new();
        for step in &format.steps {
            if let Some(ConnectionPart::Text(first)) = step.parts().next()
                && !first.is_empty()
            {
                occurrences.entry(first).or_insert_with(|| {
                    let finder = memchr::memmem::Finder::new(first.as_bytes());
                    let mut found = Vec::new();
                    let mut at = 0;
                    while let Some(next) = finder.find(&text.as_bytes()[at..]) {
                        found.push(at + next);
                        at += next + 1;
                    }
                    found
                });
            }
        }
        Self {
            format,
            text,
            says: parts.iter().map(|parts| literal_len(parts)).collect(),
            shows: parts
                .iter()
                .map(|parts| parts.iter().any(ConnectionPart::is_kwarg))
                .collect(),
            parts,
            from,
            occurrences,
            defined: RefCell::default(),
        }
    }

    /// Where definitions of tools end that begin at a place and are no JSON; where there is no layout of them, or they may be kept as
    /// text, they may end at once.
    fn defined(&self, at: usize, keeps: bool) -> Option<usize> {
        let Some(layout) = &self.format.definitions else {
            return Some(at);
        };
        let known = self.defined.borrow().get(&at).copied();
        let end = known.unwrap_or_else(|| {
            let end = definition::read(layout, self.text, at).map(|(_, end)| end);
            self.defined.borrow_mut().insert(at, end);
            end
        });
        end.or(keeps.then_some(at))
    }

    /// A way through the whole text; `keeps` if definitions of tools that cannot be read may be kept as text.
    pub(super) fn run(&self, banned: &Banned, keeps: bool) -> Result<Vec<Link>, Stuck> {
        let mut stuck = Stuck {
            at: 0,
            expected: Vec::new(),
            links: Vec::new(),
        };
        let mut dead: HashSet<(Option<usize>, usize)> = HashSet::new();
        let mut links: Vec<Link> = Vec::new();
        let mut frames = vec![self.frame(None, 0, &mut stuck, &links)];
        while let Some(frame) = frames.last_mut() {
            match self.next(frame, (banned, keeps), &mut stuck, &links) {
                Some(link) => {
                    let before = self.format.steps[link.step].before;
                    let end = link.end;
                    links.push(link);
                    if before.is_none() {
                        return Ok(links);
                    }
                    if dead.contains(&(before, end)) {
                        links.pop();
                        continue;
                    }
                    frames.push(self.frame(before, end, &mut stuck, &links));
                }
                None => {
                    dead.insert((frame.state, frame.pos));
                    frames.pop();
                    links.pop();
                }
            }
        }
        Err(stuck)
    }

    fn frame(&self, state: Option<usize>, pos: usize, stuck: &mut Stuck, links: &[Link]) -> Frame {
        let steps = self.from.get(&state).cloned().unwrap_or_default();
        let place = state.map(|at| &self.format.places[at]);
        let is_json = place.is_some_and(|place| {
            matches!(place.holds, Holds::Definition | Holds::Definitions)
                || place.written == Encoding::Json
        });
        let fixed = match place {
            None => Some(0),
            Some(place) if place.holds == Holds::Nothing => Some(pos),
            Some(_) if is_json => match json::parse_prefix(&self.text[pos..]) {
                Ok((_, len)) => Some(pos + len),
                Err(error) => {
                    let at = (pos + error.offset()).min(self.text.len());
                    note(stuck, at, || error.message(), (links, || None));
                    return Frame {
                        state,
                        pos,
                        steps: Vec::new(),
                        cursors: Vec::new(),
                        fixed: None,
                    };
                }
            },
            Some(_) => None,
        };
        Frame {
            state,
            pos,
            cursors: vec![fixed.unwrap_or(pos); steps.len()],
            steps,
            fixed,
        }
    }

    /// The next way on.
    fn next(
        &self,
        frame: &mut Frame,
        (banned, keeps): (&Banned, bool),
        stuck: &mut Stuck,
        links: &[Link],
    ) -> Option<Link> {
        let is_turn = frame
            .state
            .is_some_and(|at| self.format.places[at].holds == Holds::Turn);
        loop {
            // A turn may end with a part of what ends it elsewhere: of steps whose texts overlap that which says most is taken.
            let limit = if is_turn { self.first_end(frame) } else { None };
            // Of the steps that fit, the one that occurs first is taken; of several at one place, those that show no variable, and of
            // these the one with the most constant text; of these the one whose next place ends first.
            let mut best: Option<(usize, bool, usize, usize, usize, usize)> = None;
            for (index, step) in frame.steps.iter().enumerate() {
                let cursor = frame.cursors[index];
                let found = match frame.fixed {
                    Some(fixed) => (cursor <= fixed).then_some(fixed),
                    None => self.occurrence(*step, cursor),
                };
                let Some(at) = found else { continue };
                let place = if is_turn && at == frame.pos && self.opens(*step) {
                    // Rather than a turn of nothing this is the beginning of the turn.
                    usize::MAX
                } else if limit.is_some_and(|limit| at < limit) {
                    0
                } else {
                    at
                };
                let says = usize::MAX - self.says[*step];
                let shows = self.shows[*step];
                if best
                    .is_some_and(|(least, any, most, ..)| (place, shows, says) > (least, any, most))
                {
                    continue;
                }
                let next_end = self.next_end(*step, at + self.says[*step]);
                let order = (place, shows, says, at, next_end, index);
                if best.is_none_or(|best| order < best) {
                    best = Some(order);
                }
            }
            let Some((_, _, _, at, _, index)) = best else {
                self.tell_missing(frame, stuck, links);
                return None;
            };
            frame.cursors[index] = at + 1;
            let step = frame.steps[index];
            if banned.contains(&(frame.state, frame.pos, step, at)) {
                continue;
            }
            let least = |at: usize| self.defined(at, keeps);
            match ranges_with(&self.parts[step], self.text, at, &least) {
                Ok(ranges) => {
                    let end = ranges.last().map_or(at, |last| last.end);
                    let is_last = self.format.steps[step].before.is_none();
                    if is_last && end != self.text.len() {
                        let ended = || self.ended(frame, step, at);
                        note(
                            stuck,
                            end,
                            || "the end of the text".to_owned(),
                            (links, ended),
                        );
                        continue;
                    }
                    return Some(Link {
                        step,
                        ranges,
                        at,
                        end,
                        from: frame.pos,
                    });
                }
                Err(failed) => {
                    let ended = || self.ended(frame, step, at);
                    note(
                        stuck,
                        failed,
                        || self.rest(step, failed, at),
                        (links, ended),
                    );
                }
            }
        }
    }

    /// The link of a step of which no more than the end fits; `None` where not even that does, and for a step that has no end.
    fn ended(&self, frame: &Frame, step: usize, at: usize) -> Option<Link> {
        let count = self.format.steps[step].end.len();
        let parts = self.parts[step].get(..count)?;
        let ranges = ranges_with(parts, self.text, at, &|at| Some(at)).ok()?;
        let end = ranges.last()?.end;
        Some(Link {
            step,
            ranges,
            at,
            end,
            from: frame.pos,
        })
    }

    /// Returns true for a step to a turn that does not end the message before it.
    fn opens(&self, step: usize) -> bool {
        let step = &self.format.steps[step];
        let before = step.before.map(|at| self.format.places[at].holds);
        before == Some(Holds::Turn) && step.end.is_empty()
    }

    /// Where the first text of the step ends that occurs first.
    fn first_end(&self, frame: &Frame) -> Option<usize> {
        let occurrences = frame.steps.iter().zip(&frame.cursors);
        let occurrences = occurrences.filter_map(|(step, cursor)| {
            let len = self.parts[*step].first()?.text()?.len();
            Some((self.occurrence(*step, *cursor)?, len))
        });
        occurrences.min().map(|(at, len)| at + len)
    }

    /// Where the place behind a step may end first, if it begins at `from`.
    fn next_end(&self, step: usize, from: usize) -> usize {
        let before = self.format.steps[step].before;
        let steps = before
            .and_then(|_| self.from.get(&before))
            .into_iter()
            .flatten();
        let ends = steps.filter_map(|next| self.occurrence(*next, from));
        ends.min().unwrap_or(usize::MAX)
    }

    /// The next place at which a step may begin.
    fn occurrence(&self, step: usize, from: usize) -> Option<usize> {
        match self.parts[step].first() {
            None => (from <= self.text.len()).then_some(self.text.len()),
            Some(ConnectionPart::Text(first)) => {
                let found = self.occurrences.get(first.as_str())?;
                found.get(found.partition_point(|at| *at < from)).copied()
            }
            Some(ConnectionPart::Hole { .. }) => None,
        }
    }

    /// The constant text that a step has where it stops fitting.
    fn rest(&self, step: usize, failed: usize, at: usize) -> String {
        let mut start = at;
        for part in &self.parts[step] {
            let Some(text) = part.text() else {
                let after = self.text.get(start..failed).unwrap_or_default();
                start += after.len();
                continue;
            };
            if failed < start + text.len() {
                return text.get(failed - start..).unwrap_or(text).to_owned();
            }
            start += text.len();
        }
        "another text".to_owned()
    }

    /// A text that nothing ends.
    fn tell_missing(&self, frame: &Frame, stuck: &mut Stuck, links: &[Link]) {
        for step in &frame.steps {
            if let Some(first) = self.parts[*step].first().and_then(ConnectionPart::text)
                && self
                    .occurrence(*step, frame.fixed.unwrap_or(frame.pos))
                    .is_none()
            {
                let at = frame.fixed.unwrap_or(self.text.len());
                note(stuck, at, || first.to_owned(), (links, || None));
            }
        }
    }
}

/// How many things are told that were expected.
const MAX_EXPECTED: usize = 6;

/// Notes that no way goes on. `ended` is a link that is made half.
fn note(
    stuck: &mut Stuck,
    at: usize,
    expected: impl FnOnce() -> String,
    (links, ended): (&[Link], impl FnOnce() -> Option<Link>),
) {
    if at < stuck.at {
        return;
    }
    if at > stuck.at {
        stuck.at = at;
        stuck.expected.clear();
    }
    let ended = ended();
    if stuck.links.len() <= links.len() + usize::from(ended.is_some()) {
        stuck.links = links.to_vec();
        stuck.links.extend(ended);
    }
    if stuck.expected.len() < MAX_EXPECTED {
        let expected = expected();
        if !stuck.expected.contains(&expected) {
            stuck.expected.push(expected);
        }
    }
}
