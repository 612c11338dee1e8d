//! Tells the program its version: that of the package, and in a release the commit that it is built from.
//!
//! The commit is what `OBVERSE_COMMIT` says, what cargo has noted in a published package, or what git says. Where there is none
//! of these the version stands alone; nothing fails. While one develops every commit would have all of it built anew, so the
//! commit is left out of debug builds.

use std::path::{Path, PathBuf};
use std::process::Command;

/// How many characters of a commit are shown.
const SHOWN: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=OBVERSE_COMMIT");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let told = std::env::var("OBVERSE_COMMIT").ok();
    let commit = told.or_else(|| {
        is_release
            .then(|| noted(&root).or_else(|| checked_out(&root)))
            .flatten()
    });
    let commit = commit.filter(|commit| {
        !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let shown = match &commit {
        Some(commit) => format!("{version} ({})", &commit[..commit.len().min(SHOWN)]),
        None => version,
    };
    println!("cargo::rustc-env=OBVERSE_VERSION={shown}");
}

/// The commit that cargo notes in a package that it publishes.
fn noted(root: &Path) -> Option<String> {
    let text = std::fs::read_to_string(root.join(".cargo_vcs_info.json")).ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    rest.split('"').nth(1).map(str::to_owned)
}

/// The commit that is checked out, if the package is a repository of its own and no part of another one.
fn checked_out(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(root)
            .args(arguments)
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let top = PathBuf::from(git(&["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    // Both change when another commit is checked out or made.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]) {
            let path = root.join(path);
            if path.exists() {
                println!("cargo::rerun-if-changed={}", path.display());
            }
        }
    }
    git(&["rev-parse", "HEAD"])
}
