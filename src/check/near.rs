//! Where in a text something stands that is nearly another text.
//!
//! A fixture that loses text often does so by a marker with one wrong character, and naming the place is worth more than saying that the marker is
//! missing. The algorithm is Sellers's: the table of the edit distance, whose first row is nothing but zeros, so that a match may begin
//! anywhere; kept are one column of it and where each of its matches began. The work is the product of both lengths, which is why both have a limit; a
//! text beyond it is not looked through.

use std::ops::Range;

/// The longest text that is looked through, in bytes.
const TEXT: usize = 64 << 10;

/// The longest text that is looked for, in bytes.
const WANTED: usize = 256;

/// The part of `text` that is nearest to `wanted`, in bytes, and how many characters have to be inserted, removed or replaced to
/// make the one of the other; the first of several. `None` where nothing is within `most` changes, or a text is too long to look.
pub(super) fn nearest(wanted: &str, text: &str, most: usize) -> Option<(Range<usize>, usize)> {
    if text.len() > TEXT || wanted.len() > WANTED {
        return None;
    }
    let wanted: Vec<char> = wanted.chars().collect();
    // For each length of `wanted`, the fewest changes to a part that ends here, and where that begins.
    let mut column: Vec<(usize, usize)> = (0..=wanted.len()).map(|cost| (cost, 0)).collect();
    let mut best: Option<(Range<usize>, usize)> = None;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let mut diagonal = column[0];
        column[0] = (0, end);
        for (row, wanted) in wanted.iter().enumerate() {
            let replaced = (diagonal.0 + usize::from(*wanted != c), diagonal.1);
            diagonal = column[row + 1];
            let inserted = (diagonal.0 + 1, diagonal.1);
            let removed = (column[row].0 + 1, column[row].1);
            // Of equal costs the part that begins last is the shorter.
            column[row + 1] = [replaced, inserted, removed]
                .into_iter()
                .min_by_key(|(cost, start)| (*cost, std::cmp::Reverse(*start)))
                .unwrap_or(replaced);
        }
        let (cost, start) = column[wanted.len()];
        if cost <= most && best.as_ref().is_none_or(|(_, least)| cost < *least) {
            best = Some((start..end, cost));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'t>(wanted: &str, text: &'t str, most: usize) -> Option<(&'t str, usize)> {
        nearest(wanted, text, most).map(|(span, cost)| (&text[span], cost))
    }

    #[test]
    fn the_nearest_part_is_found() {
        assert_eq!(found("</thnk>", "a</think>b", 2), Some(("</think>", 1)));
        assert_eq!(found("</tthink>", "a</think>b", 2), Some(("</think>", 1)));
        assert_eq!(
            found("<\u{e9}nd>", "\u{20ac}<end>\u{20ac}", 1),
            Some(("<end>", 1))
        );
        assert_eq!(found("<end>", "x<end>y<emd>", 1), Some(("<end>", 0)));
        assert_eq!(found("</call>", "a</think>b", 1), None);
        assert_eq!(found("ab", "", 1), None);
        assert_eq!(found("a", &"b".repeat(TEXT + 1), 1), None);
    }
}
