//! Reading with a grammar as text arrives, beside reading all of it again at every chunk with the same machine.
//!
//! Prints a table in Markdown: for each size the whole at once, in chunks of four bytes (in all, and the time for one chunk), and read
//! again at each chunk (the last chunk's time, and in all where that ends soon).

use std::hint::black_box;
use std::time::{Duration, Instant};

use obverse::grammar::peg::{Expr, Grammar, Parser, build::*};
use obverse::grammar::reader::{Reader, Template};

const CHUNK: usize = 4;

/// Reading again takes the square of the text: beyond these sizes it is not done for every chunk, and below them it is not to be measured.
const AGAIN: std::ops::RangeInclusive<usize> = 16 << 10..=64 << 10;

const SIZES: [usize; 5] = [1 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];

/// Reasoning, content and calls as JSON; with cuts behind the markers, or without.
fn grammar(cuts: bool) -> Grammar {
    let decided = |open: &str| {
        if cuts {
            literal(open) + cut()
        } else {
            literal(open)
        }
    };
    let call: Expr = decided("<call>")
        + "{"
        + json_member(
            "name",
            "\"" + tag("tool-name", json_string_content()) + "\"",
        )
        + space()
        + ","
        + space()
        + json_member("arguments", tag("tool-args", json_object()))
        + "}</call>";
    let thought = decided("<think>") + tag("reasoning", until("</think>")) + "</think>";
    let root = optional(thought)
        + tag("content", until("<call>"))
        + zero_or_more(tag("tool", call) + space())
        + end();
    Grammar::build(root).expect("a grammar")
}

/// Half reasoning, half calls.
fn text(size: usize) -> String {
    let mut text = String::from("<think>");
    while text.len() < size / 2 {
        text += "The user wants 1 < 2 to hold, so both must be looked at. ";
    }
    text += "</think>So be it.";
    while text.len() < size {
        text += r#"<call>{"name": "add", "arguments": {"a": [1, 2.5e3], "b": {"c": "two \"words\"\n"}}}</call>"#;
        text += "\n";
    }
    text
}

/// The processor's time of this thread, where the system tells it: other work on the machine does not count. Elsewhere the clock's.
fn clock(begun: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|told| told.split_whitespace().next()?.parse().ok());
    nanos.map_or_else(|| begun.elapsed(), Duration::from_nanos)
}

/// The mean of as many runs as take a fifth of a second.
fn mean(mut run: impl FnMut()) -> Duration {
    let begun = Instant::now();
    run();
    let (start, mut runs) = (clock(begun), 0);
    loop {
        run();
        runs += 1;
        let spent = clock(begun) - start;
        if spent > Duration::from_millis(200) {
            return spent / runs;
        }
    }
}

fn in_chunks(grammar: &Grammar, text: &str) -> Parser {
    let mut parser = Parser::new(grammar);
    for chunk in text.as_bytes().chunks(CHUNK) {
        parser.feed(chunk).expect("no limit");
    }
    parser.finish().expect("no limit");
    parser
}

fn message(template: &Template, text: &str) {
    let mut reader = Reader::new(template);
    let mut count = 0;
    for chunk in text.as_bytes().chunks(CHUNK) {
        reader.feed(chunk, &mut |_| count += 1);
    }
    reader.finish(&mut |_| count += 1);
    assert!(reader.take_errors().is_empty());
    black_box((count, reader.into_message()));
}

/// All of the text so far read from its beginning, as if it ended there.
fn again(grammar: &Grammar, so_far: &str) {
    let mut parser = Parser::new(grammar);
    parser.feed(so_far.as_bytes()).expect("no limit");
    black_box(parser.status());
}

fn main() {
    println!(
        "| bytes | grammar | whole, MB/s | in chunks, MB/s | a chunk, ns | steps a byte | with events, a chunk, ns | again: the last chunk, µs | again: all, ms | times as long |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for size in SIZES {
        for cuts in [false, true] {
            let grammar = grammar(cuts);
            let template = Template::new(grammar.clone());
            let text = text(size);
            let chunks = text.len().div_ceil(CHUNK) as f64;
            let parser = in_chunks(&grammar, &text);
            assert!(parser.status().is_match());
            let steps = parser.steps() as f64 / text.len() as f64;
            let whole = mean(|| {
                black_box(grammar.read(&text).expect("no limit"));
            });
            let chunked = mean(|| {
                black_box(in_chunks(&grammar, &text));
            });
            let told = mean(|| message(&template, &text));
            let last = mean(|| again(&grammar, &text[..text.len() - 1]));
            let all = AGAIN.contains(&size).then(|| {
                let begun = Instant::now();
                let start = clock(begun);
                for end in (CHUNK..text.len()).step_by(CHUNK) {
                    again(&grammar, &text[..end]);
                }
                clock(begun) - start
            });
            let rate = |time: Duration| text.len() as f64 / time.as_secs_f64() / 1e6;
            let each = |time: Duration| time.as_nanos() as f64 / chunks;
            let (all, times) = match all {
                Some(all) => (
                    format!("{:.1}", all.as_secs_f64() * 1e3),
                    format!("{:.0}", all.as_secs_f64() / chunked.as_secs_f64()),
                ),
                None => ("-".to_owned(), "-".to_owned()),
            };
            println!(
                "| {} | {} | {:.0} | {:.0} | {:.0} | {steps:.2} | {:.0} | {:.0} | {all} | {times} |",
                text.len(),
                if cuts { "with cuts" } else { "without" },
                rate(whole),
                rate(chunked),
                each(chunked),
                each(told),
                last.as_nanos() as f64 / 1e3,
            );
        }
    }
}
