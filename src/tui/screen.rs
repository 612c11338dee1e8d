//! A screen as text or as an SVG picture.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr as _;

/// A screen that was drawn.
#[derive(Debug, Clone)]
pub struct Screen {
    buffer: Buffer,
}

/// The size of a character in a picture, in pixels.
const WIDTH: f32 = 8.4;
const HEIGHT: f32 = 18.0;

const FOREGROUND: &str = "#d8dee9";
const BACKGROUND: &str = "#20242c";

impl Screen {
    pub(super) fn new(buffer: Buffer) -> Self {
        Self { buffer }
    }

    /// The rows as lines of text, without the spaces at their ends.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for row in self.rows() {
            let mut line = String::new();
            for (_, cell) in row {
                line.push_str(cell.symbol());
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// A picture, with the looks.
    pub fn to_svg(&self) -> String {
        let area = self.buffer.area;
        let width = f32::from(area.width) * WIDTH + 16.0;
        let height = f32::from(area.height) * HEIGHT + 16.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n\
             <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{BACKGROUND}\"/>\n"
        );
        for (y, row) in self.rows().enumerate() {
            let top = y as f32 * HEIGHT + 8.0;
            // Neighbours that look the same are one piece.
            let mut piece: Option<(usize, usize, Look, String)> = None;
            for (x, cell) in row {
                let look = Look::of(cell);
                let columns = cell.symbol().width().max(1);
                match &mut piece {
                    Some((from, to, known, text)) if *known == look && *to == x => {
                        text.push_str(cell.symbol());
                        *to = x + columns;
                        let _ = from;
                    }
                    _ => {
                        write_piece(&mut svg, piece.take(), top);
                        piece = Some((x, x + columns, look, cell.symbol().to_owned()));
                    }
                }
            }
            write_piece(&mut svg, piece, top);
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// The cells of each row with their columns, but not those that lie under a wide character.
    fn rows(&self) -> impl Iterator<Item = impl Iterator<Item = (usize, &Cell)>> {
        let width = usize::from(self.buffer.area.width);
        self.buffer.content.chunks(width.max(1)).map(|row| {
            let mut covered = 0;
            row.iter().enumerate().filter(move |(x, cell)| {
                let is_shown = *x >= covered;
                if is_shown {
                    covered = x + cell.symbol().width().max(1);
                }
                is_shown
            })
        })
    }
}

/// How a cell looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    color: Color,
    modifier: Modifier,
}

impl Look {
    fn of(cell: &Cell) -> Self {
        Self {
            color: cell.fg,
            modifier: cell.modifier,
        }
    }
}

fn write_piece(svg: &mut String, piece: Option<(usize, usize, Look, String)>, top: f32) {
    let Some((from, to, look, text)) = piece else {
        return;
    };
    let is = |modifier| look.modifier.contains(modifier);
    let reversed = is(Modifier::REVERSED);
    if text.trim().is_empty() && !reversed {
        return;
    }
    let x = from as f32 * WIDTH + 8.0;
    let width = (to - from) as f32 * WIDTH;
    let color = color_of(look.color);
    let (text_color, behind) = if reversed {
        (BACKGROUND, Some(color))
    } else {
        (color, None)
    };
    if let Some(behind) = behind {
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{HEIGHT:.1}\" fill=\"{behind}\"/>"
        );
    }
    let mut attributes = String::new();
    for (modifier, attribute) in [
        (Modifier::BOLD, " font-weight=\"bold\""),
        (Modifier::ITALIC, " font-style=\"italic\""),
        (Modifier::DIM, " opacity=\"0.5\""),
        (Modifier::UNDERLINED, " text-decoration=\"underline\""),
        (Modifier::CROSSED_OUT, " text-decoration=\"line-through\""),
    ] {
        if is(modifier) {
            attributes.push_str(attribute);
        }
    }
    let baseline = top + 13.5;
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            c => escaped.push(c),
        }
    }
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{baseline:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
         xml:space=\"preserve\" fill=\"{text_color}\"{attributes}>{escaped}</text>"
    );
}

fn color_of(color: Color) -> &'static str {
    match color {
        Color::Red => "#e06c75",
        Color::Green => "#98c379",
        Color::Yellow => "#e5c07b",
        Color::Blue => "#61afef",
        Color::Magenta => "#c678dd",
        Color::Cyan => "#56b6c2",
        _ => FOREGROUND,
    }
}
