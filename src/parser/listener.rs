//! Who is told what happens while a parser reads.

use std::borrow::Cow;

use super::event::Event;
use crate::response_template::Field;
use crate::value::Map;

/// A listener to a parse: any function of events is one.
pub(crate) trait Listener {
    /// Something has happened.
    fn event(&mut self, event: Event<'_>);

    /// More text of the open region, which is the field's, has come. It is [`Event::RegionChunk`], and nearly all that happens: a listener
    /// that needs no event of it is told without one being made.
    #[inline]
    fn chunk(&mut self, field: &Field, text: &str) {
        self.event(Event::RegionChunk {
            field: Cow::Borrowed(&field.name),
            text: Cow::Borrowed(text),
            dirty: !field.content.is_streamable(),
        });
    }

    /// A region of the field (an index into the template's fields) opens, and these are the named groups of its opening delimiter
    /// that took part in the match. Comes right before its [`Event::RegionOpen`], which as the reference's has no room for them.
    fn opens(&mut self, field: usize, captures: &Map) {
        let _ = (field, captures);
    }
}

impl<F: FnMut(Event<'_>)> Listener for F {
    fn event(&mut self, event: Event<'_>) {
        self(event);
    }
}
