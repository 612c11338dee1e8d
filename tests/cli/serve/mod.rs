//! `obverse serve`: an upstream of the test's own behind it, and clients before it.

#![allow(clippy::print_stderr, reason = "a test says how much it has seen")]

mod clients;
mod constrain;
mod faults;
mod load;
mod server;
mod upstream;

use std::io::Read as _;

use obverse::value::Value;

use crate::bench::{Bench, CHAT};
use server::Server;
use upstream::{Does, Fake, response};

const ASKED: &str =
    r#"{"model": "m", "messages": [{"role": "user", "content": "q"}], "stream": true}"#;
const WHOLE: &str = r#"{"model": "m", "messages": [{"role": "user", "content": "q"}]}"#;

/// A server before an upstream that writes a response in these chunks.
fn served(chunks: &'static [&'static str]) -> (Bench, Fake, Server) {
    served_with(move |_| response(chunks.iter().copied()), &[])
}

fn served_with(
    script: impl Fn(&Value) -> Vec<Does> + Send + Sync + 'static,
    more: &[&str],
) -> (Bench, Fake, Server) {
    let bench = Bench::new();
    let fake = Fake::new(script);
    let arguments = [
        "--upstream",
        &fake.url,
        "--model",
        "chat.jinja",
        "--template",
        "template.json",
    ];
    let server = Server::start(&bench.path(""), &[&arguments, more].concat());
    (bench, fake, server)
}

/// The texts of a stream of Chat Completions under one key, and the reason for its end.
fn texts(events: &[&str], key: &str) -> (Vec<String>, Option<String>) {
    let (mut texts, mut reason) = (Vec::new(), None);
    for event in events.iter().filter(|event| **event != "[DONE]") {
        let event = obverse::value::json::parse(event).expect("JSON");
        let Some(choice) = event
            .get("choices")
            .and_then(|choices| choices.as_array()?.first())
        else {
            continue;
        };
        let delta = choice.get("delta").expect("a delta");
        let text = match key {
            "arguments" => delta
                .get("tool_calls")
                .and_then(|calls| calls.as_array()?.first()?.get("function")?.get("arguments")),
            key => delta.get(key),
        };
        let text = text.and_then(Value::as_str).filter(|text| !text.is_empty());
        texts.extend(text.map(str::to_owned));
        reason = reason.or_else(|| Some(choice.get("finish_reason")?.as_str()?.to_owned()));
    }
    (texts, reason)
}

#[test]
fn arguments_stream_as_they_are_written() {
    let (_bench, fake, server) = served(&[
        "<think>hm</think>Su",
        "re.<call>{\"name\": \"f\", \"argu",
        "ments\": {\"city\": \"Pa",
        "ris\"}}",
        "</call></assistant>",
    ]);
    let answer = server.chat(ASKED);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.head.contains("text/event-stream"), "{}", answer.head);
    let events = answer.events();
    let of = |key: &str| texts(&events, key).0;
    assert_eq!(of("reasoning_content"), ["hm"]);
    assert_eq!(of("content"), ["Su", "re."]);
    assert_eq!(of("arguments"), ["{\"city\": \"Pa", "ris\"}"]);
    assert_eq!(texts(&events, "content").1.as_deref(), Some("tool_calls"));
    assert_eq!(events.last(), Some(&"[DONE]"));
    assert!(!answer.body.contains("usage"), "it was not asked for");
    let asked = fake.asked();
    let member = |key: &str| asked.get(key).and_then(Value::as_str).unwrap_or_default();
    assert_eq!(member("prompt"), "<user>q</user><assistant>");
    assert_eq!(member("model"), "upstream-model");
}

#[test]
fn a_reply_that_is_not_streamed_is_the_same() {
    let (_bench, _fake, server) =
        served(&["Hi<call>{\"name\": \"f\", \"arguments\": {\"a\": [1]}}</call>"]);
    let answer = server.chat(WHOLE).json();
    let choice = answer
        .get("choices")
        .and_then(|all| all.as_array()?.first())
        .expect("a choice");
    let message = obverse::value::json::to_string(choice.get("message").expect("a message"));
    let id = answer.get("id").and_then(Value::as_str).expect("an id");
    assert_eq!(
        message,
        format!(
            r#"{{"role": "assistant", "content": "Hi", "tool_calls": [{{"id": "call_{id}_0", "type": "function", "function": {{"name": "f", "arguments": "{{\"a\": [1]}}"}}}}]}}"#
        )
    );
    let total = answer
        .get("usage")
        .and_then(|usage| usage.get("total_tokens"));
    assert_eq!(total, Some(&Value::from(12)));
}

#[test]
fn the_end_is_told_as_the_upstream_tells_it() {
    let (_bench, _fake, server) = served_with(
        |asked| {
            let is_short = asked.get("max_tokens") == Some(&Value::from(3));
            let end = if is_short { "length" } else { "stop" };
            vec![Does::Begin, Does::Text("Hi".to_owned()), Does::End(end)]
        },
        &[],
    );
    let ended = |body: &str| texts(&server.chat(body).events(), "content").1;
    assert_eq!(ended(ASKED).as_deref(), Some("stop"));
    let short = ASKED.replace("\"stream\"", "\"max_tokens\": 3, \"stream\"");
    assert_eq!(ended(&short).as_deref(), Some("length"));
    let usage = ASKED.replace(
        "\"stream\"",
        "\"stream_options\": {\"include_usage\": true}, \"stream\"",
    );
    assert!(
        server
            .chat(&usage)
            .body
            .contains("\"usage\":{\"prompt_tokens\":7,")
    );
}

#[test]
fn no_more_than_one_call_is_sent_where_one_is_allowed() {
    let call = "<call>{\"name\": \"f\", \"arguments\": {}}</call>";
    let (_bench, fake, server) = served_with(
        move |_| {
            vec![
                Does::Begin,
                Does::Text(call.to_owned()),
                Does::Text(call.to_owned()),
                Does::Wait(60_000),
            ]
        },
        &[],
    );
    let one = WHOLE.replace("\"model\"", "\"parallel_tool_calls\": false, \"model\"");
    let answer = server.chat(&one);
    assert_eq!(
        answer.body.matches("\"name\":\"f\"").count(),
        1,
        "{}",
        answer.body
    );
    // Nothing more is wanted of the upstream.
    fake.left
        .recv_timeout(std::time::Duration::from_secs(10))
        .expect("it is let go");
}

#[test]
fn models_health_and_what_is_not_there() {
    let (_bench, _fake, server) = served(&["Hi"]);
    let get = |path: &str| server.send("GET", path, "", "");
    assert!(get("/v1/models").body.contains("\"id\":\"chat\""));
    assert_eq!(get("/v1/models/chat").status, 200);
    assert_eq!(get("/v1/models/other").status, 404);
    assert_eq!(get("/health").body, r#"{"status":"ok","exchanges":0}"#);
    assert_eq!(get("/v2").status, 404);
    assert!(
        get("/v1/completions")
            .error()
            .contains("/v1/chat/completions")
    );
    assert_eq!(get("/v1/chat/completions").status, 405);
}

#[test]
fn a_lost_call_is_a_failing_fixture() {
    let (bench, _fake, server) = served_with(
        |asked| {
            let prompt = asked
                .get("prompt")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let text = match prompt.contains("broken") {
                true => "Hi<call>{\"name\": \"f\", oops}</call>",
                false => "Hi<call>{\"name\": \"f\", \"arguments\": {}}</call>",
            };
            response([text])
        },
        &["--record", "kept"],
    );
    server.chat(ASKED);
    let sound = server.told_about("recorded ");
    assert_eq!(bench.run("check kept").status, 0, "{sound}");
    let lost = server.chat(&WHOLE.replace("\"q\"", "\"broken\"")).json();
    let malformed = lost
        .get("obverse")
        .and_then(|lost| lost.get("malformed")?.as_array()?.first());
    let raw = malformed.and_then(|lost| lost.get("raw")?.as_str());
    assert_eq!(
        raw,
        Some("{\"name\": \"f\", oops}"),
        "the client can see what is lost"
    );
    server.told_about("tool_calls");
    server.told_about("recorded ");
    let run = bench.run("check kept");
    assert_eq!(run.status, 1, "{run}");
    assert!(run.stdout.contains("error[does-not-parse]"), "{run}");
}

#[test]
fn it_ends_when_it_is_told_to() {
    let (_bench, fake, mut server) = served_with(
        |_| {
            vec![
                Does::Begin,
                Does::Text("Hi".to_owned()),
                Does::Wait(700),
                Does::Text(" there".to_owned()),
                Does::End("stop"),
            ]
        },
        &[],
    );
    let mut connection = server.open("POST", "/v1/chat/completions", "", ASKED);
    fake.asked();
    assert_eq!(server.end(), Some(0));
    let mut text = String::new();
    connection.read_to_string(&mut text).expect("the rest");
    let answer = server::Answer::of(&text);
    assert_eq!(
        texts(&answer.events(), "content").0,
        ["Hi", " there"],
        "what is under way is ended"
    );
}

#[test]
fn who_may_come_in() {
    let (bench, fake, server) = served(&["Hi"]);
    let elsewhere = server.send("GET", "/v1/models", "Host: example.org\r\n", "");
    assert_eq!(elsewhere.status, 403, "{elsewhere:?}");
    let form = server.send(
        "POST",
        "/v1/chat/completions",
        "Content-Type: text/plain\r\n",
        WHOLE,
    );
    assert_eq!(form.status, 415, "{form:?}");
    let arguments = [
        "--upstream",
        &fake.url,
        "--model",
        "chat.jinja",
        "--template",
        "template.json",
        "--api-key",
        "secret",
    ];
    let locked = Server::start(&bench.path(""), &arguments);
    for (headers, status) in [
        ("", 401),
        ("Authorization: Bearer secre\r\n", 401),
        ("Authorization: Bearer secret\r\n", 200),
        ("x-api-key: secret\r\n", 200),
        ("Host: example.org\r\nx-api-key: secret\r\n", 200),
    ] {
        assert_eq!(
            locked.send("GET", "/v1/models", headers, "").status,
            status,
            "{headers}"
        );
    }
    assert_eq!(locked.send("GET", "/health", "", "").status, 200);
    let open =
        bench.run("serve --upstream http://127.0.0.1:9/v1 --model chat.jinja --listen 0.0.0.0:0");
    assert_eq!(open.status, 2, "{open}");
    assert!(open.stderr.contains("error[no-key]"), "{open}");
}

#[test]
fn what_it_cannot_begin_with_is_told() {
    let bench = Bench::new().file("chat2.jinja", CHAT);
    for (arguments, told) in [
        (
            "--upstream 127.0.0.1:1 --model chat.jinja",
            "error[usage]: 127.0.0.1:1 is no base URL",
        ),
        (
            "--upstream http://127.0.0.1:1 --model nowhere",
            "error[unreadable]",
        ),
        (
            "--upstream http://127.0.0.1:1 --model chat.jinja --api-key-env NO_SUCH_KEY",
            "error[no-key]",
        ),
        (
            "--upstream http://127.0.0.1:1 --model chat.jinja --template chat2.jinja",
            "error[",
        ),
    ] {
        let run = bench.run(&format!("serve {arguments}"));
        assert_eq!(run.status, 2, "{run}");
        assert!(run.stderr.contains(told), "{run}");
    }
}

/// How many files a process may have open, where the system tells.
fn file_limit(process: u32) -> Option<u64> {
    let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).ok()?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[test]
#[cfg(target_os = "linux")]
fn the_limit_of_open_files_is_raised_as_far_as_it_goes() {
    let bench = Bench::new();
    let upstream = ["--upstream", "http://127.0.0.1:1", "--model", "chat.jinja"];
    let arguments = [&upstream[..], &["--template", "template.json"]].concat();
    let raised = Server::start_limited("ulimit -S -n 100", &bench.path(""), &arguments);
    assert_eq!(file_limit(raised.process()), Some(3136));
    let short = Server::start_limited("ulimit -n 100", &bench.path(""), &arguments);
    let warned = "warning[few-files]: 1024 requests at the same time may need 3136 open files, and the system allows 100";
    let told = &short.begun_with;
    assert!(told.iter().any(|line| line == warned), "{told:?}");
    assert_eq!(file_limit(short.process()), Some(100));
}
