//! One key at a time.

use std::io;

use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// Where keys come from.
pub(super) trait Keys {
    /// The next key that means a character; `None` when there will be none, or the user wants to end.
    fn next(&mut self) -> io::Result<Option<char>>;
}

/// The terminal, which gives each key as soon as it is pressed.
pub(super) struct Terminal;

/// The terminal as it is while a key is waited for.
struct Raw;

impl Raw {
    fn new() -> io::Result<Self> {
        enable_raw_mode().map(|()| Self)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}

impl Keys for Terminal {
    fn next(&mut self) -> io::Result<Option<char>> {
        let _raw = Raw::new()?;
        loop {
            let Event::Key(key) = event::read()? else {
                continue;
            };
            if key.kind == KeyEventKind::Release {
                continue;
            }
            match key.code {
                KeyCode::Char('c' | 'd') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                    return Ok(None);
                }
                KeyCode::Esc => return Ok(None),
                KeyCode::Char(c) => return Ok(Some(c)),
                _ => {}
            }
        }
    }
}
