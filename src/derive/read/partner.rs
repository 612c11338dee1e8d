//! The marker that would close what a marker opens, by how other markers of the chat template are closed; and the one that would open what a marker
//! closes, by its own signs.
//!
//! A prompt may open a reasoning of which the chat template never says the end, since history is given without it: `<think>` stands in the
//! prompt, and `</think>` nowhere. Other markers of the same source tell how such a one is closed: of `<functions>` and `</functions>`, which
//! have the same signs around a word, the second has a `/` behind the first sign. That is an analogy and no proof, and whatever is read by it
//! is reported as not shown.
//!
//! The other way round, a chat template may drop what an answer says before `</think>`, and never say how that begins. Then that marker alone tells
//! what opens it.
//!
//! A search takes the length of the constants times the number of different words in them.

use std::collections::BTreeMap;

use crate::derive::compare::text::escape;
use crate::pattern::Pattern;

/// How many characters a closing marker has more than the opening one.
const MAX_MORE: usize = 2;

/// How many words are looked at.
const MAX_WORDS: usize = 256;

/// Returns the marker that closes `open` as other markers with the same signs around a word are closed in these texts; `None` where there are
/// none, or `open` is no word between signs.
pub(super) fn closing<'t>(open: &str, texts: impl Iterator<Item = &'t str>) -> Option<String> {
    let [before, word, behind] = word_between_signs(open)?;
    // What stands before each word that `behind` follows.
    let followed = Pattern::re(&format!(
        "(?P<before>[^\\w\\s]+)(?P<word>\\w+)(?={})",
        escape(behind)
    ));
    let followed = followed.ok()?;
    let mut words: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for text in texts {
        for found in followed.find_iter(text).filter_map(Result::ok) {
            let [signs, other] = ["before", "word"].map(|name| found.group(name));
            let (signs, other) = (text.get(signs?)?, text.get(other?)?);
            if words.len() < MAX_WORDS || words.contains_key(other) {
                words.entry(other).or_default().push(signs);
            }
        }
    }
    let mut votes: BTreeMap<String, usize> = BTreeMap::new();
    for signs in words.into_iter().filter(|(other, _)| *other != word) {
        let signs = signs.1;
        let opens = |signs: &&str| signs.ends_with(before);
        let closes = signs.iter().filter_map(|signs| with_more(signs, before));
        let closes: Vec<&str> = closes.collect();
        // A word that only ever stands behind the longer signs opens nothing.
        let is_opened = signs
            .iter()
            .filter(|signs| with_more(signs, before).is_none());
        if is_opened.filter(|signs| opens(signs)).count() == 0 {
            continue;
        }
        for close in closes {
            *votes.entry(close.to_owned()).or_default() += 1;
        }
    }
    let (signs, _) = votes.into_iter().max_by_key(|(_, count)| *count)?;
    Some(format!("{signs}{word}{behind}"))
}

/// Returns the marker that opens what `close` closes, by the signs of `close` alone: it has more of them before its word than behind it, and what opens
/// has as many on both sides. So `</think>` closes a `<think>`, and `[/THINK]` a `[THINK]`; `<|end|>` tells nothing.
pub(super) fn opening(close: &str) -> Option<String> {
    let [before, word, behind] = word_between_signs(close)?;
    let fewer = behind.chars().count();
    let more = before.chars().count().checked_sub(fewer)?;
    let (cut, _) = before.char_indices().nth(fewer)?;
    (1..=MAX_MORE)
        .contains(&more)
        .then(|| format!("{}{word}{behind}", &before[..cut]))
}

/// Returns the first of these tokens that is another marker with signs around the word of this one.
pub(super) fn in_tokens<'t>(marker: &str, tokens: &[&'t str]) -> Option<&'t str> {
    let [_, word, _] = word_between_signs(marker)?;
    let of_word =
        |token: &&str| word_between_signs(token).is_some_and(|[_, other, _]| other == word);
    let mut others = tokens.iter().copied().filter(|token| *token != marker);
    others.find(of_word)
}

/// The signs, the word and the signs of a marker that is a word between signs; `None` for another.
fn word_between_signs(marker: &str) -> Option<[&str; 3]> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let start = marker.find(is_word)?;
    let (before, rest) = marker.split_at(start);
    let end = rest.find(|c| !is_word(c))?;
    let (word, behind) = rest.split_at(end);
    let is_sign = |c: char| !is_word(c) && !c.is_whitespace();
    let signs = [before, behind];
    let is_between = !before.is_empty() && signs.iter().all(|text| text.chars().all(is_sign));
    is_between.then_some([before, word, behind])
}

/// Returns the end of these signs that is `before` with some more behind its first character: `</` for `<`, of `></`.
fn with_more<'s>(signs: &'s str, before: &str) -> Option<&'s str> {
    let places = signs.char_indices().rev().map(|(at, _)| &signs[at..]);
    let mut ends = places.filter(|end| {
        let more = end.chars().count().checked_sub(before.chars().count());
        more.is_some_and(|more| (1..=MAX_MORE).contains(&more))
    });
    ends.find(|end| {
        let cuts = before.char_indices().skip(1).map(|(at, _)| at);
        cuts.chain([before.len()]).any(|at| {
            let rest = end.strip_prefix(&before[..at]);
            let more = rest.and_then(|rest| rest.strip_suffix(&before[at..]));
            more.is_some_and(|more| !more.is_empty() && more.chars().all(|c| !before.contains(c)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_with_more_signs_before_its_word_closes_one_with_as_many_on_both_sides() {
        for (close, expected) in [
            ("</think>", Some("<think>")),
            ("[/THINK]", Some("[THINK]")),
            ("<|/muse|>", Some("<|muse|>")),
            ("⟦¬muse⟧", Some("⟦muse⟧")),
            ("<|end|>", None),
            ("<think>", None),
            ("%-----end%", None),
            ("think", None),
            ("</my thought>", None),
        ] {
            assert_eq!(opening(close).as_deref(), expected, "{close}");
        }
        let tokens = ["<|thought|>", "</think>", "<|think|>", "<think>"];
        assert_eq!(in_tokens("</think>", &tokens), Some("<|think|>"));
        assert_eq!(in_tokens("<think>", &tokens), Some("</think>"));
        assert_eq!(in_tokens("<muse>", &tokens), None);
    }

    #[test]
    fn a_marker_is_closed_as_others_are() {
        for (open, texts, expected) in [
            (
                "<think>",
                &["none. <functions></functions>"][..],
                Some("</think>"),
            ),
            ("<think>", &["<a>", "x</a><b>", "</b>"], Some("</think>")),
            ("[THINK]", &["[INST] ", " [/INST]"], Some("[/THINK]")),
            ("⟦muse⟧", &["⟦do⟧", "⟦¬do⟧"], Some("⟦¬muse⟧")),
            ("<|muse|>", &["<|do|>", "<|/do|>"], Some("<|/muse|>")),
            // Nothing is closed, or with other signs.
            ("<think>", &["<functions>", "<think>"], None),
            ("<think>", &["<a><b>", "[c][/c]"], None),
            ("<think>", &["</a>"], None),
            ("think", &["<a></a>"], None),
            ("<my thought>", &["<a></a>"], None),
        ] {
            let found = closing(open, texts.iter().copied());
            assert_eq!(found.as_deref(), expected, "{open} {texts:?}");
        }
    }
}
