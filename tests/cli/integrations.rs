//! The definitions for other tools, `action.yml` and `.pre-commit-hooks.yaml`, tried with what of these tools there is.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::bench::{Bench, binary};
use crate::check::own;
use crate::packages;

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A program of the virtual environment; `None` where there is no such, which in CI fails.
pub(crate) fn tool(name: &str) -> Option<PathBuf> {
    let path = root().join(".venv/bin").join(name);
    if path.exists() {
        return Some(path);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "CI must have {name}: `.ci/run` installs it"
    );
    None
}

/// Runs a program that finds the binary on its PATH.
fn run(command: &mut Command) -> Output {
    let folder = binary().parent().expect("a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .env("PATH", format!("{folder}:{path}"))
        .env("NO_COLOR", "1")
        .output()
        .expect("the program runs")
}

pub(crate) fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(out).into_owned() + &String::from_utf8_lossy(err)
}

/// What becomes of the action with these inputs.
fn action(bench: &Bench, inputs: &[&str]) -> Option<Value> {
    let output = run(Command::new(tool("python")?)
        .arg(root().join("tests/tools/action.py"))
        .arg(bench.path(""))
        .arg("version=installed")
        .args(inputs));
    assert!(output.status.success(), "{}", text(&output));
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

/// The project's files with a broken delimiter.
fn broken() -> Bench {
    let bench = own("qwen3");
    let document = bench
        .read("derived/qwen3.json")
        .replace("</think>", "</thnk>");
    bench.file("derived/qwen3.json", document)
}

#[test]
fn the_action_is_one() {
    let Some(check) = tool("check-jsonschema") else {
        return;
    };
    let output = run(Command::new(check)
        .args(["--builtin-schema", "vendor.github-actions"])
        .arg(root().join("action.yml")));
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn the_action_is_green_when_all_is_well() {
    let Some(done) = action(&own("qwen3"), &[]) else {
        return;
    };
    assert_eq!(done["failed"], Value::Null, "{done}");
    assert_eq!(done["outputs"]["status"], "0");
    assert_eq!(done["summary"], "### obverse check\n\n6 cases: all well\n");
    assert_eq!(done["used"], Value::Array(Vec::new()), "{done}");
    let lint = action(&own("qwen3"), &["verb=lint", "summary=false"]).expect("a run");
    assert_eq!(
        (&lint["failed"], &lint["summary"]),
        (&Value::Null, &Value::from("")),
        "{lint}"
    );
}

#[test]
fn the_action_shows_what_broke_and_where() {
    let bench = broken();
    let inputs = [
        "args=--no-derive\n--filter=reasoning",
        "sarif=out.sarif",
        "upload-sarif=true",
    ];
    let Some(done) = action(&bench, &inputs) else {
        return;
    };
    assert_eq!(done["failed"], "Run", "{done}");
    assert_eq!(done["outputs"]["status"], "1");
    let log = done["log"].as_str().expect("a log");
    assert!(
        log.starts_with("::error file=fixtures/qwen3/reasoning/response.txt,line=3,col=1,endColumn=9,title=other-message::"),
        "{log}"
    );
    let summary = done["summary"].as_str().expect("a summary");
    for told in [
        "1 case: 2 errors, 0 warnings",
        "**error** `other-message` in `fixtures/qwen3/reasoning/response.txt:3:1`",
        "where the close of `reasoning_content` has \"</thnk>\"",
    ] {
        assert!(summary.contains(told), "{told} in {summary}");
    }
    // Code scanning is given what was found although the check failed.
    assert_eq!(done["used"][0]["with"]["sarif_file"], "out.sarif", "{done}");
    let sarif: Value = serde_json::from_str(&bench.read("out.sarif")).expect("JSON");
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        place["artifactLocation"]["uri"],
        "fixtures/qwen3/reasoning/response.txt"
    );
    let rule = &sarif["runs"][0]["tool"]["driver"]["rules"][0];
    assert_eq!(rule["id"], "other-message");
    assert!(
        rule["help"]["text"]
            .as_str()
            .is_some_and(|help| !help.is_empty()),
        "{rule}"
    );
}

#[test]
fn an_input_of_the_action_is_never_a_command() {
    let bench = own("qwen3");
    let Some(done) = action(
        &bench,
        &["path=$(touch a)\n`touch b`;touch c", "format=concise"],
    ) else {
        return;
    };
    assert_eq!(done["outputs"]["status"], "2", "{done}");
    for file in ["a", "b", "c"] {
        assert!(!bench.path(file).exists(), "{done}");
    }
    let done = action(&bench, &["path=--help"]).expect("a run");
    assert_eq!(
        done["outputs"]["status"], "2",
        "a path is no argument: {done}"
    );
}

/// The outputs of a step are lines of a file, into which an input could write further ones.
#[test]
fn an_input_of_the_action_adds_no_output() {
    let Some(python) = tool("python") else { return };
    let run = |inputs: &[&str]| {
        let output = run(Command::new(&python)
            .arg(root().join("tests/tools/action.py"))
            .arg(own("qwen3").path(""))
            .args(inputs));
        assert!(output.status.success(), "{}", text(&output));
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let done = run(&["version=v1\nroot=/tmp/elsewhere"]);
    assert_eq!(done["failed"], "Which version to install", "{done}");
    for version in [
        "v1/../../../../other/repo/releases/download/v2",
        "v1/v2",
        "..",
    ] {
        let done = run(&[&format!("version={version}")]);
        assert_eq!(done["failed"], "Which version to install", "{done}");
    }
    let done = run(&["version=installed", "sarif=a.sarif\nstatus=0"]);
    assert_eq!(done["failed"], "Run", "{done}");
    assert_ne!(done["outputs"]["status"], "0", "{done}");
}

#[test]
fn the_action_writes_in_the_repository_alone() {
    let bench = own("qwen3").file("reports/.keep", "");
    let workspace = Bench::new();
    let Some(_) = tool("python") else { return };
    for (sarif, fails) in [
        ("out.sarif", false),
        ("reports/out.sarif", false),
        ("reports/../out.sarif", false),
        ("../out.sarif", true),
        ("reports/../../out.sarif", true),
        ("nowhere/out.sarif", true),
    ] {
        let input = format!("sarif={sarif}");
        let done = action(&bench, &[&input, "args=--no-derive"]).expect("a run");
        assert_eq!(done["failed"] == "Run", fails, "{sarif}: {done}");
    }
    // A link in the repository may lead out of it.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(workspace.path(""), bench.path("away")).expect("a link");
        std::os::unix::fs::symlink(workspace.path("x"), bench.path("file.sarif")).expect("a link");
        // What `..` leads to from a link is what is around the folder that the link leads to.
        std::os::unix::fs::symlink(workspace.path("in"), bench.path("inner")).expect("a link");
        std::fs::create_dir(workspace.path("in")).expect("a folder");
        for sarif in [
            "sarif=away/out.sarif",
            "sarif=file.sarif",
            "sarif=inner/../out.sarif",
        ] {
            let done = action(&bench, &[sarif, "args=--no-derive"]).expect("a run");
            assert_eq!(done["failed"], "Run", "{done}");
        }
        assert!(!workspace.path("out.sarif").exists() && !workspace.path("x").exists());
    }
}

#[test]
fn an_action_without_the_binary_says_so() {
    let Some(python) = tool("python") else { return };
    let output = Command::new(python)
        .arg(root().join("tests/tools/action.py"))
        .args([root(), Path::new("version=installed")])
        .env("PATH", "/usr/bin:/bin")
        .output()
        .expect("the program runs");
    let done: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(done["failed"], "Install", "{done}");
    assert!(
        done["log"]
            .as_str()
            .is_some_and(|log| log.contains("no obverse on the PATH"))
    );
}

/// The action run where a folder stands in for the releases; without `version=installed`, and with what GitHub says.
fn installing(releases: &Bench, said: &[&str]) -> Option<Value> {
    let project = own("qwen3");
    let output = run(Command::new(tool("python")?)
        .arg(root().join("tests/tools/action.py"))
        .arg(project.path(""))
        .arg(format!(
            "github.server_url=file://{}",
            releases.path("").display()
        ))
        .args(["args=--no-derive", "summary=false"])
        .args(said)
        .env("OBVERSE_REAL", binary()));
    assert!(output.status.success(), "{}", text(&output));
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

/// A release of a binary for Linux, made by the scripts that make releases.
fn released(tag: &str) -> Bench {
    let folder = format!("owner/obverse/releases/download/{tag}");
    let bench = Bench::new();
    packages::packed(&bench, "x86_64-unknown-linux-musl", &folder);
    let output = packages::script("sums", &[&bench.path(&folder)]);
    assert!(output.status.success(), "{}", text(&output));
    bench
}

#[track_caller]
fn refused(done: &Value, step: &str, told: &[&str]) {
    assert_eq!(done["failed"], step, "{done}");
    let log = done["log"].as_str().expect("a log");
    for told in told {
        assert!(log.contains(told), "{told} in {log}");
    }
}

#[test]
fn the_action_installs_a_release() {
    let tag = concat!("v", env!("CARGO_PKG_VERSION"));
    let releases = released(tag);
    let at_tag = format!("github.action_ref={tag}");
    let named = format!("version={tag}");
    // The path of a real run tells the action's repository and revision, whatever else is said.
    let path = releases.path("_actions/owner/obverse").join(tag);
    let by_path = format!("github.action_path={}", path.display());
    for said in [
        &[&*at_tag][..],
        &["github.action_ref=main", &named],
        // The commit of the release, as the binary tells it.
        &["github.action_ref=0123456789ab0123456789ab0123456789ab0123"],
        &[
            &by_path,
            "github.action_ref=main",
            "github.action_repository=who/else",
        ],
    ] {
        let Some(done) = installing(&releases, said) else {
            return;
        };
        assert_eq!(done["failed"], Value::Null, "{said:?}: {done}");
        assert_eq!(done["outputs"]["status"], "0", "{said:?}: {done}");
        let path = done["path"][0].as_str().expect("a folder on the PATH");
        assert!(
            path.ends_with("obverse-x86_64-unknown-linux-musl"),
            "{path}"
        );
        assert_eq!(done["used"], Value::Array(Vec::new()), "nothing is built");
    }
}

#[test]
fn the_action_says_why_it_installs_nothing() {
    let tag = concat!("v", env!("CARGO_PKG_VERSION"));
    let releases = released(tag);
    let at_tag = format!("github.action_ref={tag}");
    let Some(done) = installing(&releases, &["github.action_ref=main"]) else {
        return;
    };
    let told = [
        "used at \"main\", which names no release",
        "the input \"version\"",
    ];
    refused(&done, "Which version to install", &told);
    let install = |said: &[&str]| installing(&releases, said).expect("a run");
    let commit = "github.action_ref=89abcdef0123456789abcdef0123456789abcdef";
    let told = [
        "used at the commit 89abcdef",
        "obverse 0.1.0 (0123456789ab)",
    ];
    refused(&install(&[commit]), "Install", &told);
    let told = ["owner/obverse has a release v9.9.9", "version: installed"];
    refused(&install(&["version=v9.9.9"]), "Install", &told);
    let told = ["no binary for Linux-RISCV64", "version: installed"];
    refused(
        &install(&[&at_tag, "runner.arch=RISCV64"]),
        "Install",
        &told,
    );
    // A release that has not got this file.
    let told = ["obverse-aarch64-unknown-linux-musl.tar.gz cannot be had"];
    refused(&install(&[&at_tag, "runner.arch=ARM64"]), "Install", &told);
}

#[test]
fn the_action_runs_nothing_that_was_changed() {
    let tag = concat!("v", env!("CARGO_PKG_VERSION"));
    let at_tag = format!("github.action_ref={tag}");
    let folder = format!("owner/obverse/releases/download/{tag}");
    let archive = format!("{folder}/obverse-x86_64-unknown-linux-musl.tar.gz");
    let releases = released(tag);
    let sums = releases.read(&format!("{folder}/SHA256SUMS"));
    let releases = releases.file(&archive, "something else");
    let Some(done) = installing(&releases, &[&at_tag]) else {
        return;
    };
    let told = ["has the checksum", "SHA256SUMS says", "is not run"];
    refused(&done, "Install", &told);
    let releases = releases.file(
        &format!("{folder}/SHA256SUMS"),
        sums.replace("obverse-", "x-"),
    );
    let done = installing(&releases, &[&at_tag]).expect("a run");
    refused(&done, "Install", &["SHA256SUMS says nothing of it"]);
}

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@example.org",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("git runs");
    assert!(output.status.success(), "{}", text(&output));
}

/// The hooks' repository, in which they use the binary that is installed rather than build one.
fn hooks() -> Bench {
    let hooks = std::fs::read_to_string(root().join(".pre-commit-hooks.yaml")).expect("a file");
    assert_eq!(hooks.matches("language: python").count(), 2);
    let bench = Bench::new().file(
        ".pre-commit-hooks.yaml",
        hooks.replace("language: python", "language: system"),
    );
    git(&bench.path(""), &["init", "--quiet"]);
    git(&bench.path(""), &["add", "--all"]);
    git(
        &bench.path(""),
        &["commit", "--quiet", "--message", "hooks"],
    );
    bench
}

#[test]
fn the_hooks_run_where_something_changed_that_matters() {
    let Some(pre_commit) = tool("pre-commit") else {
        return;
    };
    let hooks = hooks();
    let bench = own("qwen3").file("notes.md", "x").file("src/data.bin", "x");
    git(&bench.path(""), &["init", "--quiet"]);
    git(&bench.path(""), &["add", "--all"]);
    let try_hooks = |files: &[&str]| {
        run(Command::new(&pre_commit)
            .arg("try-repo")
            .arg(hooks.path(""))
            .args(["--verbose", "--files"])
            .args(files)
            .current_dir(bench.path(""))
            .env("PRE_COMMIT_HOME", hooks.path("cache")))
    };
    let all = try_hooks(&["derived/qwen3.json"]);
    assert!(all.status.success(), "{}", text(&all));
    let told = text(&all);
    assert_eq!(told.matches("Passed").count(), 2, "{told}");
    assert!(told.contains("6 cases checked, all well"), "{told}");
    for (files, checked, linted) in [
        (["obverse.toml", "notes.md"], true, true),
        (["chat_templates/qwen3.jinja", "notes.md"], true, true),
        (
            ["fixtures/qwen3/plain/response.txt", "notes.md"],
            true,
            false,
        ),
        (
            ["fixtures/qwen3/reasoning/events.jsonl", "notes.md"],
            true,
            false,
        ),
        (["notes.md", "src/data.bin"], false, false),
    ] {
        let told = text(&try_hooks(&files));
        let skipped = |hook: &str| {
            let line = told
                .lines()
                .find(|line| line.starts_with(hook))
                .expect("the hook");
            line.contains("Skipped")
        };
        assert_eq!(!skipped("obverse check"), checked, "{files:?}: {told}");
        assert_eq!(!skipped("obverse lint"), linted, "{files:?}: {told}");
    }
    let document = bench
        .read("derived/qwen3.json")
        .replace("</think>", "</thnk>");
    let bench = bench.file("derived/qwen3.json", document);
    let failed = run(Command::new(&pre_commit)
        .arg("try-repo")
        .arg(hooks.path(""))
        .args(["obverse-check", "--files", "derived/qwen3.json"])
        .current_dir(bench.path(""))
        .env("PRE_COMMIT_HOME", hooks.path("cache")));
    assert!(!failed.status.success());
    assert!(text(&failed).contains("error[stale]"), "{}", text(&failed));
}
