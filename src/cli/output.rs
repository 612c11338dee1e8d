//! Writing to the two streams.

use std::fs::Metadata;
use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use super::color::{DIM, paint};
use super::pager::{self, Stream};
use super::verbosity::{self, Verbosity};
use super::{escape, width};

/// True once results have been written.
static IS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Returns true if results have been written, or have begun to be.
pub(crate) fn is_begun() -> bool {
    IS_BEGUN.load(Ordering::Relaxed)
}

/// Remembers that results are written.
pub(crate) fn begin() {
    IS_BEGUN.store(true, Ordering::Relaxed);
}

/// Forgets results of another run in the same process.
pub(crate) fn reset() {
    IS_BEGUN.store(false, Ordering::Relaxed);
}

/// Takes it for no error that the reader of the results has read enough: how the verb ends does not depend on that.
fn read_enough(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// Standard output, for results. What is written shows at the next flush.
pub(crate) fn results() -> BufWriter<StdoutLock<'static>> {
    BufWriter::new(io::stdout().lock())
}

/// Text for standard output that a terminal must not act upon: as it is for a pipe or a file, escaped for a terminal.
pub(crate) fn print_text(text: &str) -> io::Result<()> {
    if io::stdout().is_terminal() {
        print(&escape::block(text))
    } else {
        print(text)
    }
}

/// Tells people something and writes results: on one screen the results first, so that what is told is not pushed off it.
pub(crate) fn told_beside<T>(tell: impl FnOnce(), write: impl FnOnce() -> T) -> T {
    if shares_screen() {
        let written = write();
        tell();
        return written;
    }
    tell();
    write()
}

/// Returns true if results and what people are told go to one screen, on which only what comes last is seen for certain.
pub(crate) fn shares_screen() -> bool {
    io::stdout().is_terminal() && is_told_on_screen()
}

/// Returns true if results go where nobody sees them come: to a file, or nowhere.
pub(crate) fn is_kept() -> bool {
    place().is_ok_and(|place| is_kept_in(&place))
}

/// Tells where standard output leads.
#[cfg(unix)]
fn place() -> io::Result<Metadata> {
    use std::fs::File;
    use std::os::fd::AsFd as _;

    File::from(io::stdout().as_fd().try_clone_to_owned()?).metadata()
}

/// Tells where standard output leads.
#[cfg(windows)]
fn place() -> io::Result<Metadata> {
    use std::fs::File;
    use std::os::windows::io::AsHandle as _;

    File::from(io::stdout().as_handle().try_clone_to_owned()?).metadata()
}

/// Nothing is known here of where standard output leads.
#[cfg(not(any(unix, windows)))]
fn place() -> io::Result<Metadata> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn is_kept_in(place: &Metadata) -> bool {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

    let is_nowhere = || {
        std::fs::metadata("/dev/null").is_ok_and(|nowhere| {
            place.file_type().is_char_device() && nowhere.rdev() == place.rdev()
        })
    };
    place.is_file() || is_nowhere()
}

#[cfg(not(unix))]
fn is_kept_in(place: &Metadata) -> bool {
    place.is_file()
}

/// Returns true if what people are told goes to a screen.
pub(crate) fn is_told_on_screen() -> bool {
    io::stderr().is_terminal()
}

fn print(text: &str) -> io::Result<()> {
    begin();
    let mut out = results();
    read_enough(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// JSON for standard output. The same, but what is escaped for a terminal means the same.
pub(crate) fn print_json(text: &str) -> io::Result<()> {
    if io::stdout().is_terminal() {
        print(&escape::json(text))
    } else {
        print(text)
    }
}

/// Results that `write` writes, for those that are not to be in memory as a whole.
pub(crate) fn print_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    begin();
    let mut out = results();
    read_enough(write(&mut out).and_then(|()| out.flush()))
}

/// A table for people on standard output, made to fit the terminal. Text from outside must have been escaped.
pub(crate) fn print_table(text: &str) -> io::Result<()> {
    print_long(&width::fit(text, width::of_results()))
}

/// Styled text on standard output; where it is long, and that is a terminal, in a pager. Text from outside must have been escaped.
pub(crate) fn print_long(text: &str) -> io::Result<()> {
    if pager::show(text, Stream::Output) {
        return Ok(());
    }
    print_styled(text)
}

/// Styled text on standard output, as it is. Text from outside must have been escaped.
pub(crate) fn print_styled(text: &str) -> io::Result<()> {
    begin();
    let mut out = anstream::stdout().lock();
    read_enough(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Tells people something on standard error, made to fit the terminal. Text from outside must have been escaped. That nobody listens is no error.
pub(crate) fn tell(text: &str) {
    if verbosity::chosen() > Verbosity::Quiet {
        tell_always(text);
    }
}

/// Prints much text: where it is long, and goes to a terminal, in a pager.
pub(crate) fn tell_long(text: &str) {
    if !is_paged(text) {
        tell(text);
    }
}

/// Returns true if results go to a screen.
pub(crate) fn is_result_on_screen() -> bool {
    io::stdout().is_terminal()
}

/// Returns true if what people are told goes to a screen, and this would push its own beginning off it.
pub(crate) fn fills_the_screen(text: &str) -> bool {
    pager::is_long(&width::fit(text, width::of_messages()), Stream::Error)
}

/// Shows people a text in a pager, and returns true, if it is long and goes to a terminal.
pub(crate) fn is_paged(text: &str) -> bool {
    verbosity::chosen() > Verbosity::Quiet
        && pager::show(&width::fit(text, width::of_messages()), Stream::Error)
}

/// Tells people a detail, on a line of its own, if they want to know such.
pub(crate) fn detail(text: impl FnOnce() -> String) {
    if verbosity::chosen() == Verbosity::Verbose {
        tell_always(&(paint(DIM, &escape::line(&text())) + "\n"));
    }
}

/// Tells people what went wrong, however little they want to be told.
pub(crate) fn tell_always(text: &str) {
    let text = width::fit(text, width::of_messages());
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Help that was asked for.
pub(crate) fn help(text: &str) -> io::Result<()> {
    print_styled(text)
}
