//! The text around the name of a call, taken apart into parts that may be missing or be one of several words.
//!
//! Models write the opening of a call with several heads: `to=f <|channel|>commentary json`, `to=f <|channel|>analysis`, `to=f json`. Taken as
//! wholes, these three say nothing of a fourth; taken apart, they are one sequence of which some parts may be missing and others be one
//! word or another, and a combination that nobody has seen is read as well.
//!
//! A token is the text that two of the heads, or of their words, begin or end with alike, such as `<|channel|>` in `<|channel|>commentary`
//! and `<|channel|>analysis`; the rest is a token, too. The heads are aligned one after the other ([`Sequence::take`]), by their longest
//! common subsequence of tokens, as multiple alignments are made progressively (Feng and Doolittle, 1987). A token that is in no other head
//! is a part that may be missing; where one word stands in the place of another, directly behind the same token, that is a choice. Parts
//! that are missing from the same heads stand together. For `k` heads of `n` tokens it takes `k * n * n` steps.

use super::common::longest_common;
use super::split::{Split, either, source, without};
use super::widening::Edit;
use crate::derive::compare::pattern::{SPACE, optional_beginning};
use crate::derive::compare::text::escape;
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document};
use crate::text::{common_prefix, common_suffix};
use crate::value::python;

/// A part of a head: the tokens that may stand there, and the heads in which none of them does.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Column {
    tokens: Vec<String>,
    missing: Vec<usize>,
}

/// The parts of all heads that were taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Sequence {
    columns: Vec<Column>,
    taken: usize,
}

/// The document with all these heads for one field; `None` where what opens it is no name between two texts, the first of which may have something before it that may be missing.
pub(super) fn apply(document: &Document, name: &str, heads: &[&Edit]) -> Option<Document> {
    let field = document.fields.get(name)?;
    let source = source(field.open.as_ref()?);
    let split = Split::of(&source)?;
    // What may stand before all heads, such as the turn's own marker, goes on standing there.
    let (optional, before) = optional_beginning(split.before);
    let stands_before = Pattern::regex(&format!("\\A{optional}")).ok()?;
    let mut sides = vec![(text(before)?, text(split.behind)?)];
    let mut group = split.group.to_owned();
    for head in heads {
        let (before, behind) = head.head()?;
        let behind = behind.trim_matches(python::is_space);
        group = without(&group, behind);
        let found = stands_before.search(before, 0).ok().flatten();
        let before = &before[found.map_or(0, |found| found.span.end)..];
        sides.push((before.to_owned(), behind.to_owned()));
    }
    let texts = sides.iter().flat_map(|(before, behind)| [before, behind]);
    let tokens = Tokens::of(texts.map(String::as_str));
    let (mut before, mut behind) = (Sequence::default(), Sequence::default());
    let mut may_be_none = false;
    for (lead, between) in &sides {
        before.take(&tokens.in_text(lead));
        match between.is_empty() {
            true => may_be_none = true,
            false => behind.take(&tokens.in_text(between)),
        }
    }
    let behind = behind.pattern();
    let behind = match may_be_none {
        // Without a marker the object that follows tells where the name ends.
        true => either(&behind, "(?=\\{)"),
        false => behind,
    };
    let before = before.pattern();
    let space = match before.ends_with(")?") {
        true => "",
        false => SPACE,
    };
    let open = format!("{optional}{before}{space}{group}{SPACE}{behind}{SPACE}");
    Pattern::regex(&open).ok()?;
    let mut document = document.clone();
    document.fields.get_mut(name)?.open = Some(Delimiter::pattern(open));
    Some(document)
}

/// The tokens that some texts are made of.
struct Tokens<'t> {
    words: Vec<&'t str>,
}

impl<'t> Tokens<'t> {
    fn of(texts: impl Iterator<Item = &'t str>) -> Self {
        let words = texts.flat_map(|text| text.split(python::is_space));
        Self {
            words: words.filter(|word| !word.is_empty()).collect(),
        }
    }

    /// The tokens of one of the texts, in their order.
    fn in_text(&self, text: &str) -> Vec<String> {
        let words = text.split(python::is_space).filter(|word| !word.is_empty());
        words.flat_map(|word| self.in_word(word)).collect()
    }

    /// The tokens of a word: it is cut where what it shares with another one ends or begins, if that has a whole word of letters in it.
    fn in_word(&self, word: &str) -> Vec<String> {
        let mut cuts = vec![0, word.len()];
        for other in self.words.iter().filter(|other| **other != word) {
            let start = common_prefix(word, other);
            let is_amid = |text: &str| joins(text, start);
            let begun = word[..start].trim_end_matches(char::is_alphanumeric).len();
            cuts.push(match is_amid(word) || is_amid(other) {
                true => begun,
                false => start,
            });
            let shared = common_suffix(word, other);
            let at = word.len() - shared;
            let rest = word[at..].trim_start_matches(char::is_alphanumeric);
            let is_amid = joins(word, at) || joins(other, other.len() - shared);
            cuts.push(match is_amid {
                true => word.len() - rest.len(),
                false => at,
            });
        }
        cuts.sort_unstable();
        cuts.dedup();
        let has_word = |part: &str| part.contains(char::is_alphanumeric);
        let mut tokens: Vec<String> = Vec::new();
        for ends in cuts.windows(2) {
            let part = &word[ends[0]..ends[1]];
            // Punctuation alone is a part of the token beside it.
            match tokens
                .last_mut()
                .filter(|last| !has_word(part) || !has_word(last))
            {
                Some(last) => last.push_str(part),
                None => tokens.push(part.to_owned()),
            }
        }
        tokens
    }
}

/// Returns true if the place, in bytes of the text, is within a word of letters or digits.
fn joins(text: &str, at: usize) -> bool {
    let (before, behind) = text.split_at(at);
    before.ends_with(char::is_alphanumeric) && behind.starts_with(char::is_alphanumeric)
}

impl Sequence {
    /// Takes another head.
    fn take(&mut self, tokens: &[String]) {
        let number = self.taken;
        self.taken += 1;
        if number == 0 {
            let columns = tokens.iter().map(|token| Column {
                tokens: vec![token.clone()],
                missing: Vec::new(),
            });
            self.columns = columns.collect();
            return;
        }
        let common = self.common(tokens);
        let mut columns: Vec<Column> = Vec::new();
        let (mut column, mut token) = (0, 0);
        let ends = std::iter::once((self.columns.len(), tokens.len()));
        for (next_column, next_token) in common.into_iter().chain(ends) {
            let mut old: Vec<Column> = self.columns[column..next_column].to_vec();
            let mut new = &tokens[token..next_token];
            // One word in the place of another, with the same signs behind it.
            if let (Some(first), [word, rest @ ..]) = (old.first_mut(), new)
                && first
                    .tokens
                    .iter()
                    .all(|token| are_words_alike(token, word))
            {
                first.tokens.push(word.clone());
                columns.push(old.remove(0));
                new = rest;
            }
            for mut column in old {
                column.missing.push(number);
                columns.push(column);
            }
            columns.extend(new.iter().map(|token| Column {
                tokens: vec![token.clone()],
                missing: (0..number).collect(),
            }));
            columns.extend(self.columns.get(next_column).cloned());
            (column, token) = (next_column + 1, next_token + 1);
        }
        self.columns = columns;
    }

    /// The longest common subsequence: the columns, each with the token that is one of its own.
    fn common(&self, tokens: &[String]) -> Vec<(usize, usize)> {
        longest_common(self.columns.len(), tokens.len(), |row, at| {
            self.columns[row].tokens.contains(&tokens[at])
        })
    }

    /// A pattern for any of it. Columns that are missing from the same heads are there or missing together.
    fn pattern(&self) -> String {
        let groups = self
            .columns
            .chunk_by(|one, next| one.missing == next.missing);
        let groups: Vec<String> = groups
            .map(|columns| {
                let parts = columns.iter().map(|column| {
                    let tokens: Vec<String> =
                        column.tokens.iter().map(|token| escape(token)).collect();
                    match tokens.as_slice() {
                        [one] => one.clone(),
                        several => format!("(?:{})", several.join("|")),
                    }
                });
                let parts: Vec<String> = parts.collect();
                let joined = parts.join(SPACE);
                match columns.iter().any(|column| !column.missing.is_empty()) {
                    true => format!("(?:{joined}{SPACE})?"),
                    false => format!("{joined}{SPACE}"),
                }
            })
            .collect();
        let whole = groups.concat();
        let whole = whole.strip_suffix(SPACE).unwrap_or(&whole);
        whole.to_owned()
    }
}

/// Returns true if two tokens are words with the same signs behind them: `which>>` and `what>>` are, `what.` is not, and neither are two that have markers of their own, such as
/// `<a>` and `<b>`.
fn are_words_alike(token: &str, other: &str) -> bool {
    let signs = |token: &str| -> Option<String> {
        let all = token.chars().filter(|c| !c.is_alphanumeric());
        token
            .starts_with(char::is_alphanumeric)
            .then(|| all.collect())
    };
    signs(token).is_some_and(|own| signs(other) == Some(own))
}

/// The text that a pattern is for, with a space where it takes any; `None` for one that is for several texts.
fn text(pattern: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if let Some(behind) = rest.strip_prefix(SPACE) {
            text.push(' ');
            rest = behind;
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let escaped = rest.chars().next().filter(|c| !c.is_alphanumeric())?;
                text.push(escaped);
                rest = &rest[escaped.len_utf8()..];
            }
            c if "()[]{}?*+|^$.".contains(c) => return None,
            c => text.push(c),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::super::widening::How;
    use super::*;

    fn sequence(heads: &[&str]) -> Sequence {
        let tokens = Tokens::of(heads.iter().copied());
        let mut sequence = Sequence::default();
        for head in heads {
            sequence.take(&tokens.in_text(head));
        }
        sequence
    }

    #[test]
    fn what_was_never_seen_together_is_read_together() {
        let sequence = sequence(&[
            "<c> comment json <m>",
            "<c> analyse <m>",
            "<m>",
            "<k> json <m>",
        ]);
        let pattern = format!("\\A{}\\Z", sequence.pattern());
        let pattern = Pattern::regex(&pattern).unwrap();
        let is_read = |text: &str| pattern.search(text, 0).unwrap().is_some();
        for seen in [
            "<c> comment json <m>",
            "<c> analyse <m>",
            "<m>",
            "<k>json<m>",
        ] {
            assert!(is_read(seen), "{seen} {}", sequence.pattern());
        }
        for unseen in ["<c>analyse <k> json<m>", "json <m>", "<c> comment<m>"] {
            assert!(is_read(unseen), "{unseen} {}", sequence.pattern());
        }
        for other in ["<c> comment json", "<c> other <m>", "<m> json"] {
            assert!(!is_read(other), "{other}");
        }
    }

    #[test]
    fn what_may_stand_before_all_heads_goes_on_standing_there() {
        let text = r#"{"start_anchor": "A", "fields": {"tool_calls": {
            "open_pattern": "(?:<turn>\\s*)?to=(?P<name>[^\\s<]+)\\s*<lane>notes\\s*<m>", "close": "<end>", "content": "json"}}}"#;
        let document = Document::of(&crate::value::json::parse(text).unwrap()).unwrap();
        let heads = [
            ("to=", "<lane>plans<m>"),
            ("<lane>notes to=", "<kind>json<m>"),
            ("<turn>of=", "<lane>notes<m>"),
        ];
        let heads = heads.map(|(before, between)| {
            let between = between.to_owned();
            Edit::open("tool_calls", before, How::Head { between })
        });
        let changed = apply(&document, "tool_calls", &heads.each_ref()).unwrap();
        let open = source(changed.fields["tool_calls"].open.as_ref().unwrap());
        let open = Pattern::regex(&open).unwrap();
        for text in [
            "<turn>to=f<lane>notes<m>",
            "to=f<lane>plans<m>",
            "<turn><lane>notes to=f<kind>json<m>",
            "<turn>to=f<lane>plans<kind>json<m>",
            "<lane>notes of=f<kind>json<m>",
        ] {
            let found = open.search(text, 0).unwrap();
            assert_eq!(found.unwrap().span, 0..text.len(), "{text}");
        }
    }

    #[test]
    fn words_with_the_same_signs_stand_in_the_place_of_one_another() {
        let sequence = sequence(&["<<a>><<which>>", "<<a>><<which>>f.", "<<a>><<what>>"]);
        let pattern = Pattern::regex(&format!("\\A{}\\Z", sequence.pattern())).unwrap();
        let is_read = |text: &str| pattern.search(text, 0).unwrap().is_some();
        assert!(is_read("<<a>><<what>>f."), "{}", sequence.pattern());
        assert!(!is_read("<<a>><<which>>what>>"), "{}", sequence.pattern());
    }

    #[test]
    fn one_way_is_itself() {
        assert_eq!(sequence(&["a: b"]).pattern(), "a:\\s*b");
        assert_eq!(text("a\\s*\\(b").as_deref(), Some("a (b"));
        assert_eq!(text("a(?:b)"), None);
        assert_eq!(text("\\d"), None);
    }
}
