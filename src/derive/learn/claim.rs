//! Text that no field would take.
//!
//! The format drops text that stands in no region where no field is implicit. A chat template that wraps all that a model says gives rise to
//! such a response template: `<say>` and `</say>` are read off its renders, and a word before `<say>` is gone. Two things can be
//! done about it. Where a constant of the renders goes to no field, as a header between two parts of one turn does, what opens the next field
//! may have it before it. (What closes the last may not: the reference, fed in pieces, closes a region as soon as it can.) And the content may
//! be what is left: what opened it closes what stands before it.
//!
//! Both give something up, since a marker in a text is then a marker. The judge says whether that is something that renders prove, and a
//! part of a marker that an answer has, such as the `to` of `to NAME]`, must not become one by it. Where it would, what opens the other fields is
//! asked to have before it what all their regions begin with: `>> NAME {` opens a call then, and `>> so` does not.
//!
//! Where several markers end a turn, an engine that stops at the last keeps it to itself, and the response ends with the others: `<say>Hi</say></all>`
//! before `<eos>`. They would be content, and right behind what closes a part, at the end of all, the first markers of what ends the turn close it as well.
//!
//! There are at most nine proposals, each with a proof.

use std::collections::HashMap;
use std::sync::Arc;

use super::CONTENT_KEY;
use super::split;
use super::widening::{Edit, How};
use super::within::behind_parts;
use crate::derive::compare::pattern::{SPACE, alternatives, bounded, enclosed, grouped};
use crate::derive::compare::pieces::Pieces;
use crate::derive::compare::text::escape;
use crate::judge::{self, Case};
use crate::parser::{self, Edge, OnError, Options, ResponseParser, UnclaimedCause};
use crate::pattern::fixed_texts;
use crate::response_template::{Delimiter, Document, Engine, ResponseTemplate};
use crate::value::{Value, json, python};

/// How many proposals are proved.
const MAX_PROVED: usize = 6;

/// How many answers each part of a marker is tried in.
const SAID: usize = 4;

/// A stretch of a response that no field takes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Lost {
    /// The field that is opened next.
    before: Option<String>,
    /// The text, without white space at its ends.
    text: String,
    /// The text that closed the last field before it, without white space at its ends; `None` where nothing was closed, or by what only follows.
    behind: Option<String>,
}

/// Returns the texts of a response that no field takes, white space aside; `None` for one that does not parse.
fn lost(template: &Arc<ResponseTemplate>, case: &Case) -> Option<Vec<Lost>> {
    let options = Options {
        on_error: OnError::Keep,
        keep_delimiters: true,
        ..Options::default()
    };
    let mut parser =
        ResponseParser::with_options(Arc::clone(template), &case.prefix, &case.tools, options)
            .ok()?;
    let before = parser.snapshot().prefix_bytes;
    let mut ignore = |_: crate::parser::Event<'_>| ();
    parser.feed_with(&case.response, &mut ignore).ok()?;
    parser.finalize_with(&mut ignore).ok()?;
    let passed = parser.take_delimiters();
    let visible = parser
        .unclaimed()
        .iter()
        .filter(|one| one.cause == UnclaimedCause::NoField && !one.is_white_space());
    let lost = visible.map(|one| {
        let opened = passed
            .iter()
            .find(|passed| passed.side == Edge::Open && passed.span.start >= one.span.end + before);
        let field = opened.and_then(|passed| template.fields().get(passed.field));
        let closed = passed.iter().rfind(|passed| {
            passed.side == Edge::Close && passed.span.end <= one.span.start + before
        });
        let closed = closed.and_then(|passed| {
            let span = passed.span.start.checked_sub(before)?..passed.span.end - before;
            case.response.get(span)
        });
        Lost {
            before: field.map(|field| field.name.to_string()),
            text: python::strip(&one.text).to_owned(),
            behind: closed
                .map(|text| python::strip(text).to_owned())
                .filter(|text| !text.is_empty()),
        }
    });
    Some(lost.collect())
}

/// Returns the document with a field for text that no field took, with the proof that `keeps` gave for it, and the changes in words; `None`
/// if `keeps` accepts no change, or none is needed.
pub(in crate::derive) fn claimed<P>(
    engines: &[Engine],
    document: &Document,
    template: &Arc<ResponseTemplate>,
    cases: &[Case],
    pieces: &Pieces,
    mut keeps: impl FnMut(&Arc<ResponseTemplate>) -> Option<P>,
) -> Option<(Document, P, Vec<String>)> {
    if document.fields.values().any(|field| field.open.is_none()) {
        return None;
    }
    let refused = |document: &Document| Engine::refusals(engines, document);
    let mut now = document.clone();
    let mut proved = None;
    let mut told = Vec::new();
    let mut take = |next: Document, now: &mut Document| -> bool {
        let Ok(template) = ResponseTemplate::from_value(&next.to_value()) else {
            return false;
        };
        if refused(&next) > refused(now) {
            return false;
        }
        let proof = keeps(&Arc::new(template));
        let is_taken = proof.is_some();
        if let Some(proof) = proof {
            proved = Some(proof);
            *now = next;
        }
        is_taken
    };
    let Constants {
        before,
        last,
        unfinished,
    } = constants(template, cases, pieces);
    let mut edits = Vec::new();
    for (field, text) in before.into_iter().take(MAX_PROVED) {
        let edit = Edit::open(&field, &text, How::Beside);
        if let Some(next) = edit.apply(&now)
            && take(next.clone(), &mut now)
        {
            let text = edit.told(document, &next).text;
            if !told.contains(&text) {
                told.push(text);
            }
            edits.push(edit);
        }
    }
    let bare = edits
        .iter()
        .try_fold(opened_by_text(document), |document, edit| {
            edit.apply(&document)
        });
    if let Some(next) = bare.and_then(|bare| implicit(&bare, last, pieces)) {
        let begun = std::iter::once_with(|| begun(&next, template, cases)).flatten();
        let with_parts = std::iter::once_with(|| with_parts(&next, document)).flatten();
        let ways = std::iter::once((next.clone(), Vec::new()))
            .chain(begun)
            .chain(with_parts);
        for (next, narrower) in ways {
            if bears_parts(template, &next, cases) && take(next, &mut now) {
                told.push("the content is what is left".to_owned());
                told.extend(narrower);
                if let Some(next) = with_unfinished(&now, &unfinished)
                    && take(next, &mut now)
                {
                    let texts = unfinished.iter().map(|one| json::quote(&one.text));
                    let texts: Vec<String> = texts.collect();
                    told.push(format!(
                        "the first markers of {} close it at the end as well, right behind what closes a part",
                        texts.join(" or of ")
                    ));
                }
                break;
            }
        }
    }
    Some((now, proved?, told))
}

/// The texts that stand in several responses and go to no field, the most frequent first.
struct Constants {
    /// Those before a field, with its name.
    before: Vec<(String, String)>,
    /// Those behind the last field.
    last: Vec<String>,
    /// Those of them that are made of several markers.
    unfinished: Vec<Unfinished>,
}

/// An end of a turn that is made of several markers, so that the response may end amid it.
struct Unfinished {
    text: String,
    /// A pattern for any number of its first markers, where the response ends.
    cut: String,
    /// The texts that close the parts behind which it stands.
    behind: Vec<String>,
}

/// How many ends of turns may be unfinished, and behind how many closes.
const MAX_UNFINISHED: usize = 4;

/// Returns the document whose content also ends with the first markers of these ends of turns, right behind what closes a part and at the end of all;
/// `None` where there are none.
fn with_unfinished(document: &Document, unfinished: &[Unfinished]) -> Option<Document> {
    let ways = unfinished.iter().map(|Unfinished { cut, behind, .. }| {
        let behind: Vec<String> = behind.iter().map(|text| escape(text)).collect();
        let behind = bounded(&format!("{}{SPACE}", grouped(&behind.join("|"))));
        format!("(?<={behind}){cut}")
    });
    let ways: Vec<String> = ways.collect();
    if ways.is_empty() {
        return None;
    }
    let mut changed = document.clone();
    let content = changed.fields.get_mut(CONTENT_KEY)?;
    let closes = content.close.iter().map(split::source).chain(ways);
    let close = closes.reduce(|a, b| split::either(&a, &b))?;
    content.close = Some(Delimiter::pattern(close));
    Some(changed)
}

/// Finds the texts that stand in several responses and go to no field.
fn constants(template: &Arc<ResponseTemplate>, cases: &[Case], pieces: &Pieces) -> Constants {
    let mut counts: HashMap<Lost, usize> = HashMap::new();
    for lost in cases
        .iter()
        .filter_map(|case| lost(template, case))
        .flatten()
    {
        *counts.entry(lost).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(a, of_a), (b, of_b)| {
        let key = |lost: &Lost| (lost.before.clone(), lost.text.clone(), lost.behind.clone());
        of_b.cmp(of_a).then_with(|| key(a).cmp(&key(b)))
    });
    // Text before a field may stand behind many others.
    let mut together: Vec<(Lost, usize)> = Vec::new();
    for (lost, count) in &counts {
        let is_it =
            |known: &&mut (Lost, usize)| known.0.before == lost.before && known.0.text == lost.text;
        match together.iter_mut().find(is_it) {
            Some((_, known)) => *known += count,
            None => together.push((lost.clone(), *count)),
        }
    }
    together.retain(|(_, count)| *count > 1);
    together.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut before = Vec::new();
    let mut last = Vec::new();
    for (lost, _) in together {
        match lost.before {
            Some(field) => before.push((field, lost.text)),
            None => last.push(lost.text),
        }
    }
    let unfinished = unfinished(counts, pieces);
    Constants {
        before,
        last,
        unfinished,
    }
}

/// Returns the ends of turns that are made of several markers, of these texts that go to no field and how often each is seen.
fn unfinished(counts: Vec<(Lost, usize)>, pieces: &Pieces) -> Vec<Unfinished> {
    let mut all: Vec<Unfinished> = Vec::new();
    for (lost, count) in counts {
        let Lost {
            before: None,
            text,
            behind: Some(behind),
        } = lost
        else {
            continue;
        };
        let Some(cut) = without_the_last(&text, pieces).filter(|_| count > 1) else {
            continue;
        };
        match all.iter().position(|known| known.text == text) {
            Some(known) => all[known].behind.push(behind),
            None => all.push(Unfinished {
                text,
                cut,
                behind: vec![behind],
            }),
        }
    }
    all.truncate(MAX_UNFINISHED);
    for one in &mut all {
        one.behind.truncate(MAX_UNFINISHED);
    }
    all
}

/// Returns a pattern for one or more of the first markers of a text, up to all but the last, where the response ends; `None` where it is one marker. Markers that the
/// chat template writes one right behind the other are told by its constants.
fn without_the_last(text: &str, pieces: &Pieces) -> Option<String> {
    let mut parts = pieces.tokens(text);
    if parts.len() < 2 {
        let constants = pieces.constants(text).into_iter();
        parts = constants.map(|part| python::strip(&text[part])).collect();
        parts.retain(|part| !part.is_empty());
    }
    let (_, first) = parts.split_last()?;
    let mut parts = first.iter().rev().map(|part| escape(part));
    let last = parts.next()?;
    let all = parts.fold(last, |rest, part| format!("{part}(?:{SPACE}{rest})?"));
    Some(format!("{all}{SPACE}\\Z"))
}

/// Returns true if an answer may contain the parts of the markers that open other fields, wherever it may with the response template at
/// hand. A whole marker in a text may be read as a marker. But a part of one, such as the `to` of `to NAME]`, must not become a marker
/// together with what happens to follow it.
fn bears_parts(template: &Arc<ResponseTemplate>, next: &Document, cases: &[Case]) -> bool {
    let Ok(next) = ResponseTemplate::from_value(&next.to_value()).map(Arc::new) else {
        return false;
    };
    let fields = template.fields().iter();
    let others = fields.filter(|field| field.name != CONTENT_KEY);
    let opens = others.filter_map(|field| field.open.as_ref());
    let parts = opens.flat_map(|open| {
        let texts = fixed_texts(open).into_iter();
        let parts = texts.map(|text| python::strip(&text).to_owned());
        parts.filter(|part| !part.is_empty() && matches!(open.search(part, 0), Ok(None)))
    });
    let changed = parts.flat_map(|part| {
        let changed = cases.iter().filter_map(move |case| saying(case, &part));
        changed.take(SAID)
    });
    let mut read = changed.filter(|case| judge::parse_whole(template, case) == case.message);
    read.all(|case| judge::parse_whole(&next, &case) == case.message)
}

/// Returns a case of a plain answer with its content replaced by `word`; `None` for other cases.
fn saying(case: &Case, word: &str) -> Option<Case> {
    let message = case.message.as_object()?;
    let filled = message.iter().filter(|(_, value)| value.is_truthy());
    let is_plain = filled.count() == 2 && message.get("role").is_some();
    let answer = message
        .get(CONTENT_KEY)?
        .as_str()
        .filter(|answer| !answer.is_empty())?;
    let is_once = case.response.matches(answer).count() == 1;
    (is_plain && is_once).then(|| {
        let mut message = message.clone();
        message.insert(CONTENT_KEY, Value::from(word));
        Case {
            response: case.response.replace(answer, word),
            message: Value::Object(message),
            ..case.clone()
        }
    })
}

/// Returns the document with the content as its implicit field. Its delimiter that opened it now closes what stands before it, and so do
/// the texts `last`, which may stand at the end, with white space between the markers of one. `None` where the content is read otherwise than as text, since other things that a model
/// says would not parse.
fn implicit(document: &Document, last: Vec<String>, pieces: &Pieces) -> Option<Document> {
    let mut changed = document.clone();
    let content = changed.fields.get_mut(CONTENT_KEY)?;
    if content
        .content
        .as_deref()
        .is_some_and(|parser| parser != "text")
    {
        return None;
    }
    let open = content.open.take()?;
    let known = match &content.close {
        Some(Delimiter::Literals(known)) => known.as_slice(),
        _ => &[],
    };
    let (last, mut rests) = told_apart(known, last);
    let (several, last): (Vec<String>, Vec<String>) = last
        .into_iter()
        .partition(|text| pieces.tokens(text).len() > 1);
    rests.extend(several.iter().map(|text| {
        let markers = pieces.tokens(text).into_iter().map(escape);
        markers.collect::<Vec<_>>().join(SPACE)
    }));
    content.close = content.close.take().and_then(|close| without(close, "(?="));
    let last = (!last.is_empty()).then_some(Delimiter::Literals(last));
    let rests = (!rests.is_empty()).then(|| Delimiter::pattern(rests.join("|")));
    let closes = content.close.take().into_iter().chain([open]);
    let closes = closes.chain(last).chain(rests);
    content.close = closes.reduce(|a, b| match (a, b) {
        (Delimiter::Literals(mut a), Delimiter::Literals(b)) => {
            let new: Vec<String> = b.into_iter().filter(|text| !a.contains(text)).collect();
            a.extend(new);
            Delimiter::Literals(a)
        }
        (a, b) => Delimiter::pattern(split::either(&split::source(&a), &split::source(&b))),
    });
    content.repeats = true;
    content.join.get_or_insert_default();
    Some(changed)
}

/// Returns the document with its content opened by texts alone, and not right behind what another field was closed by: there a content that is
/// what is left goes on in any case.
fn opened_by_text(document: &Document) -> Document {
    let mut changed = document.clone();
    if let Some(content) = changed.fields.get_mut(CONTENT_KEY) {
        content.open = content.open.take().and_then(|open| without(open, "(?<="));
    }
    changed
}

/// Returns the delimiter without the ways to match nothing, which are wholly in a group that begins with `group`: a look-ahead, or a look-behind.
/// What opens another field ends the implicit one in any case, and where nothing has been said yet, such a match would end everything.
fn without(delimiter: Delimiter, group: &str) -> Option<Delimiter> {
    let Delimiter::Pattern(source) = &delimiter else {
        return Some(delimiter);
    };
    let mut ways = alternatives(source);
    let all = ways.len();
    ways.retain(|way| enclosed(way, group).is_none());
    match ways.len() {
        0 => None,
        left if left == all => Some(delimiter),
        _ => Some(Delimiter::pattern(grouped(&ways.join("|")))),
    }
}

/// Returns the texts that may stand at the end and are not known, and the patterns for those that go on where another one ends.
///
/// A parser that is fed in pieces takes the shorter of two texts as soon as it is there. So of `]` and `][` the second is written as what
/// is left of it, `[`, where nothing follows that.
fn told_apart(known: &[String], last: Vec<String>) -> (Vec<String>, Vec<String>) {
    let mut whole = Vec::new();
    let mut rests = Vec::new();
    for text in last.iter().filter(|text| !known.contains(text)) {
        let mut shorter = known.iter().chain(&last);
        let rest =
            shorter.find_map(|other| text.strip_prefix(other).filter(|rest| !rest.is_empty()));
        match rest.map(|rest| escape(python::strip(rest))) {
            Some(rest) if rest.is_empty() => {}
            Some(rest) => {
                let rest = format!("{rest}\\s*\\Z");
                if !rests.contains(&rest) {
                    rests.push(rest);
                }
            }
            None => whole.push(text.clone()),
        }
    }
    (whole, rests)
}

/// Returns the document in which what opened the content `before` counts only where a part of the message begins, and the change in words: an answer may have the
/// like of it, as `see [3]` has of `[1]` before an answer.
fn with_parts(document: &Document, before: &Document) -> Option<(Document, Vec<String>)> {
    let open = before.fields.get(CONTENT_KEY)?.open.as_ref()?;
    let open = split::source(open);
    let mut changed = document.clone();
    let place = behind_parts(document, None, Some(&open));
    let content = changed.fields.get_mut(CONTENT_KEY)?;
    let close = split::source(content.close.as_ref()?);
    let mut ways = alternatives(&close);
    let own = ways.iter_mut().find(|way| **way == open)?;
    *own = format!("{place}{}{SPACE}", grouped(&open));
    content.close = Some(Delimiter::pattern(grouped(&ways.join("|"))));
    let told = "what stands before the content counts only where the turn begins, or behind what closes a part of it";
    Some((changed, vec![told.to_owned()]))
}

/// Returns the document with each field but the content opened only before the character with which all its regions in these responses begin, and the
/// changes in words; `None` where no field has such a character.
fn begun(
    document: &Document,
    template: &Arc<ResponseTemplate>,
    cases: &[Case],
) -> Option<(Document, Vec<String>)> {
    let mut signs: HashMap<usize, Option<char>> = HashMap::new();
    for case in cases {
        let (before, passed) =
            parser::delimiters(template, &case.prefix, &case.response, &case.tools).ok()?;
        for open in passed.iter().filter(|one| one.side == Edge::Open) {
            let Some(at) = open.span.end.checked_sub(before) else {
                continue;
            };
            let sign = case.response[at..].trim_start().chars().next();
            let known = signs.entry(open.field).or_insert(sign);
            *known = known.filter(|known| Some(*known) == sign);
        }
    }
    let mut changed = document.clone();
    let mut told = Vec::new();
    for (index, field) in template.fields().iter().enumerate() {
        let Some(Some(sign)) = signs.get(&index) else {
            continue;
        };
        let Some(written) = changed.fields.get_mut(field.name.as_str()) else {
            continue;
        };
        if field.name == CONTENT_KEY {
            continue;
        }
        let Some(open) = &written.open else { continue };
        let sign = sign.to_string();
        let source = grouped(&split::source(open));
        let source = source.strip_suffix(SPACE).unwrap_or(&source);
        written.open = Some(Delimiter::pattern(format!(
            "{source}{SPACE}(?={})",
            escape(&sign)
        )));
        told.push(format!(
            "what opens {} counts only where {} follows",
            field.name,
            json::quote(&sign)
        ));
    }
    (!told.is_empty()).then_some((changed, told))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behind the end of a message the next one begins as another part of this one does.
    #[test]
    fn an_end_that_goes_on_is_told_from_one_that_does_not() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let (whole, rests) = told_apart(&["]".to_owned()], texts(&["] [", "]", "!", "! ", "!["]));
        let expected: (Vec<String>, Vec<String>) = (texts(&["!"]), texts(&["\\[\\s*\\Z"]));
        assert_eq!((whole, rests), expected);
    }

    #[test]
    fn what_only_looks_ahead_closes_nothing_that_is_implicit() {
        let without = |source: &str| super::without(Delimiter::pattern(source.to_owned()), "(?=");
        let pattern = |source: &str| Some(Delimiter::pattern(source.to_owned()));
        assert_eq!(without("(?:(?=a|b)|c)"), pattern("c"));
        assert_eq!(without("(?:c|d(?=a)|(?=b))"), pattern("(?:c|d(?=a))"));
        assert_eq!(without("(?=a)"), None);
        let literal = Some(Delimiter::Literals(vec!["(?=a)".to_owned()]));
        assert_eq!(
            literal.clone().and_then(|one| super::without(one, "(?=")),
            literal
        );
    }
}
