//! One parser on one input, again and again: for a profiler and for the tables. `one INPUT SIZE SHAPE PARSER [TIMES [SECONDS]]`
//! ends after so many times, or after so many seconds.

use obverse_benches::SHAPES;
use obverse_benches::inputs::INPUTS;
use obverse_benches::parsers::parsers;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, size, shape, parser, limits @ ..] = &arguments[..] else {
        eprintln!("usage: one INPUT SIZE SHAPE PARSER [TIMES [SECONDS]]");
        std::process::exit(2);
    };
    let input = INPUTS
        .iter()
        .find(|known| known.name == input)
        .expect("an input");
    let size: usize = size.parse().expect("a size in bytes");
    let shape = SHAPES
        .into_iter()
        .find(|known| known.name() == shape)
        .expect("a shape");
    let times: usize = limits
        .first()
        .map_or(1, |times| times.parse().expect("a number"));
    let seconds: f64 = limits
        .get(1)
        .map_or(f64::INFINITY, |seconds| seconds.parse().expect("a number"));
    let text = (input.write)(size);
    let chunks = shape.cut(&text);
    let parsers = parsers(input, shape);
    let parser = parsers
        .iter()
        .find(|known| known.name == parser)
        .expect("a parser");
    // The best of several rounds: what a busy machine adds is not the parser's.
    let mut best = f64::INFINITY;
    let begun = std::time::Instant::now();
    for _ in 0..times {
        if best.is_finite() && begun.elapsed().as_secs_f64() > seconds {
            break;
        }
        let start = std::time::Instant::now();
        parser.run(&chunks);
        best = best.min(start.elapsed().as_secs_f64());
    }
    let (bytes, pieces) = (text.len() as f64, chunks.len() as f64);
    println!(
        "{:.3} GB/s, {:.1} ns a chunk, {:.0} ns in all",
        bytes / best / 1e9,
        best / pieces * 1e9,
        best * 1e9
    );
}
