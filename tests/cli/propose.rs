//! `obverse propose`: the folder for a pull request.

use crate::bench::{Bench, CHAT};
use crate::integrations::root;

/// A model folder whose configuration is written in a style of its own.
fn bench() -> Bench {
    let chat = serde_json::to_string(CHAT).expect("JSON");
    let config = format!("{{\n\t\"eps\": 1E-5,\n\t\"chat_template\": {chat}\n}}\n");
    Bench::new().file("kite/tokenizer_config.json", config)
}

#[test]
fn a_folder_has_all_that_a_pull_request_needs() {
    let bench = bench();
    let run = bench.run("propose kite --model org/kite --out-dir out");
    assert_eq!(run.status, 0, "{run}");
    assert_eq!(
        run.stdout,
        "hf upload org/kite out/tokenizer_config.json tokenizer_config.json --create-pr \
         --commit-message 'Add a response template' --commit-description \"$(cat out/PULL_REQUEST.md)\"\n"
    );
    assert!(
        run.stderr.starts_with(
            "the response template is proved; out/PULL_REQUEST.md says what that means\n"
        ),
        "{run}"
    );

    let before = bench.read("kite/tokenizer_config.json");
    let after = bench.read("out/tokenizer_config.json");
    let kept = before.strip_suffix("\n}\n").expect("the end of an object");
    let added = after.strip_prefix(kept).expect("what was there before");
    assert!(
        added.starts_with(",\n\t\"response_template\": {\n\t\t"),
        "{added}"
    );
    assert!(added.ends_with("\n\t}\n}\n"), "{added}");

    let checked = bench.run("check out");
    assert_eq!(checked.status, 0, "{checked}");
    assert_eq!(bench.list("out/fixtures"), ["plain", "truncated"]);

    let text = bench.read("out/PULL_REQUEST.md");
    for part in [
        "# Add a response template\n\n`tokenizer_config.json` gets a `response_template`",
        "a message with `content`. The parsers of vllm and sglang take less than the format has, and not this one (vllm",
        "`obverse derive --for vllm` writes one that vllm takes. Nothing else in the file changes.",
        "\"start_anchor\": \"<assistant>\"",
        "| kind of message | tried | came back |\n|---|--:|--:|\n| content |",
        "AutoTokenizer.from_pretrained('org/kite', revision=\"refs/pr/N\")",
        "obverse derive org/kite@refs/pr/N --explain",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }

    let run = bench.run("propose kite --for vllm --model org/kite --out-dir served");
    assert_eq!(run.status, 0, "{run}");
    let text = bench.read("served/PULL_REQUEST.md");
    for part in [
        "a message with `content`. Of the servers that read it vllm and sglang take it. Nothing else",
        "obverse derive org/kite@refs/pr/N --for vllm --explain",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_folder_that_has_something_in_it_is_left_alone() {
    let bench = bench().file("out/notes.txt", "mine");
    let run = bench.run("propose kite --out-dir out");
    assert_eq!(run.status, 2, "{run}");
    assert!(
        run.stderr
            .contains("error[exists]: there is something in out already"),
        "{run}"
    );
    assert_eq!(bench.list("out"), ["notes.txt"]);
    let run = bench.run("propose kite --out-dir out --force");
    assert_eq!(run.status, 0, "{run}");
    assert_eq!(bench.read("out/notes.txt"), "mine");
    // What is not known is to be filled in.
    assert!(run.stdout.starts_with("hf upload ORG/MODEL out/"), "{run}");
}

#[test]
fn what_the_model_has_already_is_not_proposed() {
    let bench = bench();
    bench.run("derive --write kite");
    let run = bench.run("propose kite --out-dir out");
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run}");
    assert!(
        run.stderr.contains("has this response template already"),
        "{run}"
    );

    let other = bench
        .read("kite/tokenizer_config.json")
        .replace("\"<assistant>\"", "\"assistant>\"");
    let bench = bench.file("kite/tokenizer_config.json", other);
    let run = bench.run("propose kite --out-dir out");
    assert_eq!(run.status, 0, "{run}");
    assert!(
        bench
            .read("out/PULL_REQUEST.md")
            .contains("`tokenizer_config.json` gets another `response_template`")
    );
}

#[test]
fn what_is_not_proved_is_said() {
    let chat = "{% for m in messages %}<{{ m.role }}>{{ m.content | replace(',', ';') }}</>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";
    let config = serde_json::json!({"chat_template": chat});
    let bench = Bench::new().file("kite/tokenizer_config.json", config.to_string());
    let run = bench.run("propose kite --model org/kite --out-dir out");
    assert_eq!(run.status, 1, "{run}");
    assert!(
        !run.stderr.starts_with("the response template is proved;"),
        "{run}"
    );
    let text = bench.read("out/PULL_REQUEST.md");
    let (_, unproved) = text.split_once("## What was not\n").expect("a heading");
    assert!(unproved.contains("  - response: `"), "{text}");
}

#[test]
fn delimiters_are_seen_in_the_text() {
    let chat = root().join("chat_templates/deepseek_r1_distill.jinja");
    let chat = std::fs::read_to_string(chat).expect("a chat template");
    let config = serde_json::json!({"chat_template": chat});
    let bench = Bench::new().file("kite/tokenizer_config.json", config.to_string());
    bench.run("propose kite --model org/kite --out-dir out");
    let text = bench.read("out/PULL_REQUEST.md");
    let (_, unproved) = text.split_once("## What was not\n").expect("a heading");
    // Outside of code Markdown takes a tag for a tag.
    assert!(unproved.contains(r#"\<think\>\\n","#), "{text}");
}

#[test]
fn there_must_be_a_configuration_to_add_to() {
    let run = Bench::new().run("propose chat.jinja");
    assert_eq!(run.status, 2, "{run}");
    assert!(
        run.stderr
            .contains("error[no-config]: chat.jinja has no tokenizer_config.json to add to"),
        "{run}"
    );
}
