//! The longest common subsequence of two sequences.
//!
//! Dynamic programming fills a table with the length of the longest common subsequence of what is left of both from each place on (Wagner and
//! Fischer, 1974). For sequences of `n` and `m` items it takes `n * m` steps.

/// The longest common subsequence of two sequences of these lengths, by the indices in both. Of equally long ones it is the one whose items
/// come first in the second sequence.
pub(super) fn longest_common(
    rows: usize,
    width: usize,
    is_same: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    let mut longest = vec![vec![0_usize; width + 1]; rows + 1];
    for row in (0..rows).rev() {
        for at in (0..width).rev() {
            longest[row][at] = match is_same(row, at) {
                true => longest[row + 1][at + 1] + 1,
                false => longest[row + 1][at].max(longest[row][at + 1]),
            };
        }
    }
    let (mut row, mut at) = (0, 0);
    let mut found = Vec::new();
    while row < rows && at < width {
        if is_same(row, at) {
            found.push((row, at));
            row += 1;
            at += 1;
        } else if longest[row + 1][at] >= longest[row][at + 1] {
            row += 1;
        } else {
            at += 1;
        }
    }
    found
}
