//! A pattern taken apart into parts, if each of them is decided by the text.

use regex_syntax::hir::ClassUnicode;

use crate::pattern::syntax::ast::{Assert, Node, Repeat, RepeatKind};
use crate::pattern::syntax::class;

/// A step before the literals are put together.
pub(super) enum Part {
    Char(char),
    /// One of these, of which none begins with another.
    OneOf(Vec<String>),
    /// The first of these alternatives that matches, or none of them where it is optional.
    Choice {
        alternatives: Vec<Vec<Part>>,
        optional: bool,
    },
    Run {
        class: ClassUnicode,
        min: u32,
        max: u32,
        lazy: bool,
    },
    /// A character of `first`, and after it, if there is more, characters of `inner` of which the last is one of `last`: a name that has
    /// white space inside it, but not at its ends.
    Trimmed {
        first: ClassUnicode,
        inner: ClassUnicode,
        last: ClassUnicode,
    },
    /// The least number of any characters.
    Any,
    /// The end of the text.
    End,
    Ahead(String),
    /// The end of the match. The parts behind it have to follow, and are not taken.
    MatchEnd,
    Open(usize),
    Close(usize),
}

/// How many choices a sequence may have: they are looked at together.
const MAX_CHOICES: usize = 8;

/// How many repetitions of a part are taken apart as copies of it.
const MAX_COPIES: u32 = 3;

/// The parts of a pattern; `None` where something in it leaves a choice that the text does not decide. `names` are the named
/// groups with their numbers.
pub(super) fn take_apart(node: &Node, names: &[(String, usize)]) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    match look_at_end(node, names) {
        Some((before, ahead)) => {
            for node in before {
                add_parts(node, names, &mut parts)?;
            }
            parts.push(Part::MatchEnd);
            parts.extend(ahead);
        }
        None => add_parts(node, names, &mut parts)?,
    }
    let decided =
        choices(&parts) <= MAX_CHOICES && decides(&parts.iter().collect::<Vec<_>>(), parts.len());
    decided.then_some(parts)
}

/// The nodes before the look-ahead that a pattern ends with, and the parts that are looked for; `None` where it ends with something else, and where
/// they may stand anywhere behind, for which there is `Part::Ahead`.
fn look_at_end<'n>(node: &'n Node, names: &[(String, usize)]) -> Option<(&'n [Node], Vec<Part>)> {
    let Node::Concat(nodes) = node else {
        return None;
    };
    let (Node::Look(look), before) = nodes.split_last()? else {
        return None;
    };
    if look.behind || look.negative || has_names(&look.node, names) {
        return None;
    }
    let mut ahead = Vec::new();
    add_parts(&look.node, &[], &mut ahead)?;
    shorten(&mut ahead);
    (!matches!(ahead.first(), Some(Part::Any))).then_some((before, ahead))
}

/// Takes off the end of parts that are only looked for what they hold without: once the rest is there, nothing more is waited for.
fn shorten(parts: &mut Vec<Part>) {
    while parts.last().is_some_and(Part::may_be_empty) {
        parts.pop();
    }
    match parts.last_mut() {
        Some(Part::Run { min, max, .. }) => *max = *min,
        Some(Part::Choice { alternatives, .. }) => alternatives.iter_mut().for_each(shorten),
        _ => {}
    }
}

fn choices(parts: &[Part]) -> usize {
    let of_part = |part: &Part| match part {
        Part::Choice { alternatives, .. } => {
            1 + alternatives
                .iter()
                .map(|alternative| choices(alternative))
                .sum::<usize>()
        }
        _ => 0,
    };
    parts.iter().map(of_part).sum()
}

/// How many marks of groups the parts begin with.
pub(super) fn marks(parts: &[Part]) -> usize {
    parts.iter().take_while(|part| part.is_mark()).count()
}

impl Part {
    pub(super) fn is_mark(&self) -> bool {
        matches!(self, Self::Open(_) | Self::Close(_))
    }

    /// Returns true if it may match nothing.
    fn may_be_empty(&self) -> bool {
        match self {
            Self::Run { min, .. } => *min == 0,
            Self::Choice { optional, .. } => *optional,
            other => other.is_mark(),
        }
    }
}

fn add_parts(node: &Node, names: &[(String, usize)], parts: &mut Vec<Part>) -> Option<()> {
    match node {
        Node::Empty => {}
        Node::Char(value) => parts.push(Part::Char(*value)),
        Node::Class(class) => parts.push(run(class, 1, Some(1), false)),
        Node::Concat(nodes) => {
            let mut rest = nodes.as_slice();
            while let [node, after @ ..] = rest {
                let trimmed = after.first().and_then(|next| trimmed(node, next));
                rest = if trimmed.is_some() {
                    &after[1..]
                } else {
                    after
                };
                match trimmed {
                    Some(part) => parts.push(part),
                    None => add_parts(node, names, parts)?,
                }
            }
        }
        Node::Assert(Assert::End) => parts.push(Part::End),
        // `$` also holds before a final line feed. A greedy run that takes line feeds has taken that one already, so that only the end of
        // the text is left.
        Node::Assert(Assert::EndOrFinalNewline) => match parts.last() {
            Some(Part::Run {
                class,
                max: u32::MAX,
                lazy: false,
                ..
            }) if class::contains(class, '\n') => parts.push(Part::End),
            _ => return None,
        },
        Node::Alternation(alternatives) => parts.push(alternation(alternatives, names)?),
        Node::Repeat(repeat) if is_copied(repeat) => {
            let copies = |many: u32| -> Option<Vec<Part>> {
                let mut all = Vec::new();
                for _ in 0..many {
                    all.extend(alternative(&repeat.node, names)?);
                }
                Some(all)
            };
            parts.extend(copies(repeat.min)?);
            let spare = repeat.max.unwrap_or_default() - repeat.min;
            let alternatives: Option<Vec<_>> = (1..=spare).rev().map(copies).collect();
            let mut alternatives = alternatives?;
            // Of one of several that may be missing the several are the alternatives.
            if let [one] = alternatives.as_mut_slice()
                && let [
                    Part::Choice {
                        alternatives: several,
                        optional: false,
                    },
                ] = one.as_mut_slice()
            {
                alternatives = std::mem::take(several);
            }
            parts.push(Part::Choice {
                alternatives,
                optional: true,
            });
        }
        Node::Repeat(repeat) => {
            let class = match &repeat.node {
                Node::Char(value) => class::single(*value),
                Node::Class(class) => class.clone(),
                _ => return None,
            };
            let lazy = repeat.kind == RepeatKind::Lazy;
            let any = lazy && repeat.min == 0 && repeat.max.is_none() && is_any(&class);
            parts.push(if any {
                Part::Any
            } else {
                run(&class, repeat.min, repeat.max, lazy)
            });
        }
        Node::Group(number, node) => {
            let Some(group) = names.iter().position(|(_, named)| named == number) else {
                return add_parts(node, names, parts);
            };
            parts.push(Part::Open(group));
            add_parts(node, names, parts)?;
            parts.push(Part::Close(group));
        }
        Node::Look(look) if !look.behind && !look.negative => {
            let mut inner = Vec::new();
            add_parts(&look.node, &[], &mut inner)?;
            let [Part::Any, rest @ ..] = inner.as_slice() else {
                return None;
            };
            let (literal, length) = literal(rest);
            // Groups in there would have to be set.
            if literal.is_empty() || length < rest.len() || has_names(&look.node, names) {
                return None;
            }
            parts.push(Part::Ahead(literal));
        }
        _ => return None,
    }
    Some(())
}

/// Returns true if a repetition is taken apart as copies: so many as have to be there, and as many of the others as there are, the most of them
/// first. What may be missing is such a one.
fn is_copied(repeat: &Repeat) -> bool {
    let is_one = matches!(repeat.node, Node::Char(_) | Node::Class(_));
    let is_taken = match repeat.max {
        Some(1) => repeat.kind != RepeatKind::Lazy,
        _ => repeat.kind == RepeatKind::Greedy,
    };
    let is_few = |max| max <= MAX_COPIES && max > repeat.min;
    !is_one && is_taken && repeat.max.is_some_and(is_few)
}

/// `first(?:inner*last)?`, taken greedily, where what is last is one of the inner ones.
fn trimmed(first: &Node, rest: &Node) -> Option<Part> {
    let (Node::Class(first), Node::Repeat(rest)) = (first, rest) else {
        return None;
    };
    let (0, Some(1), RepeatKind::Greedy, Node::Concat(rest)) =
        (rest.min, rest.max, rest.kind, &rest.node)
    else {
        return None;
    };
    let [Node::Repeat(inner), Node::Class(last)] = rest.as_slice() else {
        return None;
    };
    let (0, None, RepeatKind::Greedy, Node::Class(inner)) =
        (inner.min, inner.max, inner.kind, &inner.node)
    else {
        return None;
    };
    let mut both = last.clone();
    both.intersect(inner);
    (both == *last).then(|| Part::Trimmed {
        first: first.clone(),
        inner: inner.clone(),
        last: last.clone(),
    })
}

fn alternation(nodes: &[Node], names: &[(String, usize)]) -> Option<Part> {
    let alternatives = nodes.iter().map(|node| alternative(node, names));
    let alternatives: Vec<Vec<Part>> = alternatives.collect::<Option<_>>()?;
    let literals: Option<Vec<String>> = alternatives
        .iter()
        .map(|alternative| as_literal(alternative))
        .collect();
    let literals = literals.filter(|literals| {
        literals.iter().enumerate().all(|(at, text)| {
            let mut others = literals[..at].iter().chain(&literals[at + 1..]);
            !others.any(|other| text.starts_with(other.as_str()))
        })
    });
    Some(match literals {
        Some(literals) => Part::OneOf(literals),
        None => Part::Choice {
            alternatives,
            optional: false,
        },
    })
}

/// The parts of one alternative of a choice, or `None` for a node that cannot be left for another alternative: one with groups, which would have to
/// be forgotten, or one that can match nothing.
fn alternative(node: &Node, names: &[(String, usize)]) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    add_parts(node, names, &mut parts)?;
    let stays = |part: &Part| {
        part.is_mark() || matches!(part, Part::Any | Part::Ahead(_) | Part::Trimmed { .. })
    };
    (!parts.iter().any(stays) && !parts.iter().all(Part::may_be_empty)).then_some(parts)
}

/// The text that is all that the parts match; `None` where there is more.
fn as_literal(parts: &[Part]) -> Option<String> {
    let (text, length) = literal(parts);
    (length == parts.len()).then_some(text)
}

fn has_names(node: &Node, names: &[(String, usize)]) -> bool {
    matches!(node, Node::Group(number, _) if names.iter().any(|(_, named)| named == number))
        || node
            .children()
            .into_iter()
            .any(|node| has_names(node, names))
}

fn run(class: &ClassUnicode, min: u32, max: Option<u32>, lazy: bool) -> Part {
    Part::Run {
        class: class.clone(),
        min,
        max: max.unwrap_or(u32::MAX),
        lazy,
    }
}

fn is_any(class: &ClassUnicode) -> bool {
    let mut none = class.clone();
    none.negate();
    none.ranges().is_empty()
}

/// Returns true if the end of each of the first `count` parts is decided by the text: a run ends before what the next step begins with,
/// anything ends at a literal, and nothing comes after a look ahead. Of the alternatives of a choice the first that matches is taken;
/// should what follows fail, the engine takes over.
fn decides(parts: &[&Part], count: usize) -> bool {
    parts[..count].iter().enumerate().all(|(at, part)| {
        let rest = &parts[at + 1..];
        match part {
            Part::Run { class, lazy, .. } => ends(class, *lazy, rest),
            // The inner characters end before one that none of them is, and it must follow directly.
            Part::Trimmed { inner, .. } => {
                let next = rest.iter().find(|part| !part.is_mark());
                matches!(next, Some(Part::Char(value)) if !class::contains(inner, *value))
            }
            Part::Choice { alternatives, .. } => alternatives
                .iter()
                .all(|alternative| decides(&with(alternative, rest), alternative.len())),
            Part::Any => {
                let mut rest = rest.iter().filter(|part| !part.is_mark());
                match rest.next() {
                    Some(Part::Char(_)) => true,
                    Some(Part::Run { .. }) => matches!(rest.next(), Some(Part::Char(_))),
                    _ => false,
                }
            }
            Part::Ahead(_) => rest.iter().all(|part| matches!(part, Part::Close(_))),
            Part::Char(_) | Part::OneOf(_) | Part::End | Part::MatchEnd => true,
            Part::Open(_) | Part::Close(_) => true,
        }
    })
}

fn with<'p>(alternative: &'p [Part], rest: &[&'p Part]) -> Vec<&'p Part> {
    alternative.iter().chain(rest.iter().copied()).collect()
}

/// Returns true if a run of the class ends at the same place whatever follows. It does if no character of the class can begin what follows,
/// or if the run takes its characters first and nothing behind it can need them.
fn ends(class: &ClassUnicode, lazy: bool, rest: &[&Part]) -> bool {
    let nothing = |rest: &[&Part]| rest.iter().all(|part| part.may_be_empty());
    let any_more = |part: &&&Part| {
        matches!(
            part,
            Part::Run {
                min: 0,
                max: u32::MAX,
                ..
            }
        )
    };
    let behind = &rest[rest.iter().take_while(any_more).count()..];
    let reaches_end = matches!(behind, [Part::End, behind @ ..] if nothing(behind));
    if reaches_end || nothing(rest) {
        return !lazy;
    }
    let apart = |other: &ClassUnicode| {
        let mut both = class.clone();
        both.intersect(other);
        both.ranges().is_empty()
    };
    for (at, part) in rest.iter().enumerate() {
        match part {
            Part::Char(value) => return !class::contains(class, *value),
            Part::OneOf(literals) => {
                let mut firsts = literals.iter().filter_map(|text| text.chars().next());
                return !firsts.any(|first| class::contains(class, first));
            }
            Part::Choice {
                alternatives,
                optional,
            } => {
                let mut alternatives = alternatives
                    .iter()
                    .map(|alternative| with(alternative, &rest[at + 1..]));
                let ends_before_all = alternatives.all(|rest| ends(class, lazy, &rest));
                if !ends_before_all || !optional {
                    return ends_before_all;
                }
            }
            Part::End => return false,
            Part::Run {
                class: other, min, ..
            } => {
                if !apart(other) {
                    return false;
                }
                if *min > 0 {
                    return true;
                }
            }
            Part::Trimmed { first, .. } => return apart(first),
            // The run takes its characters first. If what follows then fails, the engine takes over.
            Part::Any | Part::Ahead(_) => return !lazy,
            Part::MatchEnd | Part::Open(_) | Part::Close(_) => {}
        }
    }
    !lazy
}

/// The literal that the parts begin with, and how many they are.
pub(super) fn literal(parts: &[Part]) -> (String, usize) {
    let mut text = String::new();
    let mut length = 0;
    for part in parts {
        let Part::Char(value) = part else { break };
        text.push(*value);
        length += 1;
    }
    (text, length)
}
