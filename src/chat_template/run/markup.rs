//! The filters `striptags` and `xmlattr`, as MarkupSafe and Jinja2 have them.

use std::ops::Range;

use super::arguments::Arguments;
use super::entities;
use super::fault::Fault;
use super::object::Py;
use super::text_filters::escape;
use super::trace::{Taint, Text, Written};
use super::{MAX_VALUE, Render, text};
use crate::chat_template::error::Limit;
use crate::value::python::is_space;

/// Python reads no decimal number that has more digits.
const MAX_DIGITS: usize = 4300;

/// The name of a reference has at most this number of characters.
const MAX_NAME: usize = 32;

/// A name that needs no semicolon has at most this number of characters.
const MAX_OPEN: usize = 6;

/// These are the characters that `&#128;` to `&#159;` stand for, in order.
const WINDOWS: &str = "\u{20ac}\u{81}\u{201a}\u{192}\u{201e}\u{2026}\u{2020}\u{2021}\u{2c6}\u{2030}\u{160}\u{2039}\u{152}\u{8d}\u{17d}\u{8f}\
    \u{90}\u{2018}\u{2019}\u{201c}\u{201d}\u{2022}\u{2013}\u{2014}\u{2dc}\u{2122}\u{161}\u{203a}\u{153}\u{9d}\u{17e}\u{178}";

/// Returns the parts of a text that stand outside of tags and comments. One that is not closed is text.
fn outside_tags(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find('<') {
        let start = at + offset;
        let rest = &text[start..];
        let len = match rest.strip_prefix("<!--") {
            Some(comment) => comment
                .find("-->")
                .map(|end| "<!--".len() + end + "-->".len()),
            None => rest.find('>').map(|end| end + 1),
        };
        let Some(len) = len else { break };
        parts.push(at..start);
        at = start + len;
    }
    parts.push(at..text.len());
    parts
}

/// Writes a text without tags and comments, and with one space for each stretch of white space between words.
fn without_tags(text: &Text, out: &mut Written) {
    // One space stands for this first character of the white space behind a word, and for what follows it.
    let mut space: Option<Range<usize>> = None;
    let mut any = false;
    for Range { mut start, end } in outside_tags(text) {
        while start < end {
            let rest = &text[start..end];
            let blank = rest.len() - rest.trim_start_matches(is_space).len();
            if blank > 0 {
                let first = rest.chars().next().map_or(0, char::len_utf8);
                space.get_or_insert(start..start + first);
                start += blank;
                continue;
            }
            if let Some(space) = space.take()
                && any
            {
                if text[space.clone()] == *" " {
                    out.push_part(text, space);
                } else {
                    out.push_instead(" ", text, space, Taint::NONE);
                }
            }
            let word = rest.find(is_space).unwrap_or(rest.len());
            out.push_part(text, start..start + word);
            any = true;
            start += word;
        }
    }
}

/// Writes a text with characters in the place of the references to them (`&lt;`, `&#60;`), by the rules of HTML 5 as Python reads them.
fn unescape(text: &Text, out: &mut Written) -> Result<(), Fault> {
    let (mut written, mut from) = (0, 0);
    while let Some(offset) = text[from..].find('&') {
        let start = from + offset;
        from = start + 1;
        let Some((len, shown)) = reference(&text[from..])? else {
            continue;
        };
        if written < start {
            out.push_part(text, written..start);
        }
        from += len;
        written = from;
        out.push_instead(&shown, text, start..from, Taint::NONE);
    }
    if written < text.len() || text.is_empty() {
        out.push_part(text, written..text.len());
    }
    Ok(())
}

/// Returns how many bytes behind an ampersand belong to a reference, and the text for which it stands.
fn reference(rest: &str) -> Result<Option<(usize, String)>, Fault> {
    let is_hex = rest.starts_with("#x") || rest.starts_with("#X");
    let (mark, radix) = match rest.starts_with('#') {
        true if is_hex => (2, 16),
        true => (1, 10),
        false => return Ok(named(rest)),
    };
    let digits = rest[mark..]
        .find(|c: char| !c.is_digit(radix))
        .map_or(&rest[mark..], |end| &rest[mark..mark + end]);
    if digits.is_empty() {
        return Ok(None);
    }
    if radix == 10 && digits.len() > MAX_DIGITS {
        return Err(Fault::error(format!(
            "`striptags` reads numbers of at most {MAX_DIGITS} digits, as Python does"
        )));
    }
    let end = mark + digits.len();
    let len = end + usize::from(rest[end..].starts_with(';'));
    // What cannot be read here is larger than any character.
    let number = match digits.trim_start_matches('0') {
        "" => 0,
        digits => u32::from_str_radix(digits, radix).unwrap_or(u32::MAX),
    };
    Ok(Some((len, character(number).into_iter().collect())))
}

/// Returns the character for a number; `None` for one that is left out.
fn character(number: u32) -> Option<char> {
    match number {
        0 => Some(char::REPLACEMENT_CHARACTER),
        0x80..=0x9f => WINDOWS.chars().nth(number as usize - 0x80),
        1..=8 | 0xb | 0xe..=0x1f | 0x7f | 0xfdd0..=0xfdef => None,
        0..=0x0010_ffff if number & 0xfffe == 0xfffe => None,
        _ => Some(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)),
    }
}

/// Reads a reference by name. Some names need no semicolon, and may be the beginning of a longer word.
fn named(rest: &str) -> Option<(usize, String)> {
    let ends = |c: char| matches!(c, '\t' | '\n' | '\x0c' | ' ' | '<' | '&' | '#' | ';');
    let end = rest
        .char_indices()
        .enumerate()
        .find(|(count, (_, c))| *count == MAX_NAME || ends(*c))
        .map_or(rest.len(), |(_, (at, _))| at);
    let name = &rest[..end];
    let is_closed = rest[end..].starts_with(';');
    if let Some(text) = entities::entity(name, is_closed) {
        return Some((end + usize::from(is_closed), text.to_owned()));
    }
    (2..=end.min(MAX_OPEN)).rev().find_map(|len| {
        let text = entities::entity(name.get(..len)?, false)?;
        Some((len, text.to_owned()))
    })
}

impl Render<'_> {
    /// Writes a text without tags, and with characters in the place of the references to them.
    pub(super) fn striptags(&mut self, text: &Text, out: &mut Written) -> Result<(), Fault> {
        // Looking up the name of a character takes several steps.
        self.spend(8 * text.matches('&').count() as u64)?;
        // All of the text tells what is a tag.
        self.cut_by(text, Taint::NONE);
        let mut words = self.written();
        without_tags(text, &mut words);
        unescape(&words.finish(), out)
    }

    /// Writes the items of a dictionary as attributes of a tag, without those that are none or undefined.
    pub(super) fn xmlattr(&mut self, subject: &Py, args: Arguments) -> Result<Py, Fault> {
        let [autospace] = args.bind("xmlattr", ["autospace"], 0)?;
        let dict = match subject {
            Py::Dict(dict) => dict,
            Py::Undefined(missing, _) => return Err(Fault::error(missing.message())),
            other => {
                return Err(Fault::error(format!(
                    "`xmlattr` needs a dictionary, not a `{}`",
                    other.type_name()
                )));
            }
        };
        self.note_whole(subject);
        self.decide_options(&[&autospace]);
        self.decide_shape(subject);
        self.room_for(dict.len())?;
        let taint = self.taint(subject);
        let spaced = autospace.is_none_or(|value| value.is_true());
        let mut out = self.written();
        for (key, value) in dict.items().iter() {
            // An attribute is there only if its value is.
            self.decide_shape(value);
            if matches!(value, Py::None(_) | Py::Undefined(..)) {
                continue;
            }
            let Some(name) = key.0.as_str() else {
                return Err(Fault::error(format!(
                    "`xmlattr` needs strings as keys, not a `{}`",
                    key.0.type_name()
                )));
            };
            let parts_name = |c: char| {
                matches!(
                    c,
                    '\t' | '\n' | '\x0b' | '\x0c' | '\r' | ' ' | '/' | '>' | '='
                )
            };
            if name.contains(parts_name) {
                return Err(Fault::error(format!(
                    "the name of an attribute has a character that it may not have: {}",
                    text::repr_of(&key.0)?
                )));
            }
            if spaced || out.len() > 0 {
                out.push_of(" ", taint);
            }
            self.write_escaped(&key.0, &mut out)?;
            out.push_of("=\"", taint);
            self.write_escaped(value, &mut out)?;
            out.push_of("\"", taint);
            if out.len() > MAX_VALUE {
                return Err(Fault::Limit(Limit::Memory, MAX_VALUE as u64));
            }
        }
        let attributes = self.text(out)?;
        Ok(self.made_of(attributes, taint))
    }

    /// Writes a value as it stands in HTML. What is marked as safe stands there as it is.
    fn write_escaped(&self, value: &Py, out: &mut Written) -> Result<(), Fault> {
        if let Py::Markup(text) = value {
            out.push_text(text);
            return Ok(());
        }
        let mut shown = self.written();
        text::write_str(value, &mut shown)?;
        escape(&shown.finish(), out);
        Ok(())
    }
}
