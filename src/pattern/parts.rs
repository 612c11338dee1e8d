//! A pattern taken apart into what a person would see in it: texts, white space, groups, what may be missing, choices.
//!
//! Parts can be put together again as the source of a pattern for `regex`, so that a pattern of `re` can be cut up and carried over.

use regex_syntax::hir::ClassUnicode;

use super::Pattern;
use super::syntax::ast::{Assert, Node, RepeatKind, Test};
use super::syntax::class;

/// A part of a pattern.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Exactly this text.
    Text(String),
    /// A repetition of white space, which may be nothing.
    Space(Rest),
    /// A group, under its name or its number.
    Group { name: String, parts: Vec<Part> },
    /// Once or not at all.
    Optional { parts: Vec<Part> },
    /// One of these.
    Choice(Vec<Vec<Part>>),
    /// The beginning of the text.
    Start,
    /// The end of the text, before a final line feed or not.
    End(Rest),
    /// A look ahead at one of these.
    Ahead { parts: Vec<Part> },
    /// Anything else, with the groups in it.
    Other { rest: Rest, groups: Vec<String> },
}

/// A part of a pattern that is kept as it was.
#[derive(Debug, Clone)]
pub(crate) struct Rest(Node);

/// The parts of a pattern, one after the other; none where it cannot be read.
pub(crate) fn parts(pattern: &Pattern) -> Vec<Part> {
    let Ok(parsed) = pattern.parsed() else {
        return Vec::new();
    };
    let names = pattern.group_names();
    sequence(&parsed.node, names)
}

fn sequence(node: &Node, names: &[String]) -> Vec<Part> {
    let mut parts = Vec::new();
    collect(node, names, &mut parts);
    parts
}

fn collect(node: &Node, names: &[String], parts: &mut Vec<Part>) {
    let rest = || Rest(node.clone());
    let part = match node {
        Node::Empty => return,
        Node::Concat(nodes) => {
            for node in nodes {
                collect(node, names, parts);
            }
            return;
        }
        Node::Char(value) => {
            if let Some(Part::Text(text)) = parts.last_mut() {
                text.push(*value);
                return;
            }
            Part::Text(value.to_string())
        }
        Node::Repeat(repeat) if is_space(&repeat.node) && repeat.min <= 1 => Part::Space(rest()),
        Node::Repeat(repeat) if repeat.min == 0 && repeat.max == Some(1) => Part::Optional {
            parts: sequence(&repeat.node, names),
        },
        Node::Group(number, inner) => Part::Group {
            name: name_of(*number, names),
            parts: sequence(inner, names),
        },
        Node::Alternation(nodes) => {
            Part::Choice(nodes.iter().map(|node| sequence(node, names)).collect())
        }
        Node::Assert(Assert::Start) => Part::Start,
        Node::Assert(Assert::End | Assert::EndOrFinalNewline) => Part::End(rest()),
        Node::Look(look) if !look.behind && !look.negative => Part::Ahead {
            parts: sequence(&look.node, names),
        },
        _ => {
            let mut groups = Vec::new();
            groups_in(node, names, &mut groups);
            Part::Other {
                rest: rest(),
                groups,
            }
        }
    };
    parts.push(part);
}

fn name_of(number: usize, names: &[String]) -> String {
    names
        .get(number - 1)
        .cloned()
        .unwrap_or_else(|| number.to_string())
}

fn groups_in(node: &Node, names: &[String], found: &mut Vec<String>) {
    if let Node::Group(number, _) = node {
        found.push(name_of(*number, names));
    }
    for child in node.children() {
        groups_in(child, names, found);
    }
}

/// Returns true if the node is one character of white space.
fn is_space(node: &Node) -> bool {
    match node {
        Node::Char(value) => class::is_python_space(*value),
        Node::Class(class) => {
            !class.ranges().is_empty()
                && class.ranges().iter().all(|range| {
                    (range.start()..=range.end())
                        .take(64)
                        .all(class::is_python_space)
                })
        }
        Node::Group(_, node) => is_space(node),
        _ => false,
    }
}

impl Part {
    /// Returns true if it has a group.
    pub(crate) fn has_group(&self) -> bool {
        match self {
            Self::Group { .. } => true,
            Self::Optional { parts } | Self::Ahead { parts } => parts.iter().any(Self::has_group),
            Self::Choice(branches) => branches.iter().flatten().any(Self::has_group),
            Self::Other { groups, .. } => !groups.is_empty(),
            Self::Text(_) | Self::Space(_) | Self::Start | Self::End(_) => false,
        }
    }

    /// Returns true if it takes nothing of the text.
    pub(crate) fn is_condition(&self) -> bool {
        matches!(self, Self::Start | Self::End(_) | Self::Ahead { .. })
    }
}

/// The parts as the source of a pattern for `regex`, groups with a name named where `named` says so; `None` where a part cannot be
/// written there.
pub(crate) fn source(parts: &[Part], named: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    parts.iter().map(|part| part_source(part, named)).collect()
}

fn part_source(part: &Part, named: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    Some(match part {
        Part::Text(text) => escaped(text),
        Part::Space(rest) | Part::End(rest) => write(&rest.0)?,
        Part::Other { rest, .. } => write(&rest.0)?,
        Part::Ahead { parts } => format!("(?={})", source(parts, named)?),
        Part::Start => "^".to_owned(),
        Part::Group { name, parts } => match named(name) {
            Some(name) => format!("(?P<{name}>{})", source(parts, named)?),
            None => grouped(&source(parts, named)?, parts),
        },
        Part::Optional { parts } => format!("(?:{})?", source(parts, named)?),
        Part::Choice(branches) => {
            let branches: Option<Vec<String>> =
                branches.iter().map(|parts| source(parts, named)).collect();
            format!("(?:{})", branches?.join("|"))
        }
    })
}

/// The source in a group where it would not hold together without one.
fn grouped(source: &str, parts: &[Part]) -> String {
    if matches!(parts, [Part::Choice(_)]) || parts.len() < 2 {
        return source.to_owned();
    }
    format!("(?:{source})")
}

/// A text as a pattern matches it: only what has a meaning is escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if "\\.^$*+?{}[]|()".contains(c) => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// A node as source, its groups without names; `None` for back-references and conditionals, whose groups are elsewhere.
fn write(node: &Node) -> Option<String> {
    Some(match node {
        Node::Empty => String::new(),
        Node::Char(value) => escaped(value.encode_utf8(&mut [0; 4])),
        Node::Class(characters) => set(characters),
        Node::Assert(assert) => match assert {
            Assert::Start => "^",
            Assert::End => r"\Z",
            Assert::EndOrFinalNewline => "$",
            Assert::LineStart => "(?m:^)",
            Assert::LineEnd => "(?m:$)",
            Assert::WordBoundary { .. } => r"\b",
            Assert::NotWordBoundary { .. } => r"\B",
            Assert::WordStart { .. } => r"\m",
            Assert::WordEnd { .. } => r"\M",
        }
        .to_owned(),
        Node::Concat(nodes) => nodes.iter().map(write).collect::<Option<String>>()?,
        Node::Alternation(nodes) => {
            let branches: Option<Vec<String>> = nodes.iter().map(write).collect();
            format!("(?:{})", branches?.join("|"))
        }
        Node::Repeat(repeat) => {
            let inner = write(&repeat.node)?;
            let alone = matches!(
                repeat.node,
                Node::Char(_) | Node::Class(_) | Node::Alternation(_)
            );
            let inner = if alone { inner } else { format!("(?:{inner})") };
            let count = match (repeat.min, repeat.max) {
                (0, None) => "*".to_owned(),
                (1, None) => "+".to_owned(),
                (0, Some(1)) => "?".to_owned(),
                (min, None) => format!("{{{min},}}"),
                (min, Some(max)) if min == max => format!("{{{min}}}"),
                (min, Some(max)) => format!("{{{min},{max}}}"),
            };
            let kind = match repeat.kind {
                RepeatKind::Greedy => "",
                RepeatKind::Lazy => "?",
                RepeatKind::Possessive => "+",
            };
            format!("{inner}{count}{kind}")
        }
        Node::Group(_, inner) => format!("(?:{})", write(inner)?),
        Node::Atomic(inner) => format!("(?>{})", write(inner)?),
        Node::Look(look) => {
            let sign = match (look.behind, look.negative) {
                (false, false) => "=",
                (false, true) => "!",
                (true, false) => "<=",
                (true, true) => "<!",
            };
            format!("(?{sign}{})", write(&look.node)?)
        }
        Node::Backreference { .. } => return None,
        Node::Conditional(conditional) => match conditional.test {
            Test::Group(_) | Test::Look(_) => return None,
        },
    })
}

/// A class of characters as it is written most shortly. What only marks, and the separators U+001C to U+001F, tell apart in the two
/// modules is written alike.
fn set(characters: &ClassUnicode) -> String {
    let same = |class: ClassUnicode| class == *characters;
    let negated = |mut class: ClassUnicode| {
        class.negate();
        class == *characters
    };
    for (text, not, class) in [
        (r"\s", r"\S", class::space()),
        (r"\s", r"\S", class::space_of_re()),
        (r"\w", r"\W", class::word_of_re()),
        (r"\w", r"\W", class::word()),
        (r"\d", r"\D", class::digit()),
    ] {
        if same(class.clone()) {
            return text.to_owned();
        }
        if negated(class) {
            return not.to_owned();
        }
    }
    if same(class::any()) {
        return ".".to_owned();
    }
    let mut others = characters.clone();
    others.negate();
    let (sign, written) = if others.ranges().len() < characters.ranges().len() {
        ("^", &others)
    } else {
        ("", characters)
    };
    let mut out = format!("[{sign}");
    let spaces = class::space_of_re();
    let mut rest = written.clone();
    let mut has_spaces = spaces.clone();
    has_spaces.intersect(written);
    if has_spaces == spaces {
        out.push_str(r"\s");
        rest.difference(&spaces);
    }
    for range in rest.ranges() {
        out.push_str(&in_set(range.start()));
        if range.end() > range.start() {
            if u32::from(range.end()) > u32::from(range.start()) + 1 {
                out.push('-');
            }
            out.push_str(&in_set(range.end()));
        }
    }
    out.push(']');
    out
}

fn in_set(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        '\\' | ']' | '[' | '^' | '-' => format!("\\{c}"),
        c if c.is_control() || u32::from(c) >= 0x1_0000 => format!("\\U{:08x}", u32::from(c)),
        c => c.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_together_again_matches_the_same() {
        let text = "a <think>\nHm. 1</think> é_x\n<f=ab> {x} tail\n";
        for pattern in [
            r"(?:<think>\s*(.*?)\s*</think>)?",
            r"<f=([^>\s]+)>\s*(\{.*?\})",
            r"(\w+)\W(?=\d)",
            r"(?:a|<f)(?:.|\n){2,5}?x?",
            r"(?<=>)\s([\w-]+)",
            r"[^\W\d]+$",
            r"(?:(?!</think>)[\s\S])*</think>",
            r"\b(\w)\B",
        ] {
            let original = Pattern::re(pattern).expect("a pattern");
            let written = source(&parts(&original), &|_| None).expect("a source");
            let again =
                Pattern::regex(&written).unwrap_or_else(|error| panic!("{written}: {error}"));
            let spans = |pattern: &Pattern| {
                let found = pattern.find_iter(text);
                found
                    .map(|found| found.expect("no limit").span)
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                spans(&original),
                spans(&again),
                "{pattern} became {written}"
            );
        }
    }
}
