//! The overlays, which lie over the panes: lists, differences, texts in full; and the line that asks.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use crate::tui::layout;
use crate::tui::state::{Confirm, Mode, Pick, Picked, Prompt, Quit, Saves, Shown, State};
use crate::tui::text::{Rows, glyph};
use crate::tui::theme::Role;

pub(super) fn draw(state: &State, area: Rect, canvas: &mut Canvas<'_>) {
    let area = layout::over(area);
    match &state.mode {
        Mode::Pick(pick) => draw_pick(pick, area, canvas),
        Mode::Confirm(confirm) => draw_confirm(confirm, area, canvas),
        Mode::Show(shown) => draw_shown(shown, area, canvas),
        Mode::Quit(quit) => draw_quit(quit, area, canvas),
        Mode::Normal | Mode::Edit(_) | Mode::Prompt(_) => {}
    }
}

/// The line that asks, with what has been written.
pub(super) fn prompt(prompt: &Prompt, area: Rect, canvas: &mut Canvas<'_>) {
    let text = prompt.editor.text();
    let cursor = prompt.editor.cursor();
    let question = format!("{}: ", prompt.asked.question());
    let asked = if usize::from(area.width) > question.len() + 12 {
        question.as_str()
    } else {
        ": "
    };
    let start = canvas.put(area, area.x, area.y, asked, Role::Title);
    let room = usize::from(area.right().saturating_sub(start)).saturating_sub(1);
    // The end of what stands before the cursor is always shown.
    let mut from = cursor;
    let mut used = 0;
    for (at, c) in text[..cursor].char_indices().rev() {
        used += glyph(c).width;
        if used > room {
            break;
        }
        from = at;
    }
    let mut x = start;
    for (at, c) in text[from..].char_indices() {
        let role = if from + at == cursor {
            Role::Cursor
        } else {
            Role::Plain
        };
        let style = canvas.style(role);
        x = canvas.glyph(area, x, area.y, c, style);
    }
    if cursor == text.len() {
        let style = canvas.style(Role::Cursor);
        canvas.glyph(area, x, area.y, ' ', style);
    }
}

pub(super) fn pick_hints(pick: &Pick) -> &'static [(&'static str, &'static str)] {
    match pick.picked {
        Picked::Breakpoints => &[
            ("Enter", "on or off"),
            ("a", "add"),
            ("d", "delete"),
            ("Esc", "back"),
            ("?", "help"),
        ],
        Picked::Chunkings(_) => &[
            ("Enter", "choose"),
            ("a", "another"),
            ("Esc", "back"),
            ("?", "help"),
        ],
        Picked::Samples(_) => &[
            ("Enter", "choose"),
            ("/", "search in them"),
            ("Esc", "back"),
            ("?", "help"),
        ],
        Picked::Fields => &[("Enter", "choose"), ("Esc", "back"), ("?", "help")],
    }
}

fn draw_pick(pick: &Pick, area: Rect, canvas: &mut Canvas<'_>) {
    let title = match pick.picked {
        Picked::Samples(_) => "samples",
        Picked::Fields => "fields",
        Picked::Breakpoints => "breakpoints",
        Picked::Chunkings(_) => "chunks",
    };
    let place = layout::list_of(area, &pick.rows, pick.row);
    let inside = canvas.open_box(place.outside, title);
    let (height, top) = (usize::from(inside.height), place.top);
    for (index, row) in pick.rows.iter().enumerate().skip(top).take(height) {
        let y = inside.y + u16::try_from(index - top).unwrap_or(u16::MAX);
        let sign = if index == pick.row { "› " } else { "  " };
        let x = canvas.put(inside, inside.x, y, sign, Role::Title);
        canvas.put(inside, x, y, row, Role::Plain);
        if index == pick.row {
            canvas.fill(
                Rect {
                    y,
                    height: 1,
                    ..inside
                },
                Role::Chosen,
            );
        }
    }
}

fn draw_confirm(confirm: &Confirm, area: Rect, canvas: &mut Canvas<'_>) {
    let title = match confirm.saves {
        Saves::Fixture => "save this fixture? y n",
        Saves::Template => "save this template? y n",
    };
    let height = u16::try_from(confirm.lines.len() + 2).unwrap_or(u16::MAX);
    let width = area.width.saturating_sub(4).max(20);
    let inside = canvas.open_box(layout::centred(area, width, height), title);
    let shown = usize::from(inside.height);
    let top = confirm.top.min(confirm.lines.len().saturating_sub(shown));
    for (row, (sign, text)) in confirm.lines.iter().skip(top).take(shown).enumerate() {
        let y = inside.y + u16::try_from(row).unwrap_or(u16::MAX);
        let role = match sign {
            '+' => Role::Added,
            '-' => Role::Removed,
            '=' => Role::Title,
            _ => Role::Dim,
        };
        let lead = if *sign == '=' {
            String::new()
        } else {
            sign.to_string()
        };
        canvas.put(inside, inside.x, y, &format!("{lead}{text}"), role);
    }
}

fn draw_quit(quit: &Quit, area: Rect, canvas: &mut Canvas<'_>) {
    let title = "not saved; quit? y n";
    let widest = quit.rows.iter().map(|row| row.chars().count()).max();
    let width = u16::try_from(widest.unwrap_or(0) + 2).unwrap_or(u16::MAX);
    let least = u16::try_from(title.len() + 6).unwrap_or(u16::MAX);
    let height = u16::try_from(quit.rows.len() + 2).unwrap_or(u16::MAX);
    let inside = canvas.open_box(layout::centred(area, width.max(least), height), title);
    for (row, y) in quit.rows.iter().zip(inside.top()..inside.bottom()) {
        canvas.put(inside, inside.x, y, row, Role::Plain);
    }
}

fn draw_shown(shown: &Shown, area: Rect, canvas: &mut Canvas<'_>) {
    let width = area
        .width
        .saturating_sub(4)
        .clamp(1, 100)
        .max(area.width.min(20));
    let inner = usize::from(width.saturating_sub(2)).max(1);
    let rows = Rows::new(&shown.text, inner);
    let height = u16::try_from(rows.count() + 2).unwrap_or(u16::MAX);
    let inside = canvas.open_box(layout::centred(area, width, height), &shown.title);
    let height = usize::from(inside.height);
    let top = shown.top.min(rows.count().saturating_sub(height));
    for (line, row) in (top..rows.count()).take(height).enumerate() {
        let y = inside.y + u16::try_from(line).unwrap_or(u16::MAX);
        let text = &shown.text[rows.span(row)];
        let is_heading = shown.is_help && !text.starts_with(' ');
        let style = canvas.style(if is_heading { Role::Title } else { Role::Plain });
        let mut x = inside.x;
        for c in text.chars() {
            if shown.is_laid_out && c == '\n' {
                continue;
            }
            x = canvas.glyph(inside, x, y, c, style);
        }
    }
    if rows.count() > top + height && height > 0 && inside.width > 2 {
        canvas.put(
            inside,
            inside.right() - 1,
            inside.bottom() - 1,
            "↓",
            Role::Title,
        );
    }
}
