//! Fixtures and suites that cannot be read, or written, and how they are found.

use crate::bench::Bench;
use crate::check::project;
use crate::support::schema::mismatch;

const LINE: &str = r#"{"name": "a", "response": "Hi</assistant>", "expected": {"role": "assistant", "content": "Hi"}}"#;

/// A folder with a response template and a suite.
fn with_suite() -> Bench {
    let bench = Bench::new();
    let template = bench.read("template.json");
    bench
        .file("kite/response_template.json", template)
        .file("kite/ok.jsonl", LINE)
}

fn moved(bench: &Bench, from: &str, to: &str) {
    std::fs::rename(bench.path(from), bench.path(to)).expect("a file");
}

#[test]
fn a_fixture_without_its_response_is_an_error() {
    for (to, told) in [
        ("respons.txt", "respons.txt: error[unknown-file]"),
        ("Response.txt", "Response.txt: error[unknown-file]"),
        (
            "../gone.md",
            "fixtures/chat/plain/response.txt: error[unreadable] the fixture has no response: this file is not there",
        ),
    ] {
        let bench = project();
        let folder = "fixtures/chat/plain";
        moved(
            &bench,
            &format!("{folder}/response.txt"),
            &format!("{folder}/{to}"),
        );
        for arguments in ["check", "check fixtures", "check fixtures/chat/plain"] {
            let run = bench.run(&format!("{arguments} --format concise"));
            assert_eq!(run.status, 1, "{to}: {run}");
            assert!(run.stdout.contains(told), "{told} in\n{run}");
        }
        let human = bench.run("check --no-derive");
        assert!(human.stdout.contains("help: "), "{human}");
    }
    let bench = project();
    std::fs::remove_file(bench.path("fixtures/chat/plain/response.txt")).expect("a file");
    std::fs::create_dir(bench.path("fixtures/chat/plain/response.txt")).expect("a folder");
    let run = bench.run("check --format concise");
    assert_eq!(run.status, 1, "{run}");
    let told = "fixtures/chat/plain/response.txt: error[unreadable] this is a folder";
    assert!(run.stdout.contains(told), "{run}");
}

/// Folders that hold something else, or fixtures, are none.
#[test]
fn a_folder_that_is_no_fixture_is_passed_over() {
    let bench = with_suite()
        .file("kite/notes/todo.txt", "x")
        .file("kite/shared/tools.json", "[]")
        .file("kite/cases/prefix.txt", "x")
        .file("kite/cases/one/response.txt", "Hi</assistant>")
        .file(
            "kite/cases/one/expected.json",
            r#"{"role": "assistant", "content": "Hi"}"#,
        )
        .file("else/expected.json", "{}");
    let run = bench.run("check kite else");
    assert_eq!(run.status, 0, "{run}");
    assert_eq!(run.stderr, "2 cases checked, all well\n");
}

#[test]
fn a_suite_that_is_not_utf_8_is_an_error_of_its_own() {
    let bench = with_suite()
        .file("kite/first.jsonl", b"{\"response\": \"x\xff\"}\n")
        .file(
            "kite/later.jsonl",
            [LINE.as_bytes(), b"\n\"\xff\""].concat(),
        )
        .file("kite/other.jsonl", b"{\"text\": 1}\n\xff")
        .file("kite/texts.jsonl", b"{\"text\": \"\xff\"}\n");
    let run = bench.run("check kite --format concise");
    assert_eq!(run.status, 1, "{run}");
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "kite/first.jsonl: error[invalid-utf8] invalid UTF-8 at byte 15, in line 1: none of its fixtures is checked",
            "kite/later.jsonl: error[invalid-utf8] invalid UTF-8 at byte 97, in line 2: none of its fixtures is checked",
        ],
        "{run}"
    );
    let named = bench.run("check kite/first.jsonl --format concise");
    assert_eq!(named.stdout.lines().next(), Some(lines[0]), "{named}");
    assert_eq!(named.status, 1, "{named}");
}

#[test]
fn a_byte_order_mark_is_read_over() {
    let marked = |text: &str| format!("\u{feff}{text}");
    let bench = with_suite()
        .file("kite/ok.jsonl", marked(LINE))
        .file("kite/one/response.txt", "Hi</assistant>")
        .file(
            "kite/one/expected.json",
            marked(r#"{"role": "assistant", "content": "Ho"}"#),
        );
    let run = bench.run("check kite --format concise");
    assert_eq!(run.stdout.lines().count(), 1, "{run}");
    assert!(run.stdout.contains("error[other-message]"), "{run}");
    assert_eq!(bench.run("check kite --update").status, 0);
    for suite in ["kite/ok.jsonl", "kite"] {
        assert_eq!(bench.run(&format!("check {suite}")).status, 0, "{suite}");
    }
    // A line that is written again leaves the mark where it is.
    let stale = LINE.replace("\"content\": \"Hi\"", "\"content\": \"Ho\"");
    let bench = bench.file("kite/ok.jsonl", marked(&stale));
    assert_eq!(bench.run("check kite --update").status, 0);
    assert_eq!(bench.read("kite/ok.jsonl"), marked(LINE));
    let bench = bench.file(
        "messages.json",
        marked(r#"[{"role": "user", "content": "Q"}]"#),
    );
    let rendered = bench
        .run("render chat.jinja --messages messages.json")
        .done();
    assert_eq!(rendered, "<user>Q</user>");
    let parsed = bench.run_with(
        "parse --jsonl template.json",
        marked(r#"{"response": "a"}"#),
    );
    assert_eq!(parsed.status, 0, "{parsed}");
}

#[test]
fn a_suite_without_a_line_is_no_chat_template() {
    let told = Bench::new().file("none.jsonl", "").run("check none.jsonl");
    let told = told.refused(2);
    assert!(
        told.contains("no fixture and no chat template belongs to none.jsonl"),
        "{told}"
    );
}

#[test]
fn a_part_of_a_fixture_is_no_response_template() {
    let bench = project();
    for part in ["expected.json", "response.txt"] {
        let run = bench.run(&format!("check fixtures/chat/plain/{part}"));
        let told = run.refused(2);
        assert!(told.contains("give the folder that it lies in"), "{told}");
    }
}

/// One fixture cannot be written; the others are, and the results are told.
#[cfg(unix)]
#[test]
fn what_can_be_recorded_is_recorded_beside_what_is_protected() {
    let bench = project()
        .file("fixtures/chat/plain/expected.json", "{}\n")
        .file("fixtures/chat/truncated/expected.json", "{}\n")
        .file("shared.json", "{}\n");
    let link = bench.path("fixtures/chat/truncated/expected.json");
    std::fs::remove_file(&link).expect("a file");
    std::os::unix::fs::symlink(bench.path("shared.json"), &link).expect("a link");
    let run = bench.run("check --no-derive --update");
    assert_eq!(run.status, 2, "{run}");
    for told in [
        "error[protected]: fixtures/chat/truncated/expected.json is a symbolic link",
        "recorded 1 fixture, and 1 not\n",
    ] {
        assert!(run.stderr.contains(told), "{told} in\n{run}");
    }
    assert_eq!(bench.read("shared.json"), "{}\n");
    let left = bench.run("check --no-derive --format concise");
    assert!(left.stdout.contains("fixtures/chat/truncated/"), "{left}");
    assert!(!left.stdout.contains("fixtures/chat/plain/"), "{left}");
}

#[test]
fn without_fixtures_no_derive_leaves_nothing() {
    let bench = project();
    std::fs::remove_dir_all(bench.path("fixtures")).expect("a folder");
    for verb in ["check", "review", "check derived"] {
        let told = bench.run(&format!("{verb} --no-derive")).refused(2);
        assert!(
            told.contains("there are no fixtures, and --no-derive"),
            "{told}"
        );
        assert!(told.contains("`obverse new --all`"), "{told}");
    }
}

#[test]
fn an_obverse_toml_that_is_not_read_is_named() {
    let bench = project().file("fixtures/elsewhere/response.txt", "x");
    let outside = Bench::new();
    let folder = bench.path("fixtures/chat/plain");
    let run = outside.run_all(&["check", &folder.display().to_string()], "");
    assert_eq!(run.status, 1, "{run}");
    assert!(run.stdout.contains("error[no-template]"), "{run}");
    let config = std::fs::canonicalize(bench.path("obverse.toml")).expect("a file");
    let told = format!("--config {}`", config.display());
    assert!(
        run.stdout.replace(['\n', '|'], "").contains(&told),
        "{told} in\n{run}"
    );
    // The one that is read does not name it.
    let run = bench.run("check fixtures/elsewhere");
    assert!(
        run.stdout
            .contains("name it in obverse.toml, under the `fixtures`"),
        "{run}"
    );
}

#[test]
fn numbers_that_are_none_are_told_in_words() {
    let bench = Bench::new();
    for (arguments, told) in [
        ("check --jobs 0", "expected a number of threads, from 1 on"),
        ("check --slowest fixtures", "paths stand before --slowest"),
        (
            "parse template.json --events --chunks x",
            "is no chunking: whole, words, random:SEED",
        ),
        ("spans chat.jinja", "--messages FILE"),
        ("new", "--all for all of them"),
        ("propose . --model a--b/c", "model"),
    ] {
        let refused = bench.run(arguments).refused(2);
        assert!(refused.contains(told), "{arguments}: {refused}");
    }
}

#[test]
fn a_name_of_fixtures_stays_below_their_folder() {
    let bench = Bench::new();
    for name in ["../../evil", "/tmp/evil", "", "a/../b"] {
        let run = bench.run_all(&["new", name, "--template", "template.json"], "");
        let told = run.refused(2);
        assert!(
            told.contains("is no name of a folder below fixtures"),
            "{told}"
        );
    }
    // Where obverse.toml says the place, no other is taken in silence.
    let project = project();
    let told = project
        .run("new mine --template derived/chat.json")
        .refused(2);
    assert!(
        told.contains("obverse.toml says that they belong in fixtures/chat"),
        "{told}"
    );
    assert_eq!(
        project.run("new chat --template derived/chat.json").status,
        0
    );
}

/// What stops a verb fits the schema that there is for that.
#[test]
fn a_failure_is_told_to_programs_as_the_schema_says() {
    let bench = Bench::new();
    let read = |text: &str| serde_json::from_str(text).expect("JSON");
    let schema: serde_json::Value = read(&bench.run("schema failure").done());
    for verb in ["check", "convert", "derive", "lint", "new", "inspect"] {
        let run = bench.run(&format!("{verb} nofile.json --format json"));
        assert_eq!(run.status, 2, "{run}");
        if run.stdout.contains("\"error\": {") {
            let told: serde_json::Value = read(&run.stdout);
            assert_eq!(mismatch(&schema, &told), None, "{verb}: {run}");
        }
    }
}
