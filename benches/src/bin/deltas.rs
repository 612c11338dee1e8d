//! What deltas cost beside the parser alone: every input in pieces of four bytes, and a table of both. `deltas [INPUT...]` measures
//! these inputs alone.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use obverse::deltas::{DeltaParser, DeltaTemplate};
use obverse::parser::ResponseParser;
use obverse::response_template::ResponseTemplate;
use obverse_benches::inputs::INPUTS;
use obverse_benches::{SIZES, Shape, size_name};

/// How long each pair is run.
const SECONDS: f64 = 0.5;

/// The best times of two, in nanoseconds, run by turns: what a busy machine adds is neither's, and comes to both.
fn best(mut one: impl FnMut(), mut other: impl FnMut()) -> (f64, f64) {
    let mut best = (f64::INFINITY, f64::INFINITY);
    let begun = Instant::now();
    while begun.elapsed().as_secs_f64() < SECONDS {
        best.0 = best.0.min(time(&mut one));
        best.1 = best.1.min(time(&mut other));
    }
    best
}

fn time(run: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1e9
}

fn main() {
    let named: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "| input | size | parser alone, ns a chunk | with deltas, ns a chunk | times as long |"
    );
    println!("|---|--:|--:|--:|--:|");
    let wanted = |name: &str| named.is_empty() || named.iter().any(|known| known == name);
    for input in INPUTS.iter().filter(|input| wanted(input.name)) {
        let template = ResponseTemplate::from_json(input.template).expect("a response template");
        let template = Arc::new(template);
        let deltas = Arc::new(DeltaTemplate::new(Arc::clone(&template)));
        for size in SIZES {
            let text = (input.write)(size);
            let chunks = Shape::Chunks(4).cut(&text);
            let alone = || {
                let mut parser =
                    ResponseParser::new(Arc::clone(&template), "", &[]).expect("no prefix");
                for chunk in &chunks {
                    let fed = parser.feed_with(chunk, &mut |event| {
                        black_box(&event);
                    });
                    fed.expect("no error");
                }
                parser.finalize_with(&mut |_| ()).expect("a message");
                black_box(parser.into_message());
            };
            let with = || {
                let mut parser = DeltaParser::new(Arc::clone(&deltas), "", &[]).expect("no prefix");
                for chunk in &chunks {
                    let fed = parser.feed_with(chunk, &mut |growth| {
                        black_box(&growth);
                    });
                    fed.expect("no error");
                }
                parser.finalize_with(&mut |_| ()).expect("a message");
                black_box(parser.parser().message());
            };
            let (alone, with) = best(alone, with);
            let each = chunks.len() as f64;
            let (name, size) = (input.name, size_name(size));
            let (alone, with) = (alone / each, with / each);
            let times = with / alone;
            println!("| {name} | {size} | {alone:.1} | {with:.1} | {times:.2} |");
        }
    }
}
