//! The outcome of something in a conversation: the answer that most questions get.

use serde::Serialize;

use crate::chat_template::RenderError;

/// How many characters of a text from a template are told.
const LONGEST: usize = 300;

/// How a chat template treats a part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Outcome {
    /// The words of it are in the text.
    Rendered,
    /// It is in the text as Python prints a value, and not as the words that it says: `[{'type': 'text', ...}]` for a content in parts,
    /// JSON that is quoted once more for arguments that are text.
    Printed,
    /// The chat template accepts it and writes none of it.
    Dropped,
    /// The chat template refuses the conversation.
    Refused {
        /// The error; where the template raises one of its own, in its words. At most 300 characters.
        error: String,
    },
}

impl Outcome {
    /// Returns the outcome by the render: rendered if it has all of the words in it.
    pub(super) fn of(render: &Result<String, RenderError>, words: &[&str]) -> Self {
        match render {
            Ok(text) if words.iter().all(|word| text.contains(word)) => Self::Rendered,
            Ok(_) => Self::Dropped,
            Err(error) => Self::refused(error),
        }
    }

    /// Returns the outcome as [`of`](Self::of) does, or [`Self::Printed`] if the render has the words and `printed` finds in it that a
    /// value was printed as a whole.
    pub(super) fn unless_printed(
        render: &Result<String, RenderError>,
        words: &[&str],
        printed: impl Fn(&str) -> bool,
    ) -> Self {
        match (Self::of(render, words), render) {
            (Self::Rendered, Ok(text)) if printed(text) => Self::Printed,
            (outcome, _) => outcome,
        }
    }

    pub(super) fn refused(error: &RenderError) -> Self {
        Self::Refused {
            error: shorten(&match error {
                RenderError::Raised { message } => message.clone(),
                other => other.to_string(),
            }),
        }
    }

    /// Returns true if it is in the text as the words that it says.
    pub fn is_rendered(&self) -> bool {
        *self == Self::Rendered
    }

    /// Returns true if it is in the text, in any form.
    pub fn is_in_text(&self) -> bool {
        matches!(self, Self::Rendered | Self::Printed)
    }

    /// The better one of two: rendered before printed before dropped before refused.
    pub(super) fn or(self, other: impl FnOnce() -> Self) -> Self {
        if self.is_rendered() {
            return self;
        }
        let other = other();
        if other.rank() < self.rank() {
            other
        } else {
            self
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Rendered => 0,
            Self::Printed => 1,
            Self::Dropped => 2,
            Self::Refused { .. } => 3,
        }
    }
}

/// A text with its middle left out where it is long.
pub(super) fn shorten(text: &str) -> String {
    let count = text.chars().count();
    if count <= LONGEST {
        return text.to_owned();
    }
    let head: String = text.chars().take(LONGEST * 2 / 3 - 1).collect();
    let tail: String = text.chars().skip(count - LONGEST / 3).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_of_two_outcomes_counts() {
        let refused = || Outcome::Refused {
            error: String::new(),
        };
        assert_eq!(Outcome::Dropped.or(refused), Outcome::Dropped);
        assert_eq!(refused().or(|| Outcome::Printed), Outcome::Printed);
        assert_eq!(Outcome::Rendered.or(|| unreachable!()), Outcome::Rendered);
    }

    #[test]
    fn a_long_text_keeps_its_ends() {
        let text = format!("a{}z", "é".repeat(LONGEST));
        let short = shorten(&text);
        assert_eq!(short.chars().count(), LONGEST);
        assert!(short.starts_with("aé") && short.ends_with("éz") && short.contains('…'));
    }
}
