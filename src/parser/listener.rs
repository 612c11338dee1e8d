//! Who is told what happens while a parser reads.

use super::event::Event;
use crate::value::Map;

/// A listener to a parse: any function of events is one.
pub(crate) trait Listener {
    /// Something has happened.
    fn event(&mut self, event: Event<'_>);

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
