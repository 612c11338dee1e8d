//! Real chat templates, which `tests/corpus/fetch.py` fetches. They belong to the models' authors and are not kept here.

use std::path::{Path, PathBuf};

/// The folder of the corpus: `OBVERSE_CORPUS`, or `corpus/` at the top of this checkout. `None`, and a word about it on
/// stderr, where it has not been fetched.
///
/// # Panics
///
/// In CI (`CI` set in the environment) when there is none.
pub fn dir() -> Option<PathBuf> {
    let named = std::env::var_os("OBVERSE_CORPUS").filter(|named| !named.is_empty());
    let folder = named.map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus"),
        PathBuf::from,
    );
    if folder.join("INDEX.tsv").is_file() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "CI must have the corpus: `.ci/run` fetches it"
    );
    eprintln!("skipped: no corpus; `tests/corpus/fetch.py` fetches it");
    None
}

/// The corpus's chat templates, sorted: the name below its folder, such as `trl/qwen3.jinja`, and the file. Empty where
/// there is no corpus.
///
/// # Panics
///
/// In CI when there is no corpus, and when its index cannot be read or names a file that is not there.
pub fn templates() -> Vec<(String, PathBuf)> {
    let Some(folder) = dir() else {
        return Vec::new();
    };
    let index = std::fs::read_to_string(folder.join("INDEX.tsv")).expect("the corpus's index");
    let mut found: Vec<_> = index
        .lines()
        .map(|line| {
            let mut columns = line.split('\t');
            let (Some(source), Some(file)) = (columns.next(), columns.next()) else {
                panic!("the corpus's index has a line without a file: {line:?}");
            };
            let path = folder.join(source).join(file);
            assert!(path.is_file(), "the corpus lacks {}", path.display());
            (format!("{source}/{file}"), path)
        })
        .collect();
    found.sort();
    found
}
