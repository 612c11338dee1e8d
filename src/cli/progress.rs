//! How far work on many things has come: a bar on standard error, where that is a terminal.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::escape;

/// How often the bar is drawn anew while nothing is finished.
const TICK: Duration = Duration::from_millis(200);

/// The bar; there is none for a single thing, nor where nobody would see it.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for so many things, gone when this is dropped.
    pub(crate) fn of(count: usize) -> Self {
        let shown = count > 1 && io::stderr().is_terminal();
        let target = if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(count as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos} of {len}  {wide_msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        if shown {
            bar.enable_steady_tick(TICK);
        }
        Self { bar }
    }

    /// That one more is finished, and what it is called.
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
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_shown_a_bar_for_one_thing() {
        let progress = Progress::of(1);
        assert!(progress.bar.is_hidden());
        progress.finished("a\u{1b}[2J");
        assert_eq!(progress.bar.message(), "a\\u{1b}[2J");
        assert_eq!(progress.aside(|| 7), 7);
    }
}
