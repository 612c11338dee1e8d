//! What holds for every verb: usage errors, help, colours, a reader that goes away.

use std::io::Write as _;
use std::process::Stdio;

use crate::bench::{self, Bench};
use crate::support::schema::mismatch;
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
    error: invalid value 'a=b' for '--kwarg <K=JSON>': a string needs its quotes: a='"b"'

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

#[test]
fn shells_complete_the_verbs_and_their_options() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = bench.run(&format!("completions {shell}")).done();
        for word in ["derive", "out-dir", "max-response"] {
            assert!(text.contains(word), "{shell} has no {word}");
        }
    }
    let told = bench.run("completions nothing").refused(2);
    assert!(told.contains("bash"), "{told}");
    // The shell takes the completions that are printed.
    let bench = bench.file("complete.bash", "source /dev/stdin\nCOMP_WORDS=(obverse der)\nCOMP_CWORD=1\n_obverse obverse der obverse\necho \"${COMPREPLY[@]}\"\n");
    let script = bench.run("completions bash").done();
    if let Ok(mut child) = std::process::Command::new("bash")
        .arg("complete.bash")
        .current_dir(bench.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
    {
        child
            .stdin
            .take()
            .unwrap()
            .write_all(script.as_bytes())
            .unwrap();
        let ended = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ended.stdout), "derive\n");
    }
}

#[test]
fn the_manual_has_a_page_for_each_verb() {
    let bench = Bench::new();
    let run = bench.run("man pages/man1");
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run}");
    let pages = bench.list("pages/man1");
    for page in [
        "obverse.1",
        "obverse-derive.1",
        "obverse-check.1",
        "obverse-parse.1",
    ] {
        assert!(
            pages.iter().any(|found| found == page),
            "{page} in {pages:?}"
        );
    }
    let derive = bench.read("pages/man1/obverse-derive.1");
    assert!(
        derive.contains(".TH obverse-derive") && derive.contains("out"),
        "{derive}"
    );
    assert_eq!(bench.run("man chat.jinja").status, 2);
}

/// A page that is a link leads to a file of somebody else.
#[cfg(unix)]
#[test]
fn the_manual_replaces_nothing_that_is_protected() {
    let bench = Bench::new()
        .file("pages/README", "x")
        .file("shared", "theirs");
    std::os::unix::fs::symlink("../shared", bench.path("pages/obverse.1")).expect("a link");
    let told = bench.run("man pages").refused(2);
    assert!(
        told.contains("error[protected]: pages/obverse.1 is a symbolic link to ../shared"),
        "{told}"
    );
    assert_eq!(bench.read("shared"), "theirs");
}

#[test]
fn people_are_told_as_much_as_they_want() {
    let bench = Bench::new().file("response", "<think>a</think>b");
    // Results stay the same; errors are told however quiet it is.
    for arguments in [
        "derive chat.jinja",
        "inspect chat.jinja",
        "parse template.json response",
        "lint template.json",
        "render chat.jinja --messages messages.json",
        "new x --template template.json",
    ] {
        let bench = bench_with_messages();
        let usual = bench.run(arguments);
        let quiet = bench_with_messages().run(&format!("{arguments} -q"));
        assert_eq!(
            (quiet.status, &quiet.stdout),
            (usual.status, &usual.stdout),
            "{arguments}"
        );
        assert_eq!(quiet.stderr, "", "{arguments}");
        let verbose = bench_with_messages().run(&format!("--verbose {arguments}"));
        assert_eq!(verbose.stdout, usual.stdout, "{arguments}");
        assert!(verbose.stderr.contains("it took "), "{verbose}");
        assert!(
            verbose.stderr.lines().count() > usual.stderr.lines().count(),
            "{verbose}"
        );
    }
    let failed = bench.run("-q parse missing");
    assert_eq!(failed.status, 2);
    assert!(failed.stderr.contains("cannot read missing"), "{failed}");
    let region = bench
        .file(
            "int.json",
            r#"{"start_anchor": "a", "fields": {"n": {"content": "int"}}}"#,
        )
        .run_with("parse -q int.json", "x");
    assert!(
        region.status == 1 && region.stderr.contains("error["),
        "{region}"
    );
    assert_eq!(
        bench_with_messages().run("derive chat.jinja -q -v").status,
        2
    );
}

fn bench_with_messages() -> Bench {
    Bench::new()
        .file("response", "<think>a</think>b")
        .file("messages.json", r#"[{"role": "user", "content": "Hi"}]"#)
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = Bench::new().run("--version").done();
    let number = env!("CARGO_PKG_VERSION");
    // A release has the commit behind it; `.ci/run` looks at one.
    assert!(
        version.starts_with(&format!("obverse {number}")),
        "{version}"
    );
}

#[test]
fn what_is_told_to_people_is_told_to_programs() {
    let bench = Bench::new().file("other.jinja", crate::bench::CHAT);
    let read = |run: bench::Run| -> serde_json::Value {
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"))
    };
    let derived = bench.run("derive chat.jinja --format json");
    assert_eq!(derived.stderr, "");
    assert_eq!(read(derived)["verdict"], "proved");
    let several = bench.run("derive chat.jinja other.jinja --out-dir derived --format json");
    let lines: Vec<serde_json::Value> = several
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), 2, "{several}");
    assert_eq!(lines[1]["source"], "other.jinja");
    assert!(bench.path("derived/other.report.json").exists());
    assert_eq!(
        bench
            .run("derive chat.jinja --format json --report -")
            .status,
        2
    );
    let made = read(bench.run("new chat --template derived/chat.json --format json"));
    assert_eq!(made["fixtures"][0]["status"], "to_fill", "{made}");
    let schema = |name: &str| read(bench.run(&format!("schema {name}")));
    assert_eq!(mismatch(&schema("new"), &made), None);
    let of_reviews = schema("review");
    let bench = crate::check::project().file("fixtures/chat/plain/expected.json", "{}\n");
    let review = bench.run("review --format json");
    assert_eq!(review.status, 1);
    let review = read(review);
    assert_eq!(review["failing"], 0);
    assert_eq!(mismatch(&of_reviews, &review), None);
    let pending = &review["pending"][0];
    assert_eq!(
        pending["command"],
        "obverse check --no-derive --update fixtures/chat/plain"
    );
    assert_eq!(pending["changes"][0]["before"], "{}\n");
}

#[test]
fn what_is_made_is_told_to_programs() {
    let config = serde_json::json!({"chat_template": crate::bench::CHAT});
    let bench = crate::check::project()
        .file("kite/tokenizer_config.json", config.to_string())
        .file(
            "schema.json",
            r#"{"properties": {"content": {"type": "string", "x-regex": "^(.*?)</end>"}}}"#,
        );
    let told = |arguments: &str, input: &str, schema: &str| -> serde_json::Value {
        let run = bench.run_with(arguments, input);
        let value =
            serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"));
        assert_eq!(run.stderr, "", "{arguments}");
        let schema = bench.run(&format!("schema {schema}")).done();
        let schema = serde_json::from_str(&schema).expect("JSON");
        assert_eq!(mismatch(&schema, &value), None, "{arguments}: {value}");
        value
    };
    let proposed = told(
        "propose kite --model org/kite --out-dir out --format json",
        "",
        "proposal",
    );
    assert_eq!(proposed["verdict"], "proved");
    assert_eq!(proposed["files"][0], "out/tokenizer_config.json");
    assert_eq!(proposed["fixtures"][0], "out/fixtures/plain");
    let command = proposed["command"].as_str().expect("a command");
    assert!(command.starts_with("hf upload org/kite "), "{command}");
    let again = told("propose out --out-dir none --format json", "", "proposal");
    assert_eq!(again["command"], serde_json::Value::Null);

    let before = bench.read("obverse.toml");
    let shown = told("init --print --format json", "", "init");
    assert_eq!(
        (&shown["written"], bench.read("obverse.toml")),
        (&serde_json::Value::Null, before)
    );
    let made = told("init --force --format json", "", "init");
    assert_eq!(
        (&made["written"], &made["text"]),
        (&"obverse.toml".into(), &bench.read("obverse.toml").into())
    );
    assert_eq!(
        made["templates"][0]["files"][0],
        shown["templates"][0]["files"][0]
    );

    let recorded = told(
        "record fixtures/chat/typed --template derived/chat.json --format json",
        "Hi</assistant>",
        "recording",
    );
    let fixture = &recorded["fixtures"][0];
    assert_eq!(
        (&fixture["status"], &fixture["bytes"]),
        (&"recorded".into(), &14.into())
    );
    assert_eq!(fixture["message"]["content"], "Hi");

    let report = bench.run("convert schema.json --format json");
    let schema: serde_json::Value =
        serde_json::from_str(&bench.run("schema conversion").done()).expect("JSON");
    let value: serde_json::Value = serde_json::from_str(&report.stdout).expect("JSON");
    assert_eq!(mismatch(&schema, &value), None, "{value}");
    assert_eq!(
        (report.stderr.as_str(), &value["candidates"].is_u64()),
        ("", &true),
        "{value}"
    );
    assert_eq!(
        bench
            .run("convert schema.json --format json --report -")
            .status,
        2
    );

    let marked = told("annotate chat.jinja --format json", "", "annotation");
    assert!(
        marked["chat_template"]
            .as_str()
            .expect("a text")
            .contains("{% generation %}"),
        "{marked}"
    );
    assert!(marked["proved"].as_u64() > Some(0), "{marked}");
}

/// Who asks each verb for JSON need not know which of them write nothing else.
#[test]
fn json_is_what_it_writes_anyway() {
    let bench = Bench::new();
    let input = "<think>a</think>b</assistant>";
    for arguments in ["parse template.json", "parse template.json --events"] {
        let plain = bench.run_with(arguments, input).done();
        let asked = bench
            .run_with(&format!("{arguments} --format json"), input)
            .done();
        assert_eq!(plain, asked);
    }
    let line = r#"{"response": "a"}"#;
    let plain = bench.run_with("parse --jsonl template.json", line).done();
    assert_eq!(
        plain,
        bench
            .run_with("parse --jsonl template.json --format json", line)
            .done()
    );
    assert_eq!(
        bench
            .run_with("parse template.json --format text", input)
            .status,
        2
    );
    let text = "<user>Hi</user><assistant>Hello</assistant>";
    let plain = bench.run_with("read chat.jinja", text).done();
    assert_eq!(
        plain,
        bench.run_with("read chat.jinja --format json", text).done()
    );
}

#[test]
fn two_results_do_not_go_to_standard_output() {
    let bench = Bench::new().file("c.jinja", "{{ messages }}");
    for both in ["--report - --html -", "--grammar - --format json"] {
        let run = bench.run(&format!("derive c.jinja {both}"));
        assert_eq!(run.status, 2, "{run}");
        assert!(run.stderr.contains("which takes one of them"), "{run}");
    }
    let refused = bench.run("check --write json=-").refused(2);
    assert!(refused.contains("a file is needed"), "{refused}");
    let refused = bench.run("lint --write xml=a").refused(2);
    assert!(
        refused.contains("there is no format xml; there are human"),
        "{refused}"
    );
}

#[test]
fn an_error_with_status_one_is_json_where_json_is_asked_for() {
    let bench = Bench::new().file("c.jinja", "{{ raise_exception('No.') }}");
    let run = bench.run("annotate c.jinja --format json");
    assert_eq!(run.status, 1, "{run}");
    assert!(run.stdout.contains(r#""kind": "raised""#), "{run}");
}
