//! Models of the Hugging Face Hub, where its client has put them: the cache on disk.
//!
//! The layout is that of the Python package `huggingface_hub`: below the cache's folder a model `org/name` has the folder `models--org--name`,
//! in which `refs/REVISION` holds the commit that a branch or tag stood for when it was last asked for, and `snapshots/COMMIT` the files of
//! that commit, as far as anybody has fetched them. Nothing here asks a network, and nothing is written.
//!
//! ```
//! use obverse::hub::{Cache, ModelId, NotCached};
//!
//! let cache = Cache::at("nowhere");
//! let id: ModelId = "Qwen/Qwen3-8B@main".parse()?;
//! assert_eq!((id.repo(), id.revision()), ("Qwen/Qwen3-8B", "main"));
//! assert!(matches!(cache.snapshot(&id), Err(NotCached::Model { .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, fs};

/// The revision that is meant where none is given.
const DEFAULT_REVISION: &str = "main";

/// How many characters the names of a model and of its owner may have, each.
const MAX_NAME: usize = 96;

/// The name of a model on the Hub: `org/name`, or `org/name@revision`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelId {
    repo: String,
    revision: Option<String>,
}

/// The error for a text that is no model's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no model of the Hub: org/name or org/name@revision")]
#[non_exhaustive]
pub struct NotAModelId {
    /// The text.
    pub text: String,
}

impl ModelId {
    /// The owner and the name, as `org/name`.
    pub fn repo(&self) -> &str {
        &self.repo
    }

    /// The branch, tag or commit; `main` where none was given.
    pub fn revision(&self) -> &str {
        self.revision.as_deref().unwrap_or(DEFAULT_REVISION)
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.repo)?;
        match &self.revision {
            Some(revision) => write!(f, "@{revision}"),
            None => Ok(()),
        }
    }
}

impl FromStr for ModelId {
    type Err = NotAModelId;

    /// Reads `org/name` or `org/name@revision` by the rules of `huggingface_hub`, except that the owner may not be missing.
    fn from_str(text: &str) -> Result<Self, NotAModelId> {
        let (repo, revision) = match text.split_once('@') {
            Some((repo, revision)) => (repo, Some(revision)),
            None => (text, None),
        };
        let is_name = |name: &str| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            let edges = ['-', '.'];
            (1..=MAX_NAME).contains(&name.len())
                && name.chars().all(allowed)
                && !name.starts_with(edges)
                && !name.ends_with(edges)
                && !name.contains("--")
                && !name.contains("..")
        };
        let is_repo = repo
            .split_once('/')
            .is_some_and(|(owner, name)| is_name(owner) && is_name(name));
        // A revision becomes a path below the folder of references.
        let is_revision = |revision: &str| {
            let mut steps = revision.split('/');
            steps.all(|step| !matches!(step, "" | "." | ".."))
                && !revision.contains(['\\', ':'])
                && !revision.contains(char::is_control)
        };
        if !is_repo || repo.ends_with(".git") || !revision.is_none_or(is_revision) {
            return Err(NotAModelId {
                text: text.to_owned(),
            });
        }
        Ok(Self {
            repo: repo.to_owned(),
            revision: revision.map(str::to_owned),
        })
    }
}

/// The cache of the Hub's client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
}

/// The error for a model that is not in the cache.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotCached {
    /// Nothing of the model is there.
    #[error("no model {repo} in the cache {}", cache.display())]
    Model {
        /// The model.
        repo: String,
        /// The cache's folder.
        cache: PathBuf,
    },
    /// Nothing of this revision of the model is there.
    #[error("no revision {revision} of {repo} in the cache {}", cache.display())]
    Revision {
        /// The model.
        repo: String,
        /// The revision.
        revision: String,
        /// The branches and tags that are there, in the order of their names.
        known: Vec<String>,
        /// The cache's folder.
        cache: PathBuf,
    },
}

impl Cache {
    /// The cache in this folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The cache that `huggingface_hub` uses with these variables: `HF_HUB_CACHE`, `HUGGINGFACE_HUB_CACHE`, or `hub` in `HF_HOME`, or
    /// `huggingface/hub` in `XDG_CACHE_HOME` or in `.cache` of the home folder. `None` if none of them tells. A `~` at the beginning stands
    /// for the home folder.
    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let home = || variable("HOME").or_else(|| variable("USERPROFILE"));
        let folder = |name: &str| {
            let text = PathBuf::from(variable(name).filter(|text| !text.is_empty())?);
            match text.strip_prefix("~") {
                Ok(rest) => Some(PathBuf::from(home()?).join(rest)),
                Err(_) => Some(text),
            }
        };
        let named = folder("HF_HUB_CACHE").or_else(|| folder("HUGGINGFACE_HUB_CACHE"));
        let in_home = || {
            let cache = folder("XDG_CACHE_HOME");
            let cache = cache.or_else(|| Some(PathBuf::from(home()?).join(".cache")));
            let hf_home = folder("HF_HOME").or_else(|| Some(cache?.join("huggingface")));
            Some(hf_home?.join("hub"))
        };
        named.or_else(in_home).map(Self::at)
    }

    /// The cache of this process's variables; see [`from_variables`](Self::from_variables).
    pub fn of_process() -> Option<Self> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder with the files of a model, as far as they are there: nothing says that all of them are.
    ///
    /// # Errors
    ///
    /// [`NotCached`], when the model or the revision is not there. That it cannot be read counts as not being there.
    pub fn snapshot(&self, id: &ModelId) -> Result<PathBuf, NotCached> {
        let model = self
            .folder
            .join(format!("models--{}", id.repo.replace('/', "--")));
        if !model.is_dir() {
            return Err(NotCached::Model {
                repo: id.repo.clone(),
                cache: self.folder.clone(),
            });
        }
        let refs = model.join("refs");
        let revision = id.revision();
        let commit = match is_commit(revision) {
            true => Some(revision.to_owned()),
            false => fs::read_to_string(refs.join(revision)).ok(),
        };
        let commit = commit.map(|commit| commit.trim().to_owned());
        let snapshot = commit
            .filter(|commit| is_commit(commit))
            .map(|commit| model.join("snapshots").join(commit));
        snapshot
            .filter(|snapshot| snapshot.is_dir())
            .ok_or_else(|| NotCached::Revision {
                repo: id.repo.clone(),
                revision: revision.to_owned(),
                known: references(&refs),
                cache: self.folder.clone(),
            })
    }
}

/// The folder in the cache that has the files of the model that a source names; `None` where the source is on disk, has the ending of a
/// file that chat templates come in (`.jinja`, `.json`, `.gguf`), or is no model's name.
///
/// # Errors
///
/// As [`Cache::snapshot`].
pub fn locate(source: &Path, cache: &Cache) -> Result<Option<PathBuf>, NotCached> {
    let is_file = source.extension().is_some_and(|extension| {
        ["jinja", "json", "gguf"].contains(&extension.to_string_lossy().as_ref())
    });
    let id = source
        .to_str()
        .and_then(|text| text.parse::<ModelId>().ok());
    match id.filter(|_| !is_file && !source.exists()) {
        Some(id) => cache.snapshot(&id).map(Some),
        None => Ok(None),
    }
}

/// The name of the model whose snapshot a folder of a cache is; `None` for other folders. It has no owner.
///
/// ```
/// use std::path::Path;
/// let commit = "0123456789012345678901234567890123456789";
/// let folder = format!("hub/models--Qwen--Qwen3-8B/snapshots/{commit}");
/// assert_eq!(obverse::hub::model_of_snapshot(Path::new(&folder)), Some("Qwen3-8B".to_owned()));
/// ```
pub fn model_of_snapshot(folder: &Path) -> Option<String> {
    let name = |path: &Path| path.file_name()?.to_str().map(str::to_owned);
    let snapshots = folder.parent()?;
    let model = name(snapshots.parent()?)?;
    let is_snapshot = is_commit(&name(folder)?) && name(snapshots)? == "snapshots";
    let parts = model.strip_prefix("models--").filter(|_| is_snapshot)?;
    parts.rsplit("--").next().map(str::to_owned)
}

/// Returns true if the text is a commit in full.
fn is_commit(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == 40 && text.bytes().all(is_digit)
}

/// The names of the branches and tags of which the commit is known, those of requests (`refs/pr/1`) left out.
fn references(refs: &Path) -> Vec<String> {
    let entries = fs::read_dir(refs).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    let mut names: Vec<String> = files
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_models_are_told_from_paths() {
        for text in [
            "a/b",
            "Qwen/Qwen2.5-7B",
            "a_b/c",
            "a/b@v1.0",
            "a/b@refs/pr/3",
        ] {
            let id: ModelId = text.parse().expect(text);
            assert!(text.starts_with(id.repo()), "{text}");
        }
        for text in [
            "", "a", "a/b/c", "./a/b", "../a", "/a/b", "a/", "a/.b", "a/b--c", "a/b..c", "a/b.git",
            "a b/c", "a\\b", "a/b@", "a/b@../x", "a/b@x//y", "a/b@c:d",
        ] {
            assert!(text.parse::<ModelId>().is_err(), "{text}");
        }
        let long = format!("a/{}", "b".repeat(MAX_NAME + 1));
        assert!(long.parse::<ModelId>().is_err());
    }

    #[test]
    fn the_cache_is_where_the_client_has_it() {
        let cache = |variables: &[(&str, &str)]| {
            let find = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            };
            Cache::from_variables(find).map(|cache| cache.folder)
        };
        let home = ("HOME", "/h");
        assert_eq!(cache(&[]), None);
        assert_eq!(cache(&[home]), Some("/h/.cache/huggingface/hub".into()));
        let xdg = ("XDG_CACHE_HOME", "/x");
        assert_eq!(cache(&[home, xdg]), Some("/x/huggingface/hub".into()));
        let hf_home = ("HF_HOME", "~/hf");
        assert_eq!(cache(&[home, xdg, hf_home]), Some("/h/hf/hub".into()));
        let old = ("HUGGINGFACE_HUB_CACHE", "/o");
        assert_eq!(cache(&[home, hf_home, old]), Some("/o".into()));
        let new = ("HF_HUB_CACHE", "/n");
        assert_eq!(cache(&[home, hf_home, old, new]), Some("/n".into()));
        assert_eq!(
            cache(&[home, ("HF_HUB_CACHE", "")]),
            Some("/h/.cache/huggingface/hub".into())
        );
    }

    #[test]
    fn a_snapshot_is_found_by_branch_and_by_commit() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(folder.path());
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let model = folder.path().join("models--org--name");
        let snapshot = model.join("snapshots").join(commit);
        fs::create_dir_all(&snapshot).expect("a folder");
        fs::create_dir_all(model.join("refs/refs/pr")).expect("a folder");
        for (name, text) in [("main", commit), ("refs/pr/1", commit), ("odd", "../../x")] {
            fs::write(model.join("refs").join(name), text).expect("written");
        }
        let find = |text: &str| cache.snapshot(&text.parse().expect("a model"));
        let by_commit = format!("org/name@{commit}");
        for text in [
            "org/name",
            "org/name@main",
            "org/name@refs/pr/1",
            &by_commit,
        ] {
            assert_eq!(find(text).as_ref(), Ok(&snapshot), "{text}");
        }
        let known = vec!["main".to_owned(), "odd".to_owned()];
        for revision in ["v2", "odd", &"0".repeat(40)] {
            let found = find(&format!("org/name@{revision}"));
            assert!(
                matches!(&found, Err(NotCached::Revision { known: some, .. }) if *some == known),
                "{found:?}"
            );
        }
        assert!(matches!(find("org/other"), Err(NotCached::Model { .. })));
        assert_eq!(model_of_snapshot(&snapshot).as_deref(), Some("name"));
        assert_eq!(model_of_snapshot(&model), None);
    }
}
