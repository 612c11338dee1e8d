//! How far work has come: a bar on standard error, where that is a terminal and the work takes longer than a second.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::verbosity::{self, Verbosity};
use super::{escape, input, output};

/// How often the bar is drawn anew while nothing is finished.
const TICK: Duration = Duration::from_millis(200);

/// Work that takes no longer than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// The bar, which comes after a while; there is none where nobody would see it.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Dropped when the work is done, so that a bar that is not there yet does not come any more.
    waits: Option<Sender<()>>,
    shows: Option<JoinHandle<()>>,
}

impl Progress {
    /// A bar for so many things, gone when this is dropped.
    pub(crate) fn of(count: usize) -> Self {
        Self::new(count, "{bar:24} {pos} of {len}  {wide_msg}")
    }

    /// Progress of one thing that takes its time.
    pub(crate) fn of_one(name: &str) -> Self {
        let progress = Self::new(1, "{spinner} {elapsed}  {wide_msg}");
        progress.bar.set_message(escape::line(name).into_owned());
        progress
    }

    /// Shows that one thing goes on, as long as it does. Nothing may be written to the terminal meanwhile.
    pub(crate) fn during<T>(name: &str, work: impl FnOnce() -> T) -> T {
        let _progress = Self::of_one(name);
        work()
    }

    /// Progress of what is read from `input`. There is none while somebody types that, who sees how far it is.
    pub(crate) fn of_input(path: &Path) -> Self {
        match input::is_stdin(path) && io::stdin().is_terminal() {
            true => Self::of(0),
            false => Self::of_one(&input::name(path)),
        }
    }

    /// As [`of_input`](Self::of_input), for work whose results are written one by one. There is one only where these go to a file: a
    /// terminal shows them itself, and at the other end of a pipe there may be a program that writes to the same terminal.
    pub(crate) fn of_stream(path: &Path) -> Self {
        match output::is_kept() {
            true => Self::of_input(path),
            false => Self::of(0),
        }
    }

    fn new(count: usize, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        let is_seen = io::stderr().is_terminal() && verbosity::chosen() > Verbosity::Quiet;
        if count == 0 || !is_seen {
            return Self {
                bar,
                waits: None,
                shows: None,
            };
        }
        let (waits, done) = mpsc::channel::<()>();
        let shown = bar.clone();
        let shows = thread::spawn(move || {
            if done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        });
        Self {
            bar,
            waits: Some(waits),
            shows: Some(shows),
        }
    }

    /// Notes that one more thing is finished, and what it is called.
    pub(crate) fn finished(&self, name: &str) {
        self.bar.set_message(escape::line(name).into_owned());
        self.bar.inc(1);
    }

    /// Does something that writes to the terminal, with the bar out of the way.
    pub(crate) fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        self.bar.suspend(work)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.waits.take());
        if let Some(shows) = self.shows.take() {
            let _ = shows.join();
        }
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_shown_a_bar_at_once() {
        let progress = Progress::of(1);
        assert!(progress.bar.is_hidden());
        progress.finished("a\u{1b}[2J");
        assert_eq!(progress.bar.message(), "a\\u{1b}[2J");
        assert_eq!(progress.aside(|| 7), 7);
        let begun = std::time::Instant::now();
        drop(progress);
        drop(Progress::of_one("a"));
        assert!(begun.elapsed() < PATIENCE);
    }
}
