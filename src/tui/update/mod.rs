//! The update: a function of the state and an action, which knows no terminal and touches no file.

mod edit;
mod pick;
mod save;
mod seek;

use std::time::Duration;

use ratatui::layout::Rect;

use super::action::{Action, Direction, Effect, Unit};
use super::keys;
use super::layout;
use super::layout::Pane;
use super::state::detail;
use super::state::tree::{self, value_at};
use super::state::{Allowed, Edited, Mode, Quit, RATES, Scroll, Shown, State};
use super::text::hex;

/// Does what is asked, and says what the host is to do.
pub(crate) fn update(state: &mut State, action: Action) -> Effect {
    let effect = act(state, action);
    state.follow_grammar();
    effect
}

fn act(state: &mut State, action: Action) -> Effect {
    if !matches!(
        action,
        Action::Tick(_) | Action::Arrived(_) | Action::Ended(_)
    ) {
        state.notice = None;
    }
    match action {
        Action::Quit => return quit(state),
        Action::Tick(time) => tick(state, time),
        Action::Arrived(bytes) => edit::arrived(state, &bytes),
        Action::Ended(error) => edit::ended(state, error),
        Action::Compared(changes) => save::compared(state, changes),
        Action::Chunked(read) => pick::chunked(state, read),
        Action::Wrote(result) => save::wrote(state, result),
        Action::Click(x, y) => click(state, x, y),
        Action::Wheel(x, y, direction) => wheel(state, x, y, direction),
        Action::Help => toggle_help(state),
        action => {
            return match state.mode {
                Mode::Normal => normal(state, action),
                Mode::Edit(edited) => edit::editing(state, edited, action),
                Mode::Prompt(_) => pick::prompting(state, action),
                Mode::Pick(_) => pick::picking(state, action),
                Mode::Confirm(_) => save::confirming(state, action),
                Mode::Show(_) => showing(state, action),
                Mode::Quit(_) => quitting(state, &action),
            };
        }
    }
    Effect::None
}

/// Quits, but not without a question when edits would be lost. Who asks twice is sure.
fn quit(state: &mut State) -> Effect {
    let rows = state.unsaved();
    if rows.is_empty() || matches!(state.mode, Mode::Quit(_)) {
        return Effect::Quit;
    }
    state.play.on = false;
    let back = Box::new(std::mem::take(&mut state.mode));
    state.enter(Mode::Quit(Quit { rows, back }));
    Effect::None
}

/// Carries out an action while the debugger asks whether edits may be lost.
fn quitting(state: &mut State, action: &Action) -> Effect {
    match action {
        Action::Yes => return Effect::Quit,
        Action::SaveTemplate => {
            state.enter(Mode::Normal);
            if state.template.is_changed() {
                return save::template(state);
            }
            if let Some(edited) = state.samples.iter().position(|sample| sample.is_edited()) {
                if edited != state.sample {
                    state.show_sample(edited);
                }
                save::ask_fixture(state);
            }
        }
        Action::No | Action::Leave => {
            if let Mode::Quit(quit) = std::mem::take(&mut state.mode) {
                state.enter(*quit.back);
            }
        }
        _ => {}
    }
    Effect::None
}

fn normal(state: &mut State, action: Action) -> Effect {
    match action {
        Action::Step(unit, direction) => {
            state.play.on = false;
            seek::step(state, unit, direction);
        }
        Action::Start => seek::go_to_start(state),
        Action::End => seek::go_to_end(state),
        Action::Move(by) => go(state, by),
        Action::Page(by) => page(state, by),
        Action::Play => play(state),
        Action::Faster => faster(state, true),
        Action::Slower => faster(state, false),
        Action::Focus(pane) => focus(state, pane),
        Action::NextPane(direction) => next_pane(state, direction),
        Action::Zoom => state.zoom = !state.zoom,
        Action::Open => open(state),
        Action::Edit => edit::begin(
            state,
            match state.focus {
                Pane::Template => Edited::Template,
                _ => Edited::Response,
            },
        ),
        Action::EditPrefix => edit::begin(state, Edited::Prefix),
        Action::AskByte
        | Action::AskSearch
        | Action::AskField
        | Action::AskBreakpoints
        | Action::AskChunking
        | Action::AskSample => pick::ask(state, &action),
        Action::AskFixture => save::ask_fixture(state),
        Action::SaveTemplate => return save::template(state),
        Action::Mend => edit::mend(state),
        Action::CopyValue => return copy_value(state),
        Action::CopyPath => return copy_path(state),
        Action::Spaces => state.all_spaces = !state.all_spaces,
        Action::Grammar => {
            state.allowed = match state.allowed.take() {
                Some(_) => None,
                None => Some(Allowed::default()),
            };
        }
        Action::Bytes => show_bytes(state),
        Action::Evidence => seek::evidence_of_place(state),
        Action::Leave => {
            state.zoom = false;
            state.play.on = false;
            state.choose_last();
        }
        _ => {}
    }
    Effect::None
}

fn focus(state: &mut State, pane: Pane) {
    if pane == Pane::Derivation && state.derivation.is_none() {
        state.warn(
            "no derivation: start on a chat template, or with its report beside the template",
        );
        return;
    }
    state.focus = pane;
}

fn next_pane(state: &mut State, direction: Direction) {
    let panes: Vec<Pane> = Pane::ALL
        .into_iter()
        .filter(|pane| *pane != Pane::Derivation || state.derivation.is_some())
        .collect();
    let at = panes
        .iter()
        .position(|pane| *pane == state.focus)
        .unwrap_or(0);
    let by = match direction {
        Direction::Forward => 1,
        Direction::Back => panes.len() - 1,
    };
    state.focus = panes[(at + by) % panes.len()];
}

/// Rows up or down, or what that means in the pane.
fn go(state: &mut State, by: isize) {
    let direction = if by < 0 {
        Direction::Back
    } else {
        Direction::Forward
    };
    match state.focus {
        Pane::Response | Pane::Events => seek::step(state, Unit::Event, direction),
        Pane::Deltas => seek::growth(state, direction),
        Pane::Message => {
            let count = state.message_rows;
            let scroll = state.scroll_mut(Pane::Message);
            scroll.row = scroll
                .row
                .saturating_add_signed(by)
                .min(count.saturating_sub(1));
        }
        Pane::Derivation => {
            let count = state
                .derivation
                .as_ref()
                .map_or(0, |found| found.markers.len());
            let scroll = state.scroll_mut(Pane::Derivation);
            scroll.row = scroll
                .row
                .saturating_add_signed(by)
                .min(count.saturating_sub(1));
            scroll.top = 0;
        }
        pane => {
            let scroll = state.scroll_mut(pane);
            scroll.top = scroll.top.saturating_add_signed(by);
        }
    }
}

fn page(state: &mut State, by: isize) {
    let pane = state.focus;
    match pane {
        Pane::Response | Pane::Events => {
            let direction = if by < 0 {
                Direction::Back
            } else {
                Direction::Forward
            };
            seek::step(state, Unit::Region, direction);
        }
        Pane::Derivation => {
            let scroll = state.scroll_mut(pane);
            scroll.top = scroll.top.saturating_add_signed(by * 5);
        }
        _ => {
            let height = state.layout().content(pane).map_or(1, |rect| rect.height);
            go(state, by * isize::try_from(height).unwrap_or(1).max(1));
        }
    }
}

fn play(state: &mut State) {
    state.play.on = !state.play.on;
    state.play.waited = Duration::ZERO;
    if state.play.on && seek::is_at_end(state) {
        seek::go_to_start(state);
        state.play.on = true;
    }
}

fn faster(state: &mut State, faster: bool) {
    let at = RATES
        .iter()
        .position(|rate| *rate == state.play.rate)
        .unwrap_or(0);
    let next = if faster { at + 1 } else { at.saturating_sub(1) };
    state.play.rate = RATES[next.min(RATES.len() - 1)];
    let rate = state.play.rate;
    state.tell(format!("{rate} chunks a second"));
}

fn tick(state: &mut State, time: Duration) {
    if !state.play.on {
        return;
    }
    state.play.waited += time;
    let steps = state.play.waited.as_micros() * state.play.rate as u128 / 1_000_000;
    if steps > 0 {
        state.play.waited = Duration::ZERO;
        seek::play(state, usize::try_from(steps).unwrap_or(usize::MAX));
    }
}

/// Carries out Enter in the pane.
fn open(state: &mut State) {
    match state.focus {
        Pane::Message => {
            let row = state.scroll(Pane::Message).row;
            let rows = tree::rows(&state.message, &state.folded, row..row + 1);
            let Some(row) = rows.first() else {
                return;
            };
            let (path, value) = (row.path.clone(), row.value.clone());
            if row.has_parts() {
                state.fold(path);
                return;
            }
            show(state, path.to_string(), detail::in_full(&value));
        }
        Pane::State => {
            let Some(text) = state.now().open_text().map(str::to_owned) else {
                return;
            };
            show(state, "the open region, raw".to_owned(), text);
        }
        Pane::Derivation => seek::next_place_of_marker(state),
        Pane::Template => match detail::of_template(state) {
            Some(text) => show(state, "what is wrong".to_owned(), text),
            None => edit::begin(state, Edited::Template),
        },
        Pane::Response | Pane::Events => {
            if let Some((title, text)) = detail::of_event(state) {
                show(state, title, text);
            }
        }
        Pane::Deltas => {
            if let Some((title, text)) = detail::of_growth(state) {
                show(state, title, text);
            }
        }
    }
}

fn show(state: &mut State, title: String, text: String) {
    let back = Box::new(std::mem::take(&mut state.mode));
    state.enter(Mode::Show(Shown {
        title,
        text,
        top: 0,
        is_help: false,
        is_laid_out: false,
        back,
    }));
}

/// Shows the bytes around the place, its row in the middle.
fn show_bytes(state: &mut State) {
    let (at, response) = (state.place.byte, &state.sample().response);
    let dump = hex::dump(response.as_bytes(), at);
    let half = usize::from(state.area.height / 3);
    let title = format!("bytes around {at} of {}", response.len());
    show(state, title, dump.text);
    if let Mode::Show(shown) = &mut state.mode {
        shown.is_laid_out = true;
        shown.top = dump.row.saturating_sub(half);
    }
}

fn toggle_help(state: &mut State) {
    match &state.mode {
        Mode::Show(shown) if shown.is_help => {
            showing(state, Action::Leave);
        }
        _ => help(state),
    }
}

/// Shows the keys of the screen that is shown, which comes back after it.
fn help(state: &mut State) {
    let text = keys::help(&state.mode);
    let back = Box::new(std::mem::take(&mut state.mode));
    state.enter(Mode::Show(Shown {
        title: "keys".to_owned(),
        text,
        top: 0,
        is_help: true,
        is_laid_out: true,
        back,
    }));
}

fn showing(state: &mut State, action: Action) -> Effect {
    let height = isize::try_from(state.area.height / 2).unwrap_or(1).max(1);
    let Mode::Show(shown) = &mut state.mode else {
        return Effect::None;
    };
    match action {
        Action::Move(by) => shown.top = shown.top.saturating_add_signed(by),
        Action::Page(by) => shown.top = shown.top.saturating_add_signed(by * height),
        Action::Start => shown.top = 0,
        Action::Yes if !shown.is_help => return Effect::Copy(shown.text.clone()),
        Action::Leave | Action::Open => {
            let back = std::mem::take(&mut *shown.back);
            state.enter(back);
        }
        _ => {}
    }
    Effect::None
}

fn copy_value(state: &mut State) -> Effect {
    let row = state.scroll(Pane::Message).row;
    let rows = tree::rows(&state.message, &state.folded, row..row + 1);
    let Some(row) = rows.first() else {
        return Effect::None;
    };
    let value = value_at(&state.message, &row.path).unwrap_or(row.value);
    let text = detail::in_full(value);
    let told = format!("copied the value of {}", row.path);
    state.tell(told);
    Effect::Copy(text)
}

fn copy_path(state: &mut State) -> Effect {
    let row = state.scroll(Pane::Message).row;
    let rows = tree::rows(&state.message, &state.folded, row..row + 1);
    let Some(path) = rows.first().map(|row| row.path.to_string()) else {
        return Effect::None;
    };
    state.tell(format!("copied {path}"));
    Effect::Copy(path)
}

fn click(state: &mut State, x: u16, y: u16) {
    let layout = state.layout();
    if let Mode::Pick(pick) = &state.mode {
        let list = layout::list_of(layout::over(state.area), &pick.rows, pick.row);
        if let Some(row) = list.row_at(x, y) {
            pick::click(state, row);
        }
        return;
    }
    if !matches!(state.mode, Mode::Normal | Mode::Edit(_)) {
        return;
    }
    let Some(pane) = layout.pane_at(x, y) else {
        return;
    };
    if let Mode::Edit(edited) = state.mode {
        let here = match edited {
            Edited::Template => Pane::Template,
            Edited::Response | Edited::Prefix => Pane::Response,
        };
        if here == pane {
            edit::click(state, edited, x, y);
        }
        return;
    }
    focus(state, pane);
    let Some(content) = layout
        .content(pane)
        .filter(|content| content.contains((x, y).into()))
    else {
        return;
    };
    let row = usize::from(y - content.y) + state.scroll(pane).top;
    match pane {
        Pane::Response => {
            let column = usize::from((x - content.x).saturating_sub(layout::GUTTER));
            if row < state.rows.count() {
                let byte = state.rows.byte_at(state.shown_text(), row, column);
                seek::go_to_text(state, byte);
                state.scrolled = true;
            }
        }
        Pane::Events => {
            if row < state.now().entries().len() {
                seek::go_to_entry(state, row);
            }
        }
        Pane::Message => {
            if row < state.message_rows {
                let again = state.scroll(Pane::Message).row == row;
                state.scroll_mut(Pane::Message).row = row;
                if again {
                    open(state);
                }
            }
        }
        Pane::Deltas => {
            if row < state.now().told().len() {
                seek::go_to_growth(state, row);
            }
        }
        Pane::Derivation => click_marker(state, content, y),
        Pane::State | Pane::Template => {}
    }
}

/// Chooses the marker in a row of the pane; the chosen one leads to its place.
fn click_marker(state: &mut State, content: Rect, y: u16) {
    let height = layout::markers_height(content);
    let chosen = state.scroll(Pane::Derivation).row;
    let row = layout::top_of_markers(height, chosen) + usize::from(y - content.y);
    let markers = state.derivation.as_ref().map_or(0, |d| d.markers.len());
    if y >= content.y + height || row >= markers {
        return;
    }
    if row == chosen {
        seek::next_place_of_marker(state);
    }
    *state.scroll_mut(Pane::Derivation) = Scroll { top: 0, row };
}

fn wheel(state: &mut State, x: u16, y: u16, direction: Direction) {
    const ROWS: isize = 3;
    let by = match direction {
        Direction::Forward => ROWS,
        Direction::Back => -ROWS,
    };
    match &mut state.mode {
        Mode::Show(shown) => shown.top = shown.top.saturating_add_signed(by),
        Mode::Confirm(confirm) => confirm.top = confirm.top.saturating_add_signed(by),
        Mode::Normal => match state.layout().pane_at(x, y) {
            Some(Pane::Response) => {
                state.scrolled = true;
                let scroll = state.scroll_mut(Pane::Response);
                scroll.top = scroll.top.saturating_add_signed(by);
            }
            Some(Pane::Events) => {
                let direction = if by < 0 {
                    Direction::Back
                } else {
                    Direction::Forward
                };
                seek::step(state, Unit::Event, direction);
            }
            Some(Pane::Deltas) => {
                let direction = if by < 0 {
                    Direction::Back
                } else {
                    Direction::Forward
                };
                seek::growth(state, direction);
            }
            Some(Pane::Message) => {
                let focus = std::mem::replace(&mut state.focus, Pane::Message);
                go(state, by);
                state.focus = focus;
            }
            Some(pane) => {
                let scroll = state.scroll_mut(pane);
                scroll.top = scroll.top.saturating_add_signed(by);
            }
            None => {}
        },
        Mode::Pick(_) => {
            pick::picking(state, Action::Move(by.signum()));
        }
        Mode::Edit(_) | Mode::Prompt(_) | Mode::Quit(_) => {}
    }
}
