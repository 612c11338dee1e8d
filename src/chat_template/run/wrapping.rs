//! The filter `wordwrap`, which breaks lines as Python's `textwrap` does with the settings that Jinja2 gives it.
//!
//! A paragraph is cut into chunks: words, parts of words that end with a hyphen, dashes, and the white space between them. A line takes
//! chunks as long as they fit. Chunks are cut off one by one as they are needed, so that a long text needs no list of them; apart from
//! the search for the place where a long word is broken, each character is looked at a fixed number of times.

use std::ops::Range;

use super::arguments::{self, Arguments};
use super::fault::Fault;
use super::object::Py;
use super::text_filters::escape;
use super::text_rules::{is_letter, is_word, splitlines};
use super::trace::{Taint, Text, Written};
use super::{MAX_VALUE, Render};
use crate::chat_template::error::Limit;
use crate::value::python;

/// A line has at most this number of characters, unless a template says otherwise.
const WIDTH: usize = 79;

/// The style says how lines are broken.
#[derive(Debug, Clone, Copy)]
struct Style {
    width: usize,
    /// This is true if the width was given as a float. Python compares with one, but does not cut a text there.
    is_float: bool,
    /// This is true if a word that is longer than a line is broken.
    breaks_words: bool,
    /// This is true if a line may end behind a hyphen or around a dash.
    splits_words: bool,
    /// This is true if a word that is longer than a line is broken behind a hyphen where it has one.
    seeks_hyphens: bool,
}

/// A chunk is a part of a paragraph that stands in one line, unless it is longer than a line.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    start: usize,
    end: usize,
    chars: usize,
    /// The last character that is no white space ends here.
    solid_end: usize,
}

impl Chunk {
    fn new(text: &str, start: usize, end: usize) -> Self {
        let body = &text[start..end];
        Self {
            start,
            end,
            chars: body.chars().count(),
            solid_end: start + body.trim_end_matches(python::is_space).len(),
        }
    }

    fn is_blank(&self) -> bool {
        self.solid_end <= self.start
    }
}

impl Style {
    /// Returns the chunk that begins at a place; `None` at the end of the text.
    fn chunk(&self, text: &str, start: usize) -> Option<Chunk> {
        let rest = &text[start..];
        let end = if rest.starts_with(is_separator) {
            let len = rest.find(|c: char| !is_separator(c));
            start + len.unwrap_or(rest.len())
        } else if self.splits_words {
            word_end(text, start)
        } else {
            start + rest.find(is_separator).unwrap_or(rest.len())
        };
        (start < end).then(|| Chunk::new(text, start, end))
    }

    /// Breaks a chunk that is longer than a line, of which so many characters are taken. The first part, which may be empty, still
    /// belongs to that line.
    fn broken(&self, text: &str, chunk: Chunk, taken: usize) -> Result<(Chunk, Chunk), Fault> {
        let room = match self.width {
            // A width between zero and one takes one character all the same.
            0 => 1,
            _ if self.is_float => {
                return Err(Fault::error(
                    "`wordwrap` breaks a word at a whole number of characters only, not at a `float`",
                ));
            }
            width => width.saturating_sub(taken),
        };
        let body = &text[chunk.start..chunk.end];
        let mut len = match body.char_indices().nth(room) {
            Some((at, _)) => at,
            None => body.len(),
        };
        if self.seeks_hyphens
            && chunk.chars > room
            && let Some(hyphen) = body[..len].rfind('-')
            && body[..hyphen].contains(|c: char| c != '-')
        {
            len = hyphen + 1;
        }
        let first = Chunk::new(text, chunk.start, chunk.start + len);
        let second = Chunk {
            start: first.end,
            chars: chunk.chars.saturating_sub(first.chars),
            ..chunk
        };
        Ok((first, second))
    }
}

/// Returns the lines of a paragraph, each as the range of its bytes.
fn wrap(text: &str, style: &Style) -> Result<Vec<Range<usize>>, Fault> {
    let mut lines = Vec::new();
    let mut next = style.chunk(text, 0);
    while next.is_some() {
        // White space between two lines belongs to neither. Before the first one it stays.
        if let Some(chunk) = next
            && !lines.is_empty()
            && chunk.is_blank()
        {
            next = style.chunk(text, chunk.end);
        }
        let start = next.map_or(text.len(), |chunk| chunk.start);
        let (mut chunks, mut taken) = (0, 0_usize);
        let mut last: Option<Chunk> = None;
        while let Some(chunk) = next
            && taken + chunk.chars <= style.width
        {
            chunks += 1;
            taken += chunk.chars;
            last = next;
            next = style.chunk(text, chunk.end);
        }
        if let Some(chunk) = next
            && chunk.chars > style.width
        {
            if style.breaks_words {
                let (first, second) = style.broken(text, chunk, taken)?;
                chunks += 1;
                last = Some(first);
                next = Some(second);
            } else if chunks == 0 {
                chunks += 1;
                last = next;
                next = style.chunk(text, chunk.end);
            }
        }
        // Python drops one blank chunk from the end of a line. Where the first part of a broken word is empty, it drops that one.
        let end = match last {
            Some(chunk) if chunk.is_blank() => {
                chunks -= 1;
                chunk.start
            }
            Some(chunk) => chunk.end,
            None => start,
        };
        if chunks > 0 {
            lines.push(start..end);
        }
    }
    Ok(lines)
}

/// Returns true for what parts words: of all white space, only that of ASCII.
fn is_separator(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\x0b' | '\x0c' | '\r' | ' ')
}

/// Returns where the chunk ends that begins with a word or a dash at that place.
fn word_end(text: &str, start: usize) -> usize {
    if is_dash(text, start) {
        return start + hyphens(&text[start..]);
    }
    for (offset, c) in text[start..].char_indices().skip(1) {
        let at = start + offset;
        if c == '-' && is_compound(text, at) {
            return at + 1;
        }
        if is_separator(c) || is_dash(text, at) {
            return at;
        }
    }
    text.len()
}

/// Counts the hyphens that a text begins with.
fn hyphens(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'-').count()
}

/// Returns true if a dash of two or more hyphens begins at that place, between two words.
fn is_dash(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let ends_word =
        before.is_some_and(|c| is_word(c) || matches!(c, '!' | '"' | '\'' | '&' | '.' | ',' | '?'));
    if !ends_word {
        return false;
    }
    let count = hyphens(&text[at..]);
    count >= 2 && text[at + count..].starts_with(is_word)
}

/// Returns true if the hyphen at that place joins two parts of a word. Each part has at least two letters, which may have a hyphen between them.
fn is_compound(text: &str, at: usize) -> bool {
    let part = |[first, second, third]: [Option<char>; 3]| {
        let is_letter = |c: Option<char>| c.is_some_and(is_letter);
        is_letter(first) && (is_letter(second) || (second == Some('-') && is_letter(third)))
    };
    let mut before = text[..at].chars().rev();
    let mut behind = text[at + 1..].chars();
    part([before.next(), before.next(), before.next()])
        && part([behind.next(), behind.next(), behind.next()])
}

/// Returns the width of a line, and true if it was given as a float.
fn width(value: Option<&Py>) -> Result<(usize, bool), Fault> {
    let too_small = || Fault::error("`wordwrap` needs a width above zero");
    match value {
        None => Ok((WIDTH, false)),
        Some(Py::Float(width, _)) if *width > 0.0 => Ok((width.floor() as usize, true)),
        Some(Py::Float(..)) => Err(too_small()),
        Some(value) => match value.as_int() {
            Some(width) if width > 0 => Ok((usize::try_from(width).unwrap_or(usize::MAX), false)),
            Some(_) => Err(too_small()),
            None => Err(Fault::error(format!(
                "`wordwrap` needs a number as the width, not `{}`",
                value.type_name()
            ))),
        },
    }
}

/// Fails where a text has become longer than a value may be.
fn check_length(out: &Written) -> Result<(), Fault> {
    if out.len() > MAX_VALUE {
        return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
    }
    Ok(())
}

impl Render<'_> {
    /// Breaks the lines of a text, each of which is a paragraph, where they are longer than a width.
    pub(super) fn wordwrap(&mut self, subject: &Py, args: Arguments) -> Result<Py, Fault> {
        let taint = self.arguments_taint(&args);
        let parameters = [
            "width",
            "break_long_words",
            "wrapstring",
            "break_on_hyphens",
        ];
        let [given, break_words, between, at_hyphens] = args.bind("wordwrap", parameters, 0)?;
        if let Py::Undefined(missing, _) = subject {
            return Err(Fault::error(missing.message()));
        }
        arguments::string("wordwrap", subject)?;
        let text = subject.clone().into_text();
        // Each character may become a line.
        self.spend(text.len() as u64)?;
        let between = between.filter(|between| !matches!(between, Py::None(_)));
        if let Some(between) = &between {
            arguments::string("wordwrap", between)?;
        }
        // Text that is marked as safe escapes what it joins.
        let escapes = matches!(between, Some(Py::Markup(_)));
        let keeps_ends = between.is_none();
        let between = between.map_or_else(|| Text::plain("\n"), Py::into_text);
        let paragraphs = splitlines(&text, false);
        // Without a paragraph Python does not look at the width.
        let (width, is_float) = match paragraphs.as_slice() {
            [] => (WIDTH, false),
            _ => width(given.as_ref())?,
        };
        let style = Style {
            width,
            is_float,
            breaks_words: break_words.is_none_or(|value| value.is_true()),
            // Python asks here for `True` itself, and for any value that is true where it breaks a long word.
            splits_words: matches!(at_hyphens, None | Some(Py::Bool(true, _))),
            seeks_hyphens: at_hyphens.is_none_or(|value| value.is_true()),
        };
        self.cut_by(&text, taint);
        let because = self.join(self.text_taint(&text), taint);
        let mut out = self.written();
        let mut end = 0;
        for (index, paragraph) in paragraphs.iter().enumerate() {
            let start = text.range_of(paragraph).map_or(end, |range| range.start);
            if index > 0 {
                let line_end = end..start;
                if !keeps_ends {
                    out.push_because(&between, because);
                } else if text[line_end.clone()] == *"\n" {
                    out.push_part(&text, line_end);
                } else {
                    out.push_instead("\n", &text, line_end, Taint::NONE);
                }
                check_length(&out)?;
            }
            for (index, line) in wrap(paragraph, &style)?.into_iter().enumerate() {
                if index > 0 {
                    out.push_because(&between, because);
                    check_length(&out)?;
                }
                let line = start + line.start..start + line.end;
                if escapes {
                    escape(&text.part(line), &mut out);
                } else {
                    out.push_part(&text, line);
                }
            }
            end = start + paragraph.len();
        }
        let wrapped = self.text(out)?;
        let wrapped = self.made_of(wrapped, because);
        Ok(if escapes {
            wrapped.marked_up()
        } else {
            wrapped
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Style, wrap};

    const STYLE: Style = Style {
        width: 10,
        is_float: false,
        breaks_words: true,
        splits_words: true,
        seeks_hyphens: true,
    };

    fn lines(text: &str, style: Style) -> Vec<&str> {
        let lines = wrap(text, &style).expect("a width that can be cut at");
        lines.into_iter().map(|line| &text[line]).collect()
    }

    #[test]
    fn chunks_are_pythons() {
        assert_eq!(
            lines("Look, goof-ball -- use the -b option!", STYLE),
            ["Look,", "goof-ball", "-- use the", "-b option!"]
        );
        assert_eq!(
            lines("ab-cd a-b x--yz, z--!", Style { width: 3, ..STYLE }),
            ["ab-", "cd", "a-b", "x--", "yz,", "z--", "!"]
        );
        assert_eq!(
            lines("é-í-ñu 12-34 ab-c-d", Style { width: 4, ..STYLE }),
            ["é-í-", "ñu 1", "2-34", "ab-", "c-d"]
        );
    }

    #[test]
    fn long_words_are_broken_as_python_does() {
        assert_eq!(lines("abcdefghijklmno p", STYLE), ["abcdefghij", "klmno p"]);
        assert_eq!(
            lines("a abc-defghijklmno", STYLE),
            ["a abc-defg", "hijklmno"]
        );
        assert_eq!(
            lines(
                "abcdefghijklmno p",
                Style {
                    breaks_words: false,
                    ..STYLE
                }
            ),
            ["abcdefghijklmno", "p"]
        );
        assert_eq!(
            lines("ab cdef", Style { width: 3, ..STYLE }),
            ["ab ", "cde", "f"]
        );
        assert_eq!(
            lines(
                "abc defghijk",
                Style {
                    width: 0,
                    is_float: true,
                    ..STYLE
                }
            ),
            ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"]
        );
        assert_eq!(
            lines(
                "ab cd",
                Style {
                    width: 2,
                    is_float: true,
                    ..STYLE
                }
            ),
            ["ab", "cd"]
        );
    }

    #[test]
    fn white_space_between_lines_is_dropped() {
        assert_eq!(lines("  ab   cdefghij  ", STYLE), ["  ab", "cdefghij"]);
        assert_eq!(lines("    ", Style { width: 3, ..STYLE }), [""; 0]);
        assert_eq!(
            lines("ab\u{3000} \u{3000}cd", Style { width: 2, ..STYLE }),
            ["ab", " ", "cd"]
        );
        assert_eq!(
            lines("ab \u{3000} cd", Style { width: 2, ..STYLE }),
            ["ab", "\u{3000}", "cd"]
        );
    }

    #[test]
    fn a_word_is_not_broken_at_a_float() {
        let style = Style {
            width: 2,
            is_float: true,
            ..STYLE
        };
        assert!(wrap("abc", &style).is_err());
    }
}
