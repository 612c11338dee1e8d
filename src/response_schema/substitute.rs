//! `x-regex-substitutions`: Python's `re.sub`.
//!
//! A replacement is text with references: `\1`, `\g<1>`, `\g<name>`, `\g<0>` for the whole match, octal escapes, and the escapes of
//! control characters. A group that took no part is empty. One pass over the text for each substitution.

use crate::pattern::{MatchError, Pattern};

/// How many times its length a text may become by substitutions; the other number is how many bytes may come on top.
pub(super) const GROWTH: usize = 16;
const FREE: usize = 1 << 16;

/// A pattern and the replacement of its matches.
#[derive(Debug, Clone)]
pub(crate) struct Substitution {
    pub(crate) pattern: Pattern,
    pub(crate) replacement: Replacement,
}

/// A replacement, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// The whole match.
    Whole,
    /// A group, by its place among the pattern's groups.
    Group(usize),
}

/// The reason why a text was not changed.
#[derive(Debug)]
pub(super) enum Failure {
    Match(MatchError),
    /// The text became too long.
    Growth,
}

impl Replacement {
    /// Reads a replacement for a pattern of `re`.
    ///
    /// # Errors
    ///
    /// A message that says what is wrong with the replacement, and the byte offset.
    pub(super) fn new(source: &str, pattern: &Pattern) -> Result<Self, (String, usize)> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = source;
        while let Some(at) = rest.find('\\') {
            literal.push_str(&rest[..at]);
            let start = source.len() - rest.len() + at;
            let escape = &rest[at + 1..];
            let wrong = |message: &str| (message.to_owned(), start);
            let Some(letter) = escape.chars().next() else {
                return Err(wrong("the replacement ends with a backslash"));
            };
            let (length, group) = match letter {
                'g' => {
                    let name = escape[1..].strip_prefix('<');
                    let name = name.and_then(|name| Some(&name[..name.find('>')?]));
                    let name = name.ok_or_else(|| wrong("`\\g` needs a group as in `\\g<1>`"))?;
                    (name.len() + 3, Some(name.to_owned()))
                }
                '0' => {
                    let length = 1 + octal_digits(&escape[1..], 2);
                    literal.push(octal(&escape[..length]));
                    (length, None)
                }
                '1'..='9' => {
                    let digits = escape
                        .bytes()
                        .take(3)
                        .take_while(u8::is_ascii_digit)
                        .count();
                    if digits == 3 && octal_digits(escape, 3) == 3 {
                        if letter > '3' {
                            return Err(wrong("an octal escape is at most `\\377`"));
                        }
                        literal.push(octal(&escape[..3]));
                        (3, None)
                    } else {
                        let length = digits.min(2);
                        (length, Some(escape[..length].to_owned()))
                    }
                }
                'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '\\' => {
                    literal.push(match letter {
                        'a' => '\x07',
                        'b' => '\x08',
                        'f' => '\x0c',
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        'v' => '\x0b',
                        _ => '\\',
                    });
                    (1, None)
                }
                letter if letter.is_ascii_alphabetic() => {
                    return Err(wrong(&format!("unknown escape `\\{letter}`")));
                }
                other => {
                    literal.extend(['\\', other]);
                    (other.len_utf8(), None)
                }
            };
            if let Some(name) = group {
                let part = group_of(&name, pattern)
                    .ok_or_else(|| wrong(&format!("the pattern has no group `{name}`")))?;
                if !literal.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut literal)));
                }
                parts.push(part);
            }
            rest = &escape[length..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        Ok(Self(parts))
    }

    /// The text, where it has no references.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}

fn octal_digits(text: &str, most: usize) -> usize {
    text.bytes()
        .take(most)
        .take_while(|b| matches!(b, b'0'..=b'7'))
        .count()
}

fn octal(digits: &str) -> char {
    let code = u32::from_str_radix(digits, 8).unwrap_or_default();
    char::from_u32(code & 0xff).unwrap_or_default()
}

fn group_of(name: &str, pattern: &Pattern) -> Option<Part> {
    let groups = pattern.group_names();
    let is_number = name.bytes().all(|b| b.is_ascii_digit()) && !name.is_empty();
    if !is_number {
        let found = groups.iter().position(|known| known == name);
        return found.map(Part::Group);
    }
    match name.parse::<usize>().ok()? {
        0 => Some(Part::Whole),
        number if number <= groups.len() => Some(Part::Group(number - 1)),
        _ => None,
    }
}

impl Substitution {
    /// Returns the text with every match replaced; at most `most` bytes.
    pub(super) fn apply(&self, text: &str, most: usize) -> Result<String, Failure> {
        let mut out = String::with_capacity(text.len());
        let mut end = 0;
        for found in self.pattern.find_iter_bounded(text) {
            let found = found.map_err(Failure::Match)?;
            out.push_str(&text[end..found.span.start]);
            end = found.span.end;
            for part in &self.replacement.0 {
                match part {
                    Part::Text(text) => out.push_str(text),
                    Part::Whole => out.push_str(&text[found.span.clone()]),
                    Part::Group(index) => {
                        let group = found
                            .groups
                            .get(*index)
                            .and_then(|(_, range)| range.clone());
                        out.push_str(&text[group.unwrap_or_default()]);
                    }
                }
            }
            if out.len() > most {
                return Err(Failure::Growth);
            }
        }
        out.push_str(&text[end..]);
        if out.len() > most {
            return Err(Failure::Growth);
        }
        Ok(out)
    }
}

/// Returns how many bytes a text of this length may become.
pub(super) fn longest(length: usize) -> usize {
    length.saturating_mul(GROWTH).saturating_add(FREE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sub(pattern: &str, replacement: &str, text: &str) -> Result<String, String> {
        let pattern = Pattern::re(pattern).expect("a pattern");
        let replacement =
            Replacement::new(replacement, &pattern).map_err(|(message, _)| message)?;
        let substitution = Substitution {
            pattern,
            replacement,
        };
        let most = longest(text.len());
        substitution
            .apply(text, most)
            .map_err(|failure| format!("{failure:?}"))
    }

    #[test]
    fn references_and_escapes_are_those_of_python() {
        assert_eq!(
            sub("(a)(?P<n>b)?", r"[\2\g<n>\g<0>\1]", "ab a").as_deref(),
            Ok("[bbaba] [aa]")
        );
        assert_eq!(sub("a*", "-", "baac").as_deref(), Ok("-b--c-"));
        assert_eq!(
            sub("a", r"\n\t\\\.\0\101", "a").as_deref(),
            Ok("\n\t\\\\.\0A")
        );
        assert!(sub("a", r"\q", "").is_err() && sub("a", r"\1", "").is_err());
        assert!(sub("a", "\\", "").is_err() && sub("a", r"\g<x>", "").is_err());
        assert!(sub("(a)", r"\400", "").is_err());
    }

    #[test]
    fn a_text_grows_so_far_and_no_further() {
        let text = "a".repeat(10_000);
        assert!(
            sub("a", &"b".repeat(100), &text)
                .expect_err("too long")
                .contains("Growth")
        );
    }
}
