//! The modes, on which the meaning of the keys depends.

use crate::check::FileChange;
use crate::chunking::Chunking;
use crate::tui::text::Editor;

use super::Trigger;

/// The mode, on which the meaning of the keys depends.
#[derive(Debug, Default)]
pub(crate) enum Mode {
    /// Moving about.
    #[default]
    Normal,
    /// A text is edited where it is shown.
    Edit(Edited),
    /// A line is asked for.
    Prompt(Prompt),
    /// One of a list is asked for.
    Pick(Pick),
    /// Something is to be confirmed.
    Confirm(Confirm),
    /// A text is shown in full.
    Show(Shown),
    /// Asks whether to quit although edits are not saved.
    Quit(Quit),
}

/// The text that is edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edited {
    Response,
    Prefix,
    Template,
}

/// The purpose for which a line is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Byte,
    Search,
    /// A text that the samples that are wanted have in them.
    Sample,
    Breakpoint,
    Chunking,
    FixturePath,
    TemplatePath,
}

impl Asked {
    pub(crate) fn question(self) -> &'static str {
        match self {
            Self::Byte => "go to byte",
            Self::Search => "search",
            Self::Sample => "samples with",
            Self::Breakpoint => "break at (field NAME, event KIND, text TEXT)",
            Self::Chunking => "chunks (whole, words, recorded, random:SEED, 3, 3b, tokens:FILE)",
            Self::FixturePath => "save the fixture in",
            Self::TemplatePath => "save the template as",
        }
    }
}

/// A line that is asked for.
#[derive(Debug)]
pub(crate) struct Prompt {
    pub(crate) asked: Asked,
    pub(crate) editor: Editor,
}

/// The purpose for which one of a list is asked for, with the thing that each row stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Picked {
    /// By their places among the samples.
    Samples(Vec<usize>),
    Fields,
    Breakpoints,
    Chunkings(Vec<Chunking>),
}

/// A list of which one is asked for.
#[derive(Debug)]
pub(crate) struct Pick {
    pub(crate) picked: Picked,
    pub(crate) rows: Vec<String>,
    pub(crate) row: usize,
}

/// Files that are about to be written.
#[derive(Debug)]
pub(crate) struct Confirm {
    pub(crate) saves: Saves,
    pub(crate) changes: Vec<FileChange>,
    /// The difference, each line with the sign before it.
    pub(crate) lines: Vec<(char, String)>,
    pub(crate) top: usize,
}

/// The thing that is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saves {
    Fixture,
    Template,
}

/// Edits that quitting would lose.
#[derive(Debug)]
pub(crate) struct Quit {
    /// The edits that are not saved, each on a row.
    pub(crate) rows: Vec<String>,
    /// The mode before.
    pub(crate) back: Box<Mode>,
}

/// A text that is shown in full.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) top: usize,
    /// True if it is the help, whose lines are the debugger's own.
    pub(crate) is_help: bool,
    /// True if its line feeds are the debugger's own, and so are not shown.
    pub(crate) is_laid_out: bool,
    /// The mode before.
    pub(crate) back: Box<Mode>,
}

impl Pick {
    pub(crate) fn new(picked: Picked, rows: Vec<String>, row: usize) -> Self {
        Self { picked, rows, row }
    }
}

/// The row of a breakpoint.
pub(crate) fn breakpoint_row(at: &Trigger, enabled: bool) -> String {
    format!("{} {at}", if enabled { "●" } else { "○" })
}
