//! The pieces of which a chat template's renders are made, and where in a text one of them ends and the next begins.
//!
//! Two renders rarely part exactly where a marker ends: `<end>` and `<user>` share their first sign. What a marker is, no sign
//! tells: `<end>` may as well be written `fin` or `⟦end⟧`. The origins of a render's characters do: `<end>` is one constant of the
//! chat template and `<user>` another, so that a cut inside one of them moves to where it begins.
//!
//! How the constants are written in the source counts for nothing: `'<a>' + '<b>'` is one piece where neither is ever seen without
//! the other, and a role that is read from a message (`'<' + message.role + '>'`) is of one piece with what stands beside it.
//!
//! A text is *covered* with pieces: as few of its characters as possible are in none of them, and of several such covers the one
//! with the most pieces counts, since what stands together in one constant (`<bot><think>` in a prompt) may stand apart in another.
//! White space belongs to no piece and parts nothing but lines: a marker may be two words. A cover costs the length of the text
//! times the number of pieces that begin with the same character.

use std::collections::{BTreeSet, HashMap};

use crate::chat_template::{Origin, Step, Traced};
use crate::value::python;

/// How long a piece may be: longer ones are prose.
const LONGEST: usize = 160;

/// The pieces by their first characters.
#[derive(Debug, Clone, Default)]
pub(super) struct Pieces {
    by_first: HashMap<char, BTreeSet<String>>,
}

/// How many bytes a constant has at least that parts a piece.
const SHORTEST: usize = 3;

/// How many pieces are looked at to part them.
const MAX_PARTED: usize = 4096;

/// What covers a text from one place to its end.
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
    /// The constants, roles, and what else is no text of a message, as far as these renders show them, and the `given` tokens.
    pub(super) fn of<'t>(
        renders: impl IntoIterator<Item = &'t Traced>,
        given: impl IntoIterator<Item = &'t str>,
    ) -> Self {
        let mut pieces = Self::default();
        let given: Vec<&str> = given.into_iter().collect();
        let lines: Vec<Vec<Option<String>>> = renders.into_iter().flat_map(lines).collect();
        for chain in chains(&lines) {
            pieces.add(&chain);
        }
        given.into_iter().for_each(|token| pieces.add(token));
        pieces
    }

    /// Parts the pieces that begin or end with another one, or with one of the constants of the source, which is used apart there:
    /// an answer is split at it, or asked whether it has it. `words` part nothing: a role stands in many markers.
    #[must_use]
    pub(super) fn parted<'t>(
        mut self,
        constants: impl IntoIterator<Item = &'t str>,
        words: &[&str],
    ) -> Self {
        let may_part = |one: &str| one.len() >= SHORTEST && !words.contains(&one);
        let constants = constants.into_iter().map(|one| one.trim_matches(python::is_space));
        let mut known: BTreeSet<String> = constants.map(str::to_owned).collect();
        known.extend(self.by_first.values().flatten().cloned());
        known.retain(|one| may_part(one));
        let mut left: Vec<String> = self.by_first.values().flatten().cloned().collect();
        let mut steps = MAX_PARTED;
        while let Some(piece) = left.pop().filter(|_| steps > 0) {
            steps -= 1;
            let parts = |constant: &&String| {
                let constant = constant.as_str();
                let rest = piece
                    .strip_prefix(constant)
                    .or_else(|| piece.strip_suffix(constant))?;
                let rest = rest.trim_matches(python::is_space);
                (!rest.is_empty()).then(|| (constant.to_owned(), rest.to_owned()))
            };
            let found: Vec<_> = known.iter().filter_map(|one| parts(&one)).collect();
            for (constant, rest) in found {
                self.add(&constant);
                if !self.is_one(&rest) {
                    self.add(&rest);
                    if may_part(&rest) {
                        known.insert(rest.clone());
                        left.extend(self.by_first.values().flatten().cloned());
                    }
                    left.push(rest);
                }
            }
        }
        self
    }

    /// Adds a text as a piece.
    fn add(&mut self, text: &str) {
        let text = text.trim_matches(python::is_space);
        if let Some(first) = text.chars().next().filter(|_| text.len() <= LONGEST) {
            self.by_first.entry(first).or_default().insert(text.to_owned());
        }
    }

    /// Whether this is a piece.
    pub(super) fn is_one(&self, text: &str) -> bool {
        text.chars()
            .next()
            .and_then(|first| self.by_first.get(&first))
            .is_some_and(|known| known.contains(text))
    }

    /// The stretches of the text that are a piece, or lie between pieces, without the white space around them.
    pub(super) fn tokens<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let edges = self.edges(text);
        let stretches = edges.windows(2).map(|ends| &text[ends[0]..ends[1]]);
        stretches
            .map(|stretch| stretch.trim_matches(python::is_space))
            .filter(|stretch| !stretch.is_empty())
            .collect()
    }

    /// The last token of a text with the white space after it; all of a text without tokens.
    pub(super) fn last_token<'t>(&self, text: &'t str) -> &'t str {
        self.tokens(text)
            .last()
            .and_then(|token| text.rfind(token))
            .map_or(text, |at| &text[at..])
    }

    /// Where the first token of a text ends; `None` for a blank one.
    pub(super) fn first_end(&self, text: &str) -> Option<usize> {
        let first = *self.tokens(text).first()?;
        Some(text.find(first)? + first.len())
    }

    /// Moves a cut that lies inside a piece to before it.
    pub(super) fn snap_back(&self, text: &str, cut: usize) -> usize {
        self.piece_at(text, cut).map_or(cut, |(start, _)| start)
    }

    /// Moves a cut that lies inside a piece to after it.
    pub(super) fn snap_forward(&self, text: &str, cut: usize) -> usize {
        self.piece_at(text, cut).map_or(cut, |(_, end)| end)
    }

    /// The piece inside which a cut lies.
    fn piece_at(&self, text: &str, cut: usize) -> Option<(usize, usize)> {
        let cover = self.cover(text);
        let mut at = 0;
        while at < cut {
            let (len, is_piece) = cover[at].step;
            if is_piece && at + len > cut {
                return Some((at, at + len));
            }
            at += len;
        }
        None
    }

    /// The tokens with which a conversation begins, up to its first words, where `render` begins with the user's: what stands
    /// before every message of a user stands there too.
    pub(super) fn opening<'t>(&self, render: &'t str) -> Vec<&'t str> {
        let said = render.find(super::probe::USER).unwrap_or(render.len());
        let tokens = self.tokens(&render[..said]).into_iter();
        tokens.take_while(|token| self.is_one(token)).collect()
    }

    /// Moves a cut behind what follows a message to before what begins the next one: the tokens with which the conversation
    /// `asked` begins as well. All of what stands there is left, if it is nothing else.
    pub(super) fn before_header(&self, text: &str, cut: usize, asked: &str) -> usize {
        let opening = self.opening(asked);
        let mut before = cut;
        while let [_, .., last] = self.tokens(&text[..before]).as_slice()
            && opening.contains(last)
            && let Some(at) = text[..before].rfind(last)
        {
            before = at;
        }
        before
    }

    /// Where the beginning of a piece begins with which a text ends that was cut off; its end if it ends with whole ones.
    pub(super) fn whole(&self, text: &str) -> usize {
        let cover = self.cover(text);
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

    /// The places in the text where a piece begins or ends or a line does, its beginning and its end among them, in order.
    pub(super) fn edges(&self, text: &str) -> Vec<usize> {
        let cover = self.cover(text);
        let mut edges = vec![0];
        let mut at = 0;
        let mut was_piece = true;
        while at < text.len() {
            let (len, is_piece) = cover[at].step;
            // Blanks belong to what stands before them; behind a line feed something new begins.
            let is_blank = text[at..at + len].chars().all(python::is_space);
            let after_line = text[..at].ends_with('\n');
            if (is_piece || was_piece || after_line) && !is_blank && edges.last() != Some(&at) {
                edges.push(at);
            }
            if !is_blank {
                was_piece = is_piece;
            }
            at += len;
            if is_piece && edges.last() != Some(&at) && at < text.len() {
                edges.push(at);
            }
        }
        if edges.last() != Some(&text.len()) {
            edges.push(text.len());
        }
        edges
    }

    /// The best cover from each place of the text on.
    fn cover(&self, text: &str) -> Vec<Cover> {
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
            let known = self.by_first.get(&c).into_iter().flatten();
            for piece in known.filter(|piece| text[at..].starts_with(piece.as_str())) {
                let next = best[at + piece.len()];
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

/// What writes a stretch of a render.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    /// The chat template.
    Constant,
    /// A role, or another input that is the same for every message.
    Word,
    /// A token that is given, which is a marker of its own.
    Token,
    /// A message's text, or a tool's.
    Text,
}

fn writer(origin: &Origin) -> Writer {
    match origin {
        Origin::Source { .. } => Writer::Constant,
        Origin::Input { path, .. } => match &path[..] {
            [Step::Key(first), ..] if first == "messages" => match path.last() {
                Some(Step::Key(key)) if key == "role" => Writer::Word,
                _ => Writer::Text,
            },
            [Step::Key(first)] if first.ends_with("_token") => Writer::Token,
            [Step::Key(first), ..] if first != "tools" && first != "documents" => Writer::Word,
            _ => Writer::Text,
        },
    }
}

/// The constants of each line of a render in order; `None` stands for any text of a message. A word is of one constant with those
/// beside it.
fn lines(render: &Traced) -> Vec<Vec<Option<String>>> {
    let mut lines: Vec<Vec<Option<String>>> = vec![Vec::new()];
    // Whether the last constant ends with a word, which takes what follows it.
    let mut open = false;
    for run in &render.runs {
        let writer = writer(&run.origin);
        let text = &render.text[run.start..run.end];
        for (index, part) in text.split('\n').enumerate() {
            if index > 0 {
                lines.push(Vec::new());
                open = false;
            }
            let Some(line) = lines.last_mut() else {
                continue;
            };
            if part.is_empty() {
                continue;
            }
            match (writer, line.last_mut()) {
                (Writer::Text, _) => {
                    line.push(None);
                    open = false;
                }
                (Writer::Word, Some(Some(last))) => {
                    last.push_str(part);
                    open = true;
                }
                (Writer::Constant, Some(Some(last))) if open => {
                    last.push_str(part);
                    open = false;
                }
                (writer, _) => {
                    line.push(Some(part.to_owned()));
                    open = writer == Writer::Word;
                }
            }
        }
    }
    lines
}

/// The constants, those as one that are never seen without each other in one line.
fn chains(lines: &[Vec<Option<String>>]) -> BTreeSet<String> {
    type Beside<'t> = HashMap<&'t str, BTreeSet<Option<&'t str>>>;
    let (mut before, mut after): (Beside<'_>, Beside<'_>) = Default::default();
    for line in lines {
        let at = |index: usize| line.get(index).and_then(Option::as_deref);
        for (index, constant) in line.iter().enumerate() {
            let Some(constant) = constant else { continue };
            let previous = index.checked_sub(1).and_then(at);
            before.entry(constant).or_default().insert(previous);
            after.entry(constant).or_default().insert(at(index + 1));
        }
    }
    let only = |beside: &Beside<'_>, constant: &str| -> Option<String> {
        let all = beside.get(constant)?;
        let one = all.first().filter(|_| all.len() == 1)?;
        one.map(str::to_owned)
    };
    let follows = |one: &str, other: &str| {
        only(&after, one).as_deref() == Some(other) && only(&before, other).as_deref() == Some(one)
    };
    let mut found = BTreeSet::new();
    for line in lines {
        let mut chain = String::new();
        let mut last: Option<&str> = None;
        for constant in line {
            let constant = constant.as_deref();
            if let (Some(one), Some(other)) = (last, constant)
                && follows(one, other)
            {
                chain.push_str(other);
            } else {
                found.insert(std::mem::take(&mut chain));
                chain.push_str(constant.unwrap_or_default());
            }
            last = constant;
        }
        found.insert(chain);
    }
    found
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
        assert_eq!(pieces.snap_back("Hi<end>\n<user>", 9), 8);
        assert_eq!(pieces.snap_forward("Hi<end>\n<user>", 9), 14);
        assert_eq!(pieces.snap_back("fin\nnext", 5), 4);
        assert_eq!(pieces.snap_back("fin\nnext", 3), 3);
    }

    #[test]
    fn what_stands_together_in_one_constant_may_stand_apart_in_another() {
        let pieces = pieces(&["<bot><think>", "<think>", "<bot>"]);
        assert_eq!(pieces.tokens("<bot><think>\n"), ["<bot>", "<think>"]);
        assert_eq!(pieces.last_token("<bot><think>\n"), "<think>\n");
        let other = self::pieces(&["<bot><think>", "<think>"]);
        assert_eq!(other.tokens("<bot><think>"), ["<bot><think>"]);
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
        assert_eq!(pieces.tokens("begin call end call"), ["begin call", "end call"]);
        assert_eq!(pieces.snap_back("begin call end call", 13), 11);
    }

    #[test]
    fn the_beginning_of_a_piece_is_not_whole() {
        let pieces = pieces(&["<a>", "<b>"]);
        assert_eq!(pieces.whole("<a>bot<b><"), 9);
        assert_eq!(pieces.whole("<a>\n"), 4);
    }
}
