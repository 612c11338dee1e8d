//! Lines and columns.

use obverse::diagnostic::Diagnostic;

use super::Outcome;

/// A place in a file, lines and columns counted from one, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FilePlace {
    pub(super) line: usize,
    /// `None`: the place is somewhere in the line.
    pub(super) columns: Option<Columns>,
}

/// From where to where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) start: usize,
    pub(super) end_line: usize,
    /// The column behind the last character.
    pub(super) end: usize,
}

impl FilePlace {
    /// The place of a diagnostic: of its first label where that points into it, as at a sign of a pattern. In what is on
    /// a line of a file it is the line.
    pub(super) fn of(diagnostic: &Diagnostic, outcome: &Outcome) -> Option<Self> {
        if let Some(line) = outcome.line {
            return Some(Self {
                line,
                columns: None,
            });
        }
        let text = outcome.text.as_str();
        let span = diagnostic.place.span.as_ref()?;
        let span = diagnostic
            .labels
            .iter()
            .map(|label| &label.span)
            .find(|label| span.start <= label.start && label.end <= span.end)
            .unwrap_or(span);
        let (line, start) = position(text, span.start);
        let (end_line, end) = position(text, span.end);
        let columns = Some(Columns {
            start,
            end_line,
            end,
        });
        Some(Self { line, columns })
    }

    /// The line, and the column behind a colon where there is one.
    pub(super) fn text(&self) -> String {
        match &self.columns {
            Some(columns) => format!("{}:{}", self.line, columns.start),
            None => self.line.to_string(),
        }
    }
}

/// The line and column of a byte offset.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::position;

    #[test]
    fn positions_are_counted_in_characters() {
        assert_eq!(position("é\néa", 6), (2, 3));
        assert_eq!(position("é", 1), (1, 1));
        assert_eq!(position("", 9), (1, 1));
    }
}
