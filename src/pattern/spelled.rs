//! How a text spells a pattern: to which part of the pattern each part of a matching text is owed, and how matching texts begin.
//!
//! A program that writes what a pattern reads has to know which characters are fixed and which may be others. Of `call:\s*(?P<name>\w+)`,
//! in the text `call: add`, the word and the colon are fixed, the blank is white space that may be none, and `add` is one of many names. A
//! text is attributed by backtracking over the pattern's tree. That the text matches, and where, is known: look-around and anchors are
//! taken to hold.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::Pattern;
use super::syntax::ast::{Assert, Node, Repeat, RepeatKind};
use super::syntax::class;

/// A stretch of a text and the part of the pattern that it is owed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spelled {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) part: Part,
    /// The named groups that it stands in, the outermost first.
    pub(crate) groups: Vec<String>,
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Characters that could be no others.
    Fixed,
    /// White space that could be other white space.
    Space,
    /// Characters of a class, so many.
    Run {
        class: ClassUnicode,
        min: u32,
        max: Option<u32>,
    },
    /// The text that the group of that number has matched, once more.
    Again(usize),
}

/// A part of what a match begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sought {
    Text(String),
    Space,
    /// Characters of a class, at least so many.
    Run(ClassUnicode, u32),
}

/// The steps that an attribution may take.
const MAX_STEPS: usize = 200_000;

/// How many repetitions of a part are told one after the other.
const MAX_COPIES: u32 = 8;

/// How many beginnings of matches are told at most.
const MAX_ALTERNATIVES: usize = 64;

/// Tells which part of the pattern each part of a text is owed to that it matches as a whole; `None` where that was not found out.
pub(crate) fn spelled(pattern: &Pattern, text: &str) -> Option<Vec<Spelled>> {
    let parsed = pattern.parsed().ok()?;
    let mut walk = Walk {
        text,
        steps: 0,
        numbers: pattern.group_numbers().collect(),
        names: pattern.group_names().to_vec(),
        found: Vec::new(),
        open: Vec::new(),
        groups: Vec::new(),
    };
    let end = text.len();
    walk.node(&parsed.node, 0, &mut |_, at| at == end)
        .then(|| joined(walk.found))
}

/// Fixed stretches side by side as one.
fn joined(found: Vec<Spelled>) -> Vec<Spelled> {
    let mut all: Vec<Spelled> = Vec::new();
    for next in found {
        match all.last_mut() {
            Some(last)
                if last.part == Part::Fixed
                    && next.part == Part::Fixed
                    && last.groups == next.groups =>
            {
                last.end = next.end;
            }
            _ => all.push(next),
        }
    }
    all
}

struct Walk<'t> {
    text: &'t str,
    steps: usize,
    numbers: Vec<usize>,
    names: Vec<String>,
    found: Vec<Spelled>,
    open: Vec<usize>,
    /// The matches of groups, the latest of them last.
    groups: Vec<(usize, usize, usize)>,
}

type Then<'k, 't> = &'k mut dyn FnMut(&mut Walk<'t>, usize) -> bool;

impl<'t> Walk<'t> {
    fn tell(&mut self, start: usize, end: usize, part: Part) {
        let groups = self.open.iter().filter_map(|number| {
            let index = self.numbers.iter().position(|known| known == number)?;
            self.names.get(index).cloned()
        });
        let groups = groups.collect();
        self.found.push(Spelled {
            start,
            end,
            part,
            groups,
        });
    }

    /// Attributes a stretch of the text to a part and goes on. If that leads nowhere, the stretch is taken back.
    fn with(&mut self, start: usize, end: usize, part: Part, then: Then<'_, 't>) -> bool {
        let before = self.found.len();
        self.tell(start, end, part);
        if then(self, end) {
            return true;
        }
        self.found.truncate(before);
        false
    }

    fn node(&mut self, node: &Node, at: usize, then: Then<'_, 't>) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return false;
        }
        match node {
            Node::Empty | Node::Assert(_) | Node::Look(_) => then(self, at),
            Node::Char(c) => {
                self.text[at..].starts_with(*c)
                    && self.with(at, at + c.len_utf8(), Part::Fixed, then)
            }
            Node::Class(class) => {
                let Some(c) = self.text[at..].chars().next().filter(|c| has(class, *c)) else {
                    return false;
                };
                let part = Part::Run {
                    class: class.clone(),
                    min: 1,
                    max: Some(1),
                };
                self.with(at, at + c.len_utf8(), part, then)
            }
            Node::Concat(nodes) => self.sequence(nodes, at, then),
            Node::Alternation(nodes) => nodes.iter().any(|node| self.node(node, at, then)),
            Node::Atomic(node) => self.node(node, at, then),
            Node::Group(number, node) => {
                let number = *number;
                self.open.push(number);
                let done = self.node(node, at, &mut |walk, end| {
                    walk.open.pop();
                    walk.groups.push((number, at, end));
                    if then(walk, end) {
                        return true;
                    }
                    walk.groups.pop();
                    walk.open.push(number);
                    false
                });
                if !done {
                    self.open.pop();
                }
                done
            }
            Node::Backreference { group, .. } => {
                let matched = self
                    .groups
                    .iter()
                    .rev()
                    .find(|(number, ..)| number == group);
                let Some(text) = matched.map(|(_, start, end)| &self.text[*start..*end]) else {
                    return false;
                };
                self.text[at..].starts_with(text)
                    && self.with(at, at + text.len(), Part::Again(*group), then)
            }
            Node::Repeat(repeat) => match single(&repeat.node) {
                Some(class) => self.run(&class, repeat, at, then),
                None => self.repeated(repeat, 0, at, then),
            },
            Node::Conditional(_) => false,
        }
    }

    fn sequence(&mut self, nodes: &[Node], at: usize, then: Then<'_, 't>) -> bool {
        match nodes.split_first() {
            None => then(self, at),
            Some((first, rest)) => self.node(first, at, &mut |walk, at| {
                walk.sequence(rest, at, &mut *then)
            }),
        }
    }

    /// A repetition of one character of a class.
    fn run(
        &mut self,
        class: &ClassUnicode,
        repeat: &Repeat,
        at: usize,
        then: Then<'_, 't>,
    ) -> bool {
        let mut ends = vec![at];
        for c in self.text[at..].chars() {
            let is_full = repeat.max.is_some_and(|max| ends.len() > max as usize);
            if is_full || !has(class, c) {
                break;
            }
            ends.push(ends[ends.len() - 1] + c.len_utf8());
        }
        let Some(mut ends) = ends.get(repeat.min as usize..).map(<[usize]>::to_vec) else {
            return false;
        };
        if repeat.kind != RepeatKind::Lazy {
            ends.reverse();
        }
        let part = match is_space(class) {
            true => Part::Space,
            false => Part::Run {
                class: class.clone(),
                min: repeat.min,
                max: repeat.max,
            },
        };
        ends.into_iter()
            .any(|end| self.with(at, end, part.clone(), then))
    }

    /// Any other repetition.
    fn repeated(&mut self, repeat: &Repeat, done: u32, at: usize, then: Then<'_, 't>) -> bool {
        let may_stop = done >= repeat.min;
        if may_stop && repeat.kind == RepeatKind::Lazy && then(self, at) {
            return true;
        }
        let may_go_on = repeat.max.is_none_or(|max| done < max);
        let went_on = may_go_on
            && self.node(&repeat.node, at, &mut |walk, next| {
                next > at && walk.repeated(repeat, done + 1, next, &mut *then)
            });
        went_on || (may_stop && repeat.kind != RepeatKind::Lazy && then(self, at))
    }
}

pub(super) fn has(class: &ClassUnicode, c: char) -> bool {
    class
        .ranges()
        .iter()
        .any(|range| (range.start()..=range.end()).contains(&c))
}

/// The class of a node that matches one character, whatever it asks of what stands around it.
pub(super) fn single(node: &Node) -> Option<ClassUnicode> {
    match node {
        Node::Char(c) => Some(ClassUnicode::new([ClassUnicodeRange::new(*c, *c)])),
        Node::Class(class) => Some(class.clone()),
        Node::Atomic(node) => single(node),
        Node::Concat(nodes) => {
            let mut takes = nodes.iter().filter(|node| !matches!(node, Node::Look(_)));
            let one = single(takes.next()?)?;
            takes.next().is_none().then_some(one)
        }
        _ => None,
    }
}

/// Returns true if the node takes nothing of the text and asks for something that no text at the place decides: for what is before it, or for the end.
/// A look-ahead for a text is none.
fn is_condition(node: &Node) -> bool {
    let sees_text = match node {
        Node::Look(look) => !look.negative && !look.behind && !asks_for_end(&look.node),
        _ => false,
    };
    node.max_chars() == Some(0) && !node.is_void() && !sees_text
}

/// Returns true if a match must reach the end of the text.
fn asks_for_end(node: &Node) -> bool {
    match node {
        Node::Assert(assert) => matches!(assert, Assert::End | Assert::EndOrFinalNewline),
        Node::Concat(nodes) => nodes.iter().any(asks_for_end),
        Node::Alternation(nodes) => nodes.iter().all(asks_for_end),
        Node::Group(_, node) | Node::Atomic(node) => asks_for_end(node),
        Node::Look(look) => !look.negative && !look.behind && asks_for_end(&look.node),
        Node::Repeat(repeat) => repeat.min > 0 && asks_for_end(&repeat.node),
        _ => false,
    }
}

pub(super) fn is_space(class: &ClassUnicode) -> bool {
    !class.ranges().is_empty()
        && class.ranges().iter().all(|range| {
            (range.start()..=range.end())
                .take(64)
                .all(class::is_python_space)
        })
}

/// Returns the ways in which a match may begin, each as far as it goes on without a choice that is hard to follow. Look-behinds are not
/// asked, so that some of these may begin no match. `None` where a match may be empty, or may begin with nothing but white space.
pub(crate) fn beginnings(pattern: &Pattern) -> Option<Vec<Vec<Sought>>> {
    let parsed = pattern.parsed().ok()?;
    let mut alternatives = vec![(Vec::new(), true)];
    extend(&parsed.node, &mut alternatives);
    let alternatives: Vec<Vec<Sought>> = alternatives
        .into_iter()
        .map(|(alternative, _)| alternative)
        .collect();
    let is_told = |alternative: &Vec<Sought>| alternative.iter().any(|part| *part != Sought::Space);
    alternatives.iter().all(is_told).then_some(alternatives)
}

/// Goes on with each of the alternatives that are not told to their end yet.
fn extend(node: &Node, alternatives: &mut Vec<(Vec<Sought>, bool)>) {
    if alternatives.len() > MAX_ALTERNATIVES {
        return alternatives
            .iter_mut()
            .for_each(|(_, goes_on)| *goes_on = false);
    }
    let each = |alternatives: &mut Vec<(Vec<Sought>, bool)>, part: Sought| {
        for (alternative, _) in alternatives.iter_mut().filter(|(_, goes_on)| *goes_on) {
            match (alternative.last_mut(), &part) {
                (Some(Sought::Text(text)), Sought::Text(more)) => text.push_str(more),
                (Some(Sought::Space), Sought::Space) => {}
                _ => alternative.push(part.clone()),
            }
        }
    };
    match node {
        Node::Empty | Node::Assert(_) => {}
        // A look-behind at the very beginning has no text before it, so that it rules out an empty alternative that goes on.
        Node::Look(look) if look.behind && !look.negative => {
            alternatives.retain(|(alternative, goes_on)| !goes_on || !alternative.is_empty());
        }
        Node::Look(look) if look.negative || look.behind => {}
        Node::Look(look) => extend(&look.node, alternatives),
        Node::Char(c) => each(alternatives, Sought::Text(c.to_string())),
        Node::Class(class) => each(alternatives, Sought::Run(class.clone(), 1)),
        Node::Concat(nodes) => nodes.iter().for_each(|node| extend(node, alternatives)),
        Node::Group(_, node) | Node::Atomic(node) => extend(node, alternatives),
        Node::Alternation(nodes) => {
            let before = std::mem::take(alternatives);
            for node in nodes.iter().filter(|node| !is_condition(node)) {
                let mut with = before.clone();
                extend(node, &mut with);
                for alternative in with {
                    if !alternatives.contains(&alternative) {
                        alternatives.push(alternative);
                    }
                }
            }
        }
        Node::Repeat(repeat) => match single(&repeat.node) {
            Some(class) if is_space(&class) => each(alternatives, Sought::Space),
            Some(class) if repeat.max.is_none() => {
                each(alternatives, Sought::Run(class, repeat.min))
            }
            _ if repeat.max.is_some() => {
                let without = match repeat.min {
                    0 => alternatives.clone(),
                    _ => Vec::new(),
                };
                for _ in 0..repeat.min.clamp(1, MAX_COPIES) {
                    extend(&repeat.node, alternatives);
                }
                // Behind the last that has to be there may stand another, or what follows.
                if repeat.max > Some(1) && repeat.max != Some(repeat.min) {
                    alternatives
                        .iter_mut()
                        .for_each(|(_, goes_on)| *goes_on = false);
                }
                for alternative in without {
                    if !alternatives.contains(&alternative) {
                        alternatives.push(alternative);
                    }
                }
            }
            _ => alternatives
                .iter_mut()
                .for_each(|(_, goes_on)| *goes_on = false),
        },
        Node::Backreference { .. } | Node::Conditional(_) => {
            alternatives
                .iter_mut()
                .for_each(|(_, goes_on)| *goes_on = false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(source: &str, text: &str) -> Vec<String> {
        let pattern = Pattern::regex(source).expect("a pattern");
        let found = spelled(&pattern, text).expect("a spelling");
        let tell = |one: Spelled| {
            let kind = match one.part {
                Part::Fixed => "fixed",
                Part::Space => "space",
                Part::Run { .. } => "run",
                Part::Again(_) => "again",
            };
            format!(
                "{kind} {:?} {}",
                &text[one.start..one.end],
                one.groups.join(".")
            )
        };
        found.into_iter().map(tell).collect()
    }

    #[test]
    fn each_part_of_a_text_is_owed_to_a_part_of_the_pattern() {
        assert_eq!(
            told(
                r"(?:<s>\s*)?<c>(?P<id>f\.\s*(?P<name>[^\s:<]+)\s*:\d+)(?=x)<a>(?P=name)",
                "<c>f.add:12<a>add"
            ),
            [
                "fixed \"<c>\" ",
                "fixed \"f.\" id",
                "space \"\" id",
                "run \"add\" id.name",
                "space \"\" id",
                "fixed \":\" id",
                "run \"12\" id",
                "fixed \"<a>\" ",
                "again \"add\" ",
            ]
        );
        let pattern = Pattern::regex("a(?:b|c)").expect("a pattern");
        assert_eq!(spelled(&pattern, "ad"), None);
    }

    #[test]
    fn a_match_begins_in_one_of_these_ways() {
        let alternatives = |source: &str| {
            let pattern = Pattern::regex(source).expect("a pattern");
            let tell = |part: &Sought| match part {
                Sought::Text(text) => text.clone(),
                Sought::Space => " ".to_owned(),
                Sought::Run(_, min) => format!("+{min}"),
            };
            beginnings(&pattern).map(|alternatives| {
                let alternatives = alternatives
                    .iter()
                    .map(|alternative| alternative.iter().map(tell).collect::<String>());
                alternatives.collect::<Vec<_>>()
            })
        };
        assert_eq!(
            alternatives(r"(?:<s>\s*)?<c>\s*(?P<n>\w+)>"),
            Some(vec!["<s> <c> +1>".to_owned(), "<c> +1>".to_owned()])
        );
        let twice = vec!["<c> ".to_owned()];
        assert_eq!(alternatives(r"(?:<c>\s*){1,2}(?=\{)"), Some(twice));
        let in_section = vec!["<s> ".to_owned(), "<c>".to_owned()];
        assert_eq!(alternatives(r"(?:<s>\s*){0,2}<c>"), Some(in_section));
        let close = r"(?:</t>\s*|(?=<c>(?:(?!</t>).)*</c>))";
        let ends = vec!["</t> ".to_owned(), "<c>+0</c>".to_owned()];
        assert_eq!(alternatives(close), Some(ends));
        // What stands at the end alone ends no text before it.
        let close = r"(?:</t>\s*|(?=<c>(?:(?!</t>).)*</c>\Z))";
        assert_eq!(alternatives(close), Some(vec!["</t> ".to_owned()]));
        let listed = r"(?:<s>\[|(?<=\))\s*,)\w+\((?<=<s>.*)";
        assert_eq!(alternatives(listed), Some(vec!["<s>[+1(".to_owned()]));
        assert_eq!(alternatives(r"\s*"), None);
    }
}
