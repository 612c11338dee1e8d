//! The message so far as a tree, and the open region: its raw text beside what it would parse to.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use crate::content::process;
use crate::tui::layout;
use crate::tui::layout::Pane;
use crate::tui::state::State;
use crate::tui::state::detail::short;
use crate::tui::state::tree::{self, value_at};
use crate::tui::text::line;
use crate::tui::theme::Role;
use crate::value::{Map, Value};

/// A longer region is not parsed before its end.
const PREVIEW: usize = 64 << 10;

/// Items of a list that are compared one by one.
const COMPARED: usize = 256;

pub(super) fn draw(state: &State, area: Rect, canvas: &mut Canvas<'_>) {
    let region = state.now().open().is_some();
    let height = layout::tree_height(area, region).min(area.height);
    let tree_area = Rect { height, ..area };
    tree(state, tree_area, canvas);
    if region {
        let below = Rect {
            y: area.y + height,
            height: area.height - height,
            ..area
        };
        open(state, below, canvas);
    }
}

fn tree(state: &State, area: Rect, canvas: &mut Canvas<'_>) {
    let scroll = state.scroll(Pane::Message);
    let height = usize::from(area.height);
    let rows = tree::rows(
        &state.message,
        &state.folded,
        scroll.top..scroll.top + height,
    );
    for (index, row) in rows.iter().enumerate() {
        let y = area.y + u16::try_from(index).unwrap_or(u16::MAX);
        let has_changed = has_changed(value_at(&state.before, &row.path), row.value);
        let chosen = state.focus == Pane::Message && scroll.top + index == scroll.row;
        let sign = if has_changed { "*" } else { " " };
        let x = canvas.put(area, area.x, y, sign, Role::Changed);
        let fold = match (row.has_parts(), row.is_folded) {
            (false, _) => "  ",
            (true, false) => "▾ ",
            (true, true) => "▸ ",
        };
        let indent = "  ".repeat(row.depth().min(20));
        let x = canvas.put(area, x, y, &format!("{indent}{fold}"), Role::Dim);
        let role = if has_changed {
            Role::Changed
        } else {
            Role::Title
        };
        let x = canvas.put(area, x, y, &format!("{} ", row.label()), role);
        canvas.put(area, x, y, &summary(row.value, row.is_folded), Role::Plain);
        if chosen {
            canvas.fill(
                Rect {
                    y,
                    height: 1,
                    ..area
                },
                Role::Chosen,
            );
        }
    }
    if rows.is_empty() && height > 0 {
        canvas.put(area, area.x + 1, area.y, "nothing yet", Role::Dim);
    }
}

/// Returns true if a value is another one than before. A long list is not compared whole for every frame: in a message lists grow at their
/// ends, so that its length and its last item tell.
fn has_changed(before: Option<&Value>, now: &Value) -> bool {
    match (before, now) {
        (Some(Value::Array(before)), Value::Array(now)) if now.len() > COMPARED => {
            before.len() != now.len() || before.last() != now.last()
        }
        (before, now) => before != Some(now),
    }
}

/// A value in a row: what has parts of its own, which have rows, is only counted.
fn summary(value: &Value, is_folded: bool) -> String {
    match value {
        Value::Array(items) if !items.is_empty() && !is_folded => format!("[{}]", items.len()),
        Value::Object(members) if !members.is_empty() && !is_folded => {
            format!("{{{}}}", members.len())
        }
        value => short(value),
    }
}

/// The open region.
fn open(state: &State, area: Rect, canvas: &mut Canvas<'_>) {
    let now = state.now();
    let (Some(region), Some(raw)) = (now.open(), now.open_text()) else {
        return;
    };
    let field = &now.timeline.template().fields()[region.field];
    let mut y = area.y;
    if area.height > 2 {
        let heading = format!(" {} is open", field.name);
        canvas.put(area, area.x, y, &heading, Role::Field(region.field));
        y += 1;
    }
    if y >= area.bottom() {
        return;
    }
    let x = canvas.put(area, area.x, y, " raw    ", Role::Dim);
    let room = usize::from(area.right().saturating_sub(x));
    canvas.put(area, x, y, &end_of(raw, room), Role::Plain);
    y += 1;
    if y >= area.bottom() {
        return;
    }
    let x = canvas.put(area, area.x, y, " parsed ", Role::Dim);
    match preview(raw, field, &region.captures) {
        Ok(parsed) => canvas.put(area, x, y, &parsed, Role::Plain),
        Err(error) => canvas.put(area, x, y, &error, Role::Warning),
    };
}

/// The value that the region would have if it ended here.
fn preview(
    raw: &str,
    field: &crate::response_template::Field,
    captures: &Map,
) -> Result<String, String> {
    if raw.len() > PREVIEW {
        return Ok("only at its end: it is long".to_owned());
    }
    process(
        raw,
        &field.content,
        field.transform.as_ref(),
        field.transform_each,
        captures.clone(),
    )
    .map(|value| short(&value))
    .map_err(|error| format!("not yet: {}", error.message()))
}

/// The end of a text in so many columns.
fn end_of(text: &str, room: usize) -> String {
    let count = room.saturating_sub(1);
    let from = text
        .char_indices()
        .rev()
        .take(count)
        .last()
        .map_or(0, |(at, _)| at);
    if from == 0 {
        return line(text, room);
    }
    format!("…{}", line(&text[from..], count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_has_changed_when_it_has_grown() {
        let list = |count: usize, last: i64| {
            let items = (1..count).map(|_| Value::from(0));
            Value::Array(items.chain([Value::from(last)]).collect())
        };
        for count in [3, COMPARED + 3] {
            let before = list(count, 1);
            assert!(!has_changed(Some(&before), &list(count, 1)));
            assert!(has_changed(Some(&before), &list(count, 2)));
            assert!(has_changed(Some(&before), &list(count + 1, 1)));
            assert!(has_changed(None, &before));
        }
    }
}
