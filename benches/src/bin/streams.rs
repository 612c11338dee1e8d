//! A thousand streams in one thread, by turns: what a new parser takes, what one takes in the middle of its response, and what a piece
//! of four bytes costs when each is another stream's. `streams [INPUT...]` measures these inputs alone.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use obverse::deltas::{self, DeltaParser, DeltaTemplate};
use obverse::parser::ResponseParser;
use obverse::response_template::ResponseTemplate;
use obverse_benches::Shape;
use obverse_benches::inputs::{INPUTS, Input};

/// How many streams there are at the same time.
const STREAMS: usize = 1000;
/// How long a response is, in bytes.
const SIZE: usize = 1 << 10;
/// How often all is done; the best counts.
const ROUNDS: usize = 20;
/// The inputs of a plain run: text, calls as JSON, and calls as they are derived.
const TRIED: [&str; 3] = ["prose", "calls", "derived"];

/// Counts the bytes that are in use.
struct Counting;

static BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        BYTES.fetch_add(size, Ordering::Relaxed);
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What was measured of a parser, of which everything is for one stream.
struct Measured {
    /// The memory of a new parser, its own place included, and the time to make and drop it in nanoseconds.
    new_bytes: usize,
    new_time: f64,
    /// The memory in the middle of the response.
    half_bytes: usize,
    /// The time for a piece, each of another stream, and for a piece where one stream comes after the other.
    by_turns: f64,
    in_a_row: f64,
}

/// Measures a parser that `make` makes, `feed` gives a piece to and `end` ends.
fn measure<P>(
    chunks: &[&str],
    make: impl Fn() -> P,
    feed: impl Fn(&mut P, &str),
    end: impl Fn(P),
) -> Measured {
    let mut measured = Measured {
        new_bytes: 0,
        new_time: f64::INFINITY,
        half_bytes: 0,
        by_turns: f64::INFINITY,
        in_a_row: f64::INFINITY,
    };
    let half = chunks.len() / 2;
    let pieces = (STREAMS * chunks.len()) as f64;
    // Their own place is the same memory in all rounds: what the system takes to hand it out is not the parsers'.
    let mut streams: Vec<P> = Vec::with_capacity(STREAMS);
    for _ in 0..ROUNDS {
        let before = BYTES.load(Ordering::Relaxed);
        let bytes = || size_of::<P>() + (BYTES.load(Ordering::Relaxed) - before) / STREAMS;
        let start = Instant::now();
        streams.extend((0..STREAMS).map(|_| make()));
        let made = start.elapsed();
        measured.new_bytes = bytes();
        let start = Instant::now();
        black_box(&mut streams).clear();
        let both = (made + start.elapsed()).as_secs_f64();
        measured.new_time = measured.new_time.min(both * 1e9 / STREAMS as f64);

        streams.extend((0..STREAMS).map(|_| make()));
        let start = Instant::now();
        for (number, chunk) in chunks.iter().enumerate() {
            streams.iter_mut().for_each(|stream| feed(stream, chunk));
            if number == half {
                measured.half_bytes = bytes();
            }
        }
        let time = start.elapsed().as_secs_f64() * 1e9 / pieces;
        measured.by_turns = measured.by_turns.min(time);
        streams.drain(..).for_each(&end);

        let mut time = 0.0;
        for _ in 0..STREAMS {
            let mut stream = make();
            let start = Instant::now();
            chunks.iter().for_each(|chunk| feed(&mut stream, chunk));
            time += start.elapsed().as_secs_f64();
            end(stream);
        }
        measured.in_a_row = measured.in_a_row.min(time * 1e9 / pieces);
    }
    measured
}

fn print(input: &Input, parser: &str, measured: &Measured) {
    let Measured {
        new_bytes,
        new_time,
        half_bytes,
        by_turns,
        in_a_row,
    } = measured;
    println!(
        "| {} | {parser} | {new_bytes} | {new_time:.0} | {half_bytes} | {by_turns:.1} | {in_a_row:.1} |",
        input.name
    );
}

fn main() {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| match named.as_slice() {
        [] => TRIED.contains(&name),
        named => named.iter().any(|known| known == name),
    };
    println!(
        "| input | parser | new, bytes | new, ns | half-way, bytes | by turns, ns a piece | in a row, ns a piece |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|");
    for input in INPUTS.iter().filter(|input| wanted(input.name)) {
        let text = (input.write)(SIZE);
        let chunks = Shape::Chunks(4).cut(&text);
        let template = ResponseTemplate::from_json(input.template).expect("a response template");
        let template = Arc::new(template);
        let measured = measure(
            &chunks,
            || ResponseParser::new(Arc::clone(&template), "", &[]).expect("no prefix"),
            |parser, chunk| {
                let fed = parser.feed_with(chunk, &mut |event| {
                    black_box(&event);
                });
                fed.expect("no error");
            },
            |mut parser| {
                parser.finalize_with(&mut |_| ()).expect("a message");
                black_box(parser.into_message());
            },
        );
        print(input, "obverse", &measured);
        let deltas = Arc::new(DeltaTemplate::new(Arc::clone(&template)));
        for forget in [false, true] {
            let mut options = deltas::Options::default();
            options.parser.forget = forget;
            let measured = measure(
                &chunks,
                || {
                    DeltaParser::with_options(Arc::clone(&deltas), "", &[], options)
                        .expect("no prefix")
                },
                |parser, chunk| {
                    let fed = parser.feed_with(chunk, &mut |growth| {
                        black_box(&growth);
                    });
                    fed.expect("no error");
                },
                |mut parser| {
                    parser.finalize_with(&mut |_| ()).expect("a message");
                    black_box(parser.parser().message());
                },
            );
            print(
                input,
                if forget {
                    "deltas, forgetting"
                } else {
                    "deltas"
                },
                &measured,
            );
        }
        #[cfg(feature = "peers")]
        peers(input, &chunks);
    }
}

/// The parsers of others that take the input in pieces.
#[cfg(feature = "peers")]
fn peers(input: &Input, chunks: &[&str]) {
    use dynamo_parsers_v2 as v2;

    let document = serde_json::from_str(input.template).expect("JSON");
    if let Ok(template) = smg_response_template::load_response_template(&document) {
        let measured = measure(
            chunks,
            || smg_response_template::ResponseParser::new(&template, "", &[]).expect("no prefix"),
            |parser, chunk| {
                black_box(parser.feed(chunk).expect("a response"));
            },
            |parser| {
                black_box(parser.finalize().expect("a message"));
            },
        );
        print(input, "smg", &measured);
    }
    if let Some(family) = input.dynamo_v2 {
        let make = || {
            let mut parser = v2::create_unified_parser_for_family(family, &[]).expect("a family");
            let init = v2::UnifiedParserInit {
                starting_state: v2::UnifiedParserStartingState::Response,
                ..v2::UnifiedParserInit::default()
            };
            parser.initialize_request(init).expect("no conditions");
            parser
        };
        let measured = measure(
            chunks,
            make,
            |parser, chunk| {
                let mut output = v2::UnifiedParserOutput::default();
                parser.parse_into(chunk, &mut output).expect("a response");
                black_box(&output);
            },
            |mut parser| {
                black_box(parser.finish().expect("an end"));
            },
        );
        print(input, "dynamo-v2", &measured);
    }
}
