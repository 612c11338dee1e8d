//! Where a change is found in the patterns of a response template, and these patterns with it.
//!
//! A stretch in which responses differ from renders ([`super::changes`]) is found by the tokens beside it: `arg` in `<arg\s*k="` by `<` and `k`. If a
//! pattern begins or ends with the stretch, the tokens on one side have to tell. All patterns are changed alike. Finding a stretch takes the length
//! of the patterns.

use std::ops::Range;

use super::changes::{Change, tokens};
use super::gaps::Part;
use super::items::{Item, Kind, items, matched, matched_before};
use super::split::{source, without};
use super::within::behind_parts;
use crate::derive::compare::pattern::SPACE;
use crate::derive::compare::text::{escape, escape_loosely};
use crate::derive::probe::CALLS_KEY;
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document};
use crate::value::Value;

/// The document with all its patterns taking the other texts as well; `None` where one of the changes finds no place, or a pattern would match nothing at all.
pub(super) fn apply(document: &Document, changes: &[&Change]) -> Option<Document> {
    let begins = behind_parts(document, None, None);
    let mut document = document.clone();
    let mut is_placed = vec![false; changes.len()];
    for (name, field) in &mut document.fields {
        let begins = (name == CALLS_KEY).then_some(begins.as_str());
        for (delimiter, begins) in [(&mut field.open, begins), (&mut field.close, None)] {
            if let Some(one) = delimiter
                && let Some(changed) = changed(&source(one), changes, begins, &mut is_placed)
            {
                *one = Delimiter::pattern(changed);
            }
        }
        for (_, value) in field.content_args.iter_mut() {
            if let Some(pattern) = value.as_str().filter(|text| text.contains("(?P<"))
                && let Some(changed) = changed(pattern, changes, None, &mut is_placed)
            {
                *value = Value::from(changed);
            }
        }
    }
    is_placed.iter().all(|is| *is).then_some(document)
}

/// The pattern with the changes that find a place in it; `None` where none does, or it would match nothing at all. Where it opens a call, `begins` is a look-behind for
/// the places at which a part of a message begins.
fn changed(
    pattern: &str,
    changes: &[&Change],
    begins: Option<&str>,
    is_placed: &mut [bool],
) -> Option<String> {
    let items = items(pattern);
    let mut places: Vec<(Range<usize>, Vec<&Change>, String)> = Vec::new();
    let mut placed = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        for (span, guard) in change.places(&items) {
            placed.push(number);
            match places.iter_mut().find(|(other, ..)| *other == span) {
                Some((_, all, _)) => all.push(change),
                None => places.push((span, vec![change], guard)),
            }
        }
    }
    if places.is_empty() {
        return None;
    }
    places.sort_by_key(|(span, ..)| std::cmp::Reverse((span.start, span.end)));
    let mut written = pattern.to_owned();
    let mut before = usize::MAX;
    for (span, all, guard) in &places {
        // Of stretches that overlap one is enough.
        if span.end > before {
            continue;
        }
        let whole = run(&items, span);
        let is_alone = places.iter().all(|(other, ..)| {
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
        let is_last = ["", SPACE].contains(&&pattern[span.end..]);
        let follows = all.iter().filter(|_| is_last);
        let follows = follows.filter_map(|one| one.what_follows()).next();
        // A call without the marker in front of it is one where the response begins with it, and is spoken of within a text.
        let missing = all.iter().filter(|one| one.now.is_empty());
        let mut missing = missing.map(|one| one.before);
        let begins = begins.filter(|_| span.start == 0 && missing.all(|one| one == Part::Start));
        let instead = follows.or_else(|| begins.map(str::to_owned));
        let either = either(
            &pattern[span.clone()],
            all,
            sides,
            guard,
            instead.as_deref(),
        );
        written.replace_range(span, &either);
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
/// these is all that stands before it, and the text goes on from what the `guard` looks back at. Where the stretch is missing, the pattern `instead` has to match there,
/// if there is one.
fn either(
    was: &str,
    all: &[&Change],
    [left, right]: [&str; 2],
    guard: &str,
    instead: Option<&str>,
) -> String {
    let mut texts: Vec<String> = Vec::new();
    for change in all.iter().filter(|change| !change.now.is_empty()) {
        let text = match was.is_empty() {
            true => varied(&change.now),
            false => {
                let is_apart = change.is_apart && !left.ends_with(SPACE);
                let before = if is_apart { SPACE } else { "" };
                let is_followed = change.is_followed && !right.starts_with(SPACE);
                let behind = if is_followed { SPACE } else { "" };
                format!("{left}{before}{}{behind}{right}", varied(&change.now))
            }
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
                [one] => format!("(?:{guard}{lead}{one}{SPACE})?"),
                texts => format!("(?:{guard}{lead}(?:{}){SPACE})?", texts.join("|")),
            }
        }
        (false, texts) => {
            let instead = instead.filter(|_| may_miss).map(str::to_owned);
            let end = match may_miss && instead.is_none() {
                true => "?",
                false => "",
            };
            let ways = std::iter::once(was.to_owned());
            let ways = ways.chain(texts.iter().cloned()).chain(instead);
            let ways: Vec<String> = ways.collect();
            format!("(?:{}){end}", ways.join("|"))
        }
    }
}

/// A pattern for the text, in which what counts or identifies may be any: a number, as `id="1"` is followed by `id="2"`, also at the end of a
/// word, as `call_0` is followed by `call_1`, and a word with several numbers in it, such as `call_8f3a`.
fn varied(text: &str) -> String {
    let mut pattern = String::new();
    let mut at = 0;
    for token in tokens(text) {
        let is_digit = |c: char| c.is_ascii_digit();
        let numbers = token.text.split(|c| !is_digit(c));
        let numbers = numbers.filter(|number| !number.is_empty()).count();
        let word = token.text.trim_end_matches(is_digit);
        let any = match (numbers, word.len() < token.text.len()) {
            (1, true) => format!("{}\\d+", escape(word)),
            (0 | 1, _) => continue,
            _ => "\\w+".to_owned(),
        };
        pattern.push_str(&escape_loosely(&text[at..token.start]));
        pattern.push_str(&any);
        at = token.end();
    }
    pattern + &escape_loosely(&text[at..])
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
    /// A look-ahead for what renders have behind a stretch that is missing behind the parts of a call; `None` where they have nothing there.
    fn what_follows(&self) -> Option<String> {
        let is_end = self.now.is_empty() && self.behind == Part::End && !self.right.is_empty();
        is_end.then(|| format!("(?={SPACE}{})", escape_loosely(&self.right.concat())))
    }

    /// The bytes of a pattern where the stretch stands, by the items of the pattern; each with a look-behind for what stands before it in the response,
    /// where the pattern begins behind that.
    fn places(&self, items: &[Item]) -> Vec<(Range<usize>, String)> {
        let was: Vec<char> = self.was.iter().flat_map(|token| token.chars()).collect();
        let is_word = was.iter().any(|c| c.is_alphanumeric());
        let mut places: Vec<(Range<usize>, String)> = Vec::new();
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
            let guard = match self.left.last() {
                Some(last) if !left.is_found => format!("(?<={}\\s{{0,4}})", escape(last)),
                _ => String::new(),
            };
            let span = span.filter(|span| places.iter().all(|(other, _)| other != span));
            places.extend(span.map(|span| (span, guard)));
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
    use super::varied;

    #[test]
    fn what_counts_or_identifies_may_be_any() {
        assert_eq!(varied("id=1"), r"id=\d+");
        assert_eq!(varied("call_0"), r"call_\d+");
        assert_eq!(varied("call_8f3a"), r"\w+");
        assert_eq!(varied("h1x"), "h1x", "a number within a word");
    }
}
