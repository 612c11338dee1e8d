//! Ranges of a text, and in what two sets of them differ.

/// Ranges in order, without empty ones, those that touch made one.
pub(super) fn joined(mut ranges: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    ranges.retain(|(start, end)| start < end);
    ranges.sort_unstable();
    ranges.dedup_by(|next, last| {
        let touches = next.0 <= last.1;
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
    ranges
}

/// What is in `some` and not in `others`.
pub(super) fn beyond(some: &[(usize, usize)], others: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    for (start, end) in some {
        let mut at = *start;
        for (from, to) in others.iter().filter(|(from, to)| from < end && to > start) {
            if at < *from {
                out.push((at, *from));
            }
            at = at.max(*to);
        }
        if at < *end {
            out.push((at, *end));
        }
    }
    out
}

#[test]
fn what_one_set_has_beyond_another() {
    let some = [(0, 4), (6, 9)];
    assert_eq!(beyond(&some, &[(1, 2), (3, 7)]), [(0, 1), (2, 3), (7, 9)]);
    assert_eq!(beyond(&some, &some), []);
}
