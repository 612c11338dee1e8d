//! `obverse lint`: what will go wrong with a response template.

use std::path::{Path, PathBuf};

use obverse::diagnostic::{Diagnostic, Severity};
use obverse::lint::{self, Options, WARNINGS};
use obverse::project::Project;
use obverse::response_template::Engine;

use super::problem::{Document, Problem};
use super::project::{ProjectArgs, Workspace};
use super::replace::replace;
use super::report::{FormatArgs, Outcome, Report};
use super::status::{Status, Stop};
use super::{input, output, project};

/// Find what will go wrong with response templates: traps of the format, patterns, and what their chat template says
///
/// Each finding has a code; `obverse explain CODE` tells what it means. A chat template is taken from beside the response
/// template (the same tokenizer_config.json or folder, or a .jinja file of the same name), or as obverse.toml says. Exit status
/// 1 when there is an error.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Response templates, tokenizer_config.json files that hold one, or folders of them; - reads standard input. Without any,
    /// those that obverse.toml names
    templates: Vec<PathBuf>,

    /// Mend what can be mended safely, in the files; no other byte of them changes. Standard input is written to standard
    /// output
    #[arg(long)]
    fix: bool,

    /// Also find what keeps it from running in this engine: transformers, vllm or sglang; those that obverse.toml names for it
    /// count too
    #[arg(long = "for", value_name = "ENGINE")]
    engines: Vec<Engine>,

    /// Make findings of this code errors; `warnings` stands for all warnings
    #[arg(long, value_name = "CODE", value_parser = denied)]
    deny: Vec<String>,

    /// Leave findings of this code out
    #[arg(long, value_name = "CODE", value_parser = code)]
    allow: Vec<String>,

    /// Show findings from this severity on
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = Level::Warning)]
    level: Level,

    #[command(flatten)]
    report: FormatArgs,

    #[command(flatten)]
    project: ProjectArgs,
}

/// A value of `--level`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Level {
    Info,
    Warning,
    Error,
}

impl Level {
    fn severity(self) -> Severity {
        match self {
            Self::Info => Severity::Info,
            Self::Warning => Severity::Warning,
            Self::Error => Severity::Error,
        }
    }
}

/// Lints.
pub(crate) fn run(args: &Args) -> Result<Status, Stop> {
    input::one_stdin(args.templates.iter().map(|path| Some(path.as_path())))?;
    let workspace = args.project.open()?;
    let paths = paths(args, &workspace)?;
    // The text of a file that is mended on its way from one stream to the other needs the one that results go to.
    let mut report = Report::open(&args.report, "lint")?;
    let mut piped = None;
    for path in &paths {
        let text = input::read_text(path)?;
        let chat = workspace.chat_template(path, &text)?;
        let mut engines = args.engines.clone();
        for engine in workspace.engines(path) {
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
        let options = Options {
            chat: chat.as_ref(),
            engines: &engines,
        };
        let text = if args.fix {
            let fixed = lint::fix(&text, &options).text;
            if input::is_stdin(path) {
                piped = Some(fixed.clone());
            } else if fixed != text {
                replace(path, &fixed)?;
            }
            fixed
        } else {
            text
        };
        let outcome = outcome(args, path, text, &options, workspace.project.as_ref());
        if piped.is_some() {
            tell(&outcome);
            continue;
        }
        report.result(&outcome)?;
    }
    let Some(text) = piped else {
        return Ok(report.finish()?.status());
    };
    output::print_text(&text)?;
    Ok(Status::Done)
}

/// What is left of a text that went from one stream to the other.
fn tell(outcome: &Outcome) {
    if !outcome.diagnostics.is_empty() {
        Problem::all(outcome.diagnostics.clone())
            .about(Document::new(outcome.name.as_str(), outcome.text.as_str()))
            .show();
    }
}

/// The files to lint.
fn paths(args: &Args, workspace: &Workspace<'_>) -> Result<Vec<PathBuf>, Problem> {
    if args.templates.is_empty() {
        let named = workspace.response_templates();
        if named.is_empty() {
            return Err(Problem::failed("usage", "there is nothing to lint")
                .with_hint("give response templates, or name them in an obverse.toml"));
        }
        return Ok(named.iter().map(|path| project::shown(path)).collect());
    }
    let mut found = Vec::new();
    for path in &args.templates {
        if path.is_dir() {
            project::response_templates(path, &mut found)?;
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

/// The findings about one text that count.
fn outcome(
    args: &Args,
    path: &Path,
    text: String,
    options: &Options<'_>,
    project: Option<&Project>,
) -> Outcome {
    let mut diagnostics = lint::lint(&text, options);
    let all = diagnostics.len();
    diagnostics.retain(|found| {
        !args.allow.iter().any(|code| code == found.code)
            && !project.is_some_and(|project| project.allows(found.code, path))
    });
    let allowed = all - diagnostics.len();
    let denied = |found: &Diagnostic| {
        let mut denied = args
            .deny
            .iter()
            .chain(project.map_or(&[][..], Project::deny));
        denied.any(|code| {
            code == found.code || (code == WARNINGS && found.severity == Severity::Warning)
        })
    };
    for found in &mut diagnostics {
        if denied(found) {
            found.severity = Severity::Error;
        }
    }
    diagnostics.retain(|found| found.severity >= args.level.severity());
    Outcome {
        name: input::name(path),
        file: input::name(path),
        line: None,
        text,
        diagnostics,
        allowed,
    }
}

fn denied(text: &str) -> Result<String, String> {
    if text == WARNINGS {
        return Ok(text.to_owned());
    }
    code(text)
}

fn code(text: &str) -> Result<String, String> {
    if lint::is_code(text) {
        return Ok(text.to_owned());
    }
    Err("there is no such code; `obverse explain` lists them".to_owned())
}
