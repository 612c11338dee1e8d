//! A tag's pattern in two halves: up to where its value begins, and from where it ends.
//!
//! A pattern as a whole says that a tag has matched when its end has come. Most of them are `OPEN(?P<value>.*?)CLOSE`, and `.*?` lets
//! anything pass: such a pattern matches where its first half does, if its second half does anywhere behind that, and the value
//! ends where the second half first matches. So the two can be looked for one after the other, and what comes between passed on. Only where
//! the second half never comes is there no match, or another: then what was passed on was wrong.
//!
//! The halves are taken from the source, and only where that is certain to mean the same: the value is a group at the top of the
//! pattern, or of each alternative of a group that ends it, and no half refers to a group of the other. One reference is no obstacle: a
//! close that repeats the key, as `</(?P=key)>` does, is a pattern of its own for each key, made when the key has come.

use std::borrow::Cow;

use crate::pattern::parts::escaped;
use crate::pattern::{ByteSet, Pattern};
use crate::value::Key;

#[derive(Debug, Clone)]
pub(super) struct Split {
    /// The half up to the value; it has the group `key`, and one for each alternative but a single one.
    pub(super) open: Pattern,
    /// The half behind the value, for each alternative.
    pub(super) closes: Vec<Closing>,
    /// The groups that tell the alternatives apart; none for a single one.
    pub(super) ways: Vec<Key>,
    /// How many bytes in front of a match the halves look at.
    pub(super) lookbehind: usize,
}

/// The end of a value.
#[derive(Debug, Clone)]
pub(super) enum Closing {
    /// One pattern, whatever the key is.
    Fixed(Close),
    /// The source of a pattern, apart at each place where the key stands.
    Keyed(Vec<String>),
}

/// The reference to the key.
const KEY: &str = "(?P=key)";

/// How long a key may be, in bytes, that a pattern is made of.
const KEY_BYTES: usize = 256;

impl Closing {
    fn new(source: &str) -> Option<Self> {
        let sources: Vec<String> = source.split(KEY).map(str::to_owned).collect();
        let escaped = sources.iter().any(|before| before.ends_with('\\'));
        match sources.len() {
            1 => Close::new(source).map(Self::Fixed),
            // What it is for any key, it is for this one: whether it looks back, and that it cannot match nothing.
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
fn alternative(number: usize) -> String {
    format!("obverse_alternative_{number}")
}

impl Split {
    pub(super) fn new(pattern: &Pattern) -> Option<Self> {
        let source = pattern.source();
        let parts = Parts::read(source)?;
        let (open, closes): (String, Vec<&str>) = match parts {
            Parts::Two(open, close) => (open.to_owned(), vec![close]),
            Parts::Ending(before, alternatives) => {
                let mut open = format!("{before}(?:");
                let mut closes = Vec::new();
                for (number, alternative_source) in alternatives.iter().enumerate() {
                    let Parts::Two(begins, close) = Parts::read(alternative_source)? else {
                        return None;
                    };
                    if number > 0 {
                        open.push('|');
                    }
                    open.push_str(&format!("{begins}(?P<{}>)", alternative(number)));
                    closes.push(close);
                }
                open.push(')');
                (open, closes)
            }
        };
        // References to groups, conditions and flags reach across the halves.
        let reaches = [
            "(?P=", "(?(", "(?i", "(?a", "(?u", "(?x", "(?m", "(?s", "(?-", "\\g", "(?R",
        ];
        let refers = |half: &str| {
            reaches.iter().any(|reference| half.contains(reference))
                || half
                    .as_bytes()
                    .windows(2)
                    .any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit())
        };
        let reaches_out = |close: &&str| close.is_empty() || refers(&close.replace(KEY, "(?:k)"));
        if refers(&open) || closes.iter().any(reaches_out) {
            return None;
        }
        let open = Pattern::regex(&open).ok()?;
        let closes: Vec<Closing> = closes
            .into_iter()
            .map(Closing::new)
            .collect::<Option<_>>()?;
        let groups = open.group_names();
        let keyed = groups.iter().filter(|name| *name == "key").count() == 1;
        if !keyed || matches_nothing(&open) {
            return None;
        }
        let ways = match closes.len() {
            1 => Vec::new(),
            many => (0..many).map(|way| alternative(way).into()).collect(),
        };
        let behind = closes.iter().map(|close| match close {
            Closing::Fixed(close) => close.pattern.lookbehind(),
            Closing::Keyed(_) => 0,
        });
        let lookbehind = behind.chain([open.lookbehind()]).max().unwrap_or_default();
        Some(Self {
            open,
            closes,
            ways,
            lookbehind,
        })
    }
}

/// The source of a pattern, taken apart at its top.
enum Parts<'s> {
    /// The source before the value, and the source behind it.
    Two(&'s str, &'s str),
    /// The source before the group that ends the value, and the alternatives of that group.
    Ending(&'s str, Vec<&'s str>),
}

impl<'s> Parts<'s> {
    fn read(source: &'s str) -> Option<Self> {
        let bytes = source.as_bytes();
        let (mut at, mut depth, mut class) = (0, 0usize, false);
        let mut group_start = 0;
        let mut bars = Vec::new();
        let mut value = None;
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
                    let written = VALUES
                        .iter()
                        .find(|value| source[at..].starts_with(**value));
                    if let (0, Some(written)) = (depth, written) {
                        if value.replace((at, at + written.len())).is_some() {
                            return None;
                        }
                        at += written.len();
                        continue;
                    }
                    if depth == 0 {
                        group_start = at;
                        bars.clear();
                    }
                    depth += 1;
                }
                b')' => depth = depth.checked_sub(1)?,
                b'|' if depth == 0 => return None,
                b'|' if depth == 1 => bars.push(at),
                _ => {}
            }
            at += 1;
        }
        if depth > 0 || class {
            return None;
        }
        let mentions = source.matches("(?P<value>").count();
        if let Some((start, end)) = value {
            // A quantifier behind the group would repeat it.
            let repeated = matches!(bytes.get(end), Some(b'?' | b'*' | b'+' | b'{'));
            return (mentions == 1 && !repeated)
                .then(|| Self::Two(&source[..start], &source[end..]));
        }
        let inner = source.strip_suffix(')')?.get(group_start..)?;
        let inner = inner.strip_prefix("(?:")?;
        let first = group_start + "(?:".len();
        let mut alternatives = Vec::new();
        let mut from = first;
        for bar in bars.into_iter().chain([first + inner.len()]) {
            alternatives.push(source.get(from..bar)?);
            from = bar + 1;
        }
        (mentions == alternatives.len()).then(|| Self::Ending(&source[..group_start], alternatives))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halves(source: &str) -> Option<(String, Vec<String>)> {
        let split = Split::new(&Pattern::regex(source).expect("a pattern"))?;
        let closes = split.closes.iter().map(|close| match close {
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
        for whole in [
            r"<(?P<key>\w+)>(?P<value>.*?)</(?P=value)>",
            r"<(?P<key>\w+)>(?P<value>.*?)\(?P=key\)",
            r"<(?P<key>\w+)>(?P<value>.*?)(?P=key)?",
            r"<(?P<key>\w+)>(?P<value>.*?)</\1>",
            r"<p>(?P<value>.*?)(?P<key>\w+)</p>",
            r"<(?P<key>\w+)>(?P<value>.+)</p>",
            r"(?P<key>a)|(?P<value>.*?)b",
            r"<(?P<key>\w+)>(?:(?P<value>.*?)x)?",
            r"<(?P<key>\w+)>(?P<value>.*?)",
            r"(?i)<(?P<key>\w+)>(?P<value>.*?)</p>",
            r"(?P<key>\w*)(?P<value>.*?)b",
        ] {
            assert_eq!(halves(whole), None, "{whole}");
        }
    }
}
