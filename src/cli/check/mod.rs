//! `obverse check`: fixtures and derivations, held to what is recorded.

mod subject;
mod work;

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use globset::{Glob, GlobSet, GlobSetBuilder};
use obverse::check::{self, Effort, Fixture, Found};

use super::problem::Problem;
use super::progress::Progress;
use super::project::ProjectArgs;
use super::report::{Format, FormatArgs, Report};
use super::status::{Status, Stop};
use super::{bulk, output};
use subject::Subjects;
pub(crate) use work::fixture_problem;
use work::{Done, Task};

/// Check recorded responses, and response templates against their chat templates
///
/// A fixture is a folder with response.txt and expected.json (and prefix.txt or messages.json, tools.json, chunks.json,
/// error.json, events.jsonl), or a line of a .jsonl file with the same keys. Each is parsed whole, in many chunkings, split between
/// prompt and response, and cut short. A response template whose chat template is at hand is derived again and compared.
///
/// What belongs together is said by obverse.toml; a fixture that it does not name belongs to the nearest response_template.json, or
/// tokenizer_config.json with a response template, around it. Exit status 1 when something does not hold.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Fixtures, .jsonl files of them, response templates, or folders of any; without any, everything that obverse.toml names, or
    /// where there is none, that lies below the current folder
    paths: Vec<PathBuf>,

    /// Record what the parser gives, in the place of what was recorded and does not hold
    #[arg(long)]
    update: bool,

    /// Check what has a name that matches this glob; a text without * or ? may stand anywhere in the name
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,

    /// Stop at the first failure
    #[arg(long)]
    fail_fast: bool,

    /// How many threads to use; all cores by default
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,

    /// Try every chunk size and every end of longer responses too
    #[arg(long)]
    thorough: bool,

    /// What the chunkings and ends of long responses are sampled with
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Tell which took longest, on standard error
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "10")]
    slowest: Option<usize>,

    /// Do not derive the response templates again
    #[arg(long)]
    no_derive: bool,

    #[command(flatten)]
    report: FormatArgs,

    #[command(flatten)]
    project: ProjectArgs,
}

impl Args {
    fn effort(&self) -> Effort {
        if self.thorough {
            return Effort::thorough(self.seed);
        }
        Effort {
            seed: self.seed,
            ..Effort::default()
        }
    }
}

/// Why no further result is taken.
enum Halt {
    FirstFailure,
    Output(std::io::Error),
}

/// Checks.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let filter = filter(&args.filter)?;
    let workspace = args.project.open()?;
    let subjects = Subjects::gather(args, &workspace)?;
    let mut tasks = subjects.tasks(args);
    if let Some(filter) = &filter {
        tasks.retain(|task| filter.is_match(subjects.name(task)));
    }
    if tasks.is_empty() {
        return Err(Problem::failed("usage", "there is nothing to check")
            .with_hint("make a fixture with `obverse new`, give paths, or name what belongs together in an obverse.toml")
            .into());
    }
    let mut report = Report::open(&args.report, "check")?;
    let mut times: Vec<(String, Duration)> = Vec::new();
    let mut changed: Vec<(Found, Fixture)> = Vec::new();
    let progress = Progress::of(tasks.len());
    let work = |task: &Task| subjects.perform(args, task);
    let halted = bulk::spread_over(args.jobs, &tasks, &work, |mut done: Done| {
        if let Some(change) = done.change.take().filter(|_| args.update) {
            done.outcome
                .diagnostics
                .retain(|found| !work::RECORDED.contains(&found.code));
            changed.push(change);
        }
        times.push((done.outcome.name.clone(), done.took));
        progress.finished(&done.outcome.name);
        progress
            .aside(|| report.result(&done.outcome))
            .map_err(Halt::Output)?;
        if args.fail_fast && done.outcome.failed() {
            return Err(Halt::FirstFailure);
        }
        Ok(())
    });
    drop(progress);
    if let Err(Halt::Output(error)) = halted {
        return Err(Stop::Output(error));
    }
    check::write_all(&changed).map_err(|error| fixture_problem(&error))?;
    if !changed.is_empty() {
        output::tell(&format!("recorded {}\n", count(changed.len(), "fixture")));
    }
    let checked = times.len();
    tell_slowest(args, times);
    let summary = report.finish()?;
    if args.report.format == Format::Human && summary.status() == Status::Done {
        output::tell(&format!("{} checked, all well\n", count(checked, "case")));
    }
    Ok(summary.status())
}

fn tell_slowest(args: &Args, mut times: Vec<(String, Duration)>) {
    let Some(shown) = args.slowest else { return };
    times.sort_by_key(|(_, took)| std::cmp::Reverse(*took));
    for (name, took) in times.iter().take(shown) {
        let name = super::escape::line(name);
        output::tell(&format!("{:9.3} ms  {name}\n", took.as_secs_f64() * 1e3));
    }
}

fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

fn filter(globs: &[String]) -> Result<Option<GlobSet>, Problem> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let anywhere = format!("*{}*", globset::escape(glob));
        let is_glob = glob.contains(['*', '?', '[', '{']);
        let compiled = Glob::new(if is_glob { glob } else { &anywhere });
        set.add(compiled.map_err(|error| {
            Problem::failed(
                "usage",
                format!("--filter {glob}: not a glob: {}", error.kind()),
            )
        })?);
    }
    set.build()
        .map(Some)
        .map_err(|error| Problem::failed("usage", format!("--filter: {error}")))
}
