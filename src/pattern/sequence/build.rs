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
    /// What a search looks for; `None` where a match may begin anywhere.
    pub(super) anchor: Option<Anchor>,
    /// How many named groups there are.
    pub(super) groups: usize,
}

/// Text that every match has at its beginning.
#[derive(Debug)]
pub(super) struct Anchor {
    pub(super) literal: Finder<'static>,
    /// The run before it, with which the match begins.
    pub(super) lead: Option<Pad>,
}

#[derive(Debug)]
pub(super) enum Step {
    Literal(Finder<'static>),
    /// One of these, of which none begins with another.
    OneOf(Vec<Box<str>>),
    /// The next steps, so many, if they match.
    Maybe(usize),
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

/// The run between an `Until`, or the beginning, and a literal.
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
    OneOf(Vec<String>),
    Maybe(Vec<Part>),
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
            anchor: Some(Anchor::of(text)),
            groups: 0,
        }
    }

    /// `None` for a pattern that is not one. `names` are the named groups with their numbers.
    pub(crate) fn new(node: &Node, names: &[(String, usize)]) -> Option<Self> {
        let mut parts = Vec::new();
        take_apart(node, names, &mut parts)?;
        if !decides(&parts.iter().collect::<Vec<_>>()) {
            return None;
        }
        let anchor = match Anchor::find(&parts) {
            None if !matches!(parts.iter().find(|part| !part.is_mark())?, Part::Ahead(_)) => {
                return None;
            }
            anchor => anchor,
        };
        let mut steps = Vec::new();
        add_steps(&parts, &mut steps);
        Some(Self {
            steps,
            anchor,
            groups: names.len(),
        })
    }

    /// The bytes that a match can begin with; `None` where they are not known.
    pub(crate) fn first_bytes(&self) -> Option<ByteSet> {
        let mut starts = ByteSet::default();
        add_first_bytes(&self.steps, &mut starts).then_some(starts)
    }
}

/// Adds the bytes that a match of the steps can begin with. Says whether these are all, as the steps do not match nothing.
fn add_first_bytes(steps: &[Step], starts: &mut ByteSet) -> bool {
    let mut at = 0;
    while let Some(step) = steps.get(at) {
        at += 1;
        match step {
            Step::Literal(finder) => {
                let first = finder.needle().first();
                first.iter().for_each(|byte| starts.add(**byte));
                return first.is_some();
            }
            Step::OneOf(literals) => {
                let firsts = literals.iter().filter_map(|text| text.bytes().next());
                firsts.for_each(|byte| starts.add(byte));
                return true;
            }
            Step::Maybe(count) => {
                add_first_bytes(&steps[at..at + count], starts);
                at += count;
            }
            Step::Run { set, min, .. } => {
                for byte in 0..=255u8 {
                    // What is not ASCII may begin with any byte that is not.
                    if !byte.is_ascii() || set.contains(char::from(byte)) {
                        starts.add(byte);
                    }
                }
                if *min > 0 {
                    return true;
                }
            }
            Step::Until { .. } | Step::Ahead(_) => return false,
            Step::Open(_) | Step::Close(_) => {}
        }
    }
    false
}

impl Anchor {
    fn of(literal: &str) -> Self {
        Self {
            literal: Finder::new(literal).into_owned(),
            lead: None,
        }
    }

    /// What the parts begin with.
    fn find(parts: &[Part]) -> Option<Self> {
        let mut rest = &parts[marks(parts)..];
        let mut lead = None;
        if let [
            Part::Run {
                class, min, max, ..
            },
            after @ ..,
        ] = rest
        {
            if *min > 1 || (*max != u32::MAX && *max > LEADING_CHARS) {
                return None;
            }
            lead = Some(Pad {
                set: CharSet::new(class),
                min: *min,
                max: *max,
            });
            rest = &after[marks(after)..];
        }
        let literal = beginning(rest);
        (!literal.is_empty()).then(|| Self {
            lead,
            ..Self::of(&literal)
        })
    }
}

/// The text that all matches of the parts begin with.
fn beginning(parts: &[Part]) -> String {
    match parts {
        [Part::Char(_), ..] => literal(parts).0,
        [Part::OneOf(literals), ..] => {
            let all = literals.iter().map(String::as_str);
            all.reduce(common_beginning).unwrap_or_default().to_owned()
        }
        [Part::Maybe(inner), rest @ ..] => {
            common_beginning(&beginning(inner), &beginning(rest)).to_owned()
        }
        _ => String::new(),
    }
}

fn common_beginning<'a>(a: &'a str, b: &str) -> &'a str {
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
    &a[..shared.map(|(c, _)| c.len_utf8()).sum()]
}

/// How many marks of groups the parts begin with.
fn marks(parts: &[Part]) -> usize {
    parts.iter().take_while(|part| part.is_mark()).count()
}

impl Part {
    fn is_mark(&self) -> bool {
        matches!(self, Self::Open(_) | Self::Close(_))
    }

    /// Whether it may match nothing.
    fn may_be_empty(&self) -> bool {
        match self {
            Self::Run { min, .. } => *min == 0,
            Self::Maybe(_) => true,
            other => other.is_mark(),
        }
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
        Node::Alternation(ways) => {
            let literals = ways.iter().map(|way| as_literal(way, names));
            let literals: Vec<String> = literals.collect::<Option<_>>()?;
            let decided = literals.iter().enumerate().all(|(at, text)| {
                let mut others = literals[..at].iter().chain(&literals[at + 1..]);
                !others.any(|other| text.starts_with(other.as_str()))
            });
            if !decided {
                return None;
            }
            parts.push(Part::OneOf(literals));
        }
        Node::Repeat(repeat)
            if (repeat.min, repeat.max) == (0, Some(1))
                && repeat.kind != RepeatKind::Lazy
                && !matches!(repeat.node, Node::Char(_) | Node::Class(_)) =>
        {
            let mut inner = Vec::new();
            take_apart(&repeat.node, names, &mut inner)?;
            let simple =
                |part: &Part| matches!(part, Part::Char(_) | Part::OneOf(_) | Part::Run { .. });
            if !inner.iter().all(simple) || inner.iter().all(Part::may_be_empty) {
                return None;
            }
            parts.push(Part::Maybe(inner));
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

/// The text that is all that the node matches; `None` where there is more, or nothing.
fn as_literal(node: &Node, names: &[(String, usize)]) -> Option<String> {
    let mut parts = Vec::new();
    take_apart(node, names, &mut parts)?;
    let (text, length) = literal(&parts);
    (length > 0 && length == parts.len()).then_some(text)
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
fn decides(parts: &[&Part]) -> bool {
    parts.iter().enumerate().all(|(at, part)| {
        let rest = &parts[at + 1..];
        match part {
            Part::Char(_) | Part::OneOf(_) | Part::Open(_) | Part::Close(_) => true,
            Part::Run { class, lazy, .. } => ends(class, *lazy, rest),
            // What is left out leaves the rest, which is looked at by itself.
            Part::Maybe(inner) => {
                let with: Vec<&Part> = inner.iter().chain(rest.iter().copied()).collect();
                (0..inner.len()).all(|at| match &inner[at] {
                    Part::Run { class, lazy, .. } => ends(class, *lazy, &with[at + 1..]),
                    _ => true,
                })
            }
            Part::Any => {
                let mut rest = rest.iter().filter(|part| !part.is_mark());
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

/// Whether a run of the class ends where it ends whatever follows: no character of the class can begin what does, or it takes
/// first what can be nothing else's need.
fn ends(class: &ClassUnicode, lazy: bool, rest: &[&Part]) -> bool {
    if rest.iter().all(|part| part.may_be_empty()) {
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
            Part::Maybe(inner) => {
                let with: Vec<&Part> = inner.iter().chain(rest[at + 1..].iter().copied()).collect();
                if !ends(class, lazy, &with) {
                    return false;
                }
            }
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

fn add_steps(parts: &[Part], steps: &mut Vec<Step>) {
    let mut at = 0;
    while let Some(part) = parts.get(at) {
        at += 1;
        let step = match part {
            Part::Char(_) => {
                let (text, length) = literal(&parts[at - 1..]);
                at += length - 1;
                Step::Literal(Finder::new(&text).into_owned())
            }
            Part::OneOf(literals) => {
                Step::OneOf(literals.iter().map(|text| text.as_str().into()).collect())
            }
            Part::Maybe(inner) => {
                let place = steps.len();
                steps.push(Step::Maybe(0));
                add_steps(inner, steps);
                steps[place] = Step::Maybe(steps.len() - place - 1);
                continue;
            }
            Part::Run {
                class, min, max, ..
            } => Step::Run {
                set: CharSet::new(class),
                min: *min,
                max: *max,
            },
            Part::Any => {
                let mut pad = None;
                let mut next = at + marks(&parts[at..]);
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
                    next += marks(&parts[next..]);
                }
                let (text, _) = literal(&parts[next..]);
                Step::Until {
                    pad,
                    literal: Finder::new(&text).into_owned(),
                }
            }
            Part::Ahead(text) => Step::Ahead(Finder::new(text).into_owned()),
            Part::Open(group) => Step::Open(*group),
            Part::Close(group) => Step::Close(*group),
        };
        steps.push(step);
    }
}

/// The literal that the parts begin with, and how many they are.
fn literal(parts: &[Part]) -> (String, usize) {
    let mut text = String::new();
    let mut length = 0;
    for part in parts {
        let Part::Char(value) = part else { break };
        text.push(*value);
        length += 1;
    }
    (text, length)
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
            r"</call>\s*(?:</calls>\s*)?",
            r"<\|end\|>\s*(?:</s>)?\s*",
            r"(?:<calls>\s*)?<call>\s*",
            r"<arg type=(?:text|number)>(?P<value>.*?)</arg>",
            r"(?:<end>|<stop>)\s*",
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
            "a(?:b|bc)",
            "a(?:(?P<x>b)|c)",
            r"a\s*(?:\sb)?c",
            r"(?:a\s*)?\sb",
            "a(?:(?P<x>b))?",
            "a(?:b*)?",
            "a(?:bc)??d",
            "a.*?(?:bc)?d",
            "a.*?(?:b|c)",
        ] {
            assert!(!is_sequence(source), "{source}");
        }
    }
}
