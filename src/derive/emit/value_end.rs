//! The end of a value: where a text closes it; or, where none does, where its line ends, the next argument begins, or the call ends.

use super::loose::optional_space;
use crate::derive::choice::{Candidate, Choices, DecisionId};
use crate::derive::compare::{slot, text};
use crate::derive::read::arguments::{Pairs, Style};

/// How the text that closes a value is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Close<'s> {
    /// With any white space before it.
    AnySpace,
    /// With the white space before it that is written there.
    WithSpace,
    /// Where another argument follows it, or nothing does.
    BeforeNext,
    /// By the word with which the argument begins, between these texts: `</text>` closes `<text for="a">`.
    SameWord(&'s str, &'s str),
}

impl<'s> Close<'s> {
    /// Decides how the text is read that closes a value.
    pub(super) fn decided(argument: &'s Pairs, choices: &Choices) -> Self {
        let markers = argument.value.iter().map(|around| around.close.as_str());
        let mut markers = markers.filter(|close| !close.trim().is_empty()).peekable();
        if matches!(argument.style, Style::Json { .. }) || markers.peek().is_none() {
            return Self::AnySpace;
        }
        let any = Candidate::new(
            "where its marker is",
            "values up to what closes them, with or without white space before that",
            "models leave out white space",
            Self::AnySpace,
        );
        let is_spaced = |close: &str| close.starts_with(char::is_whitespace);
        let exact = markers.any(is_spaced).then(|| {
            Candidate::new(
                "with the white space before it",
                "values up to what closes them, where the white space before that is there",
                "what closes a value may stand in it as well, without the white space before it",
                Self::WithSpace,
            )
        });
        let is_text = matches!(argument.style, Style::Text);
        let before_next = is_text.then(|| {
            Candidate::new(
                "before what follows it",
                "values up to what closes them, where another argument or the end of the call follows that",
                "a value may end with a part of what closes it, or have that in it",
                Self::BeforeNext,
            )
        });
        let same_word = word_in_closes(argument).map(|(before, behind)| {
            Candidate::new(
                "by the word that opens it",
                "values up to what closes them, in which the word is said again with which the argument begins",
                "arguments begin with a word, and what closes them differs in one",
                Self::SameWord(before, behind),
            )
        });
        let others = exact.into_iter().chain(before_next).chain(same_word);
        let candidates = std::iter::once(any).chain(others);
        let chosen = choices.choose(DecisionId::ArgumentClose, candidates);
        chosen.unwrap_or(Self::AnySpace)
    }

    /// A pattern for this text that closes a value; `next` is the beginning of another argument, with what separates the two.
    pub(super) fn end(self, close: &str, next: &str) -> String {
        let marker = close.trim_start();
        let space = text::leading(close);
        let space = match self {
            Self::WithSpace if !marker.is_empty() => text::escape(space),
            _ => optional_space(space),
        };
        let follows = match self {
            Self::BeforeNext if !marker.is_empty() => format!("(?=\\s*(?:{next}|\\Z))"),
            _ => String::new(),
        };
        format!("{space}{}{follows}", slot::pattern(marker.trim_end()))
    }
}

/// Returns the texts before and behind the word in which the texts differ that close the values of several types, where arguments begin with a
/// word that differs as well; the texts before the values are then the same.
fn word_in_closes(argument: &Pairs) -> Option<(&str, &str)> {
    let (first, others) = argument.value.split_first()?;
    let is_same = others.iter().all(|other| other.between == first.between);
    if !is_same || argument.open.matches(slot::WORD).count() != 1 {
        return None;
    }
    let (before, _, behind) = text::differing_words(&argument.closes())?;
    Some((before, behind))
}

/// How what stands behind an argument is read, where nothing closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Between<'s> {
    /// With any white space.
    AnySpace,
    /// Exactly as it is written between two arguments, and with any white space behind the last one.
    AsWritten,
    /// Exactly as it is written, and with this white space behind the last one. All other white space belongs to the value.
    Whole(&'s str),
}

impl<'s> Between<'s> {
    /// Decides how the text behind an argument is read that nothing closes.
    pub(super) fn decided(argument: &Pairs, behind: Option<&'s str>, choices: &Choices) -> Self {
        if !ends_nowhere(argument) {
            return Between::AnySpace;
        }
        let loose = Candidate::new(
            "with any white space",
            "white space between two arguments varies",
            "models vary the white space between arguments",
            Between::AnySpace,
        );
        let is_spaced = white_close(argument).is_some()
            || between_arguments(argument).contains(char::is_whitespace);
        let exact = is_spaced.then(|| {
            Candidate::new(
                "as it is written",
                "two arguments have exactly what is written between them",
                "a text may have the like of an argument in it, with other white space before it",
                Between::AsWritten,
            )
        });
        let is_text = matches!(argument.style, Style::Text);
        let whole = behind.filter(|_| is_text).map(|space| {
            Candidate::new(
                "as it is written, behind the last one too",
                "what is written behind an argument, and no more white space than that",
                "a text may end with white space",
                Between::Whole(space),
            )
        });
        let candidates = std::iter::once(loose).chain(exact).chain(whole);
        let chosen = choices.choose(DecisionId::BetweenArguments, candidates);
        chosen.unwrap_or(Between::AnySpace)
    }

    /// A pattern for the end of a value: `next` is the beginning of another argument, and `spaced` that with what separates the two.
    pub(super) fn end(self, argument: &Pairs, next: &str, spaced: &str) -> String {
        let close = white_close(argument).unwrap_or_default();
        let between = text::escape(&format!("{close}{}", between_arguments(argument)));
        match (self, gap(argument)) {
            (Between::AsWritten, _) => format!("(?={between}{next}|\\s*\\Z)"),
            (Between::Whole(space), _) => {
                let behind = [close, space].map(optional_space).concat();
                format!("(?={between}{next}|{behind}\\Z)")
            }
            (_, "") => format!("(?=\\s*(?:{spaced}|\\Z))"),
            (_, gap) => format!("(?={gap}{spaced}|\\s*\\Z)"),
        }
    }
}

/// Returns the white space that alone closes every value, as a line feed does where each argument has its line; `None` where something else
/// does, or nothing. JSON ends by itself.
pub(super) fn white_close(argument: &Pairs) -> Option<&str> {
    let (first, others) = argument.value.split_first()?;
    let is_same = others.iter().all(|other| other.close == first.close);
    let is_white = !first.close.is_empty() && first.close.trim().is_empty();
    let is_json = matches!(argument.style, Style::Json { .. });
    (is_same && is_white && !is_json).then_some(first.close.as_str())
}

/// Returns the text between two arguments that belongs to neither of them, with the white space before the name of the second.
fn between_arguments(argument: &Pairs) -> String {
    format!("{}{}", argument.separator, text::leading(&argument.open))
}

/// Returns true if some values have no text of their own that closes them, so that they end only where the argument does.
pub(super) fn ends_nowhere(argument: &Pairs) -> bool {
    let mut closes = argument.closes().into_iter();
    !argument.separator.trim().is_empty() || closes.all(|close| close.trim().is_empty())
}

/// A pattern for the white space that alone separates two arguments; empty where something else does.
fn gap(argument: &Pairs) -> &'static str {
    let between = |close: &&str| format!("{close}{}{}", argument.separator, argument.open);
    let closes = argument.closes();
    let gaps: Vec<String> = closes.iter().map(between).collect();
    if gaps
        .iter()
        .any(|gap| gap.is_empty() || !gap.trim().is_empty())
    {
        return "";
    }
    match gaps.iter().all(|gap| gap.contains('\n')) {
        true => "\\s*\\n\\s*",
        false => BLANK,
    }
}

/// A pattern for white space that separates two arguments.
pub(super) const BLANK: &str = "\\s+";
