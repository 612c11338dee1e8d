//! What making a grammar takes: `writing TOOLS.json... -- TEMPLATE.jinja...`.
//!
//! A line of JSON for each chat template: how long the format takes to be read off its derivation, once, and then, for each list of tools, the
//! grammar of them in each language. In milliseconds, the fastest of several runs.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use obverse::chat_template;
use obverse::derive::{Options, derive};
use obverse::grammar::emit::Language;
use obverse::grammar::{Request, WrittenFormat};
use obverse::response_template::ResponseTemplate;
use obverse::value::{Value, json};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const RUNS: usize = 7;

const LANGUAGES: [(&str, Language); 5] = [
    ("gbnf", Language::Gbnf),
    ("ebnf", Language::Ebnf),
    ("lark", Language::Lark),
    ("structural_tag", Language::StructuralTag),
    ("peg", Language::Peg),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut parts = arguments.split(|argument| argument == "--");
    let (Some(tools), Some(templates)) = (parts.next(), parts.next()) else {
        return Err("usage: writing TOOLS.json... -- TEMPLATE.jinja...".into());
    };
    let mut offered: Vec<Vec<Value>> = Vec::new();
    for path in tools {
        let list = json::parse(&std::fs::read_to_string(path)?)?;
        offered.push(list.as_array().ok_or("tools are a list")?.to_vec());
    }
    for path in templates {
        let source = chat_template::load(Path::new(path))?.assuming_tokens();
        let derivation = derive(&source, &Options::default())?;
        let template = Arc::new(ResponseTemplate::from_value(&derivation.document.to_value())?);
        let (read, written) =
            best(|| WrittenFormat::new(&template, &derivation.cases, &source.tokens.end));
        let mut lines = Vec::new();
        for (language, of) in LANGUAGES {
            let mut times = Vec::new();
            for tools in &offered {
                let (time, text) = best(|| {
                    let case = derivation.cases.iter().find(|case| !case.tools.is_empty());
                    let prefix = case.map(|case| case.prefix.clone()).unwrap_or_default();
                    let request = Request::default().tools(tools.clone()).prefix(prefix);
                    written.grammar(&request).map(|grammar| grammar.write(of).text)
                });
                text?;
                times.push(format!("{:.4}", milliseconds(time)));
            }
            lines.push(format!("\"{language}\": [{}]", times.join(", ")));
        }
        println!(
            "{{\"template\": {}, \"read\": {:.4}, {}}}",
            json::quote(path),
            milliseconds(read),
            lines.join(", ")
        );
    }
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The time of the fastest of several runs, and what came of the last.
fn best<T>(mut run: impl FnMut() -> T) -> (Duration, T) {
    let mut once = || {
        let begun = Instant::now();
        let made = black_box(run());
        (begun.elapsed(), made)
    };
    let mut fastest = once();
    for _ in 1..RUNS {
        let (time, made) = once();
        fastest = (fastest.0.min(time), made);
    }
    fastest
}
