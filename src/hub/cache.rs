//! The cache on disk, as far as it is read.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::id::ModelId;
use super::variables::{self, Variable};

/// The folder beside the snapshots that tells which files a commit does not have.
pub(super) const ABSENT: &str = ".no_exist";

/// The files of a model that reading its chat templates looks for.
pub(super) const CONFIG: &str = "tokenizer_config.json";
pub(super) const RAW: &str = "chat_template.jinja";
pub(super) const FURTHER: &str = "additional_chat_templates";
pub(super) const LEGACY: &str = "chat_template.json";
pub(super) const TOKENIZER: &str = "tokenizer.json";

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
        /// The other branches and tags that are there, in the order of their names.
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
        let variable: Variable<'_> = &variable;
        let named = variables::path(variable, "HF_HUB_CACHE")
            .or_else(|| variables::path(variable, "HUGGINGFACE_HUB_CACHE"));
        let in_home = || Some(variables::hf_home(variable)?.join("hub"));
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

    /// The folder of a model, which need not be there.
    pub(super) fn folder_of(&self, repo: &str) -> PathBuf {
        self.folder
            .join(format!("models--{}", repo.replace('/', "--")))
    }

    /// The folder with the files of a model, as far as they are there: nothing says that all of them are.
    ///
    /// # Errors
    ///
    /// [`NotCached`], when the model or the revision is not there. That it cannot be read counts as not being there.
    pub fn snapshot(&self, id: &ModelId) -> Result<PathBuf, NotCached> {
        let model = self.folder_of(id.repo());
        if !model.is_dir() {
            return Err(NotCached::Model {
                repo: id.repo().to_owned(),
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
                repo: id.repo().to_owned(),
                revision: revision.to_owned(),
                known: references(&refs)
                    .into_iter()
                    // One that names no commit, or one that is not there, is none that could be taken.
                    .filter(|known| known != revision)
                    .collect(),
                cache: self.folder.clone(),
            })
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

/// The files of a model that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wanted {
    /// Those that reading its chat templates needs.
    ChatTemplates,
    /// Those and its `tokenizer.json`.
    Tokenizer,
}

/// Returns true if a folder of [`Cache::snapshot`] has all that is wanted, as far as the cache can tell: each file is there, or is known not to
/// be one of the commit. A file that nobody has asked for yet may be missing only where another one has the chat template.
pub fn is_complete(snapshot: &Path, wanted: Wanted) -> bool {
    let commit = snapshot.file_name().unwrap_or_default();
    let model = snapshot.parent().and_then(Path::parent);
    let absent = model.map(|model| model.join(ABSENT).join(commit));
    let has = |file: &str| snapshot.join(file).exists();
    let is_known = |file: &str| {
        let is_absent = |absent: &PathBuf| absent.join(file).is_file();
        has(file) || absent.as_ref().is_some_and(is_absent)
    };
    let has_template = || {
        let config = fs::read_to_string(snapshot.join(CONFIG)).unwrap_or_default();
        [RAW, LEGACY, FURTHER].into_iter().any(has) || config.contains("\"chat_template\"")
    };
    is_known(CONFIG)
        && (is_known(RAW) || has_template())
        && (wanted == Wanted::ChatTemplates || is_known(TOKENIZER))
}

/// Returns true if the text is a commit in full.
pub(super) fn is_commit(text: &str) -> bool {
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
        let none = "0".repeat(40);
        for (revision, known) in [
            ("v2", ["main", "odd"].as_slice()),
            // A reference without a commit in it leads nowhere.
            ("odd", &["main"]),
            (&none, &["main", "odd"]),
        ] {
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
