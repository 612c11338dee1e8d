//! `obverse debug` without a terminal.

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
