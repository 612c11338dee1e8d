//! `obverse init`, and what is said where nothing matches what was asked for.

use insta::assert_snapshot;

use crate::bench::{Bench, Run, binary};

const FIXTURE: &str = r#"{"id": "greeting", "response": "Hi</assistant>", "expected": {"role": "assistant", "content": "Hi"}}"#;

/// A folder with two derived response templates, their chat templates, and fixtures of one.
fn project() -> Bench {
    let bench = Bench::new();
    std::fs::remove_file(bench.path("template.json")).expect("a file");
    let chat = bench.read("chat.jinja");
    std::fs::remove_file(bench.path("chat.jinja")).expect("a file");
    let bench = bench
        .file("chat/kite.jinja", &chat)
        .file("chat/tern.jinja", &chat)
        .file("recorded/kite.jsonl", FIXTURE);
    let run = bench.run("derive -q --out-dir derived chat/kite.jinja chat/tern.jinja");
    assert_eq!(run.status, 0, "{run}");
    bench
}

#[test]
fn what_belongs_together_is_found() {
    let bench = project();
    let run = bench.run("init");
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run}");
    assert_snapshot!(run.stderr, @r#"
    wrote obverse.toml

      derived/*.json
        chat template  chat/{name}.jinja
        fixtures       recorded/{name}.jsonl

    next: `obverse new --all` makes the fixtures that are missing, `obverse check` checks everything
    "#);
    assert_snapshot!(bench.read("obverse.toml"), @r#"
    # Which chat template and which fixtures belong to which response template. Paths begin at this file, and {name} is
    # the name of the response template's file without its extension. Of several entries that match, the first counts.

    [[template]]
    files = ["derived/*.json"]
    exclude = ["derived/*.report.json"]
    chat_template = "chat/{name}.jinja"
    fixtures = ["recorded/{name}.jsonl"]

    [lint]
    # Warnings of `obverse lint` fail a check as well. A finding that is meant is allowed by an entry [[lint.allow]], with a reason.
    deny = ["warnings"]
    "#);
    assert_eq!(bench.run("check").status, 0);
    // A file that is there is not replaced unasked.
    assert_snapshot!(bench.run("init").refused(2), @r#"
    error[exists]: there is an obverse.toml already
     |
     = help: --force replaces it, --print shows what would be written
    "#);
    assert_eq!(bench.run("init --print").done(), bench.read("obverse.toml"));
    assert_eq!(bench.run("init --force").status, 0);
}

#[test]
fn without_a_response_template_the_next_step_is_told() {
    let bench = Bench::new();
    std::fs::remove_file(bench.path("template.json")).expect("a file");
    assert_snapshot!(bench.run("init").refused(2), @r#"
    error[usage]: there is no response template in this folder
     |
     = help: derive one first: `obverse derive --out-dir derived chat.jinja`
    "#);
}

#[test]
fn a_model_folder_needs_no_names() {
    let bench = project().file(
        "model/tokenizer_config.json",
        r#"{"response_template": {"start_anchor": "<a>", "fields": {"content": {}}}}"#,
    );
    let text = bench.run("init --print").done();
    assert!(
        text.contains("files = [\"model/tokenizer_config.json\"]\nfixtures = "),
        "{text}"
    );
}

#[test]
fn what_matches_no_name_is_told_with_a_near_one() {
    let bench = project();
    assert_eq!(bench.run("init -q").status, 0);
    let told = bench.run("check --filter kiet").refused(2);
    assert!(told.contains("did you mean `kite`?"), "{told}");
    let told = bench.run("check --filter gull").refused(2);
    assert!(
        told.contains("none of 3 names matches --filter `gull`"),
        "{told}"
    );
    assert!(told.contains("such as derived/kite.json"), "{told}");
    let told = bench.run("new kiet").refused(2);
    assert!(told.contains("did you mean `kite`?"), "{told}");
    let told = bench.run("explain asumed-token").refused(2);
    assert!(told.contains("did you mean `assumed-token`?"), "{told}");
}

#[test]
fn what_is_to_be_filled_in_is_said() {
    let bench = Bench::new();
    std::fs::remove_file(bench.path("chat.jinja")).expect("a file");
    let run = bench.run("new kite --template template.json");
    assert_eq!(run.status, 0, "{run}");
    assert_snapshot!(run.stderr, @r#"
    to be filled in  fixtures/kite/plain: a response with content alone
    to be filled in  fixtures/kite/reasoning: a response with reasoning and content
    to be filled in  fixtures/kite/one_call: a response with one tool call
    to be filled in  fixtures/kite/parallel_calls: a response with two tool calls or more
    to be filled in  fixtures/kite/truncated: a response that breaks off in the middle

    There is no chat template to fill these in from. Put what the model wrote into response.txt of each, and remove each folder that has no such response;
    `obverse record` does the first from a running model. Then `obverse review` shows what each parses to, and records it.
    "#);
}

#[test]
fn what_is_given_in_vain_is_told() {
    let bench = Bench::new().file("messages.json", r#"[{"role": "user", "content": "Hi"}]"#);
    let plain = bench
        .run("render chat.jinja --messages messages.json")
        .done();
    let run =
        bench.run("render chat.jinja --messages messages.json --kwarg add_generation_promt=true");
    assert_eq!((run.status, run.stdout.as_str()), (0, &*plain), "{run}");
    assert!(run.stderr.starts_with("warning[ignored-kwarg]"), "{run}");
    let run = bench.run("grammar chat.jinja --format gbnf --kwarg enable_thinkng=false");
    assert_eq!(run.status, 0, "{run}");
    assert!(
        run.stderr.contains("warning[ignored-kwarg]: the chat template reads no variable `enable_thinkng`, so --kwarg enable_thinkng=... changes nothing"),
        "{run}"
    );
    let run = bench.run_all(&["parse", "template.json", "--prefix", "Hi. "], "Hello");
    assert_eq!(run.status, 0, "{run}");
    assert!(
        run.stderr
            .starts_with("warning[no-anchor]: the start anchor, \"<assistant>\","),
        "{run}"
    );
    let lines = [
        r#"{"response": "Hello", "prefix": "Hi. "}"#,
        r#"{"response": "Hello", "prefix": "Hi. <assistant>"}"#,
        r#"{"response": "Hello"}"#,
    ];
    let run = bench.run_with("parse --jsonl template.json", lines.join("\n"));
    assert_eq!(run.status, 0, "{run}");
    assert!(
        run.stderr.starts_with(
            "warning[no-anchor]: the start anchor does not stand in the prefix of one line:"
        ),
        "{run}"
    );
    let recorded = ["record", "kept", "--template", "template.json", "--prefix"];
    let run = bench.run_all(&[&recorded[..], &["Hi. "]].concat(), "Hello");
    assert_eq!(run.status, 0, "{run}");
    assert!(run.stderr.starts_with("warning[no-anchor]"), "{run}");
    bench
        .run_all(
            &["parse", "template.json", "--prefix", "Hi. <assistant>"],
            "Hello",
        )
        .done();
}

/// The variables that every chat template is given are no kwargs.
#[test]
fn a_kwarg_that_is_given_otherwise_is_told() {
    let bench = Bench::new().file("messages.json", r#"[{"role": "user", "content": "Hi"}]"#);
    for name in ["add_generation_prompt", "messages"] {
        let run = bench.run(&format!(
            "render chat.jinja --messages messages.json --kwarg {name}=[]"
        ));
        assert_eq!(run.status, 0, "{run}");
        let option = name.replace('_', "-");
        assert!(run.stderr.contains("warning[ignored-kwarg]"), "{run}");
        assert!(
            run.stderr
                .contains(&format!("`obverse render` has --{option} for it")),
            "{run}"
        );
    }
    let told = bench
        .run("render chat.jinja --messages messages.json --kwarg enable_thinking=False")
        .refused(2);
    assert!(
        told.contains("False is written false in JSON: enable_thinking=false"),
        "{told}"
    );
}

/// A conversation may be given as a fixture has it.
#[test]
fn a_conversation_may_have_kwargs_with_it() {
    let chat = "{{ mood }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";
    let messages = r#"[{"role": "user", "content": "Hi"}]"#;
    let own = format!(r#"{{"messages": {messages}, "kwargs": {{"mood": "!", "modd": 1}}}}"#);
    let bench = Bench::new().file("c.jinja", chat).file("own.json", own);
    let run = bench.run("render c.jinja --messages own.json");
    assert_eq!((run.status, run.stdout.as_str()), (0, "!<user>Hi"), "{run}");
    assert!(run.stderr.contains("did you mean `mood`?"), "{run}");
    let run = bench.run("render c.jinja --messages own.json --kwarg mood=2");
    assert_eq!(run.stdout, "2<user>Hi", "{run}");
    let run = bench.run("spans c.jinja --messages own.json --format json");
    assert!(run.stdout.contains("\"!<user>Hi\""), "{run}");
    let bench = bench.file("wrong.json", r#"{"messages": [], "kwargs": 1}"#);
    let told = bench.run("render c.jinja --messages wrong.json").refused(2);
    assert!(
        told.contains("error[wrong-type]: kwargs must be an object"),
        "{told}"
    );
}

/// What is read is not overwritten by a report of it.
#[test]
fn a_report_does_not_take_the_place_of_what_is_read() {
    let bench = Bench::new()
        .file("r.txt", "Hi</assistant>")
        .file(
            "obverse.toml",
            "[[template]]\nfiles = [\"template.json\"]\nfixtures = [\"f/*\"]\n",
        )
        .file("f/a/response.txt", "Hi</assistant>")
        .file(
            "f/a/expected.json",
            r#"{"role": "assistant", "content": "Hi"}"#,
        )
        .file("session.json", r#"{"obverse_session": 1}"#);
    let files = [
        "template.json",
        "chat.jinja",
        "obverse.toml",
        "r.txt",
        "f/a/response.txt",
    ];
    let before = files.map(|file| bench.read(file));
    for arguments in [
        "lint --write json=template.json template.json",
        "lint --write json=obverse.toml template.json",
        "check --write json=obverse.toml",
        "check --write json=template.json",
        "check --write json=f/a/response.txt",
        "debug template.json r.txt --record template.json --keys q --screenshot 80x24",
        "debug template.json r.txt --record r.txt --keys q --screenshot 80x24",
    ] {
        let told = bench.run(arguments).refused(2);
        assert!(told.contains("error[protected]"), "{arguments}: {told}");
    }
    assert_eq!(files.map(|file| bench.read(file)), before);
    let run = bench.run("lint --write json=new.json template.json");
    assert_eq!(run.status, 0, "{run}");
    let run = bench.run("lint --write json=new.json template.json");
    assert_eq!(run.status, 0, "{run}");
    let run =
        bench.run("debug template.json r.txt --record session.json --keys q --screenshot 80x24");
    assert_eq!(run.status, 0, "{run}");
}

#[test]
fn slips_are_told_with_what_is_meant() {
    let bench = Bench::new();
    let told = bench.run("check nope").refused(2);
    assert!(
        told.contains("cannot read nope: there is no such file or folder"),
        "{told}"
    );
    let told = bench.run("lint template.json --deny warnngs").refused(2);
    assert!(told.contains("did you mean `warnings`?"), "{told}");
    let page = bench.run("explain limit").done();
    assert_eq!(bench.run_all(&["explain", "error[limit]"], "").done(), page);
    assert_eq!(
        bench.run_all(&["explain", "error[limit]:"], "").done(),
        page
    );
    let bench = bench.file("obverse.toml", "[[template]]\nfiles = [\"no/*.json\"]\n");
    let told = bench.run("lint").refused(2);
    assert!(
        told.contains("no file matches the `files` of obverse.toml"),
        "{told}"
    );
}

/// Who reads JSON gets some, also where there is no result.
#[test]
fn what_stops_a_command_is_told_as_json_where_that_is_asked_for() {
    let bench = Bench::new().file("no.jinja", "{{ 1 }}");
    for (arguments, kind) in [
        ("lint nope.json --format json", "unreadable"),
        ("check nope --format=json", "unreadable"),
        ("derive nope.jinja --format json", "unreadable"),
        ("derive no.jinja --format json", "not-derived"),
        ("parse nope.json r.txt --format json", "unreadable"),
    ] {
        let run = bench.run(arguments);
        assert_eq!(run.status, 2, "{run}");
        let error: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(error["error"]["kind"], kind, "{run}");
        assert!(error["error"]["message"].is_string(), "{run}");
    }
    assert_eq!(bench.run("lint nope.json").stdout, "");
    let run = bench.run("lint template.json --format json --write json=no/r.json");
    assert_eq!(run.status, 2, "{run}");
    serde_json::from_str::<serde_json::Value>(&run.stdout).expect("JSON");
}

/// Help that cannot be written was not given.
#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_told() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .expect("a device");
    let output = std::process::Command::new(binary())
        .arg("--help")
        .stdout(full)
        .output()
        .expect("a run");
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("error[output]"), "{told}");
}

/// Where there is one of each they are taken to belong together; of several chat templates somebody has to say which.
#[test]
fn a_chat_template_of_another_name_is_told() {
    let bench = Bench::new();
    let chat = bench.read("chat.jinja");
    std::fs::remove_file(bench.path("chat.jinja")).expect("a file");
    let bench = bench
        .file("models/kite/chat_template.jinja", &chat)
        .file("models/kite/tokenizer_config.json", "{}");
    let text = bench.run("init --print").done();
    assert!(
        text.contains("files = [\"template.json\"]\nchat_template = \"models/kite\"\n"),
        "{text}"
    );
    let bench = bench.file("models/tern.jinja", &chat);
    let run = bench.run("init");
    assert_eq!(run.status, 0, "{run}");
    assert!(
        run.stderr.contains(
            "chat template  none of that name; if it is models/kite, write chat_template = \"models/kite\"\n"
        ),
        "{run}"
    );
    let told = bench.run("check").refused(2);
    assert!(told.contains("name theirs as `chat_template`"), "{told}");
}

/// The response template of every model is called tokenizer_config.json; their fixtures must not be mixed up for that.
#[test]
fn each_model_has_its_own_fixtures() {
    let bench = Bench::new();
    std::fs::remove_file(bench.path("template.json")).expect("a file");
    let chat = bench.read("chat.jinja");
    std::fs::remove_file(bench.path("chat.jinja")).expect("a file");
    let models = ["kite", "tern"];
    let bench = models.iter().fold(bench, |bench, model| {
        bench
            .file(&format!("{model}/chat_template.jinja"), &chat)
            .file(
                &format!("{model}/tokenizer_config.json"),
                "{\"eos_token\": \"</s>\"}",
            )
    });
    for model in models {
        let run = bench.run(&format!("derive -q --write {model}"));
        assert_eq!(run.status, 0, "{run}");
    }
    assert_eq!(bench.run("init").status, 0);
    assert!(
        bench
            .read("obverse.toml")
            .contains("fixtures = [\"kite/fixtures/*\"]\n"),
        "{}",
        bench.read("obverse.toml")
    );
    assert_eq!(bench.run("new --all").status, 0);
    let run = bench.run("check --verbose");
    assert_eq!(run.status, 0, "{run}");
    for model in models {
        let checked = format!("{model}/fixtures/plain");
        assert!(run.stderr.contains(&checked), "{checked} in {run}");
    }
    let entries = bench.run("init --print").done();
    assert!(
        entries.contains("fixtures = [\"tern/fixtures/*\"]\n"),
        "{entries}"
    );
    // One can be named without an obverse.toml, although it has a chat template as well.
    std::fs::remove_file(bench.path("obverse.toml")).expect("a file");
    std::fs::remove_dir_all(bench.path("tern/fixtures")).expect("a folder");
    let run = bench.run("new tern");
    assert_eq!(run.status, 0, "{run}");
    assert!(
        run.stderr.contains("made             tern/fixtures/plain"),
        "{run}"
    );
    let run = bench.run("check tern --verbose");
    assert!(run.stderr.contains("tern/fixtures/plain"), "{run}");
    let here = Run::of(
        bench
            .command()
            .current_dir(bench.path("tern"))
            .args(["new", "."]),
    );
    assert_eq!(here.status, 0, "{here}");
    assert!(
        here.stderr.contains("there already    fixtures/plain"),
        "{here}"
    );
}

#[test]
fn what_globs_have_a_meaning_for_may_be_in_a_name() {
    let bench = Bench::new();
    let template = bench.read("template.json");
    std::fs::remove_file(bench.path("template.json")).expect("a file");
    let bench = bench.file("[x].json", template);
    let run = bench.run("init");
    assert_eq!(run.status, 0, "{run}");
    assert!(run.stderr.contains("chat template  chat.jinja\n"), "{run}");
    let run = bench.run("new --all");
    assert_eq!(run.status, 0, "{run}");
    assert!(run.stderr.contains(" fixtures/[x]/plain\n"), "{run}");
    let run = bench.run("check --verbose");
    assert!(run.stderr.contains("fixtures/[x]/plain"), "{run}");
}

/// The file that a link leads to may be another project's.
#[cfg(unix)]
#[test]
fn a_link_is_not_followed_unasked() {
    use std::os::unix::fs::symlink;

    let bench = Bench::new().file("shared/obverse.toml", "# theirs\n");
    let link = bench.path("obverse.toml");
    symlink("shared/obverse.toml", &link).expect("a link");
    assert_snapshot!(bench.run("init").refused(2), @r"
    error[protected]: obverse.toml is a symbolic link to shared/obverse.toml, which others may share
     |
     = help: --force writes it all the same
    ");
    assert_eq!(bench.read("shared/obverse.toml"), "# theirs\n");
    assert_eq!(bench.run("init --print").status, 0);
    assert_eq!(bench.run("init --force").status, 0);
    assert!(bench.read("shared/obverse.toml").contains("[[template]]"));
    std::fs::remove_file(&link).expect("a link");
    symlink("shared/none.toml", &link).expect("a link");
    let told = bench.run("init").refused(2);
    assert!(
        told.contains("obverse.toml is a symbolic link to shared/none.toml, which is not there"),
        "{told}"
    );
    assert_eq!(bench.run("init --force").status, 0);
    assert!(link.is_symlink());
    assert!(bench.read("shared/none.toml").contains("[[template]]"));
}

#[test]
fn a_response_template_that_is_given_needs_no_name() {
    let bench = Bench::new();
    std::fs::remove_file(bench.path("chat.jinja")).expect("a file");
    let run = bench.run("new --template template.json --to cases");
    assert_eq!(run.status, 0, "{run}");
    assert!(bench.path("cases/plain/response.txt").exists());
    // Without a folder, that is called as the file is.
    assert_eq!(bench.run("new --template template.json").status, 0);
    assert!(bench.path("fixtures/template/plain/response.txt").exists());
    assert_eq!(bench.run("new --to cases").status, 2);
}

/// Such a prompt is parsed as if the model had written it, which is seldom what was meant and easily missed.
#[test]
fn a_prompt_without_the_anchor_is_told_by_check() {
    let bench = Bench::new();
    let template = bench.read("template.json");
    let bench = bench
        .file("kite/response_template.json", template)
        .file("kite/cases/a/response.txt", "b</assistant>")
        .file("kite/cases/a/prefix.txt", "Hi. <user>a</user>")
        .file(
            "kite/cases/a/expected.json",
            r#"{"role": "assistant", "content": "Hi. <user>a</user>b"}"#,
        );
    let told = bench.run("check kite");
    assert_eq!(told.status, 0, "{told}");
    assert_snapshot!(told.stdout, @r#"
    warning[no-anchor]: the start anchor, "<assistant>", does not stand in the prefix: all of it is parsed as if the model had written it
    --> kite/cases/a/response.txt
     = help: give the prompt as `obverse render --add-generation-prompt` prints it, or no prefix

    1 warning in 1 case
    "#);
    let told = bench.run("check kite --format json");
    let report: serde_json::Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!(report["summary"]["warnings"], 1, "{told}");
    let bench = bench.file(
        "kite/cases/a/prefix.txt",
        "<user>a</user><assistant>Hi. <user>a</user>",
    );
    let told = bench.run("check kite");
    assert_eq!((told.status, told.stdout.as_str()), (0, ""), "{told}");
}

/// Many fixtures to which the same applies are named, and the first ones shown.
#[test]
fn fixtures_without_a_response_template_are_told_together() {
    let mut bench = Bench::new();
    std::fs::remove_file(bench.path("template.json")).expect("a file");
    for name in ["ash", "birch", "cedar", "dogwood", "elm"] {
        bench = bench.file(
            &format!("fixtures/tern/{name}/response.txt"),
            "Hi</assistant>",
        );
    }
    let run = bench.run("check");
    assert_eq!(run.status, 1, "{run}");
    let told = run.stdout;
    assert_eq!(told.matches("error[no-template]").count(), 2, "{told}");
    assert!(
        told.contains("`obverse init` writes an obverse.toml"),
        "{told}"
    );
    let named = "`no-template` is found for fixtures/tern/cedar/response.txt, fixtures/tern/dogwood/response.txt, fixtures/tern/elm/response.txt, too; -v shows it for each";
    assert!(told.contains(named), "{told}");
    let all = bench.run("check -v").stdout;
    assert_eq!(all.matches("error[no-template]").count(), 5, "{all}");
}

/// A model folder with nothing but its chat template, in the place of what has a response template.
#[test]
fn a_chat_template_is_told_from_what_belongs_to_a_response_template() {
    let bench = Bench::new();
    let chat = bench.read("chat.jinja");
    let bench = bench
        .file("model/chat_template.jinja", &chat)
        .file("model/config.json", r#"{"architectures": ["Tern"]}"#);
    for verb in ["check", "review", "new"] {
        let told = bench.run(&format!("{verb} model")).refused(2);
        assert!(
            told.contains("error[no-response-template]"),
            "{verb}: {told}"
        );
        assert!(
            told.contains("`obverse derive model` prints it"),
            "{verb}: {told}"
        );
    }
    let told = bench.run("init model").refused(2);
    assert!(
        told.contains("`obverse derive --out-dir model/derived model`"),
        "{told}"
    );
    // Nothing can be derived from what is no chat template.
    let told = bench.run("parse model/config.json").refused(2);
    assert!(told.contains("`obverse derive SOURCE` takes"), "{told}");
    let told = bench.run("check -").refused(2);
    assert!(
        told.contains("fixtures are not read from standard input"),
        "{told}"
    );
}

#[test]
fn fixtures_are_made_for_a_file_by_its_name() {
    for name in ["template", "template.json"] {
        let bench = Bench::new();
        let run = bench.run(&format!("new {name}"));
        assert_eq!(run.status, 0, "{run}");
        assert!(run.stderr.contains("fixtures/template/"), "{run}");
    }
}

/// A line's kwarg that changes nothing is told, once, as one that is given with --kwarg is.
#[test]
fn ignored_kwargs_of_lines_are_told_once() {
    let bench = Bench::new();
    let line =
        r#"{"messages": [{"role": "user", "content": "Hi"}], "kwargs": {"enable_thinkng": false}}"#;
    for verb in ["render", "spans"] {
        let run = bench.run_with(
            &format!("{verb} chat.jinja --jsonl"),
            format!("{line}\n{line}\n"),
        );
        assert_eq!((run.status, run.stdout.lines().count()), (0, 2), "{run}");
        let told = "warning[ignored-kwarg]: the chat template reads no variable `enable_thinkng`, so `enable_thinkng` in the kwargs of a line changes nothing";
        assert_eq!(run.stderr.matches(told).count(), 1, "{run}");
    }
}
