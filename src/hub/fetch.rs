//! Fetching of a model what reading its chat templates needs.
//!
//! One request lists the files with the tags of their contents; then each file that is needed is asked for, unless a model that was fetched
//! before has the same content. Which files those are, the reading of a model folder says: where there is a chat template beside the
//! configuration, an older form of it is not read, and the tokenizer is read where the configuration does not list its tokens.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::address;
use super::ask::{About, Got, ask};
use super::cache::{CONFIG, Cache, LEGACY, RAW, TOKENIZER, Wanted};
use super::error::FetchError;
use super::id::ModelId;
use super::listing::{Listed, Listing, is_etag};
use super::settings::HubSettings;
use super::store::Store;
use super::transport::Transport;

/// How much of a list of files is read; one of a hundred thousand files has less.
const MAX_LISTING: u64 = 32 << 20;

/// How large a configuration or a chat template may be.
const MAX_SMALL: u64 = 16 << 20;

/// How large a tokenizer may be, as when a model folder is read.
const MAX_TOKENIZER: u64 = 64 << 20;

const GENERATION: &str = "generation_config.json";

const SPECIAL: &str = "special_tokens_map.json";

/// The Hub, by way of a transport, with the cache into which it is fetched.
#[derive(Debug)]
pub struct Hub<T> {
    settings: HubSettings,
    cache: Cache,
    transport: T,
    /// The contents that were seen, by their tags. The Hub computes these from the contents, so that two models with the same tag have the
    /// same.
    seen: Mutex<HashMap<String, PathBuf>>,
}

/// A model that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetched {
    /// The folder in the cache that has its files.
    pub snapshot: PathBuf,
    /// The commit that the revision stands for.
    pub commit: String,
    /// The name that the model has now, if it is another one.
    pub renamed: Option<String>,
}

impl<T: Transport> Hub<T> {
    /// The Hub.
    pub fn new(settings: HubSettings, cache: Cache, transport: T) -> Self {
        Self {
            settings,
            cache,
            transport,
            seen: Mutex::default(),
        }
    }

    /// The cache into which it is fetched.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Fetches the small files of a model that are not in the cache yet, and notes in it what the revision stands for.
    ///
    /// # Errors
    ///
    /// See [`FetchError`]. What was fetched until then is kept and is not asked for again; a revision that is found in the cache has all
    /// of its files.
    pub fn fetch(&self, id: &ModelId, wanted: Wanted) -> Result<Fetched, FetchError> {
        if self.settings.is_offline {
            return Err(FetchError::Offline);
        }
        let about = About {
            repo: id.repo(),
            revision: id.revision(),
        };
        let revision = address::encoded(id.revision(), false);
        let path = format!("/api/models/{}/revision/{revision}?blobs=true", id.repo());
        let got = ask(&self.transport, &self.settings, &path, MAX_LISTING, about)?;
        let listing = Listing::read(&got).map_err(|reason| FetchError::Strange {
            url: format!("{}{path}", self.settings.endpoint),
            reason,
        })?;
        let now = listing.repo.as_ref().map_or(id.repo(), ModelId::repo);
        let fetching = Fetching {
            hub: self,
            about,
            path: format!("/{now}/resolve/{}", listing.commit),
            listing: &listing,
            // Under the name that was asked for, by which it will be looked for again.
            store: Store::new(&self.cache, id.repo(), &listing.commit),
        };
        fetching.all(wanted)?;
        Ok(Fetched {
            snapshot: fetching.store.snapshot(),
            renamed: (now != id.repo()).then(|| now.to_owned()),
            commit: listing.commit,
        })
    }
}

/// One model while it is fetched.
struct Fetching<'h, T> {
    hub: &'h Hub<T>,
    about: About<'h>,
    /// The path below which the files are.
    path: String,
    listing: &'h Listing,
    store: Store,
}

/// A file whose content is in the cache.
struct Kept<'l> {
    file: &'l str,
    etag: String,
}

impl<T: Transport> Fetching<'_, T> {
    fn all(&self, wanted: Wanted) -> Result<(), FetchError> {
        let mut kept = Vec::new();
        let raw = self.listing.file(RAW);
        let mut templates: Vec<&Listed> = raw.into_iter().chain(self.listing.further()).collect();
        if templates.is_empty() {
            templates.extend(self.listing.file(LEGACY));
        }
        if templates.is_empty() && self.listing.file(CONFIG).is_none() {
            let files: Vec<String> = self.listing.gguf().map(str::to_owned).collect();
            if !files.is_empty() {
                // These are no small files, and which of them is meant nobody has said.
                let repo = self.about.repo.to_owned();
                return Err(FetchError::GgufAlone { repo, files });
            }
        }
        for file in templates {
            kept.extend(self.keep(file, MAX_SMALL)?);
        }
        kept.extend(self.keep_listed(GENERATION, MAX_SMALL)?);
        let config = self.keep_listed(CONFIG, MAX_SMALL)?;
        let config_file = match &config {
            Some(kept) => self.store.blob(&kept.etag),
            None => self.store.snapshot().join(CONFIG),
        };
        let text = fs::read_to_string(config_file);
        let lists_tokens = text
            .as_ref()
            .is_ok_and(|text| text.contains("\"added_tokens_decoder\""));
        if !lists_tokens {
            kept.extend(self.keep_listed(SPECIAL, MAX_SMALL)?);
        }
        let tokenizer = self.listing.file(TOKENIZER);
        let is_read = |file: &&Listed| {
            // Reading a model folder does without one that is too large.
            let is_small = file.size.is_none_or(|size| size <= MAX_TOKENIZER);
            wanted == Wanted::Tokenizer || text.is_ok() && !lists_tokens && is_small
        };
        if let Some(file) = tokenizer.filter(is_read) {
            kept.extend(self.keep(file, MAX_TOKENIZER)?);
        }
        // The configuration comes last: with it the commit is taken for one that is there.
        for kept in kept.into_iter().chain(config) {
            self.write(self.store.link(kept.file, &kept.etag))?;
        }
        for file in [RAW, LEGACY, GENERATION, SPECIAL, TOKENIZER, CONFIG] {
            if self.listing.file(file).is_none() {
                self.write(self.store.note_absent(file))?;
            }
        }
        self.write(fs::create_dir_all(self.store.snapshot()))?;
        self.write(self.store.refer(self.about.revision))
    }

    /// Keeps the content of a file, if the model has it.
    fn keep_listed(&self, file: &str, limit: u64) -> Result<Option<Kept<'_>>, FetchError> {
        match self.listing.file(file) {
            Some(file) => self.keep(file, limit),
            None => Ok(None),
        }
    }

    /// Keeps the content of a file; `None` where the file is there already.
    fn keep<'l>(&self, file: &'l Listed, limit: u64) -> Result<Option<Kept<'l>>, FetchError> {
        if self.store.has(&file.name) {
            return Ok(None);
        }
        let kept = |etag: &str| Kept {
            file: &file.name,
            etag: etag.to_owned(),
        };
        if let Some(etag) = &file.etag {
            if self.store.blob(etag).is_file() {
                return Ok(Some(kept(etag)));
            }
            if let Some(blob) = self.hub.seen(etag)
                && self.store.adopt(etag, &blob).is_ok()
            {
                return Ok(Some(kept(etag)));
            }
        }
        let got = self.get(file, limit)?;
        let etag = got.etag.unwrap_or_default();
        self.write(self.store.put(&etag, &got.body))?;
        self.hub.note(&etag, self.store.blob(&etag));
        Ok(Some(kept(&etag)))
    }

    /// Asks for a file, and looks whether it is the one that was asked for.
    fn get(&self, file: &Listed, limit: u64) -> Result<Got, FetchError> {
        let Hub {
            settings,
            transport,
            ..
        } = self.hub;
        let path = format!("{}/{}", self.path, address::encoded(&file.name, true));
        let strange = |reason: &str| FetchError::Strange {
            url: format!("{}{path}", settings.endpoint),
            reason: reason.to_owned(),
        };
        let got = ask(transport, settings, &path, limit, self.about)?;
        if got.commit.as_deref() != Some(self.listing.commit.as_str()) {
            return Err(strange(
                "it does not say that it is of the commit that was asked for",
            ));
        }
        if !got.etag.as_deref().is_some_and(is_etag) {
            return Err(strange("it has no tag that says which content it is"));
        }
        if file.size.is_some_and(|size| size != got.body.len() as u64) {
            return Err(strange("it is not as long as it was said to be"));
        }
        Ok(got)
    }

    /// The outcome of writing to the cache.
    fn write(&self, written: io::Result<()>) -> Result<(), FetchError> {
        written.map_err(|error| FetchError::Unwritable {
            folder: self.hub.cache.folder_of(self.about.repo),
            reason: error.to_string(),
        })
    }
}

impl<T> Hub<T> {
    /// The file of a content that was seen, if it is still there.
    fn seen(&self, etag: &str) -> Option<PathBuf> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(etag).filter(|file| file.is_file()).cloned()
    }

    fn note(&self, etag: &str, file: PathBuf) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.insert(etag.to_owned(), file);
    }
}
