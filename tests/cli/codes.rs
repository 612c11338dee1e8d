//! The pages of codes: every code has one, and what their examples show is what the commands print.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::bench::Bench;
use crate::page;

/// Chat templates of the project that examples are taken from.
const CHATS: [&str; 4] = ["gpt_oss", "apertus", "muse_glimmer", "nemotron_nano_2"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_examples_of_what_derive_finds() {
    let bench = CHATS.iter().fold(Bench::new(), |bench, name| {
        let name = format!("chat_templates/{name}.jinja");
        let text = std::fs::read_to_string(root().join(&name)).expect("a chat template");
        bench.file(&name, text)
    });
    page::holds("codes/derive.md", bench);
}

#[test]
fn the_examples_of_what_check_finds() {
    page::holds("codes/check.md", Bench::new());
}

#[test]
fn the_examples_of_what_grammars_cannot_say() {
    let names = [
        "qwen3",
        "command_r7b",
        "command_r_plus",
        "minimax_m2",
        "minimax_m3",
    ];
    let bench = names.iter().fold(Bench::new(), |bench, name| {
        let name = format!("chat_templates/{name}.jinja");
        let text = std::fs::read_to_string(root().join(&name)).expect("a chat template");
        bench.file(&name, text)
    });
    page::holds("codes/grammar.md", bench);
}

#[test]
fn the_examples_of_what_stops_a_command() {
    let name = "chat_templates/qwen3.jinja";
    let text = std::fs::read_to_string(root().join(name)).expect("a chat template");
    page::holds("codes/errors.md", Bench::new().file(name, text));
}

#[test]
fn the_examples_of_grammars() {
    page::holds("grammars.md", Bench::new());
}

/// The pages that show the first commands.
#[test]
fn the_examples_of_the_readme() {
    let name = "chat_templates/qwen3.jinja";
    let text = std::fs::read_to_string(root().join(name)).expect("a chat template");
    let bench = Bench::new().file(name, text);
    page::holds("../README.md", bench);
    let derived = std::fs::read_to_string(root().join("derived/qwen3.json")).expect("a template");
    page::holds("spans.md", Bench::new());
    for name in ["parsing.md", "deltas.md"] {
        page::holds(name, Bench::new().file("derived/qwen3.json", &derived));
    }
}

/// Every page of the documentation is in its table of contents.
#[test]
fn every_page_is_in_the_table_of_contents() {
    let contents = std::fs::read_to_string(root().join("docs/README.md")).expect("a page");
    for folder in ["", "codes/"] {
        let entries = std::fs::read_dir(root().join("docs").join(folder)).expect("a folder");
        for entry in entries {
            let name = entry.expect("an entry").file_name();
            let name = name.to_string_lossy();
            let is_page = name.ends_with(".md") && name != "README.md";
            let link = format!("[{folder}{name}]({folder}{name})");
            let short = format!("]({folder}{name})");
            assert!(!is_page || contents.contains(&short), "{link} is missing");
        }
    }
}

/// The examples show the codes that they are about.
#[test]
fn each_example_shows_its_code() {
    for name in ["derive", "check", "grammar", "errors"] {
        let path = root().join(format!("docs/codes/{name}.md"));
        let page = std::fs::read_to_string(path).expect("a page");
        for section in page.split("\n## ").skip(1) {
            let code = section.lines().next().unwrap_or_default();
            let Some((_, shown)) = section.split_once("```console\n") else {
                continue;
            };
            let printed = shown.lines().filter(|line| !line.starts_with("$ "));
            let printed: Vec<&str> = printed.collect();
            assert!(
                printed
                    .iter()
                    .any(|line| line.contains(&format!("[{code}]"))),
                "the example of {code} does not show it"
            );
        }
    }
}

/// Every code in the sources of the tool can be explained.
#[test]
fn every_code_has_a_page() {
    let listed = Bench::new().run("explain").done();
    let known: BTreeSet<&str> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let mut codes = BTreeSet::new();
    let mut folders = vec![root().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                codes.extend(codes_of(&path));
            }
        }
    }
    assert!(codes.len() > 90, "they are found: {codes:?}");
    let missing: Vec<_> = codes
        .iter()
        .filter(|code| !known.contains(&***code))
        .collect();
    assert!(missing.is_empty(), "without a page: {missing:?}");
}

/// The codes that a source gives to what it finds.
fn codes_of(path: &PathBuf) -> Vec<String> {
    let source = std::fs::read_to_string(path).expect("UTF-8");
    // Tests make findings up.
    let source = source
        .split("#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or_default();
    if path.ends_with("tests.rs") {
        return Vec::new();
    }
    let begins = [
        "Finding::error(",
        "Finding::warning(",
        "Finding::info(",
        "Diagnostic::error(",
        "Diagnostic::warning(",
        "Problem::failed(",
        " warning(",
        "code: ",
        "self.note(",
        "LOST_WHEN_CUT: &str = ",
        "INEXPRESSIBLE: &str = ",
        "REFUSED_BY_ENGINE: &str = ",
    ];
    let mut codes = Vec::new();
    for begin in begins {
        for call in source.split(begin).skip(1) {
            let code = call
                .trim_start()
                .strip_prefix('"')
                .and_then(|rest| rest.split('"').next());
            let is_code = |code: &&str| code.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            codes.extend(code.filter(is_code).map(str::to_owned));
        }
    }
    codes
}
