//! `obverse inspect`: what a chat template supports.

mod human;

use std::path::PathBuf;

use obverse::derive::Options;
use obverse::derive::inspect::{InspectError, TemplateInspection, inspect};

use super::problem::Problem;
use super::progress::Progress;
use super::shape::ShapeArgs;
use super::source::{self, Opened, SourceArgs};
use super::status::Status;
use super::stop::Stop;
use super::{input, output, wire};

/// Show what a chat template supports: roles, message keys, tools, calls, reasoning, kwargs, generation prompts
///
/// Nothing is read off the source code: the chat template is rendered with conversations of every kind, and each of their parts is
/// looked for in the text. If there are several chat templates in the source, each of them is shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A .jinja file, a tokenizer_config.json, a model folder, a .gguf file, or org/model[@REVISION], a model of the Hub; - reads a chat template from standard input
    source: PathBuf,

    #[command(flatten)]
    shape: ShapeArgs,

    /// The chat template to inspect, of several
    #[arg(long, value_name = "NAME")]
    template: Option<String>,

    #[command(flatten)]
    source_args: SourceArgs,
}

/// Inspects.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let mut opened = match args.template {
        Some(_) => args.source_args.open_any(&args.source)?,
        None => args.source_args.open(&args.source)?,
    };
    if let Some(name) = &args.template {
        let chosen = opened.named(name)?.clone();
        opened.source.templates = vec![(name.clone(), chosen)];
    }
    let options = Options::default().clock(args.source_args.date);
    let progress = Progress::of_one(&input::name(&args.source));
    let inspection = inspect(&opened.source, &options);
    drop(progress);
    output::detail(|| {
        let names = opened
            .source
            .templates
            .iter()
            .map(|(name, _)| name.as_str());
        format!("inspected: {}", names.collect::<Vec<_>>().join(", "))
    });
    let mut status = Status::Done;
    for template in &inspection.templates {
        if let Some(error) = &template.error {
            problem(error, template, &opened).show();
            status = Status::Failed;
        }
    }
    if !args.shape.is_json() {
        output::print_table(&human::inspection(&inspection))?;
        return Ok(status);
    }
    let value = wire::reported("what was observed", &inspection)?;
    output::print_json(&wire::pretty(&value))?;
    Ok(status)
}

fn problem(error: &InspectError, template: &TemplateInspection, opened: &Opened) -> Problem {
    let problem = match error {
        InspectError::Render(render) => source::not_rendered(render, error.to_string()),
        _ => Problem::failed("not-inspected", error.to_string()),
    };
    match opened.named(&template.name) {
        Ok(found) => problem.about(opened.document(found)),
        Err(_) => problem,
    }
}
