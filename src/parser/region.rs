//! The open region: what is known of it and the text that it has so far.

use std::borrow::Cow;

use crate::content::JsonStrings;
use crate::pattern::Window;
use crate::value::Map;

/// The room that is made for the text of a region which does not come in one chunk.
const FIRST_BYTES: usize = 128;

/// The stretch of text that is being read.
#[derive(Debug, Clone, Default)]
pub(super) struct Region {
    /// The field; `None` discards the text (there is no implicit field).
    pub(super) field: Option<usize>,
    /// True if its `region_open` has been reported.
    pub(super) opened: bool,
    pub(super) captures: Map,
    /// The text of the region that earlier calls brought, without the text that is not kept.
    pub(super) body: String,
    /// How many bytes at the beginning of the region's text are not kept.
    pub(super) given: usize,
    /// The offsets at which the region's text begins and up to which it has been read.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The reader of the region's strings, where delimiters in strings do not count.
    pub(super) strings: Option<Box<JsonStrings>>,
}

impl Region {
    /// Adds text to the text that earlier calls brought.
    pub(super) fn keep(&mut self, text: &str) {
        if self.body.capacity() == 0 && !text.is_empty() {
            // Only a text that comes in pieces is kept here, so that more of it will follow.
            self.body.reserve(FIRST_BYTES);
        }
        self.body.push_str(text);
    }

    /// Counts text that is not kept.
    pub(super) fn give_up(&mut self, text: &str) {
        self.given += text.len();
    }

    /// Returns the offset up to which the region's text is kept or given up.
    pub(super) fn kept_to(&self) -> usize {
        self.start + self.given + self.body.len()
    }

    /// Returns the region's text as far as it is kept. `window` has the part of it that is not in the body.
    pub(super) fn text<'t>(&'t self, window: &'t Window<'_>) -> Cow<'t, str> {
        let rest = window.slice(self.kept_to()..self.end);
        if self.body.is_empty() {
            return Cow::Borrowed(rest);
        }
        let mut text = self.body.clone();
        text.push_str(rest);
        Cow::Owned(text)
    }
}
