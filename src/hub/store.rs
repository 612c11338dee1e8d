//! Putting files into the cache, where the Hub's client finds them.
//!
//! Several processes may do so at once, the client's among them, and any of them may be killed. Every file is written under a name that is
//! this write's alone and renamed when it is whole, and the reference comes last: a revision that is found has all its files. Two that fetch
//! the same write the same, so nobody waits for anybody.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cache::{ABSENT, Cache};

/// How many writes this process has begun.
static WRITES: AtomicUsize = AtomicUsize::new(0);

/// The place of one commit of a model in the cache.
#[derive(Debug)]
pub(super) struct Store {
    model: PathBuf,
    commit: String,
}

impl Store {
    pub(super) fn new(cache: &Cache, repo: &str, commit: &str) -> Self {
        Self {
            model: cache.folder_of(repo),
            commit: commit.to_owned(),
        }
    }

    /// The folder with the files.
    pub(super) fn snapshot(&self) -> PathBuf {
        self.model.join("snapshots").join(&self.commit)
    }

    /// Returns true if the file is there.
    pub(super) fn has(&self, file: &str) -> bool {
        self.snapshot().join(file).is_file()
    }

    /// The content with that tag, which need not be there.
    pub(super) fn blob(&self, etag: &str) -> PathBuf {
        self.model.join("blobs").join(etag)
    }

    /// Keeps a content under its tag.
    pub(super) fn put(&self, etag: &str, content: &[u8]) -> io::Result<()> {
        self.replace(&self.blob(etag), |temporary| fs::write(temporary, content))
    }

    /// Keeps a content that is in a file already.
    pub(super) fn adopt(&self, etag: &str, file: &Path) -> io::Result<()> {
        self.replace(&self.blob(etag), |temporary| {
            fs::copy(file, temporary).map(|_| ())
        })
    }

    /// Makes the content with that tag a file of the commit.
    pub(super) fn link(&self, file: &str, etag: &str) -> io::Result<()> {
        let pointer = self.snapshot().join(file);
        // From the folder of the file up to the model's.
        let up = "../".repeat(file.matches('/').count() + 2);
        let target = format!("{up}blobs/{etag}");
        let blob = self.blob(etag);
        self.replace(&pointer, |temporary| {
            symlink(&target, temporary).or_else(|_| fs::copy(&blob, temporary).map(|_| ()))
        })
    }

    /// Notes that the commit does not have the file.
    pub(super) fn note_absent(&self, file: &str) -> io::Result<()> {
        let note = self.model.join(ABSENT).join(&self.commit).join(file);
        if note.exists() {
            return Ok(());
        }
        self.replace(&note, |temporary| fs::write(temporary, ""))
    }

    /// Notes that the revision stands for the commit.
    pub(super) fn refer(&self, revision: &str) -> io::Result<()> {
        let reference = self.model.join("refs").join(revision);
        let known = fs::read_to_string(&reference).unwrap_or_default();
        if revision == self.commit || known == self.commit {
            return Ok(());
        }
        self.replace(&reference, |temporary| fs::write(temporary, &self.commit))
    }

    /// Gives a path a new file, which `make` makes elsewhere.
    fn replace(&self, path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        // The client's own unfinished files end like this, in the same folder.
        let blobs = self.model.join("blobs");
        let number = WRITES.fetch_add(1, Ordering::Relaxed);
        let temporary = blobs.join(format!("{}-{number}.incomplete", process::id()));
        fs::create_dir_all(&blobs)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        // One that a killed process with this one's number has left.
        let _ = fs::remove_file(&temporary);
        let made = make(&temporary).and_then(|()| fs::rename(&temporary, path));
        if made.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        made
    }
}

#[cfg(unix)]
fn symlink(target: &str, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Elsewhere links need rights that few have; the client makes copies then.
#[cfg(not(unix))]
fn symlink(_: &str, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn what_is_put_is_found_by_its_revision() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(folder.path());
        let store = Store::new(&cache, "org/name", COMMIT);
        store.put("tag", b"text").expect("written");
        for file in ["a.json", "further/b.jinja"] {
            store.link(file, "tag").expect("linked");
            let found = fs::read_to_string(store.snapshot().join(file));
            assert_eq!(found.expect("a file"), "text", "{file}");
            assert!(store.has(file));
        }
        store.note_absent("c.json").expect("written");
        for revision in ["main", "refs/pr/1", COMMIT] {
            store.refer(revision).expect("written");
            let id = format!("org/name@{revision}").parse().expect("a model");
            assert_eq!(cache.snapshot(&id).as_ref(), Ok(&store.snapshot()));
        }
        let blobs = fs::read_dir(store.blob("")).expect("a folder").count();
        assert_eq!(blobs, 1, "nothing unfinished is left");
        let other = Store::new(&cache, "org/other", COMMIT);
        other.adopt("tag", &store.blob("tag")).expect("copied");
        assert_eq!(fs::read(other.blob("tag")).expect("a file"), b"text");
    }

    #[test]
    fn many_that_write_the_same_do_not_hurt_each_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(folder.path());
        let content = vec![b'x'; 1 << 20];
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let store = Store::new(&cache, "org/name", COMMIT);
                    store.put("tag", &content).expect("written");
                    store.link("file", "tag").expect("linked");
                    // Whoever comes in between finds a whole file all the time.
                    let found = fs::read(store.snapshot().join("file"));
                    assert_eq!(found.expect("a file").len(), content.len());
                });
            }
        });
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_an_error() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let store = Store::new(&Cache::at(file.path()), "org/name", COMMIT);
        assert!(store.put("tag", b"").is_err());
    }
}
