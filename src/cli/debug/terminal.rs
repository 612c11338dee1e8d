//! The terminal: taken over and given back on every way out, and what comes in from it and from a response that still
//! arrives.

use std::io::{self, Read, Stdout};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute};
use obverse::tui::{Debugger, Host, Incoming, Input};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::cli::input;

/// How long a key waits while a response may be arriving.
const SLICE: Duration = Duration::from_millis(15);

/// How long a file that has ended is left alone before it is looked at again.
const PAUSE: Duration = Duration::from_millis(50);

/// How many pieces of a response wait at most.
const QUEUE: usize = 64;

/// Runs the debugger on the terminal; `live` is where a response is still arriving from.
pub(super) fn run<H: Host>(debugger: &mut Debugger<H>, live: Option<&Path>) -> io::Result<()> {
    let ends = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP, SIGINT, SIGQUIT] {
        signal_hook::flag::register(signal, Arc::clone(&ends))?;
    }
    let mut incoming = FromTerminal {
        live: live.map(follow),
        ends,
    };
    let _taken = Taken::new()?;
    let mut terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
    match debugger.run(&mut terminal, &mut incoming) {
        // Being told to end is no failure.
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        ended => ended,
    }
}

/// Puts text on the clipboard, by way of the terminal.
pub(super) fn copy(text: &str) {
    // That a terminal has no clipboard cannot be told.
    let _ = execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text));
}

/// The terminal while it is taken over. It is given back when this is dropped, and before a panic is told.
struct Taken;

impl Taken {
    fn new() -> io::Result<Self> {
        let tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back(&mut io::stdout());
            tell(panic);
        }));
        enable_raw_mode()?;
        let taken = Self;
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            EnableMouseCapture,
            EnableBracketedPaste,
            cursor::Hide
        )?;
        Ok(taken)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        give_back(&mut io::stdout());
    }
}

/// Every step is tried, whatever becomes of the others.
fn give_back(out: &mut Stdout) {
    let _ = execute!(out, DisableBracketedPaste);
    let _ = execute!(out, DisableMouseCapture);
    let _ = execute!(out, LeaveAlternateScreen);
    let _ = execute!(out, cursor::Show);
    let _ = disable_raw_mode();
}

/// The inputs that come from the terminal, and from a response that still arrives.
struct FromTerminal {
    live: Option<Receiver<Incoming>>,
    /// Set when the process is told to end.
    ends: Arc<AtomicBool>,
}

impl Input for FromTerminal {
    fn next(&mut self, wait: Duration) -> io::Result<Option<Incoming>> {
        let until = Instant::now() + wait;
        loop {
            if self.ends.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            match self.live.as_ref().map(Receiver::try_recv) {
                Some(Ok(incoming)) => return Ok(Some(incoming)),
                Some(Err(TryRecvError::Disconnected)) => self.live = None,
                Some(Err(TryRecvError::Empty)) | None => {}
            }
            let left = until.saturating_duration_since(Instant::now());
            let slice = if self.live.is_some() {
                left.min(SLICE)
            } else {
                left
            };
            match event::poll(slice) {
                Ok(true) => return event::read().map(|event| Some(Incoming::Terminal(event))),
                Ok(false) if left <= slice => return Ok(None),
                Ok(false) => {}
                // A signal came; the flag says which.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Reads a response that is still arriving, in a thread of its own. Standard input has an end; a file may always grow.
fn follow(path: &Path) -> Receiver<Incoming> {
    let (sender, receiver) = mpsc::sync_channel(QUEUE);
    let path = path.to_owned();
    thread::spawn(move || {
        let error = match input::open(&path) {
            Ok(mut reading) => read_on(reading.as_mut(), input::is_stdin(&path), &sender),
            Err(problem) => problem
                .diagnostics
                .first()
                .map(|found| found.message.clone()),
        };
        // That nobody listens any more is how it ends.
        let _ = sender.send(Incoming::Ended(error));
    });
    receiver
}

/// How many bytes of a response that arrives are shown. The debugger keeps about a dozen times as much for it.
const MOST: usize = 32 << 20;

/// Returns why reading ended, when it was not the end.
fn read_on(reading: &mut dyn Read, ends: bool, sender: &SyncSender<Incoming>) -> Option<String> {
    let mut buffer = vec![0; 4096];
    let mut length = 0;
    loop {
        match input::read_piece(reading, &mut buffer) {
            Ok([]) if ends => return None,
            Ok([]) => thread::sleep(PAUSE),
            Ok(piece) => {
                length += piece.len();
                if length > MOST {
                    return Some(format!(
                        "the response is longer than {} MB; only its beginning is shown",
                        MOST >> 20
                    ));
                }
                if sender.send(Incoming::Bytes(piece.to_vec())).is_err() {
                    return None;
                }
            }
            Err(error) => return Some(format!("the response broke off: {error}")),
        }
    }
}

#[cfg(all(test, unix))]
#[allow(dead_code, reason = "the other tests that share it use the rest")]
#[path = "../../../tests/support/pty.rs"]
mod pty;

#[cfg(all(test, unix))]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::pty::Pty;
    use super::{Incoming, MOST, Taken};

    const CHILD: &str = "cli::debug::terminal::tests::panics_while_the_terminal_is_taken";

    /// Not a test of its own: it is run in a terminal by the one below.
    #[test]
    #[ignore = "it panics"]
    fn panics_while_the_terminal_is_taken() {
        let _taken = Taken::new().expect("a terminal");
        std::thread::sleep(Duration::from_millis(300));
        panic!("on purpose");
    }

    #[test]
    fn a_response_without_an_end_is_shown_up_to_a_limit() {
        let (sender, receiver) = mpsc::sync_channel(4);
        let read =
            std::thread::spawn(move || super::read_on(&mut std::io::repeat(b'y'), true, &sender));
        let arrived: usize = receiver
            .iter()
            .map(|incoming| match incoming {
                Incoming::Bytes(bytes) => bytes.len(),
                _ => 0,
            })
            .sum();
        assert_eq!(arrived, MOST);
        let told = read.join().expect("no panic").expect("a limit");
        assert!(told.contains("32 MB"), "{told}");
    }

    #[test]
    fn the_terminal_is_given_back_before_a_panic_is_told() {
        let program = std::env::current_exe().expect("this program");
        let arguments = ["--exact", CHILD, "--ignored", "--nocapture"];
        let mut pty = Pty::start(&program, &arguments, &std::env::temp_dir());
        pty.wait_until("the terminal is taken", |pty| pty.left_behind().len() >= 5);
        assert_ne!(pty.end(), 0);
        assert!(pty.left_behind().is_empty(), "{:?}", pty.left_behind());
        // The message must begin at the beginning of a line, where the terminal was left.
        let screen = pty.screen();
        assert!(screen.contains("\non purpose"), "{screen}");
        let bytes = pty.bytes();
        let given_back = bytes.find("\u{1b}[?1049l").expect("the screen is left");
        assert!(given_back < bytes.find("on purpose").expect("a message"));
    }
}
