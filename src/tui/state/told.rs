//! The message beside the keys: what the last key did, why the parse failed, or what is wrong with the chosen event.

use super::{Mode, State, detail};
use crate::tui::text::{columns, wrapped_to};

/// The columns that the first two keys of a mode take behind a message.
///
/// A message stays until the next key, and one has to know which keys there are: `q` is always shown.
const KEYS: usize = 20;

/// The most rows that a message has above the keys.
const ROWS: usize = 3;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) text: String,
    pub(crate) is_bad: bool,
}

impl Told {
    /// The message that is shown now.
    pub(crate) fn of(state: &State) -> Option<Self> {
        if let Mode::Prompt(_) = state.mode {
            return None;
        }
        if let Some(notice) = &state.notice {
            let sign = if notice.is_bad { "! " } else { "" };
            return Some(Self {
                text: format!("{sign}{}", notice.text),
                is_bad: notice.is_bad,
            });
        }
        // What stands as long as one looks at a place says nothing about a list or a question that lies over it.
        if !matches!(state.mode, Mode::Normal | Mode::Edit(_)) {
            return None;
        }
        let is_whole = state.now().entries().len() == state.timeline().entries().len();
        let failure = state.timeline().failure().filter(|_| is_whole);
        let text = match (failure, &state.mode) {
            (Some(failure), _) => failure.message.clone(),
            (None, Mode::Normal) => detail::explain(state)?,
            (None, _) => return None,
        };
        Some(Self {
            text: format!("! {text}"),
            is_bad: true,
        })
    }

    /// The columns that it may take in the row of the keys.
    pub(crate) fn room(width: u16) -> usize {
        usize::from(width).saturating_sub(KEYS)
    }

    /// The rows above the keys that it needs on a screen of that width; none where it fits beside them.
    pub(crate) fn rows(&self, width: u16) -> Vec<String> {
        match columns(&self.text) > Self::room(width) {
            true => wrapped_to(&self.text, usize::from(width), ROWS),
            false => Vec::new(),
        }
    }
}
