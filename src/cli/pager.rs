//! Long output, on a terminal, goes through a pager: what `PAGER` names, or `less`.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::ColorChoice;

/// The pager where `PAGER` is not set.
const DEFAULT: &str = "less";

/// The options of `less` where `LESS` is not set: to leave at once where a screen is enough, to show styles, to leave the text there.
const LESS: &str = "FRX";

/// True if `--no-pager` was given.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// The argument that refuses it.
#[derive(Debug, clap::Args)]
pub(crate) struct PagerArgs {
    /// Write long output straight to the terminal, without the pager that PAGER names
    #[arg(long, global = true, display_order = 903)]
    no_pager: bool,
}

impl PagerArgs {
    /// Makes these arguments count from now on.
    pub(crate) fn apply(&self) {
        REFUSED.store(self.no_pager, Ordering::Relaxed);
    }
}

/// Where text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Results.
    Output,
    /// The stream of what people are told: standard error.
    Error,
}

/// Shows styled text in a pager, if it is long and goes to a terminal; otherwise does nothing and returns `false`. Text from outside
/// must have been escaped.
pub(crate) fn show(text: &str, stream: Stream) -> bool {
    if REFUSED.load(Ordering::Relaxed) || !is_long(text, stream) {
        return false;
    }
    let Some(mut child) = start(stream) else {
        return false;
    };
    if let Some(mut input) = child.stdin.take() {
        let is_plain = match stream {
            Stream::Output => anstream::AutoStream::choice(&io::stdout()),
            Stream::Error => anstream::AutoStream::choice(&io::stderr()),
        } == ColorChoice::Never;
        let plain = is_plain.then(|| anstream::adapter::strip_str(text).to_string());
        // A pager that was left early has been read enough.
        let _ = input.write_all(plain.as_deref().unwrap_or(text).as_bytes());
    }
    child.wait().is_ok()
}

/// Returns true if text has more lines than the terminal that it goes to shows.
pub(crate) fn is_long(text: &str, stream: Stream) -> bool {
    let is_terminal = match stream {
        Stream::Output => io::stdout().is_terminal(),
        Stream::Error => io::stderr().is_terminal(),
    };
    if !is_terminal {
        return false;
    }
    let rows = crossterm::terminal::size().map_or(0, |(_, rows)| usize::from(rows));
    rows > 0 && text.lines().count() >= rows
}

/// The pager, waiting for text; `None` where none is wanted or it does not start.
fn start(stream: Stream) -> Option<Child> {
    let wanted = std::env::var("PAGER").unwrap_or_else(|_| DEFAULT.to_owned());
    let mut words = wanted.split_whitespace();
    let program = words.next().filter(|program| *program != "cat")?;
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    #[cfg(unix)]
    if stream == Stream::Error {
        use std::os::fd::AsFd as _;
        // Results may go elsewhere; the pager is to write where people are told things.
        command.stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned().ok()?));
    }
    #[cfg(not(unix))]
    if stream == Stream::Error && !io::stdout().is_terminal() {
        return None;
    }
    command.spawn().ok()
}
