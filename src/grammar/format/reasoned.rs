//! Reasoning before what no render has it before.
//!
//! A chat template may render the reasoning of some turns alone, such as of those with calls, and drop it from the others. A model reasons before those as
//! well: a grammar that allows reasoning before calls only would keep it from thinking before it answers. So for each way in which a
//! response without reasoning begins, a response is made up in which the reasoning of another stands before it, and it is kept if the response template
//! reads it to the message of the one with the reasoning of the other, and to nothing else. For `<think>…</think><call>…` and
//! `Hello` that is `<think>…</think>Hello`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::parsed::{self, Parsed, Stretch};
use crate::derive::Case;
use crate::parser::{Edge, ResponseParser};
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value};

/// The kind of a stretch: its field, and the text that opens it.
type Kind<'p> = (usize, &'p str);

fn kind(stretch: &Stretch) -> Kind<'_> {
    match stretch {
        Stretch::Text { field, open, .. } => (*field, open),
        Stretch::Call(call) => (call.field, ""),
    }
}

/// The response up to and with what closes its reasoning.
struct Head<'p> {
    case: &'p Case,
    field: usize,
    /// The part of the text that the prompt has written, and the text to the end of the reasoning.
    begun: usize,
    text: &'p str,
}

/// Makes up the responses that are missing among those that were shown.
pub(super) fn missing(template: &Arc<ResponseTemplate>, shown: &[(&Case, Parsed)]) -> Vec<Case> {
    let mut heads: BTreeMap<Kind<'_>, Head<'_>> = BTreeMap::new();
    let mut followed: BTreeSet<Kind<'_>> = BTreeSet::new();
    let mut tails: BTreeMap<Kind<'_>, (&Case, &Parsed)> = BTreeMap::new();
    for (case, parsed) in shown {
        let [first, rest @ ..] = parsed.stretches.as_slice() else {
            continue;
        };
        match head(template, case, parsed) {
            Some(head) => {
                followed.extend(rest.first().map(kind));
                heads.entry(kind(first)).or_insert(head);
            }
            None if is_reasoning(template, first) => followed.extend(rest.first().map(kind)),
            None => {
                tails.entry(kind(first)).or_insert((case, parsed));
            }
        }
    }
    let heads = heads.values();
    let pairs = heads.flat_map(|head| tails.iter().map(move |(kind, tail)| (head, kind, tail)));
    pairs
        .filter(|(_, kind, _)| !followed.contains(*kind))
        .filter_map(|(head, _, (case, parsed))| joined(template, head, case, parsed))
        .collect()
}

/// Returns true if the stretch is of a text that is neither the answer nor what no other region claims.
fn is_reasoning(template: &ResponseTemplate, stretch: &Stretch) -> bool {
    match stretch {
        Stretch::Text { field, .. } => {
            Some(*field) != template.implicit() && template.fields()[*field].name != "content"
        }
        Stretch::Call(_) => false,
    }
}

/// The head of a response that begins with a reasoning.
fn head<'p>(
    template: &Arc<ResponseTemplate>,
    case: &'p Case,
    parsed: &'p Parsed,
) -> Option<Head<'p>> {
    let first = parsed.stretches.first()?;
    let Stretch::Text { field, span, .. } = first else {
        return None;
    };
    let text = &parsed.text;
    if !is_reasoning(template, first) || text[span.clone()].trim().is_empty() {
        return None;
    }
    let passed = parsed::delimiters(template, &case.prefix, &case.response, &case.tools).ok()?;
    let close = passed.into_iter().find(|passed| {
        passed.field == *field && passed.side == Edge::Close && passed.span.start >= span.end
    })?;
    let begun = text.len() - case.response.len();
    (close.span.end > begun).then(|| Head {
        case,
        field: *field,
        begun,
        text: &text[..close.span.end],
    })
}

/// A response with the reasoning of another before it, if it is read so.
fn joined(
    template: &Arc<ResponseTemplate>,
    head: &Head<'_>,
    case: &Case,
    parsed: &Parsed,
) -> Option<Case> {
    let begun = parsed.text.len() - case.response.len();
    if parsed.text[..begun] != head.text[..head.begun] {
        return None;
    }
    let field = &*template.fields()[head.field].name;
    let response = format!("{}{}", &head.text[head.begun..], case.response);
    let reasoned = read(template, head.case, &head.case.response)?;
    let alone = read(template, case, &case.response)?;
    let both = read(template, case, &response)?;
    let thought = reasoned.get(field)?;
    let is_read = alone.get(field).is_none()
        && both.get(field) == Some(thought)
        && both.len() == alone.len() + 1
        && alone
            .iter()
            .all(|(key, value)| both.get(key) == Some(value));
    if !is_read {
        return None;
    }
    let mut message = case.message.as_object()?.clone();
    message.insert(field, thought.clone());
    Some(Case {
        response,
        message: Value::Object(message),
        ..case.clone()
    })
}

/// The message that a response is read to with nothing left over.
fn read(template: &Arc<ResponseTemplate>, case: &Case, response: &str) -> Option<Map> {
    let mut parser = ResponseParser::new(Arc::clone(template), &case.prefix, &case.tools).ok()?;
    parser.feed(response).ok()?;
    let (message, _) = parser.finalize().ok()?;
    let is_claimed = |text: &str| text.trim().is_empty();
    let unclaimed = parser.unclaimed();
    unclaimed
        .iter()
        .all(|one| is_claimed(&one.text))
        .then_some(message)
}
