//! What deriving takes, and where the time goes: `derive [TEMPLATE.jinja ...]`, by default the project's own chat templates.
//!
//! For each the best of several runs, in milliseconds: all of it, rendering, and without rendering the survey of all messages, analysing,
//! verifying (of amendments, too) and trying deviations. Beside them, in the same run, a floor: the same number of renders of one conversation of two turns, and nothing else.
//! With `OBVERSE_STAGES` set, the cost of each stage stands on standard error, as it is.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use obverse::chat_template::{self, ChatTemplateSource, RenderInput};
use obverse::derive::{Cost, Options, Stage, derive};
use obverse::value::json;

// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often each is derived from.
const RUNS: usize = 7;

fn main() {
    let mut paths: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() {
        paths = own();
    }
    println!("| chat template | renders | all | rendering | surveying | analysing | verifying | deviating | floor |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let mut all = [Duration::ZERO; 7];
    let mut slowest = Duration::ZERO;
    for path in &paths {
        let Some(cost) = best(path) else {
            println!("| {} | not derived |", name(path));
            continue;
        };
        let sum = cost.sum();
        if std::env::var_os("OBVERSE_STAGES").is_some() {
            eprintln!("{} {cost:#?}", name(path));
        }
        let cells = [
            sum.total,
            sum.rendering,
            alone(&cost.setup),
            alone(&cost.analysis),
            alone(&cost.verification) + alone(&cost.amendments),
            alone(&cost.deviations),
            floor(&load(path), sum.renders),
        ];
        println!("| {} | {} | {} |", name(path), sum.renders, row(cells));
        slowest = slowest.max(sum.total);
        for (total, cell) in all.iter_mut().zip(cells) {
            *total += cell;
        }
    }
    println!("| all | | {} |", row(all));
    println!("\nthe slowest takes {} ms", milliseconds(slowest));
}

/// The time that a stage takes without rendering.
fn alone(stage: &Stage) -> Duration {
    stage.total - stage.rendering
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

fn load(path: &Path) -> ChatTemplateSource {
    chat_template::load(path).expect("a chat template").assuming_tokens()
}

/// The cost of the fastest of several runs, each with a chat template that nothing was rendered with.
fn best(path: &Path) -> Option<Cost> {
    (0..RUNS)
        .filter_map(|_| derive(&load(path), &Options::default()).ok())
        .map(|derivation| derivation.cost)
        .min_by_key(|cost| cost.sum().total)
}

/// The best time of so many renders of one conversation.
fn floor(source: &ChatTemplateSource, renders: usize) -> Duration {
    let messages = r#"[{"role": "user", "content": "What is the weather?"}, {"role": "assistant", "content": "It rains."}]"#;
    let messages = json::parse(messages).expect("JSON");
    let input = RenderInput::new(messages.as_array().expect("a list").to_vec());
    let Ok(template) = source.select(false) else {
        return Duration::ZERO;
    };
    let run = || {
        let started = Instant::now();
        for _ in 0..renders {
            let _ = std::hint::black_box(template.render(&input));
        }
        started.elapsed()
    };
    (0..RUNS).map(|_| run()).min().unwrap_or_default()
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn row(cells: [Duration; 7]) -> String {
    cells.map(milliseconds).join(" | ")
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.1}", duration.as_secs_f64() * 1000.0)
}
