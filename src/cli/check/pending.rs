//! Pending changes: those that `obverse check --update` and `obverse derive` would write, before anybody writes them.

use std::path::{Path, PathBuf};

use obverse::check::{self, Effort, FileChange, Fixture, FixtureFile};
use obverse::derive;
use obverse::value::json::Format;
use obverse::value::{Map, Value, json};

use super::selection::{Selected, Selection};
use super::subject::{Subject, Subjects};
use super::task::Task;
use super::words::derive_words;
use super::work::How;
use crate::cli::derive::file_stem;
use crate::cli::problem::Problem;
use crate::cli::progress::Progress;
use crate::cli::replace::apply;
use crate::cli::{bulk, input, project};

/// A change that is pending.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    /// The thing that changes: the fixture or the response template.
    pub(crate) name: String,
    /// Why, in a sentence.
    pub(crate) why: &'static str,
    /// How the change is shown: the files, or of a line of a suite its parts.
    pub(crate) shown: Vec<FileChange>,
    /// The arguments of `obverse` that make it.
    pub(crate) arguments: Vec<String>,
    /// The file that its standard output goes to, where it does not write the file itself.
    pub(crate) output: Option<String>,
    /// The response template that changes, or that the fixture belongs to.
    template: Option<PathBuf>,
    /// True if the response template itself changes.
    is_template: bool,
    /// The line of a suite that changes, where it is not the files that are shown.
    line: Option<(FixtureFile, Fixture)>,
}

/// The pending changes of one task.
enum State {
    Holds,
    Pending(Box<Pending>),
    /// It does not hold, and nothing that could be written mends that.
    Fails,
}

/// All changes that are pending, and how many other failures there are.
pub(crate) fn pending(selection: &Selection) -> Result<(Vec<Pending>, usize), Problem> {
    find(selection, true, &|_, _| true)
}

/// A change as it is now; `None` when it is no longer pending.
pub(crate) fn pending_now(
    selection: &Selection,
    before: &Pending,
) -> Result<Option<Pending>, Problem> {
    let is_it = |subjects: &Subjects, task: &Task| subjects.name(task) == before.name;
    find(selection, false, &is_it).map(|(found, _)| found.into_iter().next())
}

/// The changes that are pending now of the fixtures that belong to a response template.
pub(crate) fn pending_of(selection: &Selection, template: &Path) -> Result<Vec<Pending>, Problem> {
    let is_its = |subjects: &Subjects, task: &Task| match task {
        Task::Fixture(Some(index), _) => subjects.all[*index].path == template,
        _ => false,
    };
    find(selection, false, &is_its).map(|(found, _)| found)
}

/// The changes that are pending of the tasks that are wanted, and how many of these fail otherwise. Everything is read from
/// the disk.
fn find(
    selection: &Selection,
    shows_progress: bool,
    is_wanted: &dyn Fn(&Subjects, &Task) -> bool,
) -> Result<(Vec<Pending>, usize), Problem> {
    let workspace = selection.project.open()?;
    let is_task = |subject: &Subject| subject.loaded.is_some() && selection.derives(subject);
    let Selected {
        subjects,
        mut tasks,
    } = selection.gather(&workspace, is_task)?;
    tasks.retain(|task| is_wanted(&subjects, task));
    let how = How {
        // Other chunkings are not tried here.
        effort: Effort::none(),
        clock: selection.project.clock(),
        selection,
        reference: None,
    };
    let mut all = Vec::new();
    let mut failing = 0;
    let progress = Progress::of(if shows_progress { tasks.len() } else { 0 });
    let work = |task: &Task| (subjects.name(task), state(&subjects, &how, task));
    bulk::spread_over(selection.jobs, &tasks, &work, |(name, state)| {
        progress.finished(&name);
        match state? {
            State::Holds => {}
            State::Pending(pending) => all.push(*pending),
            State::Fails => failing += 1,
        }
        Ok::<(), Problem>(())
    })?;
    Ok((all, failing))
}

fn state(subjects: &Subjects, how: &How<'_>, task: &Task) -> Result<State, Problem> {
    match task {
        Task::Template(index) => derivation(&subjects.all[*index], how),
        Task::Fixture(index, found) => {
            let done = subjects.perform(how, task);
            match done.change {
                Some((_, fixture)) => {
                    let mut pending = fixture_state(found, fixture, how, done.outcome.name)?;
                    pending.template = index.map(|index| subjects.all[index].path.clone());
                    Ok(State::Pending(pending))
                }
                None if done.outcome.failed() => Ok(State::Fails),
                None => Ok(State::Holds),
            }
        }
    }
}

/// A fixture that records something else than the parser gives.
fn fixture_state(
    found: &FixtureFile,
    fixture: Fixture,
    how: &How<'_>,
    name: String,
) -> Result<Box<Pending>, Problem> {
    let file = project::shown(&found.path).display().to_string();
    let mut arguments = vec![
        "check".to_owned(),
        "--no-derive".to_owned(),
        "--update".to_owned(),
    ];
    let (shown, line) = match &found.line {
        None => {
            let changes = fixture.changes(&found.path);
            (
                changes.map_err(|error| input::fixture_problem(&error))?,
                None,
            )
        }
        Some((_, text)) => {
            arguments.push("--filter".to_owned());
            arguments.push(format!("*{}", globset::escape(&name)));
            let before = json::parse(text)
                .ok()
                .and_then(|line| line.as_object().cloned());
            let before = before.map(|members| recorded(&members));
            let after = Some(recorded(&fixture.to_map()));
            let change = FileChange::new(name.clone(), before, after);
            (vec![change], Some((found.clone(), fixture)))
        }
    };
    arguments.extend(how.selection.project.arguments());
    arguments.push(file);
    Ok(Box::new(Pending {
        name,
        why: "the parser gives something else than the fixture records",
        shown,
        arguments,
        output: None,
        template: None,
        is_template: false,
        line,
    }))
}

/// The parts of a suite's line that the parser gives, each value of them on a line of its own.
fn recorded(members: &Map) -> String {
    let parts = ["expected", "error", "unclaimed", "events", "deltas"];
    let recorded: Map = parts
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), members.get(key)?.clone())))
        .collect();
    Format::indented(2).write(&Value::Object(recorded)) + "\n"
}

/// A derived response template that is not what would be derived now. It is a derived one if its report lies beside it.
fn derivation(subject: &Subject, how: &How<'_>) -> Result<State, Problem> {
    let report = subject.path.with_extension("report.json");
    let Some(chat) = subject.chat.as_ref().filter(|_| report.is_file()) else {
        return Ok(State::Holds);
    };
    let options = how.selection.options(subject);
    let Ok(mut derivation) = derive::derive(chat, &options) else {
        return Ok(State::Fails);
    };
    let before = input::read_text(&report)?;
    // The same chat template may have been given by another path.
    let source = json::parse(&before).ok();
    let source = source
        .as_ref()
        .and_then(|report| report.get("source")?.as_str());
    let chat_path = project::shown(&chat.path).display().to_string();
    derivation.report.source = source.unwrap_or(&chat_path).to_owned();
    let changes = [
        (
            subject.path.clone(),
            subject.text.clone(),
            derivation.document.to_json(),
        ),
        (report.clone(), before, derivation.report.to_json()),
    ];
    let shown: Vec<FileChange> = changes
        .into_iter()
        .filter(|(_, before, after)| before != after)
        .map(|(path, before, after)| FileChange::new(path, Some(before), Some(after)))
        .collect();
    if shown.is_empty() {
        return Ok(State::Holds);
    }
    let folder = match subject.path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.display().to_string(),
        _ => ".".to_owned(),
    };
    // The verb names the file itself; where that is another name, it is told what to write to.
    let stem = subject.path.file_stem().map(|stem| stem.to_string_lossy());
    let names_it = stem.is_some_and(|stem| stem == file_stem(chat));
    let (target, output) = if names_it {
        (["--out-dir".to_owned(), folder], None)
    } else {
        let report = report.display().to_string();
        (
            ["--report".to_owned(), report],
            Some(subject.path.display().to_string()),
        )
    };
    let mut arguments = derive_words(&options.engines);
    arguments.extend(target);
    arguments.extend(how.selection.project.source.arguments());
    arguments.push(chat_path);
    Ok(State::Pending(Box::new(Pending {
        name: input::name(&subject.path),
        why: "it is not what is derived from its chat template",
        shown,
        arguments,
        output,
        template: Some(subject.path.clone()),
        is_template: true,
        line: None,
    })))
}

#[cfg(test)]
impl Pending {
    /// A change of files.
    pub(crate) fn of_files(name: &str, shown: Vec<FileChange>) -> Self {
        Self {
            name: name.to_owned(),
            why: "",
            shown,
            arguments: Vec::new(),
            output: None,
            template: None,
            is_template: false,
            line: None,
        }
    }
}

impl Pending {
    /// Returns true if it would write what the other one would, in the place of the same.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.name == other.name && self.shown == other.shown && self.line == other.line
    }

    /// Returns the response template that the change writes. What is pending of its fixtures depends on it.
    pub(crate) fn changed_template(&self) -> Option<&Path> {
        self.template.as_deref().filter(|_| self.is_template)
    }

    /// Returns true if it is a fixture of that response template.
    pub(crate) fn is_fixture_of(&self, template: &Path) -> bool {
        !self.is_template && self.template.as_deref() == Some(template)
    }

    /// Writes it, each file at once and whole.
    ///
    /// # Errors
    ///
    /// That a file is no longer what was shown, or cannot be written.
    pub(crate) fn take(&self) -> Result<(), Problem> {
        let changes = match &self.line {
            None => self.shown.clone(),
            Some((found, fixture)) => check::changes(&[(found.clone(), fixture.clone())])
                .map_err(|error| input::fixture_problem(&error))?,
        };
        for change in &changes {
            let now = change
                .path
                .exists()
                .then(|| input::read_text(&change.path))
                .transpose()?;
            let unmarked = |text| str::strip_prefix(text, '\u{feff}').unwrap_or(text);
            let is_same = match &self.line {
                None => now == change.before,
                Some((found, _)) => found.line.as_ref().is_some_and(|(number, line)| {
                    let now = now.as_deref().map(unmarked);
                    now.and_then(|text| text.lines().nth(number - 1)) == Some(line)
                }),
            };
            if !is_same {
                let name = input::name(&change.path);
                let message = format!("{name} has changed since it was shown");
                return Err(Problem::failed("changed", message).with_hint("review it again"));
            }
        }
        changes.iter().try_for_each(apply)
    }
}
