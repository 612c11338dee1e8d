//! Padding a text to a width.

use super::MAX_VALUE;
use super::fault::Fault;
use super::trace::{Taint, Written};
use crate::chat_template::error::Limit;

/// On which sides of a text the fill goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sides {
    Before,
    After,
    /// Shared out as `str.center` does.
    Both,
    /// Shared out as `format` does, which puts the odd one out behind the text.
    BothEvenly,
}

/// The characters that a text lacks of its width.
#[derive(Debug, Clone, Copy)]
pub(super) struct Padding {
    fill: char,
    before: usize,
    after: usize,
}

impl Padding {
    /// The padding that is needed for `text` to have so many characters.
    pub(super) fn new(text: &str, width: i64, fill: char, sides: Sides) -> Result<Self, Fault> {
        let width = usize::try_from(width).unwrap_or(0);
        if width > MAX_VALUE / 4 {
            return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
        }
        let missing = width.saturating_sub(text.chars().count());
        let before = match sides {
            Sides::Before => missing,
            Sides::After => 0,
            Sides::Both => missing / 2 + (missing & width & 1),
            Sides::BothEvenly => missing / 2,
        };
        Ok(Self {
            fill,
            before,
            after: missing - before,
        })
    }

    /// Writes what goes before the text; that it is there is because of these inputs.
    pub(super) fn before(&self, out: &mut Written, because: Taint) {
        self.write(self.before, out, because);
    }

    /// Writes what goes behind it.
    pub(super) fn after(&self, out: &mut Written, because: Taint) {
        self.write(self.after, out, because);
    }

    fn write(&self, count: usize, out: &mut Written, because: Taint) {
        if count > 0 {
            let fill: String = std::iter::repeat_n(self.fill, count).collect();
            out.push_of(&fill, because);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Padding, Sides};
    use crate::chat_template::run::trace::{Taint, Written};

    #[test]
    fn padding_is_pythons() {
        let padded = |text: &str, width, sides| {
            let mut out = Written::default();
            let pad = Padding::new(text, width, '*', sides).expect("short");
            pad.before(&mut out, Taint::NONE);
            out.push(text);
            pad.after(&mut out, Taint::NONE);
            out.into_parts().0
        };
        let centre = |text, width| padded(text, width, Sides::Both);
        assert_eq!(
            [centre("ab", 5), centre("abc", 6), centre("a", 4)],
            ["**ab*", "*abc**", "*a**"]
        );
        assert_eq!(padded("ab", 5, Sides::BothEvenly), "*ab**");
    }
}
