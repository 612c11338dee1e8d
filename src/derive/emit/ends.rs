//! The markers that end a turn, and the text that may follow them.

use super::{Target, tail, unopened};
use crate::derive::choice::Choices;
use crate::derive::compare::pieces::Pieces;
use crate::derive::compare::{slot, text};
use crate::derive::read::analysis::Analysis;
use crate::response_template::Delimiter;

/// The markers that end a turn.
pub(super) struct Ends<'a> {
    /// The markers that end a turn after content; and those that end it after calls or beside reasoning, where these are others.
    pub(super) markers: Vec<&'a str>,
    /// The markers with the white space before them; empty unless all of them have some.
    spaced: Vec<&'a str>,
    /// The markers with the white space behind them; empty unless all of them have some.
    followed: Vec<&'a str>,
    /// The constant text that calls begin with; empty where there is none.
    opens_calls: &'a str,
    /// The marker that opens the content behind the calls, and the white space before it; `None` where none does.
    opens_content: Option<(&'a str, &'a str)>,
    /// The text that may follow at the end of a conversation.
    epilogue: &'a str,
    /// True if text behind the end of a turn goes to no field, or to a reasoning that is what no other field takes. It is so where a delimiter
    /// opens the content, since text is then content only behind that delimiter.
    pub(super) is_last: bool,
    /// The pieces of which markers are made.
    pub(super) pieces: &'a Pieces,
    /// How a pattern says that the text ends.
    pub(super) text_end: &'static str,
}

impl<'a> Ends<'a> {
    pub(super) fn of(analysis: &'a Analysis, target: Target, choices: &Choices) -> Self {
        let epilogue = analysis.turn_end.epilogue.trim();
        let after_calls = analysis.calls.as_ref().map(|calls| calls.turn_end.trim());
        let after_calls = after_calls.map(|end| end.strip_suffix(epilogue).unwrap_or(end).trim());
        let content = &analysis.content;
        let beside_others = content
            .end_beside_reasoning
            .iter()
            .chain(&content.ends_beside_further)
            .map(String::as_str);
        let mut markers = Vec::new();
        for end in analysis
            .turn_end
            .markers
            .iter()
            .map(|marker| marker.trim())
            .chain(after_calls)
            .chain(beside_others)
        {
            if !end.is_empty() && !markers.contains(&end) {
                markers.push(end);
            }
        }
        let all = markers.clone();
        markers.retain(|end| {
            !all.iter()
                .any(|other| other != end && needs_only(&analysis.pieces, other, end))
        });
        let with_space = |has_space: fn(&str) -> bool| {
            let all = analysis.turn_end.markers.iter().map(String::as_str);
            let some: Vec<&str> = all
                .filter(|end| has_space(end) && markers.contains(&end.trim()))
                .collect();
            match some.len() == markers.len() {
                true => some,
                false => Vec::new(),
            }
        };
        Self {
            spaced: with_space(|end| end.starts_with(char::is_whitespace)),
            followed: with_space(|end| end.ends_with(char::is_whitespace)),
            markers,
            opens_calls: analysis.calls.as_ref().map_or("", |calls| {
                let section = calls.section.0.trim();
                slot::constant(match section {
                    "" => calls.call.0.trim_start(),
                    section => section,
                })
            }),
            opens_content: content
                .behind_calls
                .as_deref()
                .and_then(|space| Some((space, content.open.as_deref()?))),
            epilogue,
            is_last: analysis.content.open.is_some()
                || unopened::unclaimed(analysis, choices).is_some(),
            pieces: &analysis.pieces,
            text_end: target.text_end,
        }
    }

    /// Splits an end into the part that is needed and the rest. Of several markers the first is enough: engines stop the model at the last
    /// one and may keep it to themselves.
    pub(super) fn needed<'t>(&self, end: &'t str) -> (&'t str, &'t str) {
        let mut others = self.markers.iter().filter(|other| **other != end);
        if let Some(first) = others.find_map(|other| end.strip_suffix(other)) {
            return end.split_at(first.len());
        }
        match self.pieces.tokens(end).as_slice() {
            // Where the same token stands twice, both together are the marker.
            [first, next, ..] if first == next => (end, ""),
            [first, ..] if needs_only(self.pieces, end, first) => end.split_at(first.len()),
            _ => (end, ""),
        }
    }

    /// Returns the ends as they are written, if no text that follows them matters and nothing in them may vary.
    pub(super) fn literals(&self) -> Option<Delimiter> {
        let needed = self.markers.iter().map(|end| self.needed(end).0);
        let needed: Vec<String> = needed.map(str::to_owned).collect();
        let is_literal =
            self.is_last && !needed.is_empty() && needed.iter().all(|end| super::is_plain(end));
        is_literal.then_some(Delimiter::Literals(needed))
    }

    /// Returns the ends with all their markers, as they are written; `None` where [`literals`](Self::literals) gives none, or these.
    pub(super) fn whole(&self) -> Option<Delimiter> {
        let whole: Vec<String> = self.markers.iter().map(|end| (*end).to_owned()).collect();
        let is_literal = whole.iter().all(|end| super::is_plain(end));
        let whole = is_literal.then_some(Delimiter::Literals(whole));
        whole.filter(|whole| self.literals().is_some_and(|literals| literals != *whole))
    }

    /// A pattern for any of the ends or the other markers, with the white space after it; `None` where there are none.
    pub(super) fn pattern(&self, before: Option<&str>, others: &[&str]) -> Option<String> {
        let ends = before.into_iter().chain(self.markers.iter().copied());
        let ends = ends
            .map(|end| self.end_pattern(end))
            .chain(others.iter().map(|other| slot::pattern(other)));
        super::either_of(ends.collect()).map(|end| end + &self.behind())
    }

    /// A pattern for what the chat template writes behind an end.
    fn behind(&self) -> String {
        match self.is_last {
            true => String::new(),
            false => format!("\\s*{}", self.optional(self.epilogue)),
        }
    }

    /// A pattern for the first marker of each end where the rest of it follows, or the response ends; `None` where [`literals`](Self::literals) gives none, or none has
    /// more than one marker.
    pub(super) fn whole_or_last(&self) -> Option<String> {
        self.literals()?;
        let mut has_rest = false;
        let ends = self.markers.iter().map(|end| {
            let (needed, rest) = self.needed(end);
            let needed = slot::pattern(needed);
            match rest.trim() {
                "" => needed,
                rest => {
                    has_rest = true;
                    format!("{needed}\\s*(?:{}|{})", slot::pattern(rest), self.text_end)
                }
            }
        });
        let ends: Vec<String> = ends.collect();
        super::either_of(ends).filter(|_| has_rest)
    }

    /// A pattern that finds where the content begins behind the calls, at the beginning of a line if `at_line` asks for that and the chat template has it
    /// there; `None` where no marker opens the content there.
    pub(super) fn before_content(&self, at_line: bool) -> Option<String> {
        let (space, open) = self.opens_content?;
        let line = match at_line && space.contains('\n') {
            true => super::AT_LINE,
            false => "",
        };
        Some(format!("{line}(?={})", slot::pattern(open.trim())))
    }

    /// A pattern as [`pattern`](Self::pattern) gives, for what stands behind the text `own`, which closes a region also where the response ends
    /// with it. Of a marker that has that text within, any beginning will do where the response ends.
    ///
    /// Transformers takes a whole match before one that only begins, and while the response arrives its end is wherever it has come to. Of `}`
    /// behind which `{done}{end}` stands, or nothing, it would take the one within that marker, and no longer the one before it.
    pub(super) fn pattern_behind(&self, own: &str, before: Option<&str>) -> Option<String> {
        let all: Vec<&str> = before
            .into_iter()
            .chain(self.markers.iter().copied())
            .collect();
        let cut = |end: &&str| {
            let (needed, _) = self.needed(end);
            has_within(needed, own)
                .then(|| tail::cut_short(needed, self.text_end))
                .flatten()
        };
        let behind = self.behind();
        if let [end] = all.as_slice()
            && let Some(cut) = cut(end)
        {
            return Some(format!("{}{behind}|{cut}", self.end_pattern(end)));
        }
        let ends = all
            .iter()
            .flat_map(|end| [Some(self.end_pattern(end)), cut(end)]);
        let end = super::either_of(ends.flatten().collect())?;
        Some(end + &behind)
    }

    /// Returns a pattern for any of the ends with the white space that the chat template writes before it, so that a text may have the end
    /// in it without that white space; `None` where there is none.
    pub(super) fn exact(&self, others: &[&str]) -> Option<String> {
        self.instead(self.with_space_before(), others)
    }

    /// Returns a pattern as [`exact`](Self::exact) does, where literals would do otherwise: behind the last end text goes to no field.
    pub(super) fn exact_literals(&self) -> Option<String> {
        self.literals()?;
        super::either_of(self.with_space_before())
    }

    /// A pattern for each end with the white space that the chat template writes before it; none unless all of them have some.
    fn with_space_before(&self) -> Vec<String> {
        let ends = self.spaced.iter().map(|end| {
            let space = text::leading(end);
            format!("{}{}", text::escape(space), self.end_pattern(end.trim()))
        });
        ends.collect()
    }

    /// Returns a pattern for any of the ends where each begins a line, with or without anything before it.
    pub(super) fn at_line(&self, others: &[&str]) -> Option<String> {
        let begins_line = |end: &&&str| text::leading(end).contains('\n');
        if !self.spaced.iter().all(|end| begins_line(&end)) {
            return None;
        }
        let ends = self.spaced.iter().map(|end| self.end_pattern(end.trim()));
        let end = self.instead(ends.collect(), others)?;
        Some(format!("(?<![^\\n]){end}"))
    }

    /// Returns a pattern for any of the ends with the white space that stands behind it, or where the text ends; `None` where there is
    /// none. Where a `)` and a line feed end the turn, for example, a `)` within a line of the text is no end.
    pub(super) fn with_space_behind(&self, others: &[&str]) -> Option<String> {
        let ends = self.followed.iter().map(|end| {
            let space = text::escape(&end[end.trim_end().len()..]);
            let text_end = self.text_end;
            format!("{}(?={space}|\\s*{text_end})", self.end_pattern(end.trim()))
        });
        self.instead(ends.collect(), others)
    }

    /// Returns a pattern for any of the ends that leaves the text the characters at its end that look like the beginning of an end. In
    /// `~~~~`, where `~~~` is the end, the first `~` is the text's, and so is the first `%` of `%%run f%`, where `%%` is the end and `%run`
    /// opens calls. `None` where neither an end nor a call can begin within an end.
    ///
    /// An end does not match where the character follows it that completes another end, or the opening of a call, which begins within the
    /// first. One character is enough, since behind an end comes white space or nothing. A reader of chunks could not be asked for more:
    /// transformers' parser does not wait for two.
    pub(super) fn last_of_run(&self, others: &[&str]) -> Option<String> {
        self.instead(self.last_of_runs(), others)
    }

    /// Returns a pattern as [`last_of_run`](Self::last_of_run) does, where literals would do otherwise: behind the last end text goes to no field.
    pub(super) fn last_of_literals(&self) -> Option<String> {
        self.literals()?;
        super::either_of(self.last_of_runs())
    }

    /// A pattern for each end that leaves the text the characters at its end; none where no end can begin within an end.
    fn last_of_runs(&self) -> Vec<String> {
        let next = |end: &str| -> Vec<char> {
            let calls = completion(end, self.opens_calls);
            let mut next: Vec<char> = completion(end, end).into_iter().chain(calls).collect();
            next.dedup();
            next
        };
        if self.markers.iter().all(|end| next(end).is_empty()) {
            return Vec::new();
        }
        let ends = self.markers.iter();
        ends.map(|end| not_before(self.end_pattern(end), &next(end)))
            .collect()
    }

    /// Returns a pattern for one of these ends or one of the other markers, with what may follow an end; `None` where there are no ends,
    /// and where text behind an end goes to no field.
    fn instead(&self, ends: Vec<String>, others: &[&str]) -> Option<String> {
        if ends.is_empty() || self.is_last {
            return None;
        }
        let others = others.iter().map(|other| slot::pattern(other));
        let end = super::either_of(ends.into_iter().chain(others).collect())?;
        Some(format!("{end}\\s*{}", self.optional(self.epilogue)))
    }

    /// A pattern for the end of a turn.
    fn end_pattern(&self, end: &str) -> String {
        let (needed, rest) = self.needed(end);
        let needed = slot::pattern(needed);
        match rest.trim() {
            rest if rest.is_empty() || self.is_last => needed,
            rest => {
                let rest = tail::or_the_end(rest, self.text_end);
                format!("{needed}\\s*{rest}")
            }
        }
    }

    /// A pattern for a marker that may follow a delimiter, and for the white space after it.
    pub(super) fn optional(&self, marker: &str) -> String {
        if self.is_last {
            return String::new();
        }
        tail::optional(marker, self.text_end)
    }
}

/// Returns true if a text stands within a marker: not where the marker begins, since both may then be said as one by what stands before, as in
/// `}` and `}<end>` behind an object, and not at its end alone.
pub(super) fn has_within(marker: &str, text: &str) -> bool {
    let last = marker.char_indices().next_back();
    !text.is_empty()
        && !marker.starts_with(text)
        && last.is_some_and(|(last, _)| marker[..last].contains(text))
}

/// Returns the character behind a marker where `next` begins within that marker, as early in it as possible: `~` for `~~~` and itself
/// (`~~~~`), `a` for `abab` and itself, `r` for `%%` and `%run`. A marker of one character gives that character for itself. `None` where
/// `next` cannot begin within the marker.
pub(super) fn completion(marker: &str, next: &str) -> Option<char> {
    if marker == next && marker.chars().count() == 1 {
        return marker.chars().next();
    }
    let mut borders = marker.char_indices().skip(1);
    let (at, _) = borders.find(|(at, _)| next.starts_with(&marker[*at..]))?;
    next[marker.len() - at..].chars().next()
}

/// A pattern that matches where none of these characters follows.
pub(super) fn not_before(pattern: String, next: &[char]) -> String {
    let next = next.iter();
    let next = next.map(|c| text::escape(c.encode_utf8(&mut [0; 4])));
    match super::either_of(next.collect()) {
        Some(next) => format!("{pattern}(?!{next})"),
        None => pattern,
    }
}

/// Returns true if `first` is the only marker of `end` that is needed: a whole piece, with no word directly behind it.
fn needs_only(pieces: &Pieces, end: &str, first: &str) -> bool {
    let mut tokens = pieces.tokens(end).into_iter();
    let is_first = tokens.next() == Some(first) && pieces.is_one(first);
    let after = |rest: &str| {
        rest.starts_with(char::is_whitespace)
            || tokens.next().is_none_or(|next| pieces.is_one(next))
    };
    is_first && end.strip_prefix(first).is_some_and(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;

    #[test]
    fn a_marker_may_begin_within_another() {
        for (marker, next, expected) in [
            ("~", "~", Some('~')),
            ("~~~", "~~~", Some('~')),
            ("abab", "abab", Some('a')),
            ("|.|", "|.|", Some('.')),
            ("aba", "aba", Some('b')),
            ("ééé", "ééé", Some('é')),
            ("%%", "%run", Some('r')),
            ("</s>", "<call>", None),
            ("</s>", "</s>", None),
            ("ab", "", None),
            ("ab", "b", None),
        ] {
            assert_eq!(completion(marker, next), expected, "{marker} {next}");
        }
    }
    /// The places at which a pattern is found in a text as it arrives, character by character, as soon as anything is found.
    fn sighted(pattern: &str, text: &str) -> Vec<usize> {
        let pattern = Pattern::regex(pattern).unwrap();
        let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
        let found = ends.filter_map(|end| pattern.search(&text[..end], 0).unwrap());
        let mut places: Vec<usize> = found.map(|found| found.span.start).collect();
        places.dedup();
        places
    }

    #[test]
    fn what_closes_a_region_is_not_found_in_the_markers_behind_it() {
        let pieces = Pieces::default();
        let ends = |is_last| Ends {
            markers: vec!["{said}{end}"],
            spaced: Vec::new(),
            followed: Vec::new(),
            opens_calls: "",
            opens_content: None,
            epilogue: "",
            is_last,
            pieces: &pieces,
            text_end: "\\Z",
        };
        for is_last in [false, true] {
            let ends = ends(is_last);
            for (before, text) in [
                (Some("]{done}{end}"), "1} ]{done}{end}"),
                (Some("]{done}{end}"), "1}{said}{end}"),
                (None, "1}{said}{end}"),
            ] {
                let close = |end: Option<String>| format!("\\}}\\s*(?:{}|\\Z)", end.unwrap());
                let found = sighted(&close(ends.pattern_behind("}", before)), text);
                assert_eq!(found, [1], "{text}");
                let plain = sighted(&close(ends.pattern(before, &[])), text);
                assert_eq!(plain.first(), Some(&1));
                assert!(plain.len() > 1, "{text} needs more than the whole markers");
            }
            let other = ends.pattern_behind(">", Some("]{done}{end}"));
            assert_eq!(other, ends.pattern(Some("]{done}{end}"), &[]));
            // A bracket behind an object would close it within.
            let longer = ends.pattern_behind("}", Some("}]{done}{end}"));
            let close = format!("\\}}\\s*(?:{}|\\Z)", longer.unwrap());
            let found = Pattern::regex(&close).unwrap().search("{}}", 0).unwrap();
            assert_eq!(found.map(|found| found.span.start), Some(2));
        }
    }
}
