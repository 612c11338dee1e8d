//! Constant parts in which a response differs from renders, and patterns that take either.
//!
//! The gaps between the parts of a response's message ([`super::gaps`]) are compared with those that renders have between parts of the same
//! kinds. Both are taken apart into words and signs, and their longest common subsequence leaves the stretches in which they differ
//! ([`changes`]): `<arg k="` and `<item k="` differ in `arg` against `item`, between `<` and `k`. Such a stretch is found again in the
//! patterns of a response template, by what stands on both sides of it, and takes the other text as well ([`apply`]). All patterns are
//! changed alike, what looks ahead to a delimiter as the delimiter itself.
//!
//! For gaps of `n` and `m` tokens the comparison takes `n * m` steps, and finding a stretch the length of the patterns.

use std::ops::Range;

use super::gaps::{Gap, Part};
use super::items::{Item, Kind, items, matched, matched_before};
use super::split::{source, without};
use crate::derive::compare::pattern::SPACE;
use crate::derive::compare::pieces::Pieces;
use crate::derive::compare::text::escape_loosely;
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document};
use crate::value::{Value, python};

/// How many tokens a gap may have that is compared.
const MAX_TOKENS: usize = 120;

/// How many words that follow one another make a sentence, and no marker.
const PROSE: usize = 3;

/// How many stretches a gap may differ in from what renders have.
const MAX_CHANGES: usize = 4;

/// A stretch of a gap in which a response differs from renders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// The kinds of the parts around the gap.
    before: Part,
    behind: Part,
    /// The tokens of the render before the stretch, from the beginning of the gap on.
    left: Vec<String>,
    /// The tokens of the render behind the stretch, to the end of the gap.
    right: Vec<String>,
    /// The tokens that renders have.
    was: Vec<String>,
    /// The text that the response has.
    pub(super) now: String,
    /// True if white space stands before that text.
    is_apart: bool,
}

impl Change {
    /// Says in words what is different.
    pub(super) fn told(&self) -> String {
        let quote = |text: &str| crate::value::json::quote(text);
        let was = self.was.concat();
        match (was.as_str(), self.now.as_str()) {
            (was, "") => format!("{} may be missing", quote(was)),
            ("", now) => {
                let place = match (self.left.last(), self.right.first()) {
                    (Some(left), _) => format!("behind {}", quote(left)),
                    (None, Some(right)) => format!("before {}", quote(right)),
                    (None, None) => "there".to_owned(),
                };
                format!("{} may stand {place}", quote(now))
            }
            (was, now) => format!("{} may stand in the place of {}", quote(now), quote(was)),
        }
    }
}

/// The changes of a response's gaps against the nearest gaps between parts of the same kinds, each once.
pub(super) fn changes(gaps: &[Gap], known: &[Gap], pieces: &Pieces) -> Vec<Change> {
    let mut found: Vec<Change> = Vec::new();
    for gap in gaps {
        // Before a call there may be anything.
        let is_alike = |other: &&Gap| {
            let is_begun = other.before == gap.before
                || gap.before == Part::Start && !is_of_call(other.before);
            is_begun && other.behind == gap.behind
        };
        let alike = known.iter().filter(is_alike);
        let now = tokens(&gap.text);
        let best = alike
            .filter_map(|other| differing(gap, &other.text, &now, pieces))
            .min_by_key(|all| all.iter().map(weight).sum::<usize>());
        for change in best.into_iter().flatten() {
            if !found.contains(&change) {
                found.push(change);
            }
        }
    }
    found
}

/// How far a gap is from the nearest that renders have between parts of the same kinds, whatever stands before it.
pub(super) fn distance(gap: &Gap, known: &[Gap], pieces: &Pieces) -> Option<usize> {
    let now = tokens(&gap.text);
    let alike = known.iter().filter(|other| other.behind == gap.behind);
    let all = alike.filter_map(|other| differing(gap, &other.text, &now, pieces));
    all.map(|all| all.iter().map(weight).sum::<usize>()).min()
}

fn weight(change: &Change) -> usize {
    change.was.iter().map(String::len).sum::<usize>() + change.now.len() + 1
}

fn is_of_call(part: Part) -> bool {
    matches!(part, Part::Name | Part::Key | Part::Value | Part::Arguments)
}

/// A word or a sign of a text, with its place.
#[derive(Debug, Clone, Copy)]
struct Token<'t> {
    text: &'t str,
    start: usize,
}

impl Token<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The words and signs of a text, without the white space.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found: Vec<Token<'_>> = Vec::new();
    for (start, c) in text.char_indices().filter(|(_, c)| !python::is_space(*c)) {
        let end = start + c.len_utf8();
        match found.last_mut() {
            Some(last) if last.end() == start && is_word(c) && last.text.ends_with(is_word) => {
                last.text = &text[last.start..end];
            }
            _ => found.push(Token {
                text: &text[start..end],
                start,
            }),
        }
    }
    found
}

/// The stretches in which the tokens differ; `None` where they are too many, or the response only ends earlier.
fn differing(gap: &Gap, render: &str, now: &[Token<'_>], pieces: &Pieces) -> Option<Vec<Change>> {
    let was = &tokens(render);
    if was.len() > MAX_TOKENS || now.len() > MAX_TOKENS {
        return None;
    }
    let mut changes: Vec<Change> = Vec::new();
    let owned = |tokens: &[Token<'_>]| -> Vec<String> {
        tokens.iter().map(|token| token.text.to_owned()).collect()
    };
    // What stands more or less between two like texts, as in `<a><b>` and `<a><c><b>`, is taken to stand between two constants.
    let edges = pieces.edges(render);
    let is_edge = |row: usize| {
        let start = row.checked_sub(1).map_or(0, |last| was[last].end());
        let end = was.get(row).map_or(render.len(), |next| next.start);
        row == 0 || row == was.len() || edges.iter().any(|edge| (start..=end).contains(edge))
    };
    let common = slid(common(was, now), was, now, is_edge);
    let (mut row, mut at) = (0, 0);
    let ends = std::iter::once((was.len(), now.len()));
    for (next_row, next_at) in common.into_iter().chain(ends) {
        let (old, new) = (&was[row..next_row], &now[at..next_at]);
        let is_cut_short = new.is_empty() && gap.behind == Part::End && next_row == was.len();
        // Several words that follow one another are prose, whatever the expected message leaves out.
        let is_prose = new.windows(PROSE).any(|words| {
            let is_plain = |token: &Token<'_>| token.text.chars().all(char::is_alphabetic);
            words.iter().all(is_plain)
        });
        if is_prose {
            return None;
        }
        if (!old.is_empty() || !new.is_empty()) && !is_cut_short {
            let span = match (new.first(), new.last()) {
                (Some(first), Some(last)) => first.start..last.end(),
                _ => 0..0,
            };
            let is_apart = gap.text[..span.start].ends_with(python::is_space);
            changes.push(Change {
                before: gap.before,
                behind: gap.behind,
                left: owned(&was[..row]),
                right: owned(&was[next_row..]),
                was: owned(old),
                now: gap.text[span].to_owned(),
                is_apart,
            });
        }
        (row, at) = (next_row + 1, next_at + 1);
    }
    (changes.len() <= MAX_CHANGES).then_some(changes)
}

/// The longest common subsequence of two lists of tokens, by their indices. Of equally long ones that with the common tokens that come first.
fn common(was: &[Token<'_>], now: &[Token<'_>]) -> Vec<(usize, usize)> {
    let (rows, width) = (was.len(), now.len());
    let mut longest = vec![vec![0_usize; width + 1]; rows + 1];
    for row in (0..rows).rev() {
        for at in (0..width).rev() {
            longest[row][at] = match was[row].text == now[at].text {
                true => longest[row + 1][at + 1] + 1,
                false => longest[row + 1][at].max(longest[row][at + 1]),
            };
        }
    }
    let (mut row, mut at) = (0, 0);
    let mut found = Vec::new();
    while row < rows && at < width {
        if was[row].text == now[at].text && longest[row][at] == longest[row + 1][at + 1] + 1 {
            found.push((row, at));
            row += 1;
            at += 1;
        } else if longest[row + 1][at] >= longest[row][at + 1] {
            row += 1;
        } else {
            at += 1;
        }
    }
    found
}

/// The common tokens with those before a stretch that is only in one of the lists paired with the like tokens at the end of that stretch, as far back
/// as it takes for the stretch to begin at an edge of the first list.
fn slid(
    mut common: Vec<(usize, usize)>,
    was: &[Token<'_>],
    now: &[Token<'_>],
    is_edge: impl Fn(usize) -> bool,
) -> Vec<(usize, usize)> {
    for index in 1..=common.len() {
        let (last_row, last_at) = common[index - 1];
        let (row, at) = common.get(index).copied().unwrap_or((was.len(), now.len()));
        let (old, new) = (row - last_row - 1, at - last_at - 1);
        if (old == 0) == (new == 0) {
            continue;
        }
        // The pairs before the stretch, the last one first.
        let run = common[..index].iter().rev().enumerate();
        let run = run.take_while(|(by, (r, a))| {
            let is_next = r + by == last_row && a + by == last_at;
            is_next && was[r + old].text == now[a + new].text
        });
        let by = run
            .map(|(by, _)| by + 1)
            .find(|by| is_edge(last_row + 1 - by) && is_edge(last_row + 1 - by + old));
        let is_there = is_edge(last_row + 1) && is_edge(row);
        if let Some(by) = by.filter(|_| !is_there) {
            for (r, a) in &mut common[index - by..index] {
                *r += old;
                *a += new;
            }
        }
    }
    common
}

/// The document with all its patterns taking the other texts as well; `None` where one of the changes finds no place, or a pattern would match nothing at all.
pub(super) fn apply(document: &Document, changes: &[&Change]) -> Option<Document> {
    let mut document = document.clone();
    let mut is_placed = vec![false; changes.len()];
    for field in document.fields.values_mut() {
        for delimiter in [&mut field.open, &mut field.close] {
            if let Some(one) = delimiter
                && let Some(changed) = changed(&source(one), changes, &mut is_placed)
            {
                *one = Delimiter::pattern(changed);
            }
        }
        for (_, value) in field.content_args.iter_mut() {
            if let Some(pattern) = value.as_str().filter(|text| text.contains("(?P<"))
                && let Some(changed) = changed(pattern, changes, &mut is_placed)
            {
                *value = Value::from(changed);
            }
        }
    }
    is_placed.iter().all(|is| *is).then_some(document)
}

/// The pattern with the changes that find a place in it; `None` where none does, or it would match nothing at all.
fn changed(pattern: &str, changes: &[&Change], is_placed: &mut [bool]) -> Option<String> {
    let items = items(pattern);
    let mut places: Vec<(Range<usize>, Vec<&Change>)> = Vec::new();
    let mut placed = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        for span in change.places(&items) {
            placed.push(number);
            match places.iter_mut().find(|(other, _)| *other == span) {
                Some((_, all)) => all.push(change),
                None => places.push((span, vec![change])),
            }
        }
    }
    if places.is_empty() {
        return None;
    }
    places.sort_by_key(|(span, _)| std::cmp::Reverse((span.start, span.end)));
    let mut written = pattern.to_owned();
    let mut before = usize::MAX;
    for (span, all) in &places {
        // Of stretches that overlap one is enough.
        if span.end > before {
            continue;
        }
        let whole = run(&items, span);
        let is_alone = places.iter().all(|(other, _)| {
            other == span || other.end <= whole.start || whole.end <= other.start
        });
        let is_whole = is_alone && whole.end <= before && all.iter().all(|one| !one.now.is_empty());
        // Markers stay whole, so that they are known for markers wherever they stand.
        let (span, sides) = match is_whole && !span.is_empty() {
            true => (
                whole.clone(),
                [
                    &pattern[whole.start..span.start],
                    &pattern[span.end..whole.end],
                ],
            ),
            false if span.is_empty() => (span.clone(), [&pattern[..span.start], ""]),
            false => (span.clone(), ["", ""]),
        };
        before = span.start;
        written.replace_range(span.clone(), &either(&pattern[span], all, sides));
    }
    for change in placed.iter().map(|number| changes[*number]) {
        if change.before == Part::Name && change.left.is_empty() {
            written = named_without(&written, change);
        }
    }
    let is_pattern =
        Pattern::regex(&written).is_ok_and(|pattern| !matches!(pattern.search("", 0), Ok(Some(_))));
    if !is_pattern {
        return None;
    }
    for number in placed {
        is_placed[number] = true;
    }
    Some(written)
}

/// The bytes of the constant around a stretch, as far as there is no white space in it.
fn run(items: &[Item], span: &Range<usize>) -> Range<usize> {
    let is_literal = |item: &&Item| matches!(item.kind, Kind::Literal(_));
    let before = items.iter().rev().skip_while(|item| item.end > span.start);
    let behind = items.iter().skip_while(|item| item.start < span.end);
    let start = before.take_while(is_literal).last();
    let end = behind.take_while(is_literal).last();
    start.map_or(span.start, |item| item.start)..end.map_or(span.end, |item| item.end)
}

/// A pattern for a stretch of a pattern, or what stands in its place in responses, between these parts of patterns; where the stretch is empty, the first of
/// these is all that stands before it.
fn either(was: &str, all: &[&Change], [left, right]: [&str; 2]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for change in all.iter().filter(|change| !change.now.is_empty()) {
        let text = match was.is_empty() {
            true => escape_loosely(&change.now),
            false => format!("{left}{}{right}", escape_loosely(&change.now)),
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    // If one text begins with another, the longer one is tried first.
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    let may_miss = all.iter().any(|change| change.now.is_empty());
    match (was.is_empty(), texts.as_slice()) {
        (true, texts) => {
            // White space that the pattern has there is before this.
            let lead = match all.iter().any(|change| change.is_apart) && !left.ends_with(SPACE) {
                true => SPACE,
                false => "",
            };
            match texts {
                [one] => format!("(?:{lead}{one}{SPACE})?"),
                texts => format!("(?:{lead}(?:{}){SPACE})?", texts.join("|")),
            }
        }
        (false, []) => format!("(?:{was})?"),
        (false, texts) => {
            let end = if may_miss { "?" } else { "" };
            format!("(?:{was}|{}){end}", texts.join("|"))
        }
    }
}

/// The pattern with names that end before what now may follow them.
fn named_without(pattern: &str, change: &Change) -> String {
    const NAME: &str = "(?P<name>[^";
    let next = match change.now.is_empty() {
        true => change.right.first().map_or("", String::as_str),
        false => change.now.as_str(),
    };
    let Some(start) = pattern.find(NAME) else {
        return pattern.to_owned();
    };
    let Some(len) = pattern[start..].find("]+)") else {
        return pattern.to_owned();
    };
    let end = start + len + "]+)".len();
    let group = without(&pattern[start..end], next);
    format!("{}{group}{}", &pattern[..start], &pattern[end..])
}

/// How much of what stands beside a stretch is found beside a place of a pattern.
#[derive(Debug, Clone, Copy, Default)]
struct Beside {
    /// True if the next token is found, or the part of the message that stands there, or nothing has to be.
    is_found: bool,
    /// True if a word is found there, or the part of the message.
    is_sure: bool,
    /// True if the pattern has no constant there.
    is_open: bool,
}

impl Change {
    /// Returns true if words that renders have may be missing.
    pub(super) fn takes_words_away(&self) -> bool {
        self.now.is_empty() && self.has_word()
    }

    /// Returns true if the gap begins or ends with a part of a call.
    pub(super) fn is_beside_call(&self) -> bool {
        is_of_call(self.before) || is_of_call(self.behind)
    }

    /// Returns true if the gap is between two parts of one call.
    pub(super) fn is_within_call(&self) -> bool {
        is_of_call(self.before) && is_of_call(self.behind) && self.behind != Part::Name
    }

    /// Returns true if the same text stands in the place of the same one, wherever that is.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.was == other.was && self.now == other.now
    }

    fn has_word(&self) -> bool {
        let mut was = self.was.iter();
        was.any(|token| token.contains(char::is_alphanumeric))
    }

    /// Returns the same change for other gaps that have the same words.
    pub(super) fn echoes(&self, known: &[Gap]) -> Vec<Self> {
        if !self.has_word() || self.now.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for gap in known {
            let tokens: Vec<String> = tokens(&gap.text)
                .into_iter()
                .map(|token| token.text.to_owned())
                .collect();
            let places = tokens.windows(self.was.len()).enumerate();
            for (at, _) in places.filter(|(_, window)| *window == self.was.as_slice()) {
                found.push(Self {
                    before: gap.before,
                    behind: gap.behind,
                    left: tokens[..at].to_vec(),
                    right: tokens[at + self.was.len()..].to_vec(),
                    ..self.clone()
                });
            }
        }
        found
    }

    /// Returns true if a response has the text between the tokens beside it.
    pub(super) fn stands_in(&self, response: &str) -> bool {
        let left = self.left.last().map_or("", String::as_str);
        let right = self.right.first().map_or("", String::as_str);
        response.contains(&format!("{left}{}{right}", self.now))
    }

    /// The bytes of a pattern where the stretch stands, by the items of the pattern.
    fn places(&self, items: &[Item]) -> Vec<Range<usize>> {
        let was: Vec<char> = self.was.iter().flat_map(|token| token.chars()).collect();
        let is_word = was.iter().any(|c| c.is_alphanumeric());
        let mut places: Vec<Range<usize>> = Vec::new();
        for at in 0..=items.len() {
            let Some((start, end)) = matched(items, at, &was) else {
                continue;
            };
            let left = self.before_it(items, start);
            let right = self.behind_it(items, end);
            let is_beside = |one: Beside, other: Beside| {
                (one.is_sure || is_word && one.is_found) && other.is_open
            };
            let is_between =
                left.is_found && right.is_found || is_beside(left, right) || is_beside(right, left);
            // What is only signs is told by a word beside it, or by the part of the message there.
            if !is_between || !is_word && !left.is_sure && !right.is_sure {
                continue;
            }
            let span = match was.is_empty() {
                false => Some(items[start].start..items[end - 1].end),
                true => self.place_between(items, at).map(|place| place..place),
            };
            places.extend(span.filter(|span| !places.contains(span)));
        }
        places
    }

    /// The byte at which something more is put between two items: behind the white space there, if white space stands before it in the response.
    fn place_between(&self, items: &[Item], at: usize) -> Option<usize> {
        let is_space = |item: &Item| item.kind == Kind::Space;
        let is_behind = at.checked_sub(1).is_some_and(|last| is_space(&items[last]));
        let is_before = items.get(at).is_some_and(is_space);
        let is_there = match self.is_apart {
            true => !is_before,
            false => !is_behind,
        };
        let end = items.last().map_or(0, |item| item.end);
        is_there.then(|| items.get(at).map_or(end, |item| item.start))
    }

    fn before_it(&self, items: &[Item], start: usize) -> Beside {
        let last_of = |at: usize| {
            let mut items = items[..at].iter().rev();
            items
                .find(|item| item.kind != Kind::Space)
                .map(|item| item.kind)
        };
        let is_open = !matches!(last_of(start), Some(Kind::Literal(_)));
        let (mut at, mut found, mut has_word) = (start, 0, false);
        for token in self.left.iter().rev() {
            let chars: Vec<char> = token.chars().collect();
            let Some(first) = matched_before(items, at, &chars) else {
                break;
            };
            (at, found) = (first, found + 1);
            has_word |= token.contains(char::is_alphanumeric);
        }
        let part = match last_of(at) {
            Some(Kind::Closes(part)) => Some(part),
            _ => None,
        };
        let is_all = found == self.left.len();
        let is_other = !is_all && matches!(last_of(at), Some(Kind::Literal(_)));
        match is_other {
            true => Beside::default(),
            false => beside(self.before, is_all, part, (found, has_word), is_open),
        }
    }

    fn behind_it(&self, items: &[Item], end: usize) -> Beside {
        let next_of = |at: usize| {
            let mut items = items[at..].iter();
            items
                .find(|item| item.kind != Kind::Space)
                .map(|item| item.kind)
        };
        let is_open = !matches!(next_of(end), Some(Kind::Literal(_)));
        let (mut at, mut found, mut has_word) = (end, 0, false);
        for token in &self.right {
            let chars: Vec<char> = token.chars().collect();
            let Some((_, next)) = matched(items, at, &chars) else {
                break;
            };
            (at, found) = (next, found + 1);
            has_word |= token.contains(char::is_alphanumeric);
        }
        let part = match next_of(at) {
            Some(Kind::Opens(part)) => Some(part),
            _ => None,
        };
        let is_all = found == self.right.len();
        let is_other = !is_all && matches!(next_of(at), Some(Kind::Literal(_)));
        match is_other {
            true => Beside::default(),
            false => beside(self.behind, is_all, part, (found, has_word), is_open),
        }
    }
}

/// How much is found where `all` of the tokens, or so many of them, stand beside a place, and a group for a part of the message behind them, if any.
fn beside(
    wanted: Part,
    is_all: bool,
    group: Option<Option<Part>>,
    (found, has_word): (usize, bool),
    is_open: bool,
) -> Beside {
    // Only these parts are groups of a pattern; the others begin and end where a pattern does, or where anything may stand.
    let is_group = matches!(wanted, Part::Name | Part::Key | Part::Value);
    let is_there = match group {
        _ if !is_group => is_open,
        Some(Some(part)) => part == wanted,
        Some(None) => true,
        None => false,
    };
    Beside {
        is_found: found > 0 || is_all && is_there,
        is_sure: has_word || is_all && is_group && group == Some(Some(wanted)),
        is_open,
    }
}

#[cfg(test)]
mod tests {
    use super::super::gaps;
    use super::*;
    use crate::value::json;

    const MESSAGE: &str =
        r#"{"tool_calls": [{"name": "look_up", "arguments": {"city": "Paris"}}]}"#;

    fn gaps_of(response: &str) -> Vec<Gap> {
        let message = json::parse(MESSAGE).unwrap();
        gaps::gaps(response, message.as_object().unwrap()).unwrap()
    }

    /// The opening and the tags of a response template for `<do f="NAME"><arg k="KEY">VALUE</arg></do>` that has learnt from a response.
    fn learnt(response: &str) -> Option<[String; 2]> {
        let text = r#"{"start_anchor": "A", "fields": {"tool_calls": {
            "open_pattern": "<do\\s*f=\"\\s*(?P<name>[^\\s\"<]+)\\s*\">\\s*", "close": "</do>", "content": "xml-inline",
            "content_args": {"tag_pattern": "<arg\\s*k=\"(?P<key>[^\"]+)\">(?P<value>.*?)</arg>"}}}}"#;
        let document = Document::of(&json::parse(text).unwrap()).unwrap();
        let known = gaps_of(r#"<do f="look_up"><arg k="city">Paris</arg></do>"#);
        let pieces = Pieces::of(std::iter::empty(), std::iter::empty());
        let changes = changes(&gaps_of(response), &known, &pieces);
        let now = apply(&document, &changes.iter().collect::<Vec<_>>())?;
        let field = &now.fields["tool_calls"];
        let tags = field.content_args["tag_pattern"].as_str()?.to_owned();
        Some([source(field.open.as_ref()?), tags])
    }

    #[test]
    fn other_constants_are_found_in_the_patterns() {
        let reads = |[open, tags]: [String; 2], response: &str| {
            let open = Pattern::regex(&open).unwrap().search(response, 0).unwrap();
            let tags = Pattern::regex(&tags).unwrap().search(response, 0).unwrap();
            let group = |name: &str| tags.as_ref()?.group(name).map(|span| &response[span]);
            let name = open.as_ref().and_then(|found| found.group("name"));
            [
                name.map(|span| &response[span]),
                group("key"),
                group("value"),
            ]
            .map(|text| text.unwrap_or_default().to_owned())
        };
        for response in [
            r#"<do f="functions.look_up"><arg k="city">Paris</arg></do>"#,
            r#"<do f=look_up><arg k="city">Paris</arg></do>"#,
            r#"<do f="look_up"><item k="city">Paris</item></do>"#,
            r#"<do f="look_up"><arg name="city">Paris</arg></do>"#,
            r#"<do name="look_up" with><arg k="city">Paris</arg></do>"#,
        ] {
            let now = learnt(response).unwrap();
            let read = reads(now.clone(), response);
            assert_eq!(read, ["look_up", "city", "Paris"], "{response} {now:?}");
            let rendered = r#"<do f="look_up"><arg k="city">Paris</arg></do>"#;
            assert_eq!(reads(now, rendered), read, "{response}");
        }
    }

    #[test]
    fn what_is_cut_short_takes_nothing_away() {
        assert!(
            changes(
                &gaps_of(r#"<do f="look_up"><arg k="city">Paris</arg>"#),
                &gaps_of(r#"<do f="look_up"><arg k="city">Paris</arg></do>"#),
                &Pieces::of(std::iter::empty(), std::iter::empty())
            )
            .is_empty()
        );
    }
}
