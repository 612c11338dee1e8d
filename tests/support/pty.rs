//! A program in a pseudo-terminal, as its user sits before it.

use std::io::{Read as _, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};

/// How long anything is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running program, and the terminal that it runs in.
pub(crate) struct Pty {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    /// Held so that the terminal outlives the program.
    _slave: Box<dyn SlavePty + Send>,
    writer: Box<dyn Write + Send>,
    seen: Arc<Mutex<Seen>>,
}

/// What the program has written.
struct Seen {
    bytes: Vec<u8>,
    terminal: vt100::Parser,
}

/// Columns or rows, as the terminal counts them.
fn count(number: u16) -> NonZero<u16> {
    NonZero::new(number).expect("a terminal has some")
}

fn size(width: u16, height: u16) -> PtySize {
    PtySize {
        rows: height,
        cols: width,
        pixel_width: 0,
        pixel_height: 0,
    }
}

impl Pty {
    /// Starts a program in a folder, in a terminal of 80 columns and 24 rows.
    pub(crate) fn start(program: &Path, arguments: &[&str], folder: &Path) -> Self {
        let pair = native_pty_system().openpty(size(80, 24)).expect("a pty");
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.cwd(folder);
        command.env("TERM", "xterm-256color");
        let child = pair.slave.spawn_command(command).expect("a program");
        let seen = Arc::new(Mutex::new(Seen {
            bytes: Vec::new(),
            terminal: vt100::Parser::new(count(24), count(80), 0),
        }));
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let into = Arc::clone(&seen);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                let mut seen = into.lock().expect("no panic");
                seen.bytes.extend_from_slice(&buffer[..count]);
                seen.terminal.process(&buffer[..count]);
            }
        });
        Self {
            child,
            writer: pair.master.take_writer().expect("a writer"),
            master: pair.master,
            _slave: pair.slave,
            seen,
        }
    }

    /// Types.
    pub(crate) fn write(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).expect("a terminal");
        self.writer.flush().expect("a terminal");
    }

    /// What is on the screen.
    pub(crate) fn screen(&self) -> String {
        let seen = self.seen.lock().expect("no panic");
        seen.terminal.screen().contents()
    }

    /// All that was written.
    pub(crate) fn bytes(&self) -> String {
        let seen = self.seen.lock().expect("no panic");
        String::from_utf8_lossy(&seen.bytes).into_owned()
    }

    /// Waits until the screen has the text.
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_until(text, |pty| pty.screen().contains(text));
    }

    /// Waits until something holds.
    pub(crate) fn wait_until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !holds(self) {
            assert!(
                begun.elapsed() < PATIENCE,
                "waited for {what}, but there is:\n{}",
                self.screen()
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Another size.
    pub(crate) fn resize(&self, width: u16, height: u16) {
        // Both at once: the program may draw for the new size as soon as it is told.
        let mut seen = self.seen.lock().expect("no panic");
        self.master.resize(size(width, height)).expect("a size");
        seen.terminal
            .screen_mut()
            .set_size(count(height), count(width));
    }

    /// Sends a signal to the program.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.process_id().expect("it runs").to_string();
        let sent = std::process::Command::new("kill")
            .args(["-s", name, &id])
            .status();
        assert!(sent.expect("kill").success());
    }

    /// Waits for the end; returns the exit status.
    pub(crate) fn end(&mut self) -> u32 {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                // The last of its output may still be on its way.
                thread::sleep(Duration::from_millis(100));
                return status.exit_code();
            }
            if begun.elapsed() > PATIENCE {
                let _ = self.child.kill();
                panic!("it does not end:\n{}", self.screen());
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// What of the terminal is not as it was before the program took it over.
    pub(crate) fn left_behind(&self) -> Vec<&'static str> {
        let seen = self.seen.lock().expect("no panic");
        let screen = seen.terminal.screen();
        let modes = self.master.get_termios().expect("a terminal's modes");
        // The type of the modes is of a crate that is not ours.
        let modes = format!("{modes:?}");
        let mouse = screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None;
        let left = [
            (screen.alternate_screen(), "the alternate screen"),
            (screen.hide_cursor(), "no cursor"),
            (mouse, "the mouse"),
            (screen.bracketed_paste(), "pastes in brackets"),
            (!modes.contains("ICANON"), "raw mode"),
            (!modes.contains("ECHO"), "no echo"),
        ];
        let left = left.into_iter().filter(|(is_left, _)| *is_left);
        left.map(|(_, what)| what).collect()
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}
