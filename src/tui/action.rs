//! Actions, which can be asked of the debugger, and effects, which it asks of its host.

use std::path::PathBuf;
use std::time::Duration;

use super::layout::Pane;
use super::text::Motion;
use crate::check::FileChange;
use crate::chunking::{Chunking, ChunkingError};

/// The unit that one step goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Chunk,
    Character,
    Event,
    Region,
    Error,
    /// The next region of the field that was last asked for.
    Field,
    /// To the next breakpoint.
    Break,
    /// To the next place at which the searched text has arrived.
    Found,
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Back,
}

/// Everything that can happen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    Step(Unit, Direction),
    Start,
    End,
    /// So many rows or pages up (negative) or down in the focused pane.
    Move(isize),
    Page(isize),
    Play,
    Faster,
    Slower,
    /// So much time has passed.
    Tick(Duration),
    Focus(Pane),
    NextPane(Direction),
    Zoom,
    /// Enter, whose meaning depends on the pane.
    Open,
    Edit,
    EditPrefix,
    Type(String),
    Go(Motion),
    Vertical(Direction),
    Remove(Motion),
    Undo,
    Redo,
    Leave,
    Yes,
    No,
    Delete,
    Add,
    AskByte,
    AskSearch,
    AskField,
    AskBreakpoints,
    AskChunking,
    AskSample,
    AskFixture,
    SaveTemplate,
    /// Mend what the linter can mend.
    Mend,
    CopyValue,
    CopyPath,
    Spaces,
    /// Show what the grammar allows next, or hide it.
    Grammar,
    /// Show the bytes around the place.
    Bytes,
    Evidence,
    Help,
    Quit,
    /// A click at a column and row of the screen.
    Click(u16, u16),
    /// The wheel at a column and row of the screen.
    Wheel(u16, u16, Direction),
    /// More of a response that is still arriving.
    Arrived(Vec<u8>),
    /// Nothing more arrives; why, if something went wrong.
    Ended(Option<String>),
    /// The files that are about to be written, with what is in them.
    Compared(Vec<FileChange>),
    /// The chunking that was asked for.
    Chunked(Result<Chunking, ChunkingError>),
    /// The outcome of writing them.
    Wrote(Result<(), String>),
}

/// An effect that the debugger asks its host for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    None,
    Quit,
    /// Say which of these files would change; those without a text are to be gone.
    Compare(Vec<(PathBuf, Option<String>)>),
    Write(Vec<FileChange>),
    Copy(String),
    /// Read a chunking that may name a file.
    Chunking(String),
}
