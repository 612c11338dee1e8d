//! The subjects of a check: response templates, each with its chat template and its fixtures.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use obverse::chat_template::ChatTemplateSource;
use obverse::check::{self, DocumentText, Fixture, FixtureFile, Rederived};
use obverse::derive::{self, DeriveError};
use obverse::diagnostic::Diagnostic;
use obverse::grammar::WrittenFormat;
use obverse::response_schema::{self, ResponseSchema};
use obverse::response_template::{Engine, ResponseTemplate, config};
use obverse::value::{Value, json};

use super::task::Task;
use crate::cli::input;
use crate::cli::mistaken::{chat_template, is_chat_template};
use crate::cli::problem::{Document, Problem};
use crate::cli::project::{self, Workspace, real};
use crate::cli::quoted::as_argument;

/// A response template and what belongs to it.
#[derive(Debug)]
pub(super) struct Subject {
    /// Its file, as it was given or found.
    pub(super) path: PathBuf,
    /// The file's text.
    pub(super) text: String,
    /// The document and its compiled form; `None` when it is no response template.
    pub(super) loaded: Option<(Value, Arc<ResponseTemplate>)>,
    /// The compiled form, when it is a response schema.
    pub(super) schema: Option<ResponseSchema>,
    /// The document's own text; `None` when the file is not JSON.
    pub(super) document: Option<String>,
    pub(super) chat: Option<ChatTemplateSource>,
    /// The engines that `obverse.toml` says it is meant for.
    pub(super) engines: Vec<Engine>,
    /// True if `obverse.toml` says that its fixtures are held to its grammar.
    pub(super) has_grammar: bool,
    fixtures: Vec<FixtureFile>,
    rederived: OnceLock<Option<Result<Rederived, DeriveError>>>,
    written: OnceLock<Option<WrittenFormat>>,
}

impl Subject {
    /// The file, by the name that it has in messages.
    pub(super) fn written<'a>(&'a self, name: &'a str) -> DocumentText<'a> {
        DocumentText::new(name, &self.text)
    }

    /// The outcome of deriving it again from its chat template, which is done once; `None` where it has none, or is none itself.
    pub(super) fn rederived(
        &self,
        options: &derive::Options,
    ) -> Option<&Result<Rederived, DeriveError>> {
        let derived = self.rederived.get_or_init(|| {
            let (chat, (document, template)) = self.chat.as_ref().zip(self.loaded.as_ref())?;
            Some(check::rederive(chat, document, template, options))
        });
        derived.as_ref()
    }

    /// How its format is written: as its chat template renders it, and where it has none, as it says itself.
    pub(super) fn written_format(&self, options: &derive::Options) -> Option<&WrittenFormat> {
        let written = self.written.get_or_init(|| {
            let (_, template) = self.loaded.as_ref()?;
            Some(match (self.rederived(options), &self.chat) {
                (Some(Ok(rederived)), Some(chat)) => {
                    let cases = &rederived.derivation.cases;
                    WrittenFormat::new(template, cases, &chat.tokens.end)
                }
                _ => WrittenFormat::from_template(template, &[]),
            })
        });
        written.as_ref()
    }
}

/// Everything to be checked.
#[derive(Debug, Default)]
pub(super) struct Subjects {
    pub(super) all: Vec<Subject>,
    /// Fixtures that belong to no response template.
    pub(super) stray: Vec<FixtureFile>,
    /// Where in `all` the response template of a file is.
    known: HashMap<PathBuf, usize>,
}

/// Where a fixture was found, and the response template that it belongs to.
type Placed = (FixtureFile, Option<PathBuf>);

impl Subjects {
    /// Gathers the response templates that the arguments and the project name.
    pub(super) fn gather(given: &[PathBuf], workspace: &Workspace<'_>) -> Result<Self, Problem> {
        let project = workspace.project.as_ref();
        let named = workspace.response_templates();
        let mut owned: Vec<(PathBuf, PathBuf)> = Vec::new();
        if let Some(project) = project {
            for template in &named {
                let fixtures = project.belongings(template).fixtures;
                owned.extend(
                    fixtures
                        .into_iter()
                        .map(|fixture| (real(&fixture), template.clone())),
                );
            }
        }
        let mut templates: Vec<PathBuf> = Vec::new();
        let mut found: Vec<FixtureFile> = Vec::new();
        let everything = given.is_empty();
        let here = [PathBuf::from(".")];
        for path in if everything { &here[..] } else { given } {
            let all = everything && project.is_some();
            for template in &named {
                if all || real(template).starts_with(real(path)) {
                    templates.push(template.clone());
                    for (fixture, _) in owned.iter().filter(|(_, owner)| owner == template) {
                        let fixture = project::shown(fixture);
                        found.extend(input::find_fixtures(&fixture)?);
                    }
                }
            }
            refuse_part(path)?;
            let is_template = path
                .extension()
                .is_some_and(|extension| extension == "json");
            if is_template && path.is_file() {
                templates.push(path.clone());
            } else if !all {
                if !path.exists() && !path.is_symlink() {
                    let message = format!(
                        "cannot read {}: there is no such file or folder",
                        input::name(path)
                    );
                    return Err(Problem::failed("unreadable", message).with_hint(
                        "give response templates, fixtures, .jsonl files of them, or folders of either",
                    ));
                }
                // A model's folder need not have fixtures to be checked.
                templates.extend(check::template_in(path).map(|found| project::shown(&found)));
                refuse_no_suite(path)?;
                found.extend(input::find_fixtures(path)?);
            }
        }
        let placed = placed(found, &owned);
        Self::group(templates, placed, workspace)
    }

    fn group(
        templates: Vec<PathBuf>,
        placed: Vec<Placed>,
        workspace: &Workspace<'_>,
    ) -> Result<Self, Problem> {
        let mut subjects = Self::default();
        for template in templates {
            subjects.subject(&template, workspace)?;
        }
        for (found, template) in placed {
            match template {
                Some(template) => {
                    let at = subjects.subject(&template, workspace)?;
                    subjects.all[at].fixtures.push(found);
                }
                None => subjects.stray.push(found),
            }
        }
        Ok(subjects)
    }

    /// Where in the list the subject of a response template is; it is added if it is new.
    fn subject(&mut self, path: &Path, workspace: &Workspace<'_>) -> Result<usize, Problem> {
        let file = real(path);
        if let Some(at) = self.known.get(&file) {
            return Ok(*at);
        }
        self.known.insert(file, self.all.len());
        let text = input::read_text(path)?;
        let schema = response_schema::load_any(&text).and_then(Result::ok);
        let loaded = match &schema {
            Some(_) => None,
            None => config::load_any(&text).ok(),
        };
        let chat = workspace.chat_template(path, &text)?;
        let document = match &loaded {
            Some(loaded) => Some(loaded.document.clone()),
            None => json::parse(&text)
                .ok()
                .map(|value| match value.get(config::KEY) {
                    Some(held) => held.clone(),
                    None => value,
                }),
        };
        self.all.push(Subject {
            path: project::shown(path),
            document: document.as_ref().map(json::to_string),
            text,
            loaded: loaded.map(|loaded| (loaded.document, Arc::new(loaded.template))),
            schema: schema.map(|loaded| loaded.schema),
            chat,
            engines: workspace.engines(path),
            has_grammar: workspace.has_grammar(path),
            fixtures: Vec::new(),
            rederived: OnceLock::new(),
            written: OnceLock::new(),
        });
        Ok(self.all.len() - 1)
    }

    /// The tasks, in order: each response template that is a task, then its fixtures.
    pub(super) fn tasks(&self, is_task: impl Fn(&Subject) -> bool) -> Vec<Task> {
        let mut tasks: Vec<Task> = Vec::new();
        for (index, subject) in self.all.iter().enumerate() {
            if is_task(subject) {
                tasks.push(Task::Template(index));
            }
            if subject.loaded.is_some() || subject.schema.is_some() {
                let fixtures = subject.fixtures.iter().cloned();
                tasks.extend(fixtures.map(|found| Task::Fixture(Some(index), found)));
            }
        }
        tasks.extend(
            self.stray
                .iter()
                .cloned()
                .map(|found| Task::Fixture(None, found)),
        );
        tasks
    }

    /// The name of a task's result.
    pub(super) fn name(&self, task: &Task) -> String {
        match task {
            Task::Template(index) => input::name(&self.all[*index].path),
            Task::Fixture(_, found) => project::fixture_name(found),
        }
    }
}

/// Fails if a file was named that is a part of a fixture: it is no response template, whatever it ends in.
fn refuse_part(path: &Path) -> Result<(), Problem> {
    let is_part = Fixture::files().any(|part| path.file_name().is_some_and(|file| file == part));
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !is_part || !path.is_file() || !folder.join("response.txt").is_file() {
        return Ok(());
    }
    let name = input::name(path);
    let message = "there is no fixture in it: it is a part of one";
    let hint = format!(
        "give the folder that it lies in: `obverse check {}`",
        as_argument(folder)
    );
    let found = Diagnostic::error("wrong-part", message).with_hint(hint);
    Err(Problem::of(found).about(Document { name, text: None }))
}

/// Fails if a file was named in which there is no fixture. That is told once, and not for each of its lines.
fn refuse_no_suite(path: &Path) -> Result<(), Problem> {
    let is_model = path.extension().is_some_and(|end| end == "gguf");
    // What is longer than anything that is read whole is no mistake of a name.
    let is_read = |length: u64| is_model || length <= input::MOST.0;
    if !std::fs::metadata(path).is_ok_and(|file| file.is_file() && is_read(file.len())) {
        return Ok(());
    }
    // A line that is a JSON object makes the file a suite, whose lines are looked at where they are checked.
    let is_object = |line: &String| {
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        matches!(json::parse(line), Ok(Value::Object(_)))
    };
    let mut lines = BufReader::new(input::open(path)?).lines();
    // So does one that is not UTF-8, which is told there.
    let takes = |line: Result<String, _>| match line {
        Ok(line) => is_object(&line),
        Err(_) => check::is_suite_path(path),
    };
    if !is_model && lines.any(takes) {
        return Ok(());
    }
    let text = match is_model {
        true => String::new(),
        false => input::read_text(path)?,
    };
    if is_model || is_chat_template(&text) {
        let source = as_argument(path);
        let hint = format!(
            "`obverse derive {source}` derives a response template from it, and `obverse check TEMPLATE --chat-template {source}` holds one to it"
        );
        let expected = "a response template or fixtures";
        return Err(chat_template(path, expected, hint));
    }
    if text.trim().is_empty() {
        return Ok(());
    }
    let is_part = Fixture::files().any(|part| path.file_name().is_some_and(|file| file == part));
    let hint = match is_part {
        true => "it is a part of a fixture: give the folder that it lies in",
        false => {
            "give response templates, folders of fixtures, or .jsonl files with a fixture on each line"
        }
    };
    let message = "there is no fixture in it: none of its lines is a JSON object";
    let found = Diagnostic::error("wrong-part", message).with_hint(hint);
    let name = input::name(path);
    Err(Problem::of(found).about(Document { name, text: None }))
}

/// Each fixture once, with its response template.
fn placed(found: Vec<FixtureFile>, owned: &[(PathBuf, PathBuf)]) -> Vec<Placed> {
    let mut seen = HashSet::new();
    found
        .into_iter()
        .filter(|found| {
            let line = found.line.as_ref().map(|(number, _)| *number);
            seen.insert((real(&found.path), line))
        })
        .map(|found| {
            let path = real(&found.path);
            let owner = owned.iter().find(|(fixture, _)| path.starts_with(fixture));
            let template = match owner {
                Some((_, template)) => Some(template.clone()),
                None => check::template_around(&path),
            };
            (found, template)
        })
        // Where nothing says that it is a fixture, a folder without a response may be anything.
        .filter(|(found, template)| template.is_some() || found.file().exists())
        .collect()
}
