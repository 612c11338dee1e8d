//! Delimiters taken apart: what opens a call around its name, and patterns of several ways.

use crate::derive::compare::pattern::enclosed;
use crate::derive::compare::text::escape;
use crate::pattern::Pattern;
use crate::response_template::Delimiter;
use crate::response_template::strict::split_group;

/// An opening pattern with a call's name in it: the pattern before the group, the group, and the pattern behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Split<'p> {
    pub(super) before: &'p str,
    pub(super) group: &'p str,
    pub(super) behind: &'p str,
}

/// How the group of a call's name begins.
const NAME: &str = "(?P<name>";

impl<'p> Split<'p> {
    /// Takes an opening pattern apart; `None` where the name is not captured exactly once, or inside of another group.
    pub(super) fn of(pattern: &'p str) -> Option<Self> {
        let (before, _, behind) = split_group(pattern, "name")?;
        let split = Self {
            before,
            group: &pattern[before.len()..pattern.len() - behind.len()],
            behind,
        };
        let is_whole = |part: &str| Pattern::regex(part).is_ok() && !part.contains(NAME);
        (is_whole(split.before) && is_whole(split.behind)).then_some(split)
    }
}

/// Returns the group of a name without the first character of `behind`, which now ends the name. Only a group that is a class of excluded
/// characters is changed.
pub(super) fn without(group: &str, behind: &str) -> String {
    let first = behind.chars().next();
    let set = group.strip_prefix(&format!("{NAME}[^"));
    match (set.and_then(|set| set.strip_suffix("]+)")), first) {
        (Some(set), Some(first)) if !first.is_alphanumeric() && !set.contains(first) => {
            let first = match first {
                '\\' | ']' | '[' | '^' | '-' => format!("\\{first}"),
                other => other.to_string(),
            };
            format!("{NAME}[^{set}{first}]+)")
        }
        _ => group.to_owned(),
    }
}

/// The delimiter as a pattern.
pub(super) fn source(delimiter: &Delimiter) -> String {
    match delimiter {
        Delimiter::Pattern(source) => source.clone(),
        Delimiter::Literals(literals) => match literals.as_slice() {
            [one] => escape(one),
            several => {
                let escaped: Vec<String> = several.iter().map(|one| escape(one)).collect();
                format!("(?:{})", escaped.join("|"))
            }
        },
    }
}

/// Returns a pattern that matches whatever either pattern matches. If `pattern` has alternatives already, another one is added.
pub(super) fn either(pattern: &str, other: &str) -> String {
    match enclosed(pattern, "(?:") {
        Some(inner) => format!("(?:{inner}|{other})"),
        None => format!("(?:{pattern}|{other})"),
    }
}
