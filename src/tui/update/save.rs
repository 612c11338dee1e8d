//! Saving: the sample as a fixture, the template to its file, each after a look at what changes.

use std::path::{Path, PathBuf};

use crate::check::{ExpectedError, FileChange, Fixture, Setting, is_suite_path};
use crate::chunking::{self, Chunking};
use crate::text::diff::{self, Change, Diff};
use crate::tui::action::{Action, Effect};
use crate::tui::state::{Asked, Confirm, Mode, Saves, State};
use crate::value::Value;

/// Lines of a difference that are shown; nobody reads more.
const LINES: usize = 2000;

/// Lines that are the same around those that are not.
const CONTEXT: usize = 3;

/// Asks where to save the fixture.
pub(super) fn ask_fixture(state: &mut State) {
    state.detach();
    if let Some(failure) = state.timeline().failure() {
        let text = format!("the response does not parse: {}", failure.message);
        state.warn(text);
        return;
    }
    let sample = state.sample();
    let path = sample
        .folder
        .clone()
        .unwrap_or_else(|| Path::new("fixtures").join(folder_name(&sample.name)));
    let path = path.display().to_string();
    state.ask(Asked::FixturePath, &path);
}

/// A folder's name that tells the sample's.
fn folder_name(sample: &str) -> String {
    let last = Path::new(sample).file_name().unwrap_or_default();
    let last = last.to_string_lossy();
    let mut name = String::new();
    for c in last.trim_end_matches(".txt").chars() {
        if c.is_alphanumeric() || matches!(c, '_' | '.') {
            name.push(c);
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    match name.trim_matches(['-', '.']) {
        "" => "response".to_owned(),
        name => name.to_owned(),
    }
}

/// The fixture of the sample, in the folder.
pub(super) fn fixture(state: &mut State, folder: &str) -> Effect {
    let folder = PathBuf::from(folder.trim());
    if folder.as_os_str().is_empty() {
        state.warn("a folder needs a name");
        return Effect::None;
    }
    if is_suite_path(&folder) {
        state.warn("that is the name of a suite: a fixture is saved in a folder of its own");
        return Effect::None;
    }
    let timeline = state.timeline();
    let message = timeline.at(timeline.len() - 1).message();
    let sample = state.sample();
    // Chunks as a model writes them are worth keeping; those that were made up are not.
    let is_recorded = match state.chunking {
        Chunking::Recorded => !sample.chunks.is_empty(),
        Chunking::Tokens(_) => true,
        _ => false,
    };
    let (ends, _) = sample.ends(&state.chunking);
    let chunks = chunking::chunks(&sample.response, &ends).map(str::to_owned);
    let error = timeline
        .regions()
        .iter()
        .find_map(|region| region.error.as_ref());
    let fixture = Fixture {
        response: sample.response.clone(),
        chunks: is_recorded.then(|| chunks.collect()),
        prompt: sample.prompt(),
        tools: sample.tools.clone(),
        expected: Some(Value::Object(message)),
        error: error.map(|error| ExpectedError {
            kind: error.kind.name().to_owned(),
            field: error.field.clone(),
        }),
        unclaimed: timeline.unclaimed().map(|lost| lost.text.clone()).collect(),
        events: sample.records_events.then(|| events(state)),
        deltas: None,
    };
    // Files of an earlier fixture in that folder are removed if this one does not have them.
    let texts = fixture.texts();
    let files = Fixture::files().map(|name| {
        let text = texts.iter().find(|(file, _)| *file == name);
        (folder.join(name), text.map(|(_, text)| text.clone()))
    });
    let files = files.collect();
    let sample = state.sample;
    state.samples[sample].folder = Some(folder);
    Effect::Compare(files)
}

/// The events of the response when it arrives at once.
fn events(state: &State) -> Vec<Value> {
    let sample = state.sample();
    let setting = Setting::new(&state.template.compiled, &sample.prefix, &sample.tools);
    let replay = setting.replay([sample.response.as_str()]);
    let events = replay.events.iter();
    events.map(|event| Value::Object(event.to_map())).collect()
}

/// The template, to its file.
pub(super) fn template(state: &mut State) -> Effect {
    if !state.template.check() {
        state.warn("the template is not valid: it is not saved");
        return Effect::None;
    }
    let Some(path) = state.template.path.clone() else {
        state.ask(Asked::TemplatePath, "response_template.json");
        return Effect::None;
    };
    match state.template.file() {
        Ok(text) => Effect::Compare(vec![(path, Some(text))]),
        Err(error) => {
            state.warn(error);
            Effect::None
        }
    }
}

/// Shows what would change.
pub(super) fn compared(state: &mut State, changes: Vec<FileChange>) {
    let template = state.template.path.as_ref();
    let saves = if changes.iter().any(|change| Some(&change.path) == template) {
        Saves::Template
    } else {
        Saves::Fixture
    };
    let lines = difference(&changes);
    if lines.is_empty() {
        state.tell("nothing has changed: it is saved as it is");
        return;
    }
    state.enter(Mode::Confirm(Confirm {
        saves,
        changes,
        lines,
        top: 0,
    }));
}

fn difference(changes: &[FileChange]) -> Vec<(char, String)> {
    let mut lines = Vec::new();
    for change in changes {
        let before = change.before.as_deref().unwrap_or_default();
        let after = change.after.as_deref().unwrap_or_default();
        let note = match (&change.before, &change.after) {
            (None, _) => " (new)",
            (_, None) => " (removed)",
            _ => "",
        };
        lines.push(('=', format!("{}{note}", change.path.display())));
        let diff = Diff::new(diff::lines(before), diff::lines(after), None);
        for group in diff.groups(CONTEXT) {
            for (change, text) in group {
                let sign = match change {
                    Change::Kept => ' ',
                    Change::Removed => '-',
                    Change::Added => '+',
                };
                lines.push((sign, text.strip_suffix('\n').unwrap_or(text).to_owned()));
                if lines.len() >= LINES {
                    lines.push(('=', "…".to_owned()));
                    return lines;
                }
            }
        }
    }
    lines
}

/// Carries out an action while something is to be confirmed.
pub(super) fn confirming(state: &mut State, action: Action) -> Effect {
    let Mode::Confirm(confirm) = &mut state.mode else {
        return Effect::None;
    };
    match action {
        Action::Yes | Action::Open => return Effect::Write(confirm.changes.clone()),
        Action::No | Action::Leave => {
            state.enter(Mode::Normal);
            state.tell("not saved");
        }
        Action::Move(by) => confirm.top = confirm.top.saturating_add_signed(by),
        Action::Page(by) => confirm.top = confirm.top.saturating_add_signed(by * 10),
        _ => {}
    }
    Effect::None
}

/// Says what became of it.
pub(super) fn wrote(state: &mut State, result: Result<(), String>) {
    let Mode::Confirm(confirm) = std::mem::replace(&mut state.mode, Mode::Normal) else {
        return;
    };
    state.version += 1;
    match result {
        Err(error) => state.warn(error),
        Ok(()) => {
            let path = confirm.changes.first().map(|change| match confirm.saves {
                Saves::Template => change.path.clone(),
                Saves::Fixture => change.path.parent().unwrap_or(&change.path).to_owned(),
            });
            if confirm.saves == Saves::Template {
                state.template.saved();
            } else {
                let timeline = state.timeline();
                let message = timeline.at(timeline.len() - 1).message();
                let sample = state.sample;
                state.samples[sample].expected = Some(Value::Object(message));
                state.samples[sample].original = None;
                state.compare();
            }
            let path = path.unwrap_or_default();
            state.tell(format!("saved {}", path.display()));
        }
    }
}
