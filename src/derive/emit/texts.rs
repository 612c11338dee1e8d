//! The region of the content, which is what nothing else claims unless something opens it, and what it has in common with the region of the reasoning.

use super::written::Written;
use super::{Ends, Target, markers, unopened};
use crate::derive::choice::{Candidate, Choices, DecisionId};
use crate::derive::compare::{slot, text};
use crate::derive::probe;
use crate::derive::read::analysis::Analysis;
use crate::derive::read::thought::Reasoning;
use crate::judge::slot::Slot;
use crate::response_template::{Delimiter, FieldDocument};
use crate::value::{Value, json};

/// The candidate that of several ends which overlap takes the last, and the reason for it where they end a turn.
pub(super) const LAST_OF_RUN: &str = "the last of a run";
const UPON_SIGNS: &str =
    "a text may end with characters of what ends the turn, before that itself or before a call";

/// The region of the content.
pub(super) fn content(
    analysis: &Analysis,
    ends: &Ends<'_>,
    target: Target,
    choices: &Choices,
) -> FieldDocument {
    // Where nothing is open, the close of the implicit field passes over what a response may begin with.
    let beginning = analysis.anchor.in_response.as_deref().map(str::trim);
    let beside = analysis.content.beside.iter();
    // So it does what stands in the place of a reasoning where there is none.
    let filler = analysis.reasoning.as_ref();
    let filler = filler.filter(|reasoning| !reasoning.open.is_empty());
    let filler = filler.and_then(|reasoning| reasoning.filler.as_deref());
    let at_first = || beginning.into_iter().chain(filler);
    let passed = beside.clone().map(|one| one.text.as_str());
    let passed: Vec<&str> = at_first().chain(passed).collect();
    let before = beside
        .filter(|one| !one.is_behind)
        .map(|one| one.text.as_str());
    let passed_before: Vec<&str> = at_first().chain(before).collect();
    // The marker before calls closes the content, too.
    let opened_by_reasoning = opens_content(analysis, choices);
    let between = between_content_and_calls(analysis, opened_by_reasoning);
    let before_calls = match (between, &analysis.calls) {
        (Some(marker), Some(calls)) => Some(if marker.is_empty() {
            let written = Written::new(analysis, calls, ends, choices);
            format!("(?={})", written.beginning())
        } else {
            header_behind(analysis, ends, marker)
                .unwrap_or_else(|| format!("{}\\s*", slot::pattern(marker)))
        }),
        _ => None,
    };
    let marker = between.unwrap_or_default();
    let needs_no_end = !marker.is_empty() && ends_begin_with(analysis, marker);
    let or_calls = |end: Option<String>| match (&before_calls, end) {
        (Some(before), Some(end)) if !needs_no_end => Some(format!("(?:{before}|{end})")),
        (Some(before), _) => Some(before.clone()),
        (None, end) => end,
    };
    let close = or_calls(ends.pattern(None, &passed));
    // A literal would do where it is the only end of the content and nothing follows it.
    let only_end = match ends.markers.as_slice() {
        [end] if passed.is_empty() && between.is_none() => Some(*end),
        _ => None,
    };
    let literals = literal_close(analysis, ends, between).filter(|_| passed.is_empty());
    let literals = literals.and_then(|first| {
        let all = ends.whole().filter(|_| between.is_none());
        let last = ends.last_of_literals();
        let last = last.map(|end| super::pattern_candidate(LAST_OF_RUN, UPON_SIGNS, end));
        let exact = ends.exact_literals().map(|end| {
            let because =
                "what ends the turn may stand in a text as well, without the white space before it";
            super::pattern_candidate("with the white space before it", because, end)
        });
        let whole = ends.whole_or_last().map(|pattern| {
            let because = "a text may have the first of them in it, and an engine may keep the last one to itself";
            super::pattern_candidate("all markers, or the first where the response ends", because, pattern)
        });
        let candidates = first_or_all(first, all)
            .chain(last)
            .chain(exact)
            .chain(whole);
        choices.choose(DecisionId::ContentClose, candidates)
    });
    let close = literals.or_else(|| close.and_then(|pattern| {
        let literal = only_end.filter(|end| !slot::any(end)).map(|end| {
            Candidate::new(
                "literal",
                json::quote(end),
                "white space after it would be text again, which takes the place of what was said where texts are not put together",
                Delimiter::literal(end),
            )
        });
        let pattern = Candidate::new(
            "pattern",
            json::quote(&pattern),
            "it takes the white space after it, and what else may follow the end of a turn",
            Delimiter::pattern(pattern),
        );
        let has_other_close = between.is_some();
        let rarer = [
            (
                "with the white space before it",
                "what ends the turn may stand in a text as well, without the white space before it",
                ends.exact(&passed).filter(|_| !has_other_close),
            ),
            (
                "where a line begins",
                "what ends the turn may stand in a text as well, within a line",
                ends.at_line(&passed).filter(|_| !has_other_close),
            ),
            (
                LAST_OF_RUN,
                UPON_SIGNS,
                ends.last_of_run(&passed),
            ),
            (
                "with the white space behind it",
                "what ends the turn may stand in a text as well, without the white space behind it",
                ends.with_space_behind(&passed),
            ),
        ];
        let at_the_end = (
            "where the turn ends or a call begins",
            "what stands behind the content beside some parts of a message may stand in a text as well",
            ends_and_what_stands_before_them(analysis, ends, choices, &passed_before),
        );
        let rarer = rarer.into_iter().chain([at_the_end]);
        let rarer = rarer.filter_map(|(name, because, end)| {
            let pattern = or_calls(Some(end?))?;
            Some(Candidate::new(name, json::quote(&pattern), because, Delimiter::pattern(pattern)))
        });
        let candidates = [pattern].into_iter().chain(literal).chain(rarer);
        choices.choose(DecisionId::ContentClose, candidates)
    }));
    // Unless they are joined, a second text of the content replaces the first, even if it is only the beginning of what ends the turn.
    // There may be a second one behind a call, a reasoning, or the content's own close.
    let has_more = close.is_some() || analysis.calls.is_some() || analysis.reasoning.is_some();
    let is_joined = has_more && !target.served && joins(choices);
    let field = FieldDocument {
        content: Some("text".to_owned()),
        open: match (&analysis.content.open, &analysis.reasoning) {
            (Some(open), _) => {
                let others = analysis.content.others.iter();
                let opens = std::iter::once(open).chain(others).cloned().collect();
                let opens = markers(opens, slot::pattern);
                let behind = behind_its_header(analysis, open);
                let is_behind = !behind.is_empty() && are_told_apart(choices);
                Some(super::or(opens, behind.into_iter().filter(|_| is_behind)))
            }
            // Where nothing opens a reasoning, the marker that closes it is the one that opens the content.
            (None, Some(reasoning)) if opened_by_reasoning => {
                // With the words that stand in the place of a reasoning, if any do.
                let filler = reasoning.filler.iter().cloned();
                let opens = filler.chain([reasoning.close.clone()]).collect();
                Some(markers(opens, slot::pattern))
            }
            _ => None,
        },
        close,
        ..FieldDocument::default()
    };
    let field = joined(field, is_joined);
    match analysis.json_texts.contains(&probe::CONTENT) {
        true => as_json(field),
        false => field,
    }
}

/// The places, as patterns without a length, at which the content begins behind a text that stands within what opens the content elsewhere: in
/// `<to=user>` the content is opened by all of that, and behind `<to=` and a name by the `>` that closes the name. So it is behind a text that has what opens the content
/// before its own marker, as the reasoning has the model's role in `assistant<think>`.
fn behind_its_header(analysis: &Analysis, open: &str) -> Vec<String> {
    let within = marked(analysis).filter(|text| {
        let rest = open.strip_prefix(text.open.as_str());
        let has_header = text.open.len() > open.len() && text.open.starts_with(open);
        !text.open.is_empty()
            && !text.close.is_empty()
            && (has_header
                || rest.is_some_and(|rest| {
                    rest.len() > text.close.len() && rest.ends_with(&text.close)
                }))
    });
    let behind = within.map(|text| format!("(?<={})", slot::pattern(&text.close)));
    behind.collect()
}

/// Turns the delimiters of a field into those of a text that is written as JSON: if nothing else opens it, its quotes do, and its close
/// stands behind a quote.
pub(super) fn as_json(field: FieldDocument) -> FieldDocument {
    let pattern = |delimiter: Delimiter| match delimiter {
        Delimiter::Pattern(pattern) => pattern,
        Delimiter::Literals(literals) => {
            let literals = literals.iter().map(|literal| text::escape_loosely(literal));
            super::either_of(literals.collect()).unwrap_or_default()
        }
    };
    let close = field.close.map(pattern);
    FieldDocument {
        open: field.open.or_else(|| Some(Delimiter::pattern("(?=\")"))),
        close: close.map(|close| Delimiter::pattern(format!("(?<=\")\\s*{close}"))),
        content: Some("json".to_owned()),
        repeats: false,
        join: None,
        ..field
    }
}

/// A pattern for what ends the turn, for the texts that stand before the content beside some parts of a message, and for those that stand behind it
/// where the turn ends or calls follow; `None` where there are no such behind it.
fn ends_and_what_stands_before_them(
    analysis: &Analysis,
    ends: &Ends<'_>,
    choices: &Choices,
    before: &[&str],
) -> Option<String> {
    let mut behind = analysis
        .content
        .beside
        .iter()
        .filter(|one| one.is_behind)
        .peekable();
    behind.peek()?;
    let calls = analysis.calls.iter();
    let calls = calls.map(|calls| Written::new(analysis, calls, ends, choices).beginning());
    let next = ends.markers.iter().map(|end| slot::pattern(end));
    let next = super::either_of(next.chain(calls).collect())?;
    let behind = behind.map(|one| format!("{}(?=\\s*{next})\\s*", slot::pattern(&one.text)));
    let end = ends.pattern(None, before);
    super::either_of(end.into_iter().chain(behind).collect())
}

/// The candidates for what closes a text where several markers stand: the first of them, or all.
pub(super) fn first_or_all(
    first: Delimiter,
    all: Option<Delimiter>,
) -> impl Iterator<Item = Candidate<Delimiter>> {
    let shown = |delimiter: &Delimiter| match delimiter {
        Delimiter::Literals(literals) => {
            let literals = literals.iter().map(|literal| json::quote(literal));
            literals.collect::<Vec<_>>().join(" or ")
        }
        Delimiter::Pattern(pattern) => json::quote(pattern),
    };
    let means = shown(&first);
    let first = Candidate::new(
        "the first marker",
        means,
        "engines stop a model at the last one, and may keep it to themselves",
        first,
    );
    let all = all.map(|all| {
        Candidate::new(
            "all markers",
            shown(&all),
            "a text may end with the first of them",
            all,
        )
    });
    std::iter::once(first).chain(all)
}

/// Returns true if what closes the reasoning opens the content, since nothing opens the reasoning.
fn opens_content(analysis: &Analysis, choices: &Choices) -> bool {
    analysis.content.open.is_none() && unopened::unclaimed(analysis, choices).is_some()
}

/// Returns the text between the content and the calls behind it, without the markers of either, where the content has an opening marker.
/// What closes a reasoning that nothing opens stands before every content, so that calls may follow it.
fn between_content_and_calls(analysis: &Analysis, opened_by_reasoning: bool) -> Option<&str> {
    let read = analysis.content.before_calls.as_deref();
    read.or_else(|| (opened_by_reasoning && analysis.calls.is_some()).then_some(""))
}

/// A pattern for a marker that ends with the header of a turn, right behind another marker: white space may stand between the two, or the header may be missing, as
/// where the response ends.
/// Of `<end><start>assistant` it is `<end>\s*(?:<start>assistant\s*)?`. `None` where the marker does not end so.
fn header_behind(analysis: &Analysis, ends: &Ends<'_>, marker: &str) -> Option<String> {
    let mut headers = analysis.anchor.literals.iter().map(|header| header.trim());
    let (end, header) =
        headers.find_map(|header| Some((marker.trim_end().strip_suffix(header)?, header)))?;
    let is_glued = analysis.pieces.is_one(end) && !end.ends_with(char::is_whitespace);
    let is_apart = is_glued && !header.is_empty() && !slot::any(marker);
    is_apart.then(|| format!("{}\\s*{}", text::escape_loosely(end), ends.optional(header)))
}

/// Returns true if every marker that ends the turn begins with `marker`.
fn ends_begin_with(analysis: &Analysis, marker: &str) -> bool {
    let mut ends = analysis.turn_end.markers.iter();
    ends.all(|end| end.trim().starts_with(marker))
}

/// The close of content of which no pattern is needed.
fn literal_close(
    analysis: &Analysis,
    ends: &Ends<'_>,
    before_calls: Option<&str>,
) -> Option<Delimiter> {
    match before_calls.filter(|_| analysis.calls.is_some()) {
        None => ends.literals(),
        Some("") => None,
        Some(marker) if ends_begin_with(analysis, marker) => {
            (ends.is_last && super::is_plain(marker)).then(|| Delimiter::literal(marker))
        }
        // Where the text before calls begins with an end of the turn, that end closes the content before calls, too.
        Some(marker) => {
            let mut needed = ends.markers.iter().map(|end| ends.needed(end).0);
            ends.literals()
                .filter(|_| needed.any(|end| marker.starts_with(end)))
        }
    }
}

/// Returns true if the texts of the content are joined: those around a call or a reasoning, and the text behind the content's own close.
/// Nothing is put between two of them, since the white space that models write before a marker is such a text as well, and so is a default;
/// both must add nothing.
fn joins(choices: &Choices) -> bool {
    let joined = [
        "joined",
        "all of it, put together",
        "text behind a call, a reasoning or what closes the content would take the place of the text before it",
    ];
    let last = [
        "the last",
        "what is said last",
        "where nothing is said there nothing is to be put together",
    ];
    choices.whether(DecisionId::TextAroundCalls, [joined, last])
}

/// The region with its texts put together if they are to be. Otherwise a second one takes the place of the first.
pub(super) fn joined(field: FieldDocument, is_joined: bool) -> FieldDocument {
    FieldDocument {
        repeats: is_joined,
        join: is_joined.then(String::new),
        ..field
    }
}

/// The region with a transform that puts its text where the message has it. For a key within a key, the text becomes a member of an object.
pub(super) fn placed(field: FieldDocument, slot: Option<&Slot>) -> FieldDocument {
    let inner = match slot {
        Some(Slot::Key(keys)) => keys.get(1..).unwrap_or_default(),
        _ => &[],
    };
    let text = Value::from("{content}");
    let transform = inner
        .iter()
        .rev()
        .fold(text, |value, key| probe::object([(key.as_str(), value)]));
    if inner.is_empty() {
        return field;
    }
    // Objects cannot be put together.
    FieldDocument {
        transform: Some(transform),
        repeats: false,
        join: None,
        ..field
    }
}

/// The markers of the texts that stand between some: those under further keys, and the reasoning.
fn marked(analysis: &Analysis) -> impl Iterator<Item = &Reasoning> {
    let further = analysis.further.iter().map(|text| &text.markers);
    further.chain(&analysis.reasoning)
}

/// Decides whether a part is told from another one that begins with the very text that opens it.
fn are_told_apart(choices: &Choices) -> bool {
    let anyhow = [
        "not told apart",
        "what opens a part does, whatever follows",
        "what opens another part as well goes on otherwise there",
    ];
    let apart = [
        "told apart",
        "what opens a part does where no other part begins",
        "another part begins with the same text",
    ];
    !choices.whether(DecisionId::BegunAlike, [anyhow, apart])
}

/// The delimiter that opens a reasoning or another text, told from what begins another part of a message in the same way if that is chosen.
pub(super) fn told_apart(
    open: Option<Delimiter>,
    analysis: &Analysis,
    text: &Reasoning,
    ends: &Ends<'_>,
    choices: &Choices,
) -> Option<Delimiter> {
    let open = open?;
    let others = parts_that_begin_with(analysis, &text.open, ends, choices);
    let is_alone = others.is_empty() || !are_told_apart(choices);
    Some(match is_alone {
        true => open,
        false => {
            let headers = analysis.anchor.literals.iter().map(String::as_str);
            let headers: Vec<&str> = headers.collect();
            super::unless(open, others, &text.close, &headers, &ends.markers)
        }
    })
}

/// The patterns for what begins another part of a message with the very text that opens a part, such as `to=user>` beside `to=` where the
/// text that follows is the part's.
fn parts_that_begin_with(
    analysis: &Analysis,
    own: &str,
    ends: &Ends<'_>,
    choices: &Choices,
) -> Vec<String> {
    if own.is_empty() {
        return Vec::new();
    }
    let content = &analysis.content;
    let opens = content.open.iter().chain(&content.others);
    let beside = content.beside.iter().map(|one| &one.text);
    let texts = marked(analysis).map(|text| &text.open);
    let texts = opens.chain(beside).chain(texts).map(|text| text.trim());
    let texts = texts.filter(|text| text.len() > own.len() && text.starts_with(own));
    let calls = analysis.calls.iter().filter(|calls| {
        let first = format!("{}{}", calls.section.0, calls.call.0);
        [first.as_str(), &calls.call.0]
            .iter()
            .any(|open| open.trim_start().starts_with(own))
    });
    let calls = calls.map(|calls| Written::new(analysis, calls, ends, choices).beginning());
    texts.map(slot::pattern).chain(calls).collect()
}

/// A pattern for what opens another part of a message than the one that `own` opens, whichever that is, or ends the turn.
pub(super) fn next_part(
    analysis: &Analysis,
    own: &str,
    ends: &Ends<'_>,
    choices: &Choices,
) -> String {
    let opens = analysis.content.open.iter().chain(&analysis.content.others);
    let beside = marked(analysis).map(|text| &text.open);
    let beside = beside.filter(|open| !open.is_empty() && open.as_str() != own);
    let opens = opens.chain(beside).map(|open| slot::pattern(open.trim()));
    let calls = analysis.calls.iter();
    let calls = calls.map(|calls| Written::new(analysis, calls, ends, choices).beginning());
    let ends = ends.markers.iter().map(|end| slot::pattern(end));
    let parts: Vec<String> = opens.chain(calls).chain(ends).collect();
    parts.join("|")
}
