//! Many streams at once, and what each of them takes.

use std::io::Read as _;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use obverse::value::{Value, json};

use super::server::Answer;
use super::upstream::{Does, Meeting};
use super::{ASKED, served_with, texts};

/// How much memory a process has, in KiB.
fn memory(process: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The response of a stream: a call whose arguments tell its number all over.
fn pieces(number: usize) -> Vec<String> {
    let mut pieces = vec![
        format!("<think>{number}</think>"),
        "<call>{\"name\": \"f\", \"arguments\": {\"a\": \"".to_owned(),
    ];
    pieces.extend((0..100).map(|piece| format!("{number}-{piece} ")));
    pieces.push("\"}}</call>".to_owned());
    pieces
}

fn held(count: usize) {
    // The clients and the upstream are this process; a system may begin with 1024.
    let files = 3 * count as u64 + 64;
    let limit = rlimit::increase_nofile_limit(files).expect("a limit");
    assert!(limit >= files, "the system allows {limit} open files only");
    // All have begun before any goes on, and all are in their arguments when they are counted.
    let begun = Meeting::of(count);
    let counted = Meeting::of(count + 1);
    let upstream = (Arc::clone(&begun), Arc::clone(&counted));
    let (_bench, fake, server) = served_with(
        move |asked| {
            let prompt = asked
                .get("prompt")
                .and_then(Value::as_str)
                .expect("a prompt");
            let number: String = prompt.chars().filter(char::is_ascii_digit).collect();
            let mut all = vec![Does::Begin];
            for (place, piece) in pieces(number.parse().expect("a number"))
                .into_iter()
                .enumerate()
            {
                all.push(Does::Text(piece));
                if place == 50 {
                    all.push(Does::Meet(Arc::clone(&upstream.0)));
                    all.push(Does::Meet(Arc::clone(&upstream.1)));
                    all.push(Does::Meet(Arc::clone(&upstream.1)));
                }
            }
            all.push(Does::End("stop"));
            all
        },
        &["--max-exchanges", "2000"],
    );
    let idle = memory(server.process());
    let server = Arc::new(server);
    let started = Instant::now();
    let clients: Vec<_> = (0..count)
        .map(|number| {
            let server = Arc::clone(&server);
            let client = move || {
                let asked = ASKED.replace("\"q\"", &format!("\"{number}\""));
                let mut connection = server.open("POST", "/v1/chat/completions", "", &asked);
                let mut text = String::new();
                connection.read_to_string(&mut text).expect("an answer");
                let answer = Answer::of(&text);
                assert_eq!(answer.status, 200, "{answer:?}");
                let events = answer.events();
                let arguments = json::parse(&texts(&events, "arguments").0.concat()).expect("JSON");
                let expected: String = (0..100).map(|piece| format!("{number}-{piece} ")).collect();
                assert_eq!(
                    arguments.get("a").and_then(Value::as_str),
                    Some(expected.as_str())
                );
                assert_eq!(texts(&events, "content").1.as_deref(), Some("tool_calls"));
                events.len()
            };
            let thread = thread::Builder::new().stack_size(256 << 10);
            thread.spawn(client).expect("a thread")
        })
        .collect();
    let all_are_open = counted.wait();
    let busy = memory(server.process());
    let per_stream = busy.saturating_sub(idle) as f64 / count as f64;
    if all_are_open {
        counted.wait();
    }
    let events: usize = clients
        .into_iter()
        .map(|client| client.join().expect("a client"))
        .sum();
    assert!(all_are_open, "some streams never got as far as the others");
    let took = started.elapsed().as_secs_f64();
    eprintln!(
        "{count} streams: {events} events in {took:.1} s; {idle} KiB before, {busy} KiB with all open: {per_stream:.1} KiB a stream"
    );
    assert_eq!(fake.asked.try_iter().count(), count);
    assert!(per_stream < 200.0, "a stream takes {per_stream} KiB");
    let health = server.send("GET", "/health", "", "").body;
    assert_eq!(health, r#"{"status":"ok","exchanges":0}"#);
}

#[test]
fn streams_do_not_mix() {
    held(40);
}

#[test]
#[ignore = "a thousand threads; `.ci/run` runs it"]
fn a_thousand_streams_at_once() {
    held(1000);
}
