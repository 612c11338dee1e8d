//! Text that no field would take.
//!
//! The format drops text that stands in no region where no field is implicit. A chat template that wraps all that a model says gives rise to
//! such a response template: `<say>` and `</say>` are read off its renders, and a word before `<say>` is gone. Two things can be
//! done about it. Where a constant of the renders goes to no field, as a header between two parts of one turn does, what opens the next field
//! may have it before it. (What closes the last may not: the reference, fed in pieces, closes a region as soon as it can.) And the content may
//! be what is left: what opened it closes what stands before it.
//!
//! Both give something up, since a marker in a text is then a marker. The judge says whether that is something that renders prove, and a
//! part of a marker that an answer has, such as the `to` of `to NAME]`, must not become one by it. There are
//! at most five proposals, each with a proof.

use std::collections::HashMap;
use std::sync::Arc;

use super::CONTENT_KEY;
use super::widening::{self, Edit, How};
use crate::judge::{self, Case};
use crate::parser::{Edge, OnError, Options, ResponseParser, UnclaimedCause};
use crate::pattern::fixed_texts;
use crate::response_template::{Delimiter, Document, Engine, ResponseTemplate};
use crate::value::{Value, python};

/// How many proposals are proved.
const MAX_PROVED: usize = 4;

/// How many answers each part of a marker is tried in.
const SAID: usize = 4;

/// A stretch of a response that no field takes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Lost {
    /// The field that is opened next.
    before: Option<String>,
    /// The text, without white space at its ends.
    text: String,
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
        Lost {
            before: field.map(|field| field.name.to_string()),
            text: one.text.trim_matches(python::is_space).to_owned(),
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
    let (before, last) = constants(template, cases);
    for (field, text) in before.into_iter().take(MAX_PROVED) {
        let edit = Edit::open(&field, &text, How::Beside);
        if let Some(next) = edit.apply(&now)
            && take(next.clone(), &mut now)
        {
            told.push(edit.told(document, &next).text);
        }
    }
    if let Some(next) = implicit(&now, last)
        && bears_parts(template, &next, cases)
        && take(next, &mut now)
    {
        told.push("the content is what is left".to_owned());
    }
    Some((now, proved?, told))
}

/// Returns the texts that stand in several responses and go to no field: those before a field, with its name, and those behind the last
/// one; the most frequent first.
fn constants(
    template: &Arc<ResponseTemplate>,
    cases: &[Case],
) -> (Vec<(String, String)>, Vec<String>) {
    let mut counts: HashMap<Lost, usize> = HashMap::new();
    for lost in cases
        .iter()
        .filter_map(|case| lost(template, case))
        .flatten()
    {
        *counts.entry(lost).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 1).collect();
    counts.sort_by(|(a, of_a), (b, of_b)| {
        let key = |lost: &Lost| (lost.before.clone(), lost.text.clone());
        of_b.cmp(of_a).then_with(|| key(a).cmp(&key(b)))
    });
    let mut before = Vec::new();
    let mut last = Vec::new();
    for (lost, _) in counts {
        match lost.before {
            Some(field) => before.push((field, lost.text)),
            None => last.push(lost.text),
        }
    }
    (before, last)
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
/// the texts `last`, which may stand at the end. `None` where the content is read otherwise than as text, since other things that a model
/// says would not parse.
fn implicit(document: &Document, last: Vec<String>) -> Option<Document> {
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
    let is_known = |text: &String| matches!(&content.close, Some(Delimiter::Literals(known)) if known.contains(text));
    let last: Vec<String> = last.into_iter().filter(|text| !is_known(text)).collect();
    let last = (!last.is_empty()).then_some(Delimiter::Literals(last));
    let closes = content.close.take().into_iter().chain([open]).chain(last);
    content.close = closes.reduce(|a, b| match (a, b) {
        (Delimiter::Literals(mut a), Delimiter::Literals(b)) => {
            let new: Vec<String> = b.into_iter().filter(|text| !a.contains(text)).collect();
            a.extend(new);
            Delimiter::Literals(a)
        }
        (a, b) => Delimiter::pattern(widening::either(
            &widening::source(&a),
            &widening::source(&b),
        )),
    });
    content.repeats = true;
    content.join.get_or_insert_default();
    Some(changed)
}
