//! The punctuation that a chat template writes next to the texts of messages, and that prose and code have as well.
//!
//! A text may end with the very character that the marker behind it begins with (`a -> b>` before `>>>`), begin with the one that the
//! marker before it ends with, and have any of these within. Renders show which characters they are: the text between two texts of a
//! message begins and ends with a run of punctuation. The outermost character of a run is tried, the two outermost where the run has
//! more or a word goes on from it, and the three outermost where it has more than three: a marker like `]]></b>` has a part that could be
//! taken for all of it. More characters than these would mention the marker itself, and a run of two often is a marker. Where
//! the name of a function or of an argument stands between such characters, texts have another word between them: `<v>`. And where what
//! opens a text and what closes it share characters, a text may make one of the other: between `{~` and `~}`, `{` reads as `{~` again, and `}` as `~}`.
//! What closes a call behind a quoted text may stand in the texts of its arguments, which need no escape for it; and so may a longer word in the
//! place of a marker's: `</article>` where `</a>` closes an argument. Where white space stands beside a marker that is a word, or a run of one character, a
//! text may have a longer one: `HANOVER` for `OVER`, `-----` for `----`.

use std::collections::HashSet;

use super::manner::Manner;
use super::message::Assistant;
use super::probes;
use super::renderer::{Conversation, Renderer};
use crate::value::Value;

/// How many such characters are tried; those next to texts come before those within calls.
const MAX_SIGNS: usize = 12;

/// How many characters a text of these has at most: more would mention a marker.
const LONGEST: usize = 3;

/// How many parts of longer markers are tried, and texts that make one marker of another.
const MAX_PARTS: usize = 4;

/// How many texts that may close a call are tried.
const MAX_CLOSING: usize = 4;

/// How many words that are longer than one of a marker are tried.
const MAX_LONGER: usize = 8;

/// How many words between such characters are tried.
const MAX_BETWEEN: usize = 3;

/// The texts that a chat template writes next to the texts of messages.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Beside {
    /// Single characters, and pairs of characters that stand together.
    pub(super) characters: Vec<String>,
    /// Parts of three characters of markers, and texts that make one marker of another; in the end they are among the characters.
    parts: Vec<String>,
    /// The characters before and behind a name, with a word between them.
    pub(super) between: Vec<String>,
    /// The characters that may close a call behind a quoted text, and longer words in the place of a marker's, for the texts of arguments.
    pub(super) closing: Vec<String>,
    /// Longer words and runs of one character than those that white space stands beside: `HANOVER` for `OVER`.
    pub(super) longer: Vec<String>,
    /// These with the word that each is made of, before those are left out that a text may make of a marker.
    made: Vec<[String; 2]>,
    /// Words that stand right beside a text somewhere, of which a text may make a longer one.
    attached: HashSet<String>,
}

/// Returns the texts that stand next to the texts of messages, in answers and, where calls are shown, in calls.
pub(super) fn next_to_texts(
    renderer: &Renderer<'_>,
    users: &[Conversation],
    plain: &Manner,
    calling: Option<&Manner>,
) -> Beside {
    let answer = Assistant::saying(probes::CONTENT);
    let mut answers = vec![
        (answer.clone(), plain),
        (answer.clone().thinking(probes::REASONING), plain),
    ];
    if let Some(manner) = calling {
        let mut calls = answer;
        calls.calls = (0..2).map(probes::call).collect();
        answers.push((calls.clone(), manner));
        answers.push((calls.thinking(probes::REASONING), manner));
    }
    let mut beside = Beside::default();
    for (message, manner) in &answers {
        let further = manner.further.as_ref().map(|_| probes::FURTHER);
        let written = manner.write(message, further);
        for place in users {
            if let Ok(full) = renderer.answered(place, &written, manner) {
                let turn = &full[place.end_in(&full)..];
                beside.add_gaps(turn, &texts_of(message, further));
                beside.add_names(turn, &names_in(message));
            }
        }
    }
    beside.characters.truncate(MAX_SIGNS);
    beside
        .parts
        .retain(|part| !beside.characters.contains(part));
    beside.parts.truncate(MAX_PARTS);
    beside.characters.append(&mut beside.parts);
    beside.between.truncate(MAX_BETWEEN);
    beside.closing.truncate(MAX_CLOSING);
    let made = std::mem::take(&mut beside.made);
    let attached = std::mem::take(&mut beside.attached);
    for [word, longer] in made {
        if !attached.contains(&word) && !beside.longer.contains(&longer) {
            beside.longer.push(longer);
        }
    }
    beside.longer.truncate(MAX_LONGER);
    beside
}

/// How many characters of constants are tried.
const MAX_SOUGHT: usize = 8;

/// How many characters a constant has at most that a text may be asked for at its beginning.
const MAX_ASKED: usize = 3;

/// Returns the punctuation that the short ones of these constants are made of, other than `known`. They are what the chat template compares
/// texts with: it may ask whether a text begins with such a character, and write the text otherwise then, as one that puts a backslash before
/// a slash.
pub(super) fn asked_for<'c>(
    constants: impl Iterator<Item = &'c str>,
    known: &[String],
) -> Vec<String> {
    let short = constants.filter(|constant| {
        constant.len() <= MAX_ASKED && constant.chars().all(is_special_character)
    });
    let mut found: Vec<String> = Vec::new();
    for character in short.flat_map(str::chars).map(String::from) {
        if found.len() < MAX_SOUGHT && !found.contains(&character) && !known.contains(&character) {
            found.push(character);
        }
    }
    found
}

/// Returns all texts of a message, each of which stands in a render once if at all.
fn texts_of<'m>(message: &'m Assistant, further: Option<&'m str>) -> Vec<&'m str> {
    let texts = [&message.reasoning, &message.content];
    let mut texts: Vec<&str> = texts.into_iter().filter_map(Option::as_deref).collect();
    texts.extend(further);
    for call in &message.calls {
        texts.extend([call.name.as_str(), call.id.as_str()]);
        texts.extend(call.arguments.keys().map(AsRef::<str>::as_ref));
        texts.extend(call.arguments.values().filter_map(Value::as_str));
    }
    texts
}

/// The names that a message says: those of functions and of arguments.
fn names_in(message: &Assistant) -> Vec<&str> {
    let calls = message.calls.iter();
    let names = calls.flat_map(|call| {
        let keys = call.arguments.keys().map(AsRef::<str>::as_ref);
        std::iter::once(call.name.as_str()).chain(keys)
    });
    names.collect()
}

impl Beside {
    /// Adds the punctuation that stands next to these texts in the turn.
    fn add_gaps(&mut self, turn: &str, texts: &[&str]) {
        let found = texts
            .iter()
            .filter_map(|text| Some((turn.find(text)?, text.len())));
        let mut spans: Vec<(usize, usize)> = found.map(|(at, len)| (at, at + len)).collect();
        spans.sort_unstable();
        let mut end = None;
        let mut gaps = Vec::new();
        for (start, stop) in spans {
            gaps.push(turn.get(end.unwrap_or(0)..start).unwrap_or_default());
            end = Some(stop);
        }
        let Some(end) = end else { return };
        gaps.push(&turn[end..]);
        for (index, gap) in gaps.iter().enumerate() {
            if index > 0 {
                self.add(beginnings(gap));
                self.add(behind_quote(gap));
                let run = first_run(gap);
                add(&mut self.parts, part(run, run.get(..LONGEST)));
            }
            if index + 1 < gaps.len() {
                self.add(endings(gap));
                let run = last_run(gap);
                let start = run.len().checked_sub(LONGEST);
                let last = start.and_then(|start| run.get(start..));
                add(&mut self.parts, part(run, last));
            }
        }
        for pair in gaps.windows(2) {
            add(&mut self.parts, made_of_the_other(pair[0], pair[1]));
        }
        for gap in &gaps {
            add(&mut self.closing, closing(gap));
        }
        for gap in gaps.iter().skip(1) {
            add(&mut self.closing, longer_word(gap).as_deref());
        }
        for (index, gap) in gaps.iter().enumerate() {
            let (begins, ends) = (index == 0, index + 1 == gaps.len());
            let mut words = gap.split_whitespace();
            let first = words
                .next()
                .filter(|first| !begins && gap.starts_with(first));
            let last = words
                .next_back()
                .or(first)
                .filter(|last| !ends && gap.ends_with(last));
            let beside = first.into_iter().chain(last).map(str::to_owned);
            self.attached.extend(beside);
            let words = longer(gap, begins, ends).into_iter();
            let words = words.map(|(word, longer)| [word.to_owned(), longer]);
            self.made.extend(words);
        }
    }

    /// Adds a word between the punctuation that stands around each of these names in the turn, where there is some on both sides.
    fn add_names(&mut self, turn: &str, names: &[&str]) {
        for name in names {
            let Some((before, after)) = turn.split_once(name) else {
                continue;
            };
            let ([open, _], [close, _]) = (endings(before), beginnings(after));
            let between = format!("{open}v{close}");
            if !open.is_empty() && !close.is_empty() && !self.between.contains(&between) {
                self.between.push(between);
            }
        }
    }

    fn add(&mut self, characters: [&str; 2]) {
        add(&mut self.characters, characters);
    }
}

/// Adds those of these texts that are new and not the same character again and again.
fn add<'t>(known: &mut Vec<String>, texts: impl IntoIterator<Item = &'t str>) {
    for text in texts {
        let first = text.chars().next();
        let is_run = text.len() > 1 && text.chars().all(|c| Some(c) == first);
        if !text.is_empty() && !is_run && !known.iter().any(|known| known == text) {
            known.push(text.to_owned());
        }
    }
}

/// Returns the first punctuation character of the text that follows, and the first two where more follows them.
fn beginnings(gap: &str) -> [&str; 2] {
    let run = first_run(gap);
    let goes_on = gap.trim_start()[run.len()..].starts_with(char::is_alphanumeric);
    let pair = run.get(..2).filter(|_| goes_on || run.len() > 2);
    [run.get(..1), pair].map(Option::unwrap_or_default)
}

/// Returns the part of a run of punctuation, unless it is all of the run.
fn part<'r>(run: &str, part: Option<&'r str>) -> Option<&'r str> {
    part.filter(|part| *part != run)
}

/// Returns the punctuation that the text that follows begins with, behind white space.
fn first_run(gap: &str) -> &str {
    let gap = gap.trim_start();
    &gap[..gap.find(|c| !is_special_character(c)).unwrap_or(gap.len())]
}

/// Returns the punctuation that the text before ends with, before white space.
fn last_run(gap: &str) -> &str {
    let gap = gap.trim_end();
    let last = gap.char_indices().rfind(|(_, c)| !is_special_character(*c));
    &gap[last.map_or(0, |(at, c)| at + c.len_utf8())..]
}

/// Returns the text that, before the characters that `behind` begins with, says the characters that `before` ends with, and the one that behind these
/// says those of `behind`.
fn made_of_the_other<'g>(before: &'g str, behind: &'g str) -> [&'g str; 2] {
    let (open, close) = (last_run(before), first_run(behind));
    let shared = (1..open.len().min(close.len())).rfind(|len| open.ends_with(&close[..*len]));
    let is_short = |text: &&str| text.len() <= LONGEST;
    shared.map_or([""; 2], |len| {
        let texts = [&open[..open.len() - len], &close[len..]];
        texts.map(|text| Some(text).filter(is_short).unwrap_or_default())
    })
}

/// Returns the punctuation character behind the quote that ends a text, and the two together: `}` and `"}`. A text may have them in it, the
/// quote escaped.
fn behind_quote(gap: &str) -> [&str; 2] {
    let pair = gap
        .get(..2)
        .filter(|pair| pair.starts_with(['"', '\'']) && pair.chars().all(is_special_character));
    [pair.map_or("", |pair| &pair[1..]), pair.unwrap_or_default()]
}

/// Returns what may close a call behind the quote of its last text: of `"});` that is `});`, or `);` where the first character is the arguments' own.
/// In a quoted text it needs no escape.
fn closing(gap: &str) -> [&str; 2] {
    if !gap.starts_with(['"', '\'']) {
        return [""; 2];
    }
    let behind = &first_run(gap)[1..];
    let is_short = |text: &&str| (2..=LONGEST).contains(&text.len());
    [Some(behind), behind.get(1..)].map(|text| text.filter(is_short).unwrap_or_default())
}

/// Returns the characters and the word that the text that follows begins with, where a character ends the word, with a longer word: `</textv` for `</text>`.
/// A quote ends a text by itself.
fn longer_word(gap: &str) -> Option<String> {
    let gap = gap.trim_start();
    let run = first_run(gap);
    let rest = gap[run.len()..].trim_start_matches(is_part_of_word);
    let marker = &gap[..gap.len() - rest.len()];
    let is_short = (1..LONGEST).contains(&run.len()) && !run.starts_with(['"', '\'']);
    let is_word = marker.len() > run.len() && rest.starts_with(is_special_character);
    (is_short && is_word).then(|| format!("{marker}v"))
}

/// Returns longer words than those that the text has beside white space, and longer runs of a character: `vOVER` and `OVERv` for a text `OVER` on a
/// line of its own, and `-----` for `----`. The text begins or ends a turn as told. Of a longer text that is more than a word and one punctuation character none is made, since
/// it may have other markers in it.
fn longer(gap: &str, begins: bool, ends: bool) -> Vec<(&str, String)> {
    let words = gap.split_whitespace();
    let last = words.clone().count().saturating_sub(1);
    let mut all = Vec::new();
    for (index, word) in words.enumerate() {
        let is_apart_before = index > 0 || begins || gap.starts_with(char::is_whitespace);
        let is_apart_behind = index < last || ends || gap.ends_with(char::is_whitespace);
        let mut signs = word.chars();
        let (first, second) = (signs.next().unwrap_or_default(), signs.next());
        if second == Some(first) && !is_part_of_word(first) && signs.all(|sign| sign == first) {
            all.extend(
                (is_apart_before && is_apart_behind).then(|| (word, format!("{word}{first}"))),
            );
            continue;
        }
        let core = word.trim_matches(|c| !is_part_of_word(c));
        if word.len() - core.len() > 1 || !core.chars().all(is_part_of_word) {
            continue;
        }
        all.extend(
            (is_apart_behind && word.ends_with(is_part_of_word))
                .then(|| (word, format!("{word}v"))),
        );
        all.extend((is_apart_before && is_part_of_word(first)).then(|| (word, format!("v{word}"))));
    }
    all
}

/// Returns the last punctuation character of the text before, and the last two where more stands before them.
fn endings(gap: &str) -> [&str; 2] {
    let run = last_run(gap);
    let gap = gap.trim_end();
    let goes_on = gap[..gap.len() - run.len()].ends_with(char::is_alphanumeric);
    let behind = |count: usize| run.get(run.len().checked_sub(count)?..);
    let pair = behind(2).filter(|_| goes_on || run.len() > 2);
    [behind(1), pair].map(Option::unwrap_or_default)
}

fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns true if the character is ASCII punctuation, which every text may have.
fn is_special_character(c: char) -> bool {
    c.is_ascii_punctuation()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn characters(turn: &str) -> Vec<String> {
        let mut beside = Beside::default();
        beside.add_gaps(turn, &["one", "two"]);
        beside.characters
    }

    fn parts(turn: &str) -> Vec<String> {
        let mut beside = Beside::default();
        beside.add_gaps(turn, &["one", "two"]);
        beside.parts
    }

    #[test]
    fn words_stand_between_the_characters_around_names() {
        let between = |turn: &str| {
            let mut beside = Beside::default();
            beside.add_names(turn, &["one", "two"]);
            beside.between
        };
        assert_eq!(between("a <one>b</one> [two]"), ["<v>", "[v]"]);
        assert_eq!(between("call one{two: 1}"), ["{v:"]);
        assert_eq!(between("<one>|<two>"), ["<v>"]);
    }

    #[test]
    fn short_constants_are_what_a_text_may_be_asked_for() {
        let constants = ["/\\", "<b>", "->-", "", "*", "/"].into_iter();
        let found = asked_for(constants, &["*".to_owned()]);
        assert_eq!(found, ["/", "\\", "-", ">"]);
    }

    #[test]
    fn the_outermost_characters_are_tried() {
        assert_eq!(characters("one</t>"), ["<", "</"]);
        assert_eq!(characters("<t>one"), [">"]);
        assert_eq!(characters("<t/>one"), [">", "/>"]);
        assert_eq!(characters("one |.| two"), ["|", "|.", ".|"]);
        assert_eq!(characters("one\n/>\n\nall\n[two"), ["/", "["]);
        assert_eq!(characters("one"), [""; 0]);
        assert_eq!(characters("| one"), ["|"]);
        assert_eq!(characters("two!one"), ["!"]);
    }

    #[test]
    fn a_longer_word_stands_in_the_place_of_a_markers() {
        assert_eq!(longer_word("\n</text>\n").as_deref(), Some("</textv"));
        assert_eq!(longer_word("<|im_end|>").as_deref(), Some("<|im_endv"));
        for gap in ["</text\n", "end>", "</>", "\"|>}<tool>", "\"}end.", ""] {
            assert_eq!(longer_word(gap), None, "{gap}");
        }
    }

    #[test]
    fn longer_words_and_runs_than_those_beside_white_space_are_tried() {
        let longer = |gap: &'static str, begins, ends| -> Vec<String> {
            let all = longer(gap, begins, ends).into_iter();
            all.map(|(_, longer)| longer).collect()
        };
        assert_eq!(longer("\nOVER\n", false, false), ["OVERv", "vOVER"]);
        assert_eq!(longer("\n----\n", false, false), ["-----"]);
        assert_eq!(longer("call ", true, false), ["callv", "vcall"]);
        assert_eq!(longer("\n## So", false, false), ["###", "vSo"]);
        assert_eq!(longer("\n  id: ", false, false), ["vid:"]);
        assert_eq!(longer("</a>\nend", false, true), ["endv", "vend"]);
        assert_eq!(longer("</a>end", false, false), [""; 0]);
        assert_eq!(longer("<|a|>b c|>d ", true, false), [""; 0]);
        assert_eq!(longer("\n\n", false, false), [""; 0]);
    }

    #[test]
    fn what_follows_the_quote_of_a_text_is_tried() {
        assert_eq!(characters("{\"a\": \"one\"}\n"), ["\"", "}", "\"}"]);
        assert_eq!(characters("one\" two"), ["\""]);
    }

    #[test]
    fn what_closes_a_call_behind_its_last_text_is_tried() {
        let closing = |turn: &str| {
            let mut beside = Beside::default();
            beside.add_gaps(turn, &["one", "two"]);
            beside.closing
        };
        assert_eq!(closing("f({\"a\": \"one\"});\n"), ["});", ");"]);
        assert_eq!(closing("[\"one\", \"two\"]\n"), [""; 0]);
        assert_eq!(closing("<one></two>"), [""; 0]);
    }

    #[test]
    fn two_that_are_all_or_the_same_are_no_pair() {
        assert_eq!(characters("one>>>>two"), [">"]);
        assert_eq!(characters("one->two"), ["-", ">"]);
        assert_eq!(characters("one->x"), ["-", "->"]);
        assert_eq!(characters("x->one"), [">", "->"]);
    }

    #[test]
    fn three_of_more_are_a_part_that_could_be_taken_for_all() {
        assert_eq!(parts("one]]></t>"), ["]]>"]);
        assert_eq!(parts("<(~[one"), ["(~["]);
        assert_eq!(
            parts("<[!one~~~~"),
            [""; 0],
            "no more than three, and one sign"
        );
    }

    #[test]
    fn a_text_that_makes_what_opens_it_of_what_closes_it_is_tried() {
        assert_eq!(made_of_the_other("{~", "~}"), ["{", "}"]);
        assert_eq!(made_of_the_other("a<|\n", "|>b"), ["<", ">"]);
        assert_eq!(made_of_the_other("<t>", "</t>"), ["", ""]);
        assert_eq!(made_of_the_other("\"", "\""), ["", ""]);
        assert_eq!(parts("{~one~}"), ["{", "}"]);
    }

    #[test]
    fn words_and_space_are_no_characters_to_try_nor_is_what_few_texts_have() {
        assert_eq!(characters(" one and two \n"), [""; 0]);
        assert_eq!(characters("((nothing that was said))"), [""; 0]);
        assert_eq!(characters("one\u{a7}|two"), ["|"]);
        assert_eq!(characters("one|\u{a7}x"), ["|"]);
    }
}
