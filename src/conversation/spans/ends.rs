//! Finds what ends a turn where the chat template writes nothing behind it.
//!
//! Some chat templates end no turn: the header of the next message does, and the model stops with the first marker of that header. Such a
//! chat template writes nothing behind a plain answer. The end is then what stands before the first white space in the header of the next
//! message or, behind the last message, all that follows. A turn that has no end although plain answers have one (it ends with calls, and
//! the next message goes on with it) is left as it is. The end does not reach beyond what is written in one go, since the chat template may
//! write the end of a turn with the next message, before its header.

use std::cell::OnceCell;
use std::ops::Range;

use super::owners::Owners;
use super::{Part, parts, role};
use crate::chat_template::{ChatTemplate, Layout, MAX_STEPS, Origin, RenderInput, Traced};
use crate::value::{Map, Value};

/// A finder of the ends of turns of one conversation.
pub(super) struct Ends<'r> {
    template: &'r ChatTemplate,
    input: &'r RenderInput,
    traced: &'r Traced,
    layout: &'r Layout,
    owners: &'r Owners,
    /// True if plain answers have an end; unset until it is asked.
    known: OnceCell<bool>,
}

impl<'r> Ends<'r> {
    pub(super) fn new(
        template: &'r ChatTemplate,
        input: &'r RenderInput,
        traced: &'r Traced,
        layout: &'r Layout,
        owners: &'r Owners,
    ) -> Self {
        Self {
            template,
            input,
            traced,
            layout,
            owners,
            known: OnceCell::new(),
        }
    }

    /// Returns the range that ends a turn that goes to `end` and has no end of its own.
    pub(super) fn behind(&self, end: usize) -> Option<Range<usize>> {
        let text = &self.traced.text;
        if end == text.len() {
            return None;
        }
        let next = self.owners.next(end);
        let until = match next {
            Some((range, message)) => {
                let next_role = role(self.input.messages.get(message)?);
                if next_role == "assistant" {
                    return None;
                }
                let parts = parts::of(self.traced, self.layout, self.owners, message, None);
                let header = parts.first().filter(|part| part.0 == Part::Header);
                header.map_or(range.start, |header| header.2.end)
            }
            None => text.len(),
        };
        // One statement may write all of it: the end may be written by the next message's turn, before its header.
        let until = self.written_at(end).map_or(until, |write| until.min(write));
        let header = &text[end..until];
        let first = header.find(char::is_whitespace).unwrap_or(header.len());
        (first > 0 && !self.are_written()).then_some(end..end + first)
    }

    /// The end of what is written in one go from a place on: by one statement, and by those around an input that follow it directly, as the
    /// role stands in `<{{ role }}>`.
    fn written_at(&self, place: usize) -> Option<usize> {
        let writes = &self.layout.writes;
        let at = writes.partition_point(|write| write.end <= place);
        let first = writes.get(at).filter(|write| write.start <= place)?;
        let joined = writes[at..].windows(2).take_while(|both| {
            both[0].end == both[1].start && both.iter().any(|write| self.is_input(write.start))
        });
        Some(joined.last().map_or(first.end, |both| both[1].end))
    }

    /// Returns true if the character at a byte comes from an input.
    fn is_input(&self, at: usize) -> bool {
        let runs = &self.traced.runs;
        let run = runs.get(runs.partition_point(|run| run.end <= at));
        run.is_some_and(|run| matches!(run.origin, Origin::Input { .. }))
    }

    /// Returns true if the chat template writes anything behind a plain answer.
    fn are_written(&self) -> bool {
        *self.known.get_or_init(|| self.ask().unwrap_or(true))
    }

    fn ask(&self) -> Option<bool> {
        let message = |role: &str| {
            Value::Object(Map::from_iter([
                ("role".to_owned(), Value::from(role)),
                ("content".to_owned(), Value::from("x")),
            ]))
        };
        let input = RenderInput {
            messages: vec![message("user"), message("assistant")],
            ..self.input.clone()
        };
        let mut steps = MAX_STEPS;
        let laid_out = self.template.render_laid_out(&input.borrowed(), &mut steps);
        let (traced, layout) = laid_out.ok()?;
        let owners = Owners::of(&traced, &layout);
        let parts = parts::of(&traced, &layout, &owners, 1, None);
        Some(parts.last()?.0 == Part::End)
    }
}
