//! Delimiters that are no part of a longer word, or of a longer run of one character.
//!
//! A delimiter that white space stands beside in all renders is found without that white space too, since models vary it. Then `OVER` is found in
//! `HANOVER`, and `----` in `------`. Where a word goes on, nobody wrote the delimiter: so it is asked to begin and to end where a word, or such a
//! run, does. That asks for less than its white space, and no response that has the white space is lost by it.

use super::places::Place;
use crate::derive::compare::pattern::{
    SPACE, alternatives, either_of, enclosed, optional_beginning, walk,
};
use crate::derive::compare::text::{escape, is_part_of_word};

/// Returns the pattern where what it matches is no part of a longer word or run, as far as that is so in all of these places; `None` where nothing would be
/// different. What the pattern only looks ahead for begins where such a word does.
pub(super) fn whole(source: &str, places: &[Place<'_>]) -> Option<String> {
    let (empty, taken): (Vec<&Place<'_>>, Vec<&Place<'_>>) =
        places.iter().partition(|place| own(place).is_empty());
    let before = Side::of(&taken, Place::begin);
    let behind = Side::of(&taken, Place::end);
    let ahead = Side::of(&empty, Place::ahead);
    let ways = alternatives(source).into_iter();
    let ways = ways.map(|way| match enclosed(&way, "(?=") {
        Some(looked_for) => {
            let ways = alternatives(looked_for).into_iter();
            let ways = ways.map(|way| bounded(&way, ahead, Side::Open));
            format!("(?={})", ways.collect::<Vec<_>>().join("|"))
        }
        None => bounded(&way, before, behind),
    });
    let whole = either_of(ways.collect()).unwrap_or_default();
    (whole != source).then_some(whole)
}

/// A condition on one side of a delimiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Nothing.
    Open,
    /// That a word does not go on there.
    Word,
    /// That a run of this character does not.
    Run(char),
}

/// The end of a delimiter in one of its places.
struct Outer {
    /// Its outermost character, and the one within beside it.
    last: char,
    next: Option<char>,
    /// The character of the response beside it.
    beside: Option<char>,
}

impl Side {
    /// Returns what can be asked for, as `outer` shows a side of a delimiter in all of these places. A delimiter that is nowhere to be seen is taken for a word if it
    /// looks like one. A run has to stand apart everywhere, since a text that ends with its character makes a longer one of it.
    fn of<'c>(places: &[&Place<'c>], outer: fn(&Place<'c>) -> Option<Outer>) -> Self {
        let sides: Option<Vec<Outer>> = places.iter().map(|place| outer(place)).collect();
        let Some(sides) = sides else {
            return Self::Open;
        };
        let mut words = sides.iter();
        if words.all(|side| !is_within_word(side.last, side.beside)) {
            return match sides.first() {
                Some(Outer {
                    last,
                    next: Some(next),
                    ..
                }) if last == next && !is_part_of_word(*last) && is_run(&sides, *last) => {
                    Self::Run(*last)
                }
                _ => Self::Word,
            };
        }
        Self::Open
    }
}

/// Returns true if both are of a word, which then goes on.
fn is_within_word(last: char, beside: Option<char>) -> bool {
    is_part_of_word(last) && beside.is_some_and(is_part_of_word)
}

/// Returns true if a run of this character stands apart in all places.
fn is_run(sides: &[Outer], sign: char) -> bool {
    let is_apart = |beside: Option<char>| beside.is_none_or(char::is_whitespace);
    sides
        .iter()
        .all(|side| side.last == sign && side.next == Some(sign) && is_apart(side.beside))
}

/// The delimiter in a place, without white space around it.
fn own<'c>(place: &Place<'c>) -> &'c str {
    place.response[place.span.clone()].trim()
}

impl Place<'_> {
    fn begin(&self) -> Option<Outer> {
        let own = own(self);
        let start = self.span.start + self.response[self.span.clone()].find(own)?;
        let mut own = own.chars();
        Some(Outer {
            last: own.next()?,
            next: own.next(),
            beside: self.response[..start].chars().next_back(),
        })
    }

    fn end(&self) -> Option<Outer> {
        let own = own(self);
        let stop = self.span.start + self.response[self.span.clone()].find(own)? + own.len();
        let mut own = own.chars().rev();
        Some(Outer {
            last: own.next()?,
            next: own.next(),
            beside: self.response[stop..].chars().next(),
        })
    }

    /// The beginning of what stands behind a delimiter that takes nothing.
    fn ahead(&self) -> Option<Outer> {
        let rest = &self.response[self.span.end..];
        let start = self.response.len() - rest.trim_start().len();
        let mut own = rest.trim_start().chars();
        Some(Outer {
            last: own.next()?,
            next: own.next(),
            beside: self.response[..start].chars().next_back(),
        })
    }
}

/// One of the ways to write a delimiter, with what is asked for before and behind it, where it begins and ends with characters that are written out. What may be
/// missing before those comes first.
fn bounded(way: &str, before: Side, behind: Side) -> String {
    let (spaced, own) = match way.strip_prefix(SPACE) {
        Some(own) => (SPACE, own),
        None => ("", way),
    };
    let (optional, own) = optional_beginning(own);
    let (own, space) = match own.strip_suffix(SPACE) {
        Some(own) => (own, SPACE),
        None => (own, ""),
    };
    if enclosed(own, "(?:").is_some() {
        let ways = alternatives(own).into_iter();
        let ways: Vec<String> = ways.map(|way| bounded(&way, before, behind)).collect();
        return format!("{spaced}{optional}(?:{}){space}", ways.join("|"));
    }
    let mut items = Vec::new();
    walk(own, |at, _| items.push(at));
    let first = literal(&own[..items.get(1).copied().unwrap_or(own.len())]);
    let last = items.last().and_then(|at| literal(&own[*at..]));
    let before = asked(before, first, "(?<!");
    let behind = asked(behind, last, "(?!");
    format!("{spaced}{optional}{before}{own}{behind}{space}")
}

/// The condition for a side on which the pattern has this character.
fn asked(side: Side, character: Option<char>, looks: &str) -> String {
    match (side, character) {
        (Side::Word, Some(c)) if is_part_of_word(c) => "\\b".to_owned(),
        (Side::Run(sign), Some(c)) if c == sign => format!("{looks}{})", escape(&c.to_string())),
        _ => String::new(),
    }
}

/// Returns the character that an item of a pattern is, if it is one.
fn literal(item: &str) -> Option<char> {
    let mut signs = item.chars();
    match (signs.next()?, signs.next(), signs.next()) {
        ('\\', Some(c), None) if !c.is_alphanumeric() => Some(c),
        (c, None, _) if !"()[]{}.*+?|^$".contains(c) => Some(c),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::narrow::places::{Follows, at_texts};

    /// The pattern as whole words, where it stands in these responses at that text.
    fn narrowed(source: &str, places: &[(&'static str, &str)]) -> Option<String> {
        let places = at_texts(places);
        whole(source, &places)
    }

    #[test]
    fn a_word_or_a_run_ends_where_nothing_of_it_goes_on() {
        let found = narrowed("OVER\\s*", &[("so\nOVER\n", "OVER\n"), ("OVER", "OVER")]);
        assert_eq!(found.as_deref(), Some("\\bOVER\\b\\s*"));
        let found = narrowed("\\s*----\\s*", &[("so\n----\nno", "\n----\n")]);
        assert_eq!(found.as_deref(), Some("\\s*(?<!-)----(?!-)\\s*"));
        let found = narrowed("id: \\d+", &[("so\n  id: 5\n", "id: 5")]);
        assert_eq!(
            found.as_deref(),
            Some("\\bid: \\d+"),
            "a number may be longer"
        );
        let found = narrowed("(?:<a>\\s*)?do (?P<name>\\w+)", &[("do it", "do it")]);
        assert_eq!(found.as_deref(), Some("(?:<a>\\s*)?\\bdo (?P<name>\\w+)"));
    }

    #[test]
    fn what_is_looked_for_begins_where_a_word_does() {
        let source = "(?:OVER\\s*|(?=break|<a>))";
        let found = narrowed(source, &[("so\nOVER\n", "OVER\n")]);
        assert_eq!(
            found.as_deref(),
            Some("(?:\\bOVER\\b\\s*|(?=\\bbreak|<a>))")
        );
        let empty = |response: &'static str, start: usize| Place {
            response,
            span: start..start,
            free_from: 0,
            last: "",
            follows: Follows::Text,
        };
        let found = whole(source, &[empty("xbreak", 1)]);
        let expected = "(?:\\bOVER\\b\\s*|(?=break|<a>))";
        assert_eq!(found.as_deref(), Some(expected));
    }

    /// No render shows the last end of a conversation in a response.
    #[test]
    fn one_that_is_nowhere_to_be_seen_is_a_word_if_it_looks_like_one() {
        let found = narrowed("(?:logout|----)\\s*", &[]);
        assert_eq!(found.as_deref(), Some("(?:\\blogout\\b|----)\\s*"));
        let found = narrowed("(?:logout\\s*|----)", &[]);
        assert_eq!(found.as_deref(), Some("(?:\\blogout\\b\\s*|----)"));
    }

    #[test]
    fn one_that_goes_on_somewhere_or_ends_with_another_sign_stays() {
        assert_eq!(
            narrowed("OVER", &[("so\nMOVER", "OVER"), ("OVERT", "OVER")]),
            None
        );
        assert_eq!(narrowed("<a>", &[("so\n<a>\n", "<a>")]), None);
        let found = narrowed("----", &[("so----\n", "----")]);
        assert_eq!(
            found.as_deref(),
            Some("----(?!-)"),
            "a text may end with it"
        );
        let found = narrowed("OVER", &[("so\nOVER\n", "OVER"), ("OVERT", "OVER")]);
        assert_eq!(found.as_deref(), Some("\\bOVER"));
    }
}
