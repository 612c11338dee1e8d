//! Breakpoints: what playing and continuing stop at.

use std::fmt;
use std::str::FromStr;

use crate::replay::{Entry, EntryKind, Timeline};

/// A place to stop at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Breakpoint {
    pub(crate) at: Trigger,
    pub(crate) enabled: bool,
}

/// The trigger of a breakpoint; written as `field NAME`, `event KIND` or `text TEXT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// A region of the field opens.
    Field(String),
    Event(EntryKind),
    /// The text has arrived.
    Text(String),
}

const KINDS: [(&str, EntryKind); 7] = [
    ("open", EntryKind::Open),
    ("text", EntryKind::Text),
    ("close", EntryKind::Close),
    ("error", EntryKind::Error),
    ("stray", EntryKind::Stray),
    ("unclaimed", EntryKind::Unclaimed),
    ("failure", EntryKind::Failure),
];

impl EntryKind {
    /// The name of the kind.
    pub(crate) fn name(self) -> &'static str {
        let known = KINDS.iter().find(|(_, kind)| *kind == self);
        known.map_or("", |(name, _)| name)
    }
}

impl Trigger {
    /// Returns true if an entry sets it off.
    pub(crate) fn holds(&self, timeline: &Timeline, entry: &Entry) -> bool {
        match self {
            Self::Event(kind) => entry.kind == *kind,
            Self::Field(name) => {
                let field = timeline.entry_field(entry);
                entry.kind == EntryKind::Open
                    && field.is_some_and(|field| timeline.field_name(field) == name)
            }
            Self::Text(_) => false,
        }
    }
}

impl FromStr for Trigger {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, rest) = text.trim_start().split_once(' ').unwrap_or((text, ""));
        match kind {
            "field" if !rest.is_empty() => Ok(Self::Field(rest.trim().to_owned())),
            "text" if !rest.is_empty() => Ok(Self::Text(rest.to_owned())),
            "event" => {
                let known = KINDS.iter().find(|(name, _)| *name == rest.trim());
                known
                    .map(|(_, kind)| Self::Event(*kind))
                    .ok_or_else(|| format!("events are {}", KINDS.map(|(name, _)| name).join(", ")))
            }
            _ => Err("write `field NAME`, `event KIND` or `text TEXT`".to_owned()),
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, "field {name}"),
            Self::Event(kind) => write!(f, "event {}", kind.name()),
            Self::Text(text) => write!(f, "text {text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triggers_are_read_as_they_are_written() {
        for text in ["field tool_calls", "event unclaimed", "text <end> x"] {
            let trigger: Trigger = text.parse().expect("a trigger");
            assert_eq!(trigger.to_string(), text);
        }
        for text in ["", "field", "event never", "lines 3", "text"] {
            assert!(text.parse::<Trigger>().is_err(), "{text}");
        }
    }
}
