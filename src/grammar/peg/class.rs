//! Classes of characters, such as `[a-z0-9_]`.

use std::fmt;

/// A set of characters, written as a class of a regular expression.
///
/// The brackets may be left out: `a-z` is `[a-z]`. `^` at the start takes every character that is *not* listed. A range runs from
/// one character to another, both included; a `-` at either end stands for itself. `\n`, `\t` and `\r` are what they always
/// are, `\xHH`, `\uHHHH` and `\UHHHHHHHH` are a character by its number, and any other character after a backslash stands for itself.
///
/// ```
/// use obverse::grammar::peg::CharClass;
/// let class = CharClass::parse(r"[0-9\u4E00-\u9FFF]")?;
/// assert!(class.contains('7') && class.contains('你') && !class.contains('a'));
/// assert!(CharClass::parse("[z-a]").is_err());
/// # Ok::<(), obverse::grammar::peg::ClassError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CharClass {
    source: String,
    negated: bool,
    /// As written, but sorted and without overlap.
    ranges: Vec<(char, char)>,
    /// The answer for each of the first 128 characters, `negated` taken into account.
    ascii: u128,
}

/// Why a text is no class of characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClassError {
    /// A range that runs backwards.
    #[error("the range {from:?} to {to:?} runs backwards")]
    Range {
        /// Its first character.
        from: char,
        /// Its last.
        to: char,
    },
    /// `\x`, `\u` or `\U` without as many hexadecimal digits as it wants, or with the number of no character.
    #[error("the escape {0:?} is no character")]
    Escape(String),
    /// A backslash with nothing behind it.
    #[error("a backslash ends the class")]
    Backslash,
    /// A class that lists no characters takes none.
    #[error("the class lists no characters")]
    Empty,
}

impl CharClass {
    /// Reads a class.
    ///
    /// # Errors
    ///
    /// When a range runs backwards, an escape is no character, or nothing is listed.
    pub fn parse(source: &str) -> Result<Self, ClassError> {
        let inner = source.strip_prefix('[').unwrap_or(source);
        // An escaped bracket at the end is the class's own character.
        let escapes = inner.len() - inner.trim_end_matches(']').trim_end_matches('\\').len();
        let is_escaped = inner.ends_with("\\]") && escapes.is_multiple_of(2);
        let inner = match inner.strip_suffix(']') {
            Some(rest) if !is_escaped => rest,
            _ => inner,
        };
        let (negated, listed) = match inner.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, inner),
        };
        let mut ranges = Vec::new();
        let mut rest = listed;
        while !rest.is_empty() {
            let from = one(&mut rest)?;
            let to = match rest.strip_prefix('-') {
                Some(behind) if !behind.is_empty() => {
                    rest = behind;
                    one(&mut rest)?
                }
                _ => from,
            };
            if to < from {
                return Err(ClassError::Range { from, to });
            }
            ranges.push((from, to));
        }
        if ranges.is_empty() && !negated {
            return Err(ClassError::Empty);
        }
        Ok(Self::of(source.to_owned(), negated, ranges))
    }

    fn of(source: String, negated: bool, mut ranges: Vec<(char, char)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(char, char)> = Vec::with_capacity(ranges.len());
        for (from, to) in ranges {
            match merged.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        let mut class = Self {
            source,
            negated,
            ranges: merged,
            ascii: 0,
        };
        for code in 0..128_u8 {
            if class.lists(char::from(code)) != negated {
                class.ascii |= 1 << code;
            }
        }
        class
    }

    /// Says whether the class takes a character.
    pub fn contains(&self, c: char) -> bool {
        match u8::try_from(c) {
            Ok(code) if code < 128 => self.ascii >> code & 1 == 1,
            _ => self.lists(c) != self.negated,
        }
    }

    fn lists(&self, c: char) -> bool {
        let at = self.ranges.partition_point(|(from, _)| *from <= c);
        at > 0 && c <= self.ranges[at - 1].1
    }

    /// The class as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// True if the class takes what is *not* in [`ranges`](Self::ranges).
    pub fn is_negated(&self) -> bool {
        self.negated
    }

    /// The characters that are listed, as ranges with both ends included, in order and without overlap.
    pub fn ranges(&self) -> &[(char, char)] {
        &self.ranges
    }
}

/// The class in brackets.
impl fmt::Display for CharClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let negation = if self.negated { "^" } else { "" };
        write!(f, "[{negation}")?;
        for (from, to) in &self.ranges {
            write_char(f, *from)?;
            if from != to {
                f.write_str("-")?;
                write_char(f, *to)?;
            }
        }
        f.write_str("]")
    }
}

fn write_char(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    match c {
        '\\' | ']' | '[' | '-' | '^' => write!(f, "\\{c}"),
        '\n' => f.write_str("\\n"),
        '\t' => f.write_str("\\t"),
        '\r' => f.write_str("\\r"),
        ' '..='~' => write!(f, "{c}"),
        c if c.is_alphanumeric() => write!(f, "{c}"),
        c if u32::from(c) <= 0xFFFF => write!(f, "\\u{:04X}", u32::from(c)),
        c => write!(f, "\\U{:08X}", u32::from(c)),
    }
}

/// Takes one character, which may be escaped, off the front of a text that is not empty.
fn one(rest: &mut &str) -> Result<char, ClassError> {
    let c = take(rest).ok_or(ClassError::Empty)?;
    if c != '\\' {
        return Ok(c);
    }
    let escaped = take(rest).ok_or(ClassError::Backslash)?;
    let digits = match escaped {
        'n' => return Ok('\n'),
        't' => return Ok('\t'),
        'r' => return Ok('\r'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        other => return Ok(other),
    };
    let written: String = rest.chars().take(digits).collect();
    let code = Some(&written)
        .filter(|written| written.len() == digits)
        .filter(|written| written.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .and_then(|written| u32::from_str_radix(written, 16).ok())
        .and_then(char::from_u32)
        .ok_or_else(|| ClassError::Escape(format!("\\{escaped}{written}")))?;
    *rest = &rest[digits..];
    Ok(code)
}

fn take(rest: &mut &str) -> Option<char> {
    let mut chars = rest.chars();
    let first = chars.next()?;
    *rest = chars.as_str();
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(class: &str, yes: &str, no: &str) {
        let class = CharClass::parse(class).expect("a class");
        let printed = CharClass::parse(&class.to_string()).expect("its own spelling");
        for c in yes.chars() {
            assert!(class.contains(c) && printed.contains(c), "{class} {c:?}");
        }
        for c in no.chars() {
            assert!(!class.contains(c) && !printed.contains(c), "{class} {c:?}");
        }
    }

    #[test]
    fn brackets_and_escapes() {
        takes("a-z", "am z".replace(' ', "").as_str(), "A-0");
        takes("[a-z-]", "a-z", "A");
        takes(r"[a\-z]", "a-z", "b");
        takes(r"[\]\[]", "][", "\\a");
        takes(r"\]", "]", "\\");
        takes(r"[\\]", "\\", "]");
        takes(r"[^\]]", "a\\[", "]");
        takes(r"[\x41\u00e9\U0001F600-\U0001F64F]", "Aé😀🙏", "B🚀e");
        takes("[é-ü]", "éêü", "eý");
        takes("[^]", "a]é", "");
        takes("[^^]", "a", "^");
    }

    #[test]
    fn what_is_no_class_is_told() {
        let error = |class: &str| CharClass::parse(class).expect_err("no class").to_string();
        assert_eq!(error("[z-a]"), "the range 'z' to 'a' runs backwards");
        assert_eq!(error(r"[\x4]"), r#"the escape "\\x4" is no character"#);
        assert_eq!(
            error(r"[\uD800]"),
            r#"the escape "\\uD800" is no character"#
        );
        assert_eq!(error("[]"), "the class lists no characters");
        assert_eq!(error("a\\"), "a backslash ends the class");
    }
}
