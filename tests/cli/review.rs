//! `obverse review`.

use crate::bench::{Bench, binary};
use crate::check::{project, served};

/// A project in which a fixture, a line of a suite and a derivation are not what they would be.
fn pending() -> Bench {
    let bench = project();
    let config = bench.read("obverse.toml").replace(
        "[\"fixtures/{name}/*\"]",
        "[\"fixtures/{name}/*\", \"suite.jsonl\"]",
    );
    let stale = bench.read("derived/chat.json").replace("\\\\s*", "\\\\s?");
    assert_ne!(stale, bench.read("derived/chat.json"));
    let lines = [
        r#"{"name": "it's", "response": "a</assistant>", "expected": {"role": "assistant", "content": "b"}}"#,
        r#"{"response": "a</assistant>", "expected": {"role": "assistant", "content": "a"}}"#,
    ];
    bench
        .file("obverse.toml", config)
        .file("derived/chat.json", stale)
        .file("fixtures/chat/plain/expected.json", "{}\n")
        .file("suite.jsonl", lines.join("\n"))
}

#[test]
fn off_a_terminal_the_commands_are_told_and_do_what_they_say() {
    let bench = pending();
    let run = bench.run("review");
    assert_eq!(run.status, 1, "{run}");
    assert_eq!(run.stderr, "3 pending; each line makes one change\n");
    let commands: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(
        commands,
        [
            "obverse derive --out-dir derived chat.jinja",
            "obverse check --no-derive --update fixtures/chat/plain",
            r"obverse check --no-derive --update --filter '*suite.jsonl:1 it'\''s' suite.jsonl",
        ]
    );
    let given = bench.run("review --config obverse.toml --date 2026-01-31 --special-token bos_token=<b> --filter plain");
    assert_eq!(
        given.stdout,
        "obverse check --no-derive --update --config obverse.toml --special-token 'bos_token=<b>' --date 2026-01-31 fixtures/chat/plain\n",
        "{given}"
    );
    let path = binary().parent().expect("a folder").display().to_string();
    let path = format!("{path}:{}", std::env::var("PATH").expect("a path"));
    for command in commands {
        let ended = std::process::Command::new("sh")
            .args(["-c", command])
            .current_dir(bench.path(""))
            .env("PATH", &path)
            .output()
            .expect("a shell");
        assert!(ended.status.success(), "{command}: {ended:?}");
    }
    let run = bench.run("review");
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (0, "nothing is pending\n"),
        "{run}"
    );
    assert_eq!(bench.run("check").status, 0);
}

#[test]
fn what_is_meant_for_an_engine_is_derived_for_it() {
    let bench = served("engines = [\"vllm\"]");
    let run = bench.run("review");
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (0, "nothing is pending\n"),
        "{run}"
    );
    let stale = bench.read("derived/served.json").replace("[/R]", "[/S]");
    let bench = bench.file("derived/served.json", stale);
    assert_eq!(
        bench.run("review").stdout,
        "obverse derive --for vllm --out-dir derived served.jinja\n"
    );
    assert_eq!(
        served("").run("review").stdout,
        "obverse derive --out-dir derived served.jinja\n"
    );
}

#[test]
fn what_no_change_mends_is_told() {
    let bench = project().file("fixtures/chat/plain/messages.json", "[");
    let run = bench.run("review --no-derive");
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run}");
    assert!(
        run.stderr.contains("1 more do not hold for other reasons"),
        "{run}"
    );
}

/// Types keys into the review on a terminal of its own. Returns the exit status and what the terminal showed.
#[cfg(target_os = "linux")]
fn typed(bench: &Bench, keys: &str) -> (i32, String) {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let command = format!("{} --color never review", binary().display());
    let mut child = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .current_dir(bench.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`script` of util-linux");
    let mut input = child.stdin.take().expect("a pipe");
    // Keys wait in the terminal until they are asked for.
    input.write_all(keys.as_bytes()).expect("keys");
    let output = child.wait_with_output().expect("it ends");
    drop(input);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code().expect("an exit status"), shown)
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_each_change_is_taken_or_left_with_a_key() {
    let bench = pending();
    let before = bench.read("suite.jsonl");
    let stale = bench.read("derived/chat.json");
    let (status, shown) = typed(&bench, "nyq");
    assert_eq!(status, 1, "{shown}");
    for told in [
        "derived/chat.json  1 of 3",
        "+ {",
        "taken  fixtures/chat/plain/response.txt",
        "-     \"content\": \"b\"",
        "1 taken, 2 left",
    ] {
        assert!(shown.contains(told), "{told} in {shown}");
    }
    assert_eq!(
        (bench.read("suite.jsonl"), bench.read("derived/chat.json")),
        (before, stale)
    );
    assert_ne!(bench.read("fixtures/chat/plain/expected.json"), "{}\n");
    // What cannot be written is left, and the rest is taken.
    let fixture = bench.path("suite.jsonl");
    let mut permissions = std::fs::metadata(&fixture).expect("a file").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&fixture, permissions.clone()).expect("a file");
    let (status, shown) = typed(&bench, "nay");
    assert_eq!(status, 1, "{shown}");
    assert!(shown.contains("left: suite.jsonl is read-only"), "{shown}");
    #[allow(clippy::permissions_set_readonly_false)]
    permissions.set_readonly(false);
    std::fs::set_permissions(&fixture, permissions).expect("a file");
    let (status, shown) = typed(&bench, "ay");
    assert_eq!(status, 0, "{shown}");
    assert_eq!(bench.run("check").status, 0);
    assert_eq!(bench.run("review").status, 0);
}

/// A delimiter is broken, so the fixtures do not hold; once it is mended they do, and nothing may be written into them.
#[cfg(target_os = "linux")]
#[test]
fn what_a_mended_template_makes_stale_is_neither_offered_nor_written() {
    for keys in ["a", "y"] {
        let bench = project();
        let broken = bench
            .read("derived/chat.json")
            .replace("</assistant>", "</assistnt>");
        assert_ne!(broken, bench.read("derived/chat.json"));
        let bench = bench.file("derived/chat.json", broken);
        let pending = bench.run("review").stdout;
        assert!(
            pending.contains("fixtures/chat/plain") && pending.lines().count() > 1,
            "{pending}"
        );
        let recorded = bench.read("fixtures/chat/plain/expected.json");
        let (status, shown) = typed(&bench, keys);
        assert_eq!(status, 0, "{shown}");
        assert_eq!(bench.read("fixtures/chat/plain/expected.json"), recorded);
        assert!(shown.contains("1 taken, 0 left"), "{shown}");
        assert_eq!(bench.run("check").status, 0);
    }
}
