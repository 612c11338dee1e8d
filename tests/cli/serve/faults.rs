//! What goes wrong: upstreams that die, say nothing or talk nonsense, clients that leave or ask for too much.

use std::io::Read as _;
use std::time::Duration;

use super::server::Answer;
use super::upstream::{Does, response};
use super::{ASKED, WHOLE, served, served_with, texts};

fn begun(more: &[Does]) -> Vec<Does> {
    let text = Does::Text("Hi<call>{\"name\": \"f\", \"arguments\": {\"a\": \"b".to_owned());
    [&[Does::Begin, text], more].concat()
}

/// What the client of a stream gets to know of an upstream that goes on like this, and of a reply that is not streamed.
fn told(more: &[Does], arguments: &[&str]) -> [String; 2] {
    let more = more.to_vec();
    let (_bench, _fake, server) = served_with(move |_| begun(&more), arguments);
    let streamed = server.chat(ASKED);
    assert_eq!(streamed.status, 200);
    let events = streamed.events();
    assert_eq!(
        texts(&events, "arguments").0,
        ["{\"a\": \"b"],
        "what came is sent"
    );
    assert_eq!(texts(&events, "arguments").1, None, "{events:?}");
    let last = events.last().expect("an event");
    let last = Answer {
        status: 0,
        head: String::new(),
        body: (*last).to_owned(),
    };
    let whole = server.chat(WHOLE);
    assert!(matches!(whole.status, 502 | 504), "{whole:?}");
    [last.error(), whole.error()]
}

#[test]
fn an_upstream_dies_in_the_middle_of_a_call() {
    for message in told(&[], &[]) {
        assert!(
            message.contains("ended the response before its end"),
            "{message}"
        );
    }
}

#[test]
fn an_upstream_talks_nonsense() {
    for (bytes, expected) in [
        ("data: <html>\n\n", "not JSON: <html>"),
        (
            "data: {\"error\": {\"message\": \"out of memory\"}}\n\n",
            "says: out of memory",
        ),
        (
            "data: {\"choices\": [{\"delta\": {}}]}\n\n",
            "raw completions are needed",
        ),
        ("data: {\"choices\": 7}\n\n", "no completion"),
    ] {
        for message in told(&[Does::Raw(bytes.to_owned()), Does::Wait(60_000)], &[]) {
            assert!(message.contains(expected), "{message}");
        }
    }
}

#[test]
fn an_upstream_says_nothing() {
    for message in told(&[Does::Wait(60_000)], &["--timeout", "1"]) {
        assert!(message.contains("says nothing for 1 seconds"), "{message}");
    }
}

#[test]
fn a_response_lasts_too_long_or_is_too_long() {
    for message in told(&[Does::Wait(60_000)], &["--lasting", "1"]) {
        assert!(
            message.contains("longer than an exchange may last"),
            "{message}"
        );
    }
    let much = Does::Text("x".repeat(2000));
    for message in told(&[much, Does::End("stop")], &["--max-response", "1K"]) {
        assert!(
            message.contains("longer than the server takes"),
            "{message}"
        );
    }
}

#[test]
fn an_upstream_refuses() {
    let answer = |status: &str, body: &str| {
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let (_bench, _fake, server) = served_with(move |_| vec![Does::Raw(head.clone())], &[]);
        let answer = server.chat(ASKED);
        (answer.status, answer.error())
    };
    let long = r#"{"error": {"message": "the prompt is too long"}}"#;
    let (status, message) = answer("400 Bad Request", long);
    assert_eq!(status, 400);
    assert!(
        message.ends_with("does not take the request: the prompt is too long"),
        "{message}"
    );
    assert_eq!(
        answer("401 Unauthorized", "{}").0,
        502,
        "that key is not the client's"
    );
    assert_eq!(answer("429 Too Many Requests", "{}").0, 429);
    let (status, message) = answer("200 OK", "{\"choices\": []}");
    assert_eq!(status, 502);
    assert!(
        message.contains("does not answer with a stream"),
        "{message}"
    );
}

#[test]
fn an_upstream_is_not_there() {
    let (_bench, _fake, server) =
        served_with(|_| Vec::new(), &["--upstream-model", "m", "--field", "x=1"]);
    assert_eq!(server.chat(ASKED).status, 502, "it hangs up at once");
    let arguments = [
        "--upstream",
        "http://127.0.0.1:9/v1",
        "--model",
        "chat.jinja",
        "--template",
        "template.json",
    ];
    let bench = crate::bench::Bench::new();
    let server = super::Server::start(&bench.path(""), &arguments);
    let answer = server.chat(ASKED);
    assert_eq!(answer.status, 502);
    assert!(
        answer
            .error()
            .contains("cannot be asked at http://127.0.0.1:9/v1/"),
        "{answer:?}"
    );
}

/// Streamed or not: who leaves takes the request to the upstream along.
#[test]
fn a_client_leaves() {
    let (bench, fake, server) =
        served_with(|_| begun(&[Does::Wait(60_000)]), &["--record", "kept"]);
    for body in [ASKED, WHOLE] {
        let mut connection = server.open("POST", "/v1/chat/completions", "", body);
        fake.asked();
        let is_begun = body == ASKED;
        if is_begun {
            let mut text = String::new();
            while !text.contains("arguments") {
                let mut piece = [0; 256];
                let count = connection.read(&mut piece).expect("a beginning");
                text.push_str(std::str::from_utf8(&piece[..count]).expect("ASCII"));
            }
        }
        drop(connection);
        let left = fake.left.recv_timeout(Duration::from_secs(10));
        left.unwrap_or_else(|_| panic!("the upstream goes on: {body}"));
        server.told_about("the client left");
        if is_begun {
            server.told_about("recorded ");
        }
    }
    assert_eq!(
        bench.run("check kept").status,
        0,
        "what was cut short is recorded as it is"
    );
    assert_eq!(
        server.send("GET", "/health", "", "").body,
        r#"{"status":"ok","exchanges":0}"#
    );
}

#[test]
fn a_client_asks_for_too_much() {
    let (_bench, _fake, server) = served_with(|_| response(["Hi"]), &["--max-request", "1K"]);
    let long = WHOLE.replace("\"q\"", &format!("\"{}\"", "q".repeat(1100)));
    assert_eq!(server.chat(&long).status, 413);
    let chunked = format!("{:x}\r\n{long}\r\n0\r\n\r\n", long.len());
    let mut text = String::new();
    let head = "Host: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut connection = std::net::TcpStream::connect(&server.address).expect("the server listens");
    std::io::Write::write_all(
        &mut connection,
        format!("POST /v1/chat/completions HTTP/1.1\r\n{head}{chunked}").as_bytes(),
    )
    .expect("it reads");
    connection.read_to_string(&mut text).expect("an answer");
    assert_eq!(Answer::of(&text).status, 413);
    for (body, told) in [
        ("{", "not JSON"),
        ("{}", "there are no `messages`"),
        ("\u{1f600}", "not JSON"),
    ] {
        let answer = server.chat(body);
        assert_eq!(answer.status, 400);
        assert!(answer.error().contains(told), "{answer:?}");
    }
}

#[test]
fn no_more_are_answered_than_there_are_places() {
    let (_bench, fake, server) =
        served_with(|_| begun(&[Does::Wait(60_000)]), &["--max-exchanges", "1"]);
    let first = server.open("POST", "/v1/chat/completions", "", ASKED);
    fake.asked();
    let second = server.chat(ASKED);
    assert_eq!(second.status, 503, "{second:?}");
    assert!(
        second.head.to_lowercase().contains("retry-after"),
        "{}",
        second.head
    );
    drop(first);
    fake.left
        .recv_timeout(Duration::from_secs(10))
        .expect("the place is free again");
}

/// A chat template that refuses a conversation says why.
#[test]
fn a_conversation_is_refused() {
    let (bench, fake, _server) = served(&["Hi"]);
    let bench = bench.file("strict.jinja", "{{ raise_exception('no such role') }}");
    let arguments = [
        "--upstream",
        &fake.url,
        "--model",
        "strict.jinja",
        "--template",
        "template.json",
    ];
    let server = super::Server::start(&bench.path(""), &arguments);
    let answer = server.chat(ASKED);
    assert_eq!(answer.status, 400);
    assert!(answer.error().contains("no such role"), "{answer:?}");
}
