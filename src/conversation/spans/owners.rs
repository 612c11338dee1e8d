//! Whose is each character of a render?
//!
//! The turns of loops are painted over the text, outer ones first, each in the colour of the message that the loop was at: what is
//! left of a colour is that message's. It costs a step for each byte and each turn around it.

use std::ops::Range;

use crate::chat_template::{InputPath, InputStep, Layout, Origin, Traced, Turn, message_of};

/// The message that each byte belongs to.
#[derive(Debug)]
pub(in crate::conversation) struct Owners {
    /// Stretches of one message, in order, none of them empty, no two adjacent ones of one message.
    stretches: Vec<(Range<usize>, usize)>,
}

/// Nobody's.
const NONE: u32 = u32::MAX;

impl Owners {
    pub(super) fn of(traced: &Traced, layout: &Layout) -> Self {
        let mut owners = vec![NONE; traced.text.len()];
        let mut paint = |range: Range<usize>, message: usize| {
            owners[range].fill(u32::try_from(message).unwrap_or(NONE));
        };
        // First by the text itself: this covers what is written outside of all loops, and by loops that are at no message.
        for write in &layout.writes {
            if let Some(message) = first_message(traced, write.start..write.end) {
                paint(write.start..write.end, message);
            }
        }
        let known: Vec<(usize, usize)> = layout
            .turns
            .iter()
            .filter(|turn| turn.message().is_some() && turn.start < turn.end)
            .map(|turn| (turn.start, turn.end))
            .collect();
        let holds_one = |turn: &Turn| {
            let holds = |(start, end): &(usize, usize)| turn.start <= *start && *end <= turn.end;
            known.iter().any(holds)
        };
        // Inner turns come before the outer ones.
        for turn in layout.turns.iter().rev() {
            if turn.start == turn.end {
                continue;
            }
            let message = turn.message().or_else(|| {
                // A loop over indices does not say which message it is at; the text that it writes does. If it holds a loop over messages,
                // that one decides.
                (!holds_one(turn))
                    .then(|| first_message(traced, turn.start..turn.end))
                    .flatten()
            });
            if let Some(message) = message {
                paint(turn.start..turn.end, message);
            }
        }
        let mut stretches: Vec<(Range<usize>, usize)> = Vec::new();
        let mut start = 0;
        for same in owners.chunk_by(|a, b| a == b) {
            let end = start + same.len();
            if same[0] != NONE {
                stretches.push((start..end, same[0] as usize));
            }
            start = end;
        }
        Self { stretches }
    }

    /// The stretches of a message.
    pub(super) fn stretches(&self, message: usize) -> impl Iterator<Item = Range<usize>> {
        let own = self.stretches.iter().filter(move |own| own.1 == message);
        own.map(|(range, _)| range.clone())
    }

    /// The message that the byte at an offset belongs to.
    pub(in crate::conversation) fn at(&self, offset: usize) -> Option<usize> {
        let next = self
            .stretches
            .partition_point(|(range, _)| range.end <= offset);
        let (range, message) = self.stretches.get(next)?;
        (range.start <= offset).then_some(*message)
    }

    /// Returns the range from the first byte of a message to its last; `None` for one that writes nothing.
    pub(in crate::conversation) fn range(&self, message: usize) -> Option<Range<usize>> {
        let mut own = self.stretches(message);
        let first = own.next()?;
        let end = own.last().map_or(first.end, |last| last.end);
        Some(first.start..end)
    }

    /// The stretch that begins at an offset or is the first behind it, and its message.
    pub(in crate::conversation) fn next(&self, offset: usize) -> Option<(Range<usize>, usize)> {
        let next = self
            .stretches
            .partition_point(|(range, _)| range.start < offset);
        self.stretches.get(next).cloned()
    }

    /// Where the last byte stands that belongs to any message.
    pub(super) fn end(&self) -> usize {
        self.stretches.last().map_or(0, |(range, _)| range.end)
    }
}

/// The message of which the first content in a range of a render is, or else the first of its texts.
fn first_message(traced: &Traced, range: Range<usize>) -> Option<usize> {
    let first = traced.runs.partition_point(|run| run.end <= range.start);
    let runs = traced.runs[first..].iter();
    let runs = runs.take_while(|run| run.start < range.end);
    let paths = runs.filter_map(|run| match &run.origin {
        Origin::Input { path, .. } => Some((path, message_of(path)?)),
        Origin::Source { .. } => None,
    });
    let is_content =
        |path: &InputPath| matches!(path.get(2), Some(InputStep::Key(key)) if key == "content");
    let content = paths.clone().find(|(path, _)| is_content(path));
    content
        .or_else(|| paths.clone().next())
        .map(|found| found.1)
}
