//! One parser on one input, again and again: for a profiler. `one INPUT SIZE SHAPE PARSER [TIMES]`.

use obverse_benches::SHAPES;
use obverse_benches::inputs::INPUTS;
use obverse_benches::parsers::parsers;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, size, shape, parser, times @ ..] = &arguments[..] else {
        eprintln!("usage: one INPUT SIZE SHAPE PARSER [TIMES]");
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
    let times: usize = times
        .first()
        .map_or(1, |times| times.parse().expect("a number"));
    let text = (input.write)(size);
    let chunks = shape.cut(&text);
    let parsers = parsers(input, shape);
    let parser = parsers
        .iter()
        .find(|known| known.name == parser)
        .expect("a parser");
    // The best of several rounds: what a busy machine adds is not the parser's.
    let mut best = f64::INFINITY;
    for _ in 0..times {
        let start = std::time::Instant::now();
        parser.run(&chunks);
        best = best.min(start.elapsed().as_secs_f64());
    }
    let (bytes, pieces) = (text.len() as f64, chunks.len() as f64);
    println!(
        "{:.3} GB/s, {:.1} ns a chunk",
        bytes / best / 1e9,
        best / pieces * 1e9
    );
}
