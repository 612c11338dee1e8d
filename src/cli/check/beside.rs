//! The findings of transformers, which is run beside, about the subjects of a check.

use obverse::check::reference::{Answer, Question};
use obverse::check::{Fixture, Replay, Setting};
use obverse::diagnostic::Diagnostic;

use super::subject::Subject;
use crate::cli::reference::Reference;

/// In what transformers disagrees about a fixture.
pub(super) fn of_fixture(
    reference: &Reference,
    subject: &Subject,
    fixture: &Fixture,
    prefix: &str,
    whole: &Replay,
) -> Option<Diagnostic> {
    let (_, template) = subject.loaded.as_ref()?;
    let setting = Setting::new(template, prefix, &fixture.tools);
    let question = Question::about_fixture(subject.document.as_deref()?, &setting, fixture);
    match reference.ask(&question) {
        Ok(answer) => question.disagreement(whole, &answer),
        Err(error) => Some(Diagnostic::warning("reference-silent", error.to_string())),
    }
}

/// Compares the answer of transformers with ours: both take the response template, or both refuse it.
pub(super) fn of_document(reference: &Reference, subject: &Subject) -> Option<Diagnostic> {
    let question = Question::about_document(subject.document.as_deref()?);
    match (reference.ask(&question), &subject.loaded) {
        (Err(error), _) => Some(Diagnostic::warning("reference-silent", error.to_string())),
        (Ok(Answer::Refused(why)), Some(_)) => {
            let message = format!("transformers refuses the response template: {why}");
            Some(Diagnostic::error("reference-refuses", message))
        }
        (Ok(Answer::Runs(_)), None) => {
            let message = "transformers takes the response template";
            Some(Diagnostic::error("reference-takes", message))
        }
        _ => None,
    }
}
