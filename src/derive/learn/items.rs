//! The items of a derived pattern: its constants, its white space, and the groups that take parts of a message.

use super::gaps::Part;
use crate::value::python;

/// An item of a pattern, with its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Literal(char),
    Space,
    /// The beginning of a group that takes a part of the message, with that part where the group has its name.
    Opens(Option<Part>),
    /// The end of such a group.
    Closes(Option<Part>),
    Else,
}

/// The items of a pattern. What looks behind is one item: its length has a bound, which nothing may be added to.
pub(super) fn items(pattern: &str) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    // For each group that is open, whether it takes a part.
    let mut groups: Vec<Kind> = Vec::new();
    let mut at = 0;
    while let Some(c) = pattern[at..].chars().next() {
        let rest = &pattern[at..];
        let (kind, len) = match c {
            '\\' => {
                let escaped = rest[1..].chars().next().unwrap_or('\\');
                let kind = match escaped {
                    's' | 'n' | 'r' | 't' => Kind::Space,
                    other if other.is_alphanumeric() => Kind::Else,
                    other => Kind::Literal(other),
                };
                (kind, 1 + escaped.len_utf8())
            }
            '[' => (Kind::Else, class_len(rest)),
            '(' if rest.starts_with("(?<=") || rest.starts_with("(?<!") => {
                (Kind::Else, group_len(rest))
            }
            '(' => {
                let len = match rest {
                    _ if rest.starts_with("(?P<") => rest.find('>').map_or(1, |end| end + 1),
                    _ if rest.starts_with("(?") => 3,
                    _ => 1,
                };
                let named = [
                    ("(?P<name>", Part::Name),
                    ("(?P<key>", Part::Key),
                    ("(?P<value>", Part::Value),
                ];
                let named = named.iter().find(|(text, _)| rest.starts_with(text));
                let (kind, end) = match named {
                    Some((_, part)) => (Kind::Opens(Some(*part)), Kind::Closes(Some(*part))),
                    // What only looks for a name has a class of characters for it.
                    None if rest.starts_with("(?:[") => (Kind::Opens(None), Kind::Closes(None)),
                    None => (Kind::Else, Kind::Else),
                };
                groups.push(end);
                (kind, len.min(rest.len()))
            }
            ')' => (groups.pop().unwrap_or(Kind::Else), 1),
            '*' | '+' | '?' | '{' => {
                let len = match c {
                    '{' => rest.find('}').map_or(1, |end| end + 1),
                    _ => 1,
                };
                match items.last_mut() {
                    // White space is white space however often it stands there; a sign that is repeated is no constant.
                    Some(last) if last.kind == Kind::Space => {
                        last.end = at + len;
                        at += len;
                        continue;
                    }
                    Some(last) if matches!(last.kind, Kind::Literal(_)) => last.kind = Kind::Else,
                    _ => {}
                }
                (Kind::Else, len)
            }
            '|' | '.' | '^' | '$' => (Kind::Else, 1),
            c if python::is_space(c) => (Kind::Space, c.len_utf8()),
            c => (Kind::Literal(c), c.len_utf8()),
        };
        items.push(Item {
            kind,
            start: at,
            end: at + len,
        });
        at += len;
    }
    items
}

/// The length of a class of characters, with its brackets.
fn class_len(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    let _ = chars.next_if(|(_, c)| *c == '^');
    let _ = chars.next_if(|(_, c)| *c == ']');
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            ']' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a group, with its brackets.
fn group_len(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let len = match c {
            '\\' => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            '[' => class_len(&text[at..]),
            other => other.len_utf8(),
        };
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return at + 1,
            ')' => depth -= 1,
            _ => {}
        }
        at += len;
    }
    text.len()
}

/// The items from one on that are these characters, white space aside; `None` where others stand there.
pub(super) fn matched(items: &[Item], from: usize, chars: &[char]) -> Option<(usize, usize)> {
    let mut at = from;
    let mut first = None;
    for c in chars {
        while items.get(at)?.kind == Kind::Space {
            at += 1;
        }
        (items.get(at)?.kind == Kind::Literal(*c)).then_some(())?;
        first = first.or(Some(at));
        at += 1;
    }
    Some((first.unwrap_or(from), at))
}

/// The index of the first of the items before one that are these characters, white space aside.
pub(super) fn matched_before(items: &[Item], from: usize, chars: &[char]) -> Option<usize> {
    let mut at = from;
    for c in chars.iter().rev() {
        loop {
            at = at.checked_sub(1)?;
            if items[at].kind != Kind::Space {
                break;
            }
        }
        (items[at].kind == Kind::Literal(*c)).then_some(())?;
    }
    Some(at)
}
