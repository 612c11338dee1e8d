//! A file that is to be written or removed, before anything is.

use std::path::PathBuf;

/// A change to one file, with the text before and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// Its text; `None` where it is not there yet.
    pub before: Option<String>,
    /// Its new text; `None` where it is to be removed.
    pub after: Option<String>,
}
