//! Pages that show what their commands print. The commands run in one folder, one after the other, and what they print is compared.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::bench::{Bench, binary, surroundings, without_counts};
use crate::support::hub::FakeHub;

/// With this set, pages are written anew.
const UPDATE: &str = "OBVERSE_UPDATE_DOCS";

/// Before a block that is the content of a file.
const FILE: &str = "<!-- file: ";

/// Runs the page `docs/NAME` in a folder and compares.
///
/// Each line of a `console` block that begins with `$ ` is a command; what follows it is what it prints, on either stream. A block
/// behind `<!-- file: NAME -->` is put into the folder as that file.
///
/// # Panics
///
/// When a command prints something else than the page says, but for the counts of what was verified.
pub(crate) fn holds(name: &str, bench: Bench) {
    holds_beside(name, bench, None);
}

/// Runs the page as [`holds`] does, with a Hub that the commands ask. The page has the address of the real one in the place of its own,
/// which is another one each time.
///
/// # Panics
///
/// Under the same conditions.
pub(crate) fn holds_beside(name: &str, mut bench: Bench, hub: Option<&FakeHub>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(name);
    let page = std::fs::read_to_string(&path).expect("the page");
    let mut written = String::new();
    let mut file = None;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(written, "{line}");
        if let Some(of) = line.strip_prefix(FILE) {
            file = Some(of.trim_end_matches("-->").trim().to_owned());
        }
        let Some(language) = line.strip_prefix("```").filter(|_| line != "```") else {
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if language == "console" {
            for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
                let _ = write!(written, "$ {command}\n{}", shell(&bench, hub, command));
            }
        } else {
            for line in &block {
                let _ = writeln!(written, "{line}");
            }
            if let Some(file) = file.take() {
                bench = bench.file(&file, block.join("\n") + "\n");
            }
        }
        written.push_str("```\n");
    }
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, &written).expect("the page can be written");
    } else {
        assert!(
            without_numbers(&written) == without_numbers(&page),
            "docs/{name} is stale: run this test with {UPDATE}=1"
        );
    }
}

/// Without the numbers of rounds and of messages, which change with every variant that is tried.
fn without_numbers(text: &str) -> String {
    let line = |line: &str| {
        let counted = [" messages ", " turns ", " settings ", " times)"];
        let is_finding = line.contains("]: ") && counted.iter().any(|what| line.contains(what));
        if is_finding || line.contains(" messages that the chat template renders ") {
            line.chars().filter(|c| !c.is_ascii_digit()).collect()
        } else {
            line.to_owned()
        }
    };
    let lines: Vec<String> = without_counts(text).split('\n').map(line).collect();
    lines.join("\n")
}

fn shell(bench: &Bench, hub: Option<&FakeHub>, command: &str) -> String {
    let folder = binary().parent().expect("a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(bench.path("."))
        .env("PATH", format!("{folder}:{path}"))
        .env("NO_COLOR", "1")
        .env_remove("CLICOLOR_FORCE");
    for (name, value) in surroundings(Path::new("hf")) {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    if let Some(hub) = hub {
        shell
            .env_remove("HF_HUB_OFFLINE")
            .env("HF_ENDPOINT", &hub.url);
    }
    let output = shell.output().expect("a shell");
    let mut printed = String::from_utf8(output.stdout).expect("UTF-8");
    if let Some(hub) = hub {
        printed = printed.replace(&hub.url, "https://huggingface.co");
    }
    match printed.trim_end() {
        "" => String::new(),
        printed => format!("{printed}\n"),
    }
}
