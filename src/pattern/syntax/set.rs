//! Sets such as `[^a-z\d[:alpha:]]`. A bracket within a set is a bracket: version 0 has no sets of sets.

use regex_syntax::hir::ClassUnicode;

use super::ast::Node;
use super::class;
use super::parser::Parser;
use crate::pattern::error::PatternError;

/// A member of a set.
pub(super) enum Member {
    /// A code point; it may be half of a surrogate pair, which no text holds.
    Char(u32),
    Class(ClassUnicode),
}

impl Parser<'_> {
    /// Reads the set behind an opening bracket that has been read.
    pub(super) fn set(&mut self) -> Result<Node, PatternError> {
        let start = self.cursor.at - 1;
        let verbose = std::mem::take(&mut self.cursor.verbose);
        let negative = self.cursor.eat("^");
        let mut ranges = class::none();
        let mut first = true;
        while first || !self.cursor.eat("]") {
            first = false;
            let member_at = self.cursor.at;
            let low = match self.member(start)? {
                Member::Class(class) => {
                    ranges.union(&class);
                    if self.is_re() && self.cursor.eat("-") {
                        if self.cursor.raw_peek() != Some(']') {
                            return Err(self.no_range(member_at));
                        }
                        ranges.union(&class::single('-'));
                    }
                    continue;
                }
                Member::Char(value) => value,
            };
            if !self.cursor.eat("-") {
                ranges.union(&self.points(low, low));
                continue;
            }
            if self.cursor.raw_peek() == Some(']') {
                ranges.union(&self.points(low, low));
                ranges.union(&class::single('-'));
                continue;
            }
            match self.member(start)? {
                Member::Class(_) if self.is_re() => return Err(self.no_range(member_at)),
                Member::Class(class) => {
                    ranges.union(&self.points(low, low));
                    ranges.union(&class::single('-'));
                    ranges.union(&class);
                }
                Member::Char(high) if low > high => {
                    return Err(PatternError::new(
                        "a range runs backwards",
                        member_at..self.cursor.at,
                    ));
                }
                Member::Char(high) => ranges.union(&self.points(low, high)),
            }
        }
        self.cursor.verbose = verbose;
        if negative {
            ranges.negate();
        }
        Ok(Node::Class(ranges))
    }

    /// That a class cannot begin or end a range, as `re` says.
    fn no_range(&self, start: usize) -> PatternError {
        PatternError::new(
            "a class of characters begins or ends a range",
            start..self.cursor.at,
        )
        .with_hint("write `\\-` for the character itself")
    }

    fn member(&mut self, set: usize) -> Result<Member, PatternError> {
        if self.cursor.eat("\\") {
            return self.set_escape();
        }
        if !self.is_re() && self.cursor.eat("[:") {
            let at = self.cursor.at - 2;
            if let Some(class) = self.posix(at)? {
                return Ok(Member::Class(class));
            }
            self.cursor.at = at;
        }
        match self.cursor.raw_next() {
            Some(value) => Ok(Member::Char(u32::from(value))),
            None => Err(
                PatternError::new("the set is not closed", set..self.cursor.at)
                    .with_hint("write `\\[` for the character itself"),
            ),
        }
    }

    /// The characters among the code points from `low` to `high`, in any case where that does not matter.
    fn points(&self, low: u32, high: u32) -> ClassUnicode {
        let mut class = points(low, high);
        if self.flags.ignore_case {
            self.fold(&mut class);
        }
        class
    }

    /// The rest of `[:alpha:]`; `None` where it is not such a class.
    fn posix(&mut self, start: usize) -> Result<Option<ClassUnicode>, PatternError> {
        let negative = self.cursor.eat("^");
        let (property, name) = self.property_name();
        if !self.cursor.eat(":]") {
            return Ok(None);
        }
        let posix = ["alnum", "digit", "punct", "xdigit"].contains(&name.to_lowercase().as_str());
        let name = if posix && property.is_none() {
            format!("posix{name}")
        } else {
            name
        };
        let place = start..self.cursor.at;
        self.lookup(property.as_deref(), &name, (negative, self.ascii), place)
            .map(Some)
    }
}

/// The characters among the code points from `low` to `high`.
fn points(low: u32, high: u32) -> ClassUnicode {
    // Surrogates are code points of Python's strings but not characters.
    let low = char::from_u32(low).or_else(|| char::from_u32(0xE000));
    let high = char::from_u32(high).or_else(|| char::from_u32(0xD7FF));
    match (low, high) {
        (Some(low), Some(high)) if low <= high => class::range(low, high),
        _ => class::none(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Node, class};
    use crate::pattern::syntax::parse;

    /// The ASCII characters of the set.
    fn ascii(source: &str) -> String {
        match parse(source).expect("a pattern").node {
            Node::Class(set) => (' '..='~').filter(|c| class::contains(&set, *c)).collect(),
            node => panic!("{node:?}"),
        }
    }

    #[test]
    fn brackets_and_hyphens_are_themselves_where_they_mean_nothing_else() {
        assert_eq!(ascii("[]a]"), "]a");
        assert_eq!(ascii("[[a]"), "[a");
        assert_eq!(ascii("[a-c-]"), "-abc");
        assert_eq!(ascii(r"[+-\d]"), "+-0123456789");
        assert_eq!(ascii("[&&a]"), "&a");
        assert_eq!(ascii("[[:digit:]x]"), "0123456789x");
        assert_eq!(ascii("[[:digit]"), ":[dgit");
        assert_eq!(ascii("(?x)[a b]"), " ab");
    }

    #[test]
    fn case_is_widened_before_the_set_is_turned_around() {
        assert_eq!(ascii("(?i)[a-c]"), "ABCabc");
        assert!(!ascii("(?i)[^a-c]").contains(['A', 'a']));
    }

    #[test]
    fn halves_of_surrogate_pairs_are_no_characters() {
        assert_eq!(ascii(r"[\ud800-\udfff]"), "");
        assert!(parse(r"[\ud800-\ue000]").is_ok());
    }
}
