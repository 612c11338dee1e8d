//! Where can an expression be cut in two, so that both halves print what the whole printed?
//!
//! A sum of texts can be cut before each of its operators, and a string in it between two of its characters: `'<a>' + x` becomes `'<a>'
//! }}{{ '' + x`. An operator that binds looser than those of a sum (a condition, a comparison) keeps the whole from being cut.

use std::ops::Range;

/// The places of an expression that is a sum.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sum {
    /// Where its operators stand, `+` or `~`.
    signs: Vec<usize>,
    /// Its strings that are operands, or begin or end one, with their quotes.
    strings: Vec<Range<usize>>,
}

/// A place where an expression can be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Before the operator there.
    Sign(usize),
    /// Within a string with that quote, before the character there.
    Within(usize, char),
}

/// Words that bind looser than a sum.
const LOOSE: [&str; 8] = ["if", "else", "and", "or", "not", "in", "is", "recursive"];

impl Sum {
    /// Reads the expression that stands in that range of a source; `None` if it is none that can be cut.
    pub(super) fn read(source: &str, range: Range<usize>) -> Option<Self> {
        let (mut signs, mut strings) = (Vec::new(), Vec::new());
        let bytes = source.as_bytes();
        let mut depth = 0_usize;
        let mut at = range.start;
        while at < range.end {
            match bytes[at] {
                quote @ (b'"' | b'\'') => {
                    let start = at;
                    at += 1;
                    while at < range.end && bytes[at] != quote {
                        at += if bytes[at] == b'\\' { 2 } else { 1 };
                    }
                    if depth == 0 {
                        strings.push(start..at + 1);
                    }
                }
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b'+' | b'~' if depth == 0 => signs.push(at),
                b'-' | b',' | b'=' | b'<' | b'>' | b'!' | b'*' | b'/' | b'%' if depth == 0 => {
                    return None;
                }
                c if c.is_ascii_alphabetic() || c == b'_' => {
                    let start = at;
                    while at < range.end && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_')
                    {
                        at += 1;
                    }
                    if depth == 0 && LOOSE.contains(&&source[start..at]) {
                        return None;
                    }
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        // A string of which a method is called, or to which a filter is applied, is printed otherwise than it stands there.
        strings.retain(|string| {
            let behind = source[string.end.min(range.end)..range.end].trim_start();
            behind.is_empty() || behind.starts_with(['+', '~'])
        });
        Some(Self { signs, strings })
    }

    /// The cut at the operator behind the operand that holds the byte at `place`.
    pub(super) fn behind(&self, place: usize) -> Option<Cut> {
        let next = self.signs.partition_point(|sign| *sign <= place);
        self.signs.get(next).map(|sign| Cut::Sign(*sign))
    }

    /// The cut at the operator before the operand that holds the byte at `place`.
    pub(super) fn before(&self, place: usize) -> Option<Cut> {
        let next = self.signs.partition_point(|sign| *sign <= place);
        let sign = self.signs.get(next.checked_sub(1)?)?;
        Some(Cut::Sign(*sign))
    }

    /// The cut before the character at `place` of a string.
    pub(super) fn within(&self, source: &str, place: usize) -> Option<Cut> {
        let string = self
            .strings
            .iter()
            .find(|string| string.start < place && place < string.end)?;
        let quote = source[string.start..].chars().next()?;
        Some(Cut::Within(place, quote))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_alone_can_be_cut() {
        let source = "'<a>' + f(x + 1) ~ y.z|trim + \"b\"";
        let sum = Sum::read(source, 0..source.len()).expect("a sum");
        assert_eq!(sum.signs, [6, 17, 28]);
        assert_eq!(sum.strings, [0..5, 30..33]);
        assert_eq!(sum.behind(2), Some(Cut::Sign(6)));
        assert_eq!(sum.before(19), Some(Cut::Sign(17)));
        assert_eq!(sum.within(source, 2), Some(Cut::Within(2, '\'')));
        for other in ["a + b if c", "a == b + c", "a + b and c", "a - b"] {
            assert_eq!(Sum::read(other, 0..other.len()), None, "{other}");
        }
        let upper = "'a'.upper() + 'b'";
        let sum = Sum::read(upper, 0..upper.len()).expect("a sum");
        assert_eq!(sum.strings.as_slice(), std::slice::from_ref(&(14..17)));
    }
}
