//! Text in which no delimiter can begin, taken without asking the delimiters.

use std::borrow::Cow;

use super::{Machine, Sink};
use crate::parser::event::Event;
use crate::pattern::{ByteSet, Window};

/// The fast path: which text can be taken without asking the delimiters.
#[derive(Debug, Clone)]
pub(super) enum FastPath {
    /// No text: the delimiters are asked of all of it.
    Not,
    /// No text is held and no delimiter is under way, so that text in which no delimiter begins is the region's.
    Passing,
    /// Text is held, and all that follows is held with it until one of these bytes comes.
    Holding(Box<ByteSet>),
}

impl Machine {
    /// Returns true if no delimiter that counts now can begin in the text, and there is room for it: in the region, and in what a delimiter
    /// may look back at.
    pub(super) fn begins_nothing(&self, text: &str) -> bool {
        let starts = self.template.plan().starts(self.region.field);
        let kept = match self.region.field {
            Some(_) => self.region.given + self.region.body.len(),
            None => self.rare().unclaimed.length_until(self.position),
        };
        let looked_back = self
            .template
            .plan()
            .lookbehind
            .min(self.buffer.len() + text.len());
        !text.is_empty()
            && looked_back <= self.options.limits.held_bytes
            && starts.is_some_and(|starts| starts.find(text.as_bytes()).is_none())
            && kept + text.len() <= self.options.limits.region_bytes
    }

    /// Returns true if the text can be held together with the text that is held. It has none of the `bytes` that would change anything, and
    /// there is room for it.
    pub(super) fn changes_nothing(&self, text: &str, bytes: &ByteSet) -> bool {
        bytes.find(text.as_bytes()).is_none()
            && self.buffer.len() + text.len() <= self.options.limits.held_bytes
    }

    /// Gives text in which no delimiter begins to the open region.
    pub(super) fn pass_over(&mut self, text: &str, sink: Sink<'_>) {
        self.idle = 0;
        let start = self.position;
        self.position += text.len();
        self.pass_in_buffer(text);
        if let Some(index) = self.region.field {
            let field = &self.template.fields()[index];
            if !self.region.opened {
                self.region.opened = true;
                self.region.start = start;
                sink.opens(index, &self.region.captures);
                sink.event(Event::RegionOpen {
                    field: Cow::Borrowed(&field.name),
                });
            }
            match self.forgets(index) {
                true => self.region.give_up(text),
                false => self.region.keep(text),
            }
            self.region.end = self.position;
            sink.chunk(field, text);
        } else {
            let prefix_len = self.prefix_len;
            self.rare_mut().unclaimed.add(start, text, prefix_len);
        }
    }

    /// Notes in the buffer that the text was taken, if a delimiter may look back at it.
    fn pass_in_buffer(&mut self, text: &str) {
        if self.template.plan().lookbehind == 0 {
            self.base = self.position;
            return;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.push_str(text);
        self.buffer = self.trimmed(buffer);
    }

    /// The fast path for the text that follows, when everything up to `hold` has been read.
    pub(super) fn fast_path(&self, window: &Window<'_>, hold: usize) -> FastPath {
        if hold == window.end() {
            return self.passing();
        }
        let plan = self.template.plan();
        let field = self.region.field;
        if field.is_some_and(|field| self.strings(field, hold).is_some()) {
            return FastPath::Not;
        }
        let counting = plan.counting(self.region.field).iter();
        let bytes =
            counting.map(|&index| self.watches[index].waits_for(&plan.sought[index], window.end()));
        bytes
            .reduce(|all, bytes| Some(all?.union(&bytes?)))
            .flatten()
            .map_or(FastPath::Not, |bytes| FastPath::Holding(Box::new(bytes)))
    }

    /// The fast path for the text that follows where nothing is held.
    pub(super) fn passing(&self) -> FastPath {
        let counts = |field| self.strings(field, self.position).is_some();
        match self.region.field.is_some_and(counts) {
            true => FastPath::Not,
            false => FastPath::Passing,
        }
    }
}
