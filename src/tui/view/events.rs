//! The events so far, the text of a region folded to one of them.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use crate::replay::{Entry, EntryKind, Moment};
use crate::tui::layout::Pane;
use crate::tui::state::State;
use crate::tui::state::detail::{SHOWN, short};
use crate::tui::text::{line, wrapped};
use crate::tui::theme::Role;

pub(super) fn draw(state: &State, area: Rect, canvas: &mut Canvas<'_>) {
    let now = state.now();
    let entries = now.entries();
    let top = state.scroll(Pane::Events).top;
    let chosen = state.chosen();
    for (row, entry) in entries
        .iter()
        .skip(top)
        .take(usize::from(area.height))
        .enumerate()
    {
        let y = area.y + u16::try_from(row).unwrap_or(u16::MAX);
        let is_chosen = chosen == Some(top + row);
        let sign = if is_chosen { "›" } else { " " };
        let x = canvas.put(area, area.x, y, sign, Role::Title);
        let field = now.timeline.entry_field(entry);
        let role = match (entry.kind, field) {
            (EntryKind::Stray | EntryKind::Unclaimed, _) => Role::Warning,
            (EntryKind::Error | EntryKind::Failure, _) | (_, None) => Role::Error,
            (_, Some(field)) => Role::Field(field),
        };
        let kind = entry.kind.name();
        let what = match field {
            Some(field) => format!("{kind:<5} {} ", now.timeline.field_name(field)),
            None => format!("{kind:<5} "),
        };
        let x = canvas.put(area, x, y, &what, role);
        let (text, loss) = describe(&now, entry);
        if let Some(loss) = loss {
            let x = canvas.put(area, x, y, &loss, Role::Error);
            canvas.put(area, x, y, &text, Role::Plain);
        } else {
            canvas.put(area, x, y, &text, Role::Plain);
        }
        if is_chosen && state.focus == Pane::Events {
            let bar = Rect {
                y,
                height: 1,
                ..area
            };
            canvas.fill(bar, Role::Chosen);
        }
    }
    if entries.is_empty() {
        let width = usize::from(area.width.saturating_sub(1)).min(READ);
        let lines = FIRST.iter().flat_map(|text| wrapped(text, width));
        for (line, y) in lines.zip(area.top()..area.bottom()) {
            canvas.put(area, area.x + 1, y, &line, Role::Dim);
        }
    }
}

/// The text of the pane before anything has arrived: what all of this is, and the keys that matter most.
const FIRST: [&str; 3] = [
    "a response, parsed as it comes:",
    "→ feeds a chunk, ← undoes that,",
    "x goes to what went wrong, and says why; e edits, ? helps",
];

/// Wider lines are harder to read.
const READ: usize = 72;

/// The row of an entry, with what was lost with it.
fn describe(now: &Moment<'_>, entry: &Entry) -> (String, Option<String>) {
    let timeline = now.timeline;
    let text = &timeline.text()[now.span_of(entry)];
    let region = timeline.regions().get(entry.region);
    match entry.kind {
        EntryKind::Open => (line(text, SHOWN), None),
        EntryKind::Text | EntryKind::Unclaimed => (line(text, SHOWN), None),
        EntryKind::Stray => (format!("closes nothing: {}", line(text, SHOWN)), None),
        EntryKind::Failure => (
            timeline
                .failure()
                .map(|error| error.message.clone())
                .unwrap_or_default(),
            None,
        ),
        EntryKind::Error => {
            let error = region.and_then(|region| region.error.as_ref());
            (
                error.map(|error| error.message.clone()).unwrap_or_default(),
                None,
            )
        }
        EntryKind::Close => {
            let value = region.and_then(|region| region.value.as_ref());
            let before = region
                .and_then(|region| region.replaces)
                .and_then(|before| timeline.regions()[before].value.as_ref());
            let loss = before.map(|before| format!("loses {} for ", short(before)));
            (value.map(short).unwrap_or_default(), loss)
        }
    }
}
