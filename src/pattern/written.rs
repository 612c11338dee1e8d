//! Texts that a pattern reads, made up from the pattern alone.
//!
//! Who has a pattern and nobody who writes what it reads must make up how that is written. Of `call:\s*(?P<name>\w+)` with `add` as the name
//! that is `call:add`, where white space may stand behind the colon. What may be missing is written and left out, of a choice each
//! alternative is written, of a repetition as few as may be. What matches at the end of a text alone is left out where something else matches.
//! Look-around and other anchors are not asked: the caller has to see
//! whether the pattern reads what was made up.

use regex_syntax::hir::ClassUnicode;

use super::Pattern;
use super::spelled::{has, is_space, single};
use super::syntax::ast::{Assert, Node};

/// A text that was made up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) text: String,
    /// The places at which white space may stand, in their order.
    pub(crate) spaces: Vec<usize>,
}

impl Written {
    /// Makes one of a text in which no other white space may stand.
    pub(crate) fn of(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            spaces: Vec::new(),
        }
    }

    /// Says that white space may stand here.
    pub(crate) fn space(&mut self) {
        if self.spaces.last() != Some(&self.text.len()) {
            self.spaces.push(self.text.len());
        }
    }

    /// Puts another behind it.
    pub(crate) fn push(&mut self, other: &Self) {
        let at = self.text.len();
        self.text.push_str(&other.text);
        for place in &other.spaces {
            if self.spaces.last() != Some(&(at + place)) {
                self.spaces.push(at + place);
            }
        }
    }

    /// The text with something written at each of the places.
    pub(crate) fn filled(&self, space: &str) -> String {
        let mut text = String::new();
        let mut at = 0;
        for place in &self.spaces {
            text.push_str(&self.text[at..*place]);
            text.push_str(space);
            at = *place;
        }
        text + &self.text[at..]
    }
}

/// How many texts are made up of one pattern at most.
const MAX_WRITTEN: usize = 24;

/// Makes up texts that the pattern may read, in which the named groups are these texts. A group within which another is given is made up around it.
pub(crate) fn written(pattern: &Pattern, groups: &[(&str, &str)]) -> Vec<Written> {
    if let Some(literals) = pattern.as_literals() {
        return literals
            .iter()
            .map(|text| Written::of(text.as_str()))
            .collect();
    }
    let Ok(parsed) = pattern.parsed() else {
        return Vec::new();
    };
    let names = pattern.group_numbers().zip(pattern.group_names());
    let given = names.filter_map(|(number, name)| {
        let (_, text) = groups.iter().find(|(known, _)| known == name)?;
        Some((number, (*text).to_owned()))
    });
    let mut maker = Maker {
        given: given.collect(),
        may_end: false,
    };
    let mut made = maker.extend(&parsed.node, vec![Made::default()]);
    if made.is_empty() {
        maker.may_end = true;
        made = maker.extend(&parsed.node, vec![Made::default()]);
    }
    made.into_iter().map(|made| made.written).collect()
}

/// A text that is being made up, and what its groups are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Made {
    written: Written,
    groups: Vec<(usize, String)>,
}

struct Maker {
    given: Vec<(usize, String)>,
    /// True if what matches at the end of a text alone is written, too.
    may_end: bool,
}

impl Maker {
    fn extend(&self, node: &Node, mut all: Vec<Made>) -> Vec<Made> {
        match node {
            Node::Assert(Assert::End | Assert::EndOrFinalNewline | Assert::LineEnd)
                if !self.may_end =>
            {
                return Vec::new();
            }
            Node::Empty | Node::Assert(_) | Node::Look(_) => {}
            Node::Char(c) => all.iter_mut().for_each(|made| made.written.text.push(*c)),
            Node::Class(class) => {
                let Some(c) = usual(class) else {
                    return Vec::new();
                };
                all.iter_mut().for_each(|made| made.written.text.push(c));
            }
            Node::Concat(nodes) => {
                for node in nodes {
                    all = self.extend(node, all);
                }
            }
            Node::Alternation(nodes) => {
                let each = nodes.iter().map(|node| self.extend(node, all.clone()));
                all = few(each.flatten());
            }
            Node::Atomic(node) => all = self.extend(node, all),
            Node::Group(number, node) => {
                if let Some((_, text)) = self.given.iter().find(|(known, _)| known == number) {
                    for made in &mut all {
                        made.written.text.push_str(text);
                        made.groups.push((*number, text.clone()));
                    }
                } else {
                    let begun = all.into_iter().flat_map(|before| {
                        let at = before.written.text.len();
                        let mut made = self.extend(node, vec![before]);
                        for made in &mut made {
                            let text = made.written.text[at..].to_owned();
                            made.groups.push((*number, text));
                        }
                        made
                    });
                    all = few(begun);
                }
            }
            Node::Repeat(repeat) => match single(&repeat.node) {
                Some(class) if is_space(&class) => {
                    for made in &mut all {
                        let least = usize::try_from(repeat.min).unwrap_or(usize::MAX).min(8);
                        made.written.text.push_str(&" ".repeat(least));
                        made.written.space();
                    }
                }
                _ => {
                    let without = (repeat.min == 0 && repeat.max.is_some()).then(|| all.clone());
                    let least = if without.is_some() {
                        1
                    } else {
                        repeat.min.min(64)
                    };
                    for _ in 0..least {
                        all = self.extend(&repeat.node, all);
                    }
                    all = few(all.into_iter().chain(without.into_iter().flatten()));
                }
            },
            Node::Backreference { group, .. } => {
                for made in &mut all {
                    let known = made.groups.iter().rev().find(|(number, _)| number == group);
                    let text = known.map(|(_, text)| text.clone()).unwrap_or_default();
                    made.written.text.push_str(&text);
                }
            }
            Node::Conditional(conditional) => {
                let with = self.extend(&conditional.yes, all.clone());
                all = few(with.into_iter().chain(self.extend(&conditional.no, all)));
            }
        }
        all
    }
}

/// The first of them, each once.
fn few(made: impl Iterator<Item = Made>) -> Vec<Made> {
    let mut all: Vec<Made> = Vec::new();
    for one in made {
        if all.len() < MAX_WRITTEN && !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

/// A character of the class that is as usual as may be.
fn usual(class: &ClassUnicode) -> Option<char> {
    let known = ['a', '1', 'A', '_', ' '].into_iter();
    known
        .chain(class.ranges().first().map(|range| range.start()))
        .find(|c| has(class, *c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str, groups: &[(&str, &str)]) -> Vec<String> {
        let pattern = Pattern::regex(source).expect("a pattern");
        let made = written(&pattern, groups);
        made.iter().map(|made| made.filled("~")).collect()
    }

    #[test]
    fn texts_are_made_up_with_what_may_be_missing_and_without() {
        assert_eq!(
            texts(r"(?:<c>\s*)?<f=(?P<name>[^>]+)>\s*", &[("name", "add")]),
            ["<c>~<f=add>~", "<f=add>~"]
        );
        let id = r"(?P<id>f\.(?P<name>\w+):\d{2})(?=x)<a>(?P=name)";
        assert_eq!(texts(id, &[("name", "add")]), ["f.add:11<a>add"]);
        assert_eq!(texts(r"a(?:b|c+|\Z).*?", &[]), ["ab", "ac"]);
        assert_eq!(texts(r"a\Z", &[]), ["a"]);
    }

    #[test]
    fn what_is_made_up_is_not_endless() {
        let made = texts(&"(?:a|b)".repeat(40), &[]);
        assert_eq!(made.len(), MAX_WRITTEN);
    }
}
