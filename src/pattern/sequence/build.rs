//! From the tree to a sequence.

use memchr::memmem::Finder;
use regex_syntax::hir::ClassUnicode;

use crate::pattern::bytes::ByteSet;
use crate::pattern::syntax::ast::{Node, RepeatKind};
use crate::pattern::syntax::class;
use crate::pattern::text::CharSet;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Sequence {
    pub(super) steps: Vec<Step>,
    /// The number of the literal step that a search looks for: the first, or the second after a run.
    pub(super) anchor: Option<usize>,
    /// How many named groups there are.
    pub(super) groups: usize,
}

#[derive(Debug)]
pub(super) enum Step {
    Literal(Finder<'static>),
    /// Characters of the set, as many as there are up to `max`.
    Run {
        set: CharSet,
        min: u32,
        max: u32,
    },
    /// Anything up to the first place where what follows matches: `pad` and then the literal, which are steps of
    /// their own.
    Until {
        pad: Option<Pad>,
        literal: Finder<'static>,
    },
    /// Whether the literal comes at all, without reading up to it.
    Ahead(Finder<'static>),
    /// The group of this number, in the order of the named groups, begins or ends.
    Open(usize),
    Close(usize),
}

/// The run between an `Until` and its literal.
#[derive(Debug, Clone)]
pub(super) struct Pad {
    pub(super) set: CharSet,
    pub(super) min: u32,
    pub(super) max: u32,
}

/// A limited run in front of the first literal may have so many characters: they are read again for each chunk.
const LEADING_CHARS: u32 = 16;

/// A step before the literals are put together.
enum Part {
    Char(char),
    Run {
        class: ClassUnicode,
        min: u32,
        max: u32,
        lazy: bool,
    },
    /// The least number of any characters.
    Any,
    Ahead(String),
    Open(usize),
    Close(usize),
}

impl Sequence {
    /// One string.
    pub(crate) fn literal(text: &str) -> Self {
        Self {
            steps: vec![Step::Literal(Finder::new(text).into_owned())],
            anchor: Some(0),
            groups: 0,
        }
    }

    /// `None` for a pattern that is not one. `names` are the named groups with their numbers.
    pub(crate) fn new(node: &Node, names: &[(String, usize)]) -> Option<Self> {
        let mut parts = Vec::new();
        take_apart(node, names, &mut parts)?;
        if !decides(&parts) {
            return None;
        }
        let steps = steps(&parts);
        let mut at = steps
            .iter()
            .enumerate()
            .filter(|(_, step)| !matches!(step, Step::Open(_)));
        let anchor = match at.next()? {
            (first, Step::Literal(_)) => Some(first),
            (_, Step::Run { min, max, .. })
                if *min <= 1 && (*max == u32::MAX || *max <= LEADING_CHARS) =>
            {
                match at.find(|(_, step)| !matches!(step, Step::Close(_)))? {
                    (second, Step::Literal(_)) => Some(second),
                    _ => return None,
                }
            }
            (_, Step::Ahead(_)) => None,
            _ => return None,
        };
        Some(Self {
            steps,
            anchor,
            groups: names.len(),
        })
    }

    /// The bytes that a match can begin with; `None` where they are not known.
    pub(crate) fn first_bytes(&self) -> Option<ByteSet> {
        let mut starts = ByteSet::default();
        for step in &self.steps {
            match step {
                Step::Literal(finder) => {
                    starts.add(*finder.needle().first()?);
                    return Some(starts);
                }
                Step::Run { set, min, .. } => {
                    for byte in 0..=255u8 {
                        // What is not ASCII may begin with any byte that is not.
                        if !byte.is_ascii() || set.contains(char::from(byte)) {
                            starts.add(byte);
                        }
                    }
                    if *min > 0 {
                        return Some(starts);
                    }
                }
                Step::Until { .. } | Step::Ahead(_) => return None,
                Step::Open(_) | Step::Close(_) => {}
            }
        }
        None
    }
}

fn take_apart(node: &Node, names: &[(String, usize)], parts: &mut Vec<Part>) -> Option<()> {
    match node {
        Node::Empty => {}
        Node::Char(value) => parts.push(Part::Char(*value)),
        Node::Class(class) => parts.push(run(class, 1, Some(1), false)),
        Node::Concat(nodes) => {
            for node in nodes {
                take_apart(node, names, parts)?;
            }
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
                return take_apart(node, names, parts);
            };
            parts.push(Part::Open(group));
            take_apart(node, names, parts)?;
            parts.push(Part::Close(group));
        }
        Node::Look(look) if !look.behind && !look.negative => {
            let mut inner = Vec::new();
            take_apart(&look.node, &[], &mut inner)?;
            let mut inner = inner.into_iter();
            let Some(Part::Any) = inner.next() else {
                return None;
            };
            let literal = inner.map(|part| match part {
                Part::Char(value) => Some(value),
                _ => None,
            });
            let literal: String = literal.collect::<Option<_>>()?;
            // Groups in there would have to be set.
            if literal.is_empty() || has_names(&look.node, names) {
                return None;
            }
            parts.push(Part::Ahead(literal));
        }
        _ => return None,
    }
    Some(())
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

/// Whether each step's end is decided by the text: a run ends before what the next step begins with, anything ends at a
/// literal, and nothing comes after a look ahead.
fn decides(parts: &[Part]) -> bool {
    parts.iter().enumerate().all(|(at, part)| {
        let rest = &parts[at + 1..];
        match part {
            Part::Char(_) | Part::Open(_) | Part::Close(_) => true,
            Part::Run { class, lazy, .. } => ends(class, *lazy, rest),
            Part::Any => {
                let mut rest = rest
                    .iter()
                    .filter(|part| !matches!(part, Part::Open(_) | Part::Close(_)));
                match rest.next() {
                    Some(Part::Char(_)) => true,
                    Some(Part::Run { .. }) => matches!(rest.next(), Some(Part::Char(_))),
                    _ => false,
                }
            }
            Part::Ahead(_) => rest.iter().all(|part| matches!(part, Part::Close(_))),
        }
    })
}

/// Whether no character of the class can begin what follows.
fn ends(class: &ClassUnicode, lazy: bool, rest: &[Part]) -> bool {
    let apart = |other: &ClassUnicode| {
        let mut both = class.clone();
        both.intersect(other);
        both.ranges().is_empty()
    };
    for part in rest {
        match part {
            Part::Char(value) => return !class::contains(class, *value),
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
            // The run comes first in taking; should what follows fail, the engine takes over.
            Part::Any | Part::Ahead(_) => return !lazy,
            Part::Open(_) | Part::Close(_) => {}
        }
    }
    !lazy
}

fn steps(parts: &[Part]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = 0;
    while let Some(part) = parts.get(at) {
        at += 1;
        steps.push(match part {
            Part::Char(_) => {
                let (literal, length) = literal(&parts[at - 1..]);
                at += length - 1;
                Step::Literal(literal)
            }
            Part::Run {
                class, min, max, ..
            } => Step::Run {
                set: CharSet::new(class),
                min: *min,
                max: *max,
            },
            Part::Any => {
                let plain = |part: &&Part| !matches!(part, Part::Open(_) | Part::Close(_));
                let mut pad = None;
                let mut next = at + parts[at..].iter().take_while(|part| !plain(part)).count();
                if let Some(Part::Run {
                    class, min, max, ..
                }) = parts.get(next)
                {
                    pad = Some(Pad {
                        set: CharSet::new(class),
                        min: *min,
                        max: *max,
                    });
                    next += 1;
                    next += parts[next..].iter().take_while(|part| !plain(part)).count();
                }
                let (literal, _) = literal(&parts[next..]);
                Step::Until { pad, literal }
            }
            Part::Ahead(text) => Step::Ahead(Finder::new(text).into_owned()),
            Part::Open(group) => Step::Open(*group),
            Part::Close(group) => Step::Close(*group),
        });
    }
    steps
}

/// The literal that the parts begin with, and how many they are.
fn literal(parts: &[Part]) -> (Finder<'static>, usize) {
    let mut text = String::new();
    let mut length = 0;
    for part in parts {
        let Part::Char(value) = part else { break };
        text.push(*value);
        length += 1;
    }
    (Finder::new(&text).into_owned(), length)
}

#[cfg(test)]
mod tests {
    use super::Sequence;
    use crate::pattern::syntax::parse;

    fn is_sequence(source: &str) -> bool {
        let parsed = parse(source).expect("a pattern");
        Sequence::new(&parsed.node, &parsed.names).is_some()
    }

    #[test]
    fn delimiters_are_sequences() {
        for source in [
            r"<\|im_end\|>\s*",
            r"\s*</think>\s*",
            r"<tool_call>\s*<function=(?P<name>[^\s>]+)>\s*",
            r"<parameter=(?P<key>[^>]+)>\n?(?P<value>.*?)\n?</parameter>",
            r"<think>(?=[\s\S]*?</think>)",
            r"(?=[\s\S]*?</think>)",
            r"\[(?P<n>\d{1,3}+)\]",
        ] {
            assert!(is_sequence(source), "{source}");
        }
    }

    #[test]
    fn what_leaves_a_choice_is_none() {
        for source in [
            "a|b",
            "a.*b",
            r"<\w+e>",
            r"<\s*?",
            "(?:ab)*c",
            "a(?=b)",
            "a(?!.*?b)",
            "a.*?",
            r"\w+",
            "^a",
            "a(?=.*?(?P<x>b))",
            "a(?=.*?b)c",
        ] {
            assert!(!is_sequence(source), "{source}");
        }
    }
}
