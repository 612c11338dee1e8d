//! The growth of the message, adjacent pieces of one text joined, as the clients of a server would have been told it by a step.
//!
//! There is one list for the whole parse, as there is one of events, and a step of the parse knows how far it had come in it. A text grows
//! from step to step, so that of the last item only the beginning may have been told. A step therefore holds two numbers.

use crate::deltas::{Growth, push_joined};

/// The growth of a message, over all steps.
#[derive(Debug, Default)]
pub(super) struct Told {
    growth: Vec<Growth<'static>>,
    /// For each step of growth, the step of the parse at which the last piece of it was told.
    last: Vec<usize>,
}

/// How far a step had come.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    count: u32,
    /// The bytes of the last one's text that had been told.
    bytes: u32,
}

impl Told {
    pub(super) fn push(&mut self, growth: Growth<'_>, step: usize) {
        push_joined(&mut self.growth, growth);
        self.last.resize(self.growth.len(), step);
        if let Some(last) = self.last.last_mut() {
            *last = step;
        }
    }

    /// How far it has come.
    pub(super) fn mark(&self) -> Mark {
        let text = self.growth.last().and_then(text_of);
        Mark {
            count: super::number(self.growth.len()),
            bytes: super::number(text.map_or(0, str::len)),
        }
    }

    pub(super) fn last(&self) -> &[usize] {
        &self.last
    }

    /// The steps of growth that had been told by then.
    pub(super) fn until(&self, mark: Mark) -> Growths<'_> {
        Growths {
            all: &self.growth[..mark.count as usize],
            bytes: mark.bytes as usize,
        }
    }
}

/// The steps of growth that had been told by a step of the parse.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Growths<'t> {
    all: &'t [Growth<'static>],
    bytes: usize,
}

impl<'t> Growths<'t> {
    pub(crate) fn len(self) -> usize {
        self.all.len()
    }

    /// Returns a step of growth, and as much of its text as had been told; the text is empty for a step that has none.
    pub(crate) fn get(self, index: usize) -> Option<(&'t Growth<'static>, &'t str)> {
        let growth = self.all.get(index)?;
        let text = text_of(growth).unwrap_or_default();
        let until = match index + 1 == self.all.len() {
            true => self.bytes,
            false => text.len(),
        };
        Some((growth, text.get(..until).unwrap_or(text)))
    }
}

/// The text that a step of growth appends.
fn text_of<'g>(growth: &'g Growth<'static>) -> Option<&'g str> {
    match growth {
        Growth::Text { text, .. } | Growth::Arguments { text, .. } => Some(text),
        _ => None,
    }
}
