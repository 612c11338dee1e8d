//! From the tree to a sequence.
//!
//! A pattern is first taken apart into literals, runs of characters, stretches that last up to a literal, and choices (`parts`). It becomes
//! a sequence only if the text decides each of them where it stands; every other pattern has no sequence and goes to its engine at once.
//! Characters that follow each other become one literal, and each literal gets a finder that is built here, once. One pass over the tree.

use std::ops::Range;

use super::parts::{Part, literal, marks, take_apart};
use crate::pattern::bytes::ByteSet;
use crate::pattern::syntax::ast::Node;
use crate::pattern::text::CharSet;
use memchr::memmem::Finder;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Sequence {
    pub(super) steps: Vec<Step>,
    /// The text or class that a search looks for first; `None` where a match may begin anywhere.
    pub(super) anchor: Option<Anchor>,
    /// How many named groups there are.
    pub(super) groups: usize,
    /// True if there are groups or choices.
    pub(super) has_marks: bool,
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
    /// The first alternative that matches, or none of them where it is optional. An alternative begins at the number of a step and ends where the
    /// next begins, the last at `end`, where all go on.
    Choice {
        alternatives: Vec<usize>,
        end: usize,
        optional: bool,
    },
    /// Characters of the set, as many as there are up to `max`.
    Run {
        set: CharSet,
        min: u32,
        max: u32,
    },
    /// A character of `first`, and behind it either nothing or characters of `inner` of which the last is one of `last`. These go on up to
    /// the next character that is not one of `inner`.
    Trimmed(Box<Trimmed>),
    /// Anything up to the first place where what follows matches: `pad` and then the literal, which are steps of
    /// their own.
    Until {
        pad: Option<Pad>,
        literal: Finder<'static>,
    },
    /// The end of the text.
    End,
    /// Goes on if the literal comes at all, without reading up to it.
    Ahead(Finder<'static>),
    /// The end of the match. The steps behind it have to follow, and are not taken.
    MatchEnd,
    /// The group of this number, in the order of the named groups, begins or ends.
    Open(usize),
    Close(usize),
}

/// The characters of a text that may have some of them inside but not at its ends, such as the white space in a name.
#[derive(Debug)]
pub(super) struct Trimmed {
    pub(super) first: CharSet,
    pub(super) inner: CharSet,
    pub(super) last: CharSet,
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

impl Sequence {
    /// One string.
    pub(crate) fn literal(text: &str) -> Self {
        Self {
            steps: vec![Step::Literal(Finder::new(text).into_owned())],
            anchor: Some(Anchor::of(text)),
            groups: 0,
            has_marks: false,
        }
    }

    /// `None` for a pattern that is not one. `names` are the named groups with their numbers.
    pub(crate) fn new(node: &Node, names: &[(String, usize)]) -> Option<Self> {
        let parts = take_apart(node, names)?;
        let anchor = match Anchor::find(&parts) {
            None if !matches!(parts.iter().find(|part| !part.is_mark())?, Part::Ahead(_)) => {
                return None;
            }
            anchor => anchor,
        };
        let mut steps = Vec::new();
        add_steps(&parts, &mut steps);
        let has_choices = steps.iter().any(|step| matches!(step, Step::Choice { .. }));
        Some(Self {
            steps,
            anchor,
            groups: names.len(),
            has_marks: has_choices || !names.is_empty(),
        })
    }

    /// The bytes that a match can begin with; `None` where they are not known.
    pub(crate) fn first_bytes(&self) -> Option<ByteSet> {
        let mut starts = ByteSet::default();
        add_first_bytes(&self.steps, 0..self.steps.len(), &mut starts).then_some(starts)
    }
}

/// Adds the bytes that a match of the steps can begin with. Says whether these are all, as the steps do not match nothing.
fn add_first_bytes(steps: &[Step], range: Range<usize>, starts: &mut ByteSet) -> bool {
    let mut at = range.start;
    while at < range.end {
        let step = &steps[at];
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
            Step::Choice {
                alternatives,
                end,
                optional,
            } => {
                let ends = alternatives.iter().skip(1).chain([end]);
                let all = alternatives
                    .iter()
                    .zip(ends)
                    .fold(true, |all, (start, end)| {
                        add_first_bytes(steps, *start..*end, starts) && all
                    });
                if !all || !optional {
                    return all;
                }
                at = *end;
            }
            Step::Run { set, min, .. } => {
                add_bytes_of(set, starts);
                if *min > 0 {
                    return true;
                }
            }
            Step::Trimmed(trimmed) => {
                add_bytes_of(&trimmed.first, starts);
                return true;
            }
            Step::Until { .. } | Step::Ahead(_) | Step::End => return false,
            Step::MatchEnd | Step::Open(_) | Step::Close(_) => {}
        }
    }
    false
}

/// Adds the bytes that the characters of a set can begin with.
fn add_bytes_of(set: &CharSet, starts: &mut ByteSet) {
    for byte in 0..=255u8 {
        // A character beyond ASCII may begin with any byte beyond it.
        if !byte.is_ascii() || set.contains(char::from(byte)) {
            starts.add(byte);
        }
    }
}

impl Anchor {
    fn of(literal: &str) -> Self {
        Self {
            literal: Finder::new(literal).into_owned(),
            lead: None,
        }
    }

    /// The anchor by which a match of the parts can be found.
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
        [
            Part::Choice {
                alternatives,
                optional,
            },
            rest @ ..,
        ] => {
            let skipped = optional.then(|| beginning(rest));
            let all = alternatives
                .iter()
                .map(|alternative| beginning(alternative))
                .chain(skipped);
            all.reduce(|a, b| common_beginning(&a, &b).to_owned())
                .unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn common_beginning<'a>(a: &'a str, b: &str) -> &'a str {
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
    &a[..shared.map(|(c, _)| c.len_utf8()).sum()]
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
            Part::Choice {
                alternatives,
                optional,
            } => {
                let place = steps.len();
                // It holds the place until it is known where its alternatives begin.
                steps.push(Step::End);
                let add = |alternative: &Vec<Part>| {
                    let start = steps.len();
                    add_steps(alternative, steps);
                    start
                };
                let alternatives = alternatives.iter().map(add).collect();
                steps[place] = Step::Choice {
                    alternatives,
                    end: steps.len(),
                    optional: *optional,
                };
                continue;
            }
            Part::End => Step::End,
            Part::Run {
                class, min, max, ..
            } => Step::Run {
                set: CharSet::new(class),
                min: *min,
                max: *max,
            },
            Part::Trimmed { first, inner, last } => Step::Trimmed(Box::new(Trimmed {
                first: CharSet::new(first),
                inner: CharSet::new(inner),
                last: CharSet::new(last),
            })),
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
            Part::MatchEnd => Step::MatchEnd,
            Part::Open(group) => Step::Open(*group),
            Part::Close(group) => Step::Close(*group),
        };
        steps.push(step);
    }
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
            r#"(?:<calls>\s*)?<call>\s*(?=\{\s*["}])"#,
            r"<call>(?P<name>[^<>]+)(?=<arg>|</call>)",
            r"a(?=b)",
            r"\[(?P<n>\d{1,3}+)\]",
            r"</call>\s*(?:</calls>\s*)?",
            r"<\|end\|>\s*(?:</s>)?\s*",
            r"(?:<calls>\s*)?<call>\s*",
            r"(?:<calls>\s*){0,2}<call>\s*",
            r"(?:<call>\s*){1,2}",
            r"<arg type=(?:text|number)>(?P<value>.*?)</arg>",
            r"(?:<end>|<stop>)\s*",
            r"</call>\s*(?:</calls>\s*|<(?:/[^>]*)?\s*\Z)?",
            r"\}\s*(?:<end>\s*|\Z)",
            r"<end>\s*$",
            r#"<p\s*name="(?P<key>[^\s"](?:[^\r\n"]*[^\s"])?)">(?P<value>.*?)</p>"#,
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
            "a(?=b)c",
            "(?:a(?=b))?c",
            r"a\s*(?=\s)",
            "a(?=(?P<x>b))",
            "a(?!b)",
            "a(?!.*?b)",
            "a.*?",
            r"\w+",
            "^a",
            "a(?=.*?(?P<x>b))",
            "a(?=.*?b)c",
            "a(?:(?P<x>b)|c)",
            r"a\s*(?:\sb)?c",
            r"(?:a\s*)?\sb",
            "a(?:(?P<x>b))?",
            "a(?:b*)?",
            "a(?:bc)??d",
            "a.*?(?:bc)?d",
            "a.*?(?:b|c)",
            "a$",
            r"a(?:b$)?",
            r"a[bc]*(?:d|b\Z)",
        ] {
            assert!(!is_sequence(source), "{source}");
        }
    }
}
