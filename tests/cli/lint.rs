//! `obverse lint` and `obverse explain`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::bench::{Bench, CHAT};
use crate::support::schema::mismatch;

/// Two warnings, both of which can be mended, and an info.
const TRAPS: &str = r#"{
  "start_anchor": "<assistant>",
  "fields": {
    "content": {"close_pattern": "</assistant>|$"},
    "thinking": {"open": "<think>", "close": "</think>"}
  }
}
"#;

fn bench() -> Bench {
    Bench::new().file("traps.json", TRAPS)
}

#[test]
fn findings_show_their_place_and_what_to_do() {
    let run = bench().run("lint traps.json");
    assert_eq!(run.status, 0, "{run:?}");
    assert_snapshot!(run.stdout, @r#"
    warning[text-after-close]: a line feed behind "</assistant>" opens "content" again and replaces its text
     --> traps.json:4:34
      |
    4 |     "content": {"close_pattern": "</assistant>|$"},
      |                                  ^^^^^^^^^^^^^^^^
      |
      = note: at $.fields.content.close_pattern
      = help: let it take the white space behind it: `\s*` at its end

    warning[dollar]: `$` also matches before a final line feed
     --> traps.json:4:34
      |
    4 |     "content": {"close_pattern": "</assistant>|$"},
      |                                  ^^^^^^^^^^^^^^^^
      |
      = note: at $.fields.content.close_pattern
      = help: `\Z` matches at the very end alone

    2 warnings in 1 file; 2 can be fixed: --diff shows how, --fix does it
    "#);
    assert_eq!(run.stderr, "");
}

#[test]
fn all_well_is_quiet() {
    let fixed = TRAPS.replace("</assistant>|$", r"</assistant>\\s*");
    let run = bench().file("good.json", fixed).run("lint good.json");
    assert_eq!(
        (run.status, run.stdout.as_str(), run.stderr.as_str()),
        (0, "", "")
    );
}

#[test]
fn errors_and_what_is_made_one_end_with_status_1() {
    let bench = bench().file(
        "bad.json",
        r#"{"start_anchor": "a", "fields": {"c": {"opne": "x"}}}"#,
    );
    let run = bench.run("lint bad.json --format concise");
    assert_eq!(run.status, 1);
    assert_snapshot!(run.stdout, @r#"
    bad.json:1:40: error[unknown-key] a field has no key "opne"
    "#);
    for (arguments, status) in [
        ("lint traps.json --deny warnings", 1),
        ("lint traps.json --deny dollar", 1),
        ("lint traps.json --deny dollar --allow dollar", 0),
        ("lint traps.json --deny zero-width", 0),
        ("lint traps.json --deny nothing-such", 2),
        ("lint missing.json", 2),
        ("lint", 2),
        ("lint traps.json bad.json", 1),
    ] {
        assert_eq!(bench.run(arguments).status, status, "{arguments}");
    }
}

#[test]
fn fixes_change_what_they_must_and_nothing_else() {
    let bench = bench();
    let run = bench.run("lint --diff traps.json");
    assert_snapshot!(run, @r#"
    exit 0
    --- stdout
    traps.json
      {
        "start_anchor": "<assistant>",
        "fields": {
    -     "content": {"close_pattern": "</assistant>|$"},
    +     "content": {"close_pattern": "(?:</assistant>|\\Z)\\s*"},
          "thinking": {"open": "<think>", "close": "</think>"}
        }
      }
    --- stderr
    2 findings would be fixed
    "#);
    assert_eq!(bench.read("traps.json"), TRAPS);
    let run = bench.run("lint --fix traps.json");
    assert_snapshot!(run, @r#"
    exit 0
    --- stdout
    --- stderr
    fixed  traps.json: text-after-close at $.fields.content.close_pattern: take the white space behind the close
    fixed  traps.json: dollar at $.fields.content.close_pattern: write `\Z`
    "#);
    let expected = TRAPS.replace("</assistant>|$", r"(?:</assistant>|\\Z)\\s*");
    assert_eq!(bench.read("traps.json"), expected);
    let piped = bench.run_with("lint --fix -", TRAPS);
    assert_eq!(
        (piped.status, piped.stdout.as_str()),
        (0, expected.as_str())
    );
    let config = format!("{{\r\n \"a\": 1.0,\"response_template\": {TRAPS}}}");
    let bench = bench.file("tokenizer_config.json", &config);
    bench.run("lint --fix tokenizer_config.json");
    assert_eq!(
        bench.read("tokenizer_config.json"),
        config.replace("</assistant>|$", r"(?:</assistant>|\\Z)\\s*")
    );
}

/// What is right for transformers may be what another engine refuses.
#[test]
fn a_fix_that_leads_to_another_finding_is_not_made() {
    let text = r#"{"start_anchor": "<b>", "fields": {"content": {"close_pattern": "</b>\\s*$"}}}"#;
    let bench = Bench::new().file("a.json", text);
    let run = bench.run("lint a.json --for vllm");
    assert_snapshot!(run, @r#"
    exit 0
    --- stdout
    warning[dollar]: `$` also matches before a final line feed
     --> a.json:1:65
      |
    1 | {"start_anchor": "<b>", "fields": {"content": {"close_pattern": "</b>\\s*$"}}}
      |                                                                 ^^^^^^^^^^^
      |
      = note: at $.fields.content.close_pattern
      = help: `\Z` matches at the very end alone; it is not done for you, as it would lead to `unserved-pattern`

    1 warning in 1 file
    --- stderr
    "#);
    assert_eq!(bench.run("lint --fix a.json --for vllm").stderr, "");
    assert_eq!(bench.read("a.json"), text);
    assert_eq!(
        bench.run("lint --diff a.json --for vllm").stderr,
        "there is nothing that can be fixed\n"
    );
    // Without it, the fix is as good as it was.
    assert_eq!(bench.run("lint --fix a.json").status, 0);
    assert!(bench.read("a.json").contains(r"\\Z"));
}

/// A marker that a final line feed follows must be found as before.
#[test]
fn a_fix_leaves_no_marker_in_the_content() {
    let text = r#"{"start_anchor":"A:","fields":{"content":{"close_pattern":"<\\|im_end\\|>$","repeats":true,"join":""}}}"#;
    let bench = Bench::new().file("a.json", text);
    let parsed = |bench: &Bench| bench.run_with("parse a.json -", "Hello<|im_end|>\n").done();
    let before = parsed(&bench);
    assert_eq!(bench.run("lint --fix a.json").status, 0);
    assert_ne!(bench.read("a.json"), text);
    assert_eq!(parsed(&bench), before);
    assert!(before.contains("\"Hello\""), "{before}");
}

/// A pattern that stands where a text is wanted is not made a pattern of that text.
#[test]
fn a_pattern_in_the_place_of_a_text_is_told() {
    let text = r#"{"start_anchor": "<b>", "fields": {"content": {"close": "</b>\\s*"}}}"#;
    let bench = Bench::new().file("a.json", text);
    let run = bench.run("lint --fix a.json");
    assert_snapshot!(run.stdout, @r#"
    warning[pattern-in-literal]: `close` takes "</b>\\s*" as it stands: `\s` in it means nothing but itself
     --> a.json:1:57
      |
    1 | {"start_anchor": "<b>", "fields": {"content": {"close": "</b>\\s*"}}}
      |                                                         ^^^^^^^^^^
      |
      = note: at $.fields.content.close
      = help: if a pattern is meant, call the key `close_pattern`

    1 warning in 1 file
    "#);
    assert_eq!(bench.read("a.json"), text);
}

#[test]
fn what_is_allowed_is_not_fixed() {
    let bench = bench();
    bench.run("lint --fix --allow dollar traps.json");
    let fixed = bench.read("traps.json");
    assert!(fixed.contains('$') && fixed.contains(r"\\s*"), "{fixed}");
}

const PROJECT: &str = r#"[[template]]
files = ["*.json"]
chat_template = "{name}.jinja"
fixtures = ["recorded/{name}.jsonl"]
"#;

/// A model folder whose model ends two of three responses otherwise than the chat template.
fn model_that_deviates() -> Bench {
    let chat = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";
    let config = r#"{"chat_template": "CHAT",
        "response_template": {"start_anchor": "<assistant>", "fields": {"content": {"close_pattern": "</(?:assistant|bot)>\\s*"}}}}"#;
    let config = config.replace("CHAT", chat);
    let fixtures = r#"{"id": "as rendered", "response": "No.</assistant>", "prefix": "<assistant>", "expected": {"content": "No."}}
{"id": "greeting", "response": "Hello!</bot>", "prefix": "<assistant>", "expected": {"content": "Hello!"}}
{"id": "another", "response": "Bye!</bot>", "prefix": "<assistant>", "expected": {"content": "Bye!"}}
"#;
    Bench::new()
        .file("model/tokenizer_config.json", &config)
        .file("model/suite.jsonl", fixtures)
        .file("other/tokenizer_config.json", config)
        .file("named/own.json", r#"{"start_anchor": "<assistant>", "fields": {"content": {"close_pattern": "</(?:assistant|bot)>\\s*"}}}"#)
        .file("named/recorded/own.jsonl", fixtures)
        .file("named/own.jinja", chat)
        .file("named/obverse.toml", PROJECT)
}

#[test]
fn fixtures_that_deviate_are_told_where_that_is_asked_for() {
    let run = model_that_deviates().run("lint model --level info --allow dialect");
    assert_eq!(run.status, 0, "{run:?}");
    assert_snapshot!(run.stdout, @r#"
    info[deviates]: 2 of 3 fixtures have a response that no render of the message is; in model/suite.jsonl:2 greeting the nearest has "assistan" where the response has "bo"
    --> model/tokenizer_config.json
     = help: models write otherwise than their chat templates: `obverse derive SOURCE --responses FIXTURES` has it read after the next derivation, too, and `obverse check` tells of each fixture

    1 to know in 1 file
    "#);
    for (command, status) in [
        ("lint model", 0),
        ("lint model --deny deviates", 1),
        ("lint model --level info --allow deviates", 0),
        ("lint other --deny deviates", 0),
        ("lint --config named/obverse.toml --deny deviates", 1),
    ] {
        let run = model_that_deviates().run(command);
        assert_eq!(run.status, status, "{command}: {run:?}");
        assert_eq!(run.stdout.contains("deviates]"), status == 1, "{command}");
    }
}

/// A model folder as they are published: the chat template beside a configuration that has none, nor a response template.
#[test]
fn what_holds_no_response_template_says_so() {
    let bench = Bench::new()
        .file("model/chat_template.jinja", CHAT)
        .file(
            "model/tokenizer_config.json",
            r#"{"add_bos_token": true, "bos_token": "<s>", "padding_side": "left"}"#,
        )
        .file("bare/chat_template.jinja", CHAT)
        .file("empty/notes.md", "x");
    for verb in ["lint", "parse"] {
        for path in ["model", "model/tokenizer_config.json", "chat.jinja"] {
            let run = bench.run(&format!("{verb} {path}"));
            let told = format!("{}{}", run.stdout, run.stderr);
            assert_eq!(told.matches("error[").count(), 1, "{verb} {path}: {run}");
            assert!(told.contains("error[no-response-template]"), "{run}");
            assert_ne!(run.status, 0);
        }
    }
    assert_snapshot!(bench.run("parse model").refused(2), @r#"
    error[no-response-template]: the config holds no response template
    --> model/tokenizer_config.json
     = help: derive one from the chat template: `obverse derive --write model/tokenizer_config.json` stores it there
    "#);
    assert_snapshot!(bench.run("parse chat.jinja").refused(2), @r#"
    error[no-response-template]: this is a chat template, not a response template
    --> chat.jinja
     = help: derive one from the chat template: `obverse derive chat.jinja` prints it
    "#);
    assert_snapshot!(bench.run("parse bare").refused(2), @r#"
    error[no-response-template]: the folder has no tokenizer_config.json, so there is no response template in it
    --> bare
     = help: derive one from the chat template: `obverse derive bare` prints it
    "#);
    assert_snapshot!(bench.run("lint bare").refused(2), @r#"
    error[usage]: there is nothing to lint in bare: no response template, and no tokenizer_config.json
     |
     = help: there is a chat template: `obverse derive bare` makes a response template of it
    "#);
    assert_snapshot!(bench.run("lint empty").refused(2), @r#"
    error[usage]: there is nothing to lint in empty: no response template, and no tokenizer_config.json
     |
     = help: give response templates, tokenizer_config.json files that hold one, or folders of them
    "#);
}

/// The chat template beside the response template, the one of obverse.toml and the one that is given.
#[test]
fn the_chat_template_is_found() {
    let other = CHAT.replace("<assistant>", "<bot>");
    let good = r#"{"start_anchor": "<assistant>", "fields": {"content": {}}}"#;
    let bench = Bench::new()
        .file("a/chat_template.jinja", &other)
        .file("a/x.json", good)
        .file("b/y.json", good)
        .file("b/y.jinja", &other)
        .file("c/z.json", good)
        .file("chats/z.jinja", &other);
    let lint = |arguments: &str| bench.run(arguments).stdout;
    for file in ["a/x.json", "b/y.json"] {
        let run = bench.run(&format!("lint --format concise {file}"));
        assert_eq!(run.status, 1);
        assert!(run.stdout.contains("anchor-not-rendered"), "{}", run.stdout);
    }
    assert_eq!(lint("lint c/z.json"), "");
    assert!(lint("lint c --chat-template chats/z.jinja").contains("anchor-not-rendered"));
    let bench = bench.file(
        "obverse.toml",
        "[[template]]\nfiles = [\"c/*.json\"]\nchat_template = \"chats/{name}.jinja\"\n",
    );
    let run = bench.run("lint --format concise");
    assert!(
        run.stdout
            .starts_with("c/z.json:1:18: error[anchor-not-rendered]"),
        "{run:?}"
    );
}

#[test]
fn what_is_meant_is_allowed_with_a_reason() {
    let allow = |reason: &str| {
        format!(
            "[[lint.allow]]\ncode = \"dollar\"\nfiles = [\"traps.json\"]\nreason = \"{reason}\"\n"
        )
    };
    let bench = bench().file("obverse.toml", allow("the server is fine with it"));
    let run = bench.run("lint traps.json --format json");
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(report["summary"]["allowed"], 1);
    assert_eq!(report["summary"]["warnings"], 1);
    let bench = bench.file("obverse.toml", allow(""));
    let run = bench.run("lint traps.json");
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("needs a reason") && run.stderr.contains("obverse.toml:4:10"),
        "{}",
        run.stderr
    );
    let bench = bench.file("obverse.toml", "[lint]\ndeny = [\"warnings\"]\n");
    assert_eq!(bench.run("lint traps.json").status, 1);
}

#[test]
fn a_folder_is_searched_for_response_templates() {
    let bench = Bench::new()
        .file("d/a.json", TRAPS)
        .file(
            "d/b/tokenizer_config.json",
            format!(r#"{{"response_template": {TRAPS}}}"#),
        )
        .file("d/report.json", r#"{"fields": 1}"#)
        .file("d/broken.json", "{");
    let run = bench.run("lint d --format jsonl");
    let names: Vec<String> = run
        .stdout
        .lines()
        .filter_map(|line| {
            let line: Value = serde_json::from_str(line).expect("JSON");
            line["name"].as_str().map(str::to_owned)
        })
        .collect();
    assert_eq!(names, ["d/a.json", "d/b/tokenizer_config.json"]);
}

#[test]
fn what_an_engine_does_not_take_is_an_error_where_it_is_asked_for() {
    let bench = Bench::new().file(
        "own.json",
        r#"{"start_anchor": "<b>", "fields": {"plan": {"open": "<p>", "close": "</p>"}, "content": {}}}"#,
    );
    assert_eq!(bench.run("lint own.json").status, 0);
    assert_eq!(bench.run("lint own.json --for transformers").status, 0);
    let run = bench.run("lint own.json --for vllm --format concise");
    assert_eq!(run.status, 1);
    assert_snapshot!(run.stdout, @r#"
    own.json:1:36: error[unserved-field] vllm takes no field "plan"
    "#);
    assert_eq!(bench.run("lint own.json --for nothing-such").status, 2);
    let bench = bench.file(
        "obverse.toml",
        "[[template]]\nfiles = [\"own.json\"]\nengines = [\"vllm\"]\n",
    );
    assert_eq!(
        bench.run("lint own.json --format concise").stdout,
        run.stdout
    );
    let both = bench.run("lint own.json --for sglang --for vllm --format concise");
    assert_eq!(both.stdout.lines().count(), 2, "{both}");
}

#[test]
fn a_code_is_explained() {
    let bench = Bench::new();
    let text = bench.run("explain dollar").done();
    assert!(
        text.contains("## dollar") && text.contains("Why it matters"),
        "{text}"
    );
    assert!(
        bench
            .run("explain bad-pattern")
            .done()
            .contains("does not compile")
    );
    let listed = bench.run("explain").done();
    assert!(listed.lines().count() > 30);
    assert_eq!(bench.run("explain nothing-such").status, 2);
    // All pages are those of all verbs.
    let all = bench.run("explain --all").done();
    let codes: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    for code in codes {
        assert!(all.contains(&format!("## {code}\n")), "{code}");
    }
}

#[test]
fn a_code_is_explained_to_programs() {
    let bench = Bench::new();
    let read = |arguments: &str| -> Value {
        let told = bench.run(arguments).done();
        let told = serde_json::from_str(&told).expect("JSON");
        let schema: Value =
            serde_json::from_str(&bench.run("schema explanation").done()).expect("JSON");
        assert_eq!(mismatch(&schema, &told), None, "{arguments}");
        told
    };
    let page = read("explain no-anchor --format json");
    assert_eq!(page["code"], "no-anchor");
    assert_eq!(page["severity"], "warning");
    let told_by = page["told_by"].as_array().expect("a list");
    assert!(told_by.contains(&"obverse parse".into()), "{page}");
    for part in ["summary", "why", "what_to_do"] {
        let text = page[part].as_str().expect("a text");
        assert!(
            text.ends_with('.') && !text.contains("**"),
            "{part}: {text}"
        );
    }
    let example = page["example"].as_str().expect("a text");
    assert!(example.starts_with("```console\n$ "), "{example}");
    assert_eq!(page["markdown"], bench.run("explain no-anchor").done());
    let rule = read("explain dollar --format json");
    assert_eq!(
        (&rule["severity"], &rule["told_by"][0]),
        (&"warning".into(), &"obverse lint".into())
    );
    let listed = read("explain --format json");
    let count = bench.run("explain").done().lines().count();
    assert_eq!(listed["codes"].as_array().map(Vec::len), Some(count));
    assert_eq!(listed["codes"][0].get("markdown"), None);
    let all = read("explain --all --format json");
    assert_eq!(all["codes"].as_array().map(Vec::len), Some(count));
    assert!(
        all["codes"][0]["markdown"].is_string(),
        "{}",
        all["codes"][0]
    );
}

/// Codes are what people look up by a name of which they know the beginning.
#[test]
fn shells_complete_codes() {
    let bench = Bench::new();
    for (shell, begin) in [
        ("bash", "opts=\""),
        ("zsh", "::code -- "),
        (
            "fish",
            "complete -c obverse -n \"__fish_obverse_using_subcommand explain\" -f -a ",
        ),
        ("powershell", "[CompletionResultType]::ParameterValue, '"),
        ("elvish", "            cand nothing-recorded '"),
    ] {
        let script = bench.run(&format!("completions {shell}")).done();
        let is_completed = |line: &str| line.contains(begin) && line.contains("nothing-recorded");
        assert!(script.lines().any(is_completed), "{shell}: {script}");
    }
    let script = bench.run("completions zsh").done();
    let is_completed = |line: &str| line.contains("--deny=") && line.contains("text-after-close");
    assert!(script.lines().any(is_completed), "{script}");
    // They are too many to be listed where one is wrong, or in the help.
    let help = bench.run("explain --help").done();
    assert!(!help.contains("nothing-recorded"), "{help}");
    for wrong in ["explain asumed-token", "lint template.json --deny nosuch"] {
        let told = bench.run(wrong).refused(2);
        assert!(
            !told.contains("nothing-recorded") && !told.contains("text-after-close"),
            "{told}"
        );
        assert!(told.contains("`obverse explain` lists"), "{told}");
    }
}

/// A report in a file is written as everything else is: whole, and not through what is protected.
#[cfg(unix)]
#[test]
fn a_report_replaces_nothing_that_is_protected() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let bench = Bench::new().file("shared", "theirs").file("locked", "mine");
    symlink("shared", bench.path("report.md")).expect("a link");
    let locked = std::fs::Permissions::from_mode(0o440);
    std::fs::set_permissions(bench.path("locked"), locked).expect("a mode");
    for (file, why) in [
        ("report.md", "is a symbolic link to shared"),
        ("locked", "is read-only"),
    ] {
        let told = bench
            .run(&format!("lint template.json --write markdown={file}"))
            .refused(2);
        assert!(
            told.contains(&format!("error[protected]: {file} {why}")),
            "{told}"
        );
    }
    assert_eq!(
        (bench.read("shared").as_str(), bench.read("locked").as_str()),
        ("theirs", "mine")
    );
    // What cannot be written is told before the work.
    let told = bench
        .run("lint template.json --write markdown=no/report.md")
        .refused(2);
    assert!(
        told.contains("error[unwritable]: cannot write no/report.md"),
        "{told}"
    );
    let run = bench
        .run("lint template.json --format json --write human=report.txt --write jsonl=/dev/stderr");
    assert_eq!(run.status, 0, "{run}");
    assert!(run.stderr.contains("\"template.json\""), "{run}");
    assert!(!bench.read("report.txt").contains('\u{1b}'));
}

/// A response schema may stand wherever a response template is taken; any other JSON Schema is none.
#[test]
fn a_response_schema_in_a_folder_is_linted() {
    let schema =
        r#"{"type": "object", "properties": {"content": {"type": "string", "x-regex": "^(.*"}}}"#;
    let bench = Bench::new()
        .file("mixed/template.json", Bench::new().read("template.json"))
        .file("mixed/schema.json", schema)
        .file(
            "mixed/other.json",
            r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#,
        );
    let alone = bench.run("lint mixed/schema.json --format concise");
    assert_eq!(alone.status, 1, "{alone}");
    let run = bench.run("lint mixed --format concise");
    assert_eq!(run.status, 1, "{run}");
    assert!(run.stdout.contains(&alone.stdout), "{run}");
    assert!(!run.stdout.contains("other.json"), "{run}");
}

#[test]
fn models_further_down_are_told_with_their_command() {
    let config = r#"{"tokenizer_class": "T", "chat_template": "x"}"#;
    let bench = Bench::new().file("models/kite/tokenizer_config.json", config);
    assert_snapshot!(bench.run("lint models").refused(2), @r"
    error[usage]: there is nothing to lint in models: no response template in it or below it
     |
     = help: further down there is models/kite/tokenizer_config.json, without one: `obverse derive --write models/kite/tokenizer_config.json` derives it and stores it there
    ");
    let bench = bench.file("models/deep/tern/tokenizer_config.json", config);
    let told = bench.run("lint models").refused(2);
    assert!(
        told.contains("models/deep/tern/tokenizer_config.json (and 1 more)"),
        "{told}"
    );
}

/// A code that is nearly one is told from one that is none.
#[test]
fn a_code_that_is_nearly_one_is_offered() {
    let bench = Bench::new();
    let near = bench.run("lint --allow dolar .");
    assert_eq!(near.status, 2, "{near}");
    assert!(near.stderr.contains("did you mean `dollar`?"), "{near}");
    let none = bench.run("lint --deny nothing-like-it .");
    assert!(
        none.stderr.contains("`obverse explain` lists them"),
        "{none}"
    );
}

/// A folder in which a response template was cut off, beside one that is right, an empty file and one that is not UTF-8.
fn broken() -> Bench {
    let good = r#"{"start_anchor": "A:", "fields": {"content": {"close": "<end>"}}}"#;
    Bench::new()
        .file("all/good.json", good)
        .file("all/cut.json", &good[..40])
        .file("all/empty.json", "")
        .file("bytes.json", b"\xff\xfe")
}

#[test]
fn a_broken_response_template_in_a_folder_is_not_passed_over() {
    let run = broken().run("lint all --format concise");
    assert_eq!(run.status, 1, "{run}");
    assert!(run.stdout.contains("all/cut.json"), "{run}");
    assert!(run.stdout.contains("json-syntax"), "{run}");
    assert!(
        run.stderr
            .contains("all/empty.json is not JSON, and is passed over"),
        "{run}"
    );
}

#[test]
fn a_file_that_cannot_be_read_stops_no_other() {
    let run = broken().run("lint bytes.json all/cut.json --format concise");
    assert_eq!(run.status, 2, "{run}");
    assert!(run.stdout.contains("invalid-utf8"), "{run}");
    assert!(run.stdout.contains("json-syntax"), "{run}");
}

#[test]
fn a_broken_file_that_obverse_toml_names_is_linted_with_its_folder() {
    let bench = broken().file("obverse.toml", "[[template]]\nfiles = [\"all/*.json\"]\n");
    let run = bench.run("lint all --format concise");
    assert!(run.stdout.contains("all/empty.json"), "{run}");
}
