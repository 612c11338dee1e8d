//! The main loop: input becomes actions, actions change the state, effects go to the host, the state is drawn. It is the same
//! for a terminal and for a test's backend.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyEvent, KeyEventKind, MouseButton, MouseEventKind};
use ratatui::backend::Backend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal};

use super::action::{Action, Direction, Effect};
use super::keys;
use super::screen::Screen;
use super::session;
use super::state::{Mode, Setup, State};
use super::theme::Theme;
use super::update::update;
use super::view;
use crate::check::FileChange;
use crate::chunking::{Chunking, ChunkingError};

/// The host of a debugger, which does what it cannot do itself.
pub trait Host {
    /// The text of a file; `None` when there is none.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, in a sentence.
    fn read(&mut self, path: &Path) -> Result<Option<String>, String>;

    /// Gives a file this text, and makes the folders that it needs.
    ///
    /// # Errors
    ///
    /// Why it cannot be written, in a sentence.
    fn write(&mut self, path: &Path, text: &str) -> Result<(), String>;

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// Why it cannot be removed, in a sentence.
    fn remove(&mut self, path: &Path) -> Result<(), String>;

    /// Puts text on the clipboard, where there is one.
    fn copy(&mut self, text: &str);
}

/// An input to the debugger.
#[derive(Debug)]
pub enum Incoming {
    /// A key, a click, another size.
    Terminal(Event),
    /// More of the live response.
    Bytes(Vec<u8>),
    /// The live response is over; why, when something went wrong.
    Ended(Option<String>),
}

/// Where it comes from.
pub trait Input {
    /// Waits so long at most; `None` when nothing came. What is there already comes at once.
    ///
    /// # Errors
    ///
    /// When there is nothing to read from any more.
    fn next(&mut self, wait: Duration) -> io::Result<Option<Incoming>>;
}

/// A key script that names a key which there is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no key script: `<right>`, `<enter>`, `<c-s>` and the like are keys, `<lt>` is `<`"
)]
pub struct BadScript(String);

/// How long nothing is drawn while input comes.
const FRAME: Duration = Duration::from_millis(16);

/// How long the loop sleeps when nothing happens.
const IDLE: Duration = Duration::from_millis(500);

/// The debugger.
#[derive(Debug)]
pub struct Debugger<H> {
    state: State,
    host: H,
    theme: Theme,
    quits: bool,
}

impl<H: Host> Debugger<H> {
    /// A debugger at its beginning.
    pub fn new(setup: Setup, theme: Theme, host: H) -> Self {
        Self {
            state: State::new(setup),
            host,
            theme,
            quits: false,
        }
    }

    /// Runs until it is left.
    ///
    /// # Errors
    ///
    /// When the terminal or the input fails.
    pub fn run<B: Backend>(
        &mut self,
        terminal: &mut Terminal<B>,
        input: &mut dyn Input,
    ) -> io::Result<()>
    where
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        let mut ticked = Instant::now();
        while !self.quits {
            terminal
                .draw(|frame| self.draw(frame))
                .map_err(io::Error::other)?;
            let drawn = Instant::now();
            let mut wait = if self.state.play.on { FRAME } else { IDLE };
            // All that has come is done before the next frame, but not for ever.
            while let Some(incoming) = input.next(wait)? {
                self.take(incoming);
                wait = Duration::ZERO;
                if self.quits || drawn.elapsed() > FRAME * 4 {
                    break;
                }
            }
            let now = Instant::now();
            self.act(Action::Tick(now - ticked));
            ticked = now;
        }
        Ok(())
    }

    /// Draws a frame.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        self.draw_on(area, frame.buffer_mut());
    }

    fn draw_on(&mut self, area: Rect, buffer: &mut Buffer) {
        self.state.fit(area);
        view::draw(&self.state, self.theme, area, buffer);
    }

    /// The screen at a size.
    pub fn screen(&mut self, width: u16, height: u16) -> Screen {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        self.draw_on(area, &mut buffer);
        Screen::new(buffer)
    }

    /// Takes what comes in.
    pub fn take(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Terminal(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                self.press(key);
            }
            Incoming::Terminal(Event::Paste(text)) => {
                if matches!(self.state.mode, Mode::Edit(_) | Mode::Prompt(_)) {
                    self.act(Action::Type(text.replace("\r\n", "\n").replace('\r', "\n")));
                }
            }
            Incoming::Terminal(Event::Mouse(mouse)) => {
                let (x, y) = (mouse.column, mouse.row);
                match mouse.kind {
                    MouseEventKind::Down(MouseButton::Left) => self.act(Action::Click(x, y)),
                    MouseEventKind::ScrollDown => self.act(Action::Wheel(x, y, Direction::Forward)),
                    MouseEventKind::ScrollUp => self.act(Action::Wheel(x, y, Direction::Back)),
                    _ => {}
                }
            }
            Incoming::Terminal(_) => {}
            Incoming::Bytes(bytes) => self.act(Action::Arrived(bytes)),
            Incoming::Ended(error) => self.act(Action::Ended(error)),
        }
    }

    /// Presses the keys of a script: each character is a key; `<right>`, `<enter>`, `<c-s>` and the like are others, `<lt>` is
    /// `<`.
    ///
    /// # Errors
    ///
    /// When the script names a key that there is not; none is pressed then.
    pub fn type_keys(&mut self, script: &str) -> Result<(), BadScript> {
        for key in keys::read(script).ok_or_else(|| BadScript(script.to_owned()))? {
            self.press(key);
        }
        Ok(())
    }

    /// Lets playing go on by so much time.
    pub fn pass(&mut self, time: Duration) {
        self.act(Action::Tick(time));
    }

    /// Returns true if it has been left.
    pub fn has_quit(&self) -> bool {
        self.quits
    }

    /// The session as it is, to be opened again: see [`session`].
    pub fn session(&self) -> String {
        session::write(&self.state)
    }

    /// The host.
    pub fn host(&self) -> &H {
        &self.host
    }

    fn press(&mut self, key: KeyEvent) {
        if let Some(action) = keys::action(&self.state, key) {
            self.act(action);
        }
    }

    fn act(&mut self, action: Action) {
        let effect = update(&mut self.state, action);
        match effect {
            Effect::None => {}
            Effect::Quit => self.quits = true,
            Effect::Copy(text) => self.host.copy(&text),
            Effect::Chunking(text) => {
                let read = self.chunking(&text);
                self.act(Action::Chunked(read));
            }
            Effect::Compare(files) => match self.compare(files) {
                Ok(changes) => self.act(Action::Compared(changes)),
                Err(error) => self.state.warn(error),
            },
            Effect::Write(changes) => {
                let written = self.write(&changes);
                self.act(Action::Wrote(written));
            }
        }
    }

    /// Makes the changes, if the files still are what the changes were shown for.
    fn write(&mut self, changes: &[FileChange]) -> Result<(), String> {
        for change in changes {
            if self.host.read(&change.path)? != change.before {
                let path = change.path.display();
                return Err(format!("{path} has changed since it was shown: save again"));
            }
        }
        changes.iter().try_for_each(|change| match &change.after {
            Some(text) => self.host.write(&change.path, text),
            None => self.host.remove(&change.path),
        })
    }

    /// The changes of these files, before they are written.
    fn compare(
        &mut self,
        files: Vec<(PathBuf, Option<String>)>,
    ) -> Result<Vec<FileChange>, String> {
        let mut changes = Vec::new();
        for (path, after) in files {
            let before = self.host.read(&path)?;
            if before != after {
                changes.push(FileChange {
                    path,
                    before,
                    after,
                });
            }
        }
        Ok(changes)
    }

    /// The chunking that is written so; files are the host's.
    fn chunking(&mut self, text: &str) -> Result<Chunking, ChunkingError> {
        Chunking::read(text, &mut |path| match self.host.read(path)? {
            Some(text) => Ok(text),
            None => Err(format!("there is no file {}", path.display())),
        })
    }
}
