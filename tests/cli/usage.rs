//! What holds for every verb: usage errors, help, colours, a reader that goes away.

use std::io::Write as _;
use std::process::Stdio;

use crate::bench::{self, Bench};
use insta::assert_snapshot;

#[test]
fn arguments_that_do_not_parse_are_usage_errors() {
    let bench = Bench::new();
    assert_snapshot!(bench.run("").refused(2).lines().next().unwrap(), @r#"The workbench for response templates: derive them from chat templates, prove them, parse with them"#);
    assert_snapshot!(bench.run("parse").refused(2), @r#"
    error: the following required arguments were not provided:
      <TEMPLATE>

    Usage: obverse parse <TEMPLATE> [RESPONSE]

    For more information, try '--help'.
    "#);
    assert_snapshot!(bench.run("parse template.json --event").refused(2), @r#"
    error: unexpected argument '--event' found

      tip: a similar argument exists: '--events'

    Usage: obverse parse --events <TEMPLATE> [RESPONSE]

    For more information, try '--help'.
    "#);
    assert_snapshot!(bench.run("parse --jsonl template.json --events").refused(2), @r#"
    error: the argument '--jsonl' cannot be used with '--events'

    Usage: obverse parse --jsonl <TEMPLATE> [RESPONSE]

    For more information, try '--help'.
    "#);
    assert_snapshot!(bench.run("render chat.jinja").refused(2), @r#"
    error: the following required arguments were not provided:
      --messages <FILE>

    Usage: obverse render --messages <FILE> <SOURCE>

    For more information, try '--help'.
    "#);
    assert_snapshot!(bench.run("derive --date 2025-02-30 chat.jinja").refused(2), @r#"
    error: invalid value '2025-02-30' for '--date <YYYY-MM-DD>': the calendar has no such day

    For more information, try '--help'.
    "#);
    assert_snapshot!(bench.run("derive --special-token bos chat.jinja").refused(2), @r#"
    error: invalid value 'bos' for '--special-token <NAME=TEXT>': expected NAME=TEXT, such as bos_token=<s>

    For more information, try '--help'.
    "#);
    assert_snapshot!(bench.run("render chat.jinja --messages m --kwarg a=b").refused(2), @r#"
    error: invalid value 'a=b' for '--kwarg <K=JSON>': expected a value at byte 0 of b; a string needs its quotes: a='"..."'

    For more information, try '--help'.
    "#);
}

#[test]
fn standard_input_is_read_once() {
    let bench = Bench::new();
    assert_snapshot!(bench.run("parse - -").refused(2), @r#"error[usage]: standard input can be read once, but `-` is given for several files"#);
    for arguments in [
        "parse -",
        "parse --jsonl -",
        "parse template.json --prefix-file -",
        "render - --messages -",
        "render --jsonl -",
        "derive - - --out-dir out",
    ] {
        let told = bench.run(arguments).refused(2);
        assert!(told.contains("standard input can be read once"), "{told}");
    }
}

#[test]
fn help_and_version_are_results() {
    let bench = Bench::new();
    let help = bench.run("--help").done();
    for word in [
        "derive",
        "inspect",
        "parse",
        "render",
        "--color",
        "Exit status",
    ] {
        assert!(help.contains(word), "{word} in\n{help}");
    }
    for verb in ["derive", "inspect", "parse", "render"] {
        let help = bench.run(&format!("{verb} --help")).done();
        assert!(!help.contains('\u{1b}'), "{help}");
    }
    assert!(bench.run("--version").done().starts_with("obverse "));
}

#[test]
fn colours_are_for_those_who_want_them() {
    let bench = Bench::new();
    for arguments in [
        "parse missing",
        "derive chat.jinja --explain",
        "parse --nope",
    ] {
        let plain = bench.run(arguments).stderr;
        assert!(!plain.contains('\u{1b}'), "{plain}");
        let never = bench.run(&format!("{arguments} --color never")).stderr;
        assert_eq!(never, plain);
        let always = bench.run(&format!("{arguments} --color always")).stderr;
        assert!(always.contains("\u{1b}["), "{always}");
        assert_eq!(anstream::adapter::strip_str(&always).to_string(), plain);
    }
}

#[test]
fn no_color_is_honoured() {
    let bench = Bench::new();
    let told = |variables: &[&str], arguments: &[&str]| {
        let mut command = bench.command();
        for name in variables {
            command.env(name, "1");
        }
        let output = command
            .args(["parse", "missing"])
            .args(arguments)
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(told(&["CLICOLOR_FORCE"], &[]).contains('\u{1b}'));
    assert!(!told(&["CLICOLOR_FORCE", "NO_COLOR"], &[]).contains('\u{1b}'));
    assert!(told(&["NO_COLOR"], &["--color", "always"]).contains('\u{1b}'));
}

#[test]
fn results_are_never_coloured() {
    let bench = Bench::new();
    let plain = bench.run_with("parse template.json", "Hi").done();
    let always = bench
        .run_with("parse template.json --color always", "Hi")
        .done();
    assert_eq!(always, plain);
}

#[test]
fn a_reader_that_goes_away_ends_the_work_quietly() {
    let bench = Bench::new();
    for arguments in [
        ["parse", "--jsonl", "template.json"],
        ["parse", "--events", "template.json"],
        ["render", "--jsonl", "chat.jinja"],
    ] {
        let mut child = std::process::Command::new(bench::binary())
            .args(arguments)
            .current_dir(bench.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let line = b"{\"messages\": [], \"response\": \"<think>a</think>b\"}\n";
        input.write_all(line).unwrap();
        let mut next = bench::lines_of(child.stdout.take().unwrap());
        let first = next();
        assert!(first.starts_with('{'), "{first}");
        drop(next);
        // It may be gone before all of this is written.
        for _ in 0..10_000 {
            if input.write_all(line).is_err() {
                break;
            }
        }
        drop(input);
        let ended = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
        assert_eq!(ended.status.code(), Some(0), "{arguments:?}");
    }
}

/// Who reads the first line alone does not change what was found.
#[test]
fn a_reader_that_goes_away_does_not_change_the_exit_status() {
    let bench = Bench::new()
        .file(
            "bad.json",
            r#"{"start_anchor": "a", "fields": {"c": {"opne": "x"}}}"#,
        )
        .file("response", "<think>a</think>b");
    let bench = bench
        .file("calls.json", r#"{"start_anchor": "a", "fields": {"c": {"open": "<", "close": ">", "content": "json"}}}"#)
        .file("broken", "<{>".repeat(10_000))
        .file("lines", "{\n".repeat(100_000));
    for (arguments, status) in [
        ("lint bad.json", 1),
        ("lint bad.json --format json", 1),
        ("lint template.json", 0),
        ("parse template.json response", 0),
        ("parse calls.json broken", 1),
        ("parse --events calls.json broken", 1),
        ("parse --jsonl template.json lines", 1),
        ("derive chat.jinja", 0),
        ("inspect chat.jinja", 0),
        ("explain", 0),
    ] {
        let mut child = std::process::Command::new(bench::binary())
            .args(arguments.split_whitespace())
            .current_dir(bench.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Nobody reads a word.
        drop(child.stdout.take());
        let ended = child.wait().unwrap();
        assert_eq!(ended.code(), Some(status), "{arguments}");
    }
}
