//! The response: what has arrived, where it went, what is held.

use std::ops::Range;

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::canvas::Canvas;
use crate::replay::{EntryKind, Moment};
use crate::tui::layout::GUTTER;
use crate::tui::layout::Pane;
use crate::tui::state::{Edited, Mode, State};
use crate::tui::theme::Role;
use crate::value::python;

/// The heading beside the pane's name.
pub(super) fn note(state: &State) -> String {
    let now = state.now();
    let held = now.held();
    let mut note = String::new();
    if !held.is_empty() {
        note.push_str(&format!(", {} held", bytes(held.len())));
    }
    if now.partial_character() > 0 {
        note.push_str(&format!(
            ", {} of a character",
            bytes(now.partial_character())
        ));
    }
    if now.unclaimed() > 0 {
        note.push_str(&format!(", {} unclaimed", bytes(now.unclaimed())));
    }
    match now.leaked().len() {
        0 => {}
        1 => note.push_str(", a marker in text"),
        several => note.push_str(&format!(", {several} markers in text")),
    }
    note
}

fn bytes(count: usize) -> String {
    format!("{count} byte{}", if count == 1 { "" } else { "s" })
}

pub(super) fn draw(state: &State, area: Rect, canvas: &mut Canvas<'_>) {
    let text = state.shown_text();
    let now = state.now();
    // Where the shown text stands in the parsed text, which cannot be told of a prefix that is edited.
    let (shift, cursor) = match state.mode {
        Mode::Edit(Edited::Response) => (Some(now.timeline.prefix()), state.draft.cursor()),
        Mode::Edit(Edited::Prefix) => (None, state.draft.cursor()),
        _ => (Some(0), now.fed()),
    };
    let looks = Looks::new(state, &now);
    let letters = letters(state);
    let top = state.scroll(Pane::Response).top;
    let chosen = state
        .entry
        .and_then(|entry| now.entries().get(entry))
        .map(|entry| now.span_of(entry));
    for (line, row) in (top..state.rows.count())
        .take(usize::from(area.height))
        .enumerate()
    {
        let y = area.y + u16::try_from(line).unwrap_or(u16::MAX);
        let span = state.rows.span(row);
        let in_text = |byte: usize| shift.map(|shift| byte + shift);
        if let Some(region) = in_text(span.start).and_then(|byte| now.timeline.region_at(byte))
            && in_text(span.start).is_some_and(|byte| byte < now.position())
        {
            let field = now.timeline.regions()[region].field;
            canvas.put(area, area.x, y, &letters[field], Role::Field(field));
        }
        let is_chosen = chosen.as_ref().is_some_and(|chosen| {
            let end = chosen.end.max(chosen.start + 1);
            in_text(span.start).is_some_and(|start| start < end)
                && in_text(span.end).is_some_and(|end| end > chosen.start)
        });
        if is_chosen {
            canvas.put(area, area.x + 1, y, "›", Role::Title);
        } else if shift.is_some_and(|shift| {
            let span = span.start + shift..span.end + shift;
            loses(&now, span.clone()) || leaks(&now, span)
        }) {
            canvas.put(area, area.x + 1, y, "!", Role::Warning);
        }
        let mut x = area.x + GUTTER;
        let row_text = text.get(span.clone()).unwrap_or_default();
        let mut before = ' ';
        let mut characters = row_text.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            let byte = span.start + at;
            let mut style = match in_text(byte) {
                Some(byte) => looks.style(canvas, byte),
                None => Style::new(),
            };
            if byte == cursor {
                style = style.patch(canvas.style(Role::Cursor));
            }
            let next = characters.peek().map_or('\n', |(_, next)| *next);
            let beside = before.is_whitespace() || next.is_whitespace();
            let shown = if c == ' ' && (state.all_spaces || beside) {
                '·'
            } else {
                c
            };
            x = canvas.glyph(area, x, y, shown, style);
            before = c;
        }
        if cursor == text.len() && row + 1 == state.rows.count() && x < area.right() {
            let style = canvas.style(Role::Cursor);
            canvas.glyph(area, x, y, ' ', style);
        }
    }
}

/// Returns true if there is text in the span that no field takes, white space aside.
fn loses(now: &Moment<'_>, span: Range<usize>) -> bool {
    let entries = now.entries();
    let after = entries.partition_point(|entry| entry.span.start < span.end);
    // Entries stand in the order of their text, and those that are empty between others.
    let before = entries[..after].iter().rev();
    let mut within =
        before.take_while(|entry| entry.span.end > span.start || entry.span.is_empty());
    within.any(|entry| {
        let lost = now.span_of(entry);
        let part = lost.start.max(span.start)..lost.end.min(span.end);
        let text = now.timeline.text().get(part).unwrap_or_default();
        entry.kind == EntryKind::Unclaimed && !text.chars().all(python::is_space)
    })
}

/// Returns true if a marker stands in the text of a region there.
fn leaks(now: &Moment<'_>, span: Range<usize>) -> bool {
    let mut leaked = now.leaked().iter();
    leaked.any(|marker| marker.start < span.end && marker.end > span.start)
}

/// How the bytes of the text look.
struct Looks<'s> {
    now: Moment<'s>,
    found: Option<&'s str>,
}

impl<'s> Looks<'s> {
    fn new(state: &'s State, now: &Moment<'s>) -> Self {
        Self {
            now: *now,
            found: Some(state.search.as_str()).filter(|text| !text.is_empty()),
        }
    }

    fn style(&self, canvas: &Canvas<'_>, byte: usize) -> Style {
        let now = &self.now;
        let timeline = now.timeline;
        let role = if byte >= now.fed() {
            Role::Unfed
        } else if now.held().contains(&byte) {
            Role::Held
        } else if byte >= now.position() {
            Role::Discarded
        } else if let Some((_, field, _)) = timeline.delimiter_at(byte) {
            Role::Delimiter(*field)
        } else if leaks(now, byte..byte + 1) {
            Role::Leaked
        } else if let Some(region) = timeline.region_at(byte) {
            Role::Field(timeline.regions()[region].field)
        } else {
            Role::Discarded
        };
        let style = canvas.style(role);
        if self.is_found(byte) {
            return style.patch(canvas.style(Role::Found));
        }
        style
    }

    /// Returns true if the byte belongs to an occurrence of the searched text.
    fn is_found(&self, byte: usize) -> bool {
        let Some(found) = self.found else {
            return false;
        };
        let text = self.now.timeline.text().as_bytes();
        let from = (byte + 1).saturating_sub(found.len());
        (from..=byte).any(|start| text[start..].starts_with(found.as_bytes()))
    }
}

/// A letter for each field: the first of its name that no other has, or its number.
pub(super) fn letters(state: &State) -> Vec<String> {
    let mut taken: Vec<char> = Vec::new();
    let fields = state.timeline().template().fields().iter().enumerate();
    fields
        .map(|(number, field)| {
            let mut letters = field.name.chars().filter(|c| c.is_ascii_alphanumeric());
            let letter = letters.find(|c| !taken.contains(c));
            let letter =
                letter.or_else(|| char::from_digit(u32::try_from(number % 10).unwrap_or(0), 10));
            let letter = letter.unwrap_or('?');
            taken.push(letter);
            letter.to_string()
        })
        .collect()
}
