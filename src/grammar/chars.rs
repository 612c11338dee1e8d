//! Sets of characters.

use std::sync::OnceLock;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// A set of characters as ranges in order, none touching the next. Surrogates are no characters and in no range.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Chars(Vec<(char, char)>);

impl Chars {
    pub(crate) fn of(class: &ClassUnicode) -> Self {
        Self(
            class
                .ranges()
                .iter()
                .map(|range| (range.start(), range.end()))
                .collect(),
        )
    }

    pub(crate) fn from_ranges(ranges: &[(char, char)]) -> Self {
        Self::of(&ClassUnicode::new(
            ranges.iter().map(|(a, b)| ClassUnicodeRange::new(*a, *b)),
        ))
    }

    pub(crate) fn one(c: char) -> Self {
        Self(vec![(c, c)])
    }

    pub(crate) fn all() -> Self {
        Self::from_ranges(&[('\0', char::MAX)])
    }

    /// Returns the characters that Python's `\s` matches.
    pub(crate) fn space() -> Self {
        static SPACE: OnceLock<Chars> = OnceLock::new();
        let all = || {
            let spaces = (0..0x3001).filter_map(char::from_u32);
            let spaces = spaces.filter(|c| c.is_whitespace() || ('\x1c'..='\x1f').contains(c));
            let spaces: Vec<(char, char)> = spaces.map(|c| (c, c)).collect();
            Self::from_ranges(&spaces)
        };
        SPACE.get_or_init(all).clone()
    }

    /// The characters of names of tools and arguments.
    pub(crate) fn of_names() -> Self {
        Self::from_ranges(&[
            ('a', 'z'),
            ('A', 'Z'),
            ('0', '9'),
            ('_', '_'),
            ('-', '-'),
            ('.', '.'),
        ])
    }

    fn class(&self) -> ClassUnicode {
        ClassUnicode::new(self.0.iter().map(|(a, b)| ClassUnicodeRange::new(*a, *b)))
    }

    pub(crate) fn ranges(&self) -> &[(char, char)] {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn has(&self, c: char) -> bool {
        self.0.iter().any(|(a, b)| (*a..=*b).contains(&c))
    }

    pub(crate) fn negated(&self) -> Self {
        let mut class = self.class();
        class.negate();
        Self::of(&class)
    }

    pub(crate) fn and(&self, other: &Self) -> Self {
        let mut class = self.class();
        class.intersect(&other.class());
        Self::of(&class)
    }

    pub(crate) fn or(&self, other: &Self) -> Self {
        let mut class = self.class();
        class.union(&other.class());
        Self::of(&class)
    }

    /// Returns true if it is told more shortly by what is not in it.
    pub(crate) fn is_wide(&self) -> bool {
        self.has(char::MAX)
    }

    /// A set between brackets, as regular expressions have it, which differ in how they write a character of more than 16 bits.
    pub(crate) fn class_with(&self, wide: fn(u32) -> String) -> String {
        self.bracketed(&|c| match c {
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            '\\' | ']' | '[' | '-' | '^' => format!("\\{c}"),
            c if c.is_ascii_graphic() || c == ' ' => c.to_string(),
            c => match u32::from(c) {
                code if code < 0x100 => format!("\\x{code:02x}"),
                code if code < 0x1_0000 => format!("\\u{code:04x}"),
                code => wide(code),
            },
        })
    }

    /// A set between brackets as Rust's and Python's regular expressions have it, and our own parsing expressions.
    pub(crate) fn class_text(&self) -> String {
        self.class_with(|code| format!("\\U{code:08x}"))
    }

    /// A set between brackets, as GBNF and regular expressions have it.
    pub(crate) fn bracketed(&self, escape: &dyn Fn(char) -> String) -> String {
        if self.is_wide() && self.0.len() > 1 {
            format!("[^{}]", self.negated().listed(escape))
        } else {
            format!("[{}]", self.listed(escape))
        }
    }

    /// Lists what a set has, as it stands between brackets.
    pub(crate) fn listed(&self, escape: &dyn Fn(char) -> String) -> String {
        let ranges = self.0.iter().map(|(a, b)| match a == b {
            true => escape(*a),
            false => format!("{}-{}", escape(*a), escape(*b)),
        });
        ranges.collect()
    }
}
