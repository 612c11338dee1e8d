//! `obverse inspect`: what a chat template supports.

mod human;

use std::path::PathBuf;

use clap::ValueEnum;
use obverse::derive::Options;
use obverse::derive::inspect::{InspectError, TemplateInspection, inspect};
use obverse::value::json;

use super::problem::Problem;
use super::source::{self, Opened, SourceArgs};
use super::status::{Status, Stop};
use super::{output, wire};

/// Show what a chat template supports: roles, message keys, tools, calls, reasoning, kwargs, generation prompts
///
/// Everything is observed: the chat template is rendered with conversations of every kind, and what becomes of each part is
/// looked for in the text. Of several chat templates in one source each is shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A .jinja file, a tokenizer_config.json or a model folder; - reads a chat template from standard input
    source: PathBuf,

    /// A table for people, or JSON with everything that was observed
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,

    /// The chat template to inspect, of several
    #[arg(long, value_name = "NAME")]
    template: Option<String>,

    #[command(flatten)]
    source_args: SourceArgs,
}

/// A value of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table.
    Human,
    /// JSON.
    Json,
}

/// Inspects.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    let mut opened = args.source_args.open(&args.source)?;
    if let Some(name) = &args.template {
        let chosen = opened.named(name)?.clone();
        opened.source.templates = vec![(name.clone(), chosen)];
    }
    let options = Options {
        clock: args.source_args.date,
        ..Options::default()
    };
    let inspection = inspect(&opened.source, &options);
    let mut status = Status::Done;
    for template in &inspection.templates {
        if let Some(error) = &template.error {
            problem(error, template, &opened).show();
            status = Status::Failed;
        }
    }
    match args.format {
        Format::Human => output::print_table(&human::inspection(&inspection))?,
        Format::Json => {
            let failed = |error: String| {
                let message = format!("what was observed cannot be written as JSON: {error}");
                Problem::failed("report", message)
            };
            let written =
                serde_json::to_string(&inspection).map_err(|error| failed(error.to_string()))?;
            let value = json::parse(&written).map_err(|error| failed(error.message()))?;
            output::print_json(&wire::pretty(&value))?;
        }
    }
    Ok(status)
}

fn problem(error: &InspectError, template: &TemplateInspection, opened: &Opened) -> Problem {
    let problem = match error {
        InspectError::Render(render) => source::not_rendered(render, error.to_string()),
        InspectError::Exhausted { .. } => Problem::failed("not-inspected", error.to_string()),
    };
    match opened.named(&template.name) {
        Ok(found) => problem.about(opened.document(found)),
        Err(_) => problem,
    }
}
