//! The comparison of a schema with a response template on samples, and the smallest text on which they do not agree.
//!
//! Both read every sample, and their values are compared without the members that a response template leaves out. That costs the length of
//! all samples for each candidate. A text on which they differ is made smaller by leaving out ever shorter stretches of it for as long as
//! they differ: delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002) without its complements.
//! It is bounded by a number of tries and of bytes tried, so that the smallest text is the smallest that was found.

use std::sync::Arc;

use serde::Serialize;

use super::{Sample, SampleOrigin, Verdict, without_empty};
use crate::parser::parse_response;
use crate::response_schema::ResponseSchema;
use crate::response_template::{Document, ResponseTemplate};
use crate::value::{Value, json};

/// How many differences are reported.
const TOLD: usize = 3;

/// How often a text is tried shorter; the other limit is for the bytes of all these tries together.
const TRIES: usize = 400;
const TRIED_BYTES: usize = 8 << 20;

/// How many samples of an origin agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Tally {
    /// The origin of the samples.
    pub origin: SampleOrigin,
    /// How many samples there are for which the schema gives a value.
    pub tried: usize,
    /// How many of them agree.
    pub agree: usize,
}

/// A response on which the two differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// The origin of the sample that the response was made of.
    pub origin: SampleOrigin,
    /// The response.
    pub response: String,
    /// The value that the schema gives.
    pub schema: String,
    /// The message that the response template gives, or the reason why there is none.
    pub template: String,
}

impl Difference {
    /// A response of that origin, with what the schema and the response template make of it.
    pub fn new(origin: SampleOrigin, response: String, schema: String, template: String) -> Self {
        Self {
            origin,
            response,
            schema,
            template,
        }
    }
}

/// The outcome of a candidate on the samples.
pub(super) struct Judged {
    pub(super) tallies: Vec<Tally>,
    /// The samples that do not agree.
    differing: Vec<Sample>,
    /// The members of messages that stand in no sample that agrees and counts.
    pub(super) unseen: Vec<String>,
    /// How many of the samples that count agree, and how many of all; the more the better.
    pub(super) score: (usize, usize),
}

/// Returns the value that the schema gives, if it gives one that is not empty.
fn of_schema(schema: &ResponseSchema, text: &str) -> Option<Value> {
    // A schema that gives an empty value has found no message.
    let value = schema.parse(text).ok().filter(Value::is_truthy);
    value.map(without_empty)
}

fn of_template(template: &Arc<ResponseTemplate>, text: &str) -> Result<Value, String> {
    parse_response(text, Arc::clone(template), "", &[])
        .map(|message| without_empty(Value::Object(message)))
        .map_err(|error| error.to_string())
}

fn compiled(document: &Document) -> Option<Arc<ResponseTemplate>> {
    ResponseTemplate::from_value(&document.to_value())
        .ok()
        .map(Arc::new)
}

/// A sample and the value that the schema gives for it.
pub(super) struct Expected {
    pub(super) sample: Sample,
    value: Value,
}

/// Returns the samples with the values that the schema gives for them. Samples for which it gives none are left out.
pub(super) fn expected(schema: &ResponseSchema, samples: Vec<Sample>) -> Vec<Expected> {
    let held = samples.into_iter().filter_map(|sample| {
        let value = of_schema(schema, &sample.text)?;
        Some(Expected { sample, value })
    });
    held.collect()
}

/// Compares a candidate with the schema on the samples; `None` for one that is no valid response template.
pub(super) fn judge(document: &Document, samples: &[&Expected]) -> Option<Judged> {
    let template = compiled(document)?;
    let mut tallies: Vec<Tally> = Vec::new();
    let mut differing = Vec::new();
    let mut unseen: Vec<String> = document.fields.keys().cloned().collect();
    for Expected {
        sample,
        value: expected,
    } in samples.iter().copied()
    {
        let at = tallies
            .iter()
            .position(|tally| tally.origin == sample.origin);
        let at = at.unwrap_or_else(|| {
            tallies.push(Tally {
                origin: sample.origin,
                tried: 0,
                agree: 0,
            });
            tallies.len() - 1
        });
        tallies[at].tried += 1;
        if of_template(&template, &sample.text).as_ref() == Ok(expected) {
            tallies[at].agree += 1;
            if sample.origin != SampleOrigin::Beyond {
                unseen.retain(|key| expected.get(key).is_none());
            }
        } else {
            differing.push(sample.clone());
        }
    }
    tallies.sort_by_key(|tally| tally.origin);
    let agree = |counts: bool| -> usize {
        let tallies = tallies
            .iter()
            .filter(|tally| !counts || tally.origin != SampleOrigin::Beyond);
        tallies.map(|tally| tally.agree).sum()
    };
    let score = (agree(true), agree(false));
    Some(Judged {
        tallies,
        differing,
        unseen,
        score,
    })
}

impl Judged {
    pub(super) fn verdict(&self, is_incomplete: bool) -> Verdict {
        let counted = self
            .tallies
            .iter()
            .filter(|tally| tally.origin != SampleOrigin::Beyond);
        let (tried, agree) = counted.fold((0, 0), |(tried, agree), tally| {
            (tried + tally.tried, agree + tally.agree)
        });
        match () {
            () if is_incomplete => Verdict::Inexpressible,
            () if tried > 0 && agree == tried && self.unseen.is_empty() => Verdict::Proved,
            () if agree * 2 >= tried && agree > 0 => Verdict::ProvedInPart,
            () => Verdict::NotProved,
        }
    }
}

/// The smallest differences, one for each way in which the messages differ; those that count first.
pub(super) fn smallest(
    schema: &ResponseSchema,
    document: &Document,
    judged: &Judged,
) -> Vec<Difference> {
    let Some(template) = compiled(document) else {
        return Vec::new();
    };
    // If the values differ in more than white space around texts, the shorter text has to show that difference too, and not
    // merely one in white space.
    let differ = |text: &str, loosely: bool| {
        of_schema(schema, text).is_some_and(|expected| match of_template(&template, text) {
            Ok(found) if loosely => trimmed(found) != trimmed(expected),
            found => found.as_ref() != Ok(&expected),
        })
    };
    let mut samples: Vec<&Sample> = judged.differing.iter().collect();
    samples.sort_by_key(|sample| (sample.origin, sample.text.len()));
    let mut found: Vec<Difference> = Vec::new();
    for sample in samples.into_iter().take(TOLD * 4) {
        let loosely = differ(&sample.text, true);
        let response = shrunk(&sample.text, &|text| differ(text, loosely));
        if found.iter().any(|known| known.response == response) {
            continue;
        }
        found.push(Difference {
            origin: sample.origin,
            schema: of_schema(schema, &response)
                .map(|value| json::to_string(&value))
                .unwrap_or_default(),
            template: of_template(&template, &response)
                .map_or_else(|error| error, |value| json::to_string(&value)),
            response,
        });
        if found.len() == TOLD {
            break;
        }
    }
    found
}

/// Returns the value without white space around its texts, and without the members that are then empty.
fn trimmed(value: Value) -> Value {
    let inner = match value {
        Value::String(text) => Value::from(text.trim()),
        Value::Array(items) => Value::Array(items.into_iter().map(trimmed).collect()),
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(key, value)| (key, trimmed(value)))
                .collect(),
        ),
        other => other,
    };
    without_empty(inner)
}

/// The text with as much taken out as can be without losing the difference: ever smaller stretches, from the end.
fn shrunk(text: &str, differ: &dyn Fn(&str) -> bool) -> String {
    let mut best: Vec<char> = text.chars().collect();
    let mut size = best.len().div_ceil(2);
    let (mut tries, mut bytes) = (0, 0);
    let goes_on = |tries: usize, bytes: usize| tries < TRIES && bytes < TRIED_BYTES;
    while size > 0 && goes_on(tries, bytes) {
        let mut end = best.len();
        let mut changed = false;
        while end > 0 && goes_on(tries, bytes) {
            let start = end.saturating_sub(size);
            let shorter: String = best[..start].iter().chain(&best[end..]).collect();
            tries += 1;
            bytes += shorter.len();
            if differ(&shorter) {
                best = shorter.chars().collect();
                changed = true;
            }
            end = start;
        }
        if !changed || size > best.len() {
            size /= 2;
        }
    }
    best.into_iter().collect()
}
