//! The main loop, on a backend without a terminal.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use obverse::tui::{Incoming, Input, Sample};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::bench::{Bench, TEMPLATE, calls, open, pane, press, screen, setup, title};

/// What comes in, in its order; `None` is a pause.
struct Script(VecDeque<Option<Incoming>>);

impl Input for Script {
    fn next(&mut self, _: Duration) -> io::Result<Option<Incoming>> {
        self.0
            .pop_front()
            .ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
    }
}

fn key(code: KeyCode) -> Option<Incoming> {
    Some(Incoming::Terminal(Event::Key(KeyEvent::new(
        code,
        KeyModifiers::NONE,
    ))))
}

fn run(bench: &mut Bench, script: Vec<Option<Incoming>>) -> (io::Result<()>, String) {
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
    let ended = bench.run(&mut terminal, &mut Script(script.into()));
    (ended, terminal.backend().to_string())
}

#[test]
fn keys_are_drawn_and_q_ends_it() {
    let mut bench = calls();
    let script = vec![
        key(KeyCode::Right),
        None,
        key(KeyCode::Right),
        None,
        key(KeyCode::Char('q')),
    ];
    let (ended, screen) = run(&mut bench, script);
    ended.expect("no error");
    assert!(bench.has_quit());
    assert!(screen.contains("byte 8/"), "{screen}");
}

#[test]
fn an_input_that_fails_ends_it_with_an_error() {
    let (ended, _) = run(&mut calls(), vec![None]);
    assert_eq!(
        ended.expect_err("an error").kind(),
        io::ErrorKind::UnexpectedEof
    );
}

#[test]
fn a_live_response_is_shown_as_it_arrives() {
    let mut setup = setup(TEMPLATE, "");
    setup.samples = vec![Sample {
        live: true,
        ..Sample::new("<stdin>", "")
    }];
    let mut bench = open(setup);
    let bytes = |bytes: &[u8]| Incoming::Bytes(bytes.to_vec());
    bench.take(bytes(b"<think>h\xc3"));
    assert!(title(&mut bench).contains("live"));
    assert!(pane(&mut bench, 2).contains("text  thinking h"));
    bench.take(bytes(b"\xa9m</th"));
    assert!(pane(&mut bench, 3).contains("holds 4 B </th"));
    // Looking back does not stop what arrives, and the end follows it again.
    press(&mut bench, "g");
    bench.take(bytes(b"ink>Hi"));
    assert!(title(&mut bench).contains("byte 0/21"));
    press(&mut bench, "G");
    bench.take(bytes(b"!<end>"));
    assert!(title(&mut bench).contains("byte 27/27"));
    bench.take(Incoming::Ended(None));
    assert!(title(&mut bench).contains("end byte 27/27"));
    // It stays cut as it arrived.
    assert!(title(&mut bench).contains("recorded"));
    assert!(pane(&mut bench, 4).contains("content \"Hi!\""));
    press(&mut bench, "g<right>");
    assert!(title(&mut bench).contains("chunk 1/"));
}

#[test]
fn what_has_arrived_is_worked_on_while_more_arrives() {
    let mut setup = setup(TEMPLATE, "");
    setup.samples[0].live = true;
    let mut bench = open(setup);
    let bytes = |bytes: &[u8]| Incoming::Bytes(bytes.to_vec());
    bench.take(bytes(b"<think>hm</think>"));
    bench.take(bytes(b"Hi"));
    // The prefix is the live response's own.
    press(&mut bench, "p<lt>assistant>so ");
    bench.take(bytes(b" the"));
    press(&mut bench, "<esc>");
    assert!(pane(&mut bench, 1).contains("so <think>hm</think>Hi the"));
    assert!(title(&mut bench).contains("live"));
    // The response that is edited is a copy.
    press(&mut bench, "e");
    assert!(screen(&mut bench).contains("a copy of what has arrived"));
    press(&mut bench, "!");
    bench.take(bytes(b"re"));
    press(&mut bench, "<esc>");
    assert!(title(&mut bench).contains("sample.txt (copy) 2/2"));
    assert!(
        pane(&mut bench, 1).ends_with("Hi the!"),
        "{}",
        pane(&mut bench, 1)
    );
    assert!(
        pane(&mut bench, 4).contains("content \"Hi the!\""),
        "{}",
        pane(&mut bench, 4)
    );
    press(&mut bench, "o<up><enter>");
    assert!(
        title(&mut bench).contains("byte 25/25 live"),
        "{}",
        title(&mut bench)
    );
    bench.take(Incoming::Ended(None));
    assert!(title(&mut bench).contains("end byte 25/25"));
}

#[test]
fn what_has_arrived_is_saved_while_more_arrives() {
    let mut setup = setup(TEMPLATE, "");
    setup.samples[0].live = true;
    setup.samples[0].name = "<stdin>".to_owned();
    let mut bench = open(setup);
    bench.take(Incoming::Bytes(b"H".to_vec()));
    bench.take(Incoming::Bytes(b"i".to_vec()));
    press(&mut bench, "s<enter>y");
    let chunks = &bench.host().files[std::path::Path::new("fixtures/stdin-copy/chunks.json")];
    assert!(
        chunks.contains("\"H\"") && chunks.contains("\"i\""),
        "{chunks}"
    );
    assert!(title(&mut bench).contains("<stdin> (copy) 2/2"));
}

#[test]
fn a_live_response_that_breaks_off_is_told() {
    let mut setup = setup(TEMPLATE, "");
    setup.samples[0].live = true;
    let mut bench = open(setup);
    bench.take(Incoming::Bytes(b"H\xff".to_vec()));
    assert!(
        screen(&mut bench).contains("UTF-8"),
        "{}",
        screen(&mut bench)
    );
}
