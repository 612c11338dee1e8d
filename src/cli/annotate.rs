//! `obverse annotate`: a chat template with `{% generation %}` marks.

use std::path::PathBuf;

use obverse::chat_template::{ChatTemplate, RenderInput};
use obverse::conversation::annotate::{AnnotateError, Annotation, annotate};
use obverse::diagnostic::Diagnostic;
use obverse::value::{Map, Value, json};

use super::problem::Problem;
use super::progress::Progress;
use super::render::select;
use super::shape::ShapeArgs;
use super::source::{self, Opened, SourceArgs};
use super::status::Status;
use super::stop::Stop;
use super::{escape, input, output, wire};

/// Write a chat template with {% generation %} marks around what the model writes, for trainers
///
/// Nothing else is changed: the marks are put between the characters of the source. That they are right is proved first: every
/// conversation of a suite must render to the same text, and what is marked must be what `obverse spans` tells. What was proved is told on
/// standard error; with --format json it stands beside the chat template in one object on standard output. Where no place in the source can be marked, what stands in the way is shown, and the exit status is 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A .jinja file, a tokenizer_config.json, a model folder, a .gguf file, or org/model[@REVISION], a model of the Hub; - reads a chat template from standard input
    source: PathBuf,

    /// The chat template to mark of several
    #[arg(long, value_name = "NAME")]
    template: Option<String>,

    #[command(flatten)]
    shape: ShapeArgs,

    #[command(flatten)]
    source_args: SourceArgs,
}

/// Marks.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    input::one_stdin([Some(args.source.as_path())])?;
    let opened = args.source_args.open(&args.source)?;
    source::tell_assumption(&opened, &Map::new());
    let template = select(&opened, args.template.as_deref(), false)?;
    let annotation = match Progress::during(&input::name(&args.source), || annotate(template)) {
        Ok(annotation) => annotation,
        Err(error) => {
            if let AnnotateError::Nothing = error {
                refused(&opened, template)?;
            }
            let problem = problem(&error).about(opened.document(template));
            return Err(problem.with_status(Status::Found).into());
        }
    };
    if args.shape.is_json() {
        output::print_json(&wire::pretty(&report(&annotation)))?;
        return Ok(Status::Done);
    }
    output::print_text(&annotation.source)?;
    let marked = match annotation.marks {
        0 => "it has marks, and they are left as they are".to_owned(),
        marks => format!("marked: {}", count(marks, "place")),
    };
    let mut told = format!(
        "{marked}; proved with {} conversations: the same text, and the marks are what the model writes\n",
        annotation.proved
    );
    if !annotation.other_under.is_empty() {
        let under = annotation.other_under.iter().flat_map(|kwargs| {
            kwargs
                .iter()
                .map(|(name, value)| format!("{name}={}", json::to_string(value)))
        });
        told += &format!(
            "with {} the generation prompt is another one, and what is marked is not all that the model writes, or more\n",
            escape::line(&under.collect::<Vec<_>>().join(", "))
        );
    }
    output::tell(&told);
    Ok(Status::Done)
}

/// The marked chat template and what was proved of it, for programs.
fn report(annotation: &Annotation) -> Value {
    let other = annotation.other_under.iter().cloned().map(Value::Object);
    Value::Object(wire::object([
        ("chat_template", Value::from(annotation.source.as_str())),
        ("marks", Value::count(annotation.marks)),
        ("proved", Value::count(annotation.proved)),
        ("other_under", Value::Array(other.collect())),
    ]))
}

fn count(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Tells why the plainest conversation does not render, where it does not.
fn refused(opened: &Opened, template: &ChatTemplate) -> Result<(), Problem> {
    let message = |role: &str, text: &str| {
        Value::Object(wire::object([
            ("role", Value::from(role)),
            ("content", Value::from(text)),
        ]))
    };
    let talk = [message("user", "Hello"), message("assistant", "Hi")];
    let render = |messages: Vec<Value>| {
        template.render(&RenderInput {
            messages,
            ..RenderInput::default()
        })
    };
    let Err(error) = render(talk.to_vec()) else {
        return Ok(());
    };
    let system = message("system", "Be brief.");
    match render(std::iter::once(system).chain(talk).collect()) {
        Ok(_) => Ok(()),
        Err(_) => Err(source::render_problem(&error, opened.document(template))),
    }
}

fn problem(error: &AnnotateError) -> Problem {
    let code = match error {
        AnnotateError::Nothing => "no-answer",
        AnnotateError::InTheWay(_) => "no-place-for-marks",
        _ => "marks-not-proved",
    };
    let mut diagnostic = Diagnostic::error(code, escape::line(&error.to_string()).into_owned());
    match error {
        AnnotateError::InTheWay(obstacle) => {
            diagnostic = diagnostic.with_span(obstacle.range.clone());
        }
        AnnotateError::NotProved(counterexample) => {
            let messages = Value::Array(counterexample.messages.clone());
            diagnostic =
                diagnostic.with_hint(format!("the conversation: {}", json::to_string(&messages)));
        }
        _ => {}
    }
    Problem::of(diagnostic)
}
