//! Escapes: the constructs that a backslash introduces.

use std::ops::Range;

use regex_syntax::hir::ClassUnicode;

use super::ast::{Assert, Look, Node};
use super::class;
use super::parser::{GroupReference, Parser};
use super::set::Member;
use crate::pattern::error::PatternError;

impl Parser<'_> {
    /// Reads the escape behind a backslash outside a set.
    pub(super) fn escape(&mut self) -> Result<Node, PatternError> {
        let start = self.cursor.at - 1;
        let ascii = self.ascii_here();
        let Some(letter) = self.cursor.raw_next() else {
            return Err(PatternError::new(
                "the pattern ends with a backslash",
                start..start + 1,
            ));
        };
        if self.is_re() {
            match letter {
                'b' | 'B' => return Ok(boundary_of_re(ascii, letter == 'B')),
                'z' | 'm' | 'M' | 'g' | 'G' | 'K' | 'L' | 'X' | 'R' => {
                    return Err(self.unknown(letter, start));
                }
                _ => {}
            }
        }
        let assert = match letter {
            'A' => Assert::Start,
            'Z' | 'z' => Assert::End,
            'b' => Assert::WordBoundary { ascii },
            'B' => Assert::NotWordBoundary { ascii },
            'm' => Assert::WordStart { ascii: self.ascii },
            'M' => Assert::WordEnd { ascii: self.ascii },
            'g' => return self.group_escape(),
            'G' => return Err(self.unsupported("the search anchor `\\G`", start)),
            'K' => return Err(self.unsupported("`\\K`", start)),
            'L' => return Err(self.unsupported("a named list `\\L<...>`", start)),
            'X' => return Err(self.unsupported("the grapheme `\\X`", start)),
            'R' => return Ok(line_ending()),
            '1'..='9' => return self.numeric(letter, start),
            _ => {
                return Ok(match self.common_escape(letter, start, false)? {
                    Member::Char(value) => self.literal_point(value),
                    Member::Class(class) => Node::Class(class),
                });
            }
        };
        Ok(Node::Assert(assert))
    }

    /// Reads the escape behind a backslash in a set.
    pub(super) fn set_escape(&mut self) -> Result<Member, PatternError> {
        let start = self.cursor.at - 1;
        match self.cursor.raw_next() {
            Some(letter) => self.common_escape(letter, start, true),
            None => Err(PatternError::new(
                "the pattern ends with a backslash",
                start..start + 1,
            )),
        }
    }

    /// Returns true if classes are those of ASCII: by the flags of this place or, where they say nothing, of the whole pattern.
    fn ascii_here(&self) -> bool {
        self.flags.ascii || (self.ascii && !self.flags.unicode)
    }

    fn unknown(&self, letter: char, start: usize) -> PatternError {
        PatternError::new(
            format!("unknown escape `\\{letter}`"),
            start..self.cursor.at,
        )
        .with_hint(format!("write `{letter}` for the letter itself"))
    }

    fn unsupported(&self, what: &str, start: usize) -> PatternError {
        PatternError::new(format!("{what} is not supported"), start..self.cursor.at)
    }

    fn literal_point(&self, value: u32) -> Node {
        match char::from_u32(value) {
            Some(value) => self.literal(value),
            None => Node::Class(class::none()),
        }
    }

    fn common_escape(
        &mut self,
        letter: char,
        start: usize,
        in_set: bool,
    ) -> Result<Member, PatternError> {
        let class = match letter {
            'h' | 'p' | 'P' if self.is_re() => return Err(self.unknown(letter, start)),
            's' | 'S' if self.is_re() => {
                let class = if self.ascii_here() {
                    class::union([class::range('\t', '\r'), class::single(' ')])
                } else {
                    class::space_of_re()
                };
                within(class, (letter == 'S', false))
            }
            'w' | 'W' if self.is_re() => {
                within(class::word_of_re(), (letter == 'W', self.ascii_here()))
            }
            'N' if self.is_re() => {
                return Err(self
                    .unsupported("a character's name `\\N{...}`", start)
                    .with_hint("write the character itself, or `\\u` with its number"));
            }
            'x' => return self.hexadecimal(2, start),
            'u' => return self.hexadecimal(4, start),
            'U' => return self.hexadecimal(8, start),
            '0'..='9' => return self.octal(letter, start),
            'a' => return Ok(Member::Char(7)),
            'b' if in_set => return Ok(Member::Char(8)),
            't' => return Ok(Member::Char(9)),
            'n' => return Ok(Member::Char(10)),
            'v' => return Ok(Member::Char(11)),
            'f' => return Ok(Member::Char(12)),
            'r' => return Ok(Member::Char(13)),
            'd' | 'D' => within(class::digit(), (letter == 'D', self.ascii_here())),
            's' | 'S' => within(class::space(), (letter == 'S', self.ascii_here())),
            'w' | 'W' => within(class::word(), (letter == 'W', self.ascii_here())),
            'h' => within(class::blank(), (false, self.ascii)),
            'N' => return self.named_character(start),
            'p' | 'P' => return self.property(letter, start),
            letter if letter.is_ascii_alphabetic() => {
                return Err(self.unknown(letter, start));
            }
            other => return Ok(Member::Char(u32::from(other))),
        };
        Ok(Member::Class(class))
    }

    fn hexadecimal(&mut self, length: usize, start: usize) -> Result<Member, PatternError> {
        let mut digits = String::new();
        while digits.len() < length && self.cursor.peek().is_some_and(|c| c.is_ascii_hexdigit()) {
            digits.extend(self.cursor.next());
        }
        let place = start..self.cursor.at;
        if digits.len() < length {
            return Err(PatternError::new(
                format!("the escape lacks digits: it takes {length}"),
                place,
            ));
        }
        match u32::from_str_radix(&digits, 16) {
            Ok(value) if value < 0x11_0000 => Ok(Member::Char(value)),
            _ => Err(PatternError::new("there is no such character", place)),
        }
    }

    /// At most three octal digits.
    fn octal(&mut self, first: char, start: usize) -> Result<Member, PatternError> {
        let mut value = first.to_digit(8);
        for _ in 0..2 {
            let Some(digit) = self.cursor.peek().and_then(|c| c.to_digit(8)) else {
                break;
            };
            self.cursor.next();
            value = value.map(|value| value * 8 + digit);
        }
        let value = value.filter(|value| !self.is_re() || *value <= 0o377);
        value.map(Member::Char).ok_or_else(|| {
            PatternError::new(format!("unknown escape `\\{first}`"), start..self.cursor.at)
        })
    }

    /// Three octal digits, or the number of a group.
    fn numeric(&mut self, first: char, start: usize) -> Result<Node, PatternError> {
        let mut digits = String::from(first);
        if let Some(second) = self.cursor.peek().filter(char::is_ascii_digit) {
            self.cursor.next();
            digits.push(second);
            if let Some(third) = self.cursor.peek().filter(|c| c.is_digit(8))
                && digits.chars().all(|c| c.is_digit(8))
            {
                self.cursor.next();
                digits.push(third);
                let value = u32::from_str_radix(&digits, 8).unwrap_or_default() & 0x1FF;
                if self.is_re() && value > 0o377 {
                    return Err(PatternError::new(
                        "an octal escape is at most `\\377`",
                        start..self.cursor.at,
                    ));
                }
                return Ok(self.literal_point(value));
            }
        }
        let number = digits.parse().unwrap_or(usize::MAX);
        self.backreference(GroupReference::Number(number), start..self.cursor.at)
    }

    /// `\g<name>`; anything else is the letter.
    fn group_escape(&mut self) -> Result<Node, PatternError> {
        let at = self.cursor.at;
        if self.cursor.eat("<") {
            let name_at = self.cursor.at;
            if let Ok(reference) = self.name(true) {
                let place = name_at..self.cursor.at;
                if self.cursor.eat(">")
                    && let Ok(node) = self.backreference(reference, place)
                {
                    return Ok(node);
                }
            }
        }
        self.cursor.at = at;
        Ok(self.literal('g'))
    }

    fn named_character(&mut self, start: usize) -> Result<Member, PatternError> {
        let at = self.cursor.at;
        if self.cursor.eat("{") {
            self.cursor
                .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-'));
            if self.cursor.eat("}") {
                return Err(self
                    .unsupported("a character's name `\\N{...}`", start)
                    .with_hint("write the character itself, or `\\u` with its number"));
            }
        }
        self.cursor.at = at;
        Ok(Member::Char(u32::from('N')))
    }

    fn property(&mut self, letter: char, start: usize) -> Result<Member, PatternError> {
        let at = self.cursor.at;
        let mut negative = letter == 'P';
        let found = match self.cursor.next() {
            Some('{') => {
                negative ^= self.cursor.eat("^");
                let (property, name) = self.property_name();
                self.cursor.eat("}").then_some((property, name))
            }
            Some(short @ ('C' | 'L' | 'M' | 'N' | 'P' | 'S' | 'Z')) => {
                Some((None, short.to_string()))
            }
            _ => None,
        };
        let Some((property, name)) = found else {
            self.cursor.at = at;
            return Ok(Member::Char(u32::from(letter)));
        };
        let place = start..self.cursor.at;
        let mut class = self.lookup(
            property.as_deref(),
            &name,
            (false, self.ascii_here()),
            place,
        )?;
        if negative {
            class.negate();
        }
        Ok(Member::Class(class))
    }

    /// `name` or `property=name`.
    pub(super) fn property_name(&mut self) -> (Option<String>, String) {
        let is_name =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '&' | '_' | '-' | '.');
        let name = self.cursor.take_while(is_name);
        let at = self.cursor.at;
        if self.cursor.eat(":") || self.cursor.eat("=") {
            let value = self.cursor.take_while(|c| is_name(c) || c == '/');
            if !value.trim().is_empty() {
                return (Some(name), value.trim().to_owned());
            }
        }
        self.cursor.at = at;
        (None, name)
    }

    pub(super) fn lookup(
        &self,
        property: Option<&str>,
        name: &str,
        (negative, ascii): (bool, bool),
        place: Range<usize>,
    ) -> Result<ClassUnicode, PatternError> {
        let found = if self.flags.ignore_case {
            class::property_of_any_case(property, name)
        } else {
            class::property(property, name)
        };
        match found {
            Some(class) => Ok(within(class, (negative, ascii))),
            None => Err(PatternError::new(
                format!("the character property `{name}` is unknown or not supported"),
                place,
            )),
        }
    }
}

/// The class, or what it leaves, with ASCII characters only or with all.
fn within(mut class: ClassUnicode, (negative, ascii): (bool, bool)) -> ClassUnicode {
    if ascii {
        class.intersect(&class::ascii());
    }
    if negative {
        class.negate();
    }
    class
}

/// `\b` or `\B` of `re`, whose words are others than those of `regex`; what it says of a text without characters is that
/// neither holds there.
fn boundary_of_re(ascii: bool, negative: bool) -> Node {
    let look = |behind: bool, negative: bool| {
        let node = Node::Class(within(class::word_of_re(), (false, ascii)));
        Node::Look(Box::new(Look {
            behind,
            negative,
            node,
        }))
    };
    let pair =
        |before: bool, after: bool| Node::Concat(vec![look(true, !before), look(false, !after)]);
    if !negative {
        return Node::Alternation(vec![pair(true, false), pair(false, true)]);
    }
    let nothing = Look {
        behind: false,
        negative: true,
        node: Node::Concat(vec![Node::Assert(Assert::Start), Node::Assert(Assert::End)]),
    };
    Node::Concat(vec![
        Node::Look(Box::new(nothing)),
        Node::Alternation(vec![pair(true, true), pair(false, false)]),
    ])
}

/// `\R`.
fn line_ending() -> Node {
    let mut one = class::range('\n', '\r');
    one.union(&class::union(
        ['\u{85}', '\u{2028}', '\u{2029}'].map(class::single),
    ));
    let pair = Node::Concat(vec![Node::Char('\r'), Node::Char('\n')]);
    Node::Atomic(Box::new(Node::Alternation(vec![pair, Node::Class(one)])))
}

#[cfg(test)]
mod tests {
    use super::Node;
    use crate::pattern::syntax::parse;

    fn character(source: &str) -> Option<char> {
        match parse(source).ok()?.node {
            Node::Char(value) => Some(value),
            _ => None,
        }
    }

    #[test]
    fn numbers_are_octal_or_groups() {
        assert_eq!(character(r"\0"), Some('\0'));
        assert_eq!(character(r"\012"), Some('\n'));
        assert_eq!(character(r"\101"), Some('A'));
        assert_eq!(character(r"\777"), Some('\u{1ff}'));
        assert!(
            matches!(parse(r"(a)\1").expect("a pattern").node, Node::Concat(nodes) if
            matches!(nodes[1], Node::Backreference { group: 1, .. }))
        );
        assert!(parse(r"\8").is_err());
    }

    #[test]
    fn letters_are_escapes_or_errors_and_all_else_is_itself() {
        assert_eq!(character(r"\t"), Some('\t'));
        assert_eq!(character(r"\u00e9"), Some('\u{e9}'));
        assert_eq!(character(r"\N"), Some('N'));
        assert_eq!(character(r"\p"), Some('p'));
        assert_eq!(character(r"\g<"), None);
        assert_eq!(character(r"\<"), Some('<'));
        let error = parse(r"a\y").expect_err("no escape");
        assert_eq!(
            (error.span, error.hint.as_deref()),
            (1..3, Some("write `y` for the letter itself"))
        );
    }
}
