//! `obverse lint`: what will go wrong with a response template.

use std::path::{Path, PathBuf};

use obverse::chat_template::ChatTemplateSource;
use obverse::check::{FileChange, FixtureFile};
use obverse::diagnostic::{Diagnostic, Severity};
use obverse::hub::Wanted;
use obverse::lint::{self, DEVIATES, Fixed, Options, WARNINGS};
use obverse::project::Project;
use obverse::response_template::Engine;

use super::color::{GREEN, paint};
use super::completed::Completed;
use super::diff::unified;
use super::problem::{Document, Problem};
use super::project::{ProjectArgs, Workspace};
use super::quoted::as_argument;
use super::replace::replace_or_force;
use super::report::{FormatArgs, Outcome, Report};
use super::status::Status;
use super::stop::Stop;
use super::{engine, escape, hub, input, near, output, project, width};

mod fixtures;

/// Find what will go wrong with response templates: traps of the format, patterns, and what their chat template says
///
/// Each finding has a code; `obverse explain CODE` tells what it means. A chat template is taken from beside the response
/// template (the same tokenizer_config.json or folder, or a .jinja file of the same name), or as obverse.toml says. With
/// --level info it also tells how many of its fixtures have a response that the chat template never writes so. Exit status 1 when
/// there is an error.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Response templates, tokenizer_config.json files that hold one, or folders of them; - reads standard input. Without any,
    /// those that obverse.toml names
    templates: Vec<PathBuf>,

    /// Mend what can be mended safely, in the files, and tell what it was; no other byte of them changes. A fix must leave fewer
    /// findings, those for the engines named included. Standard input is written to standard output
    #[arg(long)]
    fix: bool,

    /// With --fix, write files too that are symbolic links, as in the caches of models, or read-only
    #[arg(long, requires = "fix")]
    force: bool,

    /// Show what --fix would change, as diffs, and change nothing, also where --fix is given
    #[arg(long, conflicts_with_all = ["format", "write"])]
    diff: bool,

    /// Also find what keeps it from running in this engine: transformers, vllm or sglang; those that obverse.toml names for it
    /// count too
    #[arg(long = "for", value_name = "ENGINE", value_parser = engine::parser(), hide_possible_values = true)]
    engines: Vec<Engine>,

    /// Make findings of this code errors; `warnings` stands for all warnings
    #[arg(long, value_name = "CODE", value_parser = DENIED, hide_possible_values = true)]
    deny: Vec<String>,

    /// Leave findings of this code out
    #[arg(long, value_name = "CODE", value_parser = ALLOWED, hide_possible_values = true)]
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
    if args.diff {
        return show_fixes(args, &paths, &workspace);
    }
    // The text of a file that is mended on its way from one stream to the other needs the one that results go to.
    let mut report = Report::open(&args.report, "lint")?;
    let read = paths.iter().map(PathBuf::as_path);
    for path in read.chain(workspace.file.as_deref()) {
        report.spare(path)?;
    }
    let mut piped = None;
    let mut unread = Status::Done;
    for path in &paths {
        let mut subject = match Subject::open(args, path, &workspace) {
            Ok(subject) => subject,
            // The other files are linted all the same.
            Err(problem) if paths.len() > 1 => {
                unread = unread.max(problem.status);
                report.result(&Outcome::unread(input::name(path), problem))?;
                continue;
            }
            Err(problem) => return Err(problem.into()),
        };
        if let Some(chat) = &subject.chat {
            report.spare(&chat.path)?;
        }
        if args.fix {
            let fixed = subject.fixed();
            if !fixed.applied.is_empty() {
                if !input::is_stdin(path) {
                    replace_or_force(path, &fixed.text, args.force)?;
                }
                tell_fixed(path, &fixed.applied);
            }
            subject.text = fixed.text;
        }
        let outcome = subject.outcome();
        if args.fix && input::is_stdin(path) {
            tell(&outcome);
            piped = Some(outcome);
            continue;
        }
        report.result(&outcome)?;
    }
    let status = report.finish()?.status().max(unread);
    let Some(outcome) = piped else {
        return Ok(status);
    };
    output::print_text(&outcome.text)?;
    Ok(status.max(if outcome.failed() {
        Status::Found
    } else {
        Status::Done
    }))
}

/// Shows what would be fixed. What it ends with is what is found, as without it.
fn show_fixes(args: &Args, paths: &[PathBuf], workspace: &Workspace<'_>) -> Result<Status, Stop> {
    let mut status = Status::Done;
    let mut count = 0;
    for path in paths {
        let subject = Subject::open(args, path, workspace)?;
        if subject.outcome().failed() {
            status = Status::Found;
        }
        let fixed = subject.fixed();
        count += fixed.applied.len();
        if fixed.applied.is_empty() {
            continue;
        }
        let change = FileChange::new(input::name(path), Some(subject.text), Some(fixed.text));
        output::print_styled(&width::fit(&unified(&change), width::of_results()))?;
    }
    output::tell(&match count {
        0 => "there is nothing that can be fixed\n".to_owned(),
        1 => "one finding would be fixed\n".to_owned(),
        _ => format!("{count} findings would be fixed\n"),
    });
    Ok(status)
}

/// Tells people what was fixed in a file.
fn tell_fixed(path: &Path, applied: &[Diagnostic]) {
    let mut text = String::new();
    for found in applied {
        let place = found.place.path.as_deref().unwrap_or("$");
        let done = found.fix.as_ref().map_or("", |fix| fix.message.as_str());
        text.push_str(&format!(
            "{}  {}: {} at {}: {}\n",
            paint(GREEN, "fixed"),
            input::name(path),
            found.code,
            escape::line(place),
            escape::line(done)
        ));
    }
    output::tell(&text);
}

/// The rest of a text that went from one stream to the other.
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
                .with_hint(workspace.nothing_named()));
        }
        return Ok(named.iter().map(|path| project::shown(path)).collect());
    }
    let mut found = Vec::new();
    let named = workspace.response_templates();
    for path in &args.templates {
        let cached = hub::folder(path, Wanted::ChatTemplates)?;
        let path = cached.as_ref().unwrap_or(path);
        if !path.is_dir() {
            found.push(path.clone());
            continue;
        }
        let before = found.len();
        project::response_templates(path, true, &mut found)?;
        // What obverse.toml names is meant as one, whatever is in it.
        let folder = project::real(path);
        for named in &named {
            let real = project::real(named);
            let is_found = || found.iter().any(|known| project::real(known) == real);
            if real.starts_with(&folder) && !is_found() {
                found.push(project::shown(named));
            }
        }
        if found.len() == before {
            found.push(config_of(path)?);
        }
    }
    Ok(found)
}

/// The configuration of a model folder in which there is no response template.
fn config_of(folder: &Path) -> Result<PathBuf, Problem> {
    let config = folder.join("tokenizer_config.json");
    if config.is_file() {
        return Ok(config);
    }
    let name = input::name(folder);
    let mut below = Vec::new();
    models(folder, DEPTH, &mut below);
    if let Some(first) = below.first() {
        let others = match below.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let message =
            format!("there is nothing to lint in {name}: no response template in it or below it");
        return Err(Problem::failed("usage", message).with_hint(format!(
            "further down there is {first}{others}, without one: `obverse derive --write {first}` derives it and stores it there"
        )));
    }
    let message = format!(
        "there is nothing to lint in {name}: no response template, and no tokenizer_config.json"
    );
    Err(Problem::failed("usage", message).with_hint(
        if folder.join("chat_template.jinja").is_file() {
            format!(
                "there is a chat template: `obverse derive {}` makes a response template of it",
                as_argument(folder)
            )
        } else {
            "give response templates, tokenizer_config.json files that hold one, or folders of them"
                .to_owned()
        },
    ))
}

/// How deep models are looked for below a folder.
const DEPTH: usize = 4;

/// The configurations of models below a folder, in order. Where a folder cannot be read there is none.
fn models(folder: &Path, depth: usize, found: &mut Vec<String>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() && !path.is_symlink())
        .collect();
    folders.sort();
    for folder in folders {
        let config = folder.join("tokenizer_config.json");
        if config.is_file() {
            found.push(input::name(&config));
        }
        if depth > 1 {
            models(&folder, depth - 1, found);
        }
    }
}

/// A text to be linted, and what it is linted with.
struct Subject<'a> {
    args: &'a Args,
    path: &'a Path,
    text: String,
    chat: Option<ChatTemplateSource>,
    engines: Vec<Engine>,
    project: Option<&'a Project>,
    /// The fixtures that belong to it, where what they tell is wanted.
    fixtures: Vec<FixtureFile>,
}

impl<'a> Subject<'a> {
    fn open(args: &'a Args, path: &'a Path, workspace: &'a Workspace<'_>) -> Result<Self, Problem> {
        let text = input::read_text(path)?;
        let mut engines = args.engines.clone();
        for engine in workspace.engines(path) {
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
        let is_wanted = args.level == Level::Info || denies(args, workspace.project.as_ref());
        let fixtures = match is_wanted {
            true => fixtures::of(path, workspace)?,
            false => Vec::new(),
        };
        Ok(Self {
            args,
            path,
            fixtures,
            chat: workspace.chat_template(path, &text)?,
            text,
            engines,
            project: workspace.project.as_ref(),
        }
        .detailed())
    }

    /// Tells what it is linted with, where that is wanted.
    fn detailed(self) -> Self {
        output::detail(|| {
            let chat = self.chat.as_ref().map_or_else(
                || "no chat template".to_owned(),
                |chat| format!("the chat template {}", chat.path.display()),
            );
            let engines: Vec<&str> = self.engines.iter().map(|engine| engine.name()).collect();
            let engines = if engines.is_empty() {
                String::new()
            } else {
                format!(", for {}", engines.join(", "))
            };
            format!("linting {} with {chat}{engines}", self.path.display())
        });
        self
    }

    fn options(&self) -> Options<'_> {
        Options::default()
            .chat(self.chat.as_ref())
            .engines(&self.engines)
    }

    /// The text with what can be mended of the findings that count.
    fn fixed(&self) -> Fixed {
        lint::fix_where(&self.text, &self.options(), &|found| {
            !self.allows(found) && self.severity(found) >= self.args.level.severity()
        })
    }

    /// Returns true if a finding is meant.
    fn allows(&self, found: &Diagnostic) -> bool {
        self.args.allow.iter().any(|code| code == found.code)
            || self
                .project
                .is_some_and(|project| project.allows(found.code, self.path))
    }

    /// How much a finding matters here.
    fn severity(&self, found: &Diagnostic) -> Severity {
        let project = self.project.map_or(&[][..], Project::deny);
        let is_denied = self.args.deny.iter().chain(project).any(|code| {
            code == found.code || (code == WARNINGS && found.severity == Severity::Warning)
        });
        if is_denied {
            Severity::Error
        } else {
            found.severity
        }
    }

    /// The findings that count.
    fn outcome(&self) -> Outcome {
        let mut diagnostics = lint::lint(&self.text, &self.options());
        if let Some(chat) = &self.chat {
            let clock = self.args.project.clock();
            diagnostics.extend(fixtures::deviating(&self.text, chat, &self.fixtures, clock));
        }
        let all = diagnostics.len();
        diagnostics.retain(|found| !self.allows(found));
        let allowed = all - diagnostics.len();
        for found in &mut diagnostics {
            found.severity = self.severity(found);
        }
        diagnostics.retain(|found| found.severity >= self.args.level.severity());
        Outcome {
            name: input::name(self.path),
            file: input::name(self.path),
            line: None,
            text: self.text.clone(),
            diagnostics,
            allowed,
        }
    }
}

/// Returns true if it counts as an error that fixtures deviate.
fn denies(args: &Args, project: Option<&Project>) -> bool {
    let project = project.map_or(&[][..], Project::deny);
    let mut all = args.deny.iter().chain(project);
    all.any(|code| code == DEVIATES)
}

/// The codes that may be denied, and the word for all warnings.
const DENIED: Completed = Completed {
    names: || lint::codes().chain([WARNINGS]).collect(),
    read: denied,
};

/// The codes that may be allowed.
const ALLOWED: Completed = Completed {
    names: || lint::codes().collect(),
    read: code,
};

fn denied(text: &str) -> Result<String, String> {
    if text == WARNINGS {
        return Ok(text.to_owned());
    }
    one_of(text, lint::codes().chain([WARNINGS]))
}

fn code(text: &str) -> Result<String, String> {
    one_of(text, lint::codes())
}

fn one_of<'c>(text: &str, known: impl Iterator<Item = &'c str>) -> Result<String, String> {
    if lint::is_code(text) {
        return Ok(text.to_owned());
    }
    let hint = match near::nearest(text, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`obverse explain` lists them".to_owned(),
    };
    Err(format!("there is no such code; {hint}"))
}
