//! The selection of what a run looks at, and on how many threads.

use std::num::NonZero;
use std::path::PathBuf;

use globset::{Glob, GlobSet, GlobSetBuilder};
use obverse::check::is_suite_path;
use obverse::derive;
use obverse::diagnostic::Diagnostic;
use obverse::response_template::Engine;

use super::subject::{Subject, Subjects};
use super::task::Task;
use crate::cli::problem::Problem;
use crate::cli::project::{ProjectArgs, Workspace};
use crate::cli::{engine, input, near, template};

/// The fixtures and response templates to look at.
#[derive(Debug, clap::Args)]
pub(crate) struct Selection {
    /// Fixtures, .jsonl files of them, response templates, or folders of any; without any, everything that obverse.toml names, or
    /// where there is none, that lies below the current folder
    pub(super) paths: Vec<PathBuf>,

    /// Only what has a name that matches this glob; a text without * or ? may stand anywhere in the name
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,

    /// How many threads to use; all cores by default
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(super) jobs: Option<NonZero<usize>>,

    /// Do not derive the response templates again
    #[arg(long)]
    no_derive: bool,

    /// Derive the response templates again for this engine, instead of those that obverse.toml names for them: transformers,
    /// vllm or sglang; may be given several times
    #[arg(long = "for", value_name = "ENGINE", value_parser = engine::parser(), hide_possible_values = true, conflicts_with = "no_derive")]
    engines: Vec<Engine>,

    /// Hold the fixtures to the grammar of what the model may write, also where obverse.toml does not ask for that
    #[arg(long)]
    grammar: bool,

    #[command(flatten)]
    pub(super) project: ProjectArgs,
}

/// The subjects and tasks that are selected.
pub(super) struct Selected {
    pub(super) subjects: Subjects,
    pub(super) tasks: Vec<Task>,
}

impl Selection {
    /// Finds it. `is_task` says of a response template whether it is a task of its own; its fixtures are.
    pub(super) fn gather(
        &self,
        workspace: &Workspace<'_>,
        is_task: impl Fn(&Subject) -> bool,
    ) -> Result<Selected, Problem> {
        if self.paths.iter().any(|path| input::is_stdin(path)) {
            let problem = Problem::failed("usage", "fixtures are not read from standard input");
            return Err(problem.with_hint("give files or folders; `obverse lint -` reads a response template, `obverse parse TEMPLATE -` a response"));
        }
        let filter = filter(&self.filter)?;
        let subjects = Subjects::gather(&self.paths, workspace)?;
        let mut tasks = subjects.tasks(is_task);
        if let Some(filter) = &filter {
            let all: Vec<String> = tasks.iter().map(|task| subjects.name(task)).collect();
            if !all.is_empty() && !all.iter().any(|name| filter.is_match(name)) {
                return Err(no_match(&self.filter, &all));
            }
            tasks.retain(|task| filter.is_match(subjects.name(task)));
        }
        if tasks.is_empty() {
            return Err(self.nothing(workspace, &subjects));
        }
        Ok(Selected { subjects, tasks })
    }

    /// That there is nothing to look at, and what can be done.
    fn nothing(&self, workspace: &Workspace<'_>, subjects: &Subjects) -> Problem {
        if self.no_derive && subjects.all.iter().any(|subject| subject.chat.is_some()) {
            let message = "there is nothing to check: there are no fixtures, and --no-derive leaves out all that is checked without them";
            return Problem::failed("usage", message).with_hint(
                "`obverse new` makes fixtures, `obverse new --all` those of all response templates; or leave out --no-derive",
            );
        }
        let is_source = |path: &&PathBuf| template::is_source(path) && !is_suite_path(path);
        match self.paths.iter().find(is_source) {
            Some(path) => {
                let message =
                    "there is a chat template, and no response template that could be checked";
                template::none(path, Diagnostic::error("no-response-template", message))
            }
            None if !self.paths.is_empty() => {
                let paths: Vec<String> = self.paths.iter().map(|path| input::name(path)).collect();
                let message = format!(
                    "there is nothing to check: no fixture and no chat template belongs to {}",
                    paths.join(", ")
                );
                Problem::failed("usage", message).with_hint(
                    "`--chat-template` names the chat template, `obverse new` makes fixtures, and an obverse.toml, which `obverse init` writes, says what belongs together",
                )
            }
            None => Problem::failed("usage", "there is nothing to check")
                .with_hint(self.remedy(workspace)),
        }
    }

    /// The next step where there is nothing to check.
    fn remedy(&self, workspace: &Workspace<'_>) -> &'static str {
        if workspace.project.is_none() {
            return "`obverse init` writes an obverse.toml that says what belongs together, `obverse new` makes fixtures; or give paths";
        }
        if workspace.response_templates().is_empty() {
            return workspace.nothing_named();
        }
        "the response templates that obverse.toml names have neither fixtures nor a chat template: name theirs as `chat_template` in it, and `obverse new --all` makes fixtures"
    }

    /// Returns true if there is something to derive a response template from, and it is wanted.
    pub(super) fn derives(&self, subject: &Subject) -> bool {
        subject.chat.is_some() && !self.no_derive
    }

    /// Returns true if the fixtures of a response template are held to its grammar.
    pub(super) fn holds_to_grammar(&self, subject: &Subject) -> bool {
        self.grammar || subject.has_grammar
    }

    /// How the response template is derived again.
    pub(super) fn options(&self, subject: &Subject) -> derive::Options {
        let engines = if self.engines.is_empty() {
            &subject.engines
        } else {
            &self.engines
        };
        derive::Options::default()
            .clock(self.project.clock())
            .engines(engines.clone())
    }
}

/// How many names are told where none matches.
const NAMES: usize = 5;

/// Returns the problem that nothing has a name that matches, with some of the names that there are.
fn no_match(globs: &[String], names: &[String]) -> Problem {
    let wanted = globs.join("`, `");
    let message = format!("none of {} names matches --filter `{wanted}`", names.len());
    let near = globs
        .iter()
        .find_map(|glob| near::nearest(glob, names.iter().flat_map(|name| name.split(['/', '.']))));
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let mut shown = names[..names.len().min(NAMES)].join(", ");
            if names.len() > NAMES {
                shown.push_str(", ...");
            }
            format!(
                "the names are paths, such as {shown}; a text without * or ? may stand anywhere in one"
            )
        }
    };
    Problem::failed("usage", message).with_hint(hint)
}

fn jobs(text: &str) -> Result<NonZero<usize>, String> {
    text.parse()
        .map_err(|_| "expected a number of threads, from 1 on".to_owned())
}

fn filter(globs: &[String]) -> Result<Option<GlobSet>, Problem> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let anywhere = format!("*{}*", globset::escape(glob));
        let is_glob = glob.contains(['*', '?', '[', '{']);
        let compiled = Glob::new(if is_glob { glob } else { &anywhere });
        set.add(compiled.map_err(|error| {
            let message = format!("--filter {glob}: not a glob: {}", error.kind());
            Problem::failed("usage", message)
        })?);
    }
    set.build()
        .map(Some)
        .map_err(|error| Problem::failed("usage", format!("--filter: {error}")))
}
