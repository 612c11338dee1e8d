//! The text as a search sees it: a window whose end may not be the text's.

use super::bytes::ByteSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex_syntax::hir::ClassUnicode;

use super::syntax::ast::Assert;
use super::syntax::class;

/// The part of a text that is at hand.
#[derive(Debug, Clone, Copy)]
pub struct Window<'t> {
    /// The part itself. It begins and ends between characters.
    pub text: &'t str,
    /// The byte offset of `text` in the complete text.
    pub start: usize,
    /// True if the complete text ends where `text` ends.
    pub complete: bool,
}

/// The state of a search after the text at hand was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scanned {
    /// The first match.
    Found(Range<usize>),
    /// None begins before this byte offset.
    Hold(usize),
}

impl Window<'_> {
    /// The byte offset of the window's end in the complete text.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// The text at these byte offsets of the complete text.
    pub(crate) fn slice(&self, range: Range<usize>) -> &str {
        &self.text[range.start - self.start..range.end - self.start]
    }

    /// The character that begins at `at`; `Err` where it has not arrived.
    pub(crate) fn after(&self, at: usize) -> Result<Option<char>, NotArrived> {
        match self.text[at - self.start..].chars().next() {
            None if !self.complete => Err(NotArrived),
            next => Ok(next),
        }
    }

    /// The character that ends at `at`; none at the start of the text.
    pub(crate) fn before(&self, at: usize) -> Option<char> {
        self.text[..at - self.start].chars().next_back()
    }

    /// Tells if `assert` holds at `at`.
    pub(crate) fn holds(&self, assert: Assert, at: usize) -> Result<bool, NotArrived> {
        let is_word = |c: Option<char>, ascii: bool| {
            c.is_some_and(|c| WORD.contains(c) && (!ascii || c.is_ascii()))
        };
        Ok(match assert {
            Assert::Start => at == 0,
            Assert::End => self.after(at)?.is_none(),
            Assert::EndOrFinalNewline => match self.after(at)? {
                None => true,
                Some('\n') => self.after(at + 1)?.is_none(),
                Some(_) => false,
            },
            Assert::LineStart => at == 0 || self.before(at) == Some('\n'),
            Assert::LineEnd => matches!(self.after(at)?, None | Some('\n')),
            Assert::WordBoundary { ascii } => {
                is_word(self.before(at), ascii) != is_word(self.after(at)?, ascii)
            }
            Assert::NotWordBoundary { ascii } => {
                is_word(self.before(at), ascii) == is_word(self.after(at)?, ascii)
            }
            // The character before a place is known, so that most places need not wait for the one behind.
            Assert::WordStart { ascii } => {
                !is_word(self.before(at), ascii) && is_word(self.after(at)?, ascii)
            }
            Assert::WordEnd { ascii } => {
                is_word(self.before(at), ascii) && !is_word(self.after(at)?, ascii)
            }
        })
    }
}

/// The answer depends on text that has not arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotArrived;

static WORD: LazyLock<CharSet> = LazyLock::new(|| CharSet::new(&class::word()));

/// A class of characters made for asking.
#[derive(Debug, Clone)]
pub(crate) struct CharSet {
    ascii: u128,
    class: ClassUnicode,
}

impl CharSet {
    pub(crate) fn new(class: &ClassUnicode) -> Self {
        let ascii = ('\0'..='\x7f')
            .filter(|c| class::contains(class, *c))
            .fold(0, |bits, c| bits | 1 << u32::from(c));
        Self {
            ascii,
            class: class.clone(),
        }
    }

    pub(crate) fn contains(&self, value: char) -> bool {
        if value.is_ascii() {
            return self.ascii >> u32::from(value) & 1 == 1;
        }
        class::contains(&self.class, value)
    }

    /// Returns true if a character that is not ASCII is among them.
    pub(crate) fn has_more_than_ascii(&self) -> bool {
        let last = self.class.ranges().last();
        last.is_some_and(|range| !range.end().is_ascii())
    }

    /// The bytes that its characters begin with, or more of those that begin no ASCII character.
    pub(crate) fn first_bytes(&self) -> ByteSet {
        let ascii = (0..=0x7f).filter(|byte| self.contains(char::from(*byte)));
        let others = (0xc2..=0xf4).filter(|_| self.has_more_than_ascii());
        ascii.chain(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{NotArrived, Window};
    use crate::pattern::syntax::ast::Assert;

    #[test]
    fn an_end_is_one_only_when_nothing_follows() {
        let open = Window {
            text: "a\n",
            start: 10,
            complete: false,
        };
        let closed = Window {
            complete: true,
            ..open
        };
        assert_eq!(open.holds(Assert::EndOrFinalNewline, 10), Ok(false));
        assert_eq!(open.holds(Assert::EndOrFinalNewline, 11), Err(NotArrived));
        assert_eq!(closed.holds(Assert::EndOrFinalNewline, 11), Ok(true));
        assert_eq!(closed.holds(Assert::End, 11), Ok(false));
        assert_eq!(closed.holds(Assert::End, 12), Ok(true));
        assert_eq!(open.holds(Assert::LineEnd, 11), Ok(true));
        assert_eq!(open.holds(Assert::LineStart, 12), Ok(true));
        assert_eq!(open.holds(Assert::Start, 10), Ok(false));
    }

    #[test]
    fn a_word_that_cannot_start_does_not_wait() {
        let open = Window {
            text: "a",
            start: 0,
            complete: false,
        };
        assert_eq!(open.holds(Assert::WordStart { ascii: false }, 1), Ok(false));
        assert_eq!(
            open.holds(Assert::WordEnd { ascii: false }, 1),
            Err(NotArrived)
        );
        assert_eq!(
            open.holds(Assert::WordBoundary { ascii: false }, 1),
            Err(NotArrived)
        );
        assert_eq!(
            open.holds(Assert::WordBoundary { ascii: false }, 0),
            Ok(true)
        );
    }
}
