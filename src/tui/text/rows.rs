//! Where the rows of a text begin when it is wrapped at a width.

use super::glyph::glyph;

/// The rows of a text. Made once for a text and a width; a frame then draws only the rows that it shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    width: usize,
    /// The byte at which each row begins.
    starts: Vec<u32>,
    length: usize,
}

impl Rows {
    /// Wraps at `width` columns and after each line feed, which may stand behind them. What is wider than a row has one for itself.
    pub(crate) fn new(text: &str, width: usize) -> Self {
        let mut rows = Self {
            width,
            starts: vec![0],
            length: 0,
        };
        rows.grow(text);
        rows
    }

    /// Goes on with a text of which it knows the beginning.
    pub(crate) fn grow(&mut self, text: &str) {
        let last = self.starts.pop().unwrap_or(0);
        self.starts.push(last);
        let mut column = 0;
        for (at, c) in text[last as usize..].char_indices() {
            let at = last as usize + at;
            // The common case needs no glyph.
            let width = if (' '..='~').contains(&c) {
                1
            } else {
                glyph(c).width
            };
            // A line feed never needs a row: its sign may stand one column further out.
            if c != '\n' && column > 0 && column + width > self.width {
                self.starts.push(u32::try_from(at).unwrap_or(u32::MAX));
                column = 0;
            }
            column += width;
            if c == '\n' {
                let next = at + 1;
                self.starts.push(u32::try_from(next).unwrap_or(u32::MAX));
                column = 0;
            }
        }
        self.length = text.len();
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The text's length in bytes.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    /// The row that has the byte; the last one for what lies behind the end.
    pub(crate) fn row_of(&self, byte: usize) -> usize {
        let after = self.starts.partition_point(|start| *start as usize <= byte);
        after.saturating_sub(1)
    }

    /// The bytes of a row.
    pub(crate) fn span(&self, row: usize) -> std::ops::Range<usize> {
        let at = |row: usize| {
            self.starts
                .get(row)
                .map_or(self.length, |start| *start as usize)
        };
        at(row)..at(row + 1)
    }

    /// The byte whose glyph is at the column of a row, or the row's end.
    pub(crate) fn byte_at(&self, text: &str, row: usize, column: usize) -> usize {
        let span = self.span(row);
        let mut used = 0;
        for (at, c) in text[span.clone()].char_indices() {
            used += glyph(c).width;
            if used > column || c == '\n' {
                return span.start + at;
            }
        }
        // The end of a row that goes on is the beginning of the next.
        if row + 1 < self.count() {
            let last = text[span.clone()].char_indices().next_back();
            return last.map_or(span.start, |(at, _)| span.start + at);
        }
        span.end
    }

    /// The column of a byte in its row.
    pub(crate) fn column_of(&self, text: &str, byte: usize) -> usize {
        let start = self.span(self.row_of(byte)).start;
        text[start..byte.max(start)]
            .chars()
            .map(|c| glyph(c).width)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, width: usize) -> Vec<&str> {
        let rows = Rows::new(text, width);
        (0..rows.count()).map(|row| &text[rows.span(row)]).collect()
    }

    #[test]
    fn rows_wrap_at_the_width_and_after_line_feeds() {
        assert_eq!(rows("abcd\nef", 3), ["abc", "d\n", "ef"]);
        assert_eq!(rows("abc\n", 3), ["abc\n", ""]);
        assert_eq!(rows("", 3), [""]);
        assert_eq!(rows("漢字x", 3), ["漢", "字x"]);
        assert_eq!(rows("\u{202e}x", 2), ["\u{202e}", "x"]);
        assert_eq!(rows("ab", 0), ["a", "b"]);
    }

    #[test]
    fn bytes_and_columns_lead_to_each_other() {
        let text = "a漢\u{202e}b\ncd";
        let rows = Rows::new(text, 20);
        for (byte, c) in text.char_indices() {
            let (row, column) = (rows.row_of(byte), rows.column_of(text, byte));
            assert_eq!(rows.byte_at(text, row, column), byte, "{c:?}");
        }
        assert_eq!(rows.byte_at(text, 1, 99), text.len());
    }

    #[test]
    fn what_grows_has_the_rows_of_the_whole() {
        let text = "some\nwords 漢字 and\n\nmore";
        for cut in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let mut rows = Rows::new(&text[..cut], 5);
            rows.grow(text);
            assert_eq!(rows, Rows::new(text, 5), "{cut}");
        }
    }
}
