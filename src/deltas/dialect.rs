//! JSON as models write it, rewritten as plain JSON while it arrives: what `content_args` calls `string_delims` and
//! `unquoted_keys`.
//!
//! The result is that of the content parser, which has the whole text, takes the strings out first and then puts words between `{` or `,`
//! and `:` in quotes, wherever else they stand. Text that may be the beginning of a delimiter is held, and so is a word that may be a key.
//! A string that is not closed is none to the content parser: where the text ends in one, [`Rewriter::finish`] says so.

use super::shape::Dialect;
use crate::value::{json, python};

/// The longest text, in bytes, that is looked at again for every piece. A longer word is no key that anybody waits for.
const MOST_HELD: usize = 1 << 16;

#[derive(Debug, Clone, Default)]
pub(super) struct Rewriter {
    /// The text that has come and is not decided.
    held: String,
    /// True if a string is open.
    within: bool,
    /// True if a bracket or comma came last, and so a word may be a key.
    key_may_come: bool,
}

impl Rewriter {
    /// Adds more of the text, and appends the part that is decided to `out`. Returns `false` where the content parser takes no such text.
    pub(super) fn push(&mut self, dialect: &Dialect, piece: &str, out: &mut String) -> bool {
        let reserved = piece
            .find(['\u{1}', '\u{2}'])
            .filter(|_| dialect.strings.is_some());
        self.held
            .push_str(&piece[..reserved.unwrap_or(piece.len())]);
        let held = std::mem::take(&mut self.held);
        let read = self.read(dialect, &held, false, out);
        let rest = &held[read..];
        self.held.push_str(rest);
        reserved.is_none() && rest.len() <= MOST_HELD
    }

    /// Ends the text. Returns `false` where it ends in a string.
    pub(super) fn finish(&mut self, dialect: &Dialect, out: &mut String) -> bool {
        let held = std::mem::take(&mut self.held);
        self.read(dialect, &held, true, out);
        !self.within
    }

    /// Reads the part of the text that is decided, and returns its length in bytes.
    fn read(&mut self, dialect: &Dialect, text: &str, complete: bool, out: &mut String) -> usize {
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            if let (true, Some((_, close))) = (self.within, &dialect.strings) {
                if let Some(end) = rest.find(close.as_str()) {
                    json::write_piece(out, &rest[..end]);
                    out.push('"');
                    self.within = false;
                    at += end + close.len();
                    continue;
                }
                let decided = rest.len() - begun(rest, close);
                json::write_piece(out, &rest[..decided]);
                return at + decided;
            }
            // Up to where a string opens, or may.
            let (plain, opens) = match &dialect.strings {
                None => (rest.len(), false),
                Some((open, _)) => match rest.find(open.as_str()) {
                    Some(start) => (start, true),
                    None if complete => (rest.len(), false),
                    None => (rest.len() - begun(rest, open), false),
                },
            };
            let last = opens || complete;
            let read = self.plain(dialect, &rest[..plain], last, out);
            at += read;
            if !opens {
                return at;
            }
            if let Some((open, _)) = &dialect.strings {
                at += open.len();
            }
            out.push('"');
            self.within = true;
            self.key_may_come = false;
        }
        at
    }

    /// Reads text outside strings, and returns how many of its bytes are decided. `last` tells that no more of it follows directly.
    fn plain(&mut self, dialect: &Dialect, text: &str, last: bool, out: &mut String) -> usize {
        if !dialect.unquoted_keys {
            out.push_str(text);
            return text.len();
        }
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            if self.key_may_come {
                let word = rest.find(|c| !python::is_word(c)).unwrap_or(rest.len());
                if word == rest.len() && !last {
                    return at;
                }
                if word > 0 && rest[word..].starts_with(':') {
                    out.push('"');
                    out.push_str(&rest[..word]);
                    out.push_str("\":");
                    at += word + 1;
                } else {
                    out.push_str(&rest[..word]);
                    at += word;
                }
                self.key_may_come = false;
                continue;
            }
            let end = rest.find(['{', ',']).map_or(rest.len(), |place| {
                self.key_may_come = true;
                place + 1
            });
            out.push_str(&rest[..end]);
            at += end;
        }
        at
    }
}

/// How many bytes at the end of the text may be the beginning of the delimiter.
fn begun(text: &str, delimiter: &str) -> usize {
    (1..delimiter.len().min(text.len() + 1))
        .rev()
        .find(|length| text.as_bytes().ends_with(&delimiter.as_bytes()[..*length]))
        .unwrap_or(0)
}
