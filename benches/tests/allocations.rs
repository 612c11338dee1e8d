//! How often memory is asked for while text arrives.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use obverse::deltas::{DeltaParser, DeltaTemplate};
use obverse::parser::{Event, ResponseParser};
use obverse::response_template::ResponseTemplate;
use obverse_benches::Shape;
use obverse_benches::inputs::INPUTS;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Feeds the response and says how many chunks and how many events there were, and how often memory was asked for.
fn fed(name: &str, shape: Shape) -> (usize, usize, usize) {
    let input = INPUTS
        .iter()
        .find(|input| input.name == name)
        .expect("an input");
    let template = ResponseTemplate::from_json(input.template).expect("a response template");
    let text = (input.write)(1 << 20);
    let chunks = shape.cut(&text);
    let mut parser = ResponseParser::new(Arc::new(template), "", &[]).expect("no prefix");
    let mut events = 0;
    let mut sink = |event: Event<'_>| events += usize::from(!event.field().is_empty());
    let before = COUNT.get();
    for chunk in &chunks {
        parser.feed_with(chunk, &mut sink).expect("a response");
    }
    let count = COUNT.get() - before;
    (chunks.len(), events, count)
}

#[test]
fn a_chunk_of_text_asks_for_no_memory() {
    for name in ["prose", "regex", "argument"] {
        for shape in [Shape::Chunks(4), Shape::Chunks(1)] {
            let (chunks, events, count) = fed(name, shape);
            assert!(
                events > chunks / 2,
                "{name}: {events} events for {chunks} chunks"
            );
            // What there is comes from the text of the region growing, twice as long each time.
            assert!(
                count < 200,
                "{name}: {count} allocations for {chunks} chunks"
            );
        }
    }
}

#[test]
fn a_new_parser_asks_for_no_memory() {
    for input in &INPUTS {
        let template = ResponseTemplate::from_json(input.template).expect("a response template");
        let template = Arc::new(template);
        let deltas = Arc::new(DeltaTemplate::new(Arc::clone(&template)));
        let before = COUNT.get();
        let parser = ResponseParser::new(template, "", &[]).expect("no prefix");
        let grows = DeltaParser::new(deltas, "", &[]).expect("no prefix");
        assert_eq!(COUNT.get() - before, 0, "{}", input.name);
        drop((parser, grows));
    }
}
