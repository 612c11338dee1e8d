//! Calls of responses whose messages are not known: what stands around them, as far as it can be told.
//!
//! A call that stands in a response and is not read ([`super::calls`]) tells its name, and its arguments where they are an object, or their
//! names otherwise. Between these lie gaps as between the parts of a known message ([`super::gaps`]). Where the text before a call's opening ends
//! nobody says; it is cut where the rest is most like what renders have there. The values of arguments that stand apart are not known either. What
//! is changed before them is then looked for again in what renders have behind them ([`echoes`]).

use std::ops::Range;

use super::calls::Spotted;
use super::changes::{self, Change};
use super::gaps::{Gap, Part};
use crate::derive::compare::pieces::Pieces;
use crate::value::{json, python};

/// How long the opening of a call may be, in bytes.
const MAX_LEAD: usize = 80;

/// The gaps before, within and behind these calls of a response, which stand in their order there. `constants` are the places of the constants that it has from the chat
/// template, and `is_marker` tells texts that models write again and again.
pub(super) fn gaps(
    response: &str,
    calls: &[Spotted],
    known: &[Gap],
    pieces: &Pieces,
    constants: &[Range<usize>],
    is_marker: impl Fn(&str) -> bool,
) -> Vec<Gap> {
    let is_whole = |at: &usize| {
        let mut constants = constants.iter();
        constants.all(|one| *at <= one.start || one.end <= *at)
    };
    let mut found = Vec::new();
    let mut before: Option<(Part, usize)> = None;
    for call in calls {
        let Some(parts) = parts(response, call) else {
            before = None;
            continue;
        };
        for (part, span) in parts {
            let gap = match before {
                Some((last, end)) => response.get(end..span.start).map(|text| Gap {
                    before: last,
                    behind: part,
                    text: text.to_owned(),
                }),
                None => {
                    let text = &response[..span.start];
                    lead(text, part, known, pieces, is_whole, &is_marker)
                }
            };
            found.extend(gap);
            before = Some((part, span.end));
        }
        if call.keys.is_empty() {
            continue;
        }
        before = None;
    }
    if let Some((part, end)) = before {
        found.push(Gap {
            before: part,
            behind: Part::End,
            text: response[end..].to_owned(),
        });
    }
    found
}

/// The parts of a call that can be told, in their order.
fn parts(response: &str, call: &Spotted) -> Option<Vec<(Part, Range<usize>)>> {
    let name = (Part::Name, call.name.clone());
    if let Some(key) = call.keys.first() {
        return Some(vec![name, (Part::Key, key.clone())]);
    }
    if !call.is_whole() {
        return Some(vec![name, (Part::Arguments, call.body.clone())]);
    }
    let starts = response.match_indices('{').map(|(at, _)| at);
    let mut starts = starts.filter(|at| call.body.start < *at && *at < call.body.end);
    let arguments = starts.find_map(|at| {
        let (_, len) = json::parse_prefix(&response[at..]).ok()?;
        Some(at..at + len)
    })?;
    let mut parts = vec![name, (Part::Arguments, arguments)];
    parts.sort_by_key(|(_, span)| span.start);
    Some(parts)
}

/// The text before a call that is most like what renders have there, from a place on at which no constant is cut, with the rest of the word in which that begins, if models write this again and again: of
/// "```json", `json` may be most like it.
fn lead(
    text: &str,
    part: Part,
    known: &[Gap],
    pieces: &Pieces,
    is_whole: impl Fn(&usize) -> bool,
    is_marker: impl Fn(&str) -> bool,
) -> Option<Gap> {
    let near = text.len().saturating_sub(MAX_LEAD);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let starts = text
        .char_indices()
        .map(|(at, _)| at)
        .filter(|at| *at >= near && is_whole(at));
    let starts =
        starts.filter(|at| !(text[..*at].ends_with(is_word) && text[*at..].starts_with(is_word)));
    let gaps = starts.map(|at| Gap {
        before: Part::Start,
        behind: part,
        text: text[at..].to_owned(),
    });
    let weighed = gaps.filter_map(|gap| Some((changes::distance(&gap, known, pieces)?, gap)));
    let best = weighed.min_by_key(|(distance, gap)| (*distance, gap.text.len()));
    let (_, best) = best?;
    let before = &text[..text.len() - best.text.len()];
    let word = before.trim_end_matches(|c| !python::is_space(c)).len();
    let is_whole = before.len() == word || !is_marker(&before[word..]);
    Some(match is_whole {
        true => best,
        false => Gap {
            text: text[word..].to_owned(),
            ..best
        },
    })
}

/// The changes again wherever else renders have the same words and the response has the others in their place: as `</arg>` goes with `<arg>`.
pub(super) fn echoes(response: &str, all: &[Change], known: &[Gap]) -> Vec<Change> {
    let mut found: Vec<Change> = Vec::new();
    for change in all {
        for echo in change.echoes(known) {
            if echo.stands_in(response) && !found.contains(&echo) && !all.contains(&echo) {
                found.push(echo);
            }
        }
    }
    found
}
