//! `obverse record`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use obverse::value::{Value, json};

use crate::bench::{Bench, Run};
use crate::check::project;

const MESSAGES: &str = r#"[{"role": "user", "content": "Greet me"}]"#;

const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n";

/// A server that answers one request with these pieces, each of them sent by itself. Gives its base URL and what it was asked:
/// the head and the body.
fn server(pieces: Vec<Vec<u8>>) -> (String, Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let (sender, asked) = mpsc::channel();
    thread::spawn(move || {
        let (connection, _) = listener.accept().expect("a client");
        let mut reading = BufReader::new(connection.try_clone().expect("a handle"));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            reading.read_line(&mut head).expect("a header");
        }
        let length = head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .map_or(0, |(_, length)| length.parse().expect("a number"));
        let mut body = vec![0; length];
        reading.read_exact(&mut body).expect("the body");
        // Not every test asks.
        let _ = sender.send((head, String::from_utf8(body).expect("UTF-8")));
        let mut writing = connection;
        for piece in pieces {
            writing.write_all(&piece).expect("the client reads");
            writing.flush().expect("the client reads");
            thread::sleep(Duration::from_millis(10));
        }
    });
    (url, asked)
}

fn event(text: &str, finish: &str) -> String {
    let text = json::quote(text);
    format!("data: {{\"choices\": [{{\"text\": {text}, \"finish_reason\": {finish}}}]}}\n\n")
}

fn record(bench: &Bench, arguments: &[&str], input: &str) -> Run {
    bench.run_all(&[&["record"], arguments].concat(), input)
}

/// Asks a server for the response of a conversation.
fn ask(bench: &Bench, url: &str, more: &[&str]) -> Run {
    let arguments = [
        "fixtures/chat/asked",
        "--url",
        url,
        "--model",
        "m",
        "--messages",
        "messages.json",
    ];
    record(bench, &[&arguments, more].concat(), "")
}

fn project_with_messages() -> Bench {
    project().file("messages.json", MESSAGES)
}

fn recorded(bench: &Bench, fixture: &str, part: &str) -> Value {
    json::parse(&bench.read(&format!("{fixture}/{part}"))).expect("JSON")
}

#[test]
fn what_arrives_on_standard_input_is_recorded() {
    let bench = project_with_messages();
    let run = record(
        &bench,
        &["fixtures/chat/typed", "--messages", "messages.json"],
        "Hi \u{20ac}</assistant>",
    );
    assert_eq!(run.status, 0, "{run}");
    assert_eq!(
        run.stdout, "{\"role\": \"assistant\", \"content\": \"Hi \u{20ac}\"}\n",
        "{run}"
    );
    assert_eq!(
        run.stderr, "recorded fixtures/chat/typed: 18 bytes in 1 chunk\n",
        "{run}"
    );
    assert_eq!(
        bench.list("fixtures/chat/typed"),
        [
            "chunks.json",
            "expected.json",
            "messages.json",
            "response.txt"
        ]
    );
    assert_eq!(
        bench.read("fixtures/chat/typed/response.txt"),
        "Hi \u{20ac}</assistant>"
    );
    assert_eq!(bench.run("check").status, 0);
    let again = record(&bench, &["fixtures/chat/typed"], "x");
    assert_eq!(again.status, 2, "{again}");
    assert!(
        again.stderr.contains("there is a fixture already"),
        "{again}"
    );
    let replaced = record(
        &bench,
        &["fixtures/chat/typed", "--force", "--prefix", "<assistant>"],
        "x",
    );
    assert_eq!(replaced.status, 0, "{replaced}");
    assert_eq!(
        bench.list("fixtures/chat/typed"),
        ["chunks.json", "expected.json", "prefix.txt", "response.txt"]
    );
}

#[test]
fn lines_keep_their_chunks_and_need_no_template() {
    let bench = Bench::new();
    let lines = "\"Hel\"\n{\"choices\": [{\"text\": \"lo\"}]}\ndata: [DONE]\n";
    let run = record(&bench, &["loose", "--jsonl"], lines);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run}");
    assert!(
        run.stderr.contains("no response template belongs to it"),
        "{run}"
    );
    assert_eq!(bench.list("loose"), ["chunks.json", "response.txt"]);
    assert_eq!(
        json::to_string(&recorded(&bench, "loose", "chunks.json")),
        r#"["Hel", "lo"]"#
    );
    let nothing = record(&bench, &["other"], "");
    assert_eq!(nothing.status, 2, "{nothing}");
    assert!(
        nothing
            .stderr
            .contains("there is nothing to record: no text has arrived"),
        "{nothing}"
    );
    assert!(!bench.path("other").exists());
}

#[test]
fn a_suite_gets_another_line() {
    let bench = project();
    let config = bench
        .read("obverse.toml")
        .replace("fixtures/{name}/*", "fixtures/{name}.jsonl");
    let bench = bench.file("obverse.toml", config);
    let suite = "fixtures/chat.jsonl";
    for (arguments, told) in [
        (&[suite][..], "what is added to a suite needs a --name"),
        (&["folder", "--name", "a"], "--name is for suites"),
    ] {
        assert!(record(&bench, arguments, "x").refused(2).contains(told));
    }
    let run = record(&bench, &[suite, "--name", "typed"], "Hi</assistant>");
    assert_eq!(
        run.stderr, "recorded fixtures/chat.jsonl typed: 14 bytes in 1 chunk\n",
        "{run}"
    );
    let line = r#"{"name": "typed", "response": "Hi</assistant>", "chunks": ["Hi</assistant>"], "expected": {"role": "assistant", "content": "Hi"}}"#;
    assert_eq!(bench.read(suite), format!("{line}\n"));
    let again = record(&bench, &[suite, "--name", "typed"], "x").refused(2);
    assert!(
        again.contains("there is a fixture already: fixtures/chat.jsonl typed"),
        "{again}"
    );
    assert_eq!(bench.run("check").status, 0);
    // Who has the file open goes on with what it was: it is replaced, never half written.
    std::fs::hard_link(bench.path(suite), bench.path("before")).expect("a link");
    let run = record(&bench, &[suite, "--name", "more"], "Hi</assistant>");
    assert_eq!(run.status, 0, "{run}");
    assert_eq!(bench.read(suite).lines().count(), 2);
    assert_eq!(bench.read("before"), format!("{line}\n"));
    let replaced = record(
        &bench,
        &[suite, "--name", "typed", "--force"],
        "Ho</assistant>",
    );
    assert_eq!(replaced.status, 0, "{replaced}");
    let lines = bench.read(suite);
    assert_eq!(lines.lines().next(), Some(&*line.replace("Hi", "Ho")));
    assert_eq!(lines.lines().count(), 2);
}

#[test]
fn what_breaks_off_is_recorded_as_far_as_it_came() {
    let bench = project();
    let mut bytes = b"Hi ".to_vec();
    bytes.extend_from_slice(&"\u{20ac}".as_bytes()[..2]);
    let run = bench.run_with("record fixtures/chat/cut", &bytes);
    assert_eq!(run.status, 1, "{run}");
    assert!(
        run.stderr
            .contains("it broke off: invalid UTF-8 at byte 3 (the input ends inside a character)"),
        "{run}"
    );
    assert_eq!(bench.read("fixtures/chat/cut/response.txt"), "Hi ");
    // So is what came together with a byte that is no text.
    let run = bench.run_with("record fixtures/chat/odd", b"Hi\xff there");
    assert_eq!(run.status, 1, "{run}");
    assert!(
        run.stderr.contains("it broke off: invalid UTF-8 at byte 2"),
        "{run}"
    );
    assert_eq!(bench.read("fixtures/chat/odd/response.txt"), "Hi");
    assert_eq!(bench.run("check --no-derive").status, 0);
}

#[test]
fn a_response_that_does_not_parse_is_recorded_with_its_error() {
    let bench = Bench::new();
    let run = record(
        &bench,
        &["broken", "--template", "template.json"],
        "Hi<call>{oops</call>",
    );
    assert_eq!(run.status, 1, "{run}");
    assert!(run.stderr.contains("it does not parse"), "{run}");
    assert_eq!(
        json::to_string(&recorded(&bench, "broken", "error.json")),
        r#"{"kind": "json", "field": "tool_calls"}"#
    );
}

#[test]
fn text_that_no_field_takes_is_told_and_listed() {
    let template =
        r#"{"start_anchor": "A:", "fields": {"content": {"open": "<say>", "close": "</say>"}}}"#;
    let bench = Bench::new().file("tags.json", template);
    let arguments = ["lost", "--template", "tags.json"];
    let run = record(&bench, &arguments, "So:\n<say>Hi</say>\n");
    assert_eq!(run.status, 0, "{run}");
    assert!(
        run.stderr
            .contains("bytes 0 to 4: no field takes it: So:\\n\n"),
        "{run}"
    );
    assert_eq!(
        json::to_string(&recorded(&bench, "lost", "unclaimed.json")),
        r#"["So:\n"]"#
    );
}

#[test]
fn a_server_is_asked_for_raw_text() {
    let bench = project_with_messages();
    let events = [
        event("Hi \u{20ac}", "null"),
        event(" \u{1f600}</assistant>", "\"length\""),
    ]
    .concat();
    // Every byte arrives by itself, so that characters are cut as well.
    let mut pieces = vec![STREAM.as_bytes().to_vec()];
    pieces.extend(events.bytes().map(|byte| vec![byte]));
    pieces.push(b"data: [DONE]\n\n".to_vec());
    let (url, asked) = server(pieces);
    let output = bench
        .command()
        .args([
            "record",
            "fixtures/chat/asked",
            "--url",
            &url,
            "--model",
            "m",
            "--messages",
            "messages.json",
        ])
        .args([
            "--max-tokens",
            "7",
            "--temperature",
            "0",
            "--field",
            "skip_special_tokens=null",
            "--field",
            "seed=1",
        ])
        .args(["--api-key-env", "THE_KEY"])
        .env("THE_KEY", "secret")
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.ends_with("it ended at the limit of tokens\n"),
        "{told}"
    );
    let (head, body) = asked.recv().expect("a request");
    assert!(
        head.starts_with("POST /v1/completions HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(
        head.to_lowercase()
            .contains("authorization: bearer secret\r\n"),
        "{head}"
    );
    let body = json::parse(&body).expect("JSON");
    let expected = r#"{"model": "m", "prompt": "<user>Greet me</user><assistant>", "stream": true, "max_tokens": 7,
        "add_special_tokens": false, "spaces_between_special_tokens": false, "include_stop_str_in_output": true,
        "temperature": 0.0, "seed": 1}"#;
    assert_eq!(body, json::parse(expected).expect("JSON"));
    let chunks = recorded(&bench, "fixtures/chat/asked", "chunks.json");
    assert_eq!(
        json::to_string(&chunks),
        "[\"Hi \u{20ac}\", \" \u{1f600}</assistant>\"]"
    );
    assert_eq!(
        recorded(&bench, "fixtures/chat/asked", "messages.json"),
        json::parse(MESSAGES).expect("JSON")
    );
    assert_eq!(bench.run("check --no-derive").status, 0);
}

#[test]
fn a_stream_that_breaks_off_is_kept() {
    let bench = project_with_messages();
    let first = event("Hello", "null");
    let chunked = STREAM.replace("Connection: close", "Transfer-Encoding: chunked");
    for (head, rest, told) in [
        (
            STREAM,
            String::new(),
            "it broke off: the server ended the stream before its end",
        ),
        (
            &chunked,
            "ff\r\ndata: {\"cho".to_owned(),
            "it broke off: the connection failed",
        ),
        (
            STREAM,
            "data: {\"error\": {\"message\": \"no \\u001b memory\"}}\n\n".to_owned(),
            "the server says: no \\u{1b} memory",
        ),
    ] {
        let first = if head == STREAM {
            first.clone()
        } else {
            format!("{:x}\r\n{first}\r\n", first.len())
        };
        let (url, _asked) = server(vec![head.into(), first.into_bytes(), rest.into_bytes()]);
        let run = ask(&bench, &url, &["--force"]);
        assert_eq!(run.status, 1, "{run}");
        assert!(run.stderr.contains(told), "{told} in {run}");
        assert_eq!(
            run.stdout,
            "{\"role\": \"assistant\", \"content\": \"Hello\"}\n"
        );
        assert_eq!(bench.read("fixtures/chat/asked/response.txt"), "Hello");
    }
}

#[test]
fn a_server_that_does_not_stream_is_told_with_the_remedy() {
    let bench = project_with_messages();
    let answer = |status: &str, kind: &str, body: &str| {
        let text = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        server(vec![text.into_bytes()]).0
    };
    let gone = TcpListener::bind("127.0.0.1:0")
        .expect("a port")
        .local_addr()
        .expect("an address");
    for (url, told, remedy) in [
        (
            format!("http://{gone}/v1"),
            "cannot be asked",
            "nothing listens there",
        ),
        (
            "localhost/v1".to_owned(),
            "cannot be asked",
            "give the base URL",
        ),
        (
            answer(
                "404 Not Found",
                "application/json",
                r#"{"detail": "Not Found"}"#,
            ),
            "the server has no /completions at",
            "give the base URL",
        ),
        (
            answer("200 OK", "text/html", "<h1>Hello</h1>"),
            "does not answer with a stream of events, but with: <h1>Hello</h1>",
            "stream them",
        ),
        (
            answer(
                "400 Bad Request",
                "application/json",
                r#"{"error": {"message": "no such field"}}"#,
            ),
            "it says: no such field",
            "--field skip_special_tokens=null",
        ),
        (
            answer("401 Unauthorized", "text/plain", ""),
            "the server wants a key, or another one; it says: nothing",
            "--api-key-env",
        ),
        (
            server(vec![format!("{STREAM}data: [DONE]\n\n").into_bytes()]).0,
            "there is nothing to record: no text has arrived",
            "",
        ),
    ] {
        let run = ask(&bench, &url, &[]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run}");
        assert!(
            run.stderr.contains(told) && run.stderr.contains(remedy),
            "{told} in {run}"
        );
        assert!(!bench.path("fixtures/chat/asked").exists(), "{run}");
    }
    let promptless = record(
        &bench,
        &["x", "--url", "http://127.0.0.1:1/v1", "--model", "m"],
        "",
    );
    assert!(
        promptless
            .refused(2)
            .contains("a server needs a prompt to write after")
    );
    let keyless = ask(
        &bench,
        "http://127.0.0.1:1/v1",
        &["--api-key-env", "NO_SUCH_KEY_HERE"],
    );
    assert_eq!(keyless.status, 2, "{keyless}");
    assert!(
        keyless.stderr.contains("NO_SUCH_KEY_HERE holds no key"),
        "{keyless}"
    );
}

/// A server that answers every request with the same text.
fn parrot(text: &str) -> String {
    let answer = format!("{STREAM}{}data: [DONE]\n\n", event(text, "\"stop\""));
    answering(move |_| answer.clone())
}

/// A server that answers each request with what is made for its number.
fn answering(answer: impl Fn(usize) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for (number, connection) in listener.incoming().map_while(Result::ok).enumerate() {
            let mut reading = BufReader::new(connection.try_clone().expect("a handle"));
            let (mut line, mut length) = (String::new(), 0);
            while line != "\r\n" {
                line.clear();
                reading.read_line(&mut line).expect("a header");
                if let Some(number) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = number.trim().parse().expect("a number");
                }
            }
            reading.read_exact(&mut vec![0; length]).expect("the body");
            let mut writing = connection;
            writing
                .write_all(answer(number).as_bytes())
                .expect("the client reads");
        }
    });
    url
}

#[test]
fn a_suite_asks_for_every_kind_and_teaches_the_deriver() {
    let bench = project();
    let url = parrot("Hi there.</done>");
    let asked = |bench: &Bench, path: &str, more: &[&str]| {
        let arguments = [path, "--suite", "--url", &url, "--model", "m"];
        record(bench, &[&arguments, more].concat(), "")
    };
    let refused = asked(&bench, "folder", &["--chat-template", "chat.jinja"]).refused(2);
    assert!(refused.contains("folder is no suite"), "{refused}");
    let refused = asked(&bench, "recorded.jsonl", &[]).refused(2);
    assert!(
        refused.contains("give the chat template with --chat-template"),
        "{refused}"
    );
    let run = asked(&bench, "recorded.jsonl", &["--chat-template", "chat.jinja"]);
    assert_eq!(run.status, 0, "{run}");
    let suite = bench.read("recorded.jsonl");
    let lines: Vec<Value> = suite
        .lines()
        .map(|line| json::parse(line).expect("JSON"))
        .collect();
    let name = |line: &Value| line.get("name").and_then(Value::as_str).map(str::to_owned);
    let names: Vec<String> = lines.iter().filter_map(name).collect();
    assert_eq!(names.len(), 9, "{names:?}");
    assert!(names.contains(&"several-calls".to_owned()), "{names:?}");
    for line in &lines {
        assert_eq!(
            line.get("response").and_then(Value::as_str),
            Some("Hi there.</done>")
        );
        assert_eq!(line.get("expected"), None);
        assert!(line.get("messages").is_some(), "{line:?}");
    }
    let offered = lines.iter().filter(|line| line.get("tools").is_some());
    assert_eq!(offered.count(), 5);
    // Fixtures that are there are left alone.
    let again = asked(&bench, "recorded.jsonl", &["--chat-template", "chat.jinja"]);
    assert_eq!(again.status, 0, "{again}");
    assert_eq!(
        again.stderr.matches("is there already").count(),
        9,
        "{again}"
    );
    assert_eq!(bench.read("recorded.jsonl"), suite);
    let run = bench.run("derive chat.jinja --responses recorded.jsonl");
    assert!(
        run.stderr.contains("of 9 responses are read right"),
        "{run}"
    );
}

#[test]
fn a_suite_goes_on_after_a_request_that_is_not_answered() {
    const BROKEN: &str =
        "HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\nContent-Length: 4\r\n\r\noops";
    let answer = format!(
        "{STREAM}{}data: [DONE]\n\n",
        event("Hi.</done>", "\"stop\"")
    );
    let bench = project();
    let asked = |url: &str| {
        let arguments = ["recorded.jsonl", "--suite", "--url", url, "--model", "m"];
        record(
            &bench,
            &[&arguments[..], &["--chat-template", "chat.jinja"]].concat(),
            "",
        )
    };
    // A server that answers nobody is not asked for all.
    let none = asked(&answering(|_| BROKEN.to_owned())).refused(2);
    assert_eq!(none.matches("is left out").count(), 1, "{none}");
    assert!(none.contains("error[refused]"), "{none}");
    let run = asked(&answering(move |number| match number {
        0 | 3 | 4 => BROKEN.to_owned(),
        _ => answer.clone(),
    }));
    assert_eq!(run.status, 1, "{run}");
    assert_eq!(
        run.stderr
            .matches("is left out: the server answers with status 500")
            .count(),
        3,
        "{run}"
    );
    assert!(
        run.stderr
            .ends_with("3 requests not answered; the same command asks for what is missing\n"),
        "{run}"
    );
    assert_eq!(bench.read("recorded.jsonl").lines().count(), 6, "{run}");
    assert_eq!(asked(&parrot("Hi.</done>")).status, 0);
    assert_eq!(bench.read("recorded.jsonl").lines().count(), 9);
}

#[test]
fn a_recording_goes_into_a_folder_of_its_own() {
    let bench = Bench::new()
        .file("t.json", "{}")
        .file("all/one/response.txt", "Hi");
    let refused = bench.run_with("record t.json", "Hi").refused(2);
    assert!(refused.contains("t.json is a file"), "{refused}");
    let refused = bench.run_with("record all", "Hi").refused(2);
    assert!(refused.contains("all has fixtures in it"), "{refused}");
}
