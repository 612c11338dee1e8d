//! Python's rules for text: stripping, splitting, padding and telling cases apart.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, ClassUnicode, HirKind};

use super::fault::Fault;
use crate::value::python::{self, is_space};

/// Which ends a `strip` works on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ends {
    Both,
    Start,
    End,
}

pub(super) fn strip<'a>(text: &'a str, chars: Option<&str>, ends: Ends) -> &'a str {
    let matches = |c: char| chars.map_or_else(|| is_space(c), |chars| chars.contains(c));
    match ends {
        Ends::Both => text.trim_matches(matches),
        Ends::Start => text.trim_start_matches(matches),
        Ends::End => text.trim_end_matches(matches),
    }
}

pub(super) fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    first + &chars.as_str().to_lowercase()
}

/// `str.title`: a letter is upper case when none stands before it.
pub(super) fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        if inside {
            out.extend(c.to_lowercase());
        } else {
            out.extend(c.to_uppercase());
        }
        inside = c.is_lowercase() || c.is_uppercase();
    }
    out
}

pub(super) fn splitlines(text: &str, keep_ends: bool) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if !matches!(
            c,
            '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
        ) {
            continue;
        }
        let mut end = at + c.len_utf8();
        if c == '\r' && chars.next_if(|(_, next)| *next == '\n').is_some() {
            end += 1;
        }
        out.push(&text[start..if keep_ends { end } else { at }]);
        start = end;
    }
    if start < text.len() {
        out.push(&text[start..]);
    }
    out
}

pub(super) fn split<'a>(
    text: &'a str,
    separator: Option<&str>,
    limit: i64,
    from_right: bool,
) -> Result<Vec<&'a str>, Fault> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut out = Vec::new();
    match separator {
        Some("") => return Err(Fault::error("`split` needs a separator that is not empty")),
        Some(separator) if from_right => {
            out.extend(text.rsplitn(limit.saturating_add(1), separator));
            out.reverse();
        }
        Some(separator) => out.extend(text.splitn(limit.saturating_add(1), separator)),
        None if from_right => {
            let mut rest = text.trim_end_matches(is_space);
            while !rest.is_empty() && out.len() < limit {
                let at = rest.char_indices().rev().find(|(_, c)| is_space(*c));
                let Some((at, c)) = at else { break };
                out.push(&rest[at + c.len_utf8()..]);
                rest = rest[..at].trim_end_matches(is_space);
            }
            if !rest.is_empty() {
                out.push(rest);
            }
            out.reverse();
        }
        None => {
            let mut rest = text.trim_start_matches(is_space);
            while !rest.is_empty() && out.len() < limit {
                let Some(at) = rest.find(is_space) else { break };
                out.push(&rest[..at]);
                rest = rest[at..].trim_start_matches(is_space);
            }
            if !rest.is_empty() {
                out.push(rest);
            }
        }
    }
    Ok(out)
}

pub(super) fn cased(text: &str, wanted: fn(char) -> bool, unwanted: fn(char) -> bool) -> bool {
    text.chars().any(wanted) && !text.chars().any(unwanted)
}

pub(super) fn is_title(text: &str) -> bool {
    let mut any = false;
    let mut inside = false;
    for c in text.chars() {
        if c.is_uppercase() && inside || c.is_lowercase() && !inside {
            return false;
        }
        inside = c.is_uppercase() || c.is_lowercase();
        any |= inside;
    }
    any
}

/// Returns true if `\w` of Python's `re` matches the character: a letter or a number of any script, or an underscore. The marks that stand
/// on a letter are no part of a word there, unlike in Python's `regex`.
pub(super) fn is_word(c: char) -> bool {
    static WORD: OnceLock<Option<ClassUnicode>> = OnceLock::new();
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    let class = WORD.get_or_init(
        || match regex_syntax::parse(r"[\p{L}\p{N}]").ok()?.into_kind() {
            HirKind::Class(Class::Unicode(class)) => Some(class),
            _ => None,
        },
    );
    class.as_ref().is_some_and(|class| {
        let ranges = class.ranges();
        let next = ranges.partition_point(|range| range.end() < c);
        ranges.get(next).is_some_and(|range| range.start() <= c)
    })
}

/// Returns true for what `\w` matches and `\d` does not.
pub(super) fn is_letter(c: char) -> bool {
    is_word(c) && python::int(c.encode_utf8(&mut [0; 4])).is_none()
}

/// Digits that are not decimal: superscripts, circled ones and the like (Unicode's `Numeric_Type=Digit`).
pub(super) fn is_other_digit(c: char) -> bool {
    matches!(c,
        '²' | '³' | '¹' | '\u{1369}'..='\u{1371}' | '\u{19da}' | '\u{2070}' | '\u{2074}'..='\u{2079}'
        | '\u{2080}'..='\u{2089}' | '\u{2460}'..='\u{2468}' | '\u{2474}'..='\u{247c}' | '\u{2488}'..='\u{2490}'
        | '\u{24ea}' | '\u{24f5}'..='\u{24fd}' | '\u{24ff}' | '\u{2776}'..='\u{277e}' | '\u{2780}'..='\u{2788}'
        | '\u{278a}'..='\u{2792}' | '\u{10a40}'..='\u{10a43}' | '\u{10e60}'..='\u{10e68}'
        | '\u{11052}'..='\u{1105a}' | '\u{1f100}'..='\u{1f10a}')
}

#[cfg(test)]
mod tests {
    use super::{is_letter, is_word, split, splitlines, title};

    #[test]
    fn splitting_is_pythons() {
        let parts = |text, separator, limit, right| {
            split(text, separator, limit, right).expect("a separator")
        };
        assert_eq!(parts("  a b  c ", None, -1, false), ["a", "b", "c"]);
        assert_eq!(parts("  a b  c ", None, 1, false), ["a", "b  c "]);
        assert_eq!(parts("  a b  c ", None, 1, true), ["  a b", "c"]);
        assert_eq!(parts("", None, -1, false), [""; 0]);
        assert_eq!(parts("", Some(","), -1, false), [""]);
        assert_eq!(parts("a,b,c", Some(","), 1, true), ["a,b", "c"]);
        assert!(split("a", Some(""), -1, false).is_err());
        assert_eq!(
            splitlines("a\r\nb\u{2028}c\n", true),
            ["a\r\n", "b\u{2028}", "c\n"]
        );
    }

    #[test]
    fn words_are_pythons() {
        assert!("aé字नⅧ²٣_".chars().all(is_word));
        assert!(!"- \u{93f}\u{301}ⓐ".chars().any(is_word));
        assert!("aé字Ⅷ²_".chars().all(is_letter));
        assert!(!"1٣-".chars().any(is_letter));
    }

    #[test]
    fn titles_are_pythons() {
        assert_eq!(title("they're bill's UK"), "They'Re Bill'S Uk");
    }
}
