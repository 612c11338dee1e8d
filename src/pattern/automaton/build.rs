//! From the tree to an automaton: Thompson's construction, which is `regex-automata`'s, behind a translation of Python's nodes.
//!
//! The translation gives up (`None`, and the backtracking engine takes the pattern) wherever no finite automaton does what Python does:
//! look-around, atomic groups, back-references, conditionals, and repetitions of what can match nothing, unless matching nothing is the
//! last thing that an iteration tries and no named group is in it. Bounded repetitions are written out, so that the automaton's size is
//! limited.

use regex_automata::nfa::thompson::{Compiler, Config, NFA, State, WhichCaptures};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::{self, Capture, Class, Hir, Repetition};

use crate::pattern::bytes::ByteSet;
use crate::pattern::limits;
use crate::pattern::syntax::Parsed;
use crate::pattern::syntax::ast::{Assert, Node, Repeat, RepeatKind};

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Automaton {
    pub(super) nfa: NFA,
    /// The bytes that a match can begin with; `None` where it may be empty.
    pub(super) first: Option<ByteSet>,
    /// True if the only start is that of the text.
    pub(super) anchored: bool,
    /// How many named groups there are. Their slots are those of the groups 1, 2, ... of the automaton.
    pub(super) groups: usize,
    lookbehind: usize,
}

/// Why there is no automaton for a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuildError {
    /// It uses what no automaton can do, or does differently from `regex`.
    Unsuitable,
    /// It would be larger than the limit.
    TooLarge,
}

impl Automaton {
    pub(crate) fn new(parsed: &Parsed) -> Result<Self, BuildError> {
        let hir = Translator {
            names: &parsed.names,
        }
        .node(&parsed.node)
        .ok_or(BuildError::Unsuitable)?;
        let groups = parsed.names.len();
        let captures = if groups == 0 {
            WhichCaptures::None
        } else {
            WhichCaptures::All
        };
        let config = Config::new()
            .which_captures(captures)
            .nfa_size_limit(Some(limits::AUTOMATON_BYTES))
            .shrink(false);
        let nfa = Compiler::new()
            .configure(config)
            .build_from_hir(&hir)
            .map_err(|_| BuildError::TooLarge)?;
        let reads_before = nfa
            .look_set_any()
            .iter()
            .any(|look| !matches!(look, Look::Start | Look::End | Look::EndLF | Look::EndCRLF));
        Ok(Self {
            first: first_bytes(&nfa, nfa.start_anchored()),
            anchored: nfa.is_always_start_anchored(),
            groups,
            // The greatest length of the one character that is read.
            lookbehind: if reads_before { 4 } else { 0 },
            nfa,
        })
    }

    /// The bytes that a match can begin with; `None` where it may be empty.
    pub(crate) fn first_bytes(&self) -> Option<ByteSet> {
        self.first
    }

    /// Returns true if a thread in the state may lead to a match where `byte` comes next, whatever holds there and follows.
    pub(super) fn may_go_on(&self, state: StateID, byte: u8) -> bool {
        first_bytes(&self.nfa, state).is_none_or(|bytes| bytes.contains(byte))
    }

    /// How many bytes before a match's start it may read.
    pub(crate) fn lookbehind(&self) -> usize {
        self.lookbehind
    }
}

/// Each condition on a position, with the look-around by which the automaton spells it. The end of a line after the manner of CRLF, which Python does
/// not have, stands for its `$`.
const ASSERTS: [(Assert, hir::Look, Look); 13] = [
    (Assert::Start, hir::Look::Start, Look::Start),
    (Assert::End, hir::Look::End, Look::End),
    (Assert::EndOrFinalNewline, hir::Look::EndCRLF, Look::EndCRLF),
    (Assert::LineStart, hir::Look::StartLF, Look::StartLF),
    (Assert::LineEnd, hir::Look::EndLF, Look::EndLF),
    (
        Assert::WordBoundary { ascii: false },
        hir::Look::WordUnicode,
        Look::WordUnicode,
    ),
    (
        Assert::WordBoundary { ascii: true },
        hir::Look::WordAscii,
        Look::WordAscii,
    ),
    (
        Assert::NotWordBoundary { ascii: false },
        hir::Look::WordUnicodeNegate,
        Look::WordUnicodeNegate,
    ),
    (
        Assert::NotWordBoundary { ascii: true },
        hir::Look::WordAsciiNegate,
        Look::WordAsciiNegate,
    ),
    (
        Assert::WordStart { ascii: false },
        hir::Look::WordStartUnicode,
        Look::WordStartUnicode,
    ),
    (
        Assert::WordStart { ascii: true },
        hir::Look::WordStartAscii,
        Look::WordStartAscii,
    ),
    (
        Assert::WordEnd { ascii: false },
        hir::Look::WordEndUnicode,
        Look::WordEndUnicode,
    ),
    (
        Assert::WordEnd { ascii: true },
        hir::Look::WordEndAscii,
        Look::WordEndAscii,
    ),
];

/// The condition that `look` stands for in the automaton.
pub(super) fn assert_of(look: Look) -> Option<Assert> {
    ASSERTS
        .iter()
        .find(|(_, _, known)| *known == look)
        .map(|(assert, _, _)| *assert)
}

struct Translator<'p> {
    names: &'p [(String, usize)],
}

impl Translator<'_> {
    /// `None` for what the automaton cannot do.
    fn node(&self, node: &Node) -> Option<Hir> {
        Some(match node {
            Node::Empty => Hir::empty(),
            Node::Char(value) => Hir::literal(value.encode_utf8(&mut [0; 4]).as_bytes()),
            Node::Class(class) if class.ranges().is_empty() => Hir::fail(),
            Node::Class(class) => Hir::class(Class::Unicode(class.clone())),
            Node::Assert(assert) => Hir::look(
                ASSERTS
                    .iter()
                    .find(|(known, _, _)| known == assert)
                    .map(|(_, look, _)| *look)?,
            ),
            Node::Concat(nodes) => Hir::concat(self.nodes(nodes)?),
            Node::Alternation(nodes) => Hir::alternation(self.nodes(nodes)?),
            Node::Repeat(repeat) => {
                if repeat.kind == RepeatKind::Possessive || !self.same_when_empty(repeat) {
                    return None;
                }
                Hir::repetition(Repetition {
                    min: repeat.min,
                    max: repeat.max,
                    greedy: repeat.kind == RepeatKind::Greedy,
                    sub: Box::new(self.node(&repeat.node)?),
                })
            }
            Node::Group(number, node) => {
                let sub = self.node(node)?;
                match self.names.iter().position(|(_, named)| named == number) {
                    None => sub,
                    Some(at) => Hir::capture(Capture {
                        index: at as u32 + 1,
                        name: None,
                        sub: Box::new(sub),
                    }),
                }
            }
            Node::Look(_) | Node::Atomic(_) | Node::Backreference { .. } | Node::Conditional(_) => {
                return None;
            }
        })
    }

    /// Returns true if a repetition of something that can match nothing is the same for the automaton as for Python. Python goes
    /// on after the loop once an iteration matched nothing; the automaton never comes back to a state without reading. That
    /// is the same if matching nothing is the last thing that an iteration tries, except for the groups that it sets.
    fn same_when_empty(&self, repeat: &Repeat) -> bool {
        repeat.max.is_some_and(|max| max <= 1)
            || repeat.node.min_chars() > 0
            || (!self.has_names(&repeat.node) && empty_last(&repeat.node))
    }

    fn has_names(&self, node: &Node) -> bool {
        matches!(node, Node::Group(number, _) if self.names.iter().any(|(_, named)| named == number))
            || node.children().into_iter().any(|node| self.has_names(node))
    }

    fn nodes(&self, nodes: &[Node]) -> Option<Vec<Hir>> {
        nodes.iter().map(|node| self.node(node)).collect()
    }
}

/// Returns true if matching nothing is the last thing that the node tries.
fn empty_last(node: &Node) -> bool {
    match node {
        Node::Empty | Node::Assert(_) => true,
        Node::Concat(nodes) => {
            nodes.iter().any(|node| node.min_chars() > 0) || nodes.iter().all(empty_last)
        }
        Node::Alternation(nodes) => nodes.split_last().is_none_or(|(last, rest)| {
            rest.iter().all(|node| node.min_chars() > 0)
                && (last.min_chars() > 0 || empty_last(last))
        }),
        Node::Repeat(repeat) => {
            repeat.kind == RepeatKind::Greedy
                && (repeat.node.min_chars() > 0 || empty_last(&repeat.node))
        }
        Node::Group(_, node) => empty_last(node),
        _ => false,
    }
}

/// The bytes on transitions that can be reached from the state without reading any; `None` where the end can be.
fn first_bytes(nfa: &NFA, from: StateID) -> Option<ByteSet> {
    let mut set = ByteSet::default();
    let mut seen = vec![false; nfa.states().len()];
    let mut stack: Vec<StateID> = vec![from];
    let mut add = |first: u8, last: u8| (first..=last).for_each(|byte| set.add(byte));
    while let Some(id) = stack.pop() {
        if std::mem::replace(&mut seen[id.as_usize()], true) {
            continue;
        }
        match nfa.state(id) {
            State::ByteRange { trans } => add(trans.start, trans.end),
            State::Sparse(sparse) => sparse
                .transitions
                .iter()
                .for_each(|trans| add(trans.start, trans.end)),
            State::Dense(dense) => {
                (0..=255)
                    .filter(|byte| dense.matches_byte(*byte).is_some())
                    .for_each(|byte| add(byte, byte));
            }
            State::Look { next, .. } | State::Capture { next, .. } => stack.push(*next),
            State::Union { alternates } => stack.extend(alternates.iter()),
            State::BinaryUnion { alt1, alt2 } => stack.extend([*alt1, *alt2]),
            State::Fail => {}
            State::Match { .. } => return None,
        }
    }
    Some(set)
}

#[cfg(test)]
mod tests {
    use super::{Automaton, BuildError};
    use crate::pattern::syntax::parse;

    fn built(source: &str) -> Result<Automaton, BuildError> {
        Automaton::new(&parse(source).expect("a pattern"))
    }

    fn first(source: &str) -> Option<Vec<u8>> {
        let first = built(source).expect("an automaton").first?;
        Some((0..=255).filter(|byte| first.contains(*byte)).collect())
    }

    #[test]
    fn what_a_match_begins_with_is_known_where_it_is_not_empty() {
        assert_eq!(first("ab|c"), Some(b"ac".to_vec()));
        assert_eq!(first("\\s?<"), first("[\\s<]"));
        assert_eq!(first("^a"), Some(b"a".to_vec()));
        assert_eq!(first("\u{e9}"), Some(vec![0xc3]));
        assert_eq!(first("a|$"), None);
        assert_eq!(first("a*"), None);
    }

    #[test]
    fn what_no_automaton_can_do_is_left_to_backtracking() {
        for source in [
            "(?=a)",
            "(?>a)",
            "a++",
            "(a)\\1",
            "(?(?=a)b)",
            "(?:|a)*",
            "(?P<x>a*)*",
        ] {
            assert_eq!(
                built(source).err(),
                Some(BuildError::Unsuitable),
                "{source}"
            );
        }
        assert_eq!(built("(?:\\w{100}){100}").err(), Some(BuildError::TooLarge));
    }

    #[test]
    fn only_what_looks_back_reads_before_a_match() {
        for (source, bytes) in [
            ("a$", 0),
            ("^a", 0),
            ("\\ba", 4),
            ("(?m)^a", 4),
            ("a\\Z", 0),
        ] {
            assert_eq!(
                built(source).map(|automaton| automaton.lookbehind()),
                Ok(bytes),
                "{source}"
            );
        }
        assert!(built("^a|^b").is_ok_and(|automaton| automaton.anchored));
    }
}
