//! Expressions that read text themselves. Each can stop where the text that has arrived ends, and go on from there.

use memchr::memchr2;

use super::text::{Front, Text, front};
use crate::grammar::peg::arena::Expression;
use crate::grammar::peg::delimiters::{Delimiters, Search};

/// How far an expression has come with the text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Scan {
    /// Where it began.
    pub(super) start: usize,
    /// The place up to which it has read for good.
    pub(super) at: usize,
    /// How many characters of a class were read.
    count: u32,
    search: Search,
}

impl Scan {
    pub(super) fn at(start: usize) -> Self {
        Self {
            start,
            at: start,
            ..Self::default()
        }
    }

    /// The place before which everything belongs to what is being read, whatever comes.
    pub(super) fn safe(&self, delimiters: Option<&Delimiters>) -> usize {
        match delimiters {
            Some(delimiters) => self.start + delimiters.safe(&self.search),
            None => self.at,
        }
    }
}

/// The outcome of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    /// It matches up to this place.
    Match(usize),
    /// It does not match, as shows at this place.
    Fail(usize),
    /// That depends on text that has not arrived.
    Wait,
}

/// The text, and if that is all of it.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) text: &'a Text,
    pub(super) ended: bool,
}

impl Input<'_> {
    /// Returns the answer where the text that has arrived ends: to wait, or `at_the_end` if there is no more.
    fn ends(self, at_the_end: Read) -> Read {
        if self.ended { at_the_end } else { Read::Wait }
    }
}

/// Reads on with an expression that reads text itself; any other matches nothing.
pub(super) fn read(
    expression: &Expression,
    delimiters: Option<&Delimiters>,
    input: Input<'_>,
    scan: &mut Scan,
) -> Read {
    match expression {
        Expression::Start if scan.start > 0 => Read::Fail(scan.start),
        Expression::End if input.text.end() > scan.start => Read::Fail(scan.start),
        Expression::End => input.ends(Read::Match(scan.start)),
        Expression::Literal(literal) => read_literal(literal.as_bytes(), input, scan),
        Expression::Any => match front(input.text.from(scan.start)) {
            Front::Char(_, length) => Read::Match(scan.start + length),
            Front::Incomplete => input.ends(Read::Fail(scan.start)),
            Front::Invalid => Read::Fail(scan.start),
        },
        Expression::Space => {
            let text = input.text.from(scan.at);
            match text.iter().position(|byte| !is_space(*byte)) {
                Some(length) => Read::Match(scan.at + length),
                None => {
                    scan.at += text.len();
                    input.ends(Read::Match(scan.at))
                }
            }
        }
        Expression::Chars { class, min, max } => {
            let enough = |scan: &Scan| match scan.count >= *min {
                true => Read::Match(scan.at),
                false => Read::Fail(scan.at),
            };
            let text = input.text.from(scan.at);
            let mut length = 0;
            while max.is_none_or(|max| scan.count < max) {
                match front(&text[length..]) {
                    Front::Char(c, bytes) if class.contains(c) => length += bytes,
                    Front::Char(..) | Front::Invalid => {
                        scan.at += length;
                        return enough(scan);
                    }
                    Front::Incomplete => {
                        scan.at += length;
                        return input.ends(enough(scan));
                    }
                }
                // A text with more characters than that is refused before.
                scan.count = scan.count.saturating_add(1);
            }
            scan.at += length;
            enough(scan)
        }
        Expression::Until(_) => {
            let all = input.text.end();
            let Some(delimiters) = delimiters else {
                scan.at = all;
                return input.ends(Read::Match(all));
            };
            let unread = input.text.from(scan.start + scan.search.read());
            match delimiters.read(&mut scan.search, unread) {
                Some(found) => Read::Match(scan.start + found),
                None => {
                    let found = scan.search.found();
                    input.ends(Read::Match(found.map_or(all, |at| scan.start + at)))
                }
            }
        }
        Expression::Quoted(quote) => read_quoted(*quote, input, scan),
        _ => Read::Match(scan.start),
    }
}

/// ASCII white space as C's `isspace` has it.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn read_literal(literal: &[u8], input: Input<'_>, scan: &mut Scan) -> Read {
    let wanted = &literal[scan.at - scan.start..];
    let text = input.text.from(scan.at);
    let both = wanted.len().min(text.len());
    let alike = wanted.iter().zip(text).take_while(|(a, b)| a == b).count();
    scan.at += alike;
    if alike < both {
        return Read::Fail(scan.start);
    }
    if both == wanted.len() {
        return Read::Match(scan.at);
    }
    input.ends(Read::Fail(scan.start))
}

/// Reads to a quote that no backslash stands before.
fn read_quoted(quote: char, input: Input<'_>, scan: &mut Scan) -> Read {
    let mut spelled = [0; 4];
    let spelled = quote.encode_utf8(&mut spelled).as_bytes();
    loop {
        let text = input.text.from(scan.at);
        let next = memchr2(spelled[0], b'\\', text);
        let plain = &text[..next.unwrap_or(text.len())];
        if let Err(error) = std::str::from_utf8(plain) {
            scan.at += error.valid_up_to();
            let waits = error.error_len().is_none() && next.is_none();
            return match waits {
                true => input.ends(Read::Fail(scan.at)),
                false => Read::Fail(scan.at),
            };
        }
        scan.at += plain.len();
        let rest = &text[plain.len()..];
        match escape(rest, spelled) {
            Escape::Quote => return Read::Match(scan.at),
            Escape::Whole(length) => scan.at += length,
            Escape::Incomplete => return input.ends(Read::Fail(scan.at)),
            Escape::Wrong => return Read::Fail(scan.at),
        }
    }
}

enum Escape {
    Quote,
    /// So many bytes belong to the string.
    Whole(usize),
    Incomplete,
    Wrong,
}

/// Tells what stands at a backslash, or where the quote's first byte does.
fn escape(text: &[u8], quote: &[u8]) -> Escape {
    if text.first() != Some(&b'\\') {
        return match front(text) {
            _ if text.starts_with(quote) => Escape::Quote,
            Front::Char(_, length) => Escape::Whole(length),
            Front::Incomplete => Escape::Incomplete,
            Front::Invalid => Escape::Wrong,
        };
    }
    let behind = &text[1..];
    match behind.first() {
        None => Escape::Incomplete,
        Some(b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Escape::Whole(2),
        Some(b'u') => {
            let digits = &behind[1..behind.len().min(5)];
            match digits.iter().all(u8::is_ascii_hexdigit) {
                false => Escape::Wrong,
                true if digits.len() < 4 => Escape::Incomplete,
                true => Escape::Whole(6),
            }
        }
        Some(_) if behind.starts_with(quote) => Escape::Whole(1 + quote.len()),
        Some(_) if quote.starts_with(behind) => Escape::Incomplete,
        Some(_) => Escape::Wrong,
    }
}
