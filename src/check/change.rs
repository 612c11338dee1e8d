//! A file that is to be written or removed, before anything is.

use std::path::PathBuf;

/// A change to one file, with the text before and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileChange {
    /// The file.
    pub path: PathBuf,
    /// Its text; `None` where it is not there yet.
    pub before: Option<String>,
    /// Its new text; `None` where it is to be removed.
    pub after: Option<String>,
}

impl FileChange {
    /// A change to the file from one text to another; `None` is a file that is not there.
    pub fn new(path: impl Into<PathBuf>, before: Option<String>, after: Option<String>) -> Self {
        Self {
            path: path.into(),
            before,
            after,
        }
    }
}
