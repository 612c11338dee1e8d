//! One thing to check, and what becomes of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use obverse::chat_template::{ChatTemplateSource, Clock};
use obverse::check::{self, Effort, Failure, Fixture, FixtureFile, Prompt};
use obverse::derive::Verdict;
use obverse::diagnostic::Diagnostic;
use obverse::grammar::Request;
use obverse::lint::DEVIATES;
use obverse::project::Project;
use obverse::response_schema;
use obverse::response_template::{Engine, ResponseTemplate, config};
use obverse::value::{Value, json};

use super::selection::Selection;
use super::subject::{Subject, Subjects};
use super::task::Task;
use super::words::{after, derive_words};
use super::{beside, disagreements, schema};
use crate::cli::deviating;
use crate::cli::quoted::as_argument;
use crate::cli::reference::Reference;
use crate::cli::report::Outcome;
use crate::cli::words::count;
use crate::cli::{given, input, new, project, source};

/// Codes of what `--update` records anew.
pub(super) const RECORDED: [&str; 8] = [
    "not-recorded",
    "other-message",
    "unclaimed",
    "other-events",
    "other-growth",
    "does-not-parse",
    "other-error",
    "no-error",
];

/// How it is checked.
pub(super) struct How<'a> {
    pub(super) effort: Effort,
    /// The time that chat templates are told.
    pub(super) clock: Option<Clock>,
    pub(super) selection: &'a Selection,
    pub(super) reference: Option<&'a Reference>,
}

/// The outcome of a task.
pub(super) struct Done {
    pub(super) outcome: Outcome,
    pub(super) took: Duration,
    /// The fixture with what the parser gives, when that is not what it records.
    pub(super) change: Option<(FixtureFile, Fixture)>,
}

impl Subjects {
    /// Does a task.
    pub(super) fn perform(&self, how: &How<'_>, task: &Task) -> Done {
        let begun = Instant::now();
        let mut change = None;
        let line = match task {
            Task::Template(_) => None,
            Task::Fixture(_, found) => found.line.as_ref().map(|(number, _)| *number),
        };
        let (file, text, diagnostics) = match task {
            Task::Template(index) => {
                let subject = &self.all[*index];
                let file = subject.path.clone();
                (file, subject.text.clone(), of_template(how, subject))
            }
            Task::Fixture(subject, found) => match found.read() {
                Err(error) => (
                    error.path,
                    error.text.unwrap_or_default(),
                    vec![*error.diagnostic],
                ),
                Ok(fixture) => {
                    let (diagnostics, changed) = match subject.map(|index| &self.all[index]) {
                        Some(_) if is_to_be_filled_in(&fixture) => {
                            (vec![to_be_filled_in(found)], None)
                        }
                        Some(subject) => of_fixture(how, subject, &fixture),
                        None => (vec![stray(how, found)], None),
                    };
                    change = changed.map(|changed| (found.clone(), changed));
                    (found.file(), fixture.response, diagnostics)
                }
            },
        };
        Done {
            outcome: Outcome {
                name: self.name(task),
                file: input::name(&project::shown(&file)),
                line,
                text,
                diagnostics,
                allowed: 0,
            },
            took: begun.elapsed(),
            change,
        }
    }
}

fn stray(how: &How<'_>, found: &FixtureFile) -> Diagnostic {
    let folder = found.path.parent().unwrap_or(&found.path);
    let around = Project::find(folder).map(|file| project::real(&file));
    let used = how
        .selection
        .project
        .file()
        .map(|file| project::real(&file));
    let says = match around {
        Some(file) if used.as_ref() != Some(&file) => {
            let file = as_argument(&project::shown(&file));
            format!(
                "{file} may say which one does: `--config {file}` reads it, as does every run in its folder"
            )
        }
        Some(_) => {
            "name it in obverse.toml, under the `fixtures` of its response template".to_owned()
        }
        None => "`obverse init` writes an obverse.toml that says which one does".to_owned(),
    };
    let hint = format!(
        "{says}; or put it below a folder with a response_template.json, or a tokenizer_config.json that holds one"
    );
    Diagnostic::error(
        "no-template",
        "no response template belongs to this fixture",
    )
    .with_hint(hint)
}

/// Returns true if nobody has put a response into a fixture yet. What such a one parses to says nothing, so that `--update` does
/// not record it: the check would be green from then on. One that is meant to be empty has its message written by hand.
fn is_to_be_filled_in(fixture: &Fixture) -> bool {
    let is_recorded = fixture.expected.is_some() || fixture.error.is_some();
    !is_recorded && fixture.response.trim().is_empty()
}

fn to_be_filled_in(found: &FixtureFile) -> Diagnostic {
    // That of a line ends with what the line is called.
    let name = found
        .name
        .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
        .next();
    let wanted = name.and_then(new::wanted).unwrap_or("what the model wrote");
    let (place, whole) = match found.line {
        None => ("response.txt", "folder"),
        Some(_) => ("`response` of this line", "line"),
    };
    let message = "the response has not been filled in yet, so there is nothing to record";
    Diagnostic::error("not-recorded", message).with_hint(format!(
        "put {wanted} into {place}, or remove the {whole}; `obverse record` asks a running model for one"
    ))
}

/// Checks a fixture: the findings, and the fixture as it would hold.
fn of_fixture(
    how: &How<'_>,
    subject: &Subject,
    fixture: &Fixture,
) -> (Vec<Diagnostic>, Option<Fixture>) {
    if let Some(schema) = &subject.schema {
        return schema::of_fixture(schema, fixture);
    }
    let Some((_, template)) = &subject.loaded else {
        return (Vec::new(), None);
    };
    let prefix = match fixture.prefix(subject.chat.as_ref(), how.clock) {
        Ok(prefix) => prefix,
        Err(error) => {
            return (
                vec![Diagnostic::error("no-prompt", error.to_string())],
                None,
            );
        }
    };
    let (whole, failures) = check::check(fixture, template, &prefix, &how.effort);
    let recorded = failures
        .iter()
        .any(|failure| !matches!(failure, Failure::Law(_)));
    let name = input::name(&subject.path);
    let mut diagnostics = check::explain(
        fixture,
        template,
        &prefix,
        &failures,
        Some(&subject.written(&name)),
    );
    if let Some(first) = diagnostics.first_mut() {
        first.message = format!("{}\nwith     {name}{}", first.message, after(&prefix));
    }
    if recorded
        && let Some(hinted) = diagnostics
            .iter_mut()
            .find(|found| RECORDED.contains(&found.code))
    {
        let hint = hinted
            .hint
            .take()
            .map_or_else(String::new, |hint| format!("{hint}\n"));
        hinted.hint = Some(format!(
            "{hint}mend the response template, or, if this is what the response is to give from now on, record it with --update"
        ));
    }
    if let Some(reference) = how.reference {
        diagnostics.extend(beside::of_fixture(
            reference, subject, fixture, &prefix, &whole,
        ));
    }
    diagnostics.extend(disallowed(how, subject, fixture, &prefix));
    if diagnostics.is_empty() {
        diagnostics.extend(deviates(how, subject, fixture, template, &prefix));
    }
    diagnostics.extend(ignored(subject, fixture));
    if !given::has_anchor(template, &prefix) {
        diagnostics.push(given::found_without_anchor(template));
    }
    (diagnostics, recorded.then(|| fixture.with(&whole)))
}

/// The kwargs of a fixture's conversation that change nothing. What is recorded holds all the same.
fn ignored(subject: &Subject, fixture: &Fixture) -> Vec<Diagnostic> {
    let (Some(chat), Prompt::Conversation(conversation)) = (&subject.chat, &fixture.prompt) else {
        return Vec::new();
    };
    match conversation.get("kwargs") {
        Some(Value::Object(kwargs)) => source::ignored(chat, kwargs, |name| {
            format!("the conversation's kwarg `{name}`")
        }),
        _ => Vec::new(),
    }
}

/// The place at which a response leaves the grammar of what the model may write, where it is held to that.
fn disallowed(
    how: &How<'_>,
    subject: &Subject,
    fixture: &Fixture,
    prefix: &str,
) -> Option<Diagnostic> {
    if !how.selection.holds_to_grammar(subject) {
        return None;
    }
    let written = subject.written_format(&how.selection.options(subject))?;
    let request = Request::default()
        .tools(fixture.tools.clone())
        .prefix(prefix);
    match written.grammar(&request) {
        Ok(grammar) => {
            let tokens = subject.chat.as_ref().map(ChatTemplateSource::end_tokens);
            check::disallowed(&fixture.response, &grammar, &tokens.unwrap_or_default())
        }
        Err(error) => Some(Diagnostic::error("no-grammar", error.to_string())),
    }
}

/// In what a response that is read right is not written as its chat template writes the message.
fn deviates(
    how: &How<'_>,
    subject: &Subject,
    fixture: &Fixture,
    template: &Arc<ResponseTemplate>,
    prefix: &str,
) -> Option<Diagnostic> {
    let chat = subject.chat.as_ref()?;
    let found = check::rendered_otherwise(fixture, template, prefix, chat, how.clock)?;
    let nearest = deviating::nearest(&found);
    let message = format!("no render of the message is this response: {nearest}");
    let diagnostic = Diagnostic::info(DEVIATES, message).with_span(found.span);
    Some(diagnostic.with_hint(
        "nothing needs to be done: models write otherwise than their chat templates, and the response is read right",
    ))
}

/// Checks a response template.
fn of_template(how: &How<'_>, subject: &Subject) -> Vec<Diagnostic> {
    let mut all = of_document(how, subject);
    let disagrees = how
        .reference
        .and_then(|reference| beside::of_document(reference, subject));
    all.extend(disagrees);
    all
}

fn of_document(how: &How<'_>, subject: &Subject) -> Vec<Diagnostic> {
    match response_schema::load_any(&subject.text) {
        Some(Ok(_)) => return Vec::new(),
        Some(Err(invalid)) => return invalid.into_diagnostics(),
        None => {}
    }
    let Some((_, template)) = &subject.loaded else {
        return config::load_any(&subject.text)
            .err()
            .map(|invalid| invalid.into_diagnostics())
            .unwrap_or_default();
    };
    let derives = how.selection.derives(subject);
    let Some(chat) = subject.chat.as_ref().filter(|_| derives) else {
        return Vec::new();
    };
    let options = how.selection.options(subject);
    match subject.rederived(&options) {
        Some(Ok(rederived)) => of_derivation(subject, template, rederived, &options.engines),
        Some(Err(error)) => vec![Diagnostic::warning(
            "not-derived",
            format!(
                "nothing can be derived from {}: {error}",
                chat.path.display()
            ),
        )],
        None => Vec::new(),
    }
}

fn of_derivation(
    subject: &Subject,
    template: &Arc<ResponseTemplate>,
    rederived: &check::Rederived,
    engines: &[Engine],
) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    let derived = subject.path.with_extension("report.json").is_file();
    if derived && let Some(first) = rederived.differences.first() {
        let show = |value: &Option<Value>| {
            value
                .as_ref()
                .map_or_else(|| "nothing".to_owned(), json::to_string)
        };
        let message = format!(
            "this is not what is derived from the chat template: {} to change, the first at {}\nderived  {}\nhere     {}",
            count(rederived.differences.len(), "value"),
            first.path,
            show(&first.expected),
            show(&first.found),
        );
        all.push(
            placed(subject, Diagnostic::error("stale", message), first).with_hint(format!(
                "derive it again with `obverse {} --out-dir`, and read what changes",
                derive_words(engines).join(" ")
            )),
        );
    }
    all.extend(disagreements::told(subject, template, rederived));
    let report = &rederived.derivation.report;
    if rederived.differences.is_empty() && report.verdict == Verdict::NotProved {
        let rounds = report.rounds;
        let message = format!(
            "the derivation is not proved: of {} messages {} {} not come back",
            rounds.failed + rounds.passed,
            rounds.failed,
            if rounds.failed == 1 { "does" } else { "do" }
        );
        all.push(Diagnostic::warning("not-proved", message));
    }
    all
}

/// With the place of a difference in the file, where it has one.
fn placed(subject: &Subject, diagnostic: Diagnostic, difference: &check::Difference) -> Diagnostic {
    let diagnostic = diagnostic.with_path(difference.path.to_string());
    let name = input::name(&subject.path);
    match subject.written(&name).span(&difference.path) {
        Some(span) => diagnostic.with_span(span),
        None => diagnostic,
    }
}
