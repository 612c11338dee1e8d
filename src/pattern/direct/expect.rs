//! The bytes with which a program can go on at a step, and the search for the next place in a text where they stand.

use memchr::memmem::Finder;

use super::set::Set;
use crate::pattern::bytes::ByteSet;

/// Where a step can lead to a match, as far as the next bytes tell.
#[derive(Debug)]
pub(super) struct Expect {
    /// Nothing is known: anywhere.
    pub(super) anywhere: bool,
    /// The first bytes.
    pub(super) bytes: ByteSet,
    /// The end of the text.
    pub(super) end: bool,
    /// The text begins with this literal, of two bytes at least, everywhere but at the end.
    pub(super) literal: Option<Finder<'static>>,
    /// This comes behind it, with characters of these sets alone between.
    pub(super) behind: Option<(Finder<'static>, Vec<Set>)>,
}

impl Expect {
    pub(super) fn anything() -> Self {
        Self {
            anywhere: true,
            bytes: ByteSet::EMPTY,
            end: true,
            literal: None,
            behind: None,
        }
    }

    /// Returns true if a match may go on at byte `at` of the text.
    pub(super) fn allows(&self, text: &[u8], at: usize) -> bool {
        self.anywhere
            || match text.get(at) {
                Some(byte) => self.bytes.contains(*byte),
                None => self.end,
            }
    }

    /// The first place from `from` to `to`, both included, where it may be.
    pub(super) fn first(&self, text: &str, from: usize, to: usize) -> Option<usize> {
        if from > to {
            return None;
        }
        if self.anywhere {
            return Some(from);
        }
        let mut from = from;
        if let Some((literal, sets)) = &self.behind {
            let mut place = from + literal.find(&text.as_bytes()[from..])?;
            let is_between = |c: &char| sets.iter().any(|set| set.chars.contains(*c));
            while place > from
                && let Some(c) = text[..place].chars().next_back().filter(is_between)
            {
                place -= c.len_utf8();
            }
            from = place;
            if from > to {
                return None;
            }
        }
        let text = text.as_bytes();
        let stretch = text.get(from..)?;
        let found = match &self.literal {
            // The place itself may be as far as `to`, and the literal reach beyond.
            Some(literal) => {
                let end = (to - from)
                    .saturating_add(literal.needle().len())
                    .min(stretch.len());
                literal.find(&stretch[..end])
            }
            None => {
                let end = (to - from).saturating_add(1).min(stretch.len());
                self.bytes.find(&stretch[..end])
            }
        };
        found
            .map(|place| from + place)
            .or((self.end && to == text.len()).then_some(to))
    }

    /// The last place from `from` to `to`, both included, where it may be.
    pub(super) fn last(&self, text: &[u8], from: usize, to: usize) -> Option<usize> {
        if from > to {
            return None;
        }
        if self.anywhere {
            // Not within a character.
            let mut to = to;
            while to > from && text.get(to).is_some_and(|byte| byte & 0xc0 == 0x80) {
                to -= 1;
            }
            return Some(to);
        }
        if self.end && to == text.len() {
            return Some(to);
        }
        let stretch = &text[from..text.len().min(to + 1)];
        let mut end = stretch.len();
        loop {
            let place = self.bytes.find_last(&stretch[..end])?;
            let literal = self.literal.as_ref().map(Finder::needle);
            if literal.is_none_or(|literal| text[from + place..].starts_with(literal)) {
                return Some(from + place);
            }
            end = place;
        }
    }
}
