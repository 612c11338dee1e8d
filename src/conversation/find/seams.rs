//! Seams: the texts between two places, as they were seen in renders, and the cut between the end of one message and the header of
//! the next.

use std::collections::{BTreeMap, BTreeSet};

use super::pieces::{Piece, Spot, What};
use crate::conversation::format::{ConnectionPart, Holds, Hole, append};
use crate::conversation::render::Talk;

/// A stretch between two places of one render.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seam {
    pub(super) after: Option<Spot>,
    pub(super) before: Option<Spot>,
    /// True if both places belong to one message.
    pub(super) within: bool,
    /// True if the message of the place after stands before all others, although it is written behind one.
    pub(super) moved: bool,
    /// True if the place after belongs to the turn of an assistant that goes on behind the messages in between.
    pub(super) resumes: bool,
    pub(super) prompt: bool,
    pub(super) bits: Vec<Bit>,
}

/// A piece of a seam.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bit {
    ConnectionPart(ConnectionPart),
    Computed { place: (usize, usize), text: String },
}

/// The seams of a render. A seam is left out if a message may stand in it that shows no text, since it cannot be told which part of the
/// seam belongs to that message.
pub(super) fn seams(text: &str, pieces: &[Piece], talk: &Talk) -> Vec<Seam> {
    let shown: BTreeSet<usize> = pieces
        .iter()
        .filter_map(|piece| match &piece.what {
            What::InputText { message, .. } => *message,
            _ => None,
        })
        .collect();
    let hidden: Vec<usize> = (0..talk.messages.len())
        .filter(|at| !shown.contains(at))
        .collect();
    let mut seams = Vec::new();
    let mut before: Option<(Spot, Option<usize>)> = None;
    // The message that was shown last, of all places before.
    let mut last: Option<usize> = None;
    let mut bits = Vec::new();
    let mut at = 0;
    let hides = |last: Option<usize>, next: Option<usize>| {
        let from = last.map_or(0, |last| last + 1);
        let to = next.unwrap_or(talk.messages.len());
        hidden.iter().any(|one| (from..to).contains(one))
    };
    for piece in pieces {
        bits.push(constant(text, at, piece.range.start));
        at = piece.range.end;
        match &piece.what {
            What::Hole(part) => bits.push(Bit::ConnectionPart(part.clone())),
            What::Computed(place) => bits.push(Bit::Computed {
                place: *place,
                text: text[piece.range.clone()].to_owned(),
            }),
            What::InputText { spot, message, .. } => {
                let of = before.as_ref().and_then(|(_, message)| *message);
                let resumes = is_rest(spot) && *message < last;
                let seam = Seam {
                    within: of.is_some() && of == *message,
                    moved: *message == Some(0) && last.is_some_and(|last| last > 0) && !resumes,
                    resumes,
                    after: before.take().map(|(spot, _)| spot),
                    before: Some(spot.clone()),
                    prompt: false,
                    bits: std::mem::take(&mut bits),
                };
                if message.is_none() || !hides(last, *message) {
                    seams.push(seam);
                }
                before = Some((spot.clone(), *message));
                last = last.max(*message);
            }
        }
    }
    bits.push(constant(text, at, text.len()));
    if !hides(last, None) {
        seams.push(Seam {
            after: before.map(|(spot, _)| spot),
            before: None,
            within: false,
            moved: false,
            resumes: false,
            prompt: talk.prompt,
            bits,
        });
    }
    seams
}

/// Returns true for what a turn has behind messages that stand within it.
fn is_rest(spot: &Spot) -> bool {
    spot.holds == Holds::Text && spot.role.as_deref() == Some("assistant")
}

fn constant(text: &str, start: usize, end: usize) -> Bit {
    Bit::ConnectionPart(ConnectionPart::Text(
        text.get(start..end).unwrap_or_default().to_owned(),
    ))
}

/// Which of the texts that are computed from no input vary.
#[derive(Debug, Clone, Default)]
pub(super) struct Varying {
    /// The texts that are others on another day.
    pub(super) dates: BTreeSet<(usize, usize)>,
    seen: BTreeMap<(usize, usize), BTreeSet<String>>,
}

/// Something that shows this many different texts is counted or made up, and not a choice among constants.
const MANY: usize = 4;

impl Varying {
    /// Notes what is computed in a render.
    pub(super) fn note(&mut self, seams: &[Seam]) {
        for bit in seams.iter().flat_map(|seam| &seam.bits) {
            if let Bit::Computed { place, text } = bit {
                self.seen.entry(*place).or_default().insert(text.clone());
            }
        }
    }

    /// The parts of a seam.
    pub(super) fn parts(&self, seam: &Seam) -> Vec<ConnectionPart> {
        let mut parts = Vec::new();
        for bit in &seam.bits {
            let part = match bit {
                Bit::ConnectionPart(part) => part.clone(),
                Bit::Computed { place, text } => {
                    let count = self.seen.get(place).map_or(0, BTreeSet::len);
                    if self.dates.contains(place) {
                        ConnectionPart::hole(Hole::Date)
                    } else if count >= MANY {
                        ConnectionPart::hole(Hole::Repeated)
                    } else {
                        ConnectionPart::Text(text.clone())
                    }
                }
            };
            append(&mut parts, part);
        }
        parts
    }
}

/// Returns the parts that follow `prefix`, if `parts` begin with it.
pub(super) fn strip_prefix(
    parts: &[ConnectionPart],
    prefix: &[ConnectionPart],
) -> Option<Vec<ConnectionPart>> {
    let mut rest = parts.to_vec();
    for (at, wanted) in prefix.iter().enumerate() {
        let first = rest.first()?.clone();
        match (first, wanted) {
            (ConnectionPart::Text(text), ConnectionPart::Text(wanted)) => {
                let is_last = at + 1 == prefix.len();
                let left = text.strip_prefix(wanted.as_str())?.to_owned();
                if left.is_empty() {
                    rest.remove(0);
                } else if is_last {
                    rest[0] = ConnectionPart::Text(left);
                } else {
                    return None;
                }
            }
            (first, wanted) if first == *wanted => {
                rest.remove(0);
            }
            _ => return None,
        }
    }
    Some(rest)
}

/// Returns the parts that precede `suffix`, if `parts` end with it.
pub(super) fn strip_suffix(
    parts: &[ConnectionPart],
    suffix: &[ConnectionPart],
) -> Option<Vec<ConnectionPart>> {
    let mut rest = parts.to_vec();
    for (at, wanted) in suffix.iter().rev().enumerate() {
        let last = rest.last()?.clone();
        match (last, wanted) {
            (ConnectionPart::Text(text), ConnectionPart::Text(wanted)) => {
                let is_last = at + 1 == suffix.len();
                let left = text.strip_suffix(wanted.as_str())?.to_owned();
                rest.pop();
                if !left.is_empty() {
                    if !is_last {
                        return None;
                    }
                    rest.push(ConnectionPart::Text(left));
                }
            }
            (last, wanted) if last == *wanted => {
                rest.pop();
            }
            _ => return None,
        }
    }
    Some(rest)
}

/// The text with which all of them begin.
pub(super) fn common_prefix(all: &[&[ConnectionPart]]) -> Vec<ConnectionPart> {
    let Some((first, others)) = all.split_first() else {
        return Vec::new();
    };
    let mut common: Vec<ConnectionPart> = first.to_vec();
    for parts in others {
        let mut shared = Vec::new();
        for (a, b) in common.iter().zip(parts.iter()) {
            match (a, b) {
                (ConnectionPart::Text(a), ConnectionPart::Text(b)) => {
                    let len = crate::text::common_prefix(a, b);
                    append(&mut shared, ConnectionPart::Text(a[..len].to_owned()));
                    if len < a.len() || len < b.len() {
                        break;
                    }
                }
                (a, b) if a == b => shared.push(a.clone()),
                _ => break,
            }
        }
        common = shared;
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(texts: &[&str]) -> Vec<ConnectionPart> {
        let part = |text: &&str| match *text {
            "?" => ConnectionPart::hole(Hole::Date),
            text => ConnectionPart::Text(text.to_owned()),
        };
        texts.iter().map(part).collect()
    }

    #[test]
    fn ends_are_cut_off() {
        let all = parts(&["end\nday ", "?", ":user"]);
        assert_eq!(
            strip_prefix(&all, &parts(&["end\n"])),
            Some(parts(&["day ", "?", ":user"]))
        );
        assert_eq!(
            strip_prefix(&all, &parts(&["end\nday ", "?"])),
            Some(parts(&[":user"]))
        );
        assert_eq!(strip_prefix(&all, &parts(&["end\n", "?"])), None);
        assert_eq!(
            strip_suffix(&all, &parts(&["user"])),
            Some(parts(&["end\nday ", "?", ":"]))
        );
        assert_eq!(
            strip_suffix(&all, &parts(&["y ", "?", ":user"])),
            Some(parts(&["end\nda"]))
        );
        assert_eq!(strip_suffix(&all, &parts(&["?", "user"])), None);
        let other = parts(&["end\nday ", "?", ";"]);
        assert_eq!(common_prefix(&[&all, &other]), parts(&["end\nday ", "?"]));
    }
}
