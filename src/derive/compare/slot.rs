//! Slots: the places of a marker whose text varies from call to call.
//!
//! In a marker a slot is one character that no template writes; in a pattern it is a pattern for the texts that may stand there.

use super::text;
use crate::chat_template::ANY_TEXT;
use crate::derive::probe::{self, Call};

/// Stands for the argument's key where that is written again, as in `</KEY>`.
pub(in crate::derive) const KEY: char = '\u{10fffe}';
/// Stands for the call's name.
pub(in crate::derive) const NAME: char = '\u{10fffb}';
/// Stands for the call's id.
pub(in crate::derive) const ID: char = '\u{10fffd}';
/// A number that counts the calls.
pub(in crate::derive) const NUMBER: char = '\u{10fffc}';

/// Stands for a text that whoever renders gives, such as the value of a kwarg, as in `<think max=GIVEN>`.
pub(in crate::derive) const GIVEN: char = '\u{10fffa}';

/// Stands for a word that tells how many calls there are, or which is the last of them: `true` and `false` in `{"several": WORD, "calls":`.
pub(in crate::derive) const WORD: char = '\u{10fff8}';

/// Stands before and behind a text that is repeated as often as there are further calls, and not at all for one call: `all(r1, r2, r3)` is
/// `all(rNUMBER`, then `, rNUMBER` between two of these, then `)`.
pub(in crate::derive) const MORE: char = '\u{10fff9}';

const ALL: [char; 7] = [KEY, NAME, ID, NUMBER, GIVEN, WORD, MORE];

/// The pattern for the word in the place of [`WORD`].
pub(in crate::derive) const ANY_WORD: &str = "\\w+";

/// The pattern for a name that was captured before.
pub(in crate::derive) const SAME_NAME: &str = "(?P=name)";

/// Returns true if the marker has a slot in it.
pub(in crate::derive) fn any(marker: &str) -> bool {
    marker.contains(ALL)
}

/// The part of a marker before its first slot.
pub(in crate::derive) fn constant(marker: &str) -> &str {
    marker.split(ALL).next().unwrap_or_default()
}

/// Returns a text that stands in or beside a call, with slots in the places of the call's name and id.
pub(in crate::derive) fn of_call(literal: &str, call: &Call) -> String {
    literal
        .replace(&call.id, &ID.to_string())
        .replace(&call.name, &NAME.to_string())
}

/// The text with a slot for each value that was made up for a kwarg.
pub(in crate::derive) fn of_made_up(text: &str) -> String {
    text.replace(ANY_TEXT, &GIVEN.to_string())
}

/// The marker with a slot for each number.
pub(in crate::derive) fn without_numbers(marker: &str) -> String {
    let mut blank = String::new();
    for c in marker.chars() {
        if !c.is_ascii_digit() {
            blank.push(c);
        } else if !blank.ends_with(NUMBER) {
            blank.push(NUMBER);
        }
    }
    blank
}

/// A pattern for the marker: white space may vary, and so may what stands in its slots.
pub(in crate::derive) fn pattern(marker: &str) -> String {
    pattern_between(marker, Beside::default())
}

/// A pattern as [`pattern`] gives, for a marker with a slot directly behind it.
pub(in crate::derive) fn pattern_before(marker: &str) -> String {
    let sides = Beside {
        before_slot: true,
        ..Beside::default()
    };
    pattern_between(marker, sides)
}

fn pattern_between(marker: &str, sides: Beside) -> String {
    let mut pattern = String::new();
    let mut rest = marker;
    let mut beside = sides;
    while let Some(at) = rest.find(ALL) {
        beside.before_slot = true;
        pattern.push_str(&literal(&rest[..at], beside));
        beside.behind_slot = true;
        let slot = rest[at..].chars().next();
        rest = &rest[at + KEY.len_utf8()..];
        let end = stop(rest);
        match slot {
            Some(KEY) => pattern.push_str("(?P=key)"),
            Some(NAME) => pattern.push_str(&format!("[^\\s{end}]+")),
            // A call need not have an id. If a text ends the id, that text tells where there is none.
            Some(ID) if end.is_empty() => pattern.push_str("(?:[^\\s]+)"),
            Some(ID) => pattern.push_str(&format!("(?:[^\\s{end}]*)")),
            Some(GIVEN) => pattern.push_str(&given(&end)),
            Some(WORD) => pattern.push_str(ANY_WORD),
            Some(MORE) => {
                let (again, behind) = rest.split_once(MORE).unwrap_or((rest, ""));
                pattern.push_str(&format!("(?:{})*", self::pattern(again)));
                rest = behind;
            }
            _ => pattern.push_str("\\d+"),
        }
    }
    beside.before_slot = sides.before_slot;
    pattern.push_str(&literal(rest, beside));
    pattern
}

/// Returns the text behind the calls of a message, by that text behind one call and behind two, where it counts the calls one by one; `None`
/// where it does not.
///
/// Behind two calls it is then longer by a text with a slot in it, and is the same before that and behind it.
pub(in crate::derive) fn counting(one: &str, two: &str) -> Option<String> {
    let start = text::common_prefix(one, two);
    let end = text::common_suffix(&one[start..], &two[start..]);
    let again = two.get(start..two.len() - end)?;
    (start + end == one.len() && again.contains(NUMBER)).then(|| {
        let (before, behind) = (&two[..start], &two[two.len() - end..]);
        format!("{before}{MORE}{again}{MORE}{behind}")
    })
}

/// Returns the texts behind one call, before another and before the end, with a slot for the word in which they first differ, where both go on
/// alike behind it: the last of several calls may say so, as in `1, more yes;` and `2, more no;`. `None` where that is not so.
pub(in crate::derive) fn differing_word(between: &str, after: &str) -> Option<(String, String)> {
    let shared = text::common_prefix(between, after);
    let start = between[..shared]
        .trim_end_matches(text::is_part_of_word)
        .len();
    let (one, other) = (&between[start..], &after[start..]);
    let [one_rest, other_rest] =
        [one, other].map(|text| text.trim_start_matches(text::is_part_of_word));
    let are_words = one.len() > one_rest.len() && other.len() > other_rest.len();
    let is_alike = text::common_prefix(one_rest.trim_start(), other_rest.trim_start()) > 0;
    let before = &between[..start];
    // A word with punctuation before it, as in `<|call|>`, is a part of another marker.
    let is_apart = before.ends_with(char::is_whitespace) && !before.trim().is_empty();
    (are_words && is_alike && is_apart).then(|| {
        [one_rest, other_rest]
            .map(|rest| format!("{before}{WORD}{rest}"))
            .into()
    })
}

/// A pattern for a name that is a word, with dots, dashes, colons and slashes in it, but for `stop`, which ends it.
pub(in crate::derive) fn word(stop: &str) -> String {
    let inner = [".", ":", "/", "\\-"].into_iter();
    let inner: String = inner.filter(|sign| *sign != stop).collect();
    format!("\\w[\\w{inner}]*")
}

/// The places of a literal beside slots.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::derive) struct Beside {
    /// True if a slot stands directly before the literal.
    pub(in crate::derive) behind_slot: bool,
    /// True if a slot stands directly behind the literal.
    pub(in crate::derive) before_slot: bool,
}

/// A pattern for a literal in which white space may vary. White space between a slot and a word has to stand there, on either side: nothing
/// else ends the text in the slot, as in `NAME on`, or the word, as in `do NAME`, which `done` is not.
pub(in crate::derive) fn literal(literal: &str, beside: Beside) -> String {
    let mut pattern = text::escape_loosely(literal);
    if beside.behind_slot && begins_apart(literal) {
        pattern = pattern.replacen("\\s*", "\\s+", 1);
    }
    if beside.before_slot && ends_apart(literal) {
        // The pattern ends with the white space's `\s*`.
        pattern.pop();
        pattern.push('+');
    }
    pattern
}

/// Returns true if the text ends with white space that stands directly behind a letter or digit.
fn ends_apart(text: &str) -> bool {
    let rest = text.trim_end();
    rest.len() < text.len() && rest.ends_with(char::is_alphanumeric)
}

/// Returns true if the text begins with white space that a letter or digit follows directly.
pub(in crate::derive) fn begins_apart(text: &str) -> bool {
    let rest = text.trim_start();
    rest.len() < text.len() && rest.starts_with(char::is_alphanumeric)
}

/// A pattern for the marker as it is written, with any number in the place of its numbers and any value in that of what is given.
pub(in crate::derive) fn exact_pattern(marker: &str) -> String {
    let mut parts = marker.split(GIVEN);
    let mut pattern = text::escape(parts.next().unwrap_or_default());
    for part in parts {
        pattern.push_str(&given(&stop(part)));
        pattern.push_str(&text::escape(part));
    }
    pattern.replace(NUMBER, "\\d+")
}

/// A pattern for what is given, up to the character that ends it, or up to white space where there is none.
pub(in crate::derive) fn given(end: &str) -> String {
    match end {
        "" => "[^\\s]+".to_owned(),
        // A setting that the chat template does not know may be written as nothing: `<think depth=>`.
        end => format!("[^\\n{end}]*"),
    }
}

/// Returns the first character of the text after a name, escaped for a character class: a name does not have it in it. Empty where white
/// space and a letter follow, since the white space ends the name.
pub(in crate::derive) fn stop(after: &str) -> String {
    match after.trim_start().chars().next() {
        _ if begins_apart(after) => String::new(),
        Some(c @ ('\\' | ']' | '[' | '^' | '-')) => format!("\\{c}"),
        Some(c) if !any(&c.to_string()) => c.to_string(),
        _ => String::new(),
    }
}

/// Returns how many bytes at the beginning of a text fill the slot. The text is a part of the render of a probe.
pub(in crate::derive) fn filled(slot: char, text: &str) -> Option<usize> {
    let calls = (0..3).map(probe::call);
    let begins = |word: &String| text.starts_with(word.as_str()).then_some(word.len());
    let run = |is_part: fn(char) -> bool| {
        let end = text.find(|c| !is_part(c));
        Some(end.unwrap_or(text.len())).filter(|len| *len > 0)
    };
    match slot {
        NAME => calls.filter_map(|call| begins(&call.name)).max(),
        ID => calls.filter_map(|call| begins(&call.id)).max(),
        KEY => {
            let keys =
                calls.flat_map(|call| call.arguments.into_iter().map(|(key, _)| key.to_string()));
            keys.filter_map(|key| begins(&key)).max()
        }
        NUMBER => run(|c| c.is_ascii_digit()),
        GIVEN => run(char::is_alphanumeric),
        WORD => run(text::is_part_of_word),
        _ => None,
    }
}

/// Returns true if the character is a slot.
pub(in crate::derive) fn is_one(c: char) -> bool {
    ALL.contains(&c)
}

/// The marker with words in its slots, for people.
pub(in crate::derive) fn show(marker: &str) -> String {
    marker
        .replace(KEY, "KEY")
        .replace(NAME, "NAME")
        .replace(ID, "ID")
        .replace(NUMBER, "NUMBER")
        .replace(GIVEN, "GIVEN")
        .replace(WORD, "WORD")
        .replace(MORE, "…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_between_a_word_and_a_slot_has_to_be_there() {
        let between = |marker: &str| pattern(&marker.replace('#', &NUMBER.to_string()));
        assert_eq!(between("so do # on"), "so\\s*do\\s+\\d+\\s+on");
        assert_eq!(between("<do> # >"), "<do>\\s*\\d+\\s*>");
        assert_eq!(pattern("do "), "do\\s*");
        assert_eq!(pattern_before("do "), "do\\s+");
        assert_eq!(pattern_before("do"), "do", "a name may begin there");
    }

    #[test]
    fn what_counts_the_calls_is_told_from_one_and_two() {
        let found = |one: &str, two: &str| {
            let [one, two] = [one, two].map(|text| text.replace('#', &NUMBER.to_string()));
            counting(&one, &two).map(|found| show(&found))
        };
        let counted = found("); all(r#);", "); all(r#, r#);");
        assert_eq!(counted.as_deref(), Some("); all(rNUMBER…, rNUMBER…);"));
        assert_eq!(found("); all(r#);", "); all(r#);"), None);
        assert_eq!(found("); one", "); two"), None);
        assert_eq!(found(");", "; so);"), None, "nothing is counted");
    }

    #[test]
    fn the_last_call_may_say_that_it_is() {
        let differing = |between, after| differing_word(between, after);
        let one = format!(", {WORD}]\n[");
        let other = format!(", {WORD}]\n");
        assert_eq!(differing(", true]\n[", ", false]\n"), Some((one, other)));
        assert_eq!(
            differing("</c><c>", "</c></calls>"),
            None,
            "a word is missing"
        );
        let others = differing("<|c|><|d|>", "<|c|><|e|>");
        assert_eq!(others, None, "other markers");
        assert_eq!(
            differing(", true;", ", false]"),
            None,
            "nothing follows both"
        );
        assert_eq!(
            differing("and use", "stop"),
            None,
            "nothing stands before both"
        );
    }

    #[test]
    fn slots_become_patterns() {
        assert_eq!(
            pattern(&format!("<call {ID}>\n")),
            "<call\\s+(?:[^\\s>]*)>\\s*"
        );
        assert_eq!(pattern(&format!("</{NAME}>")), "</[^\\s>]+>");
        assert_eq!(pattern(&format!("</{KEY}>")), "</(?P=key)>");
        assert_eq!(pattern(&without_numbers(":10|")), ":\\d+\\|");
        let given = format!("<think max={GIVEN}>");
        assert_eq!(pattern(&given), "<think\\s*max=[^\\n>]*>");
        assert_eq!(exact_pattern(&given), "<think max=[^\\n>]*>");
        let counted = format!("all(r{NUMBER}{MORE}, r{NUMBER}{MORE})");
        assert_eq!(pattern(&counted), "all\\(r\\d+(?:,\\s*r\\d+)*\\)");
        let spaced = format!("{NAME} with");
        assert_eq!(pattern(&spaced), "[^\\s]+\\s+with");
    }
}
