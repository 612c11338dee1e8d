//! Models of the Hub as sources: from the cache of its client, or fetched into it.

#[cfg(feature = "http")]
mod failed;
#[cfg(feature = "http")]
mod transport;

use std::fs;
use std::path::{Path, PathBuf};

use obverse::hub::{self, Cache, ModelId, NotCached, Wanted};

use super::input;
use super::problem::Problem;
#[cfg(feature = "http")]
pub(crate) use failed::problem;
#[cfg(feature = "http")]
pub(crate) use transport::Http;

/// The folder with the files of the model that a source names; `None` where the source is on disk, or names none. What the cache has is
/// taken from there; else the Hub is asked, and what comes is kept in the cache.
pub(crate) fn folder(source: &Path, wanted: Wanted) -> Result<Option<PathBuf>, Problem> {
    let (Some(id), Some(cache)) = (hub::named_by(source), Cache::of_process()) else {
        return Ok(None);
    };
    let cached = cache.snapshot(&id);
    if let Ok(folder) = &cached
        && hub::is_complete(folder, wanted)
    {
        return Ok(Some(folder.clone()));
    }
    #[cfg(feature = "http")]
    if let Some(folder) = fetched(source, &id, cache, cached.as_ref().ok(), wanted)? {
        return Ok(Some(folder));
    }
    cached
        .map(Some)
        .map_err(|error| not_cached(source, &id, &error))
}

/// The folder of a model that is not in the cache, or not all of it; `None` where nothing may be asked.
#[cfg(feature = "http")]
fn fetched(
    source: &Path,
    id: &ModelId,
    cache: Cache,
    cached: Option<&PathBuf>,
    wanted: Wanted,
) -> Result<Option<PathBuf>, Problem> {
    use obverse::chat_template;
    use obverse::diagnostic::{Diagnostic, Severity};
    use obverse::hub::{FetchError, Hub, HubSettings};

    use super::output;

    let settings = HubSettings::of_process();
    let endpoint = settings.endpoint.clone();
    let hub = Hub::new(settings, cache, Http::new());
    match hub.fetch(id, wanted) {
        Ok(fetched) => {
            if let Some(now) = &fetched.renamed {
                let message = format!("the Hub has {} under the name {now} now", id.repo());
                let mut told = Diagnostic::warning("renamed", message);
                told.severity = Severity::Info;
                told.hint = Some(format!("name it {now}"));
                Problem::of(told).show();
            }
            Ok(Some(fetched.snapshot))
        }
        Err(FetchError::Offline) => Ok(None),
        // Of what the cache has something may be missing, which nobody can say now.
        Err(error) if cached.is_some_and(|folder| chat_template::load(folder).is_ok()) => {
            output::detail(|| format!("{id} is taken from the cache: {error}"));
            Ok(cached.cloned())
        }
        Err(error) => Err(problem(&error, id, &endpoint, Some(source))),
    }
}

/// That a model is not in the cache, and why nobody is asked for it.
fn not_cached(source: &Path, id: &ModelId, error: &NotCached) -> Problem {
    let problem = match error {
        NotCached::Revision { known, .. } if !known.is_empty() => {
            let known = format!("there is: {}", known.join(", "));
            Problem::failed("not-cached", error.to_string()).with_note(known)
        }
        NotCached::Revision { .. } => Problem::failed("not-cached", error.to_string()),
        _ => {
            let message = format!(
                "there is no file or folder {}, and {error}",
                input::name(source)
            );
            Problem::failed("not-cached", message)
        }
    };
    let why = match cfg!(feature = "http") {
        true => "the Hub is not asked, since HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set",
        false => "this build of Obverse asks no network",
    };
    problem.with_note(why).with_hint(bring(id))
}

/// The advice for a model of which too little is in the cache.
fn bring(id: &ModelId) -> String {
    let revision = match id.revision() {
        "main" => String::new(),
        revision => format!(" --revision {revision}"),
    };
    format!(
        "`hf download {}{revision} --include '*.json' --include '*.jinja'` brings what is needed of a model into the cache",
        id.repo()
    )
}

/// A problem with the files of a model in the cache, with advice that fits.
pub(crate) fn about_cached(problem: Problem, id: &ModelId, folder: &Path) -> Problem {
    let is_without = |problem: &Problem| {
        let mut found = problem.diagnostics.iter();
        found.any(|found| found.code == "no-chat-template")
    };
    match hub::is_complete(folder, Wanted::ChatTemplates) {
        true if is_without(&problem) => problem.with_hint(
            "a model that was not made for chat has none: name the one that was made of it for chat, or give a chat template as a .jinja file",
        ),
        true => problem,
        // Its hint says already which other files the model has.
        false if is_without(&problem) && has_gguf(folder) => problem,
        false => problem.with_hint(bring(id)),
    }
}

/// Returns true if a folder has a GGUF file.
fn has_gguf(folder: &Path) -> bool {
    let mut files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.any(|file| {
        file.path()
            .extension()
            .is_some_and(|extension| extension == "gguf")
    })
}
