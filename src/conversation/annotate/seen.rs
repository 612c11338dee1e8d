//! How much of what each text and each expression of a source writes is the model's: all of it, nothing, or all from some place on. For
//! example, of `'<bot>' + message.content` it is what follows `<bot>`.

use std::collections::BTreeMap;
use std::ops::Range;

use super::nodes::Node;
use super::suite::Case;
use crate::chat_template::{ChatTemplate, Origin, Run};
use crate::conversation::spans::{Examined, role};

/// The share of the model's text in one write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrote {
    /// Nothing that the model writes.
    Nothing,
    /// Nothing that the model writes, and what it writes begins directly behind.
    Before,
    /// Only what the model writes.
    All,
    /// Nothing that the model writes before this edge, and only what it writes from there on.
    From(Edge),
    /// Something else.
    Else,
}

/// An edge between two characters of a render, named by the place in the source that writes the character before or behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Edge {
    /// Both stand in one constant, the second at this byte.
    Within(usize),
    /// The first is written by the constant or expression that ends before this byte.
    Behind(usize),
    /// The second is written by the constant or expression at this byte.
    Before(usize),
}

/// The kinds of writes that a text or an expression was seen to make.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// While the chat template was at a message of the assistant.
    pub(super) own: Vec<Wrote>,
    /// While it was at another, or at none.
    pub(super) others: Vec<Wrote>,
}

impl Seen {
    fn add(&mut self, is_own: bool, wrote: Wrote) {
        let list = if is_own {
            &mut self.own
        } else {
            &mut self.others
        };
        if !list.contains(&wrote) {
            list.push(wrote);
        }
    }
}

/// The sights of a source, collected from renders.
#[derive(Debug)]
pub(super) struct Sights {
    /// By the place in the source where a text or an expression begins.
    pub(super) by_place: BTreeMap<usize, Seen>,
    /// Where the expressions stand that loops over messages walk over.
    pub(super) loops: Vec<usize>,
    /// The texts with which the assistant's turns begin and which the model does not write; `None` where the model does not write all of
    /// the rest.
    pub(super) headers: Option<Vec<String>>,
}

impl Default for Sights {
    fn default() -> Self {
        Self {
            by_place: BTreeMap::new(),
            loops: Vec::new(),
            headers: Some(Vec::new()),
        }
    }
}

impl Sights {
    /// Takes a conversation into account.
    pub(super) fn add(&mut self, template: &ChatTemplate, case: &Case, examined: &Examined) {
        for turn in &examined.layout.turns {
            if turn.is_of_message() && !self.loops.contains(&turn.source.0) {
                self.loops.push(turn.source.0);
            }
        }
        for (message, said) in case.messages.iter().enumerate() {
            if role(said) == "assistant"
                && let Some(turn) = examined.owners.range(message)
            {
                let header = header(examined, turn);
                match (header, &mut self.headers) {
                    (Some(header), Some(known)) if !known.contains(&header) => known.push(header),
                    (None, headers) => *headers = None,
                    _ => {}
                }
            }
        }
        for write in &examined.layout.writes {
            let own = examined.owners.at(write.start);
            let is_own = own.is_some_and(|message| role(&case.messages[message]) == "assistant");
            let wrote = wrote(template, examined, write.start, write.end);
            let seen = self.by_place.entry(write.source.0).or_default();
            seen.add(is_own, wrote);
        }
    }
}

/// The beginning of a turn that the model does not write; `None` if it does not write all of the rest.
fn header(examined: &Examined, turn: Range<usize>) -> Option<String> {
    let next = examined
        .generated
        .partition_point(|own| own.1 <= turn.start);
    let begun = match examined.generated.get(next) {
        Some((from, to)) if *from < turn.end => {
            (*to >= turn.end).then_some((*from).max(turn.start))?
        }
        _ => turn.end,
    };
    Some(examined.traced.text[turn.start..begun].to_owned())
}

impl Sights {
    /// The variable of a loop over messages, unless something else is assigned to it in the loop.
    pub(super) fn message_of<'s>(&self, source: &'s str, node: &Node) -> Option<&'s str> {
        let Node::Block(block) = node else {
            return None;
        };
        if !self
            .loops
            .iter()
            .any(|place| block.open.range.contains(place))
        {
            return None;
        }
        let inner = &source[block.open.inner(source)];
        let name = inner
            .trim_start()
            .strip_prefix("for")?
            .split(" in ")
            .next()?
            .trim();
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let again = format!("set {name} ");
        (is_name && !source[block.range.clone()].contains(&again)).then_some(name)
    }
}

fn wrote(template: &ChatTemplate, examined: &Examined, start: usize, end: usize) -> Wrote {
    let next = examined.generated.partition_point(|own| own.1 <= start);
    match examined.generated.get(next) {
        None => Wrote::Nothing,
        Some((from, _)) if *from == end => Wrote::Before,
        Some((from, _)) if *from > end => Wrote::Nothing,
        Some((from, to)) if *from <= start && *to >= end => Wrote::All,
        Some((from, to)) if *from > start && *to >= end => {
            edge(template, &examined.traced.runs, *from).map_or(Wrote::Else, Wrote::From)
        }
        Some(_) => Wrote::Else,
    }
}

/// The edge before the byte at `at` of a render.
fn edge(template: &ChatTemplate, runs: &[Run], at: usize) -> Option<Edge> {
    let next = runs.partition_point(|run| run.end <= at);
    let run = runs.get(next)?;
    if let Origin::Source {
        start, end, from, ..
    } = run.origin
        && run.start < at
    {
        if run.origin.is_derived() {
            return None;
        }
        let part = from.0 + (at - run.start);
        let place = template.place_of_part((start, end), from, (part, part + 1))?;
        return Some(Edge::Within(place.0));
    }
    if run.start < at {
        return None;
    }
    let before = next.checked_sub(1).and_then(|before| runs.get(before))?;
    match (&before.origin, &run.origin) {
        (Origin::Source { end, .. }, _) => Some(Edge::Behind(*end)),
        (_, Origin::Source { start, .. }) => Some(Edge::Before(*start)),
        _ => None,
    }
}
