//! How fast the debugger is on a long response: 1 MB in 250,000 chunks. Beside the frames stands the floor: ratatui drawing an
//! empty one.
//!
//! `cargo run --release --example debugger_speed`

#![expect(clippy::print_stdout, reason = "it prints what it measured")]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use obverse::chunking::Chunking;
use obverse::tui::{Debugger, Host, Sample, Setup, Template, Theme};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const BYTES: usize = 1 << 20;
const CHUNK: usize = 4;
const ROUNDS: u32 = 200;

const TEMPLATE: &str = r#"{
  "start_anchor": "<assistant>",
  "fields": {
    "thinking": {"open": "<think>", "close": "</think>"},
    "content": {"close_pattern": "<end>\\s*"},
    "tool_calls": {"open": "<call>", "close": "</call>", "repeats": true, "content": "json"}
  }
}"#;

struct Nothing;

impl Host for Nothing {
    fn read(&mut self, _: &Path) -> Result<Option<String>, String> {
        Ok(None)
    }

    fn write(&mut self, _: &Path, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn remove(&mut self, _: &Path) -> Result<(), String> {
        Ok(())
    }

    fn copy(&mut self, _: &str) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (name, response) in [("one long region", long()), ("many regions", many())] {
        println!("{name}: {} bytes in chunks of {CHUNK}", response.len());
        measure(&response)?;
    }
    for (width, height) in [(80, 24), (120, 40), (240, 70)] {
        let mut terminal = Terminal::new(TestBackend::new(width, height))?;
        let floor = time(|| {
            let drawn = terminal.draw(|frame| {
                black_box(frame);
            });
            drawn.map(|_| ())
        })?;
        println!("an empty frame at {width}x{height}: {floor:?}");
    }
    Ok(())
}

fn measure(response: &str) -> Result<(), Box<dyn std::error::Error>> {
    let template = Template::load(TEMPLATE, None)?;
    let started = Instant::now();
    let setup = Setup {
        chunking: Chunking::Characters(CHUNK),
        ..Setup::new(template, vec![Sample::new("long", response)])
    };
    let mut debugger = Debugger::new(setup, Theme { color: true }, Nothing);
    let mut terminal = Terminal::new(TestBackend::new(120, 40))?;
    terminal.draw(|frame| debugger.draw(frame))?;
    println!("  opened and drawn: {:?}", started.elapsed());
    let started = Instant::now();
    debugger.type_keys("]")?;
    println!("  the first step over an event: {:?}", started.elapsed());
    for (name, keys) in [
        ("a chunk on", "<right>"),
        ("a chunk back", "<left>"),
        ("a character on", "."),
        ("an event on", "]"),
        ("an event back", "["),
        ("to the end", "G"),
    ] {
        debugger.type_keys(":600000<enter>")?;
        let step = time(|| debugger.type_keys(keys))?;
        println!("  {name}: {step:?}");
    }
    for (width, height) in [(80, 24), (120, 40), (240, 70)] {
        let mut terminal = Terminal::new(TestBackend::new(width, height))?;
        debugger.type_keys(":600000<enter>")?;
        let frame = time(|| terminal.draw(|frame| debugger.draw(frame)).map(|_| ()))?;
        println!("  a frame at {width}x{height}: {frame:?}");
    }
    Ok(())
}

/// The mean time of a call.
fn time<T, E>(mut call: impl FnMut() -> Result<T, E>) -> Result<Duration, E> {
    let started = Instant::now();
    for _ in 0..ROUNDS {
        black_box(call()?);
    }
    Ok(started.elapsed() / ROUNDS)
}

fn long() -> String {
    let sentence = "Some words about nothing, with a < here and a line feed at the end.\n";
    format!(
        "<think>{}</think>Yes.<end>\n",
        sentence.repeat(BYTES / sentence.len())
    )
}

fn many() -> String {
    let call =
        "Let me look. <call>{\"name\": \"look\", \"arguments\": {\"at\": [1, 2, 3]}}</call>\n";
    call.repeat(BYTES / call.len())
}
