//! Releases: versions, scripts and workflows that must fit each other, and archives that depend on nothing but what is in them.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::bench::Bench;
use crate::integrations::{root, text, tool};

/// A stand-in for the binary, quick to pack; it writes the files that the binary would write.
pub(crate) const STAND_IN: &str = r#"#!/bin/sh
case "$1$2" in
    --quietman) mkdir -p "$3" && echo page > "$3/obverse.1" ;;
    --version) echo "obverse 0.1.0 (0123456789ab)" ;;
    completions*) echo "completions of $2" ;;
    *) exec "$OBVERSE_REAL" "$@" ;;
esac
"#;

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect(path)
}

/// The files of a folder of the project.
fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("a folder");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

/// Runs a script of `.ci/package`.
pub(crate) fn script(name: &str, arguments: &[&Path]) -> Output {
    Command::new("bash")
        .arg(root().join(".ci/package").join(name))
        .args(arguments)
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .expect("bash runs")
}

/// Packs the stand-in for a target into a folder of the bench.
pub(crate) fn packed(bench: &Bench, target: &str, folder: &str) -> PathBuf {
    let binary = bench.path("stand-in");
    std::fs::write(&binary, STAND_IN).expect("a file");
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let output = script(
        "archive",
        &[&binary, Path::new(target), &bench.path(folder)],
    );
    assert!(output.status.success(), "{}", text(&output));
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

#[test]
fn all_packages_have_one_version() {
    let output = script("versions", &[]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(text(&output).trim(), env!("CARGO_PKG_VERSION"));
    let tag = format!("v{}", env!("CARGO_PKG_VERSION"));
    assert!(script("versions", &[Path::new(&tag)]).status.success());
    let other = script("versions", &[Path::new("v99.0.0")]);
    assert!(!other.status.success() && text(&other).contains("the tag is v99.0.0"));
}

#[test]
fn scripts_are_scripts() {
    let mut scripts = files(".ci/package");
    scripts.push(root().join(".ci/run"));
    let mut tried = 0;
    for script in scripts {
        let content = std::fs::read_to_string(&script).expect("a script");
        if !content.starts_with("#!/usr/bin/env bash") {
            continue;
        }
        let output = Command::new("bash").arg("-n").arg(&script).output();
        let output = output.expect("bash runs");
        assert!(output.status.success(), "{}", text(&output));
        let mode = std::fs::metadata(&script).expect("a file").permissions();
        assert!(
            mode.mode() & 0o111 != 0,
            "{} cannot be run",
            script.display()
        );
        tried += 1;
    }
    assert!(tried > 8, "the scripts are found");
}

#[test]
fn workflows_are_valid() {
    let Some(check) = tool("check-jsonschema") else {
        return;
    };
    let output = Command::new(check)
        .args(["--builtin-schema", "vendor.github-workflows"])
        .args(files(".github/workflows"))
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{}", text(&output));
}

/// A tag can be moved, and a commit cannot.
#[test]
fn actions_are_pinned_to_commits() {
    let mut places = files(".github/workflows");
    places.extend([root().join("action.yml"), root().join("docs/check.md")]);
    let mut found = 0;
    for place in places {
        let content = std::fs::read_to_string(&place).expect("a file");
        for line in content.lines() {
            let line = line.trim().trim_start_matches("- ");
            let Some(used) = line.strip_prefix("uses: ") else {
                continue;
            };
            if used.starts_with("OWNER/obverse@") {
                continue;
            }
            let (_, pinned) = used.split_once('@').expect("a revision");
            let (commit, release) = pinned.split_once(" # v").unwrap_or((pinned, ""));
            let is_commit =
                commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(
                is_commit && !release.is_empty(),
                "{}: {used} is not pinned to a commit, with the release in a comment",
                place.display()
            );
            found += 1;
        }
    }
    assert!(found > 5, "the actions are found");
}

/// The targets that a text names.
fn targets(text: &str) -> BTreeSet<&str> {
    text.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_' || sign == '-'))
        .filter(|word| word.starts_with("x86_64-") || word.starts_with("aarch64-"))
        .collect()
}

#[test]
fn the_action_installs_what_is_released() {
    let workflow = read(".github/workflows/release.yml");
    let (_, after) = workflow.split_once("\n  binary:\n").expect("the job");
    let (job, _) = after.split_once("\n  wheel:\n").expect("the next job");
    let released = targets(job);
    assert!(released.len() >= 5, "{released:?}");
    let action = read("action.yml");
    assert_eq!(targets(&action), released);
    let page = read("docs/releasing.md");
    for target in released {
        assert!(page.contains(target), "docs/releasing.md tells of {target}");
    }
}

#[test]
fn the_same_files_make_the_same_archive() {
    for (target, ending) in [
        ("x86_64-unknown-linux-musl", "tar.gz"),
        ("x86_64-pc-windows-msvc", "zip"),
    ] {
        let bench = Bench::new();
        let one = packed(&bench, target, "one");
        std::thread::sleep(std::time::Duration::from_millis(1100));
        let two = packed(&bench, target, "two");
        assert!(
            one.ends_with(format!("one/obverse-{target}.{ending}")),
            "{}",
            one.display()
        );
        let content = std::fs::read(&one).expect("an archive");
        assert!(
            content == std::fs::read(two).expect("an archive"),
            "{target}"
        );
    }
}

#[test]
fn an_archive_holds_what_belongs_to_the_binary() {
    let bench = Bench::new();
    let target = "aarch64-apple-darwin";
    let archive = packed(&bench, target, "dist");
    let output = Command::new("tar").arg("-tvzf").arg(archive).output();
    let listed = text(&output.expect("tar runs"));
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_once("obverse-aarch64-apple-darwin/"))
        .map(|(_, name)| name)
        .collect();
    let expected = [
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "completions/_obverse",
        "completions/_obverse.ps1",
        "completions/obverse.bash",
        "completions/obverse.elv",
        "completions/obverse.fish",
        "man/obverse.1",
        "obverse",
    ];
    assert_eq!(names, expected, "{listed}");
    let modes: Vec<&str> = listed.lines().filter_map(|line| line.get(..10)).collect();
    assert_eq!(modes.last(), Some(&"-rwxr-xr-x"), "{listed}");
    assert!(
        modes[..9].iter().all(|mode| *mode == "-rw-r--r--"),
        "{listed}"
    );

    let output = script("sums", &[&bench.path("dist")]);
    assert!(output.status.success(), "{}", text(&output));
    let check = |bench: &Bench| {
        let mut command = Command::new("sha256sum");
        command.args(["--check", "SHA256SUMS"]);
        command
            .current_dir(bench.path("dist"))
            .output()
            .expect("sha256sum runs")
    };
    assert!(check(&bench).status.success());
    let bench = bench.file(&format!("dist/obverse-{target}.tar.gz"), "something else");
    assert!(!check(&bench).status.success());
}
