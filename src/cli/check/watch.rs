//! `obverse check --watch`: what a changed file belongs to is checked again.

use std::collections::HashSet;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use obverse::project;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::Args;
use super::pass::Pass;
use super::selection::Selected;
use super::subject::Subjects;
use super::task::Task;
use crate::cli::problem::Problem;
use crate::cli::project::real;
use crate::cli::report::Format;
use crate::cli::status::Status;
use crate::cli::stop::Stop;
use crate::cli::words::count;
use crate::cli::{escape, output};

/// How long nothing must change before what has changed is looked at: who saves a file writes it in several steps.
const QUIET: Duration = Duration::from_millis(60);

/// How long that is waited for at most.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long it takes at most to notice Ctrl-C.
const SLICE: Duration = Duration::from_millis(100);

/// The control sequence that clears a terminal, and what is above it.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J\u{1b}[3J";

/// Checks again and again.
pub(super) fn run(args: &Args) -> Result<Status, Stop> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&ended)).map_err(|error| {
            Problem::failed("signals", format!("Ctrl-C cannot be waited for: {error}"))
        })?;
    }
    let reference = args
        .reference
        .start(args.selection.project.open()?.root())?;
    let pass = Pass {
        args,
        reference: reference.as_ref(),
        ended: Some(&ended),
    };
    let mut files = Files::new()?;
    // Everything is new at first, and after a run that could not be made.
    let mut known: HashSet<Key> = HashSet::new();
    let mut changed: HashSet<PathBuf> = HashSet::new();
    while !ended.load(Ordering::Relaxed) {
        let checked = gather(args).and_then(|(selected, config)| {
            files.watch(folders(&selected, config.as_deref()))?;
            Ok((selected, config))
        });
        match checked {
            Ok((Selected { subjects, tasks }, config)) => {
                if config.is_some_and(|config| changed.contains(&real(&config))) {
                    known.clear();
                }
                let is_due = |task: &Task| {
                    !known.contains(&Key::of(&subjects, task))
                        || is_touched(&subjects, task, &changed)
                };
                let all: HashSet<Key> = tasks.iter().map(|task| Key::of(&subjects, task)).collect();
                let is_any_due = tasks.iter().any(is_due);
                // What was removed stands in the last report still.
                let is_stale = !is_any_due && known.iter().any(|key| !all.contains(key));
                let due = tasks.into_iter();
                let due: Vec<Task> = due.filter(|task| is_stale || is_due(task)).collect();
                known = all;
                if !due.is_empty() {
                    clear(args);
                    pass.run(&subjects, &due)?;
                    tell(
                        args,
                        &format!("{} watched; Ctrl-C ends\n", count(known.len(), "case")),
                    );
                }
            }
            Err(problem) => {
                known.clear();
                clear(args);
                problem.show();
                files.watch(HashSet::from([real(Path::new("."))]))?;
            }
        }
        changed = files.wait(&ended)?;
    }
    Ok(Status::Done)
}

/// The tasks there are now, and where the `obverse.toml` lies that says so.
fn gather(args: &Args) -> Result<(Selected, Option<PathBuf>), Problem> {
    let workspace = args.selection.project.open()?;
    let selected = args.gather(&workspace)?;
    Ok((
        selected,
        workspace.root().map(|root| root.join(project::FILE)),
    ))
}

/// A terminal shows what the last run said, nothing before it.
fn clear(args: &Args) {
    if args.report.format == Format::Human
        && io::stdout().is_terminal()
        && io::stderr().is_terminal()
    {
        output::tell(CLEAR);
    }
}

/// People are told; programs read the results.
fn tell(args: &Args, text: &str) {
    if args.report.format == Format::Human {
        output::tell(text);
    }
}

/// The key by which a task is found again in the next run.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key(String, Option<String>);

impl Key {
    fn of(subjects: &Subjects, task: &Task) -> Self {
        let line = match task {
            Task::Fixture(_, found) => found.line.as_ref().map(|(_, line)| line.clone()),
            Task::Template(_) => None,
        };
        Self(subjects.name(task), line)
    }
}

/// Returns true if one of the files that changed belongs to a task: those of its fixture, its response template, the chat template. Of
/// a suite the lines that changed are other tasks.
fn is_touched(subjects: &Subjects, task: &Task, changed: &HashSet<PathBuf>) -> bool {
    let (subject, fixture) = match task {
        Task::Template(index) => (Some(*index), None),
        Task::Fixture(index, found) => (*index, found.line.is_none().then(|| real(&found.path))),
    };
    let own = subject.into_iter().flat_map(|index| {
        let subject = &subjects.all[index];
        [
            Some(&subject.path),
            subject.chat.as_ref().map(|chat| &chat.path),
        ]
    });
    let own: Vec<PathBuf> = own.flatten().map(|path| real(path)).collect();
    changed.iter().any(|path| {
        let in_fixture = fixture
            .as_ref()
            .is_some_and(|folder| path.starts_with(folder));
        in_fixture || own.iter().any(|own| path.starts_with(own))
    })
}

/// The folders in which something may change: those of all files, and where fixtures may be added.
fn folders(selected: &Selected, config: Option<&Path>) -> HashSet<PathBuf> {
    let mut files: Vec<PathBuf> = config.map(Path::to_owned).into_iter().collect();
    for subject in &selected.subjects.all {
        files.push(subject.path.clone());
        files.extend(subject.chat.as_ref().map(|chat| chat.path.clone()));
    }
    let mut folders = HashSet::new();
    for task in &selected.tasks {
        if let Task::Fixture(_, found) = task {
            if found.line.is_none() {
                folders.insert(real(&found.path));
            }
            files.push(found.path.clone());
        }
    }
    files.sort();
    files.dedup();
    for file in files {
        let file = real(&file);
        if file.is_dir() {
            folders.insert(file.clone());
        }
        folders.extend(file.parent().map(Path::to_owned));
    }
    folders
}

/// The files that are watched.
struct Files {
    watcher: RecommendedWatcher,
    events: Receiver<notify::Result<Event>>,
    folders: HashSet<PathBuf>,
}

impl Files {
    fn new() -> Result<Self, Problem> {
        let (sender, events) = mpsc::channel();
        let watcher = notify::recommended_watcher(sender).map_err(|error| unwatched(&error))?;
        Ok(Self {
            watcher,
            events,
            folders: HashSet::new(),
        })
    }

    /// Watches these folders too.
    fn watch(&mut self, folders: HashSet<PathBuf>) -> Result<(), Problem> {
        // A folder that was removed and made again is another one.
        self.folders.retain(|folder| folder.is_dir());
        for folder in folders {
            if !self.folders.contains(&folder) {
                self.watcher
                    .watch(&folder, RecursiveMode::NonRecursive)
                    .map_err(|error| unwatched(&error))?;
                self.folders.insert(folder);
            }
        }
        Ok(())
    }

    /// Waits until something changes and then is quiet for a moment, and says what; nothing when it is told to end.
    fn wait(&mut self, ended: &AtomicBool) -> Result<HashSet<PathBuf>, Problem> {
        let mut changed = HashSet::new();
        let mut since: Option<Instant> = None;
        while !ended.load(Ordering::Relaxed) {
            let patience = if since.is_some() { QUIET } else { SLICE };
            match self.events.recv_timeout(patience) {
                Ok(Ok(event)) if matches!(event.kind, EventKind::Access(_)) => {}
                Ok(Ok(event)) => {
                    for path in &event.paths {
                        if event.kind.is_remove() || event.kind.is_create() {
                            self.folders.remove(path);
                        }
                    }
                    changed.extend(event.paths);
                    since.get_or_insert_with(Instant::now);
                }
                Ok(Err(error)) => return Err(unwatched(&error)),
                Err(RecvTimeoutError::Timeout) if since.is_some() => break,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Problem::failed("watch", "files are no longer watched"));
                }
            }
            if since.is_some_and(|since| since.elapsed() > PATIENCE) {
                break;
            }
        }
        Ok(changed)
    }
}

fn unwatched(error: &notify::Error) -> Problem {
    let problem = Problem::failed(
        "watch",
        format!(
            "files cannot be watched: {}",
            escape::line(&error.to_string())
        ),
    );
    match error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            problem.with_hint("the system's limit is reached: on Linux, raise fs.inotify.max_user_watches, or give fewer paths")
        }
        _ => problem,
    }
}
