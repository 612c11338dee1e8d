//! Whatever comes in, in whatever order: nothing panics, and nothing harmful is drawn.

use std::time::Duration;

use crossterm::event::{Event, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use fastrand::Rng;
use obverse::chunking::Chunking;
use obverse::tui::{Incoming, Sample, Setup};

use crate::bench::{Bench, RESPONSE, TEMPLATE, TRAP, derivation, open, press, setup};
use crate::hostile::{HOSTILE, is_harmless};

const KEYS: &[&str] = &[
    "<right>",
    "<left>",
    "<s-right>",
    "<s-left>",
    "]",
    "[",
    "}",
    "{",
    "g",
    "G",
    "x",
    "X",
    "f",
    ";",
    "'",
    ":",
    "/",
    "n",
    "N",
    "<space>",
    "+",
    "-",
    "b",
    "c",
    "C",
    "k",
    "K",
    "H",
    "h",
    "l",
    "o",
    "e",
    "p",
    "r",
    "s",
    "S",
    "<c-s>",
    "<tab>",
    "<backtab>",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "z",
    "<down>",
    "<up>",
    "<pagedown>",
    "<pageup>",
    "<enter>",
    "m",
    "w",
    "y",
    "Y",
    "?",
    "<f1>",
    "<esc>",
    "<home>",
    "<end>",
    "<c-home>",
    "<c-end>",
    "<backspace>",
    "<delete>",
    "<c-w>",
    "<c-u>",
    "<c-k>",
    "<c-z>",
    "<c-y>",
    "a",
    "d",
    "é",
    "漢",
    "\"",
    "\\",
    "<lt>",
    "field content<enter>",
    "text <lt><enter>",
    "3b<enter>",
    "random:1<enter>",
    "tokens:x<enter>",
];

/// Something that comes in; `q` and what else ends it are left out.
fn happen(bench: &mut Bench, rng: &mut Rng) {
    match rng.u8(..20) {
        0..=14 => press(bench, KEYS[rng.usize(..KEYS.len())]),
        15 => bench.pass(Duration::from_millis(rng.u64(..500))),
        16 => {
            let from = rng.usize(..HOSTILE.len());
            let bytes = HOSTILE.as_bytes()[from..].iter().take(rng.usize(..9));
            bench.take(Incoming::Bytes(bytes.copied().collect()));
        }
        17 if rng.u8(..20) == 0 => bench.take(Incoming::Ended(None)),
        17 => bench.take(Incoming::Terminal(Event::Paste(HOSTILE.to_owned()))),
        _ => {
            let kinds = [
                MouseEventKind::Down(MouseButton::Left),
                MouseEventKind::ScrollDown,
                MouseEventKind::ScrollUp,
            ];
            bench.take(Incoming::Terminal(Event::Mouse(MouseEvent {
                kind: kinds[rng.usize(..kinds.len())],
                column: rng.u16(..130),
                row: rng.u16(..50),
                modifiers: KeyModifiers::NONE,
            })));
        }
    }
}

#[test]
fn nothing_panics() {
    anything(0..60);
}

#[test]
#[ignore = "half a minute; `.ci/run` runs it"]
fn nothing_panics_at_length() {
    anything(60..360);
}

fn anything(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut rng = Rng::with_seed(seed);
        let live = Sample {
            live: true,
            ..Sample::new("live", "")
        };
        let mut samples = vec![
            Sample::new("calls", RESPONSE),
            Sample::new("hostile", HOSTILE),
            Sample::new("empty", ""),
            live,
        ];
        rng.shuffle(&mut samples);
        let template = if rng.bool() { TEMPLATE } else { TRAP };
        let mut bench = open(Setup {
            samples,
            derivation: rng.bool().then(derivation),
            chunking: Chunking::Bytes(rng.usize(1..9)),
            ..setup(template, "")
        });
        for step in 0..120 {
            happen(&mut bench, &mut rng);
            let (width, height) = (rng.u16(1..130), rng.u16(1..50));
            let screen = bench.screen(width, height).to_text();
            assert!(is_harmless(&screen), "seed {seed}, step {step}: {screen}");
        }
        let session = obverse::tui::session::read(&bench.session()).expect("a session");
        open(session.expect("one that opens")).screen(80, 24);
    }
}
