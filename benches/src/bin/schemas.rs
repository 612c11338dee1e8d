//! Response schemas beside transformers' `recursive_parse`, in the same run: `schemas PYTHON`, the Python having transformers 5.14.1.
//! Prints a table in Markdown, in MB/s, and one of a pattern for which Python takes exponential time.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::Instant;

use obverse::response_schema::ResponseSchema;
use obverse_benches::{SIZES, size_name};

/// For how long each is run again and again, in seconds.
const ENOUGH: f64 = 0.3;

/// A schema of the tests, and what responses in its format are made of.
struct Input {
    name: &'static str,
    schema: &'static str,
    write: fn(usize) -> String,
}

const INPUTS: [Input; 4] = [
    Input {
        name: "prose",
        schema: include_str!("../../../tests/cases/response_schema/actions.json"),
        write: |size| {
            let words = "It is a long way to the sea, and longer back. ";
            let thinking = words.repeat(size * 9 / 10 / words.len() + 1);
            format!("<|START_THINKING|>{thinking}<|END_THINKING|><|START_RESPONSE|>{words}<|END_RESPONSE|>")
        },
    },
    Input {
        name: "calls",
        schema: include_str!("../../../tests/cases/response_schema/response-tags.json"),
        write: |size| {
            let call = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 3}}\n</tool_call>\n";
            format!("<think>Hm.</think>{}", call.repeat(size / call.len() + 1))
        },
    },
    Input {
        name: "tagged",
        schema: include_str!("../../../tests/cases/response_schema/function-parameters.json"),
        write: |size| {
            let value = "some words of a value, ".repeat(16);
            let call = format!("<tool_call>\n<function=write>\n<parameter=text>\n{value}\n</parameter>\n</function>\n</tool_call>\n");
            format!("<think>Hm.</think>Text.\n{}", call.repeat(size / call.len() + 1))
        },
    },
    Input {
        name: "channels",
        schema: include_str!("../../../tests/cases/response_schema/channels.json"),
        write: |size| {
            let call = "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"city\": \"Paris\"}<|call|>";
            format!("<|channel|>analysis<|message|>Hm.<|end|>{}", call.repeat(size / call.len() + 1))
        },
    },
];

/// A pattern that cuts a text in every way before it gives up.
const SLOW: &str = r#"{"type": "string", "x-regex": "^((?:\\w+\\s*)+)$"}"#;

fn main() -> std::io::Result<()> {
    let Some(python) = std::env::args().nth(1) else {
        eprintln!("usage: schemas PYTHON");
        std::process::exit(2);
    };
    let mut reference = Reference::start(&python)?;
    println!("| schema | size | obverse | transformers 5.14.1 |\n|---|---|---:|---:|");
    for input in &INPUTS {
        for size in SIZES {
            let text = (input.write)(size);
            let speed = |seconds: Option<f64>| seconds.map_or_else(String::new, |seconds| format!("{:.1}", text.len() as f64 / seconds / 1e6));
            println!(
                "| {} | {} | {} | {} |",
                input.name,
                size_name(size),
                speed(ours(input.schema, &text)),
                speed(reference.time(input.schema, &text)?)
            );
        }
    }
    println!("\n| characters | obverse, ms | transformers 5.14.1, ms |\n|---:|---:|---:|");
    for length in [16, 20, 24, 28, 1 << 10, 1 << 20] {
        let text = "a".repeat(length) + "!";
        let time = |seconds: Option<f64>| seconds.map_or_else(String::new, |seconds| format!("{:.3}", seconds * 1e3));
        let theirs = if length < 30 { reference.time(SLOW, &text)? } else { None };
        println!("| {} | {} | {} |", length + 1, time(ours(SLOW, &text)), time(theirs));
    }
    Ok(())
}

/// The seconds that the fastest of several runs took; `None` where it ends in an error.
fn ours(schema: &str, text: &str) -> Option<f64> {
    let schema = ResponseSchema::from_json(schema).expect("a schema");
    let begun = Instant::now();
    let mut best = f64::INFINITY;
    while best.is_infinite() || begun.elapsed().as_secs_f64() < ENOUGH {
        let start = Instant::now();
        let parsed = schema.parse(std::hint::black_box(text));
        best = best.min(start.elapsed().as_secs_f64());
        if let Err(error) = parsed {
            eprintln!("{error}");
            return None;
        }
    }
    Some(best)
}

/// `benches/schemas.py`, which answers each line with seconds.
struct Reference {
    input: std::process::ChildStdin,
    output: BufReader<std::process::ChildStdout>,
}

impl Reference {
    fn start(python: &str) -> std::io::Result<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        Ok(Self {
            input: child.stdin.take().expect("a pipe"),
            output: BufReader::new(child.stdout.take().expect("a pipe")),
        })
    }

    fn time(&mut self, schema: &str, text: &str) -> std::io::Result<Option<f64>> {
        let schema: serde_json::Value = serde_json::from_str(schema).expect("JSON");
        writeln!(self.input, "{}", serde_json::json!({"schema": schema, "text": text, "enough": ENOUGH}))?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().parse().ok())
    }
}
