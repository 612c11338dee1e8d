//! Listeners, which are told what happens while a parser reads.

use std::borrow::Cow;

use super::event::Event;
use crate::response_template::Field;
use crate::value::Map;

/// A listener to a parse: any function of events is one.
pub(crate) trait Listener {
    /// Called with each event.
    fn event(&mut self, event: Event<'_>);

    /// Called with more text of the open region, which belongs to `field`. It stands for [`Event::RegionChunk`], which is nearly all that
    /// happens, so that a listener that needs no event of it need not have one made.
    #[inline]
    fn chunk(&mut self, field: &Field, text: &str) {
        self.event(Event::RegionChunk {
            field: Cow::Borrowed(&field.name),
            text: Cow::Borrowed(text),
            dirty: !field.content.is_streamable(),
        });
    }

    /// Called right before the [`Event::RegionOpen`] of a field, which is given as an index into the template's fields. `captures` are the
    /// named groups of its opening delimiter that took part in the match. The event, which is the reference's, has no room for them.
    fn opens(&mut self, field: usize, captures: &Map) {
        let _ = (field, captures);
    }
}

impl<F: FnMut(Event<'_>)> Listener for F {
    fn event(&mut self, event: Event<'_>) {
        self(event);
    }
}
