//! The derivation: the markers, and for the chosen one the two renders that it was read from, side by side.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use crate::derive::{Piece, Side, diff};
use crate::tui::layout;
use crate::tui::layout::Pane;
use crate::tui::state::{Derivation, Marker, State};
use crate::tui::text::{Rows, glyph, wrapped_to};
use crate::tui::theme::Role;
use crate::value::json;

/// Lines that both renders share, around a difference.
const CONTEXT: usize = 3;

pub(super) fn draw(state: &State, area: Rect, canvas: &mut Canvas<'_>) {
    let Some(derivation) = &state.derivation else {
        return;
    };
    let scroll = state.scroll(Pane::Derivation);
    let list_height = layout::markers_height(area);
    let list = Rect {
        height: list_height,
        ..area
    };
    markers(derivation, scroll.row, list, canvas);
    let below = Rect {
        y: area.y + list_height,
        height: area.height - list_height,
        ..area
    };
    if let Some(marker) = derivation.markers.get(scroll.row) {
        let written = marker.written(derivation.name());
        let notes = [Some(marker.reading.clone()), written];
        let below = told(&notes, below, canvas);
        renders(marker, scroll.top, below, canvas);
    } else {
        let verdict = if derivation.verified {
            "proved"
        } else {
            "not proved"
        };
        canvas.put(
            below,
            below.x,
            below.y,
            &format!(" {verdict}: {}", derivation.source),
            Role::Plain,
        );
    }
}

fn markers(derivation: &Derivation, chosen: usize, area: Rect, canvas: &mut Canvas<'_>) {
    let height = usize::from(area.height);
    let top = layout::top_of_markers(area.height, chosen);
    for (row, marker) in derivation.markers.iter().enumerate().skip(top).take(height) {
        let y = area.y + u16::try_from(row - top).unwrap_or(u16::MAX);
        let sign = if row == chosen { "›" } else { " " };
        let x = canvas.put(area, area.x, y, sign, Role::Title);
        let x = canvas.put(area, x, y, &format!("{:<16} ", marker.decision), Role::Dim);
        canvas.put(area, x, y, &json::quote(&marker.text), Role::Title);
    }
}

/// Draws how the marker was read off and what writes it, and returns the area that is left.
fn told(notes: &[Option<String>], area: Rect, canvas: &mut Canvas<'_>) -> Rect {
    let mut left = area;
    // The renders below need the rows of a low pane.
    let most = if area.height > 8 { 2 } else { 1 };
    let width = usize::from(area.width).saturating_sub(1);
    for row in notes
        .iter()
        .flatten()
        .flat_map(|note| wrapped_to(note, width, most))
    {
        if left.height > 0 {
            canvas.put(left, left.x + 1, left.y, &row, Role::Dim);
            left.y += 1;
            left.height -= 1;
        }
    }
    left
}

/// The two renders side by side.
fn renders(marker: &Marker, top: usize, area: Rect, canvas: &mut Canvas<'_>) {
    if area.height == 0 {
        return;
    }
    let half = area.width.saturating_sub(1) / 2;
    let pieces = diff(&marker.left.1, &marker.right.1);
    for (side, variant, x) in [
        (Side::Left, &marker.left.0, area.x),
        (Side::Right, &marker.right.0, area.x + half + 1),
    ] {
        let column = Rect {
            x,
            width: half.min(area.right().saturating_sub(x)),
            ..area
        };
        if column.height == 0 || column.width == 0 {
            continue;
        }
        let role = if side == Side::Left {
            Role::Removed
        } else {
            Role::Added
        };
        canvas.put(column, column.x, column.y, variant, role);
        let body = Rect {
            y: column.y + 1,
            height: column.height - 1,
            ..column
        };
        render(&pieces, side, top, body, canvas);
    }
    for y in area.y..area.bottom() {
        canvas.put(area, area.x + half, y, "│", Role::Rule);
    }
}

/// Draws one render, and marks in it what the other one does not have.
fn render(pieces: &[Piece], side: Side, top: usize, area: Rect, canvas: &mut Canvas<'_>) {
    let mut text = String::new();
    let mut own = Vec::new();
    let last = pieces.len().saturating_sub(1);
    for (index, piece) in pieces.iter().enumerate() {
        let start = text.len();
        if piece.side == Side::Both {
            text.push_str(&shared(&piece.text, index == 0, index == last));
        } else if piece.side == side {
            text.push_str(&piece.text);
            own.push(start..text.len());
        }
    }
    let (role, open, close) = match side {
        Side::Right => (Role::Added, '{', '}'),
        Side::Left | Side::Both => (Role::Removed, '[', ']'),
    };
    // The signs tell the difference where there are no colours.
    for range in own.iter_mut().rev() {
        text.insert(range.end, close);
        text.insert(range.start, open);
    }
    let shifted: Vec<_> = own
        .iter()
        .enumerate()
        .map(|(number, range)| range.start + 2 * number..range.end + 2 * number + 2)
        .collect();
    let rows = Rows::new(&text, usize::from(area.width));
    let height = usize::from(area.height);
    for (line, row) in (top..rows.count()).take(height).enumerate() {
        let y = area.y + u16::try_from(line).unwrap_or(u16::MAX);
        let span = rows.span(row);
        let mut x = area.x;
        for (at, c) in text[span.clone()].char_indices() {
            let is_own = shifted
                .iter()
                .any(|range| range.contains(&(span.start + at)));
            let style = canvas.style(if is_own { role } else { Role::Plain });
            if usize::from(x - area.x) + glyph(c).width <= usize::from(area.width) {
                x = canvas.glyph(area, x, y, c, style);
            }
        }
    }
}

/// The part of a shared piece that is near a difference.
fn shared(text: &str, first: bool, last: bool) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let head = if first { 0 } else { CONTEXT };
    let tail = if last { 0 } else { CONTEXT };
    if lines.len() <= head + tail + 1 {
        return text.to_owned();
    }
    let (begin, end) = (&lines[..head], &lines[lines.len() - tail..]);
    format!("{}…\n{}", begin.concat(), end.concat())
}
