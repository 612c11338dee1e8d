//! Notes of who writes what of a render. None are taken while something is collected to be printed later, if at all.

use super::Render;
use super::object::Py;
use super::trace::{By, Taint, Turned, Wrote};
use crate::chat_template::syntax::tree::Span;

impl Render<'_> {
    /// Notes that a text between tags was written from `before` on.
    pub(super) fn note_text(&mut self, before: usize, index: usize) {
        self.note_write(before, By::Text(index));
    }

    /// Notes that an expression was written from `before` on.
    pub(super) fn note_expression(&mut self, before: usize, span: Span) {
        self.note_write(before, By::Expression(span));
    }

    fn note_write(&mut self, start: usize, by: By) {
        let end = self.out.len();
        if let Some(noted) = self.noted.as_mut().filter(|_| start < end) {
            noted.writes.push(Wrote { start, end, by });
        }
    }

    /// Notes that a `generation` block wrote from `before` on.
    pub(super) fn note_generated(&mut self, before: usize) {
        let end = self.out.len();
        if let Some(noted) = self.noted.as_mut().filter(|_| before < end) {
            noted.generated.push((before, end));
        }
    }

    /// Returns where a turn of a loop begins, and the inputs of its item; `None` where no notes are taken.
    pub(super) fn begin_turn(&self, item: &Py) -> Option<(usize, Taint)> {
        self.noted.as_ref()?;
        let of_members = || match item {
            // A pair of a walk over a list or dictionary is made here; what it holds tells of the inputs.
            Py::Tuple(_) => self.whole_taint(item),
            _ => self.taint(item),
        };
        Some((self.out.len(), of_members()))
    }

    /// Notes the turn that began there and ends here.
    pub(super) fn end_turn(&mut self, begun: Option<(usize, Taint)>, span: Span) {
        let end = self.out.len();
        if let (Some(noted), Some((start, item))) = (&mut self.noted, begun) {
            noted.turns.push(Turned {
                start,
                end,
                span,
                item,
            });
        }
    }
}
