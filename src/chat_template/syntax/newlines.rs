//! Jinja reads `\r\n` and `\r` as `\n`; places must still count the bytes of the source as it was given.

use super::places::Places;

/// A source with `\n` for every line end, and the way back.
#[derive(Debug)]
pub(super) struct Newlines {
    pub(super) text: String,
    /// Offsets into `text` behind which one more byte of the source was dropped.
    dropped: Vec<u32>,
}

impl Newlines {
    pub(super) fn normalize(source: &str) -> Self {
        if !source.contains('\r') {
            return Self {
                text: source.to_owned(),
                dropped: Vec::new(),
            };
        }
        let mut text = String::with_capacity(source.len());
        let mut dropped = Vec::new();
        let mut chars = source.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '\r' {
                text.push(c);
                continue;
            }
            text.push('\n');
            if chars.next_if_eq(&'\n').is_some() {
                dropped.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
            }
        }
        Self { text, dropped }
    }

    /// Where a part of the text, borrowed from it, stands in the source; `fallback` is its offset if it is not borrowed.
    pub(super) fn places(&self, part: &str, fallback: u32) -> Places {
        let start = part
            .as_ptr()
            .addr()
            .checked_sub(self.text.as_ptr().addr())
            .filter(|start| start + part.len() <= self.text.len())
            .unwrap_or(fallback as usize);
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let (mut at, end) = (start, start + part.len());
        let mut places = Places::default();
        for dropped in &self.dropped {
            let behind = *dropped as usize;
            if behind <= at || behind > end {
                continue;
            }
            let even = behind - 1 - at;
            places.push(even, self.original(offset(at)), offset(even));
            places.push(1, self.original(offset(behind - 1)), 2);
            at = behind;
        }
        places.push(end - at, self.original(offset(at)), offset(end - at));
        places
    }

    /// The offset into the source of an offset into the text.
    pub(super) fn original(&self, offset: u32) -> u32 {
        let dropped = self.dropped.partition_point(|&at| at <= offset);
        offset.saturating_add(u32::try_from(dropped).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::Newlines;

    #[test]
    fn places_survive() {
        let lines = Newlines::normalize("a\r\nb\rc\nd");
        assert_eq!(lines.text, "a\nb\nc\nd");
        assert_eq!([0, 2, 4, 6].map(|at| lines.original(at)), [0, 3, 5, 7]);
    }
}
