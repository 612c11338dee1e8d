//! `--hub-list`: many models of the Hub, each chat template derived from once.
//!
//! Some threads fetch, and what they fetch comes in the order of the list, so that a chat template has the name of the first model that has
//! it, however fast the Hub is. New ones go to the threads that derive, one for each core, while fetching goes on. What was done is saved
//! again and again, and a run that is ended at any place goes on there.

mod state;
mod told;

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use obverse::chat_template::ChatTemplateSource;
use obverse::derive::{self, Report};
use obverse::hub::{self as library, Cache, FetchError, Hub, HubSettings, ModelId, Wanted};

use self::state::{Failure, Format, Model, State, Template};
use super::summary::Summary;
use super::{Args, derive_problem, files};
use crate::cli::hub::{self, Http};
use crate::cli::problem::{self, Problem};
use crate::cli::progress::Progress;
use crate::cli::replace::replace_or_force;
use crate::cli::shape::Shape;
use crate::cli::source::Opened;
use crate::cli::status::Status;
use crate::cli::stop::Stop;
use crate::cli::{bulk, escape, input, output, wire};

/// How many models are fetched at the same time: it is waiting, mostly.
const FETCHING: NonZero<usize> = NonZero::new(8).expect("not zero");

/// The Hub counts requests in windows of five minutes; where there are many models it is waited for the next one.
const LONGEST_PAUSE: Duration = Duration::from_secs(330);

/// After so many models in a row for which no answer came nobody is asked any more.
const GONE: usize = 16;

/// The stack of a thread that derives: values nest, and walking them may recurse.
const STACK: usize = 8 << 20;

/// Derives from all models of the list.
pub(super) fn run(args: &Args, list: &Path, folder: &Path) -> Result<Status, Stop> {
    let models = read(list)?;
    let Some(cache) = Cache::of_process() else {
        let hint = "HF_HUB_CACHE names a folder for it";
        let message = "there is no place for the cache of the Hub";
        return Err(Problem::failed("unwritable", message)
            .with_hint(hint)
            .into());
    };
    let state = State::open(folder, made_with(args))?;
    let settings = HubSettings::of_process().longest_pause(LONGEST_PAUSE);
    let work = Work {
        args,
        folder,
        endpoint: settings.endpoint.clone(),
        hub: Hub::new(settings, cache, Http::new()),
        keys: [RandomState::new(), RandomState::new()],
        silent: AtomicUsize::new(0),
        is_gone: AtomicBool::new(false),
    };
    let pending: Vec<ModelId> = models
        .iter()
        .filter(|id| !state.is_done(&id.to_string()))
        .cloned()
        .collect();
    if models.len() > pending.len() {
        output::tell(&format!(
            "{} of {} models were done before\n",
            models.len() - pending.len(),
            models.len()
        ));
    }
    let listed: HashSet<String> = models.iter().map(ToString::to_string).collect();
    let mut state = work.all(&pending, state)?;
    // What was done for models that are not in the list any more is no part of its summary.
    state.models.retain(|model, _| listed.contains(model));
    state.save()?;
    if args.format == Shape::Json {
        output::print_json(&wire::pretty(&state.document()))?;
    } else {
        output::tell(&told::summary(&state));
    }
    if work.is_gone.load(Ordering::Relaxed) {
        let message = format!("no answer came for {GONE} models in a row");
        let hint = "look at the network; the same command goes on where this one ended";
        return Err(Problem::failed("hub-unreachable", message)
            .with_hint(hint)
            .into());
    }
    Ok(status(&state))
}

/// The models that a file names, each once, in its order.
fn read(list: &Path) -> Result<Vec<ModelId>, Problem> {
    let text = input::read_text(list)?;
    let (mut models, mut known, mut wrong) = (Vec::new(), HashSet::new(), Vec::new());
    // Editors of Windows begin a file so.
    let text = text.trim_start_matches('\u{feff}');
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        match line.parse::<ModelId>() {
            Ok(id) if known.insert(id.clone()) => models.push(id),
            Ok(_) => {}
            Err(error) => wrong.push(format!("line {}: {error}", number + 1)),
        }
    }
    if wrong.is_empty() {
        return Ok(models);
    }
    let message = format!("{} has lines that name no model", input::name(list));
    let problem = Problem::failed("usage", message)
        .with_hint("each line is org/model or org/model@revision; # begins a remark");
    let more = problem::more(wrong.len());
    let told = wrong.into_iter().take(problem::MANY).chain(more);
    Err(told.fold(problem, |problem, line| problem.with_note(line.trim_end())))
}

/// The options that make a difference to what is derived.
fn made_with(args: &Args) -> String {
    let mut words = vec![format!("obverse {}", env!("OBVERSE_VERSION"))];
    words.extend(
        args.engines
            .iter()
            .map(|engine| format!("--for {engine:?}")),
    );
    words.extend(
        args.prefer
            .iter()
            .map(|(name, what)| format!("--prefer {name}={what}")),
    );
    words.extend(args.thorough.then(|| "--thorough".to_owned()));
    words.extend(args.source_args.arguments());
    words.join(" ")
}

/// The worst that came of any model.
fn status(state: &State) -> Status {
    let of = |model: &Model| {
        let name = model.outcome.as_ref().ok()?;
        let format = state.templates.get(name)?.outcome.as_ref().ok()?;
        Some(match format.verdict.as_str() {
            "proved" => Status::Done,
            _ => Status::Found,
        })
    };
    let models = state.models.values();
    let statuses = models.map(|model| of(model).unwrap_or(Status::Failed));
    statuses.max().unwrap_or(Status::Done)
}

/// The facts that the threads share.
struct Work<'a> {
    args: &'a Args,
    folder: &'a Path,
    endpoint: String,
    hub: Hub<Http>,
    /// By which chat templates are told apart. Nobody can foresee them, and so nobody can make a chat template that is taken for another one.
    keys: [RandomState; 2],
    /// For how many models in a row no answer came.
    silent: AtomicUsize,
    /// True if nothing more is to be fetched: the Hub does not answer any more, or nothing can be written.
    is_gone: AtomicBool,
}

/// A chat template with what else is derived from, as two numbers.
type Key = [u64; 2];

/// A model whose files are there.
struct Ready {
    commit: Option<String>,
    renamed: Option<String>,
    folder: PathBuf,
    key: Key,
}

/// A chat template to derive from.
struct Job {
    name: String,
    id: ModelId,
    folder: PathBuf,
}

/// A model that cannot be used.
enum Unfit {
    /// It was not asked for.
    Skipped,
    Failed(Failure),
}

impl Work<'_> {
    /// Does what is pending, and gives the state with it.
    fn all(&self, pending: &[ModelId], state: State) -> Result<State, Stop> {
        let mut known = self.known(&state);
        let mut taken: HashSet<String> = HashSet::new();
        for name in state.templates.keys() {
            files::unique(name, &mut taken);
        }
        let shared = Mutex::new((state, Summary::default()));
        let (jobs, queue) = mpsc::channel::<Job>();
        let queue = Mutex::new(queue);
        let progress = Progress::of(pending.len());
        let done = thread::scope(|scope| {
            // Owned here, so that the threads that derive end with this one.
            let jobs = jobs;
            let cores = thread::available_parallelism().map_or(1, NonZero::get);
            let mut deriving = Vec::new();
            for _ in 0..cores {
                let thread = thread::Builder::new().stack_size(STACK);
                let work = || self.work_off(&queue, &shared, &progress);
                deriving.push(thread.spawn_scoped(scope, work)?);
            }
            let fetch = |id: &ModelId| (id.clone(), self.ready(id));
            bulk::spread_over(Some(FETCHING), pending, &fetch, |(id, ready)| {
                let model = match ready {
                    Ok(ready) => {
                        let name = known.entry(ready.key).or_insert_with(|| {
                            let name = files::unique(&id.repo().replace('/', "--"), &mut taken);
                            // Nobody takes it where a thread that derives has found that nothing can be written.
                            let _ = jobs.send(Job {
                                name: name.clone(),
                                id: id.clone(),
                                folder: ready.folder,
                            });
                            name
                        });
                        Model {
                            commit: ready.commit,
                            renamed: ready.renamed,
                            outcome: Ok(name.clone()),
                        }
                    }
                    Err(Unfit::Skipped) => return Ok(()),
                    Err(Unfit::Failed(failure)) => {
                        self.tell_failed(&progress, &shared, &id, &failure);
                        Model {
                            commit: None,
                            renamed: None,
                            outcome: Err(failure),
                        }
                    }
                };
                let id = id.to_string();
                progress.finished(&id);
                let mut shared = lock(&shared);
                shared.0.models.insert(id, model);
                shared.0.save_now_and_then().map_err(Stop::from)
            })?;
            drop(jobs);
            for thread in deriving {
                // A panic is this crate's own fault; what it was deriving from is pending the next time.
                thread.join().unwrap_or(Ok(()))?;
            }
            Ok::<(), Stop>(())
        });
        drop(progress);
        let (mut state, _) = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        if done.is_err() {
            state.save()?;
        }
        done.map(|()| state)
    }

    /// The chat templates that were derived from before, by their keys: read once more from the model that each is named after.
    fn known(&self, state: &State) -> HashMap<Key, String> {
        let keys = state.templates.iter().filter_map(|(name, template)| {
            let id: ModelId = template.model.parse().ok()?;
            let commit = state.models.get(&template.model)?.commit.as_deref()?;
            let at: ModelId = format!("{}@{commit}", id.repo()).parse().ok()?;
            let folder = self.hub.cache().snapshot(&at).ok()?;
            let opened = self.opened(&id, &folder).ok()?;
            Some((self.key(&opened.source), name.clone()))
        });
        keys.collect()
    }

    /// Sees to it that the files of a model are there, and reads them.
    fn ready(&self, id: &ModelId) -> Result<Ready, Unfit> {
        if self.is_gone.load(Ordering::Relaxed) {
            return Err(Unfit::Skipped);
        }
        let cached = self.hub.cache().snapshot(id).ok();
        let cached = cached.filter(|folder| library::is_complete(folder, Wanted::ChatTemplates));
        let (folder, renamed) = match cached {
            Some(folder) => (folder, None),
            None => {
                let fetched = self.hub.fetch(id, Wanted::ChatTemplates);
                let fetched = fetched.map_err(|error| self.unfit(id, &error))?;
                self.silent.store(0, Ordering::Relaxed);
                (fetched.snapshot, fetched.renamed)
            }
        };
        let opened = self.opened(id, &folder).map_err(|problem| {
            // What is in a commit stays as it is.
            Unfit::Failed(failure(&problem, false))
        })?;
        let commit = folder.file_name().and_then(|name| name.to_str());
        Ok(Ready {
            commit: commit.map(str::to_owned),
            renamed,
            key: self.key(&opened.source),
            folder,
        })
    }

    fn opened(&self, id: &ModelId, folder: &Path) -> Result<Opened, Problem> {
        let named = PathBuf::from(id.to_string());
        self.args.source_args.load(&named, Some(folder))
    }

    fn unfit(&self, id: &ModelId, error: &FetchError) -> Unfit {
        let problem = match error {
            FetchError::Offline => Problem::failed("not-cached", error.to_string()),
            error => hub::problem(error, id, &self.endpoint, None),
        };
        let failure = failure(&problem, error.may_pass());
        match error {
            FetchError::Unreachable { .. } => {
                if self.silent.fetch_add(1, Ordering::Relaxed) + 1 >= GONE {
                    self.is_gone.store(true, Ordering::Relaxed);
                }
            }
            _ => self.silent.store(0, Ordering::Relaxed),
        }
        Unfit::Failed(failure)
    }

    /// All that deriving reads of a source.
    fn key(&self, source: &ChatTemplateSource) -> Key {
        let templates = source.templates.iter();
        let templates: Vec<_> = templates.map(|(name, one)| (name, one.source())).collect();
        let tokens = format!("{:?}", source.special_tokens);
        let content = (
            templates,
            tokens,
            &source.tokens.special,
            &source.tokens.end,
        );
        [0, 1].map(|at| self.keys[at].hash_one(&content))
    }

    /// Derives as long as there is something to derive from.
    fn work_off(
        &self,
        queue: &Mutex<Receiver<Job>>,
        shared: &Mutex<(State, Summary)>,
        progress: &Progress,
    ) -> Result<(), Problem> {
        loop {
            let job = lock(queue).recv();
            let Ok(job) = job else { return Ok(()) };
            let outcome = match self.derived(&job) {
                Ok((report, format)) => {
                    let mut shared = lock(shared);
                    if self.args.format == Shape::Human {
                        progress.aside(|| output::tell(&shared.1.line(&report)));
                    }
                    Ok(format)
                }
                // Without a place to write to nothing more comes of it.
                Err(problem)
                    if problem
                        .diagnostics
                        .iter()
                        .any(|one| one.code == "unwritable") =>
                {
                    self.is_gone.store(true, Ordering::Relaxed);
                    return Err(problem);
                }
                Err(problem) => {
                    let failure = failure(&problem, false);
                    self.tell_failed(progress, shared, &job.id, &failure);
                    Err(failure)
                }
            };
            let template = Template {
                model: job.id.to_string(),
                outcome,
            };
            let mut shared = lock(shared);
            shared.0.templates.insert(job.name, template);
            shared.0.save_now_and_then()?;
        }
    }

    /// Derives from a chat template, and writes what comes of it.
    fn derived(&self, job: &Job) -> Result<(Report, Format), Problem> {
        let opened = self.opened(&job.id, &job.folder)?;
        let derivation = derive::derive(&opened.source, &self.args.options(Vec::new()))
            .map_err(|error| derive_problem(&error, &opened))?;
        let report = wire::pretty(&wire::reported("the report", &derivation.report)?);
        // The state looks for the response template, which therefore comes last.
        for (ending, text) in [
            ("report.json", &report),
            ("json", &derivation.document.to_json()),
        ] {
            let file = self.folder.join(format!("{}.{ending}", job.name));
            replace_or_force(&file, text, self.args.force)?;
        }
        let format = Format::of(&derivation.report)?;
        Ok((derivation.report, format))
    }

    fn tell_failed(
        &self,
        progress: &Progress,
        shared: &Mutex<(State, Summary)>,
        id: &ModelId,
        failure: &Failure,
    ) {
        if self.args.format == Shape::Human {
            let line = lock(shared).1.failed(&id.to_string());
            let why = escape::line(&failure.message);
            let line = format!("{}  {}: {why}\n", line.trim_end(), failure.code);
            progress.aside(|| output::tell(&line));
        }
    }
}

fn failure(problem: &Problem, may_pass: bool) -> Failure {
    let first = problem.diagnostics.first();
    Failure {
        code: first.map_or("", |first| first.code).to_owned(),
        message: problem.message().to_owned(),
        may_pass,
    }
}

/// Waits for a lock. A thread that panicked has left what is behind it whole, since that is changed in one step.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
