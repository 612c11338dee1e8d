//! Editing the template, the response and the prefix, each with the parse running along; and responses that still arrive.

use crate::chunking::Chunking;
use crate::tui::action::{Action, Direction, Effect};
use crate::tui::layout::{self, Pane};
use crate::tui::state::{Edited, Mode, State};
use crate::tui::text::{Editor, Motion, Rows};

/// Begins to edit.
pub(super) fn begin(state: &mut State, edited: Edited) {
    if edited == Edited::Response {
        state.detach();
    }
    state.play.on = false;
    match edited {
        Edited::Template => {
            state.focus = Pane::Template;
            let at = field_at_work(state).unwrap_or(state.template.editor.cursor());
            state.template.editor.go_to(at);
        }
        Edited::Response => {
            let byte = state.place.byte;
            state.samples[state.sample].keep_original();
            draft(state, state.sample().response.clone());
            state.draft.go_to(byte);
            state.focus = Pane::Response;
        }
        Edited::Prefix => {
            state.samples[state.sample].keep_original();
            draft(state, state.sample().prefix.clone());
            state.draft.go(Motion::End);
            state.focus = Pane::Response;
        }
    }
    state.enter(Mode::Edit(edited));
}

/// Makes the text the one that is edited. What was done to it before can still be taken back.
fn draft(state: &mut State, text: String) {
    if state.draft.text() != text {
        state.draft = Editor::new(text);
    }
}

/// Where the field at work closes, in the template's text: what one most often wants to change.
fn field_at_work(state: &State) -> Option<usize> {
    let now = state.now();
    let field = match now.open() {
        Some(region) => region.field,
        None => now.timeline.template().implicit()?,
    };
    let name = now.timeline.field_name(field);
    let span = state
        .template
        .delimiter(name, crate::parser::Edge::Close)
        .or_else(|| state.template.field(name))?;
    Some(span.start)
}

/// Carries out an action on a text.
pub(super) fn editing(state: &mut State, edited: Edited, action: Action) -> Effect {
    let before = editor(state, edited).text().len();
    let mut changed = false;
    match action {
        Action::Type(text) => {
            editor(state, edited).insert(&text);
            changed = true;
        }
        Action::Open => {
            editor(state, edited).insert("\n");
            changed = true;
        }
        Action::Remove(motion) => {
            editor(state, edited).remove(motion);
            changed = editor(state, edited).text().len() != before;
        }
        Action::Undo => changed = editor(state, edited).undo(),
        Action::Redo => changed = editor(state, edited).redo(),
        Action::Go(motion) => editor(state, edited).go(motion),
        Action::Vertical(direction) => vertical(state, edited, direction, 1),
        Action::Page(by) => {
            let direction = if by < 0 {
                Direction::Back
            } else {
                Direction::Forward
            };
            vertical(state, edited, direction, 10);
        }
        Action::SaveTemplate => {
            state.enter(Mode::Normal);
            return match edited {
                Edited::Template => super::save::template(state),
                Edited::Response | Edited::Prefix => {
                    super::save::ask_fixture(state);
                    Effect::None
                }
            };
        }
        Action::Leave => state.enter(Mode::Normal),
        _ => {}
    }
    if changed {
        apply(state, edited);
    }
    Effect::None
}

fn editor(state: &mut State, edited: Edited) -> &mut Editor {
    match edited {
        Edited::Template => &mut state.template.editor,
        Edited::Response | Edited::Prefix => &mut state.draft,
    }
}

/// Lets the parse run with what was edited.
fn apply(state: &mut State, edited: Edited) {
    state.version += 1;
    match edited {
        Edited::Template => {
            if state.template.check() {
                state.rerun();
            }
        }
        Edited::Response => {
            let sample = &mut state.samples[state.sample];
            state.draft.text().clone_into(&mut sample.response);
            // Where the chunks of another text ended says nothing of this one.
            sample.chunks.clear();
            state.rerun();
            super::seek::go_to_end(state);
        }
        Edited::Prefix => {
            let sample = &mut state.samples[state.sample];
            state.draft.text().clone_into(&mut sample.prefix);
            state.rerun();
        }
    }
}

/// Mends in the template what the linter knows how to.
pub(super) fn mend(state: &mut State) {
    match state.template.mend() {
        0 => state.tell("the linter knows nothing to repair"),
        count => {
            apply(state, Edited::Template);
            let findings = if count == 1 { "finding" } else { "findings" };
            state.tell(format!(
                "repaired {count} {findings}; e and ^Z take it back, S saves it"
            ));
        }
    }
}

/// Rows up or down, in the same column.
fn vertical(state: &mut State, edited: Edited, direction: Direction, by: usize) {
    let pane = match edited {
        Edited::Template => Pane::Template,
        Edited::Response | Edited::Prefix => Pane::Response,
    };
    let width = state.layout().content(pane).map_or(1, layout::text_width);
    let editor = editor(state, edited);
    let rows = Rows::new(editor.text(), width);
    let row = rows.row_of(editor.cursor());
    let column = rows.column_of(editor.text(), editor.cursor());
    let target = match direction {
        Direction::Back => row.saturating_sub(by),
        Direction::Forward => (row + by).min(rows.count() - 1),
    };
    let byte = rows.byte_at(editor.text(), target, column);
    editor.go_to(byte);
}

/// Puts the cursor where the mouse is.
pub(super) fn click(state: &mut State, edited: Edited, x: u16, y: u16) {
    let pane = match edited {
        Edited::Template => Pane::Template,
        Edited::Response | Edited::Prefix => Pane::Response,
    };
    let Some(content) = state.layout().content(pane) else {
        return;
    };
    let top = state.scroll(pane).top;
    let row = top + usize::from(y.saturating_sub(content.y));
    let column = usize::from(x.saturating_sub(content.x + layout::GUTTER));
    let editor = editor(state, edited);
    let rows = Rows::new(editor.text(), layout::text_width(content));
    let byte = rows.byte_at(editor.text(), row.min(rows.count() - 1), column);
    editor.go_to(byte);
}

/// More of the live response has arrived.
pub(super) fn arrived(state: &mut State, bytes: &[u8]) {
    let Some(live) = state.samples.iter().position(|sample| sample.live) else {
        return;
    };
    let text = match state.decoder.push(bytes) {
        Ok(text) => text,
        Err(error) => {
            state.samples[live].live = false;
            state.warn(error.to_string());
            return;
        }
    };
    let sample = &mut state.samples[live];
    sample.response.push_str(&text);
    let end = sample.response.len();
    if !text.is_empty() {
        sample.chunks.push(end);
    }
    if live == state.sample {
        let sample = &state.samples[live];
        state.recorder.feed_to(&sample.response, end);
        state.fine = None;
        if state.follows {
            let timeline = state.timeline();
            state.place = timeline.place(timeline.len() - 1);
            state.choose_last();
            state.scrolled = false;
        }
        state.refresh();
    }
}

/// The live response is over.
pub(super) fn ended(state: &mut State, error: Option<String>) {
    let Some(live) = state.samples.iter().position(|sample| sample.live) else {
        return;
    };
    state.samples[live].live = false;
    let rest = std::mem::take(&mut state.decoder).finish();
    if live == state.sample {
        // It stays cut as it arrived.
        if !state.samples[live].chunks.is_empty() {
            state.chunking = Chunking::Recorded;
        }
        state.recorder.finish();
        state.fine = None;
        state.compare();
        if state.follows {
            super::seek::go_to_end(state);
        }
    }
    match (error, rest) {
        (Some(error), _) => state.warn(error),
        (None, Err(error)) => state.warn(error.to_string()),
        (None, Ok(())) => state.tell("the response is complete"),
    }
}
