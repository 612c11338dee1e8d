//! A tag's pattern in two halves: up to where its value begins, and from where it ends.
//!
//! A pattern as a whole says that a tag has matched when its end has come. Most of them are `OPEN(?P<value>.*?)CLOSE`, and `.*?` lets
//! anything pass: such a pattern matches where its first half does, if its second half does anywhere behind that, and the value
//! ends where the second half first matches. So the two can be looked for one after the other, and what comes between passed on. Only where
//! the second half never comes is there no match, or another: then what was passed on was wrong.
//!
//! The halves are taken from the source, and only where that is certain to mean the same: the value is a group at the top of the
//! pattern, or of each alternative of a group at the top, and no half refers to a group of the other. One reference is no obstacle: a
//! close that repeats the key, as `</(?P=key)>` does, is a pattern of its own for each key, made when the key has come.
//!
//! Values that are JSON are another matter. Where one begins, its first character says whether a string comes, and the string's own
//! quotes where it ends, whatever the pattern allows for other values: `=(?P<value>'[^']*')`. What is told of such a value early is a guess, which
//! the match of the whole pattern confirms, so that halves are enough that are right for strings.

use std::borrow::Cow;

use crate::pattern::parts::escaped;
use crate::pattern::{ByteSet, Pattern};
use crate::value::Key;

#[derive(Debug, Clone)]
pub(super) struct Split {
    /// The half up to the value. It has the group `key` and, where there are several alternatives, a group for each.
    pub(super) open: Pattern,
    /// The halves behind the value, one for each alternative; `None` where the value comes whole. Behind these stands one for each
    /// alternative that ends a string in delimiters of its own.
    closes: Vec<Option<Closing>>,
    /// The groups that tell the alternatives apart; none for a single one.
    alternatives: Vec<Key>,
    /// How many bytes in front of a match the halves look at.
    pub(super) lookbehind: usize,
}

/// The end of a value.
#[derive(Debug, Clone)]
pub(super) enum Closing {
    /// One pattern, whatever the key is.
    Fixed(Close),
    /// The source of a pattern, cut at each place where the key stands.
    Keyed(Vec<String>),
}

/// The reference to the key.
const KEY: &str = "(?P=key)";

/// How many bytes a key may have for a pattern to be made of it.
const KEY_BYTES: usize = 256;

impl Closing {
    fn new(source: &str) -> Option<Self> {
        if refers(&source.replace(KEY, "(?:k)")) {
            return None;
        }
        let sources: Vec<String> = source.split(KEY).map(str::to_owned).collect();
        let escaped = sources.iter().any(|before| before.ends_with('\\'));
        match sources.len() {
            1 => Close::new(source).map(Self::Fixed),
            // That it looks back, and that it cannot match nothing, is the same for every key.
            _ if !escaped => {
                let close = Close::new(&sources.join("k"))?;
                (close.pattern.lookbehind() == 0).then_some(Self::Keyed(sources))
            }
            _ => None,
        }
    }

    /// The end of a value under this key; `None` if the key is empty, or too long to make a pattern of.
    pub(super) fn of(&self, key: &str) -> Option<Cow<'_, Close>> {
        match self {
            Self::Fixed(close) => Some(Cow::Borrowed(close)),
            Self::Keyed(sources) if (1..=KEY_BYTES).contains(&key.len()) => {
                Close::new(&sources.join(&format!("(?:{})", escaped(key)))).map(Cow::Owned)
            }
            Self::Keyed(_) => None,
        }
    }
}

/// The pattern that ends a value.
#[derive(Debug, Clone)]
pub(super) struct Close {
    pub(super) pattern: Pattern,
    /// The bytes that it can begin with. Text without them need not be kept, unless it is looked back at.
    pub(super) starts: Option<ByteSet>,
}

impl Close {
    fn new(source: &str) -> Option<Self> {
        let pattern = Pattern::regex(source).ok()?;
        (!matches_nothing(&pattern)).then(|| Self {
            starts: pattern.first_bytes(),
            pattern,
        })
    }
}

/// Returns true if the pattern can match an empty text, and so would match everywhere.
fn matches_nothing(pattern: &Pattern) -> bool {
    !matches!(pattern.search("", 0), Ok(None))
}

/// The forms in which a value is written that takes everything up to the close.
const VALUES: [&str; 3] = [
    "(?P<value>.*?)",
    r"(?P<value>[\s\S]*?)",
    "(?P<value>(?:.|\\n)*?)",
];

/// The name of the group that tells alternatives apart.
fn group_of(number: usize) -> String {
    format!("obverse_alternative_{number}")
}

impl Split {
    /// The halves of a pattern whose values are their text; `None` where the value can be passed on early in no alternative.
    pub(super) fn new(pattern: &Pattern) -> Option<Self> {
        let split = Self::read(pattern, None)?;
        split.closes.iter().any(Option::is_some).then_some(split)
    }

    /// The halves of a pattern whose values are JSON, in which strings may have a close of their own, such as `'`.
    pub(super) fn of_json(pattern: &Pattern, string_close: Option<&str>) -> Option<Self> {
        Self::read(pattern, Some(string_close.unwrap_or_default()))
    }

    fn read(pattern: &Pattern, string_close: Option<&str>) -> Option<Self> {
        let Parts {
            before,
            alternatives,
            behind,
        } = Parts::read(pattern.source())?;
        let mut open = before.to_owned();
        let names: Vec<Key> = match alternatives.len() {
            1 => Vec::new(),
            many => (0..many)
                .map(|alternative| group_of(alternative).into())
                .collect(),
        };
        match (alternatives.as_slice(), names.is_empty()) {
            ([alternative], true) => open.push_str(alternative.before),
            _ => {
                let begins = alternatives.iter().zip(&names);
                let begins: Vec<String> = begins
                    .map(|(alternative, name)| format!("{}(?P<{name}>)", alternative.before))
                    .collect();
                open.push_str(&format!("(?:{})", begins.join("|")));
            }
        }
        if refers(&open) {
            return None;
        }
        let open = Pattern::regex(&open).ok()?;
        let keyed = open.group_names().iter().filter(|name| *name == "key");
        if keyed.count() != 1 || matches_nothing(&open) {
            return None;
        }
        let ends = alternatives.iter().map(|alternative| {
            let close = format!("{}{behind}", alternative.behind);
            Closing::new(&close).filter(|_| VALUES.contains(&alternative.value))
        });
        let string_ends = alternatives.iter().filter_map(|alternative| {
            let close = string_close.filter(|close| !close.is_empty())?;
            Some(Closing::new(&format!(
                "{}{}{behind}",
                escaped(close),
                alternative.behind
            )))
        });
        let closes: Vec<Option<Closing>> = ends.chain(string_ends).collect();
        let lookbehind = closes.iter().flatten().map(|close| match close {
            Closing::Fixed(close) => close.pattern.lookbehind(),
            Closing::Keyed(_) => 0,
        });
        let lookbehind = lookbehind.chain([open.lookbehind()]).max();
        Some(Self {
            open,
            closes,
            alternatives: names,
            lookbehind: lookbehind.unwrap_or_default(),
        })
    }

    /// The number of the alternative whose group this is.
    pub(super) fn alternative(&self, group: &str) -> Option<usize> {
        self.alternatives.iter().position(|name| name == group)
    }

    /// True if there is but one alternative.
    pub(super) fn is_single(&self) -> bool {
        self.alternatives.is_empty()
    }

    /// The half behind the value, by its number.
    pub(super) fn close(&self, number: usize) -> Option<&Closing> {
        self.closes.get(number)?.as_ref()
    }

    /// The number of the half that ends a string in delimiters of its own, in this alternative.
    pub(super) fn string_close(&self, alternative: usize) -> usize {
        self.alternatives.len().max(1) + alternative
    }
}

/// Returns true if the half has references to groups, conditions or flags, which reach across the halves.
fn refers(half: &str) -> bool {
    const REACHES: [&str; 11] = [
        "(?P=", "(?(", "(?i", "(?a", "(?u", "(?x", "(?m", "(?s", "(?-", "\\g", "(?R",
    ];
    REACHES.iter().any(|reference| half.contains(reference))
        || half
            .as_bytes()
            .windows(2)
            .any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit())
}

/// The source of a pattern, taken apart at its value.
struct Parts<'s> {
    /// The source before the group of alternatives, and behind it; empty where there is no such group.
    before: &'s str,
    behind: &'s str,
    alternatives: Vec<Alternative<'s>>,
}

/// The source of an alternative, taken apart at its value.
struct Alternative<'s> {
    before: &'s str,
    /// The group of the value.
    value: &'s str,
    behind: &'s str,
}

const VALUE: &str = "(?P<value>";

impl<'s> Parts<'s> {
    fn read(source: &'s str) -> Option<Self> {
        let top = Top::read(source)?;
        if let Some(alternative) = Alternative::read(source, &top) {
            return Some(Self {
                before: "",
                behind: "",
                alternatives: vec![alternative],
            });
        }
        let has_value = |group: &&Group| source[group.start..group.end].contains(VALUE);
        let group = top.groups.iter().find(has_value)?;
        let inner = source[group.start..group.end].strip_prefix("(?:")?;
        if top.has_bar || is_repeated(source, group.end) {
            return None;
        }
        let mut from = group.end - inner.len();
        let mut alternatives = Vec::new();
        for end in group.bars.iter().copied().chain([group.end - 1]) {
            let source = source.get(from..end)?;
            alternatives.push(Alternative::read(source, &Top::read(source)?)?);
            from = end + 1;
        }
        (source.matches(VALUE).count() == alternatives.len()).then(|| Self {
            before: &source[..group.start],
            behind: &source[group.end..],
            alternatives,
        })
    }
}

impl<'s> Alternative<'s> {
    fn read(source: &'s str, top: &Top) -> Option<Self> {
        let is_value = |group: &&Group| source[group.start..].starts_with(VALUE);
        let group = top.groups.iter().find(is_value)?;
        let alone = !top.has_bar && source.matches(VALUE).count() == 1;
        (alone && !is_repeated(source, group.end)).then(|| Self {
            before: &source[..group.start],
            value: &source[group.start..group.end],
            behind: &source[group.end..],
        })
    }
}

/// Returns true if a quantifier stands here.
fn is_repeated(source: &str, at: usize) -> bool {
    matches!(source.as_bytes().get(at), Some(b'?' | b'*' | b'+' | b'{'))
}

/// The top of a pattern's source: what stands within no group.
struct Top {
    groups: Vec<Group>,
    /// True if a bar stands there.
    has_bar: bool,
}

/// A group at the top, from its parenthesis to behind the other one, in bytes.
struct Group {
    start: usize,
    end: usize,
    /// The bars directly within it.
    bars: Vec<usize>,
}

impl Top {
    /// Returns the top of a source; `None` where its parentheses do not come in pairs.
    fn read(source: &str) -> Option<Self> {
        let bytes = source.as_bytes();
        let (mut at, mut depth, mut class) = (0, 0usize, false);
        let mut groups: Vec<Group> = Vec::new();
        let mut has_bar = false;
        while at < bytes.len() {
            match bytes[at] {
                b'\\' => at += 1,
                b']' if class => class = false,
                _ if class => {}
                b'[' => {
                    class = true;
                    // A bracket that comes first is one of the set.
                    let negated = usize::from(bytes.get(at + 1) == Some(&b'^'));
                    if bytes.get(at + 1 + negated) == Some(&b']') {
                        at += 1 + negated;
                    }
                }
                b'(' => {
                    if depth == 0 {
                        groups.push(Group {
                            start: at,
                            end: at,
                            bars: Vec::new(),
                        });
                    }
                    depth += 1;
                }
                b')' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        groups.last_mut()?.end = at + 1;
                    }
                }
                b'|' if depth == 0 => has_bar = true,
                b'|' if depth == 1 => groups.last_mut()?.bars.push(at),
                _ => {}
            }
            at += 1;
        }
        (depth == 0 && !class).then_some(Self { groups, has_bar })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halves(source: &str) -> Option<(String, Vec<String>)> {
        let split = Split::new(&Pattern::regex(source).expect("a pattern"))?;
        let closes = split.closes.iter().flatten().map(|close| match close {
            Closing::Fixed(close) => close.pattern.source().to_owned(),
            Closing::Keyed(sources) => sources.join(KEY),
        });
        Some((split.open.source().to_owned(), closes.collect()))
    }

    #[test]
    fn patterns_come_apart_where_nothing_reaches_across() {
        let halves_of = |source: &str| halves(source).expect("two halves");
        assert_eq!(
            halves_of(r"<p=(?P<key>[^\s>]+)>\n?(?P<value>.*?)\n?</p>"),
            (
                r"<p=(?P<key>[^\s>]+)>\n?".to_owned(),
                vec![r"\n?</p>".to_owned()]
            )
        );
        assert_eq!(
            halves_of(r"<p=(?P<key>\w+)(?:><c>(?P<value>.*?)</c></p>|>(?P<value>.*?)</p>)"),
            (
                r"<p=(?P<key>\w+)(?:><c>(?P<obverse_alternative_0>)|>(?P<obverse_alternative_1>))"
                    .to_owned(),
                vec!["</c></p>".to_owned(), "</p>".to_owned()]
            )
        );
        assert_eq!(
            halves_of(r"<(?P<key>\w+)>(?P<value>.*?)</(?P=key)>"),
            (r"<(?P<key>\w+)>".to_owned(), vec!["</(?P=key)>".to_owned()])
        );
        assert_eq!(
            halves_of(r"(?P<key>\w+)(?:=(?P<value>\d+)|='(?P<value>.*?)')(?=,)"),
            (
                r"(?P<key>\w+)(?:=(?P<obverse_alternative_0>)|='(?P<obverse_alternative_1>))"
                    .to_owned(),
                vec!["'(?=,)".to_owned()]
            )
        );
        for whole in [
            r"<(?P<key>\w+)>(?P<value>.*?)</(?P=value)>",
            r"<(?P<key>\w+)>(?P<value>.*?)\(?P=key\)",
            r"<(?P<key>\w+)>(?P<value>.*?)(?P=key)?",
            r"<(?P<key>\w+)>(?P<value>.*?)</\1>",
            r"<p>(?P<value>.*?)(?P<key>\w+)</p>",
            r"<(?P<key>\w+)>(?P<value>.+)</p>",
            r"(?P<key>a)|(?P<value>.*?)b",
            r"<(?P<key>\w+)(?:>(?P<value>\d+)</p>|/>(?P<value>\w)</p>)",
            r"<(?P<key>\w+)>(?:(?P<value>.*?)x)?",
            r"<(?P<key>\w+)>(?P<value>.*?)",
            r"(?i)<(?P<key>\w+)>(?P<value>.*?)</p>",
            r"(?P<key>\w*)(?P<value>.*?)b",
        ] {
            assert_eq!(halves(whole), None, "{whole}");
        }
    }
}
