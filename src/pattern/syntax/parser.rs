//! The parser: alternatives, sequences and quantifiers.

use std::collections::HashMap;

use super::ast::{Assert, Node, Repeat, RepeatKind};
use super::cursor::Cursor;
use super::{class, fuzzy};
use crate::pattern::error::PatternError;
use crate::pattern::limits;

/// A pattern's tree and its groups.
#[derive(Debug, Clone)]
pub(crate) struct Parsed {
    pub(crate) node: Node,
    /// How many numbered groups there are; numbers start at 1.
    pub(crate) groups: usize,
    /// The named groups with their numbers, in the order in which the names first appear.
    pub(crate) names: Vec<(String, usize)>,
}

/// Whose syntax a source is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dialect {
    /// Python's `regex` module.
    #[default]
    Regex,
    /// Python's `re` module, as of Python 3.11.
    Re,
}

/// The flags that a stretch of the pattern stands under.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) ignore_case: bool,
    pub(super) multiline: bool,
    pub(super) dotall: bool,
    pub(super) verbose: bool,
    pub(super) ascii: bool,
    pub(super) unicode: bool,
}

/// How a group was named where it is referred to.
#[derive(Debug, Clone)]
pub(super) enum GroupReference {
    Number(usize),
    Name(String),
}

#[derive(Debug)]
pub(super) struct Parser<'s> {
    pub(super) cursor: Cursor<'s>,
    pub(super) flags: Flags,
    /// True if the whole pattern ends under the flag `a`: what `\m`, `\h`, POSIX classes and the cases of letters ask.
    pub(super) ascii: bool,
    pub(super) group_count: usize,
    pub(super) names: Vec<(String, usize)>,
    pub(super) numbers: HashMap<String, usize>,
    pub(super) open_groups: Vec<usize>,
    /// References to be checked once all groups are known: number or name, place.
    pub(super) references: Vec<(GroupReference, std::ops::Range<usize>)>,
    pub(super) depth: usize,
    pub(super) dialect: Dialect,
    /// True if no bar was read yet.
    is_first_branch: bool,
    /// How many ranges the sets so far have together.
    class_ranges: usize,
}

/// Reads `source`.
///
/// # Errors
///
/// Where `regex` refuses the source, where it uses a construct that is not supported, and where it is too long or too
/// deeply nested.
pub(crate) fn parse(source: &str) -> Result<Parsed, PatternError> {
    parse_as(source, Dialect::Regex)
}

/// Reads `source` as a dialect has it. In `re` every group has a name, an unnamed one its number.
///
/// # Errors
///
/// As [`parse`], for the module of the dialect.
pub(crate) fn parse_as(source: &str, dialect: Dialect) -> Result<Parsed, PatternError> {
    if source.len() > limits::PATTERN_BYTES {
        return Err(PatternError::new(
            format!("the pattern is longer than {} bytes", limits::PATTERN_BYTES),
            0..source.len(),
        ));
    }
    // Some constructs ask for the flag `a` of the whole pattern, which its end decides.
    let mut parser = Parser::new(source, false, dialect);
    let mut node = parser.whole()?;
    if parser.flags.ascii && dialect == Dialect::Regex {
        parser = Parser::new(source, true, dialect);
        node = parser.whole()?;
    }
    let resolved = parser.resolve_references()?;
    number_references(&mut node, &resolved);
    Ok(Parsed {
        node,
        groups: parser.group_count,
        names: parser.names,
    })
}

/// Replaces the place holders of references by the numbers of the groups that they refer to.
fn number_references(node: &mut Node, resolved: &[usize]) {
    use super::ast::Test;
    match node {
        Node::Backreference { group, .. } => *group = resolved[*group],
        Node::Concat(nodes) | Node::Alternation(nodes) => {
            nodes
                .iter_mut()
                .for_each(|node| number_references(node, resolved));
        }
        Node::Repeat(repeat) => number_references(&mut repeat.node, resolved),
        Node::Group(_, node) | Node::Atomic(node) => number_references(node, resolved),
        Node::Look(look) => number_references(&mut look.node, resolved),
        Node::Conditional(conditional) => {
            match &mut conditional.test {
                Test::Group(group) => *group = resolved[*group],
                Test::Look(look) => number_references(&mut look.node, resolved),
            }
            number_references(&mut conditional.yes, resolved);
            number_references(&mut conditional.no, resolved);
        }
        Node::Empty | Node::Char(_) | Node::Class(_) | Node::Assert(_) => {}
    }
}

/// The kind of thing that stands before a quantifier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Item,
    /// A condition on the place, which `re` repeats as little as nothing.
    Condition,
    Quantified,
}

impl<'s> Parser<'s> {
    fn new(source: &'s str, ascii: bool, dialect: Dialect) -> Self {
        Self {
            cursor: Cursor::new(source),
            flags: Flags {
                dotall: true,
                ..Flags::default()
            },
            ascii,
            group_count: 0,
            names: Vec::new(),
            numbers: HashMap::new(),
            open_groups: Vec::new(),
            references: Vec::new(),
            depth: 0,
            dialect,
            is_first_branch: true,
            class_ranges: 0,
        }
    }
}

impl Parser<'_> {
    pub(super) fn is_re(&self) -> bool {
        self.dialect == Dialect::Re
    }

    fn whole(&mut self) -> Result<Node, PatternError> {
        let node = self.alternatives()?;
        if self.cursor.peek().is_some() {
            let at = self.cursor.at;
            return Err(PatternError::new(
                "a closing parenthesis without an opening one",
                at..at + 1,
            ));
        }
        if self.flags.ascii && self.flags.unicode {
            return Err(PatternError::new(
                "the flags `a` and `u` exclude each other",
                0..self.cursor.source.len(),
            ));
        }
        Ok(node)
    }

    /// `a|b|c`, up to a closing parenthesis or the end.
    pub(super) fn alternatives(&mut self) -> Result<Node, PatternError> {
        self.enter()?;
        let mut branches = vec![self.sequence()?];
        while self.cursor.eat("|") {
            self.is_first_branch = false;
            branches.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(if branches.len() == 1 {
            branches.remove(0)
        } else {
            Node::Alternation(branches)
        })
    }

    /// A sequence where alternatives cannot stand, one level down.
    pub(super) fn nested_sequence(&mut self) -> Result<Node, PatternError> {
        self.enter()?;
        let node = self.sequence()?;
        self.depth -= 1;
        Ok(node)
    }

    fn enter(&mut self) -> Result<(), PatternError> {
        self.depth += 1;
        if self.depth > limits::NESTING {
            let at = self.cursor.at;
            return Err(PatternError::new(
                format!("groups are nested more than {} deep", limits::NESTING),
                at.saturating_sub(1)..at,
            ));
        }
        Ok(())
    }

    /// Reads a branch: the items between two bars.
    pub(super) fn sequence(&mut self) -> Result<Node, PatternError> {
        let mut items: Vec<Node> = Vec::new();
        let mut before = Before::Nothing;
        while let Some(next) = self.cursor.peek() {
            if next == ')' || next == '|' {
                break;
            }
            self.cursor.next();
            let condition = self.is_re()
                && (matches!(next, '^' | '$')
                    || next == '\\'
                        && matches!(self.cursor.raw_peek(), Some('A' | 'Z' | 'b' | 'B')));
            if self.is_re()
                && next == '('
                && self.is_global_flags()
                && !(self.depth == 1 && items.is_empty() && self.is_first_branch)
            {
                let at = self.cursor.at - 1;
                return Err(PatternError::new(
                    "flags of the whole pattern stand at its beginning",
                    at..at + 2,
                )
                .with_hint("write `(?i:...)` for flags of a part"));
            }
            let item = match next {
                '\\' => self.escape()?,
                '(' => match self.group()? {
                    Some(node) => node,
                    None => continue,
                },
                '[' => self.set()?,
                '.' if self.flags.dotall => Node::Class(class::any()),
                '.' => Node::Class(class::any_but_newline()),
                '^' if self.flags.multiline => Node::Assert(Assert::LineStart),
                '^' => Node::Assert(Assert::Start),
                '$' if self.flags.multiline => Node::Assert(Assert::LineEnd),
                '$' => Node::Assert(Assert::EndOrFinalNewline),
                '?' | '*' | '+' | '{' => {
                    if self.quantify(&mut items, before, next)? {
                        before = Before::Quantified;
                        continue;
                    }
                    self.literal(next)
                }
                _ => self.literal(next),
            };
            if let Node::Class(class) = &item {
                self.class_ranges += class.ranges().len();
                if self.class_ranges > limits::CLASS_RANGES {
                    return Err(PatternError::new(
                        format!(
                            "the pattern's sets have more than {} ranges together",
                            limits::CLASS_RANGES
                        ),
                        self.cursor.at - 1..self.cursor.at,
                    ));
                }
            }
            items.push(item);
            before = if condition {
                Before::Condition
            } else {
                Before::Item
            };
        }
        Ok(match items.len() {
            0 => Node::Empty,
            1 => items.remove(0),
            _ => Node::Concat(items),
        })
    }

    /// Puts the last item under the quantifier that begins with `first`; false where that is only a character.
    fn quantify(
        &mut self,
        items: &mut Vec<Node>,
        before: Before,
        first: char,
    ) -> Result<bool, PatternError> {
        let start = self.cursor.at - 1;
        let Some((min, max)) = self.quantifier(first)? else {
            if first == '{'
                && !self.is_re()
                && let Some(end) = fuzzy::length(&self.cursor)
            {
                return Err(
                    PatternError::new("fuzzy matching is not supported", start..end)
                        .with_hint("write `\\{` for the character itself"),
                );
            }
            return Ok(false);
        };
        let place = start..self.cursor.at;
        match before {
            Before::Condition => {
                return Err(
                    PatternError::new("there is nothing to repeat", place).with_hint(
                        "a condition on the place holds or does not: leave the quantifier out",
                    ),
                );
            }
            Before::Nothing if items.is_empty() => {
                return Err(PatternError::new("there is nothing to repeat", place)
                    .with_hint(format!("write `\\{first}` for the character itself")));
            }
            Before::Nothing | Before::Quantified => {
                return Err(
                    PatternError::new("a quantifier follows a quantifier", place)
                        .with_hint("put what is to be repeated into `(?:...)`"),
                );
            }
            Before::Item => {}
        }
        let kind = if self.cursor.eat("?") {
            RepeatKind::Lazy
        } else if self.cursor.eat("+") {
            RepeatKind::Possessive
        } else {
            RepeatKind::Greedy
        };
        if let Some(node) = items.pop() {
            items.push(repeat(node, min, max, kind));
        }
        Ok(true)
    }

    /// A character that stands for itself, or for any case of it.
    pub(super) fn literal(&self, value: char) -> Node {
        if !self.flags.ignore_case {
            return Node::Char(value);
        }
        let mut cases = class::single(value);
        self.fold(&mut cases);
        if cases.ranges().len() == 1 && cases.ranges()[0].len() == 1 {
            return Node::Char(value);
        }
        Node::Class(cases)
    }

    /// Adds the other cases of letters, as the dialect knows them.
    pub(super) fn fold(&self, class: &mut regex_syntax::hir::ClassUnicode) {
        if self.is_re() {
            class::fold_as_re(class, self.flags.ascii);
        } else {
            class::fold(class, self.ascii);
        }
    }

    /// The counts of a quantifier that begins with `first`; `None` where a brace is only a brace.
    fn quantifier(&mut self, first: char) -> Result<Option<(u32, Option<u32>)>, PatternError> {
        match first {
            '?' => return Ok(Some((0, Some(1)))),
            '*' => return Ok(Some((0, None))),
            '+' => return Ok(Some((1, None))),
            _ => {}
        }
        let start = self.cursor.at;
        let min = self.cursor.take_while(|c| c.is_ascii_digit());
        let (min, max) = if self.cursor.eat(",") {
            let max = self.cursor.take_while(|c| c.is_ascii_digit());
            (
                if min.is_empty() { "0".to_owned() } else { min },
                (!max.is_empty()).then_some(max),
            )
        } else if min.is_empty() {
            self.cursor.at = start;
            return Ok(None);
        } else {
            (min.clone(), Some(min))
        };
        if !self.cursor.eat("}") {
            self.cursor.at = start;
            return Ok(None);
        }
        let place = start..self.cursor.at - 1;
        let count = |digits: &str| {
            digits
                .parse::<u32>()
                .ok()
                .filter(|count| *count < u32::MAX)
                .ok_or_else(|| {
                    PatternError::new(
                        format!("a repetition count is too large: {digits}"),
                        place.clone(),
                    )
                })
        };
        let min = count(&min)?;
        let max = max.as_deref().map(count).transpose()?;
        if max.is_some_and(|max| min > max) {
            return Err(PatternError::new(
                "the least number of repetitions is above the greatest",
                place,
            ));
        }
        Ok(Some((min, max)))
    }

    fn resolve_references(&self) -> Result<Vec<usize>, PatternError> {
        self.references
            .iter()
            .map(|(reference, place)| {
                let number = match reference {
                    GroupReference::Number(number) => {
                        Some(*number).filter(|number| *number <= self.group_count)
                    }
                    GroupReference::Name(name) => self.numbers.get(name).copied(),
                };
                number.ok_or_else(|| PatternError::new("there is no such group", place.clone()))
            })
            .collect()
    }
}

fn repeat(node: Node, min: u32, max: Option<u32>, kind: RepeatKind) -> Node {
    if node.is_void() || (min == 1 && max == Some(1)) {
        return node;
    }
    Node::Repeat(Box::new(Repeat {
        node,
        min,
        max,
        kind,
    }))
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn refusal(source: &str) -> String {
        let error = parse(source).expect_err(source);
        format!("{}: {:?}", error.message, &source[error.span])
    }

    #[test]
    fn a_quantifier_needs_something_to_repeat() {
        assert_eq!(refusal("a|*"), "there is nothing to repeat: \"*\"");
        assert_eq!(
            refusal("a{2}{3}"),
            "a quantifier follows a quantifier: \"{3}\""
        );
        assert_eq!(
            refusal("a{3,2}"),
            "the least number of repetitions is above the greatest: \"3,2\""
        );
        assert!(parse("a{,}b{}c{x}d{").is_ok());
    }

    #[test]
    fn groups_are_counted_and_named_in_order() {
        let parsed = parse("(a)(?P<y>b)(?:c)(?<x>d)|(?P<y>e)").expect("a pattern");
        assert_eq!(parsed.groups, 3);
        assert_eq!(parsed.names, [("y".to_owned(), 2), ("x".to_owned(), 3)]);
        let parsed = parse("(?|(a)(?P<x>b)|(c))(?P<y>d)").expect("a pattern");
        assert_eq!(parsed.names, [("x".to_owned(), 2), ("y".to_owned(), 3)]);
    }

    #[test]
    fn references_are_checked_when_all_groups_are_known() {
        assert!(parse("\\2(a)(b)").is_ok());
        assert_eq!(refusal("(a)\\2"), "there is no such group: \"\\\\2\"");
        assert_eq!(refusal("(?P=x)"), "there is no such group: \"x\"");
        assert_eq!(refusal("(?P<x>a(?P=x))"), "a group refers to itself: \"x\"");
    }

    #[test]
    fn limits_are_named() {
        assert!(refusal(&"(".repeat(300)).contains("more than 100 deep"));
        assert!(refusal(&"a".repeat(70_000)).contains("longer than 65536 bytes"));
    }
}
