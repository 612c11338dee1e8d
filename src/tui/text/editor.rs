//! Editing a text: a cursor, changes, and the way back.
//!
//! The cursor moves by what is seen as one character: an extended grapheme cluster (UAX #29), so that it does not come to stand between
//! a letter and its accent. A character that is spelled out on the screen is seen for itself, and the cursor stops before and after it
//! within a cluster as well: the joiner of an emoji can be removed alone. `ratatui-textarea` is not used: it draws its text itself and
//! as it is, which must not happen to text from a model, and it keeps lines and columns of `char`s where everything here is in bytes of
//! the response.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use super::glyph::glyph;

/// A text that is being edited.
#[derive(Debug, Clone, Default)]
pub(crate) struct Editor {
    text: String,
    /// A byte offset where [`is_stop`] holds, unless an edit before it has made it another.
    cursor: usize,
    done: Vec<Change>,
    undone: Vec<Change>,
}

/// A piece of text that took the place of another.
#[derive(Debug, Clone)]
struct Change {
    at: usize,
    removed: String,
    inserted: String,
}

/// Where the cursor goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Motion {
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    Start,
    End,
}

impl Editor {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Puts the cursor at a byte, or before what is seen as the character that has it.
    pub(crate) fn go_to(&mut self, byte: usize) {
        let mut byte = byte.min(self.text.len());
        while !is_stop(&self.text, byte) {
            byte -= 1;
        }
        self.cursor = byte;
    }

    pub(crate) fn go(&mut self, motion: Motion) {
        self.cursor = self.target(motion);
    }

    /// Puts text at the cursor.
    pub(crate) fn insert(&mut self, text: &str) {
        let at = self.cursor;
        // Letters that are typed one after the other are undone together, up to a word's end.
        let goes_on = |change: &Change| {
            change.removed.is_empty()
                && change.at + change.inserted.len() == at
                && text.chars().all(char::is_alphanumeric)
                && !change.inserted.contains(char::is_whitespace)
        };
        if self.undone.is_empty() && self.done.last().is_some_and(goes_on) {
            self.text.insert_str(at, text);
            self.cursor += text.len();
            if let Some(last) = self.done.last_mut() {
                last.inserted.push_str(text);
            }
            return;
        }
        self.replace(at..at, text);
    }

    /// Removes what lies between the cursor and where the motion would lead.
    pub(crate) fn remove(&mut self, motion: Motion) {
        let target = self.target(motion);
        let range = target.min(self.cursor)..target.max(self.cursor);
        if !range.is_empty() {
            self.replace(range, "");
        }
    }

    /// Makes it another text. That is one change, of the part that differs.
    pub(crate) fn set(&mut self, text: &str) {
        let same = |(a, b): &(char, char)| a == b;
        let start: usize = self
            .text
            .chars()
            .zip(text.chars())
            .take_while(same)
            .map(|(c, _)| c.len_utf8())
            .sum();
        let end: usize = self.text[start..]
            .chars()
            .rev()
            .zip(text[start..].chars().rev())
            .take_while(same)
            .map(|(c, _)| c.len_utf8())
            .sum();
        self.replace(start..self.text.len() - end, &text[start..text.len() - end]);
    }

    /// Takes the last change back; says whether there was one.
    pub(crate) fn undo(&mut self) -> bool {
        let Some(change) = self.done.pop() else {
            return false;
        };
        let end = change.at + change.inserted.len();
        self.text.replace_range(change.at..end, &change.removed);
        self.cursor = change.at + change.removed.len();
        self.undone.push(change);
        true
    }

    /// Makes a change again that was taken back.
    pub(crate) fn redo(&mut self) -> bool {
        let Some(change) = self.undone.pop() else {
            return false;
        };
        let end = change.at + change.removed.len();
        self.text.replace_range(change.at..end, &change.inserted);
        self.cursor = change.at + change.inserted.len();
        self.done.push(change);
        true
    }

    fn replace(&mut self, range: Range<usize>, text: &str) {
        let removed = self.text[range.clone()].to_owned();
        self.text.replace_range(range.clone(), text);
        self.cursor = range.start + text.len();
        self.undone.clear();
        self.done.push(Change {
            at: range.start,
            removed,
            inserted: text.to_owned(),
        });
    }

    fn target(&self, motion: Motion) -> usize {
        let (before, after) = self.text.split_at(self.cursor);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        match motion {
            Motion::Left => {
                let mut back = (0..self.cursor).rev();
                back.find(|at| is_stop(&self.text, *at)).unwrap_or(0)
            }
            Motion::Right => {
                let mut on = self.cursor + 1..self.text.len();
                on.find(|at| is_stop(&self.text, *at))
                    .unwrap_or(self.text.len())
            }
            Motion::WordLeft => {
                let trimmed = before.trim_end_matches(|c| !is_word(c));
                trimmed.trim_end_matches(is_word).len()
            }
            Motion::WordRight => {
                let trimmed = after.trim_start_matches(|c| !is_word(c));
                self.text.len() - trimmed.trim_start_matches(is_word).len()
            }
            Motion::LineStart => before.rfind('\n').map_or(0, |at| at + 1),
            Motion::LineEnd => after
                .find('\n')
                .map_or(self.text.len(), |at| self.cursor + at),
            Motion::Start => 0,
            Motion::End => self.text.len(),
        }
    }
}

/// Returns true if the cursor may stand at a byte.
fn is_stop(text: &str, at: usize) -> bool {
    if at == 0 || at == text.len() {
        return true;
    }
    if !text.is_char_boundary(at) {
        return false;
    }
    let (before, after) = text.split_at(at);
    let mut beside = before
        .chars()
        .next_back()
        .into_iter()
        .chain(after.chars().next());
    beside.any(|c| glyph(c).is_spelled)
        // The whole text is at hand, so that there is always an answer.
        || GraphemeCursor::new(at, text.len(), true)
            .is_boundary(text, 0)
            .unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_taken_back_and_made_again() {
        let mut editor = Editor::new("one two");
        editor.go(Motion::End);
        editor.insert("!");
        editor.remove(Motion::WordLeft);
        assert_eq!(editor.text(), "one ");
        let mut seen = Vec::new();
        while editor.undo() {
            seen.push(editor.text().to_owned());
        }
        assert_eq!(seen, ["one two!", "one two"]);
        while editor.redo() {}
        assert_eq!(editor.text(), "one ");
        assert_eq!(editor.cursor(), 4);
    }

    #[test]
    fn another_text_is_one_change() {
        for (before, after) in [
            ("aaa", "aa"),
            ("aé", "aéé"),
            ("", "x"),
            ("same", "same"),
            ("abc", "xyz"),
        ] {
            let mut editor = Editor::new(before);
            editor.set(after);
            assert_eq!(editor.text(), after);
            editor.undo();
            assert_eq!(editor.text(), before);
        }
    }

    #[test]
    fn typing_a_word_is_one_change() {
        let mut editor = Editor::new("");
        for letter in ["a", "b", " ", "c", "d"] {
            editor.insert(letter);
        }
        editor.undo();
        assert_eq!(editor.text(), "ab ");
        editor.undo();
        assert_eq!(editor.text(), "ab");
    }

    #[test]
    fn the_cursor_stays_between_characters() {
        let mut editor = Editor::new("é\n漢");
        for motion in [
            Motion::Right,
            Motion::LineEnd,
            Motion::Right,
            Motion::LineStart,
            Motion::Right,
            Motion::Right,
            Motion::Left,
            Motion::WordLeft,
            Motion::Start,
            Motion::WordRight,
        ] {
            editor.go(motion);
            assert!(editor.text().is_char_boundary(editor.cursor()));
        }
        editor.go_to(1);
        assert_eq!(editor.cursor(), 0);
        editor.remove(Motion::Left);
        assert_eq!(editor.text(), "é\n漢");
    }

    /// Where the cursor stops on its way from the beginning to the end, and back.
    fn stops(text: &str) -> Vec<usize> {
        let mut editor = Editor::new(text);
        let mut on = vec![0];
        while editor.cursor() < text.len() {
            editor.go(Motion::Right);
            on.push(editor.cursor());
        }
        let mut back = vec![text.len()];
        while editor.cursor() > 0 {
            editor.go(Motion::Left);
            back.insert(0, editor.cursor());
        }
        assert_eq!(on, back, "{text:?}");
        on
    }

    #[test]
    fn the_cursor_moves_by_what_is_seen_as_one_character() {
        assert_eq!(stops("ae\u{301}x"), [0, 1, 4, 5]);
        assert_eq!(stops("\u{1112}\u{1161}\u{11ab}."), [0, 9, 10], "syllables");
        assert_eq!(
            stops("\u{1f1e9}\u{1f1ea}\u{1f1eb}\u{1f1f7}"),
            [0, 8, 16],
            "flags"
        );
        // A character that is shown spelled out, such as a carriage return or a joiner, is a step of its own.
        assert_eq!(stops("\r\n"), [0, 1, 2]);
        assert_eq!(stops("\u{1f468}\u{200d}\u{1f469}"), [0, 4, 7, 11]);
        let mut editor = Editor::new("e\u{301}");
        editor.go_to(1);
        assert_eq!(editor.cursor(), 0);
        editor.go(Motion::End);
        editor.remove(Motion::Left);
        assert_eq!(editor.text(), "");
    }
}
