//! What deltas cost beside the parser alone: every input in pieces of four bytes, and a table of both.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use obverse::deltas::{DeltaParser, DeltaTemplate};
use obverse::parser::ResponseParser;
use obverse::response_template::ResponseTemplate;
use obverse_benches::inputs::INPUTS;
use obverse_benches::{SIZES, Shape, size_name};

/// How long each is run.
const SECONDS: f64 = 0.25;

/// The best time of a run, in nanoseconds: what a busy machine adds is not the parser's.
fn best(mut run: impl FnMut()) -> f64 {
    let begun = Instant::now();
    let mut best = f64::INFINITY;
    while begun.elapsed().as_secs_f64() < SECONDS {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64() * 1e9);
    }
    best
}

fn main() {
    println!("| input | size | parser alone, ns a chunk | with deltas, ns a chunk | times as long |");
    println!("|---|--:|--:|--:|--:|");
    for input in &INPUTS {
        let template = ResponseTemplate::from_json(input.template).expect("a response template");
        let template = Arc::new(template);
        let deltas = Arc::new(DeltaTemplate::new(Arc::clone(&template)));
        for size in SIZES {
            let text = (input.write)(size);
            let chunks = Shape::Chunks(4).cut(&text);
            let alone = best(|| {
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
            });
            let with = best(|| {
                let mut parser =
                    DeltaParser::new(Arc::clone(&deltas), "", &[]).expect("no prefix");
                for chunk in &chunks {
                    let fed = parser.feed_with(chunk, &mut |growth| {
                        black_box(&growth);
                    });
                    fed.expect("no error");
                }
                parser.finalize_with(&mut |_| ()).expect("a message");
                black_box(parser.parser().message());
            });
            let each = chunks.len() as f64;
            let (name, size) = (input.name, size_name(size));
            let (alone, with) = (alone / each, with / each);
            let times = with / alone;
            println!("| {name} | {size} | {alone:.1} | {with:.1} | {times:.2} |");
        }
    }
}
