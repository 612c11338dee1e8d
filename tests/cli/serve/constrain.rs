//! Grammars that hold the upstream to what a client asks for.

use std::path::Path;

use obverse::value::{Value, json};

use super::server::Server;
use super::upstream::{Fake, response};
use crate::bench::Bench;

const TOOLS: &str = r#"[{"type": "function", "function": {"name": "find", "description": "Finds.", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]"#;

fn chat_template() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("chat_templates/qwen3.jinja");
    path.to_str().expect("a path").to_owned()
}

fn served(more: &[&str]) -> (Bench, Fake, Server) {
    let bench = Bench::new().file("tools.json", TOOLS);
    let fake = Fake::new(|_| response(["Hi"]));
    let chat = chat_template();
    let arguments = ["--upstream", &fake.url, "--model", &chat];
    let server = Server::start(&bench.path(""), &[&arguments, more].concat());
    (bench, fake, server)
}

/// A request for a chat completion, with these members beside its message.
fn asked(more: &str) -> String {
    format!(r#"{{"model": "m", "messages": [{{"role": "user", "content": "q"}}], {more}}}"#)
}

/// The grammar that the command derives for the same prompt.
fn derived(bench: &Bench, asked: &Value, more: &str) -> String {
    let prompt = asked.get("prompt").and_then(Value::as_str);
    std::fs::write(bench.path("prompt"), prompt.expect("a prompt")).expect("a file");
    let chat = chat_template();
    let command = format!("grammar {chat} --prefix-file prompt {more}");
    bench.run(&command).done_quietly().trim_end().to_owned()
}

fn text<'v>(asked: &'v Value, path: &[&str]) -> &'v str {
    let found = path.iter().try_fold(asked, |value, key| value.get(key));
    let text = found.and_then(Value::as_str).unwrap_or_default();
    text.trim_end()
}

#[test]
fn a_strict_tool_brings_the_grammar_of_its_calls() {
    let (bench, fake, server) = served(&["--grammar", "vllm"]);
    let strict = TOOLS.replace("\"parameters\"", "\"strict\": true, \"parameters\"");
    let answer = server.chat(&asked(&format!("\"tools\": {strict}")));
    assert_eq!(answer.status, 200, "{answer:?}");
    let got = fake.asked();
    let sent = text(&got, &["structured_outputs", "structural_tag"]);
    json::parse(sent).expect("a structural tag is JSON");
    let tools = "--tools tools.json --format structural-tag";
    assert_eq!(sent, derived(&bench, &got, tools));
    assert!(
        !text(&got, &["prompt"]).contains("strict"),
        "a model is not told what an engine is"
    );
    let answer = server.chat(&asked(&format!("\"tools\": {TOOLS}")));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(fake.asked().get("structured_outputs"), None);
}

#[test]
fn a_call_can_be_forced() {
    let (bench, fake, server) = served(&["--grammar", "llama.cpp"]);
    for (choice, more) in [
        ("\"required\"", "--tool-choice required"),
        (
            r#"{"type": "function", "function": {"name": "find"}}"#,
            "--tool-choice find",
        ),
    ] {
        let body = asked(&format!("\"tools\": {TOOLS}, \"tool_choice\": {choice}"));
        assert_eq!(server.chat(&body).status, 200);
        let got = fake.asked();
        let more = format!("--tools tools.json --format gbnf {more}");
        assert_eq!(text(&got, &["grammar"]), derived(&bench, &got, &more));
    }
    let one = format!(
        "\"tools\": {TOOLS}, \"tool_choice\": \"required\", \"parallel_tool_calls\": false"
    );
    assert_eq!(server.chat(&asked(&one)).status, 200);
    let got = fake.asked();
    let more = "--tools tools.json --format gbnf --tool-choice required --parallel no";
    assert_eq!(text(&got, &["grammar"]), derived(&bench, &got, more));
}

#[test]
fn an_answer_has_the_schema_that_is_asked_for() {
    let (bench, fake, server) = served(&["--grammar", "extra.rules=lark"]);
    let schema = r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}"#;
    let bench = bench.file("schema.json", schema);
    let format =
        format!(r#"{{"type": "json_schema", "json_schema": {{"name": "x", "schema": {schema}}}}}"#);
    let answer = server.chat(&asked(&format!("\"response_format\": {format}")));
    assert_eq!(answer.status, 200, "{answer:?}");
    let got = fake.asked();
    let more = "--format lark --response-format schema.json";
    assert_eq!(text(&got, &["extra", "rules"]), derived(&bench, &got, more));
}

#[test]
fn what_cannot_be_asked_of_the_model_is_refused() {
    let (_bench, _fake, server) = served(&["--grammar", "sglang"]);
    let nobody = r#"{"type": "function", "function": {"name": "nobody"}}"#;
    let body = asked(&format!("\"tools\": {TOOLS}, \"tool_choice\": {nobody}"));
    let answer = server.chat(&body);
    assert_eq!(answer.status, 400);
    assert!(answer.error().contains("no tool `nobody`"), "{answer:?}");
    let (_bench, _fake, server) = served(&[]);
    for more in [
        "\"tool_choice\": \"required\"",
        r#""response_format": {"type": "json_object"}"#,
    ] {
        let answer = server.chat(&asked(more));
        assert_eq!(answer.status, 400);
        assert!(answer.error().contains("--grammar"), "{answer:?}");
    }
}
