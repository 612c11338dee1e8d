//! What rendering takes, and with origins: `render [TEMPLATE.jinja ...]`, by default the project's own chat templates.
//!
//! For each the best of many runs, in microseconds, over conversations with reasoning, calls and their results: plainly, then
//! traced, and the ratio. To compare with an earlier state, whose renders know no origins, this program is built there without
//! its second column: `--cfg plain_only` in `RUSTFLAGS`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use obverse::chat_template::{self, ChatTemplate, RenderInput};
use obverse::value::{Value, json};

/// How often each is rendered before the clock is looked at, and how often that is done.
const BATCH: u32 = 20;
const RUNS: usize = 150;

fn main() {
    let mut paths: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() {
        paths = own();
    }
    println!("| chat template | plain | traced | ratio |");
    println!("|---|---:|---:|---:|");
    let mut sum = [Duration::ZERO; 2];
    let mut worst = 0.0_f64;
    for path in &paths {
        let source = chat_template::load(path).expect("a chat template").assuming_tokens();
        let Ok(template) = source.select(true) else {
            continue;
        };
        let inputs: Vec<RenderInput> = inputs()
            .into_iter()
            .filter(|input| template.render(input).is_ok())
            .collect();
        if inputs.is_empty() {
            continue;
        }
        let times = best(template, &inputs);
        let ratio = times[1].as_secs_f64() / times[0].as_secs_f64();
        worst = worst.max(ratio);
        println!("| {} | {} | {ratio:.2} |", name(path), row(times));
        for (total, time) in sum.iter_mut().zip(times) {
            *total += time;
        }
    }
    let ratio = sum[1].as_secs_f64() / sum[0].as_secs_f64();
    println!("| all | {} | {ratio:.2} |", row(sum));
    println!("\nthe largest ratio is {worst:.2}");
}

/// The best time of one round over the inputs, plainly and traced by turns.
fn best(template: &ChatTemplate, inputs: &[RenderInput]) -> [Duration; 2] {
    let mut best = [Duration::MAX; 2];
    for _ in 0..RUNS {
        for (slot, render) in best.iter_mut().zip([plain, traced]) {
            let started = Instant::now();
            for _ in 0..BATCH {
                inputs.iter().for_each(|input| render(template, input));
            }
            *slot = (*slot).min(started.elapsed() / BATCH);
        }
    }
    best
}

fn plain(template: &ChatTemplate, input: &RenderInput) {
    let _ = std::hint::black_box(template.render(input));
}

#[cfg(not(plain_only))]
fn traced(template: &ChatTemplate, input: &RenderInput) {
    let _ = std::hint::black_box(template.render_traced(input));
}

#[cfg(plain_only)]
fn traced(template: &ChatTemplate, input: &RenderInput) {
    plain(template, input);
}

fn inputs() -> Vec<RenderInput> {
    const USER: &str = r#"{"role": "user", "content": "What is the weather in Paris, and how do I write \"rain\" in French?\nTell me both."}"#;
    const ANSWER: &str = r#"{"role": "assistant", "content": "It rains in Paris. In French that is *la pluie*.\n\nTake an umbrella with you, and good shoes."}"#;
    const CALLS: &str = r#"{"role": "assistant", "content": "", "reasoning_content": "I have to look that up.\nThen I can answer.",
        "tool_calls": [{"type": "function", "id": "abcdefgh1", "function": {"name": "get_weather",
        "arguments": {"city": "Paris", "days": 3, "units": {"temperature": "celsius"}, "note": "a \"quoted\"\nline"}}}]}"#;
    const RESULT: &str = r#"{"role": "tool", "tool_call_id": "abcdefgh1", "name": "get_weather", "content": "{\"rain\": true, \"temperature\": 12}"}"#;
    const TOOLS: &str = r#"[{"type": "function", "function": {"name": "get_weather", "description": "The weather of the coming days.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "Where."},
        "days": {"type": "integer", "description": "How many days.", "enum": [1, 3, 7]}}, "required": ["city"]}}}]"#;
    let list = |text: String| -> Vec<Value> {
        json::parse(&text).expect("JSON").as_array().expect("a list").to_vec()
    };
    let conversations = [
        format!("[{USER}]"),
        format!("[{USER}, {ANSWER}, {USER}, {ANSWER}, {USER}]"),
        format!("[{USER}, {CALLS}, {RESULT}, {ANSWER}, {USER}]"),
    ];
    let mut out = Vec::new();
    for (index, conversation) in conversations.into_iter().enumerate() {
        let mut input = RenderInput::new(list(conversation));
        input.tools = (index == 2).then(|| list(TOOLS.to_owned()));
        input.add_generation_prompt = true;
        out.push(input);
    }
    out
}

fn own() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../chat_templates");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jinja"))
        .collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn row(times: [Duration; 2]) -> String {
    times
        .map(|time| format!("{:.1}", time.as_secs_f64() * 1_000_000.0))
        .join(" | ")
}
