//! Questions: a line to be written, or one of a list to be chosen.

use crate::chunking::{Chunking, ChunkingError};
use crate::tui::action::{Action, Direction, Effect, Unit};
use crate::tui::state::{Asked, Breakpoint, Mode, Pick, Picked, State, Trigger, breakpoint_row};
use crate::value::json;

/// Asks what an action needs to know.
pub(super) fn ask(state: &mut State, action: &Action) {
    match action {
        Action::AskByte => state.ask(Asked::Byte, ""),
        Action::AskSearch => state.ask(Asked::Search, ""),
        Action::AskField => {
            let timeline = state.timeline();
            let fields = timeline.template().fields().iter();
            let rows: Vec<String> = fields.map(|field| field.name.to_string()).collect();
            let row = state.field.unwrap_or(0).min(rows.len().saturating_sub(1));
            pick(state, Picked::Fields, rows, row);
        }
        Action::AskBreakpoints if state.breakpoints.is_empty() => {
            state.ask(Asked::Breakpoint, "");
        }
        Action::AskBreakpoints => breakpoints(state, 0),
        Action::AskChunking => {
            let mut known = vec![
                Chunking::Whole,
                Chunking::Words,
                Chunking::Characters(1),
                Chunking::Characters(4),
                Chunking::Bytes(1),
                Chunking::Random(1),
            ];
            if !state.sample().chunks.is_empty() {
                known.push(Chunking::Recorded);
            }
            known.extend(state.tokens.clone().map(Chunking::Tokens));
            if !known.contains(&state.chunking) {
                known.push(state.chunking.clone());
            }
            let row = known
                .iter()
                .position(|chunking| *chunking == state.chunking);
            let rows = known.iter().map(describe).collect();
            pick(state, Picked::Chunkings(known), rows, row.unwrap_or(0));
        }
        Action::AskSample => {
            samples(state, (0..state.samples.len()).collect());
        }
        _ => {}
    }
}

/// How many characters of a response stand behind the name of its sample.
const PREVIEW: usize = 60;

/// Asks for one of these samples, each with how its response begins.
fn samples(state: &mut State, found: Vec<usize>) {
    let row = |index: &usize| {
        let sample = &state.samples[*index];
        let preview: String = sample.response.chars().take(PREVIEW).collect();
        format!("{}  {}", sample.name, preview.replace('\n', "\u{23ce}"))
    };
    let rows = found.iter().map(row).collect();
    let at = found.iter().position(|index| *index == state.sample);
    pick(state, Picked::Samples(found), rows, at.unwrap_or(0));
}

/// The samples that have a text in their name, their prefix, their response or their message.
fn having(state: &State, text: &str) -> Vec<usize> {
    let wanted = text.to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&wanted);
    let all = state.samples.iter().enumerate();
    all.filter(|(_, sample)| {
        let message = sample.expected.as_ref().map(json::to_string);
        has(&sample.name)
            || has(&sample.response)
            || has(&sample.prefix)
            || message.is_some_and(|message| has(&message))
    })
    .map(|(index, _)| index)
    .collect()
}

fn describe(chunking: &Chunking) -> String {
    let meaning = match chunking {
        Chunking::Whole => "in one piece",
        Chunking::Characters(1) => "each character",
        Chunking::Characters(_) => "so many characters",
        Chunking::Bytes(1) => "each byte, also of one character",
        Chunking::Bytes(_) => "so many bytes",
        Chunking::Words => "words with the space before them",
        Chunking::Random(_) => "one to sixteen characters, by a seed",
        Chunking::Tokens(_) => "the tokens of a tokenizer",
        Chunking::Recorded => "as it was recorded",
    };
    format!("{chunking}: {meaning}")
}

fn pick(state: &mut State, picked: Picked, rows: Vec<String>, row: usize) {
    state.enter(Mode::Pick(Pick::new(picked, rows, row)));
}

fn breakpoints(state: &mut State, row: usize) {
    let rows: Vec<String> = state
        .breakpoints
        .iter()
        .map(|breakpoint| breakpoint_row(&breakpoint.at, breakpoint.enabled))
        .collect();
    if rows.is_empty() {
        state.enter(Mode::Normal);
        return;
    }
    let row = row.min(rows.len() - 1);
    pick(state, Picked::Breakpoints, rows, row);
}

/// Carries out an action while a line is asked for.
pub(super) fn prompting(state: &mut State, action: Action) -> Effect {
    let Mode::Prompt(prompt) = &mut state.mode else {
        return Effect::None;
    };
    match action {
        Action::Type(text) => prompt.editor.insert(&text.replace(['\n', '\r'], " ")),
        Action::Remove(motion) => prompt.editor.remove(motion),
        Action::Go(motion) => prompt.editor.go(motion),
        Action::Undo => {
            prompt.editor.undo();
        }
        Action::Leave => state.enter(Mode::Normal),
        Action::Open => {
            let (asked, text) = (prompt.asked, prompt.editor.text().to_owned());
            state.enter(Mode::Normal);
            return answer(state, asked, &text);
        }
        _ => {}
    }
    Effect::None
}

fn answer(state: &mut State, asked: Asked, text: &str) -> Effect {
    match asked {
        Asked::Byte => match text.trim().parse() {
            Ok(byte) => {
                let prefix = state.timeline().prefix();
                super::seek::go_to_text(state, prefix.saturating_add(byte));
            }
            Err(_) => state.warn("a byte is a number"),
        },
        Asked::Search => {
            if !text.is_empty() {
                text.clone_into(&mut state.search);
            }
            super::seek::step(state, Unit::Found, Direction::Forward);
        }
        Asked::Sample => {
            let found = having(state, text);
            if found.is_empty() {
                state.warn(format!("no sample has {text:?} in it"));
            } else {
                samples(state, found);
            }
        }
        Asked::Breakpoint => match text.parse() {
            Ok(Trigger::Field(name)) if !has_field(state, &name) => {
                let timeline = state.timeline();
                let fields = timeline.template().fields().iter();
                let known: Vec<&str> = fields.map(|field| field.name.as_str()).collect();
                let known = known.join(", ");
                state.warn(format!("the template has no field {name}; it has {known}"));
            }
            Ok(at) => {
                state.breakpoints.push(Breakpoint { at, enabled: true });
                state.tell("c goes on to the next breakpoint");
            }
            Err(error) => state.warn(error),
        },
        Asked::Chunking => return Effect::Chunking(text.to_owned()),
        Asked::FixturePath => return super::save::fixture(state, text),
        Asked::TemplatePath => {
            if text.trim().is_empty() {
                state.warn("a file needs a name");
            } else {
                state.template.path = Some(text.trim().into());
                return super::save::template(state);
            }
        }
    }
    Effect::None
}

fn has_field(state: &State, name: &str) -> bool {
    let timeline = state.timeline();
    timeline.template().field(name).is_some()
}

/// Carries out an action while one of a list is asked for.
pub(super) fn picking(state: &mut State, action: Action) -> Effect {
    let Mode::Pick(pick) = &mut state.mode else {
        return Effect::None;
    };
    let last = pick.rows.len().saturating_sub(1);
    match action {
        Action::Move(by) => pick.row = pick.row.saturating_add_signed(by).min(last),
        Action::Page(by) => pick.row = pick.row.saturating_add_signed(by * 10).min(last),
        Action::Start => pick.row = 0,
        Action::End => pick.row = last,
        Action::Leave => state.enter(Mode::Normal),
        Action::Add => match pick.picked {
            Picked::Breakpoints => state.ask(Asked::Breakpoint, ""),
            Picked::Chunkings(_) => state.ask(Asked::Chunking, ""),
            Picked::Samples(_) | Picked::Fields => {}
        },
        Action::AskSearch if matches!(pick.picked, Picked::Samples(_)) => {
            state.ask(Asked::Sample, "");
        }
        Action::Delete if pick.picked == Picked::Breakpoints => {
            let row = pick.row;
            state.breakpoints.remove(row);
            breakpoints(state, row);
        }
        Action::Open => {
            let (picked, row) = (pick.picked.clone(), pick.row);
            state.enter(Mode::Normal);
            choose(state, picked, row);
        }
        _ => {}
    }
    Effect::None
}

/// A click on a row, which chooses it when it is the one that was clicked before.
pub(super) fn click(state: &mut State, row: usize) {
    let Mode::Pick(pick) = &mut state.mode else {
        return;
    };
    if row < pick.rows.len() && std::mem::replace(&mut pick.row, row) == row {
        picking(state, Action::Open);
    }
}

fn choose(state: &mut State, picked: Picked, row: usize) {
    match picked {
        Picked::Samples(found) => {
            let chosen = found.get(row).copied().unwrap_or(state.sample);
            if chosen != state.sample && chosen < state.samples.len() {
                state.show_sample(chosen);
                if state.sample().live {
                    super::seek::go_to_end(state);
                }
            }
        }
        Picked::Fields => {
            state.field = Some(row);
            super::seek::step(state, Unit::Field, Direction::Forward);
        }
        Picked::Breakpoints => {
            if let Some(breakpoint) = state.breakpoints.get_mut(row) {
                breakpoint.enabled = !breakpoint.enabled;
            }
            breakpoints(state, row);
        }
        Picked::Chunkings(known) => {
            if let Some(chunking) = known.into_iter().nth(row) {
                set_chunking(state, chunking);
            }
        }
    }
}

/// Cuts the response as was asked.
pub(super) fn chunked(state: &mut State, read: Result<Chunking, ChunkingError>) {
    match read {
        Ok(chunking) => set_chunking(state, chunking),
        Err(error) => state.warn(error.to_string()),
    }
}

fn set_chunking(state: &mut State, chunking: Chunking) {
    if chunking == Chunking::Recorded && state.sample().chunks.is_empty() {
        state.warn("the chunks of this response were not recorded");
        return;
    }
    if let Chunking::Tokens(tokens) = &chunking {
        state.tokens = Some(tokens.clone());
    }
    state.chunking = chunking;
    state.rerun();
}
