//! The parsers, each reading chunks and handing on what it found.

use std::hint::black_box;
use std::sync::Arc;

use dynamo_parsers::ReasoningParser as _;
use dynamo_parsers_v2 as v2;

use crate::Shape;
use crate::inputs::Input;

/// A parser that has been made ready for an input: what is done once for a model is not timed.
pub struct Parser {
    pub name: &'static str,
    run: Box<dyn Fn(&[&str])>,
}

impl Parser {
    /// Reads one response, from a new parser to the message.
    pub fn run(&self, chunks: &[&str]) {
        (self.run)(chunks);
    }

    fn new(name: &'static str, run: impl Fn(&[&str]) + 'static) -> Self {
        Self {
            name,
            run: Box::new(run),
        }
    }
}

/// The parsers that take the input in this shape, the floors last. They differ in what they make of a response: only
/// `smg` (and transformers) do the same job; the others know their one format by heart.
pub fn parsers(input: &Input, shape: Shape) -> Vec<Parser> {
    let mut parsers = vec![obverse(input), obverse_owned(input)];
    parsers.extend(smg(input));
    if let Some(family) = input.dynamo_v2 {
        parsers.push(dynamo_v2(family));
    }
    if let Some(name) = input.dynamo_reasoning {
        parsers.push(dynamo_reasoning(name));
    }
    // It takes complete texts alone.
    if let (Some(name), Shape::Whole) = (input.dynamo_tools, shape) {
        parsers.push(dynamo_tools(name));
    }
    match (shape, input.json) {
        (Shape::Whole, Some((open, close))) => {
            parsers.push(serde_json(open, close));
            parsers.push(serde_json_message(input));
        }
        (Shape::Whole, None) => parsers.push(memmem()),
        _ => parsers.push(append()),
    }
    parsers
}

fn obverse(input: &Input) -> Parser {
    let template = obverse_template(input);
    Parser::new("obverse", move |chunks| {
        if let [whole] = chunks {
            let message = obverse::parser::parse_response(whole, Arc::clone(&template), "", &[]);
            black_box(message.expect("a message"));
            return;
        }
        let mut parser = obverse::parser::ResponseParser::new(Arc::clone(&template), "", &[])
            .expect("an empty prefix");
        let mut sink = |event: obverse::parser::Event<'_>| {
            black_box(&event);
        };
        for chunk in chunks {
            parser.feed_with(chunk, &mut sink).expect("a response");
        }
        parser.finalize_with(&mut sink).expect("a message");
        black_box(parser.into_message());
    })
}

/// The same with events that can be kept.
fn obverse_owned(input: &Input) -> Parser {
    let template = obverse_template(input);
    Parser::new("obverse owned", move |chunks| {
        let mut parser = obverse::parser::ResponseParser::new(Arc::clone(&template), "", &[])
            .expect("an empty prefix");
        for chunk in chunks {
            black_box(parser.feed(chunk).expect("a response"));
        }
        black_box(parser.finalize().expect("a message"));
    })
}

fn obverse_template(input: &Input) -> Arc<obverse::response_template::ResponseTemplate> {
    Arc::new(
        obverse::response_template::ResponseTemplate::from_json(input.template)
            .expect("a response template"),
    )
}

/// `None` where it refuses the template.
fn smg(input: &Input) -> Option<Parser> {
    let document = serde_json::from_str(input.template).expect("JSON");
    let template = smg_response_template::load_response_template(&document).ok()?;
    Some(Parser::new("smg", move |chunks| {
        let mut parser = smg_response_template::ResponseParser::new(&template, "", &[])
            .expect("an empty prefix");
        for chunk in chunks {
            black_box(parser.feed(chunk).expect("a response"));
        }
        black_box(parser.finalize().expect("a message"));
    }))
}

fn dynamo_v2(family: &'static str) -> Parser {
    Parser::new("dynamo-v2", move |chunks| {
        let mut parser = v2::create_unified_parser_for_family(family, &[]).expect("a family");
        let init = v2::UnifiedParserInit {
            starting_state: v2::UnifiedParserStartingState::Response,
            ..v2::UnifiedParserInit::default()
        };
        parser.initialize_request(init).expect("no conditions");
        let mut whole = v2::UnifiedParserOutput::default();
        for chunk in chunks {
            let mut output = v2::UnifiedParserOutput::default();
            parser.parse_into(chunk, &mut output).expect("a response");
            black_box(&output);
            whole.append(&mut output);
        }
        whole.append(&mut parser.finish().expect("an end"));
        black_box(whole.assembled());
    })
}

fn dynamo_reasoning(name: &'static str) -> Parser {
    Parser::new("dynamo", move |chunks| {
        let mut parser = dynamo_parsers::ReasoningParserType::get_reasoning_parser_from_name(name);
        if let [whole] = chunks {
            black_box(parser.detect_and_parse_reasoning(whole, &[]));
            return;
        }
        let (mut reasoning, mut content) = (String::new(), String::new());
        let mut take = |result: dynamo_parsers::ParserResult| {
            reasoning.push_str(&result.reasoning_text);
            content.push_str(&result.normal_text);
        };
        for chunk in chunks {
            take(parser.parse_reasoning_streaming_incremental(chunk, &[]));
        }
        take(parser.finish_reasoning_stream());
        black_box((reasoning, content));
    })
}

fn dynamo_tools(name: &'static str) -> Parser {
    Parser::new("dynamo", move |chunks| {
        let parse = dynamo_parsers::detect_and_parse_tool_call(chunks[0], Some(name), None);
        black_box(block_on(parse).expect("calls"));
    })
}

/// Runs a future that never waits.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("the parser waits"),
    }
}

/// The floor for calls: `serde_json` on every JSON text in the response, which it does not have to look for.
fn serde_json(open: &'static str, close: &'static str) -> Parser {
    Parser::new("serde_json", move |chunks| {
        let mut values: Vec<serde_json::Value> = Vec::new();
        for body in bodies(chunks[0], open, close) {
            values.push(serde_json::from_str(body).expect("JSON"));
        }
        black_box(values);
    })
}

/// The floor for what is made of calls: `serde_json` on the message, which has been written as JSON before.
fn serde_json_message(input: &Input) -> Parser {
    let template = obverse_template(input);
    let written = std::cell::RefCell::new((0, String::new()));
    Parser::new("serde_json message", move |chunks| {
        let mut written = written.borrow_mut();
        if written.0 != chunks[0].len() {
            let message =
                obverse::parser::parse_response(chunks[0], Arc::clone(&template), "", &[]);
            let message = obverse::value::Value::Object(message.expect("a message"));
            *written = (chunks[0].len(), obverse::value::json::to_string(&message));
        }
        let value: serde_json::Value = serde_json::from_str(&written.1).expect("JSON");
        black_box(value);
    })
}

fn bodies<'t>(text: &'t str, open: &str, close: &str) -> impl Iterator<Item = &'t str> {
    let (open, close) = (
        memchr::memmem::Finder::new(open).into_owned(),
        memchr::memmem::Finder::new(close).into_owned(),
    );
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + open.find(&text.as_bytes()[at..])? + open.needle().len();
        let end = start + close.find(&text.as_bytes()[start..])?;
        at = end + close.needle().len();
        Some(&text[start..end])
    })
}

/// The floor for a whole text: one pass.
fn memmem() -> Parser {
    let finder = memchr::memmem::Finder::new("<|nowhere|>");
    Parser::new("memmem", move |chunks| {
        black_box(finder.find(chunks[0].as_bytes()));
    })
}

/// The floor for a text in chunks: a look at each, and a copy.
fn append() -> Parser {
    Parser::new("append", |chunks| {
        let mut text = String::new();
        for chunk in chunks {
            black_box(memchr::memchr(b'<', chunk.as_bytes()));
            text.push_str(chunk);
        }
        black_box(text);
    })
}
