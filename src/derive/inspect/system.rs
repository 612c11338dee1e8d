//! How does the template treat a system message?

use serde::Serialize;

use super::change::changes;
use super::outcome::{Outcome, shorten};
use super::subject::{self, Subject};
use crate::derive::compare::pieces::Pieces;
use crate::derive::probe;

/// A system message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct System {
    /// The outcome of a system message as the first message.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The place of the system message; absent where it is not rendered, or where nothing marks turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<SystemPlace>,
    /// The text that the template writes where there is no system message; absent where it writes none. At most 300 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// The place where a system message is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SystemPlace {
    /// In a turn of its own.
    OwnTurn,
    /// Within the first turn of the user.
    UserTurn,
}

pub(in crate::derive) fn outcome(subject: &Subject<'_>) -> Outcome {
    let with = subject.talk(false, [subject::system(), subject::user()]);
    Outcome::of(&subject.render(&with), &[probe::SYSTEM])
}

pub(super) fn read(subject: &Subject<'_>) -> System {
    let outcome = outcome(subject);
    let with = subject.render(&subject.talk(false, [subject::system(), subject::user()]));
    let without = subject.render(&subject.talk(false, [subject::user()]));
    let (Ok(with), Ok(without), true) = (with, without, outcome.is_rendered()) else {
        return System {
            outcome,
            place: None,
            default: None,
        };
    };
    System {
        outcome,
        place: place(&subject.renderer.pieces, &with, &without),
        default: default(&with, &without),
    }
}

/// In a turn of its own, if what stands before the user's first word stands between the two as well.
fn place(pieces: &Pieces, with: &str, without: &str) -> Option<SystemPlace> {
    let header = pieces
        .last_token(&without[..without.find(probe::USER)?])
        .trim();
    if header.is_empty() {
        return None;
    }
    let words_end = with.find(probe::SYSTEM)? + probe::SYSTEM.len();
    let between = &with[words_end..words_end + with[words_end..].find(probe::USER)?];
    Some(if between.contains(header) {
        SystemPlace::OwnTurn
    } else {
        SystemPlace::UserTurn
    })
}

/// Returns the text that only the render without a system message has.
fn default(with: &str, without: &str) -> Option<String> {
    let only: Vec<String> = changes(with, without)
        .into_iter()
        .map(|change| change.added.trim().to_owned())
        .filter(|added| added.chars().any(char::is_alphanumeric))
        .collect();
    (!only.is_empty()).then(|| shorten(&only.join(" … ")))
}
