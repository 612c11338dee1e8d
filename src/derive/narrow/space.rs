//! The white space that stands in a delimiter, before it and behind it, in all of its places.

use super::places::{Follows, Place};
use crate::derive::compare::pattern::{SPACE, walk};
use crate::derive::compare::text::{common_prefix, common_suffix, escape, leading};
use crate::pattern::Pattern;

/// The white space that stands before the delimiter in every place: the longest that all have.
pub(super) fn before(places: &[Place<'_>]) -> String {
    let all = places.iter().map(|place| {
        let text = &place.response[..place.span.start];
        &text[text.trim_end().len()..]
    });
    let common = all.reduce(|a, b| &a[a.len() - common_suffix(a, b)..]);
    common.unwrap_or_default().to_owned()
}

/// The white space that stands behind the delimiter in every place but those where the response ends: the longest that all have. Where the
/// delimiter's pattern ends with any white space, it is a part of the delimiter.
pub(super) fn behind(source: &str, places: &[Place<'_>]) -> String {
    let all = places
        .iter()
        .filter(|place| place.follows != Follows::End)
        .map(|place| {
            let own = &place.response[place.span.clone()];
            let start = match source.ends_with(SPACE) {
                true => place.span.start + own.trim_end().len(),
                false => place.span.end,
            };
            leading(&place.response[start..])
        });
    let common = all.reduce(|a, b| &a[..common_prefix(a, b)]);
    common.unwrap_or_default().to_owned()
}

/// Returns the pattern with the very white space that stands in it in every place; `None` where nothing would be different.
pub(super) fn exact(source: &str, places: &[Place<'_>]) -> Option<String> {
    let marked = Marked::of(source)?;
    let mut seen = marked.unseen();
    for place in places {
        let found = marked.pattern.search(place.response, place.span.start);
        let found = found.ok()?.filter(|found| found.span == place.span)?;
        marked.see(&found, place.response, &mut seen);
    }
    marked.with(&seen)
}

/// Returns the pattern of tags with the very white space that stands in it in all tags of these texts; `None` where nothing would be
/// different.
pub(super) fn exact_in_tag(tag: &str, bodies: &[&str]) -> Option<String> {
    let marked = Marked::of(tag)?;
    let mut seen = marked.unseen();
    for body in bodies {
        for found in marked.pattern.find_iter(body) {
            marked.see(&found.ok()?, body, &mut seen);
        }
    }
    marked.with(&seen)
}

/// A pattern in which each part that takes any white space is a group of its own.
struct Marked<'p> {
    source: &'p str,
    pattern: Pattern,
    /// The bytes at which those parts begin.
    parts: Vec<usize>,
}

/// The white space that a part took, as far as it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Nothing,
    One(String),
    Several,
}

impl<'p> Marked<'p> {
    /// The pattern with its parts marked; `None` where it has none, or where groups are counted in it, which others would displace.
    fn of(source: &'p str) -> Option<Self> {
        let mut parts = Vec::new();
        walk(source, |at, depth| {
            if source[at..].starts_with(SPACE) && depth.looking == 0 {
                parts.push(at);
            }
        });
        if parts.is_empty() || source.contains("\\1") {
            return None;
        }
        let mut marked = String::new();
        let mut last = 0;
        for (number, at) in parts.iter().enumerate() {
            marked.push_str(&source[last..*at]);
            marked.push_str(&format!("(?P<{}>{SPACE})", name(number)));
            last = at + SPACE.len();
        }
        marked.push_str(&source[last..]);
        Some(Self {
            source,
            pattern: Pattern::regex(&marked).ok()?,
            parts,
        })
    }

    fn unseen(&self) -> Vec<Seen> {
        vec![Seen::Nothing; self.parts.len()]
    }

    fn see(&self, found: &crate::pattern::Captures, text: &str, seen: &mut [Seen]) {
        for (number, seen) in seen.iter_mut().enumerate() {
            let Some(span) = found.group(&name(number)) else {
                continue;
            };
            let space = &text[span];
            *seen = match std::mem::replace(seen, Seen::Several) {
                Seen::Nothing => Seen::One(space.to_owned()),
                Seen::One(known) if known == space => Seen::One(known),
                _ => Seen::Several,
            };
        }
    }

    /// The pattern with what was seen in the place of each part of which one text was; `None` where there is none.
    fn with(&self, seen: &[Seen]) -> Option<String> {
        let mut written = String::new();
        let mut last = 0;
        for (at, seen) in self.parts.iter().zip(seen) {
            written.push_str(&self.source[last..*at]);
            match seen {
                Seen::One(space) => written.push_str(&escape(space)),
                Seen::Nothing | Seen::Several => written.push_str(SPACE),
            }
            last = at + SPACE.len();
        }
        written.push_str(&self.source[last..]);
        (written != self.source).then_some(written)
    }
}

/// The name of the group of a part.
fn name(number: usize) -> String {
    format!("space{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_found_outside_of_classes_and_of_what_looks_around() {
        let marked = Marked::of("a\\s*[\\s*](?=\\s*)(?:\\s*b)?\\\\s*").unwrap();
        assert_eq!(marked.parts, [1, 19]);
        assert!(Marked::of("(?<=\\s*)a").is_none());
        assert!(Marked::of("(a)\\s*\\1").is_none());
    }

    #[test]
    fn what_is_always_the_same_is_written() {
        let bodies = ["--a  1 --b  2", "--c  3"];
        let exact = exact_in_tag("--(?P<key>\\w)\\s*(?P<value>\\d)\\s*", &bodies);
        assert_eq!(exact.as_deref(), Some("--(?P<key>\\w)  (?P<value>\\d)\\s*"));
        assert_eq!(exact_in_tag("(?P<key>\\w)\\s*", &["a ", "b"]), None);
    }
}
