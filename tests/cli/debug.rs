//! `obverse debug` without a terminal, and the page that describes it.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::bench::Bench;

#[test]
fn a_screen_is_printed() {
    let bench = Bench::new().file("response", "<think>hm</think>Hi</assistant>\n");
    let run = bench.run("debug template.json response --screenshot 80x24 --keys G");
    let screen = run.done();
    assert_eq!(screen.lines().count(), 24);
    assert!(screen.contains("close thinking \"hm\""), "{screen}");
    let picture = bench
        .run("debug template.json response --screenshot 80x24 --svg")
        .done();
    assert!(picture.starts_with("<svg "));
}

#[test]
fn without_a_terminal_there_is_a_hint() {
    let run = Bench::new()
        .file("response", "Hi")
        .run("debug template.json response");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("--screenshot 80x24"), "{}", run.stderr);
}

#[test]
fn what_cannot_be_opened_is_told() {
    let bench = Bench::new()
        .file("empty/x", "")
        .file("bad.json", "{\"obverse_session\": 9}");
    for (arguments, wanted) in [
        ("debug nowhere.json", "cannot read"),
        ("debug template.json empty", "no fixture"),
        ("debug bad.json", "version 9"),
        ("debug template.json --report bad.json", "not the report"),
        ("debug template.json --screenshot 0x5", "80x24"),
        ("debug template.json --chunks 0", "no chunking"),
        (
            "debug template.json --screenshot 9x9 --keys <nope>",
            "no key script",
        ),
        ("debug template.json - --tools -", "standard input"),
    ] {
        let run = bench.run(arguments);
        assert_eq!(run.status, 2, "{arguments}");
        assert!(run.stderr.contains(wanted), "{arguments}: {}", run.stderr);
    }
}

#[test]
fn fixtures_and_chat_templates_bring_their_samples() {
    let bench = Bench::new()
        .file("all/one/response.txt", "Hi</assistant>")
        .file("all/two/response.txt", "Ho</assistant>")
        .file("all/two/expected.json", "{\"content\": \"Hi\"}");
    let screen = bench
        .run("debug template.json all --screenshot 130x20 --keys o<down><enter>")
        .done();
    assert!(
        screen.contains("all/two 2/2") && screen.contains("differs from what is expected"),
        "{screen}"
    );
    let screen = bench
        .run("debug chat.jinja --screenshot 100x30 --keys 6")
        .done();
    assert!(
        screen.contains("verified 1 1/") && screen.contains("anchor"),
        "{screen}"
    );
}

#[test]
fn a_session_is_recorded_and_opened() {
    let bench = Bench::new().file("response", "<think>hm</think>Hi</assistant>\n");
    let keys = "debug template.json response --chunks 3 --keys <right><right><right>";
    let first = bench
        .run(&format!("{keys} --screenshot 80x24 --record session.json"))
        .done();
    let again = bench.run("debug session.json --screenshot 80x24").done();
    // What has just changed is marked in the first one.
    assert_eq!(first.replace('*', " "), again.replace('*', " "));
}

/// With this set, the page is written anew.
const UPDATE: &str = "OBVERSE_UPDATE_DOCS";

/// The page shows what its commands print. They run in one folder, one after the other.
#[test]
fn the_page_shows_what_the_tool_prints() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let page = std::fs::read_to_string(docs.join("debugger.md")).expect("the page");
    let mut bench = Bench::new();
    for name in ["template.json", "response.txt"] {
        let text = std::fs::read(docs.join("debugger").join(name)).expect("a file");
        bench = bench.file(name, text);
    }
    let mut written = String::new();
    let mut rest = page.as_str();
    while let Some((before, after)) = rest.split_once("```console\n") {
        let (block, after) = after.split_once("```").expect("the end of a block");
        written.push_str(before);
        written.push_str("```console\n");
        for line in block.lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                let _ = writeln!(written, "{line}\n{}", shell(&bench, command).trim_end());
            }
        }
        written.push_str("```");
        rest = after;
    }
    written.push_str(rest);
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(docs.join("debugger.md"), &written).expect("the page can be written");
    } else {
        assert!(
            written == page,
            "docs/debugger.md is stale: run this test with {UPDATE}=1"
        );
    }
}

fn shell(bench: &Bench, command: &str) -> String {
    let binary = assert_cmd::cargo::cargo_bin!("obverse");
    let folder = binary.parent().expect("a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(bench.path("."))
        .env("PATH", format!("{folder}:{path}"))
        .env("NO_COLOR", "1")
        .output()
        .expect("a shell");
    assert!(
        output.stderr.is_empty(),
        "{command}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}
