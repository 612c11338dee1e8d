//! Conversion of a response schema to the response template that does the same, and back.
//!
//! No schema is known by heart. Its patterns are taken apart into texts, groups and what may be missing (`take`); the text around a group
//! becomes the delimiters of a field (`carry`), and the work of the node below on its text becomes the content parser and the transform
//! (`parsers`, `call`, `field`). Where that leaves a choice, all candidates are written down, and each is held to samples: responses that are given,
//! responses that a chat template renders, and texts made up of the schema's own patterns (`samples`). The one that agrees most is the
//! result; where it does not agree, the smallest text that shows it is reported (`judge`).
//!
//! There are at most 32 candidates, and they are chosen between by at most [`CHOSEN_BY`] bytes of samples, the shortest first; the chosen
//! one is held to all samples, once. So the work is linear in the samples, and the parts of it that are more than linear have limits that
//! are reported.
//!
//! One difference is always there and is not counted: a response template leaves out empty values, and a schema does not.

mod back;
mod call;
mod carry;
mod decisions;
mod field;
mod judge;
mod parsers;
mod samples;
mod take;

use serde::Serialize;

use crate::response_schema::ResponseSchema;
use crate::response_schema::node::Node;
use crate::response_template::{Delimiter, Document};
use crate::value::{Path, Value};

pub use back::{Back, Refused, to_schema};
pub use judge::{Difference, Tally};

/// A response on which a schema and a response template must agree.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sample {
    /// The response.
    pub text: String,
    /// The origin of the sample.
    pub origin: SampleOrigin,
}

/// The origin of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SampleOrigin {
    /// The sample was recorded and given.
    Given,
    /// The sample was rendered by a chat template.
    Rendered,
    /// The sample was made up of the schema's own patterns.
    Generated,
    /// The sample is a made-up one, cut short or with text around it. Agreement on it is reported and proves nothing.
    Beyond,
}

/// How much of a schema was carried over. The names are those of a derivation's verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All samples agree.
    Proved,
    /// Most samples agree, and some do not.
    ProvedInPart,
    /// A part of the schema has no counterpart in a response template.
    Inexpressible,
    /// Few samples agree, or there are none.
    NotProved,
}

/// A fact that was found on the way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The finding's stable name.
    pub code: &'static str,
    /// The place in the schema.
    #[serde(serialize_with = "spelled")]
    pub path: Path,
    /// The finding in a sentence.
    pub message: String,
}

fn spelled<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(path)
}

/// The account of a conversion.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// How much was carried over.
    pub verdict: Verdict,
    /// How many samples of each origin agree.
    pub samples: Vec<Tally>,
    /// Findings about the parts that could not be carried over, and about anything else that is to be known.
    pub findings: Vec<Finding>,
    /// The smallest responses on which the two differ, the first of those that count.
    pub differences: Vec<Difference>,
    /// How many candidates were tried.
    pub candidates: usize,
    /// How many samples were left out of the choice between candidates, since all together were too long; the result is held to these too.
    pub left_out: usize,
}

/// The limit on the bytes of samples that all candidates together are held to before one is chosen.
pub const CHOSEN_BY: usize = 32 << 20;

/// A response template, and the account of its conversion.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Conversion {
    /// The response template.
    pub document: Document,
    /// The report of the parts that agree and those that do not.
    pub report: Report,
}

/// Carries a schema over. `anchor` marks the start of the model's turn in a prompt, which a schema does not tell; without it the response
/// template reads nothing of a prompt, as a schema does.
pub fn to_template(
    schema: &ResponseSchema,
    anchor: Option<Delimiter>,
    given: &[Sample],
) -> Conversion {
    let anchor = anchor.unwrap_or_else(|| Delimiter::pattern(r"\Z"));
    let samples = judge::expected(schema, samples::all(schema, given));
    let drafts = carry::drafts(schema.root(), &anchor);
    let candidates = drafts.len();
    let few = chosen_by(&samples, CHOSEN_BY / candidates.max(1));
    let mut best: Option<(judge::Judged, carry::Draft)> = None;
    for draft in drafts {
        let Some(judged) = judge::judge(&draft.document, &few) else {
            continue;
        };
        if best
            .as_ref()
            .is_none_or(|(known, _)| judged.score > known.score)
        {
            best = Some((judged, draft));
        }
    }
    let left_out = samples.len() - few.len();
    if left_out > 0
        && let Some((judged, draft)) = &mut best
    {
        let all: Vec<&judge::Expected> = samples.iter().collect();
        if let Some(whole) = judge::judge(&draft.document, &all) {
            *judged = whole;
        }
    }
    let Some((judged, draft)) = best else {
        let mut findings = vec![Finding {
            code: "convert-no-candidate",
            path: Path::default(),
            message: "nothing in the schema says where a field of the message begins or ends"
                .to_owned(),
        }];
        findings.extend(carry::refusals(schema.root(), &anchor));
        let report = Report {
            verdict: Verdict::Inexpressible,
            samples: Vec::new(),
            findings,
            differences: Vec::new(),
            candidates,
            left_out,
        };
        return Conversion {
            document: Document::new(anchor),
            report,
        };
    };
    let verdict = judged.verdict(!draft.findings.is_empty());
    let mut findings = draft.findings;
    findings.extend(judged.unseen.iter().map(|field| Finding {
        code: "convert-no-sample",
        path: Path::default().key("properties").key(field),
        message: format!("no sample on which the two agree has {field}"),
    }));
    let report = Report {
        verdict,
        differences: judge::smallest(schema, &draft.document, &judged),
        samples: judged.tallies,
        findings,
        candidates,
        left_out,
    };
    Conversion {
        document: draft.document,
        report,
    }
}

/// Returns the shortest samples that fit into so many bytes together, in their order.
fn chosen_by(samples: &[judge::Expected], bytes: usize) -> Vec<&judge::Expected> {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by_key(|at| samples[*at].sample.text.len());
    let mut left = bytes;
    let mut fits = |at: &usize| {
        let length = samples[*at].sample.text.len();
        let fits = length <= left;
        left = left.saturating_sub(length);
        fits
    };
    let mut taken: Vec<usize> = order.into_iter().take_while(|at| fits(at)).collect();
    taken.sort_unstable();
    taken.into_iter().map(|at| &samples[at]).collect()
}

/// Returns the finding that a node changes the text before its parts are looked for.
fn substitutions(node: &Node) -> Finding {
    let message = "a response template changes no text before it looks for delimiters";
    finding("convert-substitutions", node, message)
}

fn finding(code: &'static str, node: &Node, message: impl Into<String>) -> Finding {
    Finding {
        code,
        path: node.path.clone(),
        message: message.into(),
    }
}

/// Returns the value without the members that a response template leaves out: those of the message that are null or empty.
fn without_empty(value: Value) -> Value {
    match value {
        Value::Object(mut members) => {
            members.retain(|_, value| match value {
                Value::String(text) => !text.is_empty(),
                Value::Array(items) => !items.is_empty(),
                Value::Object(members) => !members.is_empty(),
                value => *value != Value::Null,
            });
            Value::Object(members)
        }
        other => other,
    }
}
