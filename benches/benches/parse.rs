//! Every parser on every input, in every size and shape.

use std::io::Write as _;
use std::time::{Duration, Instant};

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use obverse_benches::inputs::INPUTS;
use obverse_benches::parsers::parsers;
use obverse_benches::{SHAPES, SIZES, size_name};

/// A parser that took longer than this is not tried with the next size.
const PATIENCE: Duration = Duration::from_millis(600);

/// Longer runs are timed once, and written beside what criterion writes.
const ONCE: Duration = Duration::from_millis(60);

fn parse(criterion: &mut Criterion) {
    let mut slow = std::fs::File::create(concat!(env!("CARGO_MANIFEST_DIR"), "/target/slow.jsonl"))
        .expect("a file");
    for input in &INPUTS {
        for shape in SHAPES {
            let mut impatient: Vec<&str> = Vec::new();
            for size in SIZES {
                let text = (input.write)(size);
                let chunks = shape.cut(&text);
                let name = format!("{}, {}, {}", input.name, shape.name(), size_name(size));
                let mut group = criterion.benchmark_group(name);
                group
                    .throughput(Throughput::Bytes(text.len() as u64))
                    .sampling_mode(SamplingMode::Flat);
                for parser in parsers(input, shape) {
                    if impatient.contains(&parser.name) {
                        continue;
                    }
                    let start = Instant::now();
                    parser.run(&chunks);
                    let took = start.elapsed();
                    if took > PATIENCE {
                        impatient.push(parser.name);
                    }
                    if took > ONCE {
                        let line = serde_json::json!({
                            "input": input.name, "shape": shape.name(), "size": size_name(size),
                            "parser": parser.name, "seconds": took.as_secs_f64(),
                        });
                        writeln!(slow, "{line}").expect("a line");
                        continue;
                    }
                    let id = BenchmarkId::from_parameter(parser.name);
                    group.bench_function(id, |bencher| bencher.iter(|| parser.run(&chunks)));
                }
                group.finish();
            }
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .nresamples(1000)
        .warm_up_time(Duration::from_millis(30))
        .measurement_time(Duration::from_millis(120))
        .without_plots();
    targets = parse
}
criterion_main!(benches);
