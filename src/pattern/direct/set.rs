//! Sets of characters.

use regex_syntax::hir::ClassUnicode;

use crate::pattern::bytes::ByteSet;
use crate::pattern::syntax::class;
use crate::pattern::text::CharSet;

/// A set of characters.
#[derive(Debug, Clone)]
pub(super) struct Set {
    pub(super) chars: CharSet,
    /// The bytes that are not in it, where these are all ASCII.
    pub(super) stops: Option<ByteSet>,
    /// True if it holds every character.
    pub(super) is_any: bool,
}

impl Set {
    pub(super) fn new(class: &ClassUnicode) -> Self {
        let mut others = class.clone();
        others.negate();
        let is_ascii = others.ranges().iter().all(|range| range.end().is_ascii());
        Self {
            chars: CharSet::new(class),
            stops: is_ascii.then(|| {
                let outside = |byte: &u8| class::contains(&others, char::from(*byte));
                (0..=0x7f).filter(outside).collect()
            }),
            is_any: others.ranges().is_empty(),
        }
    }

    /// The bytes that its characters begin with.
    pub(super) fn add_first_bytes(&self, bytes: &mut ByteSet) {
        *bytes = bytes.union(&self.chars.first_bytes());
    }
}
