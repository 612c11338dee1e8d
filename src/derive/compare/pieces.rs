//! The pieces of which a chat template's renders are made, and where in a text one of them ends and the next begins.
//!
//! Two renders rarely part exactly where a marker ends: `<end>` and `<user>` share their first character. No character by itself tells
//! where a marker begins or ends, since `<end>` may as well be written `fin` or `⟦end⟧`. The origins of a render's characters tell it:
//! `<end>` is one constant of the chat template and `<user>` another, so that a cut inside one of them moves to where that constant begins.
//!
//! How the source divides a marker into constants counts for little. A constant that another constant always follows, and never a message's
//! text or the end of a line, is the beginning of a longer marker: `'<' + message.role + '>'` is one marker, and so is `'<a>' + '<b>'`
//! where `<a>` is never seen alone.
//!
//! A text is *covered* with pieces: as few of its characters as possible are in none of them, and of several such covers the one with the
//! most pieces counts, since two markers that stand together in one constant (`<bot><think>` in a prompt) may stand apart in another. White
//! space belongs to no piece and parts nothing but lines: a marker may be two words. A cover costs the length of the text times the number
//! of pieces that begin with the same character.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::lines::{Line, alone, first, is_amid_word, joined, lines, open, touching};
use super::parting::{SHORTEST, length, part};
use super::text;
use crate::chat_template::Traced;
use crate::derive::probe;
use crate::value::python;

/// How many characters a piece may have: longer ones are prose.
const LONGEST: usize = 160;

/// The pieces by their first characters.
#[derive(Debug, Clone, Default)]
pub(in crate::derive) struct Pieces {
    /// The markers, as far as the renders show which constants make one.
    whole: TextIndex,
    /// The markers, and beside them the constants of which they are made: `<|` beside `<|user|>`.
    fine: TextIndex,
    /// Markers that end turns, which are no part of the header that follows them.
    ends: Vec<String>,
    /// Constants of which markers are made that could be markers as well.
    apart: BTreeSet<String>,
    /// The constants behind which nothing but another constant is ever seen.
    open: BTreeSet<String>,
    /// The pieces that are seen to end, and those that are seen to begin, within what looks like a word, since they have letters at that end
    /// and stand right beside a text: the `fin` of `Hifin`. Of all others that end with a letter, such as the `tool` of `tool_box`, it is not
    /// known that the word ends there.
    runs_on: BTreeSet<String>,
    runs_from: BTreeSet<String>,
}

/// Texts by their first characters.
#[derive(Debug, Clone, Default)]
struct TextIndex(HashMap<char, BTreeSet<String>>);

/// A cover of a text with pieces, from one place to its end. Of two covers the lesser one is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cover {
    /// The characters in no piece.
    unknown: usize,
    /// The pieces, counted down: more of them are better.
    pieces: std::cmp::Reverse<usize>,
    /// How many bytes the first step takes, and whether that is a piece.
    step: (usize, bool),
}

impl Pieces {
    /// Finds the pieces of these renders: the constants of the chat template, roles, and whatever else no message says. The `marks` are
    /// pieces by themselves: special tokens that are given, and constants that the chat template searches an answer for.
    pub(in crate::derive) fn of<'t>(
        renders: impl IntoIterator<Item = &'t Traced>,
        marks: impl IntoIterator<Item = &'t str>,
    ) -> Self {
        let lines: Vec<Line> = renders.into_iter().flat_map(lines).collect();
        let trimmed = |text: &str| text.trim_matches(python::is_space).to_owned();
        let marks: BTreeSet<String> = marks.into_iter().map(trimmed).collect();
        let constants = |lines: &[Line]| -> BTreeSet<String> {
            let all = lines.iter().flatten().flatten();
            all.map(|constant| trimmed(constant))
                .chain(marks.iter().cloned())
                .filter(|constant| !constant.is_empty() && length(constant) <= LONGEST)
                .collect()
        };
        let open = open(&lines);
        let joined = joined(&lines, &open);
        let mut whole = constants(&joined);
        let written = constants(&lines);
        let mut fine: BTreeSet<String> = whole.union(&written).cloned().collect();
        let long = |all: BTreeSet<String>| {
            let all = all.into_iter().map(|one| trimmed(&one));
            all.filter(|one| length(one) >= SHORTEST)
        };
        let alone = long(alone(&lines, &open));
        let given = marks;
        let marks: BTreeSet<String> = given.iter().cloned().chain(alone).collect();
        let like = marks.iter().cloned().chain(long(first(&lines))).collect();
        let [mut on, mut from] = touching(&lines);
        part(&mut fine, whole.clone(), [&marks, &like], [&on, &from]);
        // The parts into which constants were cut are markers. Constants that were only joined to a longer marker are none.
        let parts = fine.iter().filter(|one| !written.contains(*one));
        // But where the longer one would be cut if it were one constant, white space may stand between those that it is cut into.
        let mut apart = BTreeSet::new();
        if whole.iter().any(|one| !written.contains(one)) {
            let mut as_one = whole.clone();
            part(&mut as_one, whole.clone(), [&marks, &like], [&on, &from]);
            apart.extend(as_one.intersection(&written).cloned());
        }
        whole.extend(parts.cloned());
        // A constant that stands before a given mark in a longer one is a marker as well, although it is never seen alone.
        let before_marks = given.iter().flat_map(|mark| {
            let rests = whole
                .iter()
                .filter_map(|one| one.strip_suffix(mark.as_str()));
            rests.map(|rest| rest.trim_end_matches(python::is_space))
        });
        let before_marks = before_marks.filter(|rest| length(rest) >= SHORTEST);
        let before_marks: Vec<String> = before_marks
            .filter(|rest| written.contains(*rest))
            .map(str::to_owned)
            .collect();
        whole.extend(before_marks);
        let [joined_on, joined_from] = touching(&joined);
        on.extend(joined_on);
        from.extend(joined_from);
        let all = || fine.union(&whole);
        let ends_one = |piece: &&String| on.iter().any(|one| one.ends_with(piece.as_str()));
        let begins_one = |piece: &&String| from.iter().any(|one| one.starts_with(piece.as_str()));
        Self {
            runs_on: all().filter(ends_one).cloned().collect(),
            runs_from: all().filter(begins_one).cloned().collect(),
            whole: TextIndex::of(whole),
            fine: TextIndex::of(fine),
            apart,
            ends: Vec::new(),
            open: open.iter().map(|one| trimmed(one)).collect(),
        }
    }

    /// The pieces, of which these end turns.
    #[must_use]
    pub(in crate::derive) fn ending_turns(self, ends: Vec<String>) -> Self {
        Self { ends, ..self }
    }

    /// Returns true if the text as a whole is a piece.
    pub(in crate::derive) fn is_one(&self, text: &str) -> bool {
        text.chars()
            .next()
            .and_then(|first| self.whole.0.get(&first))
            .is_some_and(|known| known.contains(text))
    }

    /// Returns true for a constant of which a longer marker is made, if it could be one as well.
    pub(in crate::derive) fn is_apart(&self, text: &str) -> bool {
        self.apart.contains(text)
    }

    /// Returns the byte at which a marker that is made of two constants may be cut, if these could be markers as well.
    pub(in crate::derive) fn apart(&self, marker: &str) -> Option<usize> {
        let mut firsts = self
            .apart
            .iter()
            .filter(|one| marker.starts_with(one.as_str()));
        let cut = firsts.find(|one| self.apart.contains(&marker[one.len()..]));
        cut.map(String::len)
    }

    /// Returns true if the text ends with a piece that is seen to end right before a text, although both are letters.
    pub(in crate::derive) fn ends_before_text(&self, text: &str) -> bool {
        self.tokens(text)
            .last()
            .is_some_and(|last| self.runs_on.contains(*last))
    }

    /// Returns the character that a marker repeats, if another marker repeats it more often: `~` for `~~~` where `~~~~` is a marker as
    /// well.
    pub(in crate::derive) fn go_on(&self, marker: &str) -> Option<char> {
        let sign = marker.chars().next()?;
        let is_run = |text: &str| text.chars().all(|c| c == sign);
        let known = self.whole.0.get(&sign)?;
        let is_longer = |piece: &String| piece.len() > marker.len() && is_run(piece);
        (is_run(marker) && known.iter().any(is_longer)).then_some(sign)
    }

    /// The stretches of the text that are a piece, or lie between pieces, without the white space around them.
    pub(in crate::derive) fn tokens<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let edges = self.edges(text);
        let stretches = edges.windows(2).map(|ends| &text[ends[0]..ends[1]]);
        stretches
            .map(|stretch| stretch.trim_matches(python::is_space))
            .filter(|stretch| !stretch.is_empty())
            .collect()
    }

    /// The last token of a text with the white space after it; all of a text without tokens.
    pub(in crate::derive) fn last_token<'t>(&self, text: &'t str) -> &'t str {
        self.tokens(text)
            .last()
            .and_then(|token| text.rfind(token))
            .map_or(text, |at| &text[at..])
    }

    /// Returns the text without its last token; `None` where that leaves nothing, or where the token is the one before it once more, as the two signs of `%%` are,
    /// which are one marker.
    pub(in crate::derive) fn without_last_token<'t>(&self, text: &'t str) -> Option<&'t str> {
        let tokens = self.tokens(text);
        let left = match tokens.as_slice() {
            [.., before, last] if before == last => None,
            [.., _, last] => text.rfind(last).map(|at| &text[..at]),
            _ => None,
        };
        let left = left.map(|left| left.trim_end_matches(python::is_space));
        left.filter(|left| !left.is_empty())
    }

    /// The text without the last of the constants of which its last token is made: `<bot>` for `<bot><think>`, where the chat template writes the two
    /// one after the other and nothing else is ever seen between them. `None` if its last token is one constant, or no known ones.
    pub(in crate::derive) fn without_last_constant<'t>(&self, text: &'t str) -> Option<&'t str> {
        let token = self.last_token(text);
        let constants = self.constants(token);
        let [.., before, last] = constants.as_slice() else {
            return None;
        };
        let (start, known) = (text.len() - token.len() + last.start, constants[0].start);
        let is_known = token[..known].trim().is_empty()
            && token[before.end..last.start].trim().is_empty()
            && token[last.end..].trim().is_empty();
        is_known.then(|| &text[..start])
    }

    /// The bytes of the constants in a text, each by itself, also where several of them make one marker.
    pub(in crate::derive) fn constants(&self, text: &str) -> Vec<Range<usize>> {
        let cover = self.fine.cover(text, &self.runs_on);
        let mut constants = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let (len, is_piece) = cover[at].step;
            if is_piece {
                constants.push(at..at + len);
            }
            at += len;
        }
        constants
    }

    /// Where the first token of a text ends; `None` for a blank one.
    pub(in crate::derive) fn first_end(&self, text: &str) -> Option<usize> {
        let first = *self.tokens(text).first()?;
        Some(text.find(first)? + first.len())
    }

    /// Returns how many bytes two texts share at their start, without splitting a piece of either. Where a text ends, it is not split.
    pub(in crate::derive) fn shared_start(&self, a: &str, b: &str) -> usize {
        let mut shared = text::common_prefix(a, b);
        while let Some(start) = [a, b]
            .into_iter()
            .filter_map(|text| self.piece_at(text, shared))
            .map(|(start, _)| start)
            .min()
        {
            shared = start;
        }
        shared
    }

    /// Returns how many bytes two texts share at their start, as [`shared_start`](Self::shared_start) does, where a header may follow. If
    /// the shared text ends with a constant that is always followed by others, and both texts go on with such a constant too, that constant
    /// belongs to the header and is left out.
    pub(in crate::derive) fn shared_before_header(&self, a: &str, b: &str) -> usize {
        let shared = self.shared_start(a, b);
        match self.open_before(a, shared) {
            // A constant with which the shared text begins ends the text before it, and begins no header.
            Some(start) if start > 0 && [a, b].iter().all(|text| self.is_open_at(text, shared)) => {
                start
            }
            _ => shared,
        }
    }

    /// Returns true if the text goes on, at byte `cut`, with a constant that another one always follows.
    fn is_open_at(&self, text: &str, cut: usize) -> bool {
        let rest = &text[cut..];
        let cover = self.fine.cover(rest, &self.runs_on);
        let (len, is_piece) = cover[0].step;
        is_piece && self.open.contains(&rest[..len])
    }

    /// Returns the byte at which the constant begins that ends at the cut, if another one always stands behind it.
    fn open_before(&self, text: &str, cut: usize) -> Option<usize> {
        let before = text[..cut].trim_end_matches(python::is_space);
        let cover = self.fine.cover(before, &self.runs_on);
        let mut at = 0;
        while at < before.len() {
            let (len, is_piece) = cover[at].step;
            if at + len == before.len() {
                return (is_piece && self.open.contains(&before[at..])).then_some(at);
            }
            at += len;
        }
        None
    }

    /// Returns how many bytes two texts end with alike, as [`shared_end`](Self::shared_end) does; and where that is nothing, a marker that stands by itself elsewhere.
    /// Behind `</call>` and `</say>`, which always stand before `<end>`, that is shared.
    pub(in crate::derive) fn shared_marker(&self, a: &str, b: &str) -> usize {
        match self.shared_end(a, b) {
            0 => {
                let shared = self.shared_constants(a, b);
                let is_one = self.is_one(a[a.len() - shared..].trim());
                if is_one { shared } else { 0 }
            }
            shared => shared,
        }
    }

    /// Returns how many bytes two texts end with alike, in whole constants of which pieces are made: `<pause><user>` and `<over><user>` share the `<user>`, although
    /// the first of them is one piece where `<pause>` never stands alone.
    pub(in crate::derive) fn shared_constants(&self, a: &str, b: &str) -> usize {
        let starts = |text: &str| {
            let cover = self.fine.cover(text, &self.runs_on);
            let mut at = 0;
            let mut from_end = vec![text.len()];
            while at < text.len() {
                at += cover[at].step.0;
                from_end.push(text.len() - at);
            }
            from_end
        };
        let shared = text::common_suffix(a, b);
        let (of_a, of_b) = (starts(a), starts(b));
        let both = of_a.into_iter().filter(|start| of_b.contains(start));
        both.filter(|start| *start <= shared).max().unwrap_or(0)
    }

    /// Returns how many bytes two texts end with alike, without splitting a piece of either.
    pub(in crate::derive) fn shared_end(&self, a: &str, b: &str) -> usize {
        let mut shared = text::common_suffix(a, b);
        while let Some(rest) = [a, b]
            .into_iter()
            .filter_map(|text| {
                let (_, end) = self.piece_at(text, text.len() - shared)?;
                Some(text.len() - end)
            })
            .min()
        {
            shared = rest;
        }
        shared
    }

    /// Returns how many bytes of `between` are whole markers of it with which `other` begins, if they are not all of it. A marker of `other`
    /// may be split there, but no word.
    pub(in crate::derive) fn start_within(&self, between: &str, other: &str) -> usize {
        let edges = self.edges(between);
        let shared = text::common_prefix(between, other);
        let cut = edges.into_iter().rev().find(|edge| *edge <= shared);
        let cut = cut.unwrap_or_default();
        let (part, rest) = between.split_at(cut);
        let marker = self.tokens(part).last().copied();
        match self.stands_out(marker, rest) && !is_amid_word(other, cut) {
            true => cut,
            false => 0,
        }
    }

    /// Returns how many bytes of `between` are whole markers of it with which `other` ends, as [`start_within`](Self::start_within) does.
    pub(in crate::derive) fn end_within(&self, between: &str, other: &str) -> usize {
        let edges = self.edges(between);
        let shared = text::common_suffix(between, other);
        let cut = edges
            .into_iter()
            .find(|edge| *edge >= between.len() - shared);
        let (rest, part) = between.split_at(cut.unwrap_or(between.len()));
        let marker = self.tokens(part).first().copied();
        match self.stands_out(marker, rest) && !is_amid_word(other, other.len() - part.len()) {
            true => part.len(),
            false => 0,
        }
    }

    /// Returns true if a token is a marker that is long enough to split another one for, and another text stands beside it.
    fn stands_out(&self, marker: Option<&str>, beside: &str) -> bool {
        let is_marker = |marker| length(marker) >= SHORTEST && self.is_one(marker);
        marker.is_some_and(is_marker) && !beside.trim().is_empty()
    }

    /// Returns the bytes of the piece that a cut would split. A stretch that no piece covers counts as well, if it is a part of some piece.
    fn piece_at(&self, text: &str, cut: usize) -> Option<(usize, usize)> {
        let cover = self.fine.cover(text, &self.runs_on);
        let mut at = 0;
        // The byte at which a stretch begins that no piece covers.
        let mut unknown: Option<usize> = None;
        while at < text.len() {
            let (len, is_piece) = cover[at].step;
            let end = at + len;
            let is_blank = text[at..end].chars().all(python::is_space);
            if is_piece && at < cut && cut < end {
                return Some((at, end));
            }
            if is_piece || is_blank {
                if let Some(start) = unknown.take().filter(|start| *start < cut && cut < at) {
                    return self.is_part(&text[start..at]).then_some((start, at));
                }
                if at >= cut {
                    return None;
                }
            } else {
                unknown.get_or_insert(at);
            }
            at = end;
        }
        let start = unknown.filter(|start| *start < cut && cut < text.len())?;
        self.is_part(&text[start..]).then_some((start, text.len()))
    }

    /// Returns true if a piece contains the text. It is then a part of that piece, of which another part was taken for something else.
    fn is_part(&self, text: &str) -> bool {
        let mut all = self.fine.0.values().flatten();
        all.any(|piece| piece.contains(text))
    }

    /// Returns the tokens with which a conversation begins, up to the first words of its first message, as far as they are pieces and end no
    /// turn. `render` begins with a message of the user, so that what stands before every message of a user is among them.
    pub(in crate::derive) fn opening<'t>(&self, render: &'t str) -> Vec<&'t str> {
        let words_at = render.find(probe::USER).unwrap_or(render.len());
        let tokens = self.tokens(&render[..words_at]).into_iter();
        let tokens = tokens.take_while(|token| self.is_one(token));
        let ends_none = |token: &&str| !self.ends.iter().any(|end| end == token);
        tokens.filter(ends_none).collect()
    }

    /// Moves a cut back over the header of the next message, so that only the end of the message before it remains: over each token with
    /// which the conversation `asked` begins as well. The first token stays, even if it is one of these, and so does one with which both `asked`
    /// and the text end: where a system message is always written, what ends that stands before the user's message as well.
    pub(in crate::derive) fn before_header(&self, text: &str, cut: usize, asked: &str) -> usize {
        let mut opening = self.opening(asked);
        if text[cut..].trim().is_empty() {
            let ends = [asked, &text[..cut]].map(str::trim_end);
            opening.retain(|token| !ends.iter().all(|end| end.ends_with(token)));
        }
        let mut before = cut;
        while let [_, .., last] = self.tokens(&text[..before]).as_slice()
            && opening.contains(last)
            && let Some(at) = text[..before].rfind(last)
        {
            before = at;
        }
        before
    }

    /// Returns the byte from which on no piece covers the text up to its end, as where the text was cut off within a marker; the length of
    /// the text if it ends with a whole piece.
    pub(in crate::derive) fn whole(&self, text: &str) -> usize {
        let cover = self.fine.cover(text, &self.runs_on);
        let mut end = text.len();
        let mut at = 0;
        let mut unknown_from = None;
        while at < text.len() {
            let (len, is_piece) = cover[at].step;
            let is_blank = text[at..at + len].chars().all(python::is_space);
            if is_piece || is_blank {
                unknown_from = None;
            } else {
                unknown_from.get_or_insert(at);
            }
            at += len;
        }
        if let Some(from) = unknown_from {
            end = from;
        }
        end
    }

    /// Returns the places at which the text may be cut, in order: its beginning and its end, and wherever a piece begins or ends or a line
    /// begins.
    pub(in crate::derive) fn edges(&self, text: &str) -> Vec<usize> {
        let cover = self.whole.cover(text, &self.runs_on);
        let mut edges = vec![0];
        let mut at = 0;
        let mut was_piece = true;
        let mut last_piece = "";
        while at < text.len() {
            let (len, is_piece) = cover[at].step;
            // White space belongs to the text before it. Behind a line feed a new token begins.
            let is_blank = text[at..at + len].chars().all(python::is_space);
            let after_line = text[..at].ends_with('\n');
            let piece = &text[at..at + len];
            let is_apart = is_piece && was_piece
                || !is_amid_word(text, at)
                || was_piece && self.runs_on.contains(last_piece)
                || is_piece && self.runs_from.contains(piece);
            if (is_piece || was_piece || after_line)
                && is_apart
                && !is_blank
                && edges.last() != Some(&at)
            {
                edges.push(at);
            }
            if !is_blank {
                was_piece = is_piece;
                last_piece = piece;
            }
            at += len;
            let ends = !is_amid_word(text, at) || self.runs_on.contains(piece);
            if is_piece && at < text.len() && ends {
                edges.push(at);
            }
        }
        if edges.last() != Some(&text.len()) {
            edges.push(text.len());
        }
        edges
    }
}

impl TextIndex {
    fn of(texts: BTreeSet<String>) -> Self {
        let mut pieces = Self::default();
        for text in texts {
            if let Some(first) = text.chars().next() {
                pieces.0.entry(first).or_default().insert(text);
            }
        }
        pieces
    }

    /// Returns the best cover from each byte of the text on. The pieces of `runs_on` may end within a word.
    fn cover(&self, text: &str, runs_on: &BTreeSet<String>) -> Vec<Cover> {
        let end = Cover {
            unknown: 0,
            pieces: std::cmp::Reverse(0),
            step: (0, false),
        };
        let mut best = vec![end; text.len() + 1];
        for (at, c) in text.char_indices().rev() {
            let next = best[at + c.len_utf8()];
            let mut found = Cover {
                unknown: next.unknown + usize::from(!python::is_space(c)),
                pieces: next.pieces,
                step: (c.len_utf8(), false),
            };
            let pieces = self.0.get(&c).into_iter().flatten();
            for piece in pieces.filter(|piece| text[at..].starts_with(piece.as_str())) {
                let end = at + piece.len();
                let next = best[end];
                // A piece does not end within a word, unless another piece goes on there: `tool` is no piece of `tool_box`, but it is one
                // of `tool_call` where `_call` is a piece.
                if !next.step.1 && is_amid_word(text, end) && !runs_on.contains(piece) {
                    continue;
                }
                let other = Cover {
                    unknown: next.unknown,
                    pieces: std::cmp::Reverse(next.pieces.0 + 1),
                    step: (piece.len(), true),
                };
                if (other.unknown, other.pieces) < (found.unknown, found.pieces) {
                    found = other;
                }
            }
            best[at] = found;
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(known: &[&str]) -> Pieces {
        Pieces::of([], known.iter().copied())
    }

    #[test]
    fn a_cut_does_not_split_a_piece() {
        let pieces = pieces(&["Hi", "<end>", "<user>", "fin", "next"]);
        assert_eq!(pieces.shared_start("Hi<end>\n<user>", "Hi<end>\n<end>"), 8);
        assert_eq!(pieces.shared_end("<user>Hi", "<end>Hi"), 2);
        assert_eq!(pieces.shared_start("fin\nnext", "fin\nnew"), 4);
        assert_eq!(pieces.shared_start("fin\nnext", "fin"), 3);
        assert_eq!(pieces.shared_start("<x>", "<y>"), 1, "neither is a piece");
    }

    #[test]
    fn what_stands_together_in_one_constant_may_stand_apart_in_another() {
        let pieces = pieces(&["<bot><think>", "<think>", "<bot>"]);
        assert_eq!(pieces.tokens("<bot><think>\n"), ["<bot>", "<think>"]);
        assert_eq!(pieces.last_token("<bot><think>\n"), "<think>\n");
        let other = self::pieces(&["<bot><think>"]);
        assert_eq!(other.tokens("<bot><think>"), ["<bot><think>"]);
        let alike = self::pieces(&["<bot><think>", "</think>"]);
        assert_eq!(alike.tokens("<bot><think>"), ["<bot>", "<think>"]);
    }

    #[test]
    fn a_marker_ends_with_the_last_constant_of_which_it_is_made() {
        let pieces = Pieces {
            whole: TextIndex::of(["<bot><think>".to_owned()].into()),
            fine: TextIndex::of(
                ["<bot>", "<think>", "<bot><think>"]
                    .map(str::to_owned)
                    .into(),
            ),
            ..Pieces::default()
        };
        assert_eq!(pieces.last_token("<bot><think>\n"), "<bot><think>\n");
        assert_eq!(
            pieces.without_last_constant("<bot><think>\n"),
            Some("<bot>")
        );
        assert_eq!(pieces.without_last_constant("<bot>\n"), None);
        assert_eq!(pieces.without_last_constant("<bot>x<think>"), None);
    }

    #[test]
    fn a_sign_is_one_character_in_any_script() {
        let marks = ["<f=", ">", "<f=x>y", "</f>"];
        let of = |marks: &[String]| Pieces::of([], marks.iter().map(String::as_str));
        let plain = of(&marks.map(str::to_owned));
        let other = marks.map(|mark| mark.replace('<', "\u{2630}").replace('>', "\u{2631}"));
        let renamed = of(&other);
        for (mark, other) in marks.iter().zip(&other) {
            let count = |pieces: &Pieces, text: &str| pieces.tokens(text).len();
            assert_eq!(
                count(&plain, mark),
                count(&renamed, other),
                "{mark} {other}"
            );
        }
    }

    #[test]
    fn what_is_no_piece_is_one_token_a_line() {
        let pieces = pieces(&["<a>"]);
        assert_eq!(pieces.tokens("<a>x y<a>\nz"), ["<a>", "x y", "<a>", "z"]);
        assert_eq!(pieces.tokens(" \n"), Vec::<&str>::new());
    }

    #[test]
    fn a_marker_may_be_two_words() {
        let pieces = pieces(&["begin call", "end call"]);
        assert_eq!(
            pieces.tokens("begin call end call"),
            ["begin call", "end call"]
        );
        let shared = pieces.shared_start("begin call end call", "begin call end");
        assert_eq!(shared, 11);
    }

    #[test]
    fn the_beginning_of_a_piece_is_not_whole() {
        let pieces = pieces(&["<a>", "<b>"]);
        assert_eq!(pieces.whole("<a>bot<b><"), 9);
        assert_eq!(pieces.whole("<a>\n"), 4);
    }

    #[test]
    fn a_marker_of_letters_ends_where_a_text_is_seen_to_begin() {
        let source = "{% for m in messages %}{{ 'kupa' }}{{ m.content }}{{ 'lom' }}{% endfor %}";
        let message = crate::value::json::parse(r#"{"content": "Hi"}"#).unwrap();
        let input = crate::chat_template::RenderInput {
            messages: vec![message],
            ..Default::default()
        };
        let template = crate::chat_template::ChatTemplate::new(source).unwrap();
        let seen = Pieces::of([&template.render_traced(&input).unwrap()], []);
        assert_eq!(seen.tokens("kupaOther"), ["kupa", "Other"]);
        assert_eq!(seen.tokens("Otherlom"), ["Other", "lom"]);
        assert!(seen.ends_before_text("x kupa") && !seen.ends_before_text("other"));
        let unseen = pieces(&["kupa", "lom"]);
        assert_eq!(unseen.tokens("kupaOther"), ["kupaOther"]);
        assert!(!unseen.ends_before_text("kupa"));
    }
}
