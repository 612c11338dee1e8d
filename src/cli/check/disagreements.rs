//! On which messages a response template disagrees with its chat template.

use std::sync::Arc;

use obverse::check::{self, DisagreementKind, Failure, Fixture, Rederived, What};
use obverse::diagnostic::Diagnostic;
use obverse::response_template::ResponseTemplate;
use obverse::value::{Path, Value, json};

use super::subject::Subject;
use super::words::after;
use crate::cli::input;
use crate::cli::words::count;

/// How many kinds are told.
const MANY: usize = 5;

/// A kind of disagreement, and what may have caused it.
struct Told<'d> {
    kind: DisagreementKind<'d>,
    hint: Option<String>,
}

/// The disagreements, each kind for itself with its smallest example.
pub(super) fn told(
    subject: &Subject,
    template: &Arc<ResponseTemplate>,
    rederived: &Rederived,
) -> Vec<Diagnostic> {
    let mut all: Vec<Told<'_>> = Vec::new();
    for kind in check::kinds(&rederived.disagreements) {
        let hint = cause(subject, template, &kind);
        // One cause may show in several ways.
        let same = all
            .iter_mut()
            .find(|told| hint.is_some() && told.hint == hint);
        match same {
            Some(told) => told.kind.count += kind.count,
            None => all.push(Told { kind, hint }),
        }
    }
    let hidden = all.len().saturating_sub(MANY);
    let mut diagnostics: Vec<Diagnostic> = all
        .iter()
        .take(MANY)
        .map(|told| diagnostic(subject, told, rederived.tried))
        .collect();
    if let Some(last) = diagnostics.last_mut().filter(|_| hidden > 0) {
        last.message
            .push_str(&format!("\nand {} more", count(hidden, "kind")));
    }
    diagnostics
}

fn diagnostic(subject: &Subject, told: &Told<'_>, tried: usize) -> Diagnostic {
    let DisagreementKind {
        count,
        smallest,
        what,
        ..
    } = &told.kind;
    let message = format!(
        "{count} of {tried} messages that the chat template renders do not come back: {what}{}\nresponse {}\nexpected {}\nfound    {}",
        after(&smallest.case.prefix),
        json::quote(&smallest.case.response),
        json::to_string(&smallest.case.message),
        json::to_string(&Value::Object(smallest.found.clone())),
    );
    let mut diagnostic = Diagnostic::error("not-inverted", message);
    if let What::Renamed { found, .. } = what {
        let name = input::name(&subject.path);
        let field = Path::default().key("fields").key(found);
        diagnostic.place.span = subject.written(&name).span(&field);
    }
    diagnostic.hint.clone_from(&told.hint);
    diagnostic
}

/// The likely cause of a disagreement.
fn cause(
    subject: &Subject,
    template: &Arc<ResponseTemplate>,
    kind: &DisagreementKind<'_>,
) -> Option<String> {
    if let What::Renamed { expected, found } = &kind.what {
        return Some(format!(
            "the chat template reads `{expected}` back and does not read `{found}`: appended to the conversation, the message would lose \
             it; call the field `{expected}`"
        ));
    }
    let smallest = kind.smallest;
    let fixture = Fixture {
        response: smallest.case.response.clone(),
        tools: smallest.case.tools.clone(),
        expected: Some(smallest.case.message.clone()),
        ..Fixture::default()
    };
    let failures = [Failure::Message(smallest.differences.clone())];
    let name = input::name(&subject.path);
    let written = subject.written(&name);
    let told = check::explain(
        &fixture,
        template,
        &smallest.case.prefix,
        &failures,
        Some(&written),
    );
    told.into_iter().find_map(|told| told.hint)
}
