//! Parts of the text between two places: constant texts, and holes for texts that vary and are no place of their own.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A piece of what stands between two places.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ConnectionPart {
    /// A text that is always the same.
    Text(String),
    /// A text that varies.
    Hole {
        /// The kind of text that it shows.
        any: Hole,
        /// The name of the variable that it shows, if it shows one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
}

/// The kind of a text that varies and is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Hole {
    /// A date or a time.
    Date,
    /// A variable beside the conversation.
    Kwarg,
    /// Definitions of tools that are not written as JSON: kept as text.
    Definitions,
    /// Something of a message that is written at its own place as well: the name of the called tool before its result, the length
    /// of a content.
    Repeated,
}

impl ConnectionPart {
    pub(crate) fn hole(any: Hole) -> Self {
        Self::Hole { any, name: None }
    }

    pub(crate) fn kwarg(name: &str) -> Self {
        Self::Hole {
            any: Hole::Kwarg,
            name: Some(name.to_owned()),
        }
    }

    pub(crate) fn is_definitions(&self) -> bool {
        matches!(
            self,
            Self::Hole {
                any: Hole::Definitions,
                ..
            }
        )
    }

    pub(crate) fn is_kwarg(&self) -> bool {
        matches!(
            self,
            Self::Hole {
                any: Hole::Kwarg,
                ..
            }
        )
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Hole { .. } => None,
        }
    }
}

/// Adds a part, joining texts.
pub(crate) fn append(parts: &mut Vec<ConnectionPart>, part: ConnectionPart) {
    match (parts.last_mut(), part) {
        (_, ConnectionPart::Text(text)) if text.is_empty() => {}
        (Some(ConnectionPart::Text(before)), ConnectionPart::Text(text)) => before.push_str(&text),
        // Two holes side by side could not be told apart.
        (Some(ConnectionPart::Hole { any: before, .. }), ConnectionPart::Hole { any, .. })
            if *before == any => {}
        (_, part) => parts.push(part),
    }
}

/// The bytes of constant text.
pub(crate) fn literal_len(parts: &[ConnectionPart]) -> usize {
    parts
        .iter()
        .filter_map(ConnectionPart::text)
        .map(str::len)
        .sum()
}

/// The longest text that a hole may have, in bytes; definitions of tools may be of any length.
const MAX_HOLE: usize = 400;

/// Where the parts stand in a text from `at` on, one range for each; a hole takes as little as it can.
#[cfg(test)]
fn ranges_at(parts: &[ConnectionPart], text: &str, at: usize) -> Result<Vec<Range<usize>>, usize> {
    ranges_with(parts, text, at, &Some)
}

/// Where the parts stand in a text from `at` on, one range for each; a hole takes as little as it can. `least` tells from where definitions of tools begin how far they reach at least, or that there are none.
pub(crate) fn ranges_with(
    parts: &[ConnectionPart],
    text: &str,
    at: usize,
    least: &dyn Fn(usize) -> Option<usize>,
) -> Result<Vec<Range<usize>>, usize> {
    let mut ranges = Vec::with_capacity(parts.len());
    let mut start = at;
    for (index, part) in parts.iter().enumerate() {
        let rest = text.get(start..).unwrap_or_default();
        let len = match part {
            ConnectionPart::Text(literal) if rest.starts_with(literal.as_str()) => literal.len(),
            ConnectionPart::Text(literal) => {
                return Err(start + crate::text::common_prefix(rest, literal));
            }
            ConnectionPart::Hole { any, .. } => {
                let (least, most) = match any {
                    Hole::Definitions => (least(start).ok_or(start)? - start, rest.len()),
                    _ => (0, ceil(rest, MAX_HOLE)),
                };
                match parts.get(index + 1).and_then(ConnectionPart::text) {
                    Some(next) => {
                        let within = ceil(rest, most + next.len());
                        let behind = rest.get(least..within).ok_or(start)?;
                        least + behind.find(next).ok_or(start)?
                    }
                    None if least > 0 => least,
                    None => most.min(rest.find('\n').unwrap_or(rest.len())),
                }
            }
        };
        ranges.push(start..start + len);
        start += len;
    }
    Ok(ranges)
}

/// The first place between two characters from `at` on.
fn ceil(text: &str, at: usize) -> usize {
    (at..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> ConnectionPart {
        ConnectionPart::Text(text.to_owned())
    }

    #[test]
    fn holes_take_as_little_as_they_can() {
        let parts = [
            text("on "),
            ConnectionPart::hole(Hole::Date),
            text("\n"),
            text("x"),
        ];
        assert_eq!(
            ranges_at(&parts, "_on May\nx\n", 1),
            Ok(vec![1..4, 4..7, 7..8, 8..9])
        );
        // Where it stops fitting.
        assert_eq!(ranges_at(&parts, "on May\ny", 0), Err(7));
        assert_eq!(ranges_at(&parts, "in May", 0), Err(0));
        assert_eq!(ranges_at(&parts, "on May", 0), Err(3));
    }

    #[test]
    fn texts_side_by_side_are_one() {
        let mut parts = Vec::new();
        for part in [
            text("a"),
            text(""),
            text("b"),
            ConnectionPart::hole(Hole::Date),
        ] {
            append(&mut parts, part);
        }
        assert_eq!(parts, [text("ab"), ConnectionPart::hole(Hole::Date)]);
        assert_eq!(literal_len(&parts), 2);
    }
}
