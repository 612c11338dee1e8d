//! Lines and columns.

use obverse::diagnostic::Diagnostic;

/// A place in a text, lines and columns counted from one, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) end_line: usize,
    /// The column behind the last character.
    pub(super) end_column: usize,
}

impl Place {
    /// The place of a diagnostic: of its first label where that points into it, as at a sign of a pattern.
    pub(super) fn of(diagnostic: &Diagnostic, text: &str) -> Option<Self> {
        let span = diagnostic.place.span.as_ref()?;
        let span = diagnostic
            .labels
            .iter()
            .map(|label| &label.span)
            .find(|label| span.start <= label.start && label.end <= span.end)
            .unwrap_or(span);
        let (line, column) = position(text, span.start);
        let (end_line, end_column) = position(text, span.end);
        Some(Self {
            line,
            column,
            end_line,
            end_column,
        })
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
