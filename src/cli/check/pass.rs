//! One pass over what is to be checked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use obverse::check::{self, FileChange, Fixture, FixtureFile};

use super::Args;
use super::subject::Subjects;
use super::task::Task;
use super::work::{Done, How, RECORDED};
use crate::cli::progress::Progress;
use crate::cli::reference::Reference;
use crate::cli::replace::apply;
use crate::cli::report::{Format, Report};
use crate::cli::status::Status;
use crate::cli::stop::Stop;
use crate::cli::words::count;
use crate::cli::{bulk, escape, input, output};

/// A pass, before it is made.
pub(super) struct Pass<'a> {
    pub(super) args: &'a Args,
    pub(super) reference: Option<&'a Reference>,
    /// Becomes true when nobody waits for the end any more.
    pub(super) ended: Option<&'a AtomicBool>,
}

/// Why no further result is taken.
enum Halt {
    FirstFailure,
    Ended,
    Output(std::io::Error),
}

impl Pass<'_> {
    /// Does all tasks and reports what comes of them.
    pub(super) fn run(&self, subjects: &Subjects, tasks: &[Task]) -> Result<Status, Stop> {
        let args = self.args;
        let how = How {
            effort: args.effort(),
            clock: args.selection.project.clock(),
            selection: &args.selection,
            reference: self.reference,
        };
        let mut report = Report::open(&args.report, "check")?;
        let subjects_read = subjects.all.iter().flat_map(|subject| {
            let chat = subject.chat.as_ref().map(|chat| chat.path.as_path());
            chat.into_iter().chain([subject.path.as_path()])
        });
        for path in subjects_read.chain(args.selection.project.file().as_deref()) {
            report.spare(path)?;
        }
        for task in tasks {
            if let Task::Fixture(_, found) = task {
                report.spare_fixture(found)?;
            }
        }
        if self.ended.is_some() {
            report = report.shown_at_once();
        }
        let mut times: Vec<(String, Duration)> = Vec::new();
        let mut changed: Vec<(FixtureFile, Fixture)> = Vec::new();
        let progress = Progress::of(tasks.len());
        let work = |task: &Task| subjects.perform(&how, task);
        let jobs = args.selection.jobs;
        let halted = bulk::spread_over(jobs, tasks, &work, |mut done: Done| {
            if self
                .ended
                .is_some_and(|ended| ended.load(Ordering::Relaxed))
            {
                return Err(Halt::Ended);
            }
            if let Some(change) = done.change.take().filter(|_| args.update) {
                done.outcome
                    .diagnostics
                    .retain(|found| !RECORDED.contains(&found.code));
                changed.push(change);
            }
            progress.aside(|| {
                output::detail(|| {
                    let how = if done.outcome.failed() {
                        "failed"
                    } else {
                        "holds"
                    };
                    let took = done.took.as_secs_f64() * 1e3;
                    format!("{how}  {}  {took:.3} ms", done.outcome.name)
                });
            });
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
        match halted {
            Err(Halt::Output(error)) => return Err(Stop::Output(error)),
            Err(Halt::Ended) => return Ok(Status::Done),
            Ok(()) | Err(Halt::FirstFailure) => {}
        }
        let changes = check::changes(&changed).map_err(|error| input::fixture_problem(&error))?;
        let unwritten = record(&changed, &changes);
        let checked = times.len();
        tell_slowest(args, times);
        let summary = report.finish()?;
        if unwritten {
            return Ok(Status::Failed);
        }
        if args.report.format == Format::Human && summary.status() == Status::Done {
            let well = match summary.warnings {
                0 => "all well",
                _ => "nothing fails",
            };
            output::tell(&format!("{} checked, {well}\n", count(checked, "case")));
        }
        Ok(summary.status())
    }
}

/// Writes what is to be recorded, and tells how much of it was. Returns true if some of it could not be written; all the rest is
/// written all the same.
fn record(changed: &[(FixtureFile, Fixture)], changes: &[FileChange]) -> bool {
    let mut failed: Vec<&FileChange> = Vec::new();
    for change in changes {
        if let Err(problem) = apply(change) {
            problem.show();
            failed.push(change);
        }
    }
    let is_whole = |(found, _): &&(FixtureFile, Fixture)| {
        !failed
            .iter()
            .any(|change| change.path.starts_with(&found.path))
    };
    let recorded = changed.iter().filter(is_whole).count();
    if !changed.is_empty() {
        let left = match changed.len() - recorded {
            0 => String::new(),
            left => format!(", and {left} not"),
        };
        output::tell(&format!("recorded {}{left}\n", count(recorded, "fixture")));
    }
    !failed.is_empty()
}

fn tell_slowest(args: &Args, mut times: Vec<(String, Duration)>) {
    let Some(shown) = args.slowest else { return };
    times.sort_by_key(|(_, took)| std::cmp::Reverse(*took));
    for (name, took) in times.iter().take(shown) {
        let name = escape::line(name);
        output::tell(&format!("{:9.3} ms  {name}\n", took.as_secs_f64() * 1e3));
    }
}
