//! Where in the source the characters of a constant stand.

/// A stretch of a constant and the stretch of the source that writes it. Of the same length they are the same bytes; else the
/// stretch is one escape, or a line end that is written with two characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    value: u32,
    value_len: u32,
    source: u32,
    source_len: u32,
}

/// Where each character of a constant stands in the source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::chat_template) struct Places {
    stretches: Vec<Stretch>,
}

impl Places {
    /// The next bytes of the value stand in these bytes of the source.
    pub(super) fn push(&mut self, value_len: usize, source: u32, source_len: u32) {
        if value_len == 0 && source_len == 0 {
            return;
        }
        let value_len = u32::try_from(value_len).unwrap_or(u32::MAX);
        let value = self
            .stretches
            .last()
            .map_or(0, |last| last.value + last.value_len);
        if let Some(last) = self.stretches.last_mut() {
            let both_even = last.value_len == last.source_len && value_len == source_len;
            if both_even && last.source + last.source_len == source {
                last.value_len += value_len;
                last.source_len += source_len;
                return;
            }
        }
        self.stretches.push(Stretch {
            value,
            value_len,
            source,
            source_len,
        });
    }

    /// The bytes of the source that write these bytes of the value.
    pub(in crate::chat_template) fn source(&self, (from, to): (usize, usize)) -> (usize, usize) {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let (from, to) = (offset(from), offset(to));
        let first = self
            .stretches
            .partition_point(|stretch| stretch.value <= from)
            .saturating_sub(1);
        let start = self.stretches.get(first).map_or(0, |stretch| {
            if stretch.value_len == stretch.source_len {
                stretch.source + (from - stretch.value).min(stretch.source_len)
            } else {
                stretch.source
            }
        });
        if to <= from {
            return (start as usize, start as usize);
        }
        let last = self
            .stretches
            .partition_point(|stretch| stretch.value < to)
            .saturating_sub(1);
        let end = self.stretches.get(last).map_or(start, |stretch| {
            if stretch.value_len == stretch.source_len {
                stretch.source + (to - stretch.value).min(stretch.source_len)
            } else {
                stretch.source + stretch.source_len
            }
        });
        (start as usize, end.max(start) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[test]
    fn an_escape_is_taken_whole() {
        // The value `ab\ncd`, written `ab\\ncd` from byte 10 on.
        let mut places = Places::default();
        places.push(1, 10, 1);
        places.push(1, 11, 1);
        places.push(1, 12, 2);
        places.push(2, 14, 2);
        assert_eq!(places.source((0, 5)), (10, 16));
        assert_eq!(places.source((1, 2)), (11, 12));
        assert_eq!(places.source((2, 3)), (12, 14));
        assert_eq!(places.source((3, 4)), (14, 15));
        assert_eq!(places.source((2, 2)), (12, 12));
    }
}
