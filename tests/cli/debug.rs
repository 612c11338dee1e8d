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
        screen.contains("verified 1: content 1/") && screen.contains("anchor"),
        "{screen}"
    );
}

/// A response template of a project brings the fixtures that belong to it there, unless responses are given.
#[test]
fn a_response_template_of_a_project_brings_its_fixtures() {
    let bench = Bench::new()
        .file(
            "obverse.toml",
            "[[template]]\nfiles = [\"template.json\"]\nfixtures = [\"kept/{name}/*\"]\n",
        )
        .file("kept/template/tern/response.txt", "Hi</assistant>")
        .file("other", "Ho</assistant>");
    let screen = bench.run("debug template.json --screenshot 100x20").done();
    assert!(screen.contains("kept/template/tern"), "{screen}");
    let screen = bench
        .run("debug template.json other --screenshot 100x20")
        .done();
    assert!(!screen.contains("kept/template/tern"), "{screen}");
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

/// A fixture on a line whose prompt is a conversation, and one that has none.
const SUITE: &str = r#"{"name": "asked", "messages": [{"role": "user", "content": "q"}], "response": "Hi</assistant>"}
{"name": "bare", "response": "Ho</assistant>"}
"#;

#[test]
fn suites_and_conversations_are_samples() {
    let bench = Bench::new()
        .file("suite.jsonl", SUITE)
        .file("all/talk/response.txt", "hm</think>Hi</assistant>")
        .file(
            "all/talk/messages.json",
            r#"[{"role": "user", "content": "q"}]"#,
        )
        .file("all/more.jsonl", SUITE)
        .file(
            "template.jinja",
            "{{ messages[0].content }}<assistant><think>",
        );
    let shown = |keys: &str| {
        bench
            .run(&format!(
                "debug template.json suite.jsonl all --screenshot 90x24 --keys {keys}"
            ))
            .done()
    };
    let list = shown("o");
    for name in [
        "suite.jsonl:1 asked",
        "suite.jsonl:2 bare",
        "all/more.jsonl:2 bare",
        "all/talk",
    ] {
        assert!(list.contains(name), "{list}");
    }
    // The prompt is what the chat template makes of the conversation, and the parser is given what follows the anchor.
    let asked = shown("G");
    assert!(asked.contains("suite.jsonl:1 asked 1/5"), "{asked}");
    assert!(asked.contains("<think>Hi</assistant>"), "{asked}");
    let talk = shown("o<end><enter>G");
    assert!(
        talk.contains("thinking \"hm\"") && talk.contains("content \"Hi\""),
        "{talk}"
    );
    // Saved where it is, it keeps the conversation.
    let saved = shown("o<end><enter>s<enter>y");
    assert!(saved.contains("saved all/talk"), "{saved}");
    assert!(bench.list("all/talk").contains(&"messages.json".to_owned()));
    assert!(!bench.list("all/talk").contains(&"prefix.txt".to_owned()));
}

#[test]
fn a_conversation_without_a_chat_template_is_told() {
    let bench = Bench::new().file("suite.jsonl", SUITE);
    let screen = bench
        .run("debug template.json suite.jsonl --screenshot 120x24")
        .done();
    assert!(
        screen.contains("no chat template belongs to the response template"),
        "{screen}"
    );
    let broken = Bench::new().file("suite.jsonl", "{\"name\": 1}");
    let told = broken
        .run("debug template.json suite.jsonl --screenshot 80x24")
        .refused(2);
    assert!(told.contains("there is no response"), "{told}");
}

#[test]
fn a_report_opens_what_it_is_about() {
    let bench = Bench::new();
    bench.run("derive chat.jinja --out-dir out").done_quietly();
    let report = bench.run("derive chat.jinja --report -").stdout;
    let bench = bench.file("elsewhere/report.json", report);
    for arguments in [
        // The response template beside it; the chat template that is its source; both named.
        "debug out/chat.report.json",
        "debug elsewhere/report.json",
        "debug out/chat.json",
        "debug template.json --report elsewhere/report.json",
    ] {
        let screen = bench
            .run(&format!("{arguments} --screenshot 100x30 --keys 6"))
            .done();
        assert!(
            screen.contains("▶6 Derivation") && screen.contains("›anchor"),
            "{arguments}: {screen}"
        );
    }
    let lost = bench
        .file(
            "a.json",
            r#"{"source": "b.json", "verified": true, "evidence": []}"#,
        )
        .file(
            "b.json",
            r#"{"source": "a.json", "verified": true, "evidence": []}"#,
        );
    let told = lost.run("debug a.json --screenshot 80x24").refused(2);
    assert!(told.contains("its source is not there"), "{told}");
}

#[cfg(feature = "tokenizers")]
#[test]
fn tokens_of_a_tokenizer_are_chunks() {
    let tokenizer = include_str!("../support/tokenizer.json");
    let bench = Bench::new()
        .file("response", "the \u{20ac}</assistant>")
        .file("tokenizer.json", tokenizer)
        .file("broken.json", "{}");
    let screen = bench
        .run("debug template.json response --chunks tokens:tokenizer.json --screenshot 90x24 --keys <right><right><right><right>")
        .done();
    // `th`, `e`, a space, and three tokens that are one character.
    assert!(screen.contains("tokens:tokenizer.json"), "{screen}");
    assert!(screen.contains("chunk 4/16 byte 7/19"), "{screen}");
    // It can be asked for on the screen, too, and a fixture keeps the chunks.
    let keys = "Katokens:tokenizer.json<enter>s<c-u>kept<enter>y";
    let screen = bench
        .run(&format!(
            "debug template.json response --screenshot 90x24 --keys {keys}"
        ))
        .done();
    assert!(screen.contains("saved kept"), "{screen}");
    assert!(
        bench
            .read("kept/chunks.json")
            .starts_with("[\n  \"th\",\n  \"e\",\n  \" \",\n  \"\u{20ac}\"")
    );
    for (file, wanted) in [
        ("broken.json", "is no tokenizer"),
        ("nowhere", "cannot read"),
    ] {
        let told = bench
            .run(&format!(
                "debug template.json response --screenshot 9x9 --chunks tokens:{file}"
            ))
            .refused(2);
        assert!(told.contains(wanted), "{told}");
    }
    let events = bench
        .run("parse template.json response --events --chunks tokens:tokenizer.json")
        .done();
    let texts = events.matches("region_chunk").count();
    assert_eq!(texts, 4, "{events}");
    // A session has the chunks, for those who have no tokenizer.
    bench
        .run("debug template.json response --chunks tokens:tokenizer.json --screenshot 9x9 --record s.json")
        .done();
    let session = bench
        .run("debug s.json --screenshot 90x24 --keys <right>")
        .done();
    assert!(
        session.contains("recorded") && session.contains("chunk 1/16"),
        "{session}"
    );
}

#[cfg(not(feature = "tokenizers"))]
#[test]
fn without_tokenizers_it_is_told_how_to_build_them_in() {
    let bench = Bench::new().file("response", "Hi");
    for verb in ["debug", "parse --events"] {
        let told = bench
            .run(&format!(
                "{verb} template.json response --chunks tokens:tokenizer.json"
            ))
            .refused(2);
        assert!(told.contains("--features tokenizers"), "{told}");
    }
    let screen = bench
        .run("debug template.json response --screenshot 120x24 --keys Katokens:x<enter>")
        .done();
    assert!(screen.contains("--features tokenizers"), "{screen}");
}

/// With this set, the page is written anew.
const UPDATE: &str = "OBVERSE_UPDATE_DOCS";

/// The picture of the README is the screen as it is, on what went wrong with the example of docs/debugger.md.
#[test]
fn the_picture_is_that_of_the_tool() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut bench = Bench::new();
    for name in ["template.json", "response.txt"] {
        let text = std::fs::read(docs.join("debugger").join(name)).expect("a file");
        bench = bench.file(name, text);
    }
    let picture = bench
        .run("debug template.json response.txt --screenshot 110x24 --svg --color always --keys x")
        .done();
    let path = docs.join("debugger/picture.svg");
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, &picture).expect("a file");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == picture,
        "docs/debugger/picture.svg is stale: run this test with {UPDATE}=1"
    );
}

/// The page shows what its commands print. They run in one folder, one after the other.
#[test]
fn the_page_shows_what_the_tool_prints() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let page = std::fs::read_to_string(docs.join("debugger.md")).expect("the page");
    let mut bench = Bench::new();
    for name in ["template.json", "response.txt", "tags.json", "call.txt"] {
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

/// As models are published: the chat template beside a configuration that has neither it nor a response template.
#[test]
fn of_a_model_folder_the_chat_template_beside_the_configuration_counts() {
    let bench = Bench::new()
        .file("model/chat_template.jinja", crate::bench::CHAT)
        .file("model/tokenizer_config.json", r#"{"bos_token": "<s>"}"#);
    for path in ["model", "model/tokenizer_config.json"] {
        let screen = bench
            .run(&format!("debug {path} --screenshot 100x20"))
            .done();
        assert!(screen.starts_with("from "), "{screen}");
        assert!(screen.contains("</assistant>"), "{screen}");
    }
}

#[test]
fn a_prompt_without_the_anchor_is_told() {
    let bench = Bench::new().file("response", "Hi</assistant>");
    let shown = |prefix: &str| {
        let arguments = [
            "debug",
            "template.json",
            "response",
            "--screenshot",
            "200x24",
            "--prefix",
            prefix,
        ];
        bench.run_all(&arguments, "").done()
    };
    let told = "the start anchor, \"<assistant>\", does not stand in the prefix";
    assert!(shown("Hello. ").contains(told), "{}", shown("Hello. "));
    assert!(!shown("<assistant>").contains("start anchor,"));
}
