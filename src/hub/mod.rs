//! Models of the Hugging Face Hub: the cache of its client on disk, and the few small files that are fetched into it.
//!
//! The layout is that of the Python package `huggingface_hub`: below the cache's folder a model `org/name` has the folder `models--org--name`,
//! in which `refs/REVISION` holds the commit that a branch or tag stood for when it was last asked for, and `snapshots/COMMIT` the files of
//! that commit, as far as anybody has fetched them: links to `blobs/ETAG`, where the contents are. `.no_exist/COMMIT` has an empty file for
//! each that the commit is known not to have.
//!
//! [`Cache`] reads it and asks no network. [`Hub`] asks, by a [`Transport`] that is brought along, so that this crate needs none of its own; it
//! fetches what reading chat templates needs, and never writes to the Hub.
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

mod address;
mod ask;
mod cache;
mod error;
mod fetch;
#[cfg(test)]
mod fetch_tests;
mod id;
mod listing;
mod settings;
mod store;
mod transport;
mod variables;

use std::path::{Path, PathBuf};

pub use cache::{Cache, NotCached, Wanted, is_complete, model_of_snapshot};
pub use error::FetchError;
pub use fetch::{Fetched, Hub};
pub use id::{ModelId, NotAModelId};
pub use settings::HubSettings;
pub use transport::{HubAnswer, HubRequest, Pause, Transport, Unreachable, UnreachableKind};

/// The model that a source names; `None` where the source is on disk, has the ending of a file that chat templates come in (`.jinja`,
/// `.json`, `.gguf`), or is no model's name.
pub fn named_by(source: &Path) -> Option<ModelId> {
    let is_file = source.extension().is_some_and(|extension| {
        ["jinja", "json", "gguf"].contains(&extension.to_string_lossy().as_ref())
    });
    let id = source.to_str()?.parse::<ModelId>().ok()?;
    (!is_file && !source.exists()).then_some(id)
}

/// The folder in the cache that has the files of the model that a source names; `None` where it names none, see [`named_by`].
///
/// # Errors
///
/// As [`Cache::snapshot`].
pub fn locate(source: &Path, cache: &Cache) -> Result<Option<PathBuf>, NotCached> {
    match named_by(source) {
        Some(id) => cache.snapshot(&id).map(Some),
        None => Ok(None),
    }
}
