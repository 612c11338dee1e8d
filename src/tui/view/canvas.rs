//! Drawing text. Everything on the screen goes through here, where what a terminal would act upon is spelled out.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Clear, Widget as _};

use crate::tui::text::glyph;
use crate::tui::theme::{Role, Theme};

/// Marks on one character, in bytes: more of them are left out.
const MARKS: usize = 24;

/// A buffer to draw on.
pub(super) struct Canvas<'b> {
    buffer: &'b mut Buffer,
    theme: Theme,
}

impl<'b> Canvas<'b> {
    pub(super) fn new(buffer: &'b mut Buffer, theme: Theme) -> Self {
        Self { buffer, theme }
    }

    pub(super) fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// Draws text from a column on, no further than the area; returns the column behind it. Where it does not fit, `…` ends
    /// it.
    pub(super) fn put(&mut self, area: Rect, x: u16, y: u16, text: &str, role: Role) -> u16 {
        let room = usize::from(area.right().saturating_sub(x));
        self.put_within(area, x, y, text, role, room)
    }

    /// Draws text as [`put`](Self::put) does, in at most so many columns.
    pub(super) fn put_within(
        &mut self,
        area: Rect,
        x: u16,
        y: u16,
        text: &str,
        role: Role,
        room: usize,
    ) -> u16 {
        let room = room.min(usize::from(area.right().saturating_sub(x)));
        let style = self.style(role);
        let text = super::super::text::line(text, room);
        let mut x = x;
        for c in text.chars() {
            x = self.glyph(area, x, y, c, style);
        }
        x
    }

    /// Draws one character; returns the column behind it.
    pub(super) fn glyph(&mut self, area: Rect, x: u16, y: u16, c: char, style: Style) -> u16 {
        let shown = glyph(c);
        let width = u16::try_from(shown.width).unwrap_or(u16::MAX);
        let area = area.intersection(self.buffer.area);
        if y < area.top() || y >= area.bottom() || x < area.left() {
            return x.saturating_add(width);
        }
        if width == 0 {
            // A mark stands on the character before it.
            if x > area.left()
                && x <= area.right()
                && let Some(cell) = self.buffer.cell_mut((x - 1, y))
                && cell.symbol().len() + c.len_utf8() <= MARKS
                && cell.symbol().trim() != ""
            {
                let symbol = format!("{}{c}", cell.symbol());
                cell.set_symbol(&symbol);
            }
            return x;
        }
        let style = if shown.is_spelled {
            style.patch(self.style(Role::Spelled))
        } else {
            style
        };
        if shown.is_spelled || width == 1 {
            let mut at = x;
            for c in shown.text.chars() {
                if at < area.right()
                    && let Some(cell) = self.buffer.cell_mut((at, y))
                {
                    cell.set_char(c).set_style(style);
                }
                at = at.saturating_add(1);
            }
        } else if x + width <= area.right() {
            if let Some(cell) = self.buffer.cell_mut((x, y)) {
                cell.set_symbol(&shown.text).set_style(style);
            }
            for at in x + 1..x + width {
                if let Some(cell) = self.buffer.cell_mut((at, y)) {
                    cell.reset();
                    cell.set_style(style);
                }
            }
        }
        x.saturating_add(width)
    }

    /// Gives all cells of an area a look.
    pub(super) fn fill(&mut self, area: Rect, role: Role) {
        let style = self.style(role);
        self.buffer
            .set_style(area.intersection(self.buffer.area), style);
    }

    /// Clears a box with a border and a title; returns its inside.
    pub(super) fn open_box(&mut self, area: Rect, title: &str) -> Rect {
        let area = area.intersection(self.buffer.area);
        Clear.render(area, self.buffer);
        let block = Block::bordered();
        let inside = block.inner(area);
        block.render(area, self.buffer);
        let heading = Rect {
            x: area.x + 1,
            width: area.width.saturating_sub(2),
            ..area
        };
        self.put(
            heading,
            heading.x,
            area.y,
            &format!(" {title} "),
            Role::Title,
        );
        inside
    }
}
