//! Constant parts in which a response differs from renders.
//!
//! The gaps between the parts of a response's message ([`super::gaps`]) are compared with those that renders have between parts of the same
//! kinds. Both are taken apart into words and signs, and their longest common subsequence leaves the stretches in which they differ
//! ([`changes`]): `<arg k="` and `<item k="` differ in `arg` against `item`, between `<` and `k`. Such a stretch is then found again in the
//! patterns of a response template ([`super::places`]). Where several stretches of a gap differ and something is missing in one, they are one
//! change, from the first of them to the last.
//!
//! For gaps of `n` and `m` tokens the comparison takes `n * m` steps.

use super::common::longest_common;
use super::gaps::{Gap, Part};
use crate::derive::compare::pieces::Pieces;
use crate::value::python;

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
    pub(super) before: Part,
    pub(super) behind: Part,
    /// The tokens of the render before the stretch, from the beginning of the gap on.
    pub(super) left: Vec<String>,
    /// The tokens of the render behind the stretch, to the end of the gap.
    pub(super) right: Vec<String>,
    /// The tokens that renders have.
    pub(super) was: Vec<String>,
    /// The text that the response has.
    pub(super) now: String,
    /// True if white space stands before that text.
    pub(super) is_apart: bool,
    /// True if white space stands behind that text.
    pub(super) is_followed: bool,
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

/// How far a gap is from the nearest that renders have between parts of the same kinds, whatever stands before it: how often words of theirs are missing in it, and
/// how much is different. What lacks words is further away, since it may be the rest of a text with other words.
pub(super) fn distance(gap: &Gap, known: &[Gap], pieces: &Pieces) -> Option<(usize, usize)> {
    let now = tokens(&gap.text);
    let alike = known.iter().filter(|other| other.behind == gap.behind);
    let all = alike.filter_map(|other| differing(gap, &other.text, &now, pieces));
    let all = all.map(|all| {
        let without = all.iter().filter(|one| one.loses_words()).count();
        (without, all.iter().map(weight).sum())
    });
    all.min()
}

fn weight(change: &Change) -> usize {
    change.was.iter().map(String::len).sum::<usize>() + change.now.len() + 1
}

fn is_of_call(part: Part) -> bool {
    matches!(part, Part::Name | Part::Key | Part::Value | Part::Arguments)
}

/// A word or a sign of a text, with its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
}

impl Token<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The words and signs of a text, without the white space.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
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
    let common = longest_common(was.len(), now.len(), |row, at| {
        was[row].text == now[at].text
    });
    let common = slid(common, was, now, is_edge);
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
            let is_followed = gap.text[span.end..].starts_with(python::is_space);
            changes.push(Change {
                before: gap.before,
                behind: gap.behind,
                left: owned(&was[..row]),
                right: owned(&was[next_row..]),
                was: owned(old),
                now: gap.text[span].to_owned(),
                is_apart,
                is_followed,
            });
        }
        (row, at) = (next_row + 1, next_at + 1);
    }
    // What may be missing here and there would make a call of much that is none; all of it at once is what the response has.
    if changes.len() > 1 && changes.iter().any(|change| change.now.is_empty()) {
        changes = vec![merged(gap, was, now)?];
    }
    (changes.len() <= MAX_CHANGES).then_some(changes)
}

/// One change for all that lies between the tokens that a gap begins and ends with as the render's does.
fn merged(gap: &Gap, was: &[Token<'_>], now: &[Token<'_>]) -> Option<Change> {
    let is_same = |(one, other): &(&Token<'_>, &Token<'_>)| one.text == other.text;
    let start = was.iter().zip(now).take_while(is_same).count();
    let rest = was[start..].iter().rev().zip(now[start..].iter().rev());
    let end = rest.take_while(is_same).count();
    let owned = |tokens: &[Token<'_>]| -> Vec<String> {
        tokens.iter().map(|token| token.text.to_owned()).collect()
    };
    let new = &now[start..now.len() - end];
    let span = match (new.first(), new.last()) {
        (Some(first), Some(last)) => first.start..last.end(),
        _ => 0..0,
    };
    let is_apart = gap.text[..span.start].ends_with(python::is_space);
    let is_followed = gap.text[span.end..].starts_with(python::is_space);
    Some(Change {
        before: gap.before,
        behind: gap.behind,
        left: owned(&was[..start]),
        right: owned(&was[was.len() - end..]),
        was: owned(&was[start..was.len() - end]),
        now: gap.text.get(span)?.to_owned(),
        is_apart,
        is_followed,
    })
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
        let run: Vec<usize> = run.map(|(by, _)| by + 1).collect();
        let begins = |by: &&usize| is_edge(last_row + 1 - **by);
        let ends = |by: &&usize| is_edge(last_row + 1 - **by + old);
        // Where no edge is known in front of it, as of `<b>` behind a `}` that always stands there, what comes behind begins at one.
        let by = run.iter().find(|by| begins(by) && ends(by));
        let by = by.or_else(|| run.iter().find(ends)).copied();
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

impl Change {
    /// Returns true if words that renders have may be missing.
    pub(super) fn takes_words_away(&self) -> bool {
        self.now.is_empty() && self.has_word()
    }

    /// Returns true if words that renders have are missing, and no others stand in their place.
    fn loses_words(&self) -> bool {
        let is_word = |token: &&str| token.contains(char::is_alphanumeric);
        let now: Vec<&str> = tokens(&self.now).iter().map(|token| token.text).collect();
        let was = self.was.iter().map(String::as_str);
        let missing = was.filter(|token| is_word(token) && !now.contains(token));
        let others = now.iter().filter(|token| {
            let is_known = self.was.iter().any(|was| was == **token);
            is_word(token) && !is_known
        });
        missing.count() > others.count()
    }

    /// Returns true if what renders have before the stretch has words.
    pub(super) fn is_behind_words(&self) -> bool {
        self.left
            .iter()
            .any(|token| token.contains(char::is_alphanumeric))
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
}

#[cfg(test)]
mod tests {
    use super::super::gaps;
    use super::super::places::apply;
    use super::super::split::source;
    use super::*;
    use crate::pattern::Pattern;
    use crate::response_template::Document;
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
    fn numbers_vary_and_what_follows_a_call_stands_behind_nothing_else() {
        let [open, _] = learnt(r#"<do f="look_up" id="1"><arg k="city">Paris</arg></do>"#).unwrap();
        let open = Pattern::regex(&open).unwrap();
        let other = open.search(r#"<do f="look_up" id="23">"#, 0).unwrap();
        assert!(other.is_some());

        let text = r#"{"start_anchor": "A", "fields": {"content": {"close": "<end>"}, "tool_calls": {
            "open_pattern": "<do (?P<name>[^ ]+) ", "close": "]", "content": "json"}}}"#;
        let document = Document::of(&json::parse(text).unwrap()).unwrap();
        let known = gaps_of(r#"<do look_up {"city": "Paris"}]<end>"#);
        let pieces = Pieces::of(std::iter::empty(), std::iter::empty());
        let gaps = gaps_of(r#"<do look_up {"city": "Paris"}]~~<end>"#);
        let changes = changes(&gaps, &known, &pieces);
        let now = apply(&document, &changes.iter().collect::<Vec<_>>()).unwrap();
        let close = source(now.fields["content"].close.as_ref().unwrap());
        let close = Pattern::regex(&close).unwrap();
        let start = |text: &str| close.search(text, 0).unwrap().map(|found| found.span.start);
        assert_eq!(start("]~~<end>"), Some(1));
        assert_eq!(start("So: ~~<end>"), Some("So: ~~".len()));
    }

    #[test]
    fn what_may_be_missing_beside_something_else_is_one_other_text() {
        let pieces = Pieces::of(std::iter::empty(), std::iter::empty());
        let known = gaps_of(r#"<do f="look_up"><arg k="city">Paris</arg></do>"#);
        let gaps = gaps_of("<do=look_up><arg k=\"city\">Paris</arg></do>");
        let told: Vec<String> = changes(&gaps, &known, &pieces)
            .iter()
            .map(Change::told)
            .collect();
        assert_eq!(told[0], r#""=" may stand in the place of "f=\"""#);
        assert_eq!(told.len(), 2, "{told:?}");
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
