//! The search for the end of a value.

use std::borrow::Cow;

use super::super::split::{Close, Closing, Split};
use crate::pattern::{Cursor, Pattern};

/// The search for the end of a value.
#[derive(Debug, Clone)]
pub(super) struct Ending {
    /// The number of the close among the halves.
    number: usize,
    /// Where the close repeats the key: the key, and the pattern that was made of it.
    own: Option<(String, Close)>,
    cursor: Cursor,
}

impl Ending {
    /// The search for the end of a value under a key; `None` if no pattern can be made of the key.
    pub(super) fn new(split: &Split, number: usize, key: &str) -> Option<Self> {
        let close = split.close(number)?.of(key)?;
        let cursor = Cursor::new(&close.pattern, 0);
        let own = match close {
            Cow::Borrowed(_) => None,
            Cow::Owned(close) => Some((key.to_owned(), close)),
        };
        Some(Self {
            number,
            own,
            cursor,
        })
    }

    /// Returns true if it is the search for that.
    pub(super) fn is_of(&self, number: usize, key: &str) -> bool {
        let same_key = |(of, _): &(String, Close)| of == key;
        self.number == number && self.own.as_ref().is_none_or(same_key)
    }

    /// The close that is searched.
    pub(super) fn close<'e>(&'e self, split: &'e Split) -> Option<&'e Close> {
        close_of(self.own.as_ref(), split, self.number)
    }

    /// The pattern that is searched, and how far the search is.
    pub(super) fn search<'e>(
        &'e mut self,
        split: &'e Split,
    ) -> Option<(&'e Pattern, &'e mut Cursor)> {
        let close = close_of(self.own.as_ref(), split, self.number)?;
        Some((&close.pattern, &mut self.cursor))
    }
}

fn close_of<'e>(
    own: Option<&'e (String, Close)>,
    split: &'e Split,
    number: usize,
) -> Option<&'e Close> {
    match (own, split.close(number)?) {
        (Some((_, close)), _) | (None, Closing::Fixed(close)) => Some(close),
        (None, Closing::Keyed(_)) => None,
    }
}
