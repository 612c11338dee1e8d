//! The response template, the field at work, and what is wrong with an edit where it is wrong.

use std::ops::Range;

use ratatui::layout::Rect;

use super::canvas::Canvas;
use crate::diagnostic::{Diagnostic, Severity};
use crate::tui::layout::Pane;
use crate::tui::layout::{self, GUTTER};
use crate::tui::state::{Edited, Mode, State};
use crate::tui::theme::Role;

pub(super) fn draw(state: &State, area: Rect, canvas: &mut Canvas<'_>) {
    let template = &state.template;
    let text = template.text();
    let told = template.told(area);
    let height = layout::template_height(area, told.len());
    let rows_area = Rect { height, ..area };
    let top = state.scroll(Pane::Template).top;
    let work = at_work(state);
    let cursor = match state.mode {
        Mode::Edit(Edited::Template) => Some(template.editor.cursor()),
        _ => None,
    };
    let spans: Vec<(Range<usize>, &Diagnostic)> = template
        .diagnostics
        .iter()
        .filter_map(|diagnostic| Some((place(diagnostic)?, diagnostic)))
        .collect();
    let rows = &state.template_rows;
    for (line, row) in (top..rows.count()).take(usize::from(height)).enumerate() {
        let y = area.y + u16::try_from(line).unwrap_or(u16::MAX);
        let span = rows.span(row);
        let touches = |range: &Range<usize>| {
            range.start < span.end.max(span.start + 1) && range.end > span.start
        };
        let is_at_work = work.field.as_ref().is_some_and(|(range, _)| touches(range));
        let wrong = spans
            .iter()
            .find(|(range, _)| rows.row_of(range.start) == row);
        if let Some((_, diagnostic)) = wrong {
            let role = severity_role(diagnostic);
            canvas.put(rows_area, area.x, y, "✗", role);
        } else if is_at_work {
            let field = work.field.as_ref().map_or(0, |(_, field)| *field);
            let sign = if work.delimiters.iter().any(touches) {
                "▶"
            } else {
                "▌"
            };
            canvas.put(rows_area, area.x, y, sign, Role::Field(field));
        }
        let mut x = area.x + GUTTER;
        for (at, c) in text.get(span.clone()).unwrap_or_default().char_indices() {
            let byte = span.start + at;
            let role = match &work.field {
                Some((range, field)) if range.contains(&byte) => {
                    if work.delimiters.iter().any(|range| range.contains(&byte)) {
                        Role::Delimiter(*field)
                    } else {
                        Role::Field(*field)
                    }
                }
                _ => Role::Plain,
            };
            let mut style = canvas.style(role);
            if spans.iter().any(|(range, _)| range.contains(&byte)) {
                style = style.patch(canvas.style(Role::Error));
            }
            if cursor == Some(byte) {
                style = style.patch(canvas.style(Role::Cursor));
            }
            // Of line feeds only the one under the cursor is to be seen.
            let shown = if c == '\n' { ' ' } else { c };
            x = canvas.glyph(rows_area, x, y, shown, style);
        }
        if cursor == Some(text.len()) && row + 1 == rows.count() {
            let style = canvas.style(Role::Cursor);
            canvas.glyph(rows_area, x, y, ' ', style);
        }
        if let Some((_, diagnostic)) = wrong
            && x + 6 < area.right()
        {
            let message = format!(" ← {}", diagnostic.message);
            canvas.put(rows_area, x, y, &message, severity_role(diagnostic));
        }
    }
    let role = template.diagnostics.first().map(severity_role);
    let below = area.top() + height..area.bottom();
    for ((text, is_hint), y) in told.iter().zip(below) {
        let role = role.filter(|_| !is_hint).unwrap_or(Role::Dim);
        canvas.put(area, area.x, y, text, role);
    }
}

fn severity_role(diagnostic: &Diagnostic) -> Role {
    match diagnostic.severity {
        Severity::Error => Role::Error,
        Severity::Warning | Severity::Info => Role::Warning,
    }
}

/// Where a diagnostic points; inside a pattern, where it points there.
fn place(diagnostic: &Diagnostic) -> Option<Range<usize>> {
    let label = diagnostic.labels.first().map(|label| label.span.clone());
    let span = label.or_else(|| diagnostic.place.span.clone())?;
    Some(span.start..span.end.max(span.start + 1))
}

/// The field at work, and its delimiters that are under way.
struct Work {
    field: Option<(Range<usize>, usize)>,
    delimiters: Vec<Range<usize>>,
}

fn at_work(state: &State) -> Work {
    let now = state.now();
    let chosen = state.entry.and_then(|entry| now.entries().get(entry));
    let field = chosen
        .and_then(|entry| now.timeline.entry_field(entry))
        .or_else(|| now.open().map(|region| region.field))
        .or_else(|| now.watches().first().map(|watch| watch.field))
        .or_else(|| now.timeline.template().implicit());
    let name = |field: usize| now.timeline.field_name(field);
    Work {
        delimiters: now
            .watches()
            .iter()
            .filter_map(|watch| state.template.delimiter(name(watch.field), watch.side))
            .collect(),
        field: field.and_then(|field| Some((state.template.field(name(field))?, field))),
    }
}
