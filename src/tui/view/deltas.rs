//! The pane of deltas: the growth of the message that the clients of a server have been told so far.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use crate::deltas::Growth;
use crate::tui::layout::Pane;
use crate::tui::state::State;
use crate::tui::state::detail::{SHOWN, grown_path, short};
use crate::tui::text::line;
use crate::tui::theme::Role;

pub(super) fn draw(state: &State, area: Rect, canvas: &mut Canvas<'_>) {
    let told = state.now().told();
    let top = state.scroll(Pane::Deltas).top;
    let chosen = state.chosen_growth();
    for (row, y) in (top..told.len()).zip(area.top()..area.bottom()) {
        let Some((growth, text)) = told.get(row) else {
            break;
        };
        let is_chosen = chosen == Some(row);
        let sign = if is_chosen { "›" } else { " " };
        let x = canvas.put(area, area.x, y, sign, Role::Title);
        let (kind, role) = kind(growth);
        let x = canvas.put(area, x, y, &format!("{kind:<5} "), role);
        let x = canvas.put(area, x, y, &format!("{} ", subject(growth)), role);
        canvas.put(area, x, y, &rest(growth, text), Role::Plain);
        if is_chosen && state.focus == Pane::Deltas {
            let bar = Rect {
                y,
                height: 1,
                ..area
            };
            canvas.fill(bar, Role::Chosen);
        }
    }
    if told.len() == 0 {
        for (line, y) in NOTHING.iter().zip(area.top()..area.bottom()) {
            canvas.put(area, area.x + 1, y, line, Role::Dim);
        }
    }
}

const NOTHING: [&str; 2] = [
    "what a server's client is told",
    "while the response is written",
];

/// A short name of the kind, and its look.
fn kind(growth: &Growth<'_>) -> (&'static str, Role) {
    match growth {
        Growth::Text { .. } => ("text", Role::Title),
        Growth::Value { .. } => ("value", Role::Title),
        Growth::Call { .. } => ("call", Role::Good),
        Growth::Arguments { .. } => ("args", Role::Title),
        Growth::CallDone { .. } => ("done", Role::Good),
        Growth::CallDropped { .. } => ("drop", Role::Error),
        Growth::Restart { .. } => ("again", Role::Error),
    }
}

/// The thing that it speaks of: a place in the message, or a call by its number.
fn subject(growth: &Growth<'_>) -> String {
    match growth {
        Growth::Text { path, .. } | Growth::Value { path, .. } | Growth::Restart { path } => {
            grown_path(path)
        }
        Growth::Call { index, .. }
        | Growth::Arguments { index, .. }
        | Growth::CallDone { index }
        | Growth::CallDropped { index } => format!("#{index}"),
    }
}

/// The text or value that it adds.
fn rest(growth: &Growth<'_>, text: &str) -> String {
    match growth {
        Growth::Text { .. } | Growth::Arguments { .. } => line(text, SHOWN),
        Growth::Value { value, .. } => short(value),
        Growth::Call { name, id, .. } => match id {
            Some(id) => format!("{} ({})", line(name, SHOWN), line(id, SHOWN)),
            None => line(name, SHOWN),
        },
        Growth::Restart { .. } => "begins again: what was sent is not in the message".to_owned(),
        Growth::CallDropped { .. } => "is not in the message".to_owned(),
        Growth::CallDone { .. } => String::new(),
    }
}
