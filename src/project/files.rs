//! Files by globs.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use toml::Spanned;

use crate::diagnostic::Diagnostic;

/// Folders may nest so deep below the root of a glob.
const DEPTH: usize = 16;

/// The set of some globs.
pub(super) fn set(globs: &[Spanned<String>]) -> Result<GlobSet, Box<Diagnostic>> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        let compiled = glob_of(glob.get_ref()).map_err(|error| {
            let message = format!("not a glob: {}", error.kind());
            Box::new(Diagnostic::error("obverse-toml", message).with_span(glob.span()))
        })?;
        builder.add(compiled);
    }
    builder.build().map_err(|error| {
        Box::new(Diagnostic::error(
            "obverse-toml",
            format!("not globs: {error}"),
        ))
    })
}

fn glob_of(glob: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(glob).literal_separator(true).build()
}

/// The files and folders below `root` that match one of the globs, in the order of the names. Hidden folders are left out, and so are
/// links.
pub(super) fn find(root: &Path, globs: &[String]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for glob in globs {
        let Ok(compiled) = glob_of(glob) else {
            continue;
        };
        let matcher = compiled.compile_matcher();
        let folder = literal_folder(glob);
        walk(root, &root.join(folder), DEPTH, &mut |path| {
            let relative = path.strip_prefix(root).unwrap_or(path);
            if matcher.is_match(relative) {
                found.push(path.to_owned());
            }
        });
    }
    found.sort();
    found.dedup();
    found
}

/// The paths without those that lie in a folder that is among them: a folder is taken with all that it holds.
pub(super) fn find_outermost(root: &Path, globs: &[String]) -> Vec<PathBuf> {
    let mut outermost: Vec<PathBuf> = Vec::new();
    for path in find(root, globs) {
        if !outermost.last().is_some_and(|last| path.starts_with(last)) {
            outermost.push(path);
        }
    }
    outermost
}

/// The folder that a glob begins in: what stands before its first wildcard. A character that is alone in brackets is itself.
pub(super) fn literal_folder(glob: &str) -> String {
    let mut literal = String::new();
    let mut rest = glob;
    while let Some(at) = rest.find(['*', '?', '[', '{']) {
        literal.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut inner = rest.chars().skip(1);
        match (rest.starts_with('['), inner.next(), inner.next()) {
            (true, Some(alone), Some(']')) => {
                literal.push(alone);
                rest = &rest[alone.len_utf8() + 2..];
            }
            _ => {
                let end = literal.rfind('/').unwrap_or_default();
                literal.truncate(end);
                return literal;
            }
        }
    }
    literal + rest
}

fn walk(root: &Path, path: &Path, depth: usize, show: &mut dyn FnMut(&Path)) {
    let Ok(metadata) = path.symlink_metadata() else {
        return;
    };
    if path != root {
        show(path);
    }
    if !metadata.is_dir() || depth == 0 {
        return;
    }
    let Ok(entries) = std::fs::read_dir(path) else {
        return;
    };
    for entry in entries.flatten() {
        if !entry.file_name().to_string_lossy().starts_with('.') {
            walk(root, &entry.path(), depth - 1, show);
        }
    }
}
