//! Facts about a pattern that need no text: whether it can match nothing, what it holds back, which groups take part.
//!
//! Every answer errs on one side, which its documentation names.

use std::collections::BTreeSet;

use regex_syntax::hir::ClassUnicode;

use super::syntax::ast::{Assert, Node, RepeatKind};
use super::syntax::{class, parse};
use super::{Pattern, tokens};

/// Where a pattern can match the empty string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Emptiness {
    /// Nowhere.
    Never,
    /// At the end of the text, or before its final newline.
    AtEnd,
    /// Where something else holds, such as a look ahead.
    Sometimes,
    /// Wherever it matches nothing longer.
    Everywhere,
}

/// Why a search has to wait for more text than a delimiter has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hold {
    /// Ordinary text may be the beginning of a match, as in `.*</x>`.
    FromAnywhere,
    /// Once a match has begun it can always become longer, as in `<x>.*`.
    ToTheEnd,
    /// Once it has begun, text of any length has to be looked through, as in `<x>(?=.*?</x>)`.
    Ahead,
}

/// A pattern's syntax, to be asked.
#[derive(Debug, Clone)]
pub struct Facts {
    node: Node,
    names: Vec<(String, usize)>,
}

/// Returns true if a match of the node remains a match when more text follows, though it may end elsewhere then. A node that asks that
/// nothing follows does not grow. Nor does one that takes only the first way in which it matches, since more text may open another way.
pub(super) fn grows(node: &Node) -> bool {
    grows_before(node, 0)
}

/// As [`grows`], of a node behind which a match has at least so many characters.
fn grows_before(node: &Node, behind: usize) -> bool {
    match node {
        Node::Empty | Node::Char(_) | Node::Class(_) => true,
        Node::Assert(assert) => matches!(
            assert,
            Assert::Start | Assert::LineStart | Assert::WordStart { .. }
        ),
        Node::Concat(nodes) => {
            let mut behind = behind;
            nodes.iter().rev().all(|node| {
                let grows = grows_before(node, behind);
                behind = behind.saturating_add(node.min_chars());
                grows
            })
        }
        Node::Alternation(nodes) => nodes.iter().all(|node| grows_before(node, behind)),
        Node::Repeat(repeat) => {
            repeat.kind != RepeatKind::Possessive && grows_before(&repeat.node, behind)
        }
        Node::Group(_, node) => grows_before(node, behind),
        // The text before a place does not change any more.
        Node::Look(look) if look.behind => grows(&look.node),
        Node::Look(look) if look.negative => is_decided_within(&look.node, behind),
        Node::Look(look) => grows(&look.node),
        Node::Atomic(_) | Node::Backreference { .. } | Node::Conditional(_) => false,
    }
}

/// Returns true if a match of the node depends on nothing but the text that it takes.
fn depends_on_itself(node: &Node) -> bool {
    !any(node, &|node| match node {
        Node::Assert(_)
        | Node::Look(_)
        | Node::Atomic(_)
        | Node::Backreference { .. }
        | Node::Conditional(_) => true,
        Node::Repeat(repeat) => repeat.kind == RepeatKind::Possessive,
        _ => false,
    })
}

/// Returns true if so many characters, whatever they are, tell whether the node matches at their beginning.
fn is_decided_within(node: &Node, characters: usize) -> bool {
    depends_on_itself(node) && node.max_chars().is_some_and(|most| most <= characters)
}

/// How many texts [`Facts::samples`] gives at most.
const SAMPLES: usize = 24;

/// How long such a text may become, in bytes.
const SAMPLE_BYTES: usize = 4096;

impl Facts {
    /// The facts about a compiled pattern.
    pub fn of(pattern: &Pattern) -> Self {
        // A pattern that has compiled can be parsed again; should it not, the empty pattern makes no claims that matter.
        pattern.parsed().map_or_else(
            |_| Self {
                node: Node::Class(class::none()),
                names: Vec::new(),
            },
            |parsed| Self {
                node: parsed.node,
                names: parsed.names,
            },
        )
    }

    /// Where the pattern can match the empty string. `Never` and `Everywhere` are certain.
    pub fn emptiness(&self) -> Emptiness {
        emptiness(&self.node)
    }

    /// Returns true if the named group takes part in every match. True is certain.
    pub fn takes_part(&self, name: &str) -> bool {
        let number = self.names.iter().find(|(known, _)| known == name);
        number.is_some_and(|(_, number)| always(&self.node).contains(number))
    }

    /// Returns true if `$` stands in the pattern, which Python also lets match before a final newline.
    pub fn has_dollar(&self) -> bool {
        any(&self.node, &|node| {
            matches!(node, Node::Assert(Assert::EndOrFinalNewline))
        })
    }

    /// Returns true if a match depends on nothing but the text that it takes: no look-around, no conditions on the place, no
    /// choice that is final before the match is.
    pub fn is_plain(&self) -> bool {
        depends_on_itself(&self.node)
    }

    /// Why a search for the pattern in arriving text holds that text back without a bound; `None` where nothing says that
    /// it does.
    pub fn hold(&self) -> Option<Hold> {
        if leads_wide(&self.node).0 {
            return Some(Hold::FromAnywhere);
        }
        hold(&self.node, false)
    }

    /// Texts that the pattern matches as a whole, short ones, none of them empty: one for each alternative as far as they
    /// are few. Every one is matched from its first byte to its last by `pattern`; there may be none.
    pub fn samples(&self, pattern: &Pattern) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for text in samples(&self.node) {
            let whole = !text.is_empty()
                && !found.contains(&text)
                && matches!(pattern.search(&text, 0), Ok(Some(match_)) if match_.span == (0..text.len()));
            if whole {
                found.push(text);
            }
        }
        found
    }
}

/// Returns true if `a` and `b` differ at most in how they are written: they match the same, in the same way. Without back-references the
/// numbers of groups do not count. True is certain.
pub(crate) fn same_meaning(a: &str, b: &str, rewrite: impl Fn(Node) -> Node) -> bool {
    match (parse(a), parse(b)) {
        (Ok(a), Ok(b)) => rewrite(a.node) == b.node,
        _ => false,
    }
}

/// Returns the source with `\Z` for each `$`. `None` where there is none, or where the change would come to something else.
pub fn without_dollar(source: &str) -> Option<String> {
    let mut changed = String::with_capacity(source.len() + 8);
    for token in tokens::tokens(source) {
        changed.push_str(if token.is_outside("$") {
            r"\Z"
        } else {
            &source[token.span]
        });
    }
    let end = |node: Node| {
        map(node, &|node| match node {
            Node::Assert(Assert::EndOrFinalNewline) => Node::Assert(Assert::End),
            other => other,
        })
    };
    (changed != source && same_meaning(source, &changed, end)).then_some(changed)
}

/// Returns the source with its named groups made unnamed. `None` where there are none, or where the change would come to something else.
pub fn without_names(source: &str) -> Option<String> {
    let mut changed = String::with_capacity(source.len());
    for token in tokens::tokens(source) {
        let text = &source[token.span.clone()];
        changed.push_str(match token.kind {
            tokens::Kind::NamedGroup => "(?:",
            _ => text,
        });
    }
    let bare = |node: Node| map(node, &ungrouped);
    let parsed = parse(&changed).ok()?;
    let same = parse(source).ok().is_some_and(|original| {
        !any(&original.node, &|node| {
            matches!(node, Node::Backreference { .. } | Node::Conditional(_))
        }) && flat(bare(original.node)) == flat(bare(parsed.node))
    });
    (changed != source && same).then_some(changed)
}

/// The source with `\s*` behind it, so that a match takes the white space that follows.
pub fn with_space(source: &str) -> Option<String> {
    let alone = matches!(parse(source).ok()?.node, Node::Alternation(_));
    let changed = if alone {
        format!(r"(?:{source})\s*")
    } else {
        format!(r"{source}\s*")
    };
    Pattern::regex(&changed).is_ok().then_some(changed)
}

fn ungrouped(node: Node) -> Node {
    match node {
        Node::Group(_, inner) => *inner,
        other => other,
    }
}

/// Sequences within sequences put together, as the parser may or may not have done.
fn flat(node: Node) -> Node {
    map(node, &|node| match node {
        Node::Concat(nodes) => {
            let mut all = Vec::new();
            for node in nodes {
                match node {
                    Node::Concat(inner) => all.extend(inner),
                    Node::Empty => {}
                    other => all.push(other),
                }
            }
            if all.len() == 1 {
                all.swap_remove(0)
            } else {
                Node::Concat(all)
            }
        }
        other => other,
    })
}

/// The tree with each node replaced, from the leaves up.
fn map(node: Node, change: &impl Fn(Node) -> Node) -> Node {
    let all = |nodes: Vec<Node>| nodes.into_iter().map(|node| map(node, change)).collect();
    change(match node {
        Node::Concat(nodes) => Node::Concat(all(nodes)),
        Node::Alternation(nodes) => Node::Alternation(all(nodes)),
        Node::Repeat(mut repeat) => {
            repeat.node = map(repeat.node, change);
            Node::Repeat(repeat)
        }
        Node::Group(number, inner) => Node::Group(number, Box::new(map(*inner, change))),
        Node::Atomic(inner) => Node::Atomic(Box::new(map(*inner, change))),
        Node::Look(mut look) => {
            look.node = map(look.node, change);
            Node::Look(look)
        }
        Node::Conditional(mut conditional) => {
            conditional.yes = map(conditional.yes, change);
            conditional.no = map(conditional.no, change);
            Node::Conditional(conditional)
        }
        leaf => leaf,
    })
}

fn any(node: &Node, asked: &impl Fn(&Node) -> bool) -> bool {
    asked(node) || node.children().into_iter().any(|child| any(child, asked))
}

fn emptiness(node: &Node) -> Emptiness {
    match node {
        Node::Empty => Emptiness::Everywhere,
        Node::Char(_) | Node::Class(_) => Emptiness::Never,
        Node::Assert(Assert::End | Assert::EndOrFinalNewline) => Emptiness::AtEnd,
        Node::Assert(_) | Node::Look(_) | Node::Backreference { .. } => Emptiness::Sometimes,
        Node::Concat(nodes) => nodes
            .iter()
            .map(emptiness)
            .min()
            .unwrap_or(Emptiness::Everywhere),
        Node::Alternation(nodes) => nodes
            .iter()
            .map(emptiness)
            .max()
            .unwrap_or(Emptiness::Never),
        Node::Repeat(repeat) if repeat.min == 0 => Emptiness::Everywhere,
        Node::Repeat(repeat) => emptiness(&repeat.node),
        Node::Group(_, inner) | Node::Atomic(inner) => emptiness(inner),
        Node::Conditional(conditional) => {
            let most = emptiness(&conditional.yes).max(emptiness(&conditional.no));
            most.min(Emptiness::Sometimes)
        }
    }
}

/// The groups that take part in every match.
fn always(node: &Node) -> BTreeSet<usize> {
    match node {
        Node::Group(number, inner) => {
            let mut groups = always(inner);
            groups.insert(*number);
            groups
        }
        Node::Concat(nodes) => nodes.iter().flat_map(always).collect(),
        Node::Alternation(nodes) => nodes
            .iter()
            .map(always)
            .reduce(|a, b| a.intersection(&b).copied().collect())
            .unwrap_or_default(),
        Node::Repeat(repeat) if repeat.min > 0 => always(&repeat.node),
        Node::Atomic(inner) => always(inner),
        Node::Look(look) if !look.negative => always(&look.node),
        _ => BTreeSet::new(),
    }
}

/// Returns the characters each of which is a match of the node by itself.
fn single(node: &Node) -> ClassUnicode {
    match node {
        Node::Char(value) => class::single(*value),
        Node::Class(characters) => characters.clone(),
        Node::Alternation(nodes) => class::union(nodes.iter().map(single)),
        Node::Group(_, inner) | Node::Atomic(inner) => single(inner),
        Node::Repeat(repeat) if repeat.min <= 1 => single(&repeat.node),
        _ => class::none(),
    }
}

/// Returns true if the node is a repetition without end of what ordinary text is made of.
fn is_wide(node: &Node) -> bool {
    let Node::Repeat(repeat) = node else {
        return false;
    };
    let characters = single(&repeat.node);
    repeat.max.is_none()
        && ['a', 'Z', '7', ' ', '.', ',']
            .into_iter()
            .all(|c| class::contains(&characters, c))
}

/// Returns true if the node is a repetition without end of any character.
fn is_total(node: &Node) -> bool {
    let Node::Repeat(repeat) = node else {
        return false;
    };
    let mut characters = single(&repeat.node);
    characters.negate();
    repeat.max.is_none() && characters.ranges().is_empty()
}

/// Two answers: whether a match may begin with a wide repetition, and whether the node may match the empty string.
fn leads_wide(node: &Node) -> (bool, bool) {
    let empty = emptiness(node) > Emptiness::Never;
    let wide = is_wide(node)
        || match node {
            Node::Concat(nodes) => {
                let mut wide = false;
                for node in nodes {
                    let (leads, empty) = leads_wide(node);
                    wide |= leads;
                    if !empty {
                        break;
                    }
                }
                wide
            }
            Node::Alternation(nodes) => nodes.iter().any(|node| leads_wide(node).0),
            Node::Repeat(repeat) => leads_wide(&repeat.node).0,
            Node::Group(_, inner) | Node::Atomic(inner) => leads_wide(inner).0,
            Node::Look(look) => !look.behind && leads_wide(&look.node).0,
            Node::Conditional(conditional) => {
                leads_wide(&conditional.yes).0 || leads_wide(&conditional.no).0
            }
            _ => false,
        };
    (wide, empty)
}

fn hold(node: &Node, ahead: bool) -> Option<Hold> {
    if is_total(node) {
        let Node::Repeat(repeat) = node else {
            return None;
        };
        return match repeat.kind {
            _ if ahead => Some(Hold::Ahead),
            RepeatKind::Lazy => None,
            RepeatKind::Greedy | RepeatKind::Possessive => Some(Hold::ToTheEnd),
        };
    }
    let inside = ahead || matches!(node, Node::Look(look) if !look.behind);
    if matches!(node, Node::Look(look) if look.behind) {
        return None;
    }
    node.children()
        .into_iter()
        .find_map(|child| hold(child, inside))
}

fn samples(node: &Node) -> Vec<String> {
    match node {
        Node::Char(value) => vec![value.to_string()],
        Node::Class(characters) => {
            let plain = ['x', '1', '.', '_'];
            let found = plain
                .into_iter()
                .find(|c| class::contains(characters, *c))
                .or_else(|| characters.ranges().first().map(|range| range.start()));
            found.map(|c| c.to_string()).into_iter().collect()
        }
        Node::Concat(nodes) => {
            let mut texts = vec![String::new()];
            for node in nodes {
                let next = samples(node);
                texts = texts
                    .iter()
                    .flat_map(|text| next.iter().map(move |more| format!("{text}{more}")))
                    .filter(|text| text.len() <= SAMPLE_BYTES)
                    .take(SAMPLES)
                    .collect();
            }
            texts
        }
        Node::Alternation(nodes) => nodes.iter().flat_map(samples).take(SAMPLES).collect(),
        Node::Repeat(repeat) => {
            let min = repeat.min as usize;
            let mut texts: Vec<String> = samples(&repeat.node)
                .iter()
                .filter(|text| text.len().saturating_mul(min) <= SAMPLE_BYTES)
                .map(|text| text.repeat(min))
                .collect();
            texts.dedup();
            texts
        }
        Node::Group(_, inner) | Node::Atomic(inner) => samples(inner),
        Node::Conditional(conditional) => {
            let mut texts = samples(&conditional.yes);
            texts.extend(samples(&conditional.no));
            texts.truncate(SAMPLES);
            texts
        }
        Node::Empty | Node::Assert(_) | Node::Look(_) | Node::Backreference { .. } => {
            vec![String::new()]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(source: &str) -> Facts {
        Facts::of(&Pattern::regex(source).expect("a pattern"))
    }

    #[test]
    fn where_a_pattern_matches_nothing() {
        for (source, expected) in [
            ("a", Emptiness::Never),
            ("a*b", Emptiness::Never),
            (r"\s*", Emptiness::Everywhere),
            ("a?b?|c", Emptiness::Everywhere),
            (r"</x>\s*|$", Emptiness::AtEnd),
            (r"\s*\Z", Emptiness::AtEnd),
            (r"(?=<x>)", Emptiness::Sometimes),
            (r"(?:</x>\s*|(?=<y>))", Emptiness::Sometimes),
            (r"\b", Emptiness::Sometimes),
        ] {
            assert_eq!(facts(source).emptiness(), expected, "{source}");
        }
    }

    #[test]
    fn a_match_goes_on_where_what_follows_cannot_change_it() {
        for (source, expected) in [
            (r"<a>\s*(?:</b>)?", true),
            (r"(?<!x)<a>(?=.*?</b>)", true),
            (r"<a>(?!<b>)", false),
            (r"<a>(?!<b>)...", true),
            (r"<a>(?!<b>)..", false),
            (r"(?=<a>(?:(?!<b>).)*</a>)", true),
            (r"(?=<a>(?:(?!<long>).)*</a>)", false),
            (r"<a>(?!<b>|<c)...|<d>", true),
            (r"<a>(?!<b>*)...........", false),
            (r"<a>(?!b\b)...", false),
            (r"<a>\s*\Z", false),
            (r"<a>(?>b|bc)d", false),
        ] {
            let pattern = Pattern::regex(source).expect("a pattern");
            assert_eq!(pattern.grows(), expected, "{source}");
        }
    }

    #[test]
    fn who_takes_part_in_every_match() {
        for (source, expected) in [
            ("(?P<n>a)", true),
            ("(?P<n>a)?", false),
            ("(?P<n>a)|b", false),
            ("x(?:(?P<n>a)|(?P<n>b))", true),
            ("(?:(?P<n>a)c)+", true),
            ("(?!(?P<n>a))b", false),
        ] {
            assert_eq!(facts(source).takes_part("n"), expected, "{source}");
        }
    }

    #[test]
    fn what_is_held_back() {
        for (source, expected) in [
            ("<x>", None),
            (r"\s*</x>\s*", None),
            (r"<f=(?P<n>[^>]+)>", None),
            ("<x>.*?</x>", None),
            (".*?</x>", Some(Hold::FromAnywhere)),
            (r"[^<]*<x>", Some(Hold::FromAnywhere)),
            (r"(?=[\s\S]*?</x>)", Some(Hold::FromAnywhere)),
            ("(?:<y>)?.*</x>", Some(Hold::FromAnywhere)),
            (r"<x>(?:.|\n)*", Some(Hold::ToTheEnd)),
            (r"<x>(?=[\s\S]*?</x>)", Some(Hold::Ahead)),
            (r"(?<=<x>)y", None),
        ] {
            assert_eq!(facts(source).hold(), expected, "{source}");
        }
    }

    #[test]
    fn samples_are_matched_whole() {
        let samples = |source: &str| {
            let pattern = Pattern::regex(source).expect("a pattern");
            Facts::of(&pattern).samples(&pattern)
        };
        assert_eq!(samples(r"(?:<a>|</b>)\s*|$"), ["<a>", "</b>"]);
        assert_eq!(samples(r"<(?P<n>[^>]+)>\d{2}"), ["<x>11"]);
        assert_eq!(samples(r"\s+x"), ["\tx"]);
        assert!(samples(r"\s*").is_empty());
        assert!(samples("(?:a{500}){10}").is_empty(), "too long");
        assert!(samples(r"a(?=b)").is_empty(), "the look needs more");
    }

    #[test]
    fn edits_change_what_they_say_and_nothing_else() {
        assert_eq!(without_dollar(r"[$]\$a|$").as_deref(), Some(r"[$]\$a|\Z"));
        assert_eq!(without_dollar(r"(?m)a$"), None, "the end of a line");
        assert_eq!(without_dollar("a"), None);
        assert_eq!(
            without_names(r"a(?P<n>[(?P<x>]+)(?<m>c)").as_deref(),
            Some(r"a(?:[(?P<x>]+)(?:c)")
        );
        assert_eq!(without_names(r"(?P<n>a)(?P=n)"), None);
        assert_eq!(with_space("a|b").as_deref(), Some(r"(?:a|b)\s*"));
        assert_eq!(with_space("a").as_deref(), Some(r"a\s*"));
    }
}
