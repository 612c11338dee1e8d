//! The screen: it reads the state and changes nothing.

mod canvas;
mod deltas;
mod derivation;
mod events;
mod message;
mod overlay;
mod parsing;
mod response;
mod template;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::layout::Pane;
use super::state::{Edited, Mode, State, Told};
use super::theme::{Role, Theme};
use crate::chunking::Chunking;
use canvas::Canvas;

/// Draws all of it. The state must have been fitted to the area.
pub(crate) fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let mut canvas = Canvas::new(buffer, theme);
    let layout = state.layout();
    title(state, layout.title, &mut canvas);
    for (pane, rect) in &layout.panes {
        heading(state, *pane, *rect, &mut canvas);
        let Some(content) = layout.content(*pane) else {
            continue;
        };
        match pane {
            Pane::Response => response::draw(state, content, &mut canvas),
            Pane::Events => events::draw(state, content, &mut canvas),
            Pane::State => parsing::draw(state, content, &mut canvas),
            Pane::Message => message::draw(state, content, &mut canvas),
            Pane::Template => template::draw(state, content, &mut canvas),
            Pane::Derivation => derivation::draw(state, content, &mut canvas),
            Pane::Deltas => deltas::draw(state, content, &mut canvas),
        }
    }
    if let Some(divider) = layout.divider {
        for y in divider.top()..divider.bottom() {
            canvas.put(divider, divider.x, y, "│", Role::Rule);
        }
    }
    overlay::draw(state, area, &mut canvas);
    status(state, layout.status, &mut canvas);
}

fn title(state: &State, area: Rect, canvas: &mut Canvas<'_>) {
    let timeline = state.timeline();
    let sample = state.sample();
    let name = state
        .template
        .path
        .as_ref()
        .and_then(|path| path.file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_else(|| match &state.derivation {
            Some(derivation) => format!("from {}", derivation.name()),
            None => "template".to_owned(),
        });
    let changed = if state.template.is_changed() { "*" } else { "" };
    let step = match timeline.step_at(state.place) {
        Ok(step) | Err(step) => step,
    };
    let last = timeline.len() - 1;
    let chunks = last.saturating_sub(usize::from(timeline.place(last).over));
    let position = if state.place.over {
        "end".to_owned()
    } else if state.is_within_chunk() {
        format!("in chunk {}/{chunks}", step + 1)
    } else {
        format!("chunk {step}/{chunks}")
    };
    let live = if sample.live { " live" } else { "" };
    let chunking = match &state.chunking {
        _ if sample.live => Chunking::Recorded.to_string(),
        Chunking::Tokens(tokens) => match tokens.file().file_name() {
            Some(name) => format!("tokens:{}", name.to_string_lossy()),
            None => "tokens".to_owned(),
        },
        other => other.to_string(),
    };
    let play = if state.play.on {
        format!(" ▶{}/s", state.play.rate)
    } else {
        String::new()
    };
    let right = format!(
        "{position} byte {}/{}{live}{play}",
        state.place.byte,
        sample.response.len()
    );
    let number = if state.samples.len() > 1 {
        format!(" {}/{}", state.sample + 1, state.samples.len())
    } else {
        String::new()
    };
    let left = format!("{name}{changed} · {}{number} · {chunking}", sample.name);
    canvas.fill(area, Role::Cursor);
    let width = usize::from(area.width);
    let taken = right.chars().count() + 1;
    let left_room = width.saturating_sub(taken + 1);
    if left_room > 8 {
        canvas.put_within(area, area.x, area.y, &left, Role::Cursor, left_room);
    }
    let x = area.x
        + area
            .width
            .saturating_sub(u16::try_from(taken).unwrap_or(u16::MAX));
    canvas.put(area, x, area.y, &right, Role::Cursor);
}

fn heading(state: &State, pane: Pane, rect: Rect, canvas: &mut Canvas<'_>) {
    let focused = state.focus == pane;
    let (role, sign) = if focused {
        (Role::FocusedHeading, "▶")
    } else {
        (Role::Heading, "─")
    };
    let number = Pane::ALL
        .iter()
        .position(|known| *known == pane)
        .unwrap_or(0)
        + 1;
    let editing = match (&state.mode, pane) {
        (Mode::Edit(Edited::Response), Pane::Response) => ", editing (Esc: done)",
        (Mode::Edit(Edited::Prefix), Pane::Response) => ": the prefix, editing (Esc: done)",
        (Mode::Edit(Edited::Template), Pane::Template) => ", editing (Esc: done)",
        _ => "",
    };
    let note = match pane {
        Pane::Response => response::note(state),
        Pane::Template if state.template.is_changed() && editing.is_empty() => {
            " (not saved)".to_owned()
        }
        _ => String::new(),
    };
    let text = format!("{sign}{number} {}{editing}{note} ", pane.name());
    let x = canvas.put(rect, rect.x, rect.y, &text, role);
    let mut x = x;
    while x < rect.right() {
        x = canvas.put(rect, x, rect.y, "─", Role::Rule).max(x + 1);
    }
}

/// The columns in which something can be said. A message that has fewer beside the keys has the row for itself.
const LEAST: usize = 12;

fn status(state: &State, area: Rect, canvas: &mut Canvas<'_>) {
    if area.height == 0 || area.width == 0 {
        return;
    }
    if let Mode::Prompt(prompt) = &state.mode {
        overlay::prompt(prompt, area, canvas);
        return;
    }
    let hints: &[(&str, &str)] = match &state.mode {
        Mode::Normal => &[
            ("?", "help"),
            ("q", "quit"),
            ("→←", "chunk"),
            ("][", "event"),
            ("x", "problem"),
            ("Tab", "pane"),
            ("e", "edit"),
            ("s", "fixture"),
            ("S", "template"),
            ("Space", "play"),
        ],
        Mode::Edit(_) => &[
            ("Esc", "done"),
            ("^Z", "undo"),
            ("^S", "save"),
            ("F1", "help"),
            ("^C", "quit"),
        ],
        Mode::Pick(pick) => overlay::pick_hints(pick),
        Mode::Confirm(_) => &[
            ("y", "save"),
            ("n", "do not"),
            ("↓↑", "scroll"),
            ("?", "help"),
        ],
        Mode::Show(shown) if shown.is_help => &[("Esc", "back"), ("↓↑", "scroll")],
        Mode::Show(_) => &[
            ("Esc", "back"),
            ("↓↑", "scroll"),
            ("y", "copy"),
            ("?", "help"),
        ],
        Mode::Quit(_) => &[("y", "quit"), ("s", "save"), ("n", "stay"), ("?", "help")],
        Mode::Prompt(_) => &[],
    };
    let mut x = area.x;
    if let Some(told) = Told::of(state) {
        let role = if told.is_bad { Role::Error } else { Role::Good };
        let above = state.layout().told;
        for (row, y) in told
            .rows(area.width)
            .iter()
            .zip(above.top()..above.bottom())
        {
            canvas.put(above, above.x, y, row, role);
        }
        // On a screen that is too low for more rows it is cut. Where keys would leave nothing of it, it stands alone.
        if above.height == 0 {
            if Told::room(area.width) < LEAST {
                canvas.put(area, x, area.y, &told.text, role);
                return;
            }
            x = canvas.put_within(area, x, area.y, &told.text, role, Told::room(area.width)) + 3;
        }
    }
    for (key, what) in hints {
        // Half a hint helps nobody, and the first ones matter most.
        let width = key.chars().count() + 1 + what.chars().count();
        if usize::from(area.right().saturating_sub(x)) < width {
            break;
        }
        x = canvas.put(area, x, area.y, key, Role::Title);
        x = canvas.put(area, x, area.y, &format!(" {what}"), Role::Dim) + 2;
    }
    if state.is_unexpected {
        let text = "differs from what is expected";
        let at = area
            .right()
            .saturating_sub(u16::try_from(text.len()).unwrap_or(0));
        if at > x {
            canvas.put(area, at, area.y, text, Role::Error);
        }
    }
}
