//! `obverse check` and `obverse new`.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::bench::{Bench, CHAT};
use crate::support::reference;

const PROJECT: &str = r#"
[[template]]
files = ["derived/*.json"]
exclude = ["derived/*.report.json"]
chat_template = "{name}.jinja"
fixtures = ["fixtures/{name}/*"]
"#;

/// A project with a derived response template and its fixtures.
pub(crate) fn project() -> Bench {
    let bench = Bench::new().file("obverse.toml", PROJECT);
    let derived = bench.run("derive --out-dir derived chat.jinja");
    assert_eq!(derived.status, 0, "{derived}");
    let made = bench.run("new chat");
    assert_eq!(made.status, 0, "{made}");
    bench
}

#[test]
fn a_project_is_scaffolded_and_holds() {
    // A project says what its fixtures are; whatever else is called response.txt is none.
    let bench = project().file("docs/response.txt", "x");
    // The chat template knows neither reasoning nor calls.
    assert_eq!(bench.list("fixtures/chat"), ["plain", "truncated"]);
    assert_eq!(
        bench.list("fixtures/chat/plain"),
        ["expected.json", "prefix.txt", "response.txt"]
    );
    let run = bench.run("check");
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run}");
    assert_eq!(run.stderr, "3 cases checked, all well\n");
    let again = bench.run("new chat");
    assert!(
        again
            .stderr
            .contains("there already    fixtures/chat/plain\n"),
        "{again}"
    );
}

/// Warnings are nothing that is well, though they fail nothing.
#[test]
fn a_check_with_warnings_does_not_say_that_all_is_well() {
    let bench = Bench::new();
    let template = bench.read("template.json");
    let bench = bench
        .file("kite/response_template.json", template)
        .file(
            "kite/suite.jsonl",
            r#"{"id": "a", "response": "Hi</assistant>", "prefix": "Oh. ", "expected": {"role": "assistant", "content": "Oh. Hi"}}"#,
        );
    let run = bench.run("check kite");
    assert_eq!(run.status, 0, "{run}");
    assert!(run.stdout.ends_with("1 warning in 1 case\n"), "{run}");
    assert_eq!(run.stderr, "1 case checked, nothing fails\n");
}

/// A project whose response template is derived for vLLM, and what its `obverse.toml` says of engines.
pub(crate) fn served(engines: &str) -> Bench {
    let chat = CHAT.replace(
        "{{ message.content }}",
        "{% if message.reasoning_content %}[R]{{ message.reasoning_content }}[/R]{% endif %}{{ message.content }}",
    );
    let bench = Bench::new()
        .file("served.jinja", chat)
        .file("obverse.toml", format!("{PROJECT}{engines}\n"));
    let derived = bench.run("derive --for vllm --out-dir derived served.jinja");
    assert_eq!(derived.status, 0, "{derived}");
    bench
}

#[test]
fn what_is_meant_for_an_engine_is_derived_again_for_it() {
    let without = served("");
    let run = without.run("check");
    assert_eq!(run.status, 1, "{run}");
    assert!(
        run.stdout.contains("error[stale]") && run.stdout.contains("`obverse derive --out-dir`"),
        "{run}"
    );
    assert_eq!(without.run("check --for vllm").status, 0);
    let bench = served("engines = [\"vllm\"]");
    let run = bench.run("check");
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run}");
    // The engines that are asked for count, not those of the file.
    let other = bench.run("check --for transformers");
    assert_eq!(other.status, 1, "{other}");
    assert!(
        other
            .stdout
            .contains("`obverse derive --for transformers --out-dir`"),
        "{other}"
    );
    let misspelt = served("engines = [\"transformers\", \"vlm\"]").run("check");
    assert_eq!(misspelt.status, 2, "{misspelt}");
    for told in [
        "there is no engine \"vlm\"; the engines are transformers, vllm, sglang",
        "obverse.toml:7:28",
    ] {
        assert!(misspelt.stderr.contains(told), "{told} in\n{misspelt}");
    }
}

#[test]
fn a_broken_delimiter_is_told_with_its_cause() {
    let bench = project();
    let broken = bench
        .read("derived/chat.json")
        .replace("</assistant>", "</asistant>");
    let bench = bench.file("derived/chat.json", broken);
    let run = bench.run("check");
    assert_eq!(run.status, 1, "{run}");
    for told in [
        "error[stale]",
        "derived/chat.json:8:",
        "error[not-inverted]",
        "error[other-message]",
        "fixtures/chat/plain/response.txt",
        "the response has \"</assistant>\" where the close of `content` has \"</asistant>\"",
    ] {
        assert!(run.stdout.contains(told), "{told} in\n{run}");
    }
    let only = bench.run("check --no-derive --filter plain --format concise");
    assert_eq!(only.stdout.lines().count(), 1, "{only}");
}

/// The project's own files, as far as one response template needs them.
pub(crate) fn own(name: &str) -> Bench {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> = [
        "obverse.toml".to_owned(),
        format!("chat_templates/{name}.jinja"),
        format!("derived/{name}.json"),
        format!("derived/{name}.report.json"),
    ]
    .map(|file| root.join(file))
    .into();
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path())
    };
    for fixture in entries(&root.join("fixtures").join(name)) {
        files.extend(entries(&fixture));
    }
    files.iter().fold(Bench::new(), |bench, path| {
        let relative = path.strip_prefix(root).expect("a file of the project");
        bench.file(
            &relative.to_string_lossy(),
            std::fs::read(path).expect("a file"),
        )
    })
}

/// What a pull request shows in which somebody broke a delimiter of a derived response template.
#[test]
fn a_delimiter_broken_in_the_project_is_told_to_a_newcomer() {
    let bench = own("qwen3");
    let well = bench.run("check");
    assert_eq!(well.status, 0, "{well}");
    let broken = bench
        .read("derived/qwen3.json")
        .replace("</think>", "</thnk>");
    let bench = bench.file("derived/qwen3.json", broken);
    let run = bench.run("check");
    assert_eq!(run.status, 1, "{run}");
    let stale = "\
error[stale]: this is not what is derived from the chat template: 3 values to change, the first at $.fields.reasoning_content.open_pattern
              derived  \"(?:(?<=(?:\\\\A|<think>|";
    assert!(run.stdout.starts_with(stale), "{run}");
    let here = "|</thnk>|</tool_call>|";
    assert!(run.stdout.contains(here), "{run}");
    let place = " --> derived/qwen3.json:8:23\n";
    assert!(run.stdout.contains(place), "{run}");
    for told in [
        "error[not-inverted]: ",
        "messages that the chat template renders do not come back: there is no $.content",
        "help: derive it again with `obverse derive --out-dir`, and read what changes",
    ] {
        assert!(run.stdout.contains(told), "{told} in\n{run}");
    }
    let fixture = bench.run("check --no-derive --filter reasoning");
    insta::assert_snapshot!(fixture.stdout, @r##"
    error[other-message]: the message has another value at $.reasoning_content
                          expected "Brindle oxbow"
                          found    "Brindle oxbow\n</think>\n\nZephyr wold"
                          with     derived/qwen3.json
                          after    …"|im_start|>user\nQuern maple<|im_end|>\n<|im_start|>assistant\n"
     --> fixtures/qwen3/reasoning/response.txt:3:1
      |
    3 | </think>
      | ^^^^^^^^ nearly "</thnk>"
      |
      = note: at $.reasoning_content
      = help: the response has "</think>" where the close of `reasoning_content` has "</thnk>" ($.fields.reasoning_content.close_pattern at derived/qwen3.json:9:24)
              mend the response template, or, if this is what the response is to give from now on, record it with --update

    error[other-message]: the message has no $.content
                          expected "Zephyr wold"
    --> fixtures/qwen3/reasoning/response.txt
     = note: at $.content

    2 errors in 1 case
    "##);
}

#[test]
fn a_suite_is_scaffolded_where_one_is_named() {
    let bench = Bench::new().file(
        "obverse.toml",
        PROJECT.replace("fixtures/{name}/*", "fixtures/{name}.jsonl"),
    );
    bench.run("derive --out-dir derived chat.jinja");
    let made = bench.run("new --all");
    assert_eq!(made.status, 0, "{made}");
    assert!(
        made.stderr
            .contains("made             fixtures/chat.jsonl plain\n"),
        "{made}"
    );
    assert_eq!(bench.read("fixtures/chat.jsonl").lines().count(), 2);
    assert_eq!(bench.run("check").stderr, "3 cases checked, all well\n");
    let again = bench.run("new chat");
    assert!(
        again
            .stderr
            .contains("there already    fixtures/chat.jsonl plain\n"),
        "{again}"
    );
    // The file is replaced, never half written: another name of it keeps what it was.
    let all = bench.read("fixtures/chat.jsonl");
    let first = all.lines().next().expect("a line");
    let bench = bench.file("before", first);
    let suite = bench.path("fixtures/chat.jsonl");
    std::fs::remove_file(&suite).expect("a file");
    std::fs::hard_link(bench.path("before"), &suite).expect("a link");
    assert_eq!(bench.run("new chat").status, 0);
    assert_eq!(bench.read("fixtures/chat.jsonl"), all);
    assert_eq!(bench.read("before"), first);
    assert_eq!(bench.run("new").status, 2);
    let nothing = Bench::new().run("new --all");
    assert_eq!(nothing.status, 2, "{nothing}");
    assert!(
        nothing.stderr.contains("`obverse init` writes"),
        "{nothing}"
    );
}

#[test]
fn a_hand_written_template_is_told_where_it_disagrees() {
    // It reads and writes the reasoning as `plan`.
    let chat = r"{%- for m in messages -%}<{{ m.role }}>{% if m.plan %}<plan>{{ m.plan }}</plan>{% endif %}{{ m.content }}</{{ m.role }}>
{%- endfor -%}{%- if add_generation_prompt -%}<assistant>{%- endif -%}";
    let document = |field: &str, close: &str| {
        format!(
            r#"{{"defaults": {{"role": "assistant"}}, "start_anchor": "<assistant>", "fields": {{
                "{field}": {{"open": "<plan>", "close": "</plan>"}},
                "content": {{"close_pattern": "{close}"}}}}}}"#
        )
    };
    let bench = Bench::new()
        .file("hand.jinja", chat)
        .file("hand.json", document("plan", "</assistant>"));
    let equivalent = bench.run("check hand.json");
    assert_eq!(
        (equivalent.status, equivalent.stdout.as_str()),
        (0, ""),
        "{equivalent}"
    );
    let bench = bench.file("hand.json", document("thinking", "</asistant>"));
    let run = bench.run("check hand.json --format concise");
    assert_eq!(run.status, 1, "{run}");
    let told: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(told.len(), 2, "{run}");
    assert!(
        told.iter()
            .any(|line| line.contains("$.content has another value")),
        "{run}"
    );
    assert!(
        told.iter()
            .any(|line| line.contains("`thinking` has what `plan` should have")),
        "{run}"
    );
    let json = bench.run("check hand.json --format json");
    assert!(json.stdout.contains("does not read `thinking`"), "{json}");
}

#[test]
fn what_changed_is_recorded_when_asked() {
    let bench = project().file(
        "fixtures/chat/plain/expected.json",
        r#"{"role": "assistant"}"#,
    );
    let failed = bench.run("check --no-derive");
    assert_eq!(failed.status, 1, "{failed}");
    assert!(
        failed
            .stdout
            .contains("the message has $.content, which is not expected"),
        "{failed}"
    );
    let updated = bench.run("check --no-derive --update");
    assert_eq!(updated.status, 0, "{updated}");
    assert!(
        updated.stderr.starts_with("recorded 1 fixture\n"),
        "{updated}"
    );
    assert_eq!(bench.run("check").status, 0);
}

#[test]
fn lines_and_folders_without_a_project_take_the_template_around_them() {
    let lines = [
        r#"{"name": "good", "response": "<think>a</think>b", "expected": {"role": "assistant", "thinking": "a", "content": "b"}}"#,
        r#"{"name": "bad", "response": "b", "expected": {"role": "assistant", "content": "c"}}"#,
        r#"{"name": "worse", "respnse": "b"}"#,
    ];
    let bench = Bench::new();
    let template = bench.read("template.json");
    let bench = bench
        .file("model/response_template.json", template)
        .file("model/suite.jsonl", lines.join("\n"))
        .file("stray/response.txt", "x");
    let run = bench.run("check model/suite.jsonl stray --format concise");
    assert_eq!(run.status, 1, "{run}");
    let told: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(told.len(), 3, "{run}");
    assert!(
        told[0].starts_with("model/suite.jsonl:2: error") && told[0].contains("$.content"),
        "{run}"
    );
    let unreadable = "model/suite.jsonl:3: error[wrong-part] line 3: there is no response";
    assert_eq!(told[1], unreadable, "{run}");
    assert!(told[2].contains("no-template"), "{run}");
    let github = bench.run("check model/suite.jsonl --format github");
    let place = "::error file=model/suite.jsonl,line=2,title=other-message::";
    assert!(github.stdout.starts_with(place), "{github}");
    let bench = bench.file("stray/expected.json", "{");
    let broken = bench.run("check stray --format concise");
    assert!(
        broken
            .stdout
            .starts_with("stray/expected.json:1:2: error[json-syntax]"),
        "{broken}"
    );
}

#[test]
fn nothing_to_check_is_no_success() {
    let run = Bench::new().run("check --filter nothing");
    assert_eq!(run.status, 2, "{run}");
    assert!(run.stderr.contains("there is nothing to check"), "{run}");
    assert!(run.stderr.contains("`obverse init` writes"), "{run}");
    // With an obverse.toml it is that which wants something.
    let entry = |file: &str| format!("[[template]]\nfiles = [\"{file}\"]\n");
    for (file, remedy) in [
        ("gone.json", "no file matches the `files` of obverse.toml"),
        ("template.json", "neither fixtures nor a chat template"),
    ] {
        let bench = Bench::new().file("obverse.toml", entry(file));
        let told = bench.run("check").refused(2);
        assert!(told.contains("there is nothing to check"), "{told}");
        assert!(told.contains(remedy), "{told}");
        assert!(!told.contains("obverse init` writes"), "{told}");
    }
}

/// A file that is no suite is told of once, and not for each of its lines.
/// A model's folder without an obverse.toml and without fixtures: its response template is derived again and compared.
#[test]
fn a_folder_of_a_model_is_checked_as_it_is() {
    let root = env!("CARGO_MANIFEST_DIR");
    let read = |path: &str| std::fs::read_to_string(format!("{root}/{path}")).expect("a file");
    let bench = Bench::new()
        .file(
            "model/chat_template.jinja",
            read("chat_templates/qwen2_5.jinja"),
        )
        .file("model/response_template.json", read("derived/qwen2_5.json"));
    let run = bench.run("check model");
    assert_eq!(run.status, 0, "{run}");
    assert_eq!(run.stderr, "1 case checked, all well\n", "{run}");
    // Without the chat template nothing is left to hold it to.
    let bench = Bench::new().file("model/response_template.json", read("derived/qwen2_5.json"));
    let told = bench.run("check model").refused(2);
    assert!(told.contains("there is nothing to check"), "{told}");
}

#[test]
fn a_file_without_fixtures_is_told_of_once() {
    let bench = Bench::new()
        .file("notes.txt", "one\ntwo\nthree\n")
        .file("plain/response.txt", "Hi\nthere");
    for verb in ["check", "review"] {
        insta::allow_duplicates! {
        assert_snapshot!(bench.run(&format!("{verb} chat.jinja")).refused(2), @r"
        error[no-response-template]: this is a chat template, not a response template or fixtures
        --> chat.jinja
         = help: `obverse derive chat.jinja` derives a response template from it, and `obverse check TEMPLATE --chat-template chat.jinja` holds one to it
        ");
        assert_snapshot!(bench.run(&format!("{verb} notes.txt")).refused(2), @r"
        error[wrong-part]: there is no fixture in it: none of its lines is a JSON object
        --> notes.txt
         = help: give response templates, folders of fixtures, or .jsonl files with a fixture on each line
        ");
        }
    }
    let told = bench.run("check plain/response.txt").refused(2);
    assert!(told.contains("give the folder that it lies in"), "{told}");
}

/// That a conversation names a variable wrongly fails nothing, and is told.
#[test]
fn a_kwarg_of_a_fixture_that_is_not_read_is_told() {
    let bench = project();
    std::fs::remove_file(bench.path("fixtures/chat/plain/prefix.txt")).expect("a file");
    let messages =
        r#"{"messages": [{"role": "user", "content": "Hi"}], "kwargs": {"enable_thinkng": false}}"#;
    let bench = bench.file("fixtures/chat/plain/messages.json", messages);
    let run = bench.run("check --format concise");
    assert_eq!(run.status, 0, "{run}");
    let told = "warning[ignored-kwarg] the chat template reads no variable `enable_thinkng`, so the conversation's kwarg `enable_thinkng` changes nothing";
    assert!(run.stdout.contains(told), "{run}");
}

/// A stand-in for a Python with transformers: it says of itself what it is told to, and answers each question alike.
#[cfg(unix)]
fn stand_in(bench: Bench, about: &str, answer: &str) -> Bench {
    use std::os::unix::fs::PermissionsExt as _;
    let script = format!("#!/bin/sh\necho '{about}'\nwhile read -r line; do\n{answer}\ndone\n");
    let bench = bench.file("python", script);
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bench.path("python"), permissions).expect("it may be run");
    bench
}

#[cfg(unix)]
const ABOUT: &str = r#"{"python": "3.9.1", "transformers": "5.24.0"}"#;

#[cfg(unix)]
#[test]
fn a_reference_that_disagrees_is_told() {
    let other = r#"echo '{"runs": [{"events": [], "message": {"content": "other"}}]}'"#;
    let bench = stand_in(project(), ABOUT, other);
    let run = bench.run("check --reference --python ./python --filter plain --format concise");
    assert_eq!(run.status, 1, "{run}");
    let version = "reference: transformers 5.24.0, ./python; Obverse is measured against 5.23.0\n";
    assert!(run.stderr.starts_with(version), "{run}");
    let told = "fixtures/chat/plain/response.txt: error[reference-disagrees] transformers gives something else";
    assert!(run.stdout.starts_with(told), "{run}");
    let refused = r#"echo '{"refused": "ValueError: no"}'"#;
    let bench = stand_in(bench, ABOUT, refused);
    let run = bench.run("check --reference --python ./python --no-derive --format concise");
    assert_eq!(run.status, 1, "{run}");
    let told = "derived/chat.json: error[reference-refuses] transformers refuses the response template: ValueError: no\n";
    assert_eq!(run.stdout, told, "{run}");
}

#[cfg(unix)]
#[test]
fn a_reference_that_goes_away_is_started_again() {
    let bench = stand_in(project(), ABOUT, "exit");
    let run = bench.run("check --reference --python ./python --no-derive --format concise");
    assert_eq!((run.status, run.stdout.lines().count()), (0, 3), "{run}");
    for line in run.stdout.lines() {
        assert!(
            line.ends_with("warning[reference-silent] Python ended without an answer"),
            "{run}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_reference_that_is_not_there_is_told_with_the_remedy() {
    let missing = r#"{"python": "3.9.1", "transformers": "5.1.0", "missing": "ImportError: no"}"#;
    let bench = stand_in(project(), missing, "exit");
    for (python, told) in [
        (
            "./python",
            "./python: its transformers 5.1.0 has no response templates (ImportError: no)",
        ),
        ("./nowhere", "./nowhere: it does not start"),
    ] {
        let run = bench.run(&format!("check --reference --python {python}"));
        assert_eq!(run.status, 2, "{run}");
        assert!(run.stderr.contains(told), "{run}");
        assert!(
            run.stderr.contains("pip install transformers==5.23.0"),
            "{run}"
        );
    }
}

#[test]
fn the_reference_is_run_beside() {
    let Some(python) = reference::python() else {
        return;
    };
    let bench = project();
    let python = python.display().to_string();
    let beside = |arguments: &[&str]| {
        bench.run_all(
            &[&["check", "--reference", "--python", &python], arguments].concat(),
            "",
        )
    };
    let run = beside(&[]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run}");
    assert!(
        run.stderr.starts_with("reference: transformers 5.23.0"),
        "{run}"
    );
    // `b` is taken as it arrives, although `abcd` may be under way.
    let document = r#"{"start_anchor": "<a>", "fields": {"content": {}, "thinking": {"open": ["abcd", "b"], "close": "."}}}"#;
    let suite = r#"{"response": "1abcd2.", "expected": {"content": "1", "thinking": "2"}}"#;
    let bench = bench
        .file("model/response_template.json", document)
        .file("model/suite.jsonl", suite);
    let run = bench.run_all(
        &[
            "check",
            "--reference",
            "--python",
            &python,
            "model",
            "--format",
            "concise",
        ],
        "",
    );
    assert_eq!(run.status, 0, "{run}");
    assert!(
        run.stdout
            .contains("suite.jsonl:1: warning[reference-streams-otherwise]")
            && run.stdout.contains("arrives byte by byte"),
        "{run}"
    );
}

#[cfg(unix)]
#[test]
fn what_changes_is_checked_again_until_it_is_interrupted() {
    let bench = project();
    let mut run = bench.live(&["check", "--watch", "--format", "jsonl"]);
    let results = |count: usize, run: &mut crate::bench::Live| -> Vec<String> {
        (0..count).map(|_| run.line()).collect()
    };
    let first = results(4, &mut run);
    assert!(
        first[3].contains(r#""summary":{"results":3,"failed":0"#),
        "{first:?}"
    );
    let expected = "fixtures/chat/plain/expected.json";
    let right = bench.read(expected);
    let bench = bench.file(expected, r#"{"role": "assistant"}"#);
    let second = results(2, &mut run);
    assert!(
        second[0].contains("fixtures/chat/plain/response.txt") && second[0].contains("failed"),
        "{second:?}"
    );
    assert!(
        second[1].contains(r#""summary":{"results":1,"failed":1"#),
        "{second:?}"
    );
    // A template belongs to all of its fixtures, and a fixture that is new to nothing before.
    let bench = bench.file(expected, right);
    assert!(results(2, &mut run)[0].contains("passed"));
    let document = bench.read("derived/chat.json");
    let bench = bench.file("derived/chat.json", document + "\n");
    assert!(results(4, &mut run)[3].contains(r#""results":3"#));
    let bench = bench.file("fixtures/chat/new/response.txt", "Hi</assistant>");
    let new = results(2, &mut run);
    assert!(new[0].contains("not-recorded"), "{new:?}");
    // What is gone is in no report any more.
    std::fs::remove_dir_all(bench.path("fixtures/chat/new")).expect("a folder");
    assert!(results(4, &mut run)[3].contains(r#""results":3,"failed":0"#));
    assert_eq!(run.interrupt(), 0);
}

#[test]
fn the_page_shows_what_the_tool_prints() {
    crate::page::holds("check.md", Bench::new());
}

/// A template in which no field takes what stands outside the regions, and a fixture with such text.
fn with_lost_text() -> Bench {
    let template =
        r#"{"start_anchor": "A:", "fields": {"content": {"open": "<say>", "close": "</say>"}}}"#;
    Bench::new()
        .file("response_template.json", template)
        .file("one/response.txt", "So:\n<say>Hi</say>\n")
        .file("one/expected.json", r#"{"content": "Hi"}"#)
}

#[test]
fn text_that_no_field_takes_fails_a_fixture_that_does_not_list_it() {
    let bench = with_lost_text();
    let run = bench.run("check one --color never");
    assert_eq!(run.status, 1);
    assert_snapshot!(run.stdout, @r#"
    error[unclaimed]: no field takes this text of the response: "So:\n"
                      with     response_template.json
     --> one/response.txt:1:1
      |
    1 | So:
      | ^^^
      |
      = help: let a field take it: one without an open takes all that no other does
              mend the response template, or, if this is what the response is to give from now on, record it with --update

    1 error in 1 case
    "#);
    let run = bench.run("check one --update");
    assert_eq!(run.status, 0, "{run}");
    assert_eq!(bench.read("one/unclaimed.json"), "[\n  \"So:\\n\"\n]\n");
    bench.run("check one").done_quietly();
    // Once a field takes it, the list is wrong.
    let template = r#"{"start_anchor": "A:", "fields": {"content": {"open": "<say>", "close": "</say>"}, "rest": {}}}"#;
    let bench = bench
        .file("response_template.json", template)
        .file("one/expected.json", r#"{"content": "Hi", "rest": ""}"#);
    let run = bench.run("check one --color never");
    assert_eq!(run.status, 1);
    assert!(run.stdout.contains("`unclaimed` lists \"So:\\n\""), "{run}");
}

/// An empty response parses to something, too, and with that recorded a check would be green of which nobody has seen a response.
#[test]
fn a_fixture_that_nobody_filled_in_is_not_recorded() {
    let bench = Bench::new();
    std::fs::remove_file(bench.path("chat.jinja")).expect("a file");
    let template = bench.read("template.json");
    let bench = bench.file("kite/response_template.json", template);
    let of_one = "new --template kite/response_template.json --to";
    assert_eq!(bench.run(&format!("{of_one} kite/cases")).status, 0);
    let told = bench.run("check --update --filter one_call kite");
    assert_eq!(told.status, 1, "{told}");
    assert_snapshot!(told.stdout, @r"
    error[not-recorded]: the response has not been filled in yet, so there is nothing to record
    --> kite/cases/one_call/response.txt
     = help: put a response with one tool call into response.txt, or remove the folder; `obverse record` asks a running model for one

    1 error in 1 case
    ");
    assert_eq!(told.stderr, "");
    assert_eq!(bench.list("kite/cases/one_call"), ["response.txt"]);
    // Nor does a review offer it.
    let review = bench.run("review kite");
    assert!(
        review
            .stderr
            .starts_with("nothing is pending\n5 more do not hold"),
        "{review}"
    );

    assert_eq!(bench.run(&format!("{of_one} kite/suite.jsonl")).status, 0);
    let before = bench.read("kite/suite.jsonl");
    let told = bench.run("check --update --filter *plain kite/suite.jsonl");
    assert_eq!(told.status, 1, "{told}");
    assert!(
        told.stdout
            .contains("put a response with content alone into `response` of this line"),
        "{told}"
    );
    assert_eq!(bench.read("kite/suite.jsonl"), before);

    // What is filled in is recorded, and what is meant to be empty is written by hand.
    let bench = bench
        .file(
            "kite/cases/one_call/response.txt",
            r#"<call>{"name": "f", "arguments": {}}</call>"#,
        )
        .file("kite/cases/plain/expected.json", r#"{"role": "assistant"}"#);
    let told = bench.run("check --update --filter one_call --filter cases/plain kite/cases");
    assert_eq!(
        (told.status, told.stderr.as_str()),
        (0, "recorded 1 fixture\n2 cases checked, all well\n"),
        "{told}"
    );
}
